"""The loader of Chrono YAML files."""

import dataclasses
from pathlib import Path
from typing import Any

from jaxmbs._description import ModelDescription
from jaxmbs.loaders._base import AbstractLoader
from jaxmbs.loaders._diagnostics import Diagnostics
from jaxmbs.loaders._source import Source, is_file, open_source
from jaxmbs.loaders.chrono.dialect import Dialect
from jaxmbs.loaders.chrono.lower import GRAVITY, lower
from jaxmbs.loaders.chrono.parse import FileKind, Parsed, Place, parse
from jaxmbs.loaders.chrono.simulation import apply_simulation, gravity_is_given


@dataclasses.dataclass(frozen=True)
class LoaderChrono(AbstractLoader):
    """Reads Chrono YAML: a model file, or a simulation file with the model and solver files that it names.

    **Arguments:**

    - `dialect`: `seed` follows the specification, `chrono-10` does what Chrono 10 does.
    - `lenient`: whether an unknown key and another version of the format are only warnings.
    """

    dialect: str | Dialect = Dialect.SEED
    lenient: bool = False

    def __post_init__(self) -> None:
        """**Raises** `ValueError` for an unknown dialect."""
        names = [dialect.value for dialect in Dialect]
        if not isinstance(self.dialect, Dialect) and self.dialect not in names:
            raise ValueError(f"there is no dialect {self.dialect!r}; choose from {', '.join(names)}")

    def describe(self, source: str | Path) -> ModelDescription:
        """See `AbstractLoader.describe`."""
        diagnostics = Diagnostics()
        opened = open_source(source, diagnostics)
        parsed = None if opened is None else self._parse(opened, diagnostics)
        description = None
        if parsed is not None and parsed.kind is FileKind.SOLVER:
            fix = "give the simulation file or the model file"
            diagnostics.error("this is a solver file; it holds no mechanism", parsed.name, fix=fix)
        elif parsed is not None and parsed.kind is FileKind.SIMULATION:
            description = self._describe_simulation(parsed, diagnostics)
        elif parsed is not None:
            description = self._lower(parsed, parsed.folder)
            _list_gravity(description)
        diagnostics.raise_errors()
        # Without errors every step above had something to work on.
        assert description is not None
        description.warnings.extend(str(warning) for warning in diagnostics.sorted_warnings())
        return description

    def _parse(self, source: Source, diagnostics: Diagnostics) -> Parsed | None:
        strict = Dialect(self.dialect) is Dialect.SEED and not self.lenient
        return parse(source, diagnostics, strict=strict, lenient=self.lenient)

    def _lower(self, parsed: Parsed, folder: Path) -> ModelDescription | None:
        return None if parsed.schema is None else lower(parsed, Dialect(self.dialect), folder)

    def _describe_simulation(self, simulation: Parsed, diagnostics: Diagnostics) -> ModelDescription | None:
        model = self._referenced(simulation, "model", FileKind.MODEL, diagnostics)
        solver = self._referenced(simulation, "solver", FileKind.SOLVER, diagnostics)
        if model is None:
            return None
        is_chrono = Dialect(self.dialect) is Dialect.CHRONO_10
        description = self._lower(model, simulation.folder if is_chrono else model.folder)
        if description is None or solver is None or solver.schema is None or simulation.schema is None:
            return description
        apply_simulation(description, simulation.schema, solver.schema)
        if not gravity_is_given(simulation.schema):
            _list_gravity(description)
        return description

    def _referenced(self, simulation: Parsed, key: str, kind: FileKind, diagnostics: Diagnostics) -> Parsed | None:
        """The file that a simulation file names, relative to itself."""
        name: Any = None if simulation.schema is None else getattr(simulation.schema, key)
        if name is None:
            return None
        place = Place(simulation.reader, (key,))
        path = simulation.folder / name
        if not is_file(path):
            place.error(f"there is no file {str(path)!r}", "the name is relative to the simulation file")
            return None
        source = open_source(path, diagnostics)
        parsed = None if source is None else self._parse(source, diagnostics)
        if parsed is not None and parsed.kind is not kind:
            place.error(f"{name!r} is a {parsed.kind.value}, not a {kind.value}", f"name a {kind.value}")
            return None
        return parsed


def _list_gravity(description: ModelDescription | None) -> None:
    if description is not None:
        values = ", ".join(f"{value:g}" for value in GRAVITY)
        description.defaults.append(f"gravity = [{values}] (the format's default)")
