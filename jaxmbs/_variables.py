"""What every variable of a result means: dimensions, units, frame and signs."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Variable:
    """The meaning of one variable.

    - dims: without `time` and `instance`.
    - units: as UDUNITS writes them; two that are split by a bar are those of linear and of rotation motors.
    - frame: the axes of the components, or what a scalar is relative to.
    - comment: signs and reference points.
    """

    dims: tuple[str, ...]
    units: str
    frame: str
    long_name: str
    comment: str = ""


_WORLD = "world"
_NONE = "none (scalar)"
_JOINT = "joint frame of body2"
_OF_BODY2 = "body2 relative to body1, zero in the pose of the file; NaN where the joint has none"
_OF_BODY1 = "body1 relative to body2, along or about the axis that body2 carries"
_ON_BODY2 = "acts on body2, the opposite on body1"
_ABOUT = "on body2, about the joint origin that body2 carries"


def _body(size: str, units: str, frame: str, long_name: str, comment: str = "") -> Variable:
    return Variable(("body", size), units, frame, long_name, comment)


def _of(dim: str, units: str, long_name: str, comment: str = "", frame: str = _NONE) -> Variable:
    return Variable((dim,), units, frame, long_name, comment)


def _vector(dim: str, units: str, frame: str, long_name: str, comment: str) -> Variable:
    return Variable((dim, "xyz"), units, frame, long_name, comment)


def _energy(long_name: str, comment: str) -> Variable:
    return Variable((), "J", _NONE, long_name, comment)


#: By name, in the order of the file.
VARIABLES: dict[str, Variable] = {
    "body_pos": _body("xyz", "m", _WORLD, "position of the centre of mass"),
    "body_quat": _body("wxyz", "1", "COM axes to world", "orientation of the COM frame", "unit quaternion, order wxyz"),
    "body_vel": _body("xyz", "m s-1", _WORLD, "velocity of the centre of mass"),
    "body_omega": _body("xyz", "rad s-1", "COM axes of the body", "angular velocity", "of the body in the world"),
    "body_acc": _body("xyz", "m s-2", _WORLD, "acceleration of the centre of mass"),
    "body_alpha": _body("xyz", "rad s-2", _WORLD, "angular acceleration"),
    "ref_pos": _body("xyz", "m", _WORLD, "position of the reference frame"),
    "ref_quat": _body(
        "wxyz", "1", "reference axes to world", "orientation of the reference frame", "unit quaternion, order wxyz"
    ),
    "ref_vel": _body("xyz", "m s-1", _WORLD, "velocity of the origin of the reference frame"),
    "ref_omega": _body("xyz", "rad s-1", "reference axes of the body", "angular velocity", "of the body in the world"),
    "joint_angle": _of("joint", "rad", "angle of the joint, turns counted", _OF_BODY2, _JOINT),
    "joint_angle_rate": _of("joint", "rad s-1", "rate of the joint angle", _OF_BODY2, _JOINT),
    "joint_displacement": _of("joint", "m", "displacement of the joint", _OF_BODY2, _JOINT),
    "joint_displacement_rate": _of("joint", "m s-1", "rate of the joint displacement", _OF_BODY2, _JOINT),
    "joint_force": _vector("joint", "N", _WORLD, "reaction force of the joint", _ON_BODY2),
    "joint_torque": _vector("joint", "N m", _WORLD, "reaction torque of the joint", _ABOUT),
    "residual_pos": _of("joint", "m or rad", "largest position residual of the joint", "over its rows"),
    "residual_vel": _of("joint", "m s-1 or rad s-1", "largest velocity residual of the joint", "over its rows"),
    "motor_pos": _of(
        "motor", "m|rad", "position of the motor, turns counted", f"{_OF_BODY1}, zero in the pose of the file", _JOINT
    ),
    "motor_vel": _of("motor", "m s-1|rad s-1", "rate of the motor", _OF_BODY1, _JOINT),
    "motor_effort": _of("motor", "N|N m", "effort", "acts on body1 along +axis, the opposite on body2", _JOINT),
    "constraint_force": _vector("constraint", "N", _WORLD, "reaction force of the constraint", _ON_BODY2),
    "constraint_torque": _vector(
        "constraint", "N m", _WORLD, "reaction torque of the constraint", "on body2, about the point that body2 carries"
    ),
    "constraint_residual": _of(
        "constraint", "m or 1", "largest position residual", "over its rows: lengths and cosines"
    ),
    "tsda_length": _of("tsda", "m", "distance of the two points"),
    "tsda_rate": _of("tsda", "m s-1", "rate of the length", "positive while it grows"),
    "tsda_force": _of(
        "tsda", "N", "force along the line of the two points", "positive pushes the bodies apart", "point1 to point2"
    ),
    "rsda_angle": _of(
        "rsda", "rad", "angle, turns counted", "body2 relative to body1, zero in the pose of the file", "axis of body1"
    ),
    "rsda_rate": _of("rsda", "rad s-1", "rate of the angle", "body2 relative to body1", "axis of body1"),
    "rsda_torque": _of(
        "rsda", "N m", "torque about the axis", "on body2 along +axis, the opposite on body1", "axis of body1"
    ),
    "bushing_force": _vector(
        "bushing",
        "N",
        _WORLD,
        "force of the bushing",
        "on body2 at the origin of its joint frame, the opposite on body1",
    ),
    "bushing_torque": _vector("bushing", "N m", _WORLD, "torque of the bushing", "on body2, the opposite on body1"),
    "energy_kinetic": _energy("kinetic energy", "of all moving bodies"),
    "energy_potential": _energy("potential energy", "of gravity (zero at the world origin) and of springs"),
    "energy_dissipated": _energy("energy dissipated since the start", "positive leaves the mechanism"),
    "work_motors": _energy("work of motors since the start", "positive enters the mechanism"),
    "work_loads": _energy("work of loads since the start", "positive enters the mechanism"),
}
