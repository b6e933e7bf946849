"""Text to schema: which of the three kinds of file it is, and what is wrong with it."""

import dataclasses
import enum
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from jaxmbs.loaders._diagnostics import Diagnostics
from jaxmbs.loaders._fields import Section
from jaxmbs.loaders._reader import Path, Reader, element_of, find
from jaxmbs.loaders._source import Source
from jaxmbs.loaders._yaml import Mapping, Scalar, Sequence, read_yaml
from jaxmbs.loaders.chrono.schema import ModelFile
from jaxmbs.loaders.chrono.schema_files import SimulationFile, SolverFile


class FileKind(enum.Enum):
    """The kinds of files of the format."""

    MODEL = "model file"
    SIMULATION = "simulation file"
    SOLVER = "solver file"


_SCHEMAS: dict[FileKind, type[Section]] = {
    FileKind.MODEL: ModelFile,
    FileKind.SIMULATION: SimulationFile,
    FileKind.SOLVER: SolverFile,
}
_VERSION = "10.0"
_MODEL_SECTIONS = ("bodies", "joints", "constraints", "tsdas", "rsdas", "motors", "body_loads", "load_controllers")


@dataclasses.dataclass
class Parsed:
    """A file that was read, and where everything stands in it.

    `schema` is `None` when errors outside list elements leave nothing to work with.
    """

    kind: FileKind
    schema: Any
    source: Source
    reader: Reader
    _names: dict[Path, set[str]] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        """The file's name in messages."""
        return self.source.name

    @property
    def folder(self) -> FilePath:
        """The folder that relative paths of the file start from."""
        return self.source.folder

    def elements(self, section: Path, items: list[Any]) -> Iterator[tuple[Any, "Place"]]:
        """Each element of a list of the schema, with its place in the file."""
        for index, item in enumerate(items):
            yield item, Place(self.reader, (*section, self.reader.position(section, index)))

    def names(self, section: Path) -> set[str]:
        """All names that the file gives in a list, those of broken elements included."""
        if section not in self._names:
            node = find(self.reader.root, section)
            items = node.items if isinstance(node, Sequence) else ()
            found = [item.get("name") for item in items if isinstance(item, Mapping)]
            self._names[section] = {name.text for name in found if isinstance(name, Scalar)}
        return self._names[section]


@dataclasses.dataclass(frozen=True)
class Place:
    """A place in a file to which errors and warnings are tied."""

    reader: Reader
    path: Path

    def __truediv__(self, key: str | int) -> "Place":
        return Place(self.reader, (*self.path, key))

    def error(self, message: str, fix: str | None = None) -> None:
        """Record an error here."""
        self.reader.error(self.path, message, fix=fix)

    def warning(self, message: str, fix: str | None = None) -> None:
        """Record a warning here."""
        self.reader.warning(self.path, message, fix=fix)

    @property
    def element(self) -> str:
        """The element for people, such as `joint 'hinge'`."""
        return element_of(self.reader.root, self.path)[0] or ".".join(map(str, self.path))

    @property
    def key(self) -> str:
        """The dotted key inside the element."""
        return element_of(self.reader.root, self.path)[1]

    @property
    def title(self) -> str:
        """The quoted name of the element."""
        node = find(self.reader.root, (*self.path, "name"))
        return repr(node.text) if isinstance(node, Scalar) else ""


def parse(source: Source, diagnostics: Diagnostics, *, strict: bool, lenient: bool) -> Parsed | None:
    """Read a file of any kind.

    **Arguments:**

    - `source`: the text.
    - `diagnostics`: receives all errors and warnings.
    - `strict`: whether an unknown key is an error.
    - `lenient`: whether another version of the format is a warning.

    **Returns:** `None` when the text is no such file at all.
    """
    root = read_yaml(source.text, source.name, diagnostics)
    if root is None:
        return None
    if isinstance(root, Scalar) and root.is_null:
        diagnostics.error("the file is empty", source.name)
        return None
    if not isinstance(root, Mapping):
        message = "this is no Chrono YAML file: it needs keys such as 'chrono-version' and 'model'"
        diagnostics.error(message, source.name, root.mark)
        return None
    kind = _kind(root, source.name, diagnostics)
    if kind is None:
        return None
    reader = Reader(source.name, diagnostics, unknown_keys_are_errors=strict)
    schema = reader.read(root, _SCHEMAS[kind])
    _check_version(reader, lenient)
    return Parsed(kind, schema, source, reader)


def _kind(root: Mapping, name: str, diagnostics: Diagnostics) -> FileKind | None:
    keys, model, solver = root.entries, root.get("model"), root.get("solver")
    if isinstance(model, Mapping):
        return FileKind.MODEL
    if isinstance(model, Scalar) and not model.is_null:
        return FileKind.SIMULATION
    if "contact_method" in keys or "integrator" in keys or isinstance(solver, Mapping):
        return FileKind.SOLVER
    if solver is not None or "simulation" in keys or "type" in keys or "output" in keys:
        return FileKind.SIMULATION
    if model is not None:
        return FileKind.MODEL
    misplaced = [key for key in _MODEL_SECTIONS if key in keys]
    if misplaced:
        fix = "indent it, and its neighbours, below 'model:'"
        diagnostics.error(f"{misplaced[0]!r} stands outside 'model'", name, keys[misplaced[0]].key_mark, fix=fix)
        return None
    message = "this is no Chrono YAML file: there is no key 'model'"
    diagnostics.error(message, name, root.mark, fix="a model file has the keys 'chrono-version' and 'model'")
    return None


def _check_version(reader: Reader, lenient: bool) -> None:
    """Compare the text, as `10.10` and `10.1` are different versions but the same number."""
    node = find(reader.root, ("chrono-version",))
    if not isinstance(node, Scalar) or node.is_null or node.text == "":
        return
    if node.text == _VERSION or node.text.startswith(_VERSION + "."):
        return
    message = f"this is version {node.text!r} of the format; {_VERSION} is supported"
    if lenient:
        reader.warning(("chrono-version",), message)
    else:
        reader.error(("chrono-version",), message, fix=f"write {_VERSION}, or load leniently", breaks=False)
