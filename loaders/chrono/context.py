"""What the lowering of every section needs: the description under way, the dialect and common checks."""

import contextlib
import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jaxmbs._description import ModelDescription, ModelError
from jaxmbs.loaders._fields import Section
from jaxmbs.loaders._reader import did_you_mean
from jaxmbs.loaders.chrono.dialect import Dialect
from jaxmbs.loaders.chrono.parse import Parsed, Place
from jaxmbs.loaders.chrono.rotation import from_euler, normalised
from jaxmbs.loaders.chrono.schema import DataPathType, Model, unset


_QUATERNION_TOLERANCE = 1e-6
#: A shorter axis or distance is taken for zero.
SMALLEST_LENGTH = 1e-12
_LABELS = ("body", "joint", "bushing", "constraint", "tsda", "rsda", "load", "motor")


@dataclasses.dataclass
class Context:
    """The model file, the dialect, and the description that is being filled.

    - `folder`: where RELATIVE data paths start.
    - `inputs`: the external values, with the element that each is for.
    """

    parsed: Parsed
    dialect: Dialect
    description: ModelDescription
    folder: Path
    inputs: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def model(self) -> Model:
        """The `model` section."""
        return self.parsed.schema.model

    @property
    def is_chrono(self) -> bool:
        """Whether the file means what Chrono 10 does with it."""
        return self.dialect is Dialect.CHRONO_10

    def elements(self, section: str, items: list[Any]) -> Iterator[tuple[Any, Place]]:
        """The elements of a list of the model, with their places."""
        return self.parsed.elements(("model", section), items)

    @contextlib.contextmanager
    def placing(self, place: Place) -> Iterator[None]:
        """Turn a `ModelError` into an error at `place`."""
        try:
            yield
        except ModelError as error:
            place.error(_without_label(str(error), place))

    def angle(self, value: float) -> float:
        """An angle of the file in radians."""
        return math.radians(value) if self.model.angle_degrees else value

    def orientation(self, values: list[float], place: Place) -> np.ndarray | None:
        """[yaw, pitch, roll] or a quaternion as a unit quaternion; `None`, with an error, for a zero one."""
        if len(values) == 3:
            return from_euler(*(self.angle(value) for value in values))
        quat, norm = normalised(values)
        if norm < SMALLEST_LENGTH:
            place.error("this is a zero quaternion", "the identity is [1, 0, 0, 0]")
            return None
        if abs(norm - 1) > _QUATERNION_TOLERANCE:
            place.warning(f"the quaternion has the norm {norm:.6g} and is normalised")
        return quat

    def axes_fine(self, element: Section, place: Place, *keys: str) -> bool:
        """Whether none of the axes is zero; those that are become errors."""
        fine = True
        for key in keys:
            value = getattr(element, key)
            if value is not None and np.linalg.norm(value) < SMALLEST_LENGTH:
                (place / key).error("the axis is zero", "give a direction such as [0, 0, 1]")
                fine = False
        return fine

    def bodies_fine(self, element: Section, place: Place, *keys: str) -> bool:
        """Whether the bodies exist; unknown names become errors, and broken bodies were reported before."""
        fine = True
        names = [getattr(element, key) for key in keys]
        lowered = {body.name for body in self.description.bodies}
        for key, name in zip(keys, names, strict=True):
            if name not in lowered:
                fine = False
                known = self.parsed.names(("model", "bodies"))
                if name not in known:
                    (place / key).error(f"there is no body {name!r}", did_you_mean(name, sorted(known)))
        if len(names) == 2 and names[0] == names[1]:
            fine = False
            message = f"the element connects body {names[0]!r} with itself"
            (place / "body2").error(message, "name two different bodies")
        return fine

    def defaults(self, section: Section, place: Place, *without: str, **others: str) -> None:
        """List the defaults that an element leaves the format to fill in; `others` are described by hand."""
        texts = {key: _shown(value) for key, value in unset(section).items() if key not in without} | others
        start = f"{place.key}." if place.key and place.key != place.element else ""
        parts = [f"{start}{key} = {text}" for key, text in texts.items()]
        if parts:
            self.description.defaults.append(f"{place.element}: {', '.join(parts)}")

    def add_input(self, name: str, place: Place) -> str | None:
        """Register an external value; `None`, with an error, when another element has one of that name."""
        other = self.inputs.setdefault(name, place.element)
        if other != place.element:
            place.error(f"the external value {name!r} would also be that of {other}", "choose another name")
            return None
        return name

    def data_file(self, name: str) -> Path:
        """The path of a data file."""
        data_path = self.model.data_path
        if data_path is None or data_path.type is DataPathType.ABSOLUTE:
            return Path(name)
        return self.folder / data_path.root / name


def _without_label(message: str, place: Place) -> str:
    """The message without the element's name, as the place gives it in the word that the file uses."""
    for label in _LABELS:
        start = f"{label} {place.title}: "
        if message.startswith(start):
            return message.removeprefix(start)
    return message


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "identity" if value == [1.0, 0.0, 0.0, 0.0] else f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
