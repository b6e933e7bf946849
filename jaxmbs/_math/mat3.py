"""Three by three matrices by component."""

import dataclasses

import jax
from jax import Array

from jaxmbs._math.vec3 import Vec3


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Mat3:
    """A matrix as its three columns; as a rotation, the axes of a frame in its parent."""

    x: Vec3
    y: Vec3
    z: Vec3

    def __matmul__(self, vector: Vec3) -> Vec3:
        return self.x * vector.x + self.y * vector.y + self.z * vector.z

    def transposed_times(self, vector: Vec3) -> Vec3:
        """The transpose applied to a vector: for a rotation, parent to frame coordinates."""
        return Vec3(self.x.dot(vector), self.y.dot(vector), self.z.dot(vector))

    def times(self, other: "Mat3") -> "Mat3":
        """The matrix product."""
        return Mat3(self @ other.x, self @ other.y, self @ other.z)

    @staticmethod
    def from_axis(axis: Vec3) -> "Mat3":
        """A frame whose z axis is along `axis`: y = z x X, or z x [2, 1, 0] when the axis is along X.

        The choice of the auxiliary direction is that of Chrono's joint frames.
        """
        z = axis.unit()
        along_x = z.y * z.y + z.z * z.z < 1e-12
        helper = Vec3.full(z.x, 2.0, 1.0, 0.0).where(along_x, Vec3.full(z.x, 1.0, 0.0, 0.0))
        y = z.cross(helper).unit()
        return Mat3(y.cross(z), y, z)

    @staticmethod
    def from_axes(z: Vec3, x: Vec3) -> "Mat3":
        """A frame whose z axis is along `z` and whose x axis is as near to `x` as that allows."""
        z = z.unit()
        y = z.cross(x).unit()
        return Mat3(y.cross(z), y, z)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Sym3:
    """A symmetric matrix as its six entries."""

    xx: Array
    yy: Array
    zz: Array
    xy: Array
    xz: Array
    yz: Array

    @staticmethod
    def of(array: Array) -> "Sym3":
        """From (elements, 6, lanes), entries in the order of the fields."""
        return Sym3(*(array[:, i] for i in range(6)))

    def __matmul__(self, v: Vec3) -> Vec3:
        return Vec3(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )

    def inverse(self) -> "Sym3":
        """By cofactors: the matrices here are inertia tensors, which are well conditioned and positive.

        They are scaled by their trace first, so that the determinant of a small one does not vanish in float32.
        """
        scale = 1.0 / (self.xx + self.yy + self.zz)
        s = self * scale
        cxx = s.yy * s.zz - s.yz * s.yz
        cxy = s.xz * s.yz - s.xy * s.zz
        cxz = s.xy * s.yz - s.xz * s.yy
        d = scale / (s.xx * cxx + s.xy * cxy + s.xz * cxz)
        cofactors = Sym3(
            cxx,
            s.xx * s.zz - s.xz * s.xz,
            s.xx * s.yy - s.xy * s.xy,
            cxy,
            cxz,
            s.xy * s.xz - s.xx * s.yz,
        )
        return cofactors * d

    def rotated(self, rot: Mat3) -> "Sym3":
        """The tensor in parent axes: rot S rot^T."""
        rows = (
            Vec3(rot.x.x, rot.y.x, rot.z.x),
            Vec3(rot.x.y, rot.y.y, rot.z.y),
            Vec3(rot.x.z, rot.y.z, rot.z.z),
        )
        a, b, c = (self @ row for row in rows)
        return Sym3(rows[0].dot(a), rows[1].dot(b), rows[2].dot(c), rows[0].dot(b), rows[0].dot(c), rows[1].dot(c))

    def __mul__(self, scalar: Array) -> "Sym3":
        return Sym3(*(getattr(self, field.name) * scalar for field in dataclasses.fields(self)))
