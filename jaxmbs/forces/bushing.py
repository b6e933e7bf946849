"""Compliant joints."""

import equinox as eqx
from jax import Array

from jaxmbs._context import Context
from jaxmbs._kinematics import Kinematics, Pose, Rest, Wrench
from jaxmbs._math import Mat3, Vec3
from jaxmbs.constraints.frame_joint import FrameAnchors
from jaxmbs.forces._base import AbstractForce


class Bushing(AbstractForce):
    """Stiffness and damping between two frames that coincide at t = 0.

    In the frame of body2: s = (position of the origin of frame 1, rotation vector of frame 1 relative to frame 2)
    and its rate (d/dt of that position, relative angular velocity in the axes of frame 2). The wrench K s + D ds
    acts on body2 at the origin of frame 2, and its opposite on body1 at the origin of frame 1.

    The two points differ when the bushing is deformed, so the pair is not exactly moment-balanced, and with
    anisotropic rotational stiffness it is not exactly conservative: this is Chrono's law, kept on purpose.

    - pos, axis, axis_x: (elements, 3), world at t = 0: origin, z and x directions of the frames.
    - stiffness_linear, damping_linear: (elements, 3) [N/m], [N s/m], along x, y, z.
    - stiffness_rotational, damping_rotational: (elements, 3) [N m/rad], [N m s/rad], about x, y, z.
    """

    pos: Array
    axis: Array
    axis_x: Array
    stiffness_linear: Array
    damping_linear: Array
    stiffness_rotational: Array
    damping_rotational: Array
    names: tuple[str, ...] = eqx.field(static=True)
    body1: tuple[int, ...] = eqx.field(static=True)
    body2: tuple[int, ...] = eqx.field(static=True)

    def attach(self, rest1: Rest, rest2: Rest) -> FrameAnchors:
        frame = Mat3.from_axes(Vec3.of(self.axis), Vec3.of(self.axis_x))
        return FrameAnchors.at(Vec3.of(self.pos), frame, rest1.com, rest2.com)

    def deformation(self, anchors: FrameAnchors, pose1: Pose, pose2: Pose) -> tuple[Vec3, Vec3]:
        """Displacement [m] and rotation vector [rad] of frame 1 in frame 2."""
        quat2 = pose2.quat @ anchors.quat2
        gap = pose1.point(anchors.pos1) - pose2.point(anchors.pos2)
        turn = quat2.conj() @ (pose1.quat @ anchors.quat1)
        return quat2.matrix().transposed_times(gap), turn.rotation_vector()

    def measure(self, anchors: FrameAnchors, body1: Kinematics, body2: Kinematics) -> tuple[Vec3, Vec3, Vec3, Vec3]:
        """Force and torque on body2 in world axes, and the arms of the two frame origins."""
        arm1, arm2 = body1.arm(anchors.pos1), body2.arm(anchors.pos2)
        frame2 = (body2.pose.quat @ anchors.quat2).matrix()
        shift, turn = self.deformation(anchors, body1.pose, body2.pose)
        gap = body1.pose.pos + arm1 - body2.pose.pos - arm2
        gap_rate = body1.velocity_at(arm1) - body2.velocity_at(arm2) - body2.omega.cross(gap)
        shift_rate = frame2.transposed_times(gap_rate)
        spin = frame2.transposed_times(body1.omega - body2.omega)
        force = shift.scaled_by(Vec3.of(self.stiffness_linear)) + shift_rate.scaled_by(Vec3.of(self.damping_linear))
        torque = turn.scaled_by(Vec3.of(self.stiffness_rotational)) + spin.scaled_by(Vec3.of(self.damping_rotational))
        return frame2 @ force, frame2 @ torque, arm1, arm2

    def wrenches(
        self, anchors: FrameAnchors, body1: Kinematics, body2: Kinematics, aux: Array, context: Context
    ) -> tuple[Wrench, Wrench]:
        del aux, context
        force, torque, arm1, arm2 = self.measure(anchors, body1, body2)
        return Wrench(-force, arm1.cross(-force) - torque), Wrench(force, arm2.cross(force) + torque)

    def potential(self, anchors: FrameAnchors, pose1: Pose, pose2: Pose, aux: Array) -> Array:
        del aux
        shift, turn = self.deformation(anchors, pose1, pose2)
        stretch = shift.dot(shift.scaled_by(Vec3.of(self.stiffness_linear)))
        twist = turn.dot(turn.scaled_by(Vec3.of(self.stiffness_rotational)))
        return 0.5 * (stretch + twist)
