"""A massless link with a revolute joint at one end and a spherical joint at the other."""

import dataclasses

import equinox as eqx
import jax
from jax import Array

from jaxmbs._kinematics import Kinematics, Pose, Rest
from jaxmbs._math import Vec3
from jaxmbs.constraints._base import AbstractConstraint, Drive


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RevoluteSphericalAnchors:
    """Points and axis in the COM frames, and the length of the link."""

    point1: Vec3
    axis1: Vec3
    point2: Vec3
    length: Array


class RevoluteSpherical(AbstractConstraint):
    """Two rows: |p2 - p1| constant and (p2 - p1) . z1 = 0, with p1 and z1 fixed in body1 and p2 in body2.

    The reaction is reported about point 2.

    - point1, point2, axis1: (elements, 3), world at t = 0.
    """

    point1: Array
    point2: Array
    axis1: Array
    names: tuple[str, ...] = eqx.field(static=True)
    body1: tuple[int, ...] = eqx.field(static=True)
    body2: tuple[int, ...] = eqx.field(static=True)

    @property
    def row_mask(self) -> tuple[tuple[bool, ...], ...]:
        return ((True, True),) * self.count

    def attach(self, rest1: Rest, rest2: Rest) -> RevoluteSphericalAnchors:
        first, second = Vec3.of(self.point1), Vec3.of(self.point2)
        return RevoluteSphericalAnchors(
            point1=rest1.com.to_local(first),
            axis1=rest1.com.quat.matrix().transposed_times(Vec3.of(self.axis1).unit()),
            point2=rest2.com.to_local(second),
            length=(second - first).norm(),
        )

    def origin(self, anchors: RevoluteSphericalAnchors, body2: Kinematics) -> Vec3:
        return body2.pose.pos + body2.arm(anchors.point2)

    def residual(self, anchors: RevoluteSphericalAnchors, pose1: Pose, pose2: Pose, drive: Drive) -> tuple[Array, ...]:
        del drive
        link = pose2.point(anchors.point2) - pose1.point(anchors.point1)
        return link.norm() - anchors.length, link.dot(pose1.quat.matrix() @ anchors.axis1)
