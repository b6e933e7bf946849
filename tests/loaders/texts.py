"""Short Chrono YAML texts for the tests of the loaders."""

from pathlib import Path
from typing import Any

import yaml

from jaxmbs._description import ModelDescription
from jaxmbs.loaders import Diagnostic, LoaderChrono, LoadError


DATA = Path(__file__).resolve().parents[1] / "data" / "chrono"
REFERENCE = Path(__file__).resolve().parents[2] / ".." / "shared" / "reference"

GROUND = {"name": "ground", "fixed": True, "location": [0, 0, 0]}
INERTIA = {"moments": [1, 1, 1]}


def body(name: str = "rod", **keys: Any) -> dict[str, Any]:
    """A moving body."""
    return {"name": name, "location": [1, 0, 0], "mass": 2, "inertia": INERTIA} | keys


def between(name: str, **keys: Any) -> dict[str, Any]:
    """An element between the ground and the rod."""
    return {"name": name, "body1": "ground", "body2": "rod"} | keys


def model(**sections: Any) -> str:
    """A model file with a fixed `ground` and a moving `rod`, unless `bodies` is given."""
    return yaml.safe_dump({"chrono-version": "10.0", "model": {"bodies": [GROUND, body()]} | sections}, sort_keys=False)


def describe(text: str, **options: Any) -> ModelDescription:
    """The description of a text."""
    return LoaderChrono(**options).describe(text)


def errors(text: str | Path, **options: Any) -> list[Diagnostic]:
    """The errors of a text that must have some."""
    try:
        LoaderChrono(**options).describe(text)
    except LoadError as error:
        return list(error.errors)
    raise AssertionError("the text has no errors")


def only_error(text: str | Path, **options: Any) -> Diagnostic:
    """The error of a text that must have exactly one."""
    found = errors(text, **options)
    assert len(found) == 1, "\n".join(map(str, found))
    return found[0]


def line_of(text: str, part: str) -> int:
    """The number of the first line that holds `part`."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)
