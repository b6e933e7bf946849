"""Six-component quantities of a body about its COM, world axes, by component.

**References:** Featherstone, Rigid Body Dynamics Algorithms, chapter 2 (with the linear part first here).
"""

import dataclasses

import jax
from jax import Array

from jaxmbs._math import Mat3, Sym3, Vec3


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Spatial:
    """A motion (velocity of the COM and angular velocity), or a wrench (force, and torque about the COM)."""

    linear: Vec3
    angular: Vec3

    @staticmethod
    def of(array: Array) -> "Spatial":
        """From (bodies, 6, lanes)."""
        return Spatial(Vec3(array[:, 0], array[:, 1], array[:, 2]), Vec3(array[:, 3], array[:, 4], array[:, 5]))

    @staticmethod
    def zeros(like: Array) -> "Spatial":
        return Spatial(Vec3.zeros(like), Vec3.zeros(like))

    def __add__(self, other: "Spatial") -> "Spatial":
        return Spatial(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: "Spatial") -> "Spatial":
        return Spatial(self.linear - other.linear, self.angular - other.angular)

    def __neg__(self) -> "Spatial":
        return Spatial(-self.linear, -self.angular)

    def __mul__(self, scalar: Array | float) -> "Spatial":
        return Spatial(self.linear * scalar, self.angular * scalar)

    def dot(self, other: "Spatial") -> Array:
        """The power of a wrench in a motion."""
        return self.linear.dot(other.linear) + self.angular.dot(other.angular)

    def carried(self, offset: Vec3) -> "Spatial":
        """A rigid motion as seen by the point at `offset`."""
        return Spatial(self.linear + self.angular.cross(offset), self.angular)

    def moved_back(self, offset: Vec3) -> "Spatial":
        """A wrench at the point at `offset`, about the point that `offset` starts from: transpose of `carried`."""
        return Spatial(self.linear, self.angular + offset.cross(self.linear))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ArticulatedInertia:
    """A symmetric 6 x 6 matrix [[mass, coupling], [coupling^T, tensor]], from motions to wrenches."""

    mass: Sym3
    coupling: Mat3
    tensor: Sym3

    @staticmethod
    def rigid(mass: Array, tensor: Sym3) -> "ArticulatedInertia":
        """Of a rigid body about its COM."""
        none = Vec3.zeros(tensor.xx)
        mass = mass + none.x
        zero = none.x
        return ArticulatedInertia(Sym3(mass, mass, mass, zero, zero, zero), Mat3(none, none, none), tensor)

    def __matmul__(self, motion: Spatial) -> Spatial:
        linear, angular = motion.linear, motion.angular
        return Spatial(
            self.mass @ linear + self.coupling @ angular,
            self.coupling.transposed_times(linear) + self.tensor @ angular,
        )

    def __add__(self, other: "ArticulatedInertia") -> "ArticulatedInertia":
        return jax.tree.map(lambda a, b: a + b, self, other)

    def without(self, wrench: Spatial, scale: Array) -> "ArticulatedInertia":
        """Less scale w w^T."""
        f, t = wrench.linear, wrench.angular
        fs, ts = f * scale, t * scale
        return ArticulatedInertia(
            _less_outer(self.mass, f, fs),
            Mat3(self.coupling.x - f * ts.x, self.coupling.y - f * ts.y, self.coupling.z - f * ts.z),
            _less_outer(self.tensor, t, ts),
        )

    def moved_back(self, offset: Vec3) -> "ArticulatedInertia":
        """X^T A X with X = `Spatial.carried`: about the point that `offset` starts from."""
        p, q, d = self.mass, self.coupling, offset
        # the columns of P [d]x and then of Q' = Q - P [d]x
        px, py, pz = Vec3(p.xx, p.xy, p.xz), Vec3(p.xy, p.yy, p.yz), Vec3(p.xz, p.yz, p.zz)
        moved = Mat3(q.x - (py * d.z - pz * d.y), q.y - (pz * d.x - px * d.z), q.z - (px * d.y - py * d.x))
        # N' = N - Q^T [d]x + [d]x Q'; only one triangle of it is formed
        qx, qy, qz = Vec3(q.x.x, q.y.x, q.z.x), Vec3(q.x.y, q.y.y, q.z.y), Vec3(q.x.z, q.y.z, q.z.z)
        tx, ty, tz = qy * d.z - qz * d.y, qz * d.x - qx * d.z, qx * d.y - qy * d.x
        rx, ry, rz = d.cross(moved.x), d.cross(moved.y), d.cross(moved.z)
        n = self.tensor
        tensor = Sym3(
            n.xx - tx.x + rx.x,
            n.yy - ty.y + ry.y,
            n.zz - tz.z + rz.z,
            n.xy - ty.x + ry.x,
            n.xz - tz.x + rz.x,
            n.yz - tz.y + rz.y,
        )
        return ArticulatedInertia(p, moved, tensor)


def _less_outer(s: Sym3, v: Vec3, scaled: Vec3) -> Sym3:
    return Sym3(
        s.xx - v.x * scaled.x,
        s.yy - v.y * scaled.y,
        s.zz - v.z * scaled.z,
        s.xy - v.x * scaled.y,
        s.xz - v.x * scaled.z,
        s.yz - v.y * scaled.z,
    )
