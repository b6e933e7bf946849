"""A massless link with a revolute joint at one end and a prismatic joint at the other."""

import dataclasses

import equinox as eqx
import jax
from jax import Array

from jaxmbs._kinematics import Kinematics, Pose, Rest
from jaxmbs._math import Vec3
from jaxmbs.constraints._base import AbstractConstraint, Drive


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RevoluteTranslationalAnchors:
    """Points and axes in the COM frames, and the distance kept along x2."""

    point1: Vec3
    axis_z1: Vec3
    point2: Vec3
    axis_x2: Vec3
    axis_y2: Vec3
    offset: Array


class RevoluteTranslational(AbstractConstraint):
    """Four rows: z1 . x2 = 0, z1 . y2 = 0, (p2 - p1) . z1 = 0, and (p2 - p1) . x2 keeps its value at t = 0.

    Body2 turns about z1 through p1 and slides along y2; x2 = y2 x z1 at t = 0, fixed in body2. The reaction is
    reported about point 2.

    - point1, point2: (elements, 3), world at t = 0.
    - axis1: z1, fixed in body1; axis2: y2, fixed in body2; perpendicular at t = 0.
    """

    point1: Array
    point2: Array
    axis1: Array
    axis2: Array
    names: tuple[str, ...] = eqx.field(static=True)
    body1: tuple[int, ...] = eqx.field(static=True)
    body2: tuple[int, ...] = eqx.field(static=True)

    @property
    def row_mask(self) -> tuple[tuple[bool, ...], ...]:
        return ((True,) * 4,) * self.count

    def attach(self, rest1: Rest, rest2: Rest) -> RevoluteTranslationalAnchors:
        first, second = Vec3.of(self.point1), Vec3.of(self.point2)
        z1, y2 = Vec3.of(self.axis1).unit(), Vec3.of(self.axis2)
        # exactly perpendicular, whatever rounding the file brings
        y2 = (y2 - z1 * z1.dot(y2)).unit()
        x2 = y2.cross(z1)
        rot1, rot2 = rest1.com.quat.matrix(), rest2.com.quat.matrix()
        return RevoluteTranslationalAnchors(
            point1=rest1.com.to_local(first),
            axis_z1=rot1.transposed_times(z1),
            point2=rest2.com.to_local(second),
            axis_x2=rot2.transposed_times(x2),
            axis_y2=rot2.transposed_times(y2),
            offset=(second - first).dot(x2),
        )

    def origin(self, anchors: RevoluteTranslationalAnchors, body2: Kinematics) -> Vec3:
        return body2.pose.pos + body2.arm(anchors.point2)

    def residual(
        self, anchors: RevoluteTranslationalAnchors, pose1: Pose, pose2: Pose, drive: Drive
    ) -> tuple[Array, ...]:
        del drive
        rot1, rot2 = pose1.quat.matrix(), pose2.quat.matrix()
        link = pose2.point(anchors.point2) - pose1.point(anchors.point1)
        z1, x2, y2 = rot1 @ anchors.axis_z1, rot2 @ anchors.axis_x2, rot2 @ anchors.axis_y2
        return z1.dot(x2), z1.dot(y2), link.dot(z1), link.dot(x2) - anchors.offset
