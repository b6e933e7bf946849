"""Errors and warnings that name the place in the file, the element and the fix."""

import dataclasses

from jaxmbs._description import ModelError


#: A report prints at most this many errors; the exception carries all of them.
MAX_PRINTED = 100


@dataclasses.dataclass(frozen=True)
class Mark:
    """A place in a text; lines and columns count from one."""

    line: int
    column: int


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One error or warning.

    - `file`: the path, or a description such as `<text>`.
    - `element`: for example `joint 'hinge'`.
    - `fix`: what to do about it.
    """

    message: str
    file: str
    mark: Mark | None = None
    element: str | None = None
    fix: str | None = None

    @property
    def line(self) -> int | None:
        """The line, counted from one."""
        return None if self.mark is None else self.mark.line

    @property
    def column(self) -> int | None:
        """The column, counted from one."""
        return None if self.mark is None else self.mark.column

    def __str__(self) -> str:
        place = self.file if self.mark is None else f"{self.file}:{self.mark.line}:{self.mark.column}"
        element = "" if self.element is None else f"{self.element}: "
        fix = "" if self.fix is None else f" ({self.fix})"
        return f"{place}: {element}{self.message}{fix}"


class LoadError(ModelError):
    """A file that cannot be loaded, with every error that was found in it.

    `errors` and `warnings` are tuples of `Diagnostic`.
    """

    def __init__(self, errors: tuple[Diagnostic, ...], warnings: tuple[Diagnostic, ...] = ()):
        self.errors = errors
        self.warnings = warnings
        super().__init__(_report(errors, warnings))

    def __reduce__(self) -> tuple[type["LoadError"], tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]]:
        # The default would call the constructor with the report when another process sends the error back.
        return type(self), (self.errors, self.warnings)


def _report(errors: tuple[Diagnostic, ...], warnings: tuple[Diagnostic, ...]) -> str:
    count = f"{len(errors)} error" + ("s" if len(errors) != 1 else "")
    lines = [f"{count}:", *(f"  {error}" for error in errors[:MAX_PRINTED])]
    if len(errors) > MAX_PRINTED:
        lines.append(f"  ... and {len(errors) - MAX_PRINTED} more")
    if warnings:
        lines.append(f"({len(warnings)} warning" + ("s" if len(warnings) != 1 else "") + " beside)")
    return "\n".join(lines)


class Diagnostics:
    """Collects the errors and warnings of one or several files, so that one report shows all of them."""

    def __init__(self) -> None:
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []

    def error(
        self,
        message: str,
        file: str,
        mark: Mark | None = None,
        *,
        element: str | None = None,
        fix: str | None = None,
    ) -> None:
        """Record an error; the same one is kept once."""
        _record(self.errors, Diagnostic(message, file, mark, element, fix))

    def warning(
        self,
        message: str,
        file: str,
        mark: Mark | None = None,
        *,
        element: str | None = None,
        fix: str | None = None,
    ) -> None:
        """Record a warning; the same one is kept once."""
        _record(self.warnings, Diagnostic(message, file, mark, element, fix))

    def sorted_warnings(self) -> list[Diagnostic]:
        """The warnings by file and place."""
        return _in_order(self.warnings)

    def raise_errors(self) -> None:
        """**Raises** `LoadError` with everything recorded so far, if there was an error."""
        if self.errors:
            raise LoadError(tuple(_in_order(self.errors)), tuple(_in_order(self.warnings)))


def _record(found: list[Diagnostic], diagnostic: Diagnostic) -> None:
    # Only neighbours are compared: repeats come from looking twice at one element, and a file of ten thousand
    # errors must not cost their square.
    if diagnostic not in found[-20:]:
        found.append(diagnostic)


def _in_order(found: list[Diagnostic]) -> list[Diagnostic]:
    files = list(dict.fromkeys(item.file for item in found))
    return sorted(found, key=lambda item: (files.index(item.file), item.line or 0, item.column or 0))
