"""How the command line ends: exit statuses and messages, no tracebacks for what a user can mend."""

import contextlib
import difflib
import sys
import traceback
from collections.abc import Iterable, Iterator

import typer
from rich.console import Console
from rich.text import Text

from jaxmbs._description import ModelError


FAILED, BAD_INPUT = 1, 2


class UserError(ValueError):
    """Something about the input that the user can mend; the message says how."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion, or all names."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(names) or 'none'}"


def stderr() -> Console:
    """For messages and progress."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def stdout() -> Console:
    """For what a command reports. Where there is no terminal, lines may be longer than 80 characters."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=120)


def complain(message: str, *, kind: str = "error") -> None:
    """Print a message to the error stream, as it is."""
    style = "bold red" if kind == "error" else "yellow"
    stderr().print(Text.assemble((f"{kind}: ", style), message))


@contextlib.contextmanager
def exit_statuses() -> Iterator[None]:
    """Turn exceptions into exit statuses: 2 for bad input, 1 for anything that went wrong inside."""
    try:
        yield
    except (ModelError, UserError) as error:
        complain(str(error))
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        complain("interrupted")
        raise typer.Exit(130) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        sys.stderr.write(traceback.format_exc())
        complain(f"unexpected {type(error).__name__}: this is a fault in jaxmbs; please report it with the lines above")
        raise typer.Exit(FAILED) from None
