"""How the command line is taken apart, with messages that say what is wrong and what would be right."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand


#: What people write after a switch that takes no value.
_ANSWERS = ("yes", "no", "true", "false", "on", "off", "1", "0", "y", "n")


def seconds(text: str) -> float:
    """A number of seconds; whether it makes sense is found out later, with the others."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no number; it needs a positive number of seconds, such as 0.5") from None


def one_of(*names: str) -> Callable[[str], str]:
    """Takes one of these names."""

    def parse(text: str) -> str:
        if text not in names:
            raise typer.BadParameter(f"{text!r} is not known; choose one of {', '.join(names)}")
        return text

    return parse


class Command(TyperCommand):
    """A command that says of its switches that they take no value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        switches = [name for option in self.params if getattr(option, "is_flag", False) for name in option.opts]
        for index, word in enumerate(args):
            name, separator, value = word.partition("=")
            following = args[index + 1].lower() if index + 1 < len(args) else ""
            if name not in switches or args[:index].count("--"):
                continue
            if separator or following in _ANSWERS:
                given = value if separator else args[index + 1]
                ctx.fail(
                    f"{name} is a switch and takes no value, but got {given!r}; write {name} alone, or leave it out"
                )
        return super().parse_args(ctx, args)
