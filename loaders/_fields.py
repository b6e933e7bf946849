"""Types and the base class from which the schemas of the formats are made.

Values arrive as the text of the file, so the types here decide what a number or a truth value looks like.
"""

import enum
import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError


#: Powers of anything larger overflow; no mechanism in any unit needs it.
LARGEST = 1e100

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,15}", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?\.?(inf|infinity|nan)", re.IGNORECASE)
#: What yaml-cpp reads as a truth value: these words in lower case, upper case or capitalised.
_TRUE, _FALSE = ("true", "yes", "on", "y"), ("false", "no", "off", "n")


def _problem(message: str) -> PydanticCustomError:
    # Braces are format fields of PydanticCustomError, so the message goes in as a value.
    return PydanticCustomError("value", "{message}", {"message": message})


def shown(value: Any) -> str:
    """A value of the file as messages show it."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, (int, float)):
        return f"{value:g}"
    text = str(value)
    return repr(text if len(text) <= 40 else text[:37] + "...")


def read_number(value: Any) -> float:
    """A finite float from text such as `5`, `1e5`, `.5e3` or `+2e-3`."""
    if isinstance(value, str):
        if _NOT_FINITE.fullmatch(value):
            raise _problem(f"needs a finite number, got {value!r}")
        if not _NUMBER.fullmatch(value):
            raise _problem(f"needs a number, got {shown(value)}")
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _problem(f"needs a number, got {shown(value)}")
    if not math.isfinite(value):
        raise _problem(f"needs a finite number, got {value}")
    if abs(value) > LARGEST:
        raise _problem(f"needs a number below {LARGEST:g}, got {value:g}")
    return float(value)


def read_integer(value: Any) -> int:
    """An integer from its text."""
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _problem(f"needs an integer, got {shown(value)}")
    return value


def read_boolean(value: Any) -> bool:
    """A truth value from `true`, `false`, `yes`, `no`, `on`, `off`."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.lower()
        if value in (word, word.upper(), word.capitalize()) and word in _TRUE + _FALSE:
            return word in _TRUE
    raise _problem(f"needs true or false, got {shown(value)}")


Number = Annotated[float, BeforeValidator(read_number)]
#: The bound comes first, so that it is one of the float and the JSON Schema has `minimum`.
NonNegative = Annotated[float, Field(ge=0), BeforeValidator(read_number)]
Positive = Annotated[float, Field(gt=0), BeforeValidator(read_number)]
Fraction = Annotated[float, Field(ge=0, le=1), BeforeValidator(read_number)]
Integer = Annotated[int, BeforeValidator(read_integer)]
Boolean = Annotated[bool, BeforeValidator(read_boolean)]
Name = Annotated[str, Field(min_length=1)]
Vector3 = Annotated[list[Number], Field(min_length=3, max_length=3)]
Table = Annotated[list[Annotated[list[Number], Field(min_length=2, max_length=2)]], Field(min_length=1)]
Color = Annotated[list[Fraction], Field(min_length=3, max_length=3)]


class AnyCaseEnum(enum.StrEnum):
    """An enumeration whose values may be written in any case; the values themselves are in upper case."""

    @classmethod
    def _missing_(cls, value: object) -> "AnyCaseEnum | None":
        if isinstance(value, str):
            upper = value.upper()
            return next((member for member in cls if member.value == upper), None)
        return None

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Offer the upper-case values for completion and accept every other case by a pattern."""
        values = [member.value for member in cls]
        description = (cls.__doc__ or "").strip().split("\n")[0]
        pattern = any_case_pattern(values)
        choices: list[dict[str, Any]] = [{"enum": values}, {"type": "string", "pattern": pattern}]
        return {"title": cls.__name__, "description": description, "anyOf": choices}


def any_case_pattern(values: list[str]) -> str:
    """A regular expression for `values` in any case (JSON Schema has no flag for that)."""

    def one(value: str) -> str:
        return "".join(f"[{c}{c.lower()}]" if c.isalpha() else re.escape(c) for c in value)

    return f"^({'|'.join(map(one, values))})$"


class Section(BaseModel):
    """A mapping of the file.

    The class tables say, in one place, what both the reader and the JSON Schema need to know:

    - `selector`: the key on whose value (in upper case, empty when absent) the next two tables depend.
    - `needed_by`: the keys that a value of the selector needs; `need_reason` is how a message puts it.
    - `used_by`: the values of the selector for which a key has a meaning.
    - `together`: the keys that the presence of a key needs.
    - `leftovers`: keys of real files that have no meaning, with the reason.
    - `spellings`: other spellings of a key that are accepted with a warning.
    - `hints`: wrong keys whose right key is no near match.
    """

    model_config = ConfigDict(extra="forbid", validate_default=False)

    selector: ClassVar[str] = "type"
    need_reason: ClassVar[str] = "type {value} needs it"
    needed_by: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    used_by: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    together: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    leftovers: ClassVar[Mapping[str, str]] = {}
    spellings: ClassVar[Mapping[str, str]] = {}
    hints: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Add the tables of `type` as `if`/`then`, and `together` as `dependentRequired`."""
        result = handler.resolve_ref_schema(handler(schema))
        conditions = [
            {
                "if": {
                    "properties": {cls.selector: {"pattern": any_case_pattern([value])}},
                    "required": [cls.selector],
                },
                "then": {"required": list(keys)},
            }
            for value, keys in cls.needed_by.items()
            if cls.selector == "type"
        ]
        if conditions:
            result["allOf"] = conditions
        if cls.together:
            result["dependentRequired"] = {key: list(others) for key, others in cls.together.items()}
        return result

    @classmethod
    def keys(cls) -> dict[str, str]:
        """The name of the field that holds each key of the file."""
        return {field.alias or name: name for name, field in cls.model_fields.items()}
