"""The gradient of where a cart ends up, with respect to its mass and the stiffness of its spring."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import jaxmbs as mbs


jax.config.update("jax_enable_x64", True)

MASS, STIFFNESS, STRETCH, T1 = 2.0, 50.0, 0.1, 1.0

oscillator = mbs.ModelDescription(name="oscillator", gravity=np.zeros(3))
oscillator.add_body("ground", fixed=True)
oscillator.add_body("cart", mass=MASS, inertia=[1, 1, 1], pos=[1 + STRETCH, 0, 0])
oscillator.add_joint("rail", mbs.JointKind.PRISMATIC, "ground", "cart", pos=[0, 0, 0], axis=[1, 0, 0])
oscillator.add_tsda(
    "spring", "ground", "cart", point1=[0, 0, 0], point2=[1 + STRETCH, 0, 0], free_length=1, stiffness=1
)
model = mbs.compile_model(oscillator)
CART = model.bodies.names.index("cart")


def end(parameters: Array) -> Array:
    """The position of the cart at the end [m], for (mass, stiffness)."""
    changed = eqx.tree_at(
        lambda m: (m.bodies.mass, m.tsdas.stiffness),
        model,
        (model.bodies.mass.at[CART].set(parameters[0]), parameters[1:]),
    )
    return mbs.simulate(changed, t1=T1, dt=5e-3, save_at=[T1]).ys.pos[-1, CART, 0]


value, gradient = jax.value_and_grad(end)(jnp.array([MASS, STIFFNESS]))

omega = np.sqrt(STIFFNESS / MASS)  # x = 1 + STRETCH cos(omega t)
slope = -STRETCH * T1 * np.sin(omega * T1)
print(f"x = {value:.8f} m, closed form {1 + STRETCH * np.cos(omega * T1):.8f} m")
print(f"dx/dm = {gradient[0]:.8f} m/kg, closed form {slope * -omega / (2 * MASS):.8f} m/kg")
print(f"dx/dk = {gradient[1]:.8f} m2/N, closed form {slope * omega / (2 * STIFFNESS):.8f} m2/N")
