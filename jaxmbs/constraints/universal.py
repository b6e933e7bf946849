"""The universal (Cardan, Hooke) joint."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._kinematics import Kinematics, Pose, Rest
from jaxmbs._math import Vec3
from jaxmbs._spatial import Spatial
from jaxmbs.constraints._base import AbstractConstraint, Drive, Row, basis_at_point, coincidence_rows, held_row


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class UniversalAnchors:
    """Centre and cross axis in the COM frame of each body."""

    pos1: Vec3
    axis1: Vec3
    pos2: Vec3
    axis2: Vec3


class UniversalJoint(AbstractConstraint):
    """Three coincidence rows, in COM axes of body2, and one perpendicularity.

    The latter is that of axis1, fixed in body1, and axis2, fixed in body2.

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
        rot2 = pose2.quat.matrix()
        gap = rot2.transposed_times(pose1.point(anchors.pos1) - pose2.point(anchors.pos2))
        axis1, axis2 = pose1.quat.matrix() @ anchors.axis1, rot2 @ anchors.axis2
        return gap.x, gap.y, gap.z, axis1.dot(axis2)

    def linearise(
        self, anchors: UniversalAnchors, body1: Kinematics, body2: Kinematics, drive: Drive
    ) -> tuple[Row, ...]:
        """In closed form, by differentiating `residual` twice by hand; equal to the autodiff version."""
        del drive
        arm1, arm2 = body1.arm(anchors.pos1), body2.arm(anchors.pos2)
        axis1, axis2 = body1.arm(anchors.axis1), body2.arm(anchors.axis2)
        w1, w2 = body1.omega, body2.omega
        rows = coincidence_rows(body2.rot, arm1, arm2, body1, body2, {})
        zero = jnp.zeros_like(rows[0].residual)
        none = Vec3(zero, zero, zero)
        normal = axis1.cross(axis2) + none
        rate1, rate2 = w1.cross(axis1), w2.cross(axis2)
        bias = w1.cross(rate1).dot(axis2) + 2 * rate1.dot(rate2) + axis1.dot(w2.cross(rate2))
        rows.append(Row(axis1.dot(axis2) + zero, none, normal, none, -normal, zero, bias + zero))
        return tuple(rows)

    @property
    def tree_coordinates(self) -> tuple[tuple[int, ...] | None, ...]:
        return ((0, 1, 2, 3, -1, -1),) * self.count

    def tree_basis(
        self,
        anchors: UniversalAnchors,
        body1: Kinematics,
        body2: Kinematics,
        rows: tuple[Row, ...],
        onto2: np.ndarray,
    ) -> tuple[Spatial, ...]:
        """Translations, the spin about the normal of the cross, and those about its two axes."""
        along = [held_row(row, onto2) for row in rows[:3]]
        normal = held_row(rows[3], onto2).angular
        none = Vec3.zeros(normal.x)
        axes = body1.arm(anchors.axis1) + none, body2.arm(anchors.axis2) + none
        return basis_at_point(along, (normal * (1.0 / normal.dot(normal)), *axes))
