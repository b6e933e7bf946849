"""The inverse of the mass matrix, block by block, for reports on the mechanism."""

import dataclasses

import jax
import jax.numpy as jnp
from jax import Array

from jaxmbs._math import Sym3, Vec3
from jaxmbs.dynamics.acceleration import body_rows
from jaxmbs.dynamics.system import BodyKinematics, System


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class InverseInertia:
    """M^-1 of all bodies: 1/mass and the inverse inertia tensor in world axes, both (bodies, lanes)."""

    mass: Array
    tensor: Sym3

    def times(self, wrench: Array) -> Array:
        """M^-1 applied to (..., bodies, 6, lanes) with linear before angular components."""
        torque = Vec3(wrench[..., 3, :], wrench[..., 4, :], wrench[..., 5, :])
        leading = (1,) * (wrench.ndim - 3)
        tensor, mass = jax.tree.map(lambda leaf: leaf.reshape(leading + leaf.shape), (self.tensor, self.mass))
        spin = tensor @ torque
        linear = wrench[..., :3, :] * mass[..., None, :]
        return jnp.concatenate([linear, jnp.stack([spin.x, spin.y, spin.z], axis=-2)], axis=-2)


def inverse_inertia(system: System, bodies: BodyKinematics) -> InverseInertia:
    """M^-1 at the present pose."""
    return InverseInertia(system.inverse_mass, system.inverse_inertia.rotated(body_rows(bodies).rot))
