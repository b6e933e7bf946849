"""Rotational spring-damper-actuators."""

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from jaxmbs._context import Context
from jaxmbs._kinematics import Kinematics, Pose, Rest, Wrench
from jaxmbs._math import Mat3, Vec3
from jaxmbs._math.angle import unwrapped
from jaxmbs._math.table import integral, interpolate
from jaxmbs.constraints.frame_joint import FrameAnchors
from jaxmbs.forces._base import AbstractForce


class Rsda(AbstractForce):
    """Springs and dampers about an axis: a pure couple.

    The angle is that of body2 relative to body1 about the axis, zero at t = 0 and counted over any number of
    turns; the rate is axis . (omega2 - omega1). The torque on body2 along the axis is

        preload - stiffness a - damping rate - spring_curve(a) - damping_curve(rate),   a = angle - free_angle

    and body1 gets the opposite one. The axis is fixed in body1. Its own state is the integrated rate, from which
    the number of whole turns is read; the angle itself comes from the pose.

    - pos, axis: (elements, 3), world at t = 0 (`pos` has no effect on the motion).
    - spring_curve (angle, torque), damping_curve (rate, torque): (elements, points, 2), restoring positive.
    - the others: (elements,).
    """

    pos: Array
    axis: Array
    free_angle: Array
    preload: Array
    stiffness: Array
    damping: Array
    spring_curve: Array
    damping_curve: Array
    names: tuple[str, ...] = eqx.field(static=True)
    body1: tuple[int, ...] = eqx.field(static=True)
    body2: tuple[int, ...] = eqx.field(static=True)
    has_curves: bool = eqx.field(static=True)

    @property
    def aux_count(self) -> int:
        return 1

    def attach(self, rest1: Rest, rest2: Rest) -> FrameAnchors:
        return FrameAnchors.at(Vec3.of(self.pos), Mat3.from_axis(Vec3.of(self.axis)), rest1.com, rest2.com)

    def angle(self, anchors: FrameAnchors, pose1: Pose, pose2: Pose, aux: Array) -> Array:
        """The angle [rad] of body2 relative to body1 over any number of turns."""
        relative = (pose1.quat @ anchors.quat1).conj() @ (pose2.quat @ anchors.quat2)
        return unwrapped(relative.twist_angle(), aux[:, 0])

    def law(self, angle: Array, rate: Array) -> Array:
        """The torque [N m] on body2 along the axis."""
        a = angle - self.free_angle
        torque = self.preload - self.stiffness * a - self.damping * rate
        if self.has_curves:
            torque = torque - interpolate(self.spring_curve[:, :, 0], self.spring_curve[:, :, 1], a)
            torque = torque - interpolate(self.damping_curve[:, :, 0], self.damping_curve[:, :, 1], rate)
        return torque

    def measure(
        self, anchors: FrameAnchors, body1: Kinematics, body2: Kinematics, aux: Array
    ) -> tuple[Array, Array, Array, Vec3]:
        """Angle, rate, torque on body2, and the axis in the world."""
        axis = (body1.pose.quat @ anchors.quat1).matrix().z
        angle = self.angle(anchors, body1.pose, body2.pose, aux)
        rate = axis.dot(body2.omega - body1.omega)
        return angle, rate, self.law(angle, rate), axis

    def wrenches(
        self, anchors: FrameAnchors, body1: Kinematics, body2: Kinematics, aux: Array, context: Context
    ) -> tuple[Wrench, Wrench]:
        del context
        _, _, torque, axis = self.measure(anchors, body1, body2, aux)
        couple = Wrench(Vec3.zeros(torque), axis * torque)
        return -couple, couple

    def potential(self, anchors: FrameAnchors, pose1: Pose, pose2: Pose, aux: Array) -> Array:
        a = self.angle(anchors, pose1, pose2, aux) - self.free_angle
        energy = 0.5 * self.stiffness * a * a - self.preload * a
        if self.has_curves:
            energy = energy + integral(self.spring_curve[:, :, 0], self.spring_curve[:, :, 1], a)
        return energy

    def aux_rate(self, anchors: FrameAnchors, body1: Kinematics, body2: Kinematics, aux: Array) -> Array:
        axis = (body1.pose.quat @ anchors.quat1).matrix().z
        return jnp.broadcast_to(axis.dot(body2.omega - body1.omega)[:, None], aux.shape)
