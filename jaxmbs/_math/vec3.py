"""Three-vectors by component."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Vec3:
    """A vector of three equally shaped arrays."""

    x: Array
    y: Array
    z: Array

    @staticmethod
    def of(array: Array) -> "Vec3":
        """From an array whose axis 1 holds the components: (elements, 3, lanes)."""
        return Vec3(array[:, 0], array[:, 1], array[:, 2])

    @staticmethod
    def full(like: Array, x: float, y: float, z: float) -> "Vec3":
        """A constant vector of the shape and dtype of `like`."""
        return Vec3(jnp.full_like(like, x), jnp.full_like(like, y), jnp.full_like(like, z))

    @staticmethod
    def zeros(like: Array) -> "Vec3":
        return Vec3.full(like, 0.0, 0.0, 0.0)

    def array(self) -> Array:
        """The inverse of `of`: (elements, 3, lanes)."""
        return jnp.stack(jnp.broadcast_arrays(self.x, self.y, self.z), axis=1)

    def __add__(self, other: "Vec3") -> "Vec3":
        return Vec3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: "Vec3") -> "Vec3":
        return Vec3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> "Vec3":
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, scalar: Array | float) -> "Vec3":
        return Vec3(self.x * scalar, self.y * scalar, self.z * scalar)

    __rmul__ = __mul__

    def dot(self, other: "Vec3") -> Array:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: "Vec3") -> "Vec3":
        return Vec3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def scaled_by(self, other: "Vec3") -> "Vec3":
        """Component by component."""
        return Vec3(self.x * other.x, self.y * other.y, self.z * other.z)

    def norm(self) -> Array:
        """The length, with derivative zero at the zero vector (where it has none)."""
        squared = self.dot(self)
        positive = squared > 0
        return jnp.where(positive, jnp.sqrt(jnp.where(positive, squared, 1.0)), 0.0)

    def unit(self) -> "Vec3":
        """The direction; zero for the zero vector, with finite derivatives."""
        squared = self.dot(self)
        positive = squared > 0
        return self * jnp.where(positive, jax.lax.rsqrt(jnp.where(positive, squared, 1.0)), 0.0)

    def where(self, condition: "Array | np.ndarray", other: "Vec3") -> "Vec3":
        """`self` where the condition holds, `other` elsewhere."""
        return Vec3(
            jnp.where(condition, self.x, other.x),
            jnp.where(condition, self.y, other.y),
            jnp.where(condition, self.z, other.z),
        )
