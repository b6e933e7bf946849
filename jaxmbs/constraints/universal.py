"""The universal (Cardan, Hooke) joint."""

import dataclasses

import equinox as eqx
import jax
from jax import Array

from jaxmbs._kinematics import Kinematics, Pose, Rest
from jaxmbs._math import Vec3
from jaxmbs.constraints._base import AbstractConstraint, Drive


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class UniversalAnchors:
    """Centre and cross axis in the COM frame of each body."""

    pos1: Vec3
    axis1: Vec3
    pos2: Vec3
    axis2: Vec3


class UniversalJoint(AbstractConstraint):
    """Three coincidence rows and one perpendicularity: axis1, fixed in body1, and axis2, fixed in body2.

    The reaction is reported about the centre carried by body2.

    - pos, axis1, axis2: (elements, 3), world at t = 0; axis2 is made orthogonal to axis1.

    **References:** Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, section 9.4.4.
    """

    pos: Array
    axis1: Array
    axis2: Array
    names: tuple[str, ...] = eqx.field(static=True)
    body1: tuple[int, ...] = eqx.field(static=True)
    body2: tuple[int, ...] = eqx.field(static=True)

    @property
    def row_mask(self) -> tuple[tuple[bool, ...], ...]:
        return ((True,) * 4,) * self.count

    def attach(self, rest1: Rest, rest2: Rest) -> UniversalAnchors:
        pos = Vec3.of(self.pos)
        first = Vec3.of(self.axis1).unit()
        second = Vec3.of(self.axis2)
        second = (second - first * first.dot(second)).unit()
        return UniversalAnchors(
            pos1=rest1.com.to_local(pos),
            axis1=rest1.com.quat.matrix().transposed_times(first),
            pos2=rest2.com.to_local(pos),
            axis2=rest2.com.quat.matrix().transposed_times(second),
        )

    def origin(self, anchors: UniversalAnchors, body2: Kinematics) -> Vec3:
        return body2.pose.pos + body2.arm(anchors.pos2)

    def residual(self, anchors: UniversalAnchors, pose1: Pose, pose2: Pose, drive: Drive) -> tuple[Array, ...]:
        del drive
        gap = pose1.point(anchors.pos1) - pose2.point(anchors.pos2)
        axis1, axis2 = pose1.quat.matrix() @ anchors.axis1, pose2.quat.matrix() @ anchors.axis2
        return gap.x, gap.y, gap.z, axis1.dot(axis2)
