"""A constant distance between two points."""

import dataclasses

import equinox as eqx
import jax
from jax import Array

from jaxmbs._kinematics import Kinematics, Pose, Rest
from jaxmbs._math import Vec3
from jaxmbs.constraints._base import AbstractConstraint, Drive


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class DistanceAnchors:
    """The points in the COM frames, and their distance at t = 0."""

    point1: Vec3
    point2: Vec3
    length: Array


class Distance(AbstractConstraint):
    """One row: |p1 - p2| keeps its value at t = 0, which is not zero.

    The reaction is reported about point 2.

    - point1, point2: (elements, 3), world at t = 0.
    """

    point1: Array
    point2: Array
    names: tuple[str, ...] = eqx.field(static=True)
    body1: tuple[int, ...] = eqx.field(static=True)
    body2: tuple[int, ...] = eqx.field(static=True)

    @property
    def row_mask(self) -> tuple[tuple[bool, ...], ...]:
        return ((True,),) * self.count

    def attach(self, rest1: Rest, rest2: Rest) -> DistanceAnchors:
        first, second = Vec3.of(self.point1), Vec3.of(self.point2)
        return DistanceAnchors(rest1.com.to_local(first), rest2.com.to_local(second), (first - second).norm())

    def origin(self, anchors: DistanceAnchors, body2: Kinematics) -> Vec3:
        return body2.pose.pos + body2.arm(anchors.point2)

    def residual(self, anchors: DistanceAnchors, pose1: Pose, pose2: Pose, drive: Drive) -> tuple[Array, ...]:
        del drive
        return ((pose1.point(anchors.point1) - pose2.point(anchors.point2)).norm() - anchors.length,)
