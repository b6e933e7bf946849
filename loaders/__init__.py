"""Loaders of model files; each fills the same neutral `ModelDescription`."""

if __name__ != "jaxmbs.loaders":
    raise ImportError("import this package as jaxmbs.loaders")

from pathlib import Path
from typing import Any

from jaxmbs._description import ModelDescription
from jaxmbs.loaders._base import AbstractLoader as AbstractLoader
from jaxmbs.loaders._diagnostics import Diagnostic as Diagnostic, LoadError as LoadError, Mark as Mark
from jaxmbs.loaders.chrono import Dialect as Dialect, LoaderChrono as LoaderChrono, json_schema as _chrono_json_schema


_JSON_SCHEMAS = {"chrono": _chrono_json_schema}


def describe(
    source: str | Path,
    *,
    loader: AbstractLoader | None = None,
    dialect: str | None = None,
) -> ModelDescription:
    """Read a model file.

    **Arguments:**

    - `source`: a path, or a text (a string with a line break, or one that starts with `{`).
    - `loader`: the loader and its options; by default the one for Chrono YAML.
    - `dialect`: a shortcut for `LoaderChrono(dialect=...)`.

    **Returns:** the description, in SI units and one convention.

    **Raises:** `LoadError` with all errors of the file; `ValueError` when both `loader` and `dialect` are given.
    """
    if loader is not None and dialect is not None:
        raise ValueError("give either a loader or a dialect; the dialect is an option of the loader")
    if loader is None:
        loader = LoaderChrono() if dialect is None else LoaderChrono(dialect=dialect)
    return loader.describe(source)


def json_schema(format: str) -> dict[str, Any]:
    """The JSON Schema of a format's files, for editors.

    **Raises:** `ValueError` for a format that has none.
    """
    if format not in _JSON_SCHEMAS:
        raise ValueError(f"there is no format {format!r}; choose from {', '.join(_JSON_SCHEMAS)}")
    return _JSON_SCHEMAS[format]()
