"""Unit quaternions `wxyz` by component: rotations from a frame to its parent."""

import dataclasses

import jax
import jax.numpy as jnp
from jax import Array

from jaxmbs._math.mat3 import Mat3
from jaxmbs._math.vec3 import Vec3


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Quat:
    """A quaternion of four equally shaped arrays, scalar part first."""

    w: Array
    x: Array
    y: Array
    z: Array

    @staticmethod
    def of(array: Array) -> "Quat":
        """From (elements, 4, lanes)."""
        return Quat(array[:, 0], array[:, 1], array[:, 2], array[:, 3])

    def array(self) -> Array:
        """The inverse of `of`."""
        return jnp.stack(jnp.broadcast_arrays(self.w, self.x, self.y, self.z), axis=1)

    @property
    def vector(self) -> Vec3:
        return Vec3(self.x, self.y, self.z)

    @staticmethod
    def from_parts(w: Array, v: Vec3) -> "Quat":
        return Quat(w, v.x, v.y, v.z)

    def __matmul__(self, other: "Quat") -> "Quat":
        """The product: first `other`, then `self`."""
        v, u = self.vector, other.vector
        return Quat.from_parts(self.w * other.w - v.dot(u), u * self.w + v * other.w + v.cross(u))

    def conj(self) -> "Quat":
        return Quat(self.w, -self.x, -self.y, -self.z)

    def normalised(self) -> "Quat":
        s = jax.lax.rsqrt(self.w * self.w + self.x * self.x + self.y * self.y + self.z * self.z)
        return Quat(self.w * s, self.x * s, self.y * s, self.z * s)

    def matrix(self) -> Mat3:
        """The rotation matrix of a unit quaternion."""
        w, x, y, z = self.w, self.x, self.y, self.z
        return Mat3(
            Vec3(1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
            Vec3(2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
            Vec3(2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
        )

    def rate_body(self, omega: Vec3) -> "Quat":
        """dq/dt for an angular velocity in the axes of the frame itself: q (0, omega) / 2."""
        half = omega * 0.5
        v = self.vector
        return Quat.from_parts(-v.dot(half), half * self.w + v.cross(half))

    def rate_world(self, omega: Vec3) -> "Quat":
        """dq/dt for an angular velocity in parent axes: (0, omega) q / 2."""
        half = omega * 0.5
        v = self.vector
        return Quat.from_parts(-v.dot(half), half * self.w + half.cross(v))

    @staticmethod
    def exp(rotation: Vec3) -> "Quat":
        """The rotation by |rotation| about its direction; differentiable at zero."""
        squared = rotation.dot(rotation)
        small = squared < 1e-6
        angle = jnp.sqrt(jnp.where(small, 1.0, squared))
        # series of sin(a/2)/a and cos(a/2) about zero; the next terms are below rounding for a < 1e-3
        scale = jnp.where(small, 0.5 - squared / 48 + squared * squared / 3840, jnp.sin(angle / 2) / angle)
        w = jnp.where(small, 1 - squared / 8 + squared * squared / 384, jnp.cos(angle / 2))
        return Quat.from_parts(w, rotation * scale)

    def rotation_vector(self) -> Vec3:
        """The rotation vector with an angle in [0, pi]; differentiable at the identity."""
        sign = jnp.where(self.w < 0, -1.0, 1.0)
        w, v = self.w * sign, self.vector * sign
        squared = v.dot(v)
        small = squared < 1e-6
        norm = jnp.sqrt(jnp.where(small, 1.0, squared))
        # 2 asin(s)/s about s = 0, which equals 2 atan2(s, w)/s for a unit quaternion
        series = 2 + squared / 3 + 3 * squared * squared / 20
        return v * jnp.where(small, series, 2 * jnp.arctan2(norm, w) / norm)

    def twist_angle(self) -> Array:
        """The angle about z of the twist part, in (-pi, pi]; zero with zero derivative when there is none."""
        squared = self.w * self.w + self.z * self.z
        defined = squared > 1e-24
        w, z = jnp.where(defined, self.w, 1.0), jnp.where(defined, self.z, 0.0)
        return jnp.arctan2(2 * w * z, w * w - z * z)

    @staticmethod
    def about_z(angle: Array) -> "Quat":
        zero = jnp.zeros_like(angle)
        return Quat(jnp.cos(angle / 2), zero, zero, jnp.sin(angle / 2))

    @staticmethod
    def from_matrix(m: Mat3) -> "Quat":
        """A unit quaternion of a rotation matrix (Shepperd's choice of the largest component)."""
        trace = m.x.x + m.y.y + m.z.z
        candidates = (
            Quat(1 + trace, m.y.z - m.z.y, m.z.x - m.x.z, m.x.y - m.y.x),
            Quat(m.y.z - m.z.y, 1 + m.x.x - m.y.y - m.z.z, m.y.x + m.x.y, m.z.x + m.x.z),
            Quat(m.z.x - m.x.z, m.y.x + m.x.y, 1 - m.x.x + m.y.y - m.z.z, m.z.y + m.y.z),
            Quat(m.x.y - m.y.x, m.z.x + m.x.z, m.z.y + m.y.z, 1 - m.x.x - m.y.y + m.z.z),
        )
        diagonals = (trace, m.x.x, m.y.y, m.z.z)
        best, chosen = diagonals[0], candidates[0]
        for diagonal, candidate in zip(diagonals[1:], candidates[1:], strict=True):
            larger = diagonal > best
            chosen = jax.tree.map(lambda new, old, larger=larger: jnp.where(larger, new, old), candidate, chosen)
            best = jnp.where(larger, diagonal, best)
        return chosen.normalised()
