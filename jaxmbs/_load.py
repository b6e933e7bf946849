"""From a model file to a compiled model."""

import warnings
from pathlib import Path

from jax.typing import DTypeLike

from jaxmbs._compile import compile_model
from jaxmbs._model import Model
from jaxmbs.loaders import AbstractLoader, describe


def load(
    source: str | Path,
    *,
    loader: AbstractLoader | None = None,
    dialect: str | None = None,
    dtype: DTypeLike | None = None,
) -> Model:
    """Read a model file and compile it.

    The warnings of the loader are emitted through Python's `warnings`, each once.

    **Arguments:**

    - source: a path, or a text (a string with a line break, or one that starts with `{`).
    - loader: the loader and its options; by default the one for Chrono YAML.
    - dialect: a shortcut for `LoaderChrono(dialect=...)`.
    - dtype: of all arrays; `None` takes JAX's default float (float32 unless 64-bit mode is on).

    **Returns:** the model. `jaxmbs.loaders.describe` gives the description that it is made from, with the end time and
    the step that the file asks for.

    **Raises:** `jaxmbs.loaders.LoadError` with all errors of the file; `ValueError` when both `loader` and `dialect`
    are given.
    """
    description = describe(source, loader=loader, dialect=dialect)
    for line in dict.fromkeys(description.warnings):
        warnings.warn(line, stacklevel=2)
    return compile_model(description, dtype=dtype)
