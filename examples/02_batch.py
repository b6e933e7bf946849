"""Five springs at once: one call simulates a batch whose stiffness differs, each with its own frequency."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import jaxmbs as mbs


jax.config.update("jax_enable_x64", True)

MASS, STRETCH, T1 = 2.0, 0.1, 1.0

oscillator = mbs.ModelDescription(name="oscillator", gravity=np.zeros(3))
oscillator.add_body("ground", fixed=True)
oscillator.add_body("cart", mass=MASS, inertia=[1, 1, 1], pos=[1 + STRETCH, 0, 0])
oscillator.add_joint("rail", mbs.JointKind.PRISMATIC, "ground", "cart", pos=[0, 0, 0], axis=[1, 0, 0])
oscillator.add_tsda(
    "spring", "ground", "cart", point1=[0, 0, 0], point2=[1 + STRETCH, 0, 0], free_length=1, stiffness=1
)
model = mbs.compile_model(oscillator)

# The leaves of a model are arrays: give one of them a batch axis.
stiffness = jnp.linspace(20.0, 100.0, 5)
batch = eqx.tree_at(lambda m: m.tsdas.stiffness, model, stiffness[:, None])

result = mbs.simulate(batch, t1=T1, dt=5e-3, save_dt=0.25).to_xarray()

position = result["body_pos"].sel(body="cart", xyz="x", time=T1)
exact = 1 + STRETCH * np.cos(np.sqrt(np.asarray(stiffness) / MASS) * T1)
print("dimensions", dict(result["body_pos"].sizes))
for k, x, x_exact in zip(stiffness, position.to_numpy(), exact, strict=True):
    print(f"k = {float(k):5.1f} N/m: x(1 s) = {x:.8f} m, closed form {x_exact:.8f} m")
