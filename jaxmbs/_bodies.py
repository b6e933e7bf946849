"""The rigid bodies of a model, stacked."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._kinematics import Pose, Rest
from jaxmbs._math import Quat, Sym3, Vec3


class Bodies(eqx.Module):
    """Rigid bodies as the model file gives them.

    - mass: (bodies,) [kg].
    - inertia: (bodies, 6) about the COM in COM axes [kg m2], in the order xx, yy, zz, xy, xz, yz; tensor entries.
    - com_pos (bodies, 3), com_quat (bodies, 4): the COM frame in the reference frame.
    - pos (bodies, 3), quat (bodies, 4): the reference frame in the world at t = 0.
    - vel: (bodies, 3) velocity of the reference origin at t = 0, world axes [m/s].
    - omega: (bodies, 3) angular velocity at t = 0, reference axes [rad/s].
    """

    mass: Array
    inertia: Array
    com_pos: Array
    com_quat: Array
    pos: Array
    quat: Array
    vel: Array
    omega: Array
    names: tuple[str, ...] = eqx.field(static=True)
    fixed: tuple[bool, ...] = eqx.field(static=True)

    @property
    def count(self) -> int:
        return len(self.names)

    @property
    def moving(self) -> np.ndarray:
        """(bodies, 1), true for bodies that are not fixed."""
        return ~np.array(self.fixed, dtype=bool)[:, None]

    # The methods below are for the kernel layout: leaves (bodies, ..., lanes).

    def rest(self) -> Rest:
        """COM and reference frames at t = 0."""
        ref = Pose(Vec3.of(self.pos), Quat.of(self.quat).normalised())
        com = Pose(ref.point(Vec3.of(self.com_pos)), ref.quat @ Quat.of(self.com_quat).normalised())
        return Rest(com, ref)

    def inertia_tensor(self) -> Sym3:
        return Sym3.of(self.inertia)

    def inverse_mass(self) -> Array:
        """1/mass, zero for fixed bodies."""
        return jnp.where(self.moving, 1.0 / self.mass, 0.0)

    def reference(self, com: Pose) -> Pose:
        """The reference frame that belongs to a COM frame."""
        quat = com.quat @ Quat.of(self.com_quat).normalised().conj()
        return Pose(com.pos - quat.matrix() @ Vec3.of(self.com_pos), quat)
