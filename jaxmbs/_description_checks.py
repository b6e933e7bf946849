"""Checks of the numbers of a description; every failure is a `ModelError` that says what and why."""

import difflib
import enum
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np


Vector = Sequence[float] | np.ndarray
_Kind = TypeVar("_Kind", bound=enum.Enum)


class ModelError(ValueError):
    """A mechanism that makes no sense: unknown body, zero axis, impossible inertia, ..."""


def sorted_table(rows: Any, columns: int) -> np.ndarray:
    """Rows (x, y, ...) sorted by x.

    **Raises** `ModelError` for a wrong shape, numbers that are not finite, or an abscissa that is given twice.
    """
    try:
        table = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"a table needs rows of {columns} numbers each") from None
    if table.ndim != 2 or table.shape[1] != columns or table.shape[0] < 1:
        raise ModelError(f"a table needs rows of {columns} numbers, got shape {table.shape}")
    if not np.all(np.isfinite(table)):
        raise ModelError("a table needs finite numbers")
    table = table[np.argsort(table[:, 0], kind="stable")]
    repeated = table[1:, 0][np.diff(table[:, 0]) == 0]
    if repeated.size:
        raise ModelError(f"the abscissa {repeated[0]:g} is given twice in a table")
    return table


def check_inertia(inertia: np.ndarray) -> str | None:
    """Why no body can have this inertia tensor (about its COM), or `None`.

    Principal moments must be positive and none may exceed the sum of the other two. The triangle inequality is
    applied with a relative tolerance of 1e-9, so that flat bodies pass.
    """
    if inertia.shape != (3, 3) or not np.all(np.isfinite(inertia)):
        return "the inertia tensor needs 3 x 3 finite numbers"
    if not np.allclose(inertia, inertia.T, rtol=1e-9, atol=0):
        return "the inertia tensor is not symmetric"
    moments = np.linalg.eigvalsh(0.5 * (inertia + inertia.T))
    if moments[0] <= 0:
        return f"a principal moment is not positive ({moments[0]:g})"
    if moments[2] > (moments[0] + moments[1]) * (1 + 1e-9):
        return f"the largest principal moment {moments[2]:g} exceeds the sum of the others {moments[0] + moments[1]:g}"
    return None


def numbers(value: Any, what: str) -> np.ndarray:
    """An array of finite numbers."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{what} needs numbers, got {value!r}") from None
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{what} needs finite numbers, got {array.tolist()}")
    return array


def vector(value: Vector, size: int, what: str) -> np.ndarray:
    array = numbers(value, what)
    if array.shape != (size,):
        raise ModelError(f"{what} needs {size} numbers, got shape {array.shape}")
    return array


def _moderate(array: np.ndarray) -> np.ndarray:
    """The same direction; components whose squares leave the range of numbers are scaled, the largest to 1."""
    largest = float(np.max(np.abs(array)))
    return array if largest == 0 or 1e-10 < largest < 1e10 else array / largest


def direction(value: Vector, what: str) -> np.ndarray:
    array = vector(value, 3, what)
    if not np.any(array):
        raise ModelError(f"{what} is zero; give a direction")
    return _moderate(array)


def unit_quat(value: Vector, what: str) -> np.ndarray:
    array = vector(value, 4, what)
    if not np.any(array):
        raise ModelError(f"{what} is a zero quaternion")
    array = _moderate(array)
    return array / np.linalg.norm(array)


def number(value: float, what: str) -> float:
    array = numbers(value, what)
    if array.shape != ():
        raise ModelError(f"{what} needs one number, got shape {array.shape}")
    return float(array)


def optional_number(value: float | None, what: str) -> float | None:
    """A number that may be infinite, or `None`."""
    if value is None:
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise ModelError(f"{what} needs a number, got {value!r}") from None
    if np.isnan(found):
        raise ModelError(f"{what} needs a number, got {value}")
    return found


def text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise ModelError(f"{what} needs a text that is not empty, got {value!r}")
    return value


def member(value: Any, kinds: type[_Kind], what: str) -> _Kind:
    """A member of an enumeration; names of members are refused with a hint."""
    if isinstance(value, kinds):
        return value
    names = [kind.name for kind in kinds]
    close = difflib.get_close_matches(str(value).upper().replace("-", "_"), names, n=1)
    hint = f"; did you mean {kinds.__name__}.{close[0]}?" if close else ""
    choice = f"; it is one of {', '.join(names)}" if not close else ""
    raise ModelError(f"{what} needs a jaxmbs.{kinds.__name__}, got {value!r}{hint}{choice}")


def table(value: Any, what: str) -> np.ndarray | None:
    if value is None:
        return None
    try:
        return sorted_table(value, 2)
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None


def axis_frame(axis: np.ndarray) -> np.ndarray:
    """A rotation matrix (columns x, y, z) whose z column is along `axis`; y is normal to z and world X.

    When the axis is along X the auxiliary direction is [2, 1, 0].
    """
    z = axis / np.linalg.norm(axis)
    y = np.cross(z, [1.0, 0.0, 0.0])
    if np.linalg.norm(y) < 1e-6:
        y = np.cross(z, [2.0, 1.0, 0.0])
    y = y / np.linalg.norm(y)
    return np.stack([np.cross(y, z), y, z], axis=1)


def check_not_parallel(first: np.ndarray, second: np.ndarray, what: str) -> None:
    cross = np.cross(first / np.linalg.norm(first), second / np.linalg.norm(second))
    if np.linalg.norm(cross) < 1e-6:
        raise ModelError(f"{what}: the two axes are parallel")


def check_perpendicular(first: np.ndarray, second: np.ndarray, what: str) -> None:
    cosine = abs(first @ second) / (np.linalg.norm(first) * np.linalg.norm(second))
    if cosine > 1e-6:
        raise ModelError(f"{what} must be perpendicular; their angle is {np.degrees(np.arccos(cosine)):.3f} degrees")
