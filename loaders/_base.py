"""What every loader is."""

import abc
from pathlib import Path

from jaxmbs._description import ModelDescription


class AbstractLoader(abc.ABC):
    """Turns a file of one format into a `ModelDescription`.

    Subclasses are dataclasses whose fields are the options of the format.
    """

    @abc.abstractmethod
    def describe(self, source: str | Path) -> ModelDescription:
        """Read a model.

        **Arguments:**

        - `source`: a path, or a text (a string with a line break, or one that starts with `{`).

        **Returns:** the description, in SI units and one convention.

        **Raises:** `LoadError` with all errors of the file.
        """
