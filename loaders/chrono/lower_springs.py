"""Translational and rotational spring-dampers.

The specification lets every part that is given act. Chrono 10 picks one law instead: a map before curves, curves
before coefficients; and an element without a spring has neither preload nor stops.
"""

from typing import Any

import numpy as np

from jaxmbs.loaders.chrono.context import SMALLEST_LENGTH, Context
from jaxmbs.loaders.chrono.parse import Place
from jaxmbs.loaders.chrono.schema_forces import Rsda, Tsda


_LINEAR = ("spring_coefficient", "damping_coefficient")
_DEGRESSIVE = ("degressivity_compression", "degressivity_expansion")
_CURVES = ("spring_curve_data", "damping_curve_data")
_STOPS = ("minimum_length", "maximum_length")
#: The arguments of `add_tsda` and `add_rsda` by key.
_ARGUMENTS = {
    "spring_coefficient": "stiffness",
    "damping_coefficient": "damping",
    "spring_curve_data": "spring_curve",
    "damping_curve_data": "damping_curve",
    "deformation": "map_deformation",
    "map_data": "map_data",
}


def lower_tsdas(context: Context) -> None:
    """Add all translational spring-dampers that make sense."""
    for tsda, place in context.elements("tsdas", context.model.tsdas):
        fine = context.bodies_fine(tsda, place, "body1", "body2")
        if np.linalg.norm(np.subtract(tsda.point2, tsda.point1)) < SMALLEST_LENGTH:
            fix = "move one of the points, or use a bushing"
            (place / "point2").error("point1 and point2 coincide, so the force has no direction", fix)
            fine = False
        given = _given(tsda, ("free_length", "preload", *_LINEAR, *_DEGRESSIVE, *_CURVES, "map_data", *_STOPS))
        if tsda.map_data is not None:
            given["deformation"] = tsda.deformation
        used = _chrono_tsda(given, place) if context.is_chrono else given
        fine = _degressivity_fine(used, place) and fine
        fine = _map_fine(tsda, place) and fine
        _warn_idle(used, place)
        if not fine:
            continue
        with context.placing(place):
            context.description.add_tsda(
                tsda.name, tsda.body1, tsda.body2, point1=tsda.point1, point2=tsda.point2, **_arguments(used)
            )
            others = {"free_length": "0"} if "map_data" in used and "free_length" not in used else {}
            context.defaults(tsda, place, **others)


def lower_rsdas(context: Context) -> None:
    """Add all rotational spring-dampers that make sense."""
    for rsda, place in context.elements("rsdas", context.model.rsdas):
        fine = context.axes_fine(rsda, place, "axis")
        fine = context.bodies_fine(rsda, place, "body1", "body2") and fine
        given = _given(rsda, ("free_angle", "preload", *_LINEAR, *_CURVES))
        used = _chrono_rsda(given, place) if context.is_chrono else given
        _warn_idle(used, place)
        if not fine:
            continue
        if "free_angle" in used:
            used["free_angle"] = context.angle(used["free_angle"])
        with context.placing(place):
            context.description.add_rsda(
                rsda.name, rsda.body1, rsda.body2, pos=rsda.location, axis=rsda.axis, **_arguments(used)
            )
            context.defaults(rsda, place)


def _given(element: Tsda | Rsda, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: getattr(element, key) for key in keys if key in element.model_fields_set}


def _arguments(used: dict[str, Any]) -> dict[str, Any]:
    return {_ARGUMENTS.get(key, key): value for key, value in used.items()}


def _warn_idle(used: dict[str, Any], place: Place) -> None:
    if not any(key in used for key in ("preload", *_LINEAR, *_CURVES, "map_data", *_STOPS)):
        place.warning("the element has no force", "give a coefficient or a curve")


def _map_fine(tsda: Tsda, place: Place) -> bool:
    """Every row holds a speed and one force for each deformation."""
    fine = True
    count = len(tsda.deformation or []) + 1
    for index, row in enumerate(tsda.map_data or []):
        if len(row) != count:
            fix = f"give a speed and {count - 1} forces, one for each deformation"
            (place / "map_data" / index).error(f"the row needs {count} numbers, got {len(row)}", fix)
            fine = False
    return fine


def _degressivity_fine(used: dict[str, Any], place: Place) -> bool:
    """Both degressivities and a damping coefficient belong together; a lone one is not guessed at."""
    present = [key for key in _DEGRESSIVE if key in used]
    if not present:
        return True
    missing = [key for key in ("damping_coefficient", *_DEGRESSIVE) if key not in used]
    for key in missing:
        place.error(f"missing key {key!r}; {present[0]!r} needs it", f"add {key!r}, or remove {present[0]!r}")
    if not missing and "spring_coefficient" in used:
        message = "the damper is degressive here; Chrono 10 makes it linear beside a spring_coefficient"
        (place / present[0]).warning(message)
    return not missing


def _chrono_tsda(given: dict[str, Any], place: Place) -> dict[str, Any]:
    stops = {key: given[key] for key in _STOPS if key in given}
    if "map_data" in given:
        used = _pick(given, "deformation", "map_data", "preload")
        stops = {}
    else:
        used = _chrono_law(given, "free_length")
        has_spring = "spring_coefficient" in used or "spring_curve_data" in used
        stops = stops if has_spring and len(stops) == 2 else {}
        is_damper = used.keys() & {*_LINEAR, *_CURVES} == {"damping_coefficient"}
        if is_damper and all(key in given for key in _DEGRESSIVE):
            used |= _pick(given, *_DEGRESSIVE)
    used |= stops
    _warn_dropped(given, used, place)
    return used


def _chrono_rsda(given: dict[str, Any], place: Place) -> dict[str, Any]:
    used = _chrono_law(given, "free_angle")
    _warn_dropped(given, used, place)
    return used


def _chrono_law(given: dict[str, Any], free: str) -> dict[str, Any]:
    used = _pick(given, *_CURVES) or _pick(given, *_LINEAR)
    if used.keys() & {"spring_coefficient", "spring_curve_data"}:
        used |= _pick(given, free, "preload")
    return used


def _pick(given: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: given[key] for key in keys if key in given}


def _warn_dropped(given: dict[str, Any], used: dict[str, Any], place: Place) -> None:
    for key, value in given.items():
        # `preload: 0` and the like say nothing that could be missed.
        if key not in used and value not in (0, 0.0):
            (place / key).warning("Chrono 10 ignores this key here", "in the seed dialect it acts")
