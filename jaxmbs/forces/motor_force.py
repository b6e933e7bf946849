"""Motors that prescribe a force or a torque."""

from typing import Literal

import equinox as eqx
import numpy as np
from jax import Array

from jaxmbs._context import Context
from jaxmbs._description import MotorKind
from jaxmbs._kinematics import Kinematics, Rest, Wrench
from jaxmbs._math import Mat3, Vec3
from jaxmbs.constraints.frame_joint import FrameAnchors
from jaxmbs.forces._base import AbstractForce


class MotorForce(AbstractForce):
    """The effort f(t) of FORCE motors along or about z of frame 2, which is fixed in body2.

    A linear motor applies +f z to body1 and -f z to body2, both at the origin of frame 1 (on body1); a rotation
    motor applies the couple +f z to body1 and -f z to body2. What guides the motor is a `FrameJoint`.

    - pos, axis: (elements, 3), world at t = 0.
    """

    pos: Array
    axis: Array
    names: tuple[str, ...] = eqx.field(static=True)
    body1: tuple[int, ...] = eqx.field(static=True)
    body2: tuple[int, ...] = eqx.field(static=True)
    kinds: tuple[MotorKind, ...] = eqx.field(static=True)
    #: Index of every motor's function among the functions of the model.
    function: tuple[int, ...] = eqx.field(static=True)

    @property
    def role(self) -> Literal["passive", "motor", "load"]:
        return "motor"

    def attach(self, rest1: Rest, rest2: Rest) -> FrameAnchors:
        return FrameAnchors.at(Vec3.of(self.pos), Mat3.from_axis(Vec3.of(self.axis)), rest1.com, rest2.com)

    def effort(self, context: Context) -> Array:
        """The prescribed efforts, (elements, lanes)."""
        return context.functions.value[np.array(self.function)]

    def wrenches(
        self, anchors: FrameAnchors, body1: Kinematics, body2: Kinematics, aux: Array, context: Context
    ) -> tuple[Wrench, Wrench]:
        del aux
        axis = (body2.pose.quat @ anchors.quat2).matrix().z
        effort = axis * self.effort(context)
        linear = np.array([kind is MotorKind.LINEAR for kind in self.kinds])[:, None]
        none = Vec3.zeros(effort.x)
        force, torque = effort.where(linear, none), none.where(linear, effort)
        arm1 = body1.arm(anchors.pos1)
        arm2 = body1.pose.pos + arm1 - body2.pose.pos
        return (
            Wrench(force, arm1.cross(force) + torque),
            Wrench(-force, -(arm2.cross(force)) - torque),
        )
