"""Where a text comes from: a file or a string."""

import dataclasses
from pathlib import Path

from jaxmbs.loaders._diagnostics import Diagnostics
from jaxmbs.loaders._yaml import MAX_BYTES


@dataclasses.dataclass(frozen=True)
class Source:
    """A text, the name that messages use for it, and the folder that its relative paths start from."""

    text: str
    name: str
    folder: Path


def is_text(source: str | Path) -> bool:
    """Whether `source` is a YAML text: a string with a line break, or one that starts with `{`."""
    return isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{"))


def is_file(path: Path) -> bool:
    """Whether there is such a file; names that the system refuses, for example as too long, count as no file."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def open_source(source: str | Path, diagnostics: Diagnostics) -> Source | None:
    """Read a file, or wrap a YAML text, whose relative paths then start from the working directory.

    **Returns:** `None`, with an error in `diagnostics`, for a file that cannot be read as text.
    """
    if is_text(source):
        return Source(str(source), "<text>", Path.cwd())
    if not str(source).strip():
        diagnostics.error("the source is empty", "<text>", fix="give a file name or a YAML text")
        return None
    path = Path(source)
    name = str(path)
    data = _read(path, name, diagnostics)
    if data is None:
        return None
    if len(data) > MAX_BYTES:
        diagnostics.error(f"the file has more than {MAX_BYTES} bytes", name)
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        diagnostics.error(f"this is not a text in UTF-8 (line {line})", name, fix="save the file as UTF-8 text")
        return None
    if "\0" in text:
        diagnostics.error("this is a binary file, not YAML text", name)
        return None
    return Source(text, name, path.parent)


def _read(path: Path, name: str, diagnostics: Diagnostics) -> bytes | None:
    try:
        if path.is_dir():
            diagnostics.error("this is a directory, not a file", name)
            return None
        if path.exists() and not path.is_file():
            diagnostics.error("this is not a regular file", name)
            return None
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        fix = "check the path; a string is a YAML text only when it has a line break"
        diagnostics.error("there is no such file", name, fix=fix)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        diagnostics.error(f"the file cannot be read: {reason}", name)
    return None
