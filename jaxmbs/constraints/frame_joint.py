"""Joints between two frames: six relative coordinates, some of them locked or driven."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._context import Context
from jaxmbs._description import Actuation, Guide, JointKind, MotorKind
from jaxmbs._kinematics import Kinematics, Pose, Rest
from jaxmbs._math import Mat3, Quat, Vec3
from jaxmbs._math.angle import unwrapped
from jaxmbs._spatial import Spatial
from jaxmbs.constraints._base import AbstractConstraint, Drive, Row, basis_at_point, coincidence_rows, held_row


Mask = tuple[bool, bool, bool, bool, bool, bool]


def _mask(rows: str) -> Mask:
    names = ("x", "y", "z", "rx", "ry", "rz")
    chosen = rows.split()
    return tuple(name in chosen for name in names)  # pyright: ignore[reportReturnType]


#: Locked relative coordinates in the joint frame of body2, whose z axis is the joint's axis.
JOINT_ROWS = {
    JointKind.LOCK: _mask("x y z rx ry rz"),
    JointKind.REVOLUTE: _mask("x y z rx ry"),
    JointKind.SPHERICAL: _mask("x y z"),
    JointKind.PRISMATIC: _mask("x y rx ry rz"),
    JointKind.CYLINDRICAL: _mask("x y rx ry"),
    JointKind.POINT_LINE: _mask("x y"),
    JointKind.POINT_PLANE: _mask("z"),
}

#: What guides and spindles lock; the driven coordinate is added for POSITION and SPEED motors.
GUIDE_ROWS = {
    (MotorKind.LINEAR, Guide.PRISMATIC): _mask("x y rx ry rz"),
    (MotorKind.LINEAR, Guide.SPHERICAL): _mask("x y"),
    (MotorKind.LINEAR, Guide.FREE): _mask(""),
    (MotorKind.ROTATION, Guide.REVOLUTE): _mask("x y z rx ry"),
    (MotorKind.ROTATION, Guide.CYLINDRICAL): _mask("x y rx ry"),
    (MotorKind.ROTATION, Guide.FREE): _mask(""),
}
DRIVEN_ROW = {MotorKind.LINEAR: 2, MotorKind.ROTATION: 5}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class FrameAnchors:
    """The joint frame in the COM frames of the two bodies."""

    pos1: Vec3
    quat1: Quat
    pos2: Vec3
    quat2: Quat

    @staticmethod
    def at(pos: Vec3, frame: Mat3, pose1: Pose, pose2: Pose) -> "FrameAnchors":
        quat = Quat.from_matrix(frame)
        return FrameAnchors(
            pose1.to_local(pos), pose1.quat.conj() @ quat, pose2.to_local(pos), pose2.quat.conj() @ quat
        )


@dataclasses.dataclass(frozen=True)
class Motor:
    """How a motor drives its joint: `function` is an index into the model's functions.

    `name` is the motor's own; its joint has another one where a joint has that name.
    """

    name: str
    kind: MotorKind
    actuation: Actuation
    function: int


class FrameJoint(AbstractConstraint):
    """LOCK, REVOLUTE, SPHERICAL, PRISMATIC, CYLINDRICAL, POINT_LINE, POINT_PLANE, guides and spindles of motors.

    Frame 1 is fixed in body1 and frame 2 in body2; they coincide at t = 0. The translations are those of the
    origin of frame 1 in frame 2, the rotations are twice the vector part of the relative quaternion q = q2^-1 q1,
    which has full rank for every angle about a free z axis. A POSITION or SPEED motor locks z or rz against a
    prescribed displacement or angle d(t): z - d = 0, or q taken relative to frame 2 turned by d about z.

    - pos, axis: (elements, 3), world at t = 0; `axis` is z of both frames.

    Its own state per element: the angle of body2 relative to body1 (integrated, so that turns are counted) and the
    integral of a SPEED motor's function.

    **References:** Featherstone, Rigid Body Dynamics Algorithms, table 4.1 (joint kinds); Haug, Computer Aided
    Kinematics and Dynamics of Mechanical Systems, section 9.4 (spatial constraints).
    """

    pos: Array
    axis: Array
    names: tuple[str, ...] = eqx.field(static=True)
    body1: tuple[int, ...] = eqx.field(static=True)
    body2: tuple[int, ...] = eqx.field(static=True)
    locked: tuple[Mask, ...] = eqx.field(static=True)
    #: For every element its motor, or `None` for a plain joint.
    motors: tuple[Motor | None, ...] = eqx.field(static=True)

    @property
    def row_mask(self) -> tuple[tuple[bool, ...], ...]:
        return self.locked

    @property
    def aux_count(self) -> int:
        return 2

    def _drives(self, row: int) -> np.ndarray:
        """Which elements have `row` (2 or 5) driven by a POSITION or SPEED motor."""
        return np.array(
            [
                motor is not None and motor.actuation is not Actuation.FORCE and DRIVEN_ROW[motor.kind] == row
                for motor in self.motors
            ],
            dtype=bool,
        )

    def attach(self, rest1: Rest, rest2: Rest) -> FrameAnchors:
        return FrameAnchors.at(Vec3.of(self.pos), Mat3.from_axis(Vec3.of(self.axis)), rest1.com, rest2.com)

    def origin(self, anchors: FrameAnchors, body2: Kinematics) -> Vec3:
        return body2.pose.pos + body2.arm(anchors.pos2)

    def angle(self, anchors: FrameAnchors, pose1: Pose, pose2: Pose, aux: Array) -> Array:
        """The angle [rad] of body2 relative to body1 about the axis, over any number of turns."""
        relative = (pose1.quat @ anchors.quat1).conj() @ (pose2.quat @ anchors.quat2)
        return unwrapped(relative.rotation_vector().z, aux[:, 0])

    def drive(self, context: Context, aux: Array) -> Drive:
        """(displacement, angle) of every element; zero for elements that are not driven."""
        integral = aux[:, 1]
        zero = jnp.zeros_like(integral)
        if not any(motor is not None and motor.actuation is not Actuation.FORCE for motor in self.motors):
            return Drive((zero, zero), (zero, zero), (zero, zero))
        index = np.array([0 if motor is None else motor.function for motor in self.motors])
        speed = np.array([motor is not None and motor.actuation is Actuation.SPEED for motor in self.motors])[:, None]
        f = jax.tree.map(lambda leaf: leaf[index], context.functions)
        value = jnp.where(speed, integral, f.value)
        rate = jnp.where(speed, f.value, f.rate)
        acceleration = jnp.where(speed, f.rate, f.acceleration)

        def split(quantity: Array) -> tuple[Array, Array]:
            return tuple(jnp.where(self._drives(row)[:, None], quantity, zero) for row in (2, 5))  # pyright: ignore[reportReturnType]

        return Drive(split(value), split(rate), split(acceleration))

    def aux_rate(self, anchors: FrameAnchors, body1: Kinematics, body2: Kinematics, drive: Drive, aux: Array) -> Array:
        axis = (body2.pose.quat @ anchors.quat2).matrix().z
        angle_rate = axis.dot(body2.omega - body1.omega)
        speed = np.array([motor is not None and motor.actuation is Actuation.SPEED for motor in self.motors])[:, None]
        drive_rate = jnp.where(speed, drive.rate[0] + drive.rate[1], 0.0)
        return jnp.broadcast_to(jnp.stack(jnp.broadcast_arrays(angle_rate, drive_rate), axis=1), aux.shape)

    def residual(self, anchors: FrameAnchors, pose1: Pose, pose2: Pose, drive: Drive) -> tuple[Array, ...]:
        displacement, angle = drive.value
        quat1, quat2 = pose1.quat @ anchors.quat1, pose2.quat @ anchors.quat2
        gap = pose1.point(anchors.pos1) - pose2.point(anchors.pos2)
        shift = quat2.matrix().transposed_times(gap)
        turn = Quat.about_z(-angle) @ (quat2.conj() @ quat1)
        return shift.x, shift.y, shift.z - displacement, 2 * turn.x, 2 * turn.y, 2 * turn.z

    def linearise(self, anchors: FrameAnchors, body1: Kinematics, body2: Kinematics, drive: Drive) -> tuple[Row, ...]:
        """In closed form, by differentiating `residual` twice by hand; equal to the autodiff version."""
        displacement, angle = drive.value
        frame1, frame2 = (body1.pose.quat @ anchors.quat1).matrix(), (body2.pose.quat @ anchors.quat2).matrix()
        arm1, arm2 = body1.arm(anchors.pos1), body2.arm(anchors.pos2)
        w1, w2 = body1.omega, body2.omega
        along = {2: (displacement, drive.rate[0], drive.acceleration[0])}
        rows = coincidence_rows(frame2, arm1, arm2, body1, body2, along)
        zero = jnp.zeros_like(rows[0].residual)
        none = Vec3(zero, zero, zero)

        # rotations: 2 dq_v/dt = E(q) u with E(q) = q_w + [q_v]x and u = F1^T (w1 - w2 - z2 rate), F1 the frame 1
        turn = (body2.pose.quat @ anchors.quat2).conj() @ (body1.pose.quat @ anchors.quat1)
        if self._drives(5).any():
            turn = Quat.about_z(-angle) @ turn
        qw, qv = turn.w, turn.vector
        angle_rate, angle_acceleration = drive.rate[1], drive.acceleration[1]
        relative = w1 - w2 - frame2.z * angle_rate
        u = frame1.transposed_times(relative)
        u_bias = frame1.transposed_times(
            -(w2.cross(frame2.z) * angle_rate) - frame2.z * angle_acceleration - w1.cross(relative)
        )
        qv_cross_u = qv.cross(u)
        bias = u_bias * qw + qv.cross(u_bias) + u * (-0.5 * qv.dot(u)) + (u * qw + qv_cross_u).cross(u) * 0.5
        units = (Vec3.full(zero, 1.0, 0.0, 0.0), Vec3.full(zero, 0.0, 1.0, 0.0), Vec3.full(zero, 0.0, 0.0, 1.0))
        for unit, value, bias_k in zip(units, (qv.x, qv.y, qv.z), (bias.x, bias.y, bias.z), strict=True):
            direction = frame1 @ (unit * qw - qv.cross(unit))
            rows.append(
                Row(
                    residual=2 * value + zero,
                    linear1=none,
                    angular1=direction,
                    linear2=none,
                    angular2=-direction,
                    rate=-(direction.dot(frame2.z) * angle_rate),
                    bias=bias_k + zero,
                )
            )
        return tuple(rows)

    @property
    def driven_kinds(self) -> tuple[int, ...]:
        """A driven rotation moves all three rows of a joint that has drifted."""
        displaced = (2,) if self._drives(2).any() else ()
        turned = (3, 4, 5) if self._drives(5).any() else ()
        return displaced + turned

    @property
    def tree_coordinates(self) -> tuple[tuple[int, ...] | None, ...]:
        """Every joint but one that locks the rotation about z alone, as a driven spindle without bearings does."""
        return tuple(
            tuple(kind if lock else -1 for kind, lock in enumerate(mask)) if _turning(mask) is not None else None
            for mask in self.locked
        )

    def tree_basis(
        self,
        anchors: FrameAnchors,
        body1: Kinematics,
        body2: Kinematics,
        rows: tuple[Row, ...],
        onto2: np.ndarray,
    ) -> tuple[Spatial, ...]:
        """Dual to the rows: their linear parts are orthonormal, and the angular parts of the rotations independent."""
        along = [held_row(row, onto2) for row in rows[:3]]
        about = [held_row(row, onto2).angular for row in rows[3:]]
        turning = np.array([_turning(mask) or 0 for mask in self.locked])[:, None]
        return basis_at_point(along, _dual_spins(about, turning))


def _turning(mask: Mask) -> int | None:
    """How many rotations a joint locks: none, those about x and y, or all; `None` for anything else."""
    return {(False, False, False): 0, (True, True, False): 2, (True, True, True): 3}.get(mask[3:])


def _dual_spins(about: list[Vec3], turning: np.ndarray) -> tuple[Vec3, ...]:
    """Spins dual to the rotations that are locked, and free ones for the rest, by the number of locked ones."""
    dx, dy, dz = about
    normal = dx.cross(dy)
    units = tuple(Vec3.full(normal.x, *(float(i == k) for i in range(3))) for k in range(3))

    def two() -> tuple[Vec3, ...]:
        scale = 1.0 / normal.dot(normal)
        return dy.cross(normal) * scale, normal.cross(dx) * scale, normal

    def three() -> tuple[Vec3, ...]:
        determinant = dz.dot(normal)
        # what is not chosen below may be singular
        scale = 1.0 / (determinant if np.all(turning == 3) else jnp.where(turning == 3, determinant, 1.0))
        return dy.cross(dz) * scale, dz.cross(dx) * scale, normal * scale

    chosen = units
    for count, found in ((2, two), (3, three)):
        if np.all(turning == count):
            return found()
        if np.any(turning == count):
            chosen = tuple(new.where(turning == count, old) for new, old in zip(found(), chosen, strict=True))
    return chosen
