"""Joints, bushings and constraints."""

import numpy as np

from jaxmbs._description import ConstraintKind, JointKind
from jaxmbs.loaders.chrono.context import SMALLEST_LENGTH, Context
from jaxmbs.loaders.chrono.parse import Place
from jaxmbs.loaders.chrono.schema import BushingData, BushingDof, Constraint, ConstraintType, Joint, JointType


#: The types that may be bushings, with the rotations (about x, y, z of the joint frame) that are free.
_FREE_ROTATIONS = {
    JointType.LOCK: (False, False, False),
    JointType.REVOLUTE: (False, False, True),
    JointType.SPHERICAL: (True, True, True),
    JointType.UNIVERSAL: (True, True, False),
}
#: The sine of an angle that is taken for zero.
_PARALLEL = 1e-6
#: Axes of the joint frame that stand for an omitted axis, and for any axis in Chrono 10.
_POINT_AXES = {JointType.POINT_LINE: [1.0, 0.0, 0.0], JointType.POINT_PLANE: [0.0, 0.0, 1.0]}


def lower_joints(context: Context) -> None:
    """Add all kinematic joints and bushings that make sense."""
    for joint, place in context.elements("joints", context.model.joints):
        fine = context.axes_fine(joint, place, "axis", "axis1", "axis2")
        fine = context.bodies_fine(joint, place, "body1", "body2") and fine
        fine = _universal_axes_fine(joint, place) and fine
        kind = _type(context, joint, place)
        if joint.bushing_data is not None and not _may_be_bushing(kind, place):
            continue
        if not fine:
            continue
        with context.placing(place):
            if joint.bushing_data is not None:
                _lower_bushing(context, joint, kind, joint.bushing_data, place)
            else:
                _lower_joint(context, joint, kind, place)


def _type(context: Context, joint: Joint, place: Place) -> JointType:
    if context.is_chrono and joint.type is JointType.CYLINDRICAL:
        (place / "type").warning("Chrono 10 makes a LOCK joint of CYLINDRICAL", "the seed dialect has the joint")
        return JointType.LOCK
    return joint.type


def _may_be_bushing(kind: JointType, place: Place) -> bool:
    if kind in _FREE_ROTATIONS:
        return True
    fix = f"remove 'bushing_data', or choose the type {', '.join(kind.value for kind in _FREE_ROTATIONS)}"
    (place / "bushing_data").error(f"a {kind.value} joint may not be a bushing", fix)
    return False


def _lower_joint(context: Context, joint: Joint, kind: JointType, place: Place) -> None:
    axis = joint.axis1 if kind is JointType.UNIVERSAL else joint.axis
    if kind in (JointType.LOCK, JointType.SPHERICAL):
        axis = None
    if kind in _POINT_AXES:
        if axis is None:
            context.defaults(joint, place, axis=str([int(x) for x in _POINT_AXES[kind]]))
        elif context.is_chrono:
            (place / "axis").warning(f"Chrono 10 ignores the axis of a {kind.value} joint", "the seed dialect uses it")
            axis = None
        axis = axis or _POINT_AXES[kind]
    context.description.add_joint(
        joint.name,
        JointKind[kind.name],
        joint.body1,
        joint.body2,
        pos=joint.location,
        axis=axis,
        axis2=joint.axis2 if kind is JointType.UNIVERSAL else None,
    )


def _lower_bushing(context: Context, joint: Joint, kind: JointType, data: BushingData, place: Place) -> None:
    """The joint frame is the world's for LOCK and SPHERICAL, has z along a REVOLUTE axis, x along axis1."""
    axis, axis_x = [0.0, 0.0, 1.0], None
    if kind is JointType.REVOLUTE and joint.axis is not None:
        axis = joint.axis
    if kind is JointType.UNIVERSAL and joint.axis1 is not None and joint.axis2 is not None:
        axis, axis_x = _normal(joint.axis1, joint.axis2).tolist(), joint.axis1
    stiffness, damping = _rotational(kind, data)
    _warn_useless(kind, data, place)
    context.description.add_bushing(
        joint.name,
        joint.body1,
        joint.body2,
        pos=joint.location,
        stiffness_linear=data.stiffness_linear,
        damping_linear=data.damping_linear,
        stiffness_rotational=stiffness,
        damping_rotational=damping,
        axis=axis,
        axis_x=axis_x,
        kind=JointKind[kind.name],
    )
    if data.DOF is None:
        if any(_FREE_ROTATIONS[kind]):
            context.defaults(data, place / "bushing_data", DOF="0")
    else:
        context.defaults(data.DOF, place / "bushing_data" / "DOF")


def _normal(axis1: list[float], axis2: list[float]) -> np.ndarray:
    first, second = (np.array(axis) / np.linalg.norm(axis) for axis in (axis1, axis2))
    return np.cross(first, second)


def _universal_axes_fine(joint: Joint, place: Place) -> bool:
    if joint.type is not JointType.UNIVERSAL or joint.axis1 is None or joint.axis2 is None:
        return True
    if min(np.linalg.norm(joint.axis1), np.linalg.norm(joint.axis2)) < SMALLEST_LENGTH:
        return False  # reported as a zero axis
    if np.linalg.norm(_normal(joint.axis1, joint.axis2)) < _PARALLEL:
        (place / "axis2").error("axis1 and axis2 are parallel", "give two different directions")
        return False
    return True


def _rotational(kind: JointType, data: BushingData) -> tuple[list[float], list[float]]:
    dof = data.DOF or BushingDof.model_validate({})
    stiffness, damping = dof.stiffness_rotational, dof.damping_rotational
    free = _FREE_ROTATIONS[kind]
    return (
        [stiffness if is_free else data.stiffness_rotational for is_free in free],
        [damping if is_free else data.damping_rotational for is_free in free],
    )


def _warn_useless(kind: JointType, data: BushingData, place: Place) -> None:
    """No type that may be a bushing has a free translation, and LOCK has no free rotation either."""
    if data.DOF is None:
        return
    keys = ["stiffness_linear", "damping_linear"]
    if not any(_FREE_ROTATIONS[kind]):
        keys += ["stiffness_rotational", "damping_rotational"]
    for key in keys:
        if getattr(data.DOF, key):
            motion = "translation" if key.endswith("linear") else "rotation"
            message = f"this has no effect: a {kind.value} bushing has no free {motion}"
            (place / "bushing_data" / "DOF" / key).warning(message)


def lower_constraints(context: Context) -> None:
    """Add all constraints that make sense; Chrono 10 drops those that are not DISTANCE."""
    for constraint, place in context.elements("constraints", context.model.constraints):
        fine = context.axes_fine(constraint, place, "axis1", "axis2")
        fine = context.bodies_fine(constraint, place, "body1", "body2") and fine
        if context.is_chrono and constraint.type is not ConstraintType.DISTANCE:
            message = f"Chrono 10 ignores {constraint.type.value} constraints"
            (place / "type").warning(message, "the seed dialect has them")
            continue
        if not (_has_axes(constraint, place) and fine):
            continue
        with context.placing(place):
            context.description.add_constraint(
                constraint.name,
                ConstraintKind[constraint.type.name],
                constraint.body1,
                constraint.body2,
                point1=constraint.point1,
                point2=constraint.point2,
                axis1=constraint.axis1,
                axis2=constraint.axis2,
            )


def _has_axes(constraint: Constraint, place: Place) -> bool:
    """The axes are extensions of the format, so that only the dialect with these constraints needs them."""
    needed = {ConstraintType.DISTANCE: (), ConstraintType.REVOLUTE_SPHERICAL: ("axis1",)}
    missing = [key for key in needed.get(constraint.type, ("axis1", "axis2")) if getattr(constraint, key) is None]
    for key in missing:
        description = type(constraint).model_fields[key].description
        place.error(f"missing key {key!r}; type {constraint.type.value} needs it", f"add {key!r}: {description}")
    return not missing
