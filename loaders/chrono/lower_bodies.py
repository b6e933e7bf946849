"""Bodies: frames, inertia and initial velocities."""

import numpy as np

from jaxmbs._description import check_inertia
from jaxmbs.loaders.chrono.context import Context
from jaxmbs.loaders.chrono.parse import Place
from jaxmbs.loaders.chrono.rotation import IDENTITY, rotate
from jaxmbs.loaders.chrono.schema import Body, Inertia


def lower_bodies(context: Context) -> None:
    """Add all bodies that make sense."""
    for body, place in context.elements("bodies", context.model.bodies):
        with context.placing(place):
            _lower_body(context, body, place)


def _lower_body(context: Context, body: Body, place: Place) -> None:
    quat = context.orientation(body.orientation, place / "orientation")
    com_pos, com_quat = np.zeros(3), IDENTITY
    if body.com is not None:
        com_pos = np.array(body.com.location)
        com_quat = context.orientation(body.com.orientation, place / "com" / "orientation")
    mass, tensor = body.mass, None
    if not body.fixed:
        mass, tensor = _mass(body, place), _tensor(body.inertia, place)
        if mass is None or tensor is None:
            return
    if quat is None or com_quat is None:
        return
    vel, omega = _velocities(context, body, place, quat, com_pos, com_quat)
    context.description.add_body(
        body.name,
        mass=mass,
        inertia=tensor,
        pos=body.location,
        quat=quat,
        com_pos=com_pos,
        com_quat=com_quat,
        vel=vel,
        omega=omega,
        fixed=body.fixed,
    )
    _list_defaults(context, body, place)


def _mass(body: Body, place: Place) -> float | None:
    if body.mass is None or body.mass <= 0:
        (place / "mass").error("a moving body needs a positive mass", "give a mass, or 'fixed: true'")
        return None
    return body.mass


def _tensor(inertia: Inertia | None, place: Place) -> np.ndarray | None:
    """Products are entries of the tensor, in the order [Ixy, Ixz, Iyz]."""
    if inertia is None:
        (place / "inertia").error("a moving body needs its inertia", "give 'inertia: {moments: [Ixx, Iyy, Izz]}'")
        return None
    (xx, yy, zz), (xy, xz, yz) = inertia.moments, inertia.products
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    problem = check_inertia(tensor)
    if problem is not None:
        fix = "moments and products are those about the centre of mass, products in the order [Ixy, Ixz, Iyz]"
        (place / "inertia").error(f"no body has this inertia: {problem}", fix)
        return None
    return tensor


def _velocities(
    context: Context, body: Body, place: Place, quat: np.ndarray, com_pos: np.ndarray, com_quat: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Velocity of the reference origin (world axes) and angular velocity (reference axes).

    Chrono 10 gives the file's numbers to the centre-of-mass frame instead: its velocity, and its axes.
    """
    vel, omega = np.array(body.initial_linear_velocity), np.array(body.initial_angular_velocity)
    if body.fixed:
        for key, value in (("initial_linear_velocity", vel), ("initial_angular_velocity", omega)):
            if np.any(value):
                (place / key).warning("a fixed body does not move, so this has no effect", "remove it")
        return np.zeros(3), np.zeros(3)
    if context.is_chrono:
        omega = rotate(com_quat, omega)
        vel = vel - rotate(quat, np.cross(omega, com_pos))
    return vel, omega


def _list_defaults(context: Context, body: Body, place: Place) -> None:
    others = {}
    if body.com is None and not body.fixed:
        others["com"] = "reference frame"
    if body.inertia is not None and not body.fixed and "products" not in body.inertia.model_fields_set:
        others["inertia.products"] = "[0, 0, 0]"
    still = ("fixed", "initial_linear_velocity", "initial_angular_velocity") if body.fixed else ("fixed",)
    context.defaults(body, place, *still, **others)
