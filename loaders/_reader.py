"""Tree to schema, with every error placed: the part of parsing that all formats share."""

import dataclasses
import difflib
import itertools
import types
import typing
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from jaxmbs.loaders._diagnostics import Diagnostics, Mark
from jaxmbs.loaders._fields import Section, shown
from jaxmbs.loaders._yaml import Entry, Mapping, Node, Scalar, Sequence, plain


Path = tuple[str | int, ...]


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """`did you mean 'x'?`, or the list of what is possible."""
    names = list(choices)[:1000]
    word = word[:100]
    by_fold = {name.casefold(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.casefold(), by_fold, n=1, cutoff=0.6)
    if close:
        return f"did you mean {by_fold[close[0]]!r}?"
    if not names:
        return "there is nothing to choose from"
    listed = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
    return f"choose from {listed}"


def find(root: Node, path: Path) -> Node | None:
    """The node at `path`."""
    node: Node | None = root
    for step in path:
        if isinstance(node, Mapping) and isinstance(step, str):
            node = node.get(step)
        elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
        else:
            return None
    return node


def mark_of(root: Node, path: Path) -> Mark:
    """The place of the value at `path`, or of the nearest thing around it that exists."""
    for length in range(len(path), -1, -1):
        node = find(root, path[:length])
        if node is not None:
            return node.mark
    return root.mark


def element_of(root: Node, path: Path) -> tuple[str | None, str]:
    """What `path` is in: the element for people, such as `joint 'hinge'`, and the rest as a dotted key."""
    parts, rest, inside = [], 0, ""
    for index, step in enumerate(path):
        node = find(root, path[: index + 1])
        if isinstance(step, int) and isinstance(node, Mapping):
            name = node.get("name")
            title = f"{step + 1}" if not isinstance(name, Scalar) or name.is_null else repr(name.text)
            parts.append(f"{inside}{singular(str(path[index - 1]))} {title}")
            rest, inside = index + 1, ""
        elif step == "FEA":
            inside = "FEA "
    key = ""
    for step in path[rest:]:
        key += f"[{step}]" if isinstance(step, int) else f".{step}" if key else step
    return ", ".join(parts) or None, key


def singular(section: str) -> str:
    """`bodies` -> `body`, `body_loads` -> `body load`."""
    words = section.replace("_", " ")
    return words[:-3] + "y" if words.endswith("ies") else words.removesuffix("s")


@dataclasses.dataclass
class Reader:
    """Reads one tree into a schema.

    - `unknown_keys_are_errors`: otherwise they are warnings.
    - `root`: the tree, after `read` with its keys spelt right and without unknown keys.
    - `bad`: the paths at which errors were found.
    - `kept`: for lists with broken elements, the positions of the others.
    """

    file: str
    diagnostics: Diagnostics
    unknown_keys_are_errors: bool = True
    bad: list[Path] = dataclasses.field(default_factory=list)
    kept: dict[Path, list[int]] = dataclasses.field(default_factory=dict)
    root: Node = dataclasses.field(init=False)
    _elements: set[Path] = dataclasses.field(default_factory=set)

    def read(self, root: Mapping, schema: type[Section]) -> Section | None:
        """Check `root` against `schema`.

        **Returns:** what is left when list elements with errors are taken out, or `None` when errors lie
        elsewhere.
        """
        self.root = root
        self.root = self._clean(root, schema, ())
        data = plain(self.root)
        try:
            schema.model_validate(data)
        except ValidationError as error:
            for item in error.errors(include_url=False):
                if item["type"] != "missing":  # `_clean` reported those, with the place
                    self._report(item)
        self._take_out_broken(data)
        try:
            return schema.model_validate(data)
        except ValidationError:
            return None

    def position(self, section: Path, index: int) -> int:
        """Where element `index` of the schema's list stands in the list of the file."""
        kept = self.kept.get(section)
        return index if kept is None else kept[index]

    def _take_out_broken(self, data: Any) -> None:
        """Remove broken list elements and, outside of these, broken keys, so that the rest can be looked at."""
        broken: dict[Path, set[int]] = {}
        keys: list[Path] = []
        for path in self.bad:
            element = next((path[:end] for end in range(1, len(path) + 1) if path[:end] in self._elements), None)
            if element is None:
                keys.append(path)
            else:
                *section, index = element
                broken.setdefault(tuple(section), set()).add(typing.cast(int, index))
        for section, indices in broken.items():
            *parents, last = section
            holder = data
            for step in parents:
                holder = holder[step]
            self.kept[section] = [index for index in range(len(holder[last])) if index not in indices]
            holder[last] = [holder[last][index] for index in self.kept[section]]
        for path in keys:
            _remove_key(data, path)

    def error(
        self, path: Path, message: str, *, fix: str | None = None, mark: Mark | None = None, breaks: bool = True
    ) -> None:
        """Record an error at `path`; `breaks` tells that what lies there cannot be used."""
        if breaks:
            self.bad.append(path)
        element, key = element_of(self.root, path)
        text = f"{key}: {message}" if key else message
        self.diagnostics.error(text, self.file, mark or mark_of(self.root, path), element=element, fix=fix)

    def warning(self, path: Path, message: str, *, fix: str | None = None, mark: Mark | None = None) -> None:
        """Record a warning at `path`."""
        element, key = element_of(self.root, path)
        text = f"{key}: {message}" if key else message
        self.diagnostics.warning(text, self.file, mark or mark_of(self.root, path), element=element, fix=fix)

    def _clean(self, node: Mapping, schema: type[Section], path: Path) -> Mapping:
        """Spell keys right, drop those without a meaning, and report what is missing."""
        keys = schema.keys()
        entries: dict[str, Entry] = {}
        for key, entry in node.entries.items():
            right = schema.spellings.get(key, key)
            if right in keys and right != key:
                if right in node.entries:
                    self.error(path, f"{key!r} and {right!r} are the same key", mark=entry.key_mark)
                    continue
                self.warning(path, f"{key!r} is read as {right!r}", mark=entry.key_mark, fix=f"write {right!r}")
            elif key in schema.leftovers:
                reason = schema.leftovers[key]
                self.warning(path, f"{key!r} has no effect: {reason}", mark=entry.key_mark, fix="remove it")
                continue
            elif key not in keys:
                self._unknown(path, key, entry, schema)
                continue
            entries[right] = self._clean_value(entry, schema, keys[right], (*path, right))
        cleaned = dataclasses.replace(node, entries=entries)
        self._missing(cleaned, schema, path)
        return cleaned

    def _unknown(self, path: Path, key: str, entry: Entry, schema: type[Section]) -> None:
        hint = schema.hints.get(key)
        fix = f"did you mean {hint!r}?" if hint else did_you_mean(key, schema.keys())
        if self.unknown_keys_are_errors:
            # The element is not broken without the key, so that its other errors are found as well.
            self.error(path, f"unknown key {key!r}", mark=entry.key_mark, fix=fix, breaks=False)
        else:
            self.warning(path, f"unknown key {key!r} is ignored", mark=entry.key_mark, fix=fix)

    def _clean_value(self, entry: Entry, schema: type[Section], field: str, path: Path) -> Entry:
        nested, is_list = nested_section(schema.model_fields[field].annotation)
        value = entry.value
        if isinstance(value, Scalar) and value.is_null:
            if nested is not None and is_list:
                # `joints:` with nothing below it is an empty list, as people leave it who delete the last one.
                return Entry(entry.key_mark, Sequence((), value.mark, 1, 1))
            self.error(path, "this key has no value", mark=entry.key_mark, fix="give a value or remove the key")
            return entry
        if nested is None:
            return entry
        if is_list and isinstance(value, Sequence):
            items = tuple(
                self._clean(item, nested, (*path, index)) if isinstance(item, Mapping) else item
                for index, item in enumerate(value.items)
            )
            self._elements.update((*path, index) for index in range(len(items)))
            self._duplicates(value, nested, path)
            return Entry(entry.key_mark, dataclasses.replace(value, items=items))
        if not is_list and isinstance(value, Mapping):
            return Entry(entry.key_mark, self._clean(value, nested, path))
        return entry

    def _missing(self, node: Mapping, schema: type[Section], path: Path) -> None:
        for key, name in schema.keys().items():
            field = schema.model_fields[name]
            if field.is_required() and key not in node.entries:
                self.error(path, f"missing key {key!r}", mark=node.mark, fix=f"add {key!r}: {field.description}")
        chosen = node.get(schema.selector)
        value = chosen.text.upper() if isinstance(chosen, Scalar) else ""
        for key in schema.needed_by.get(value, ()):
            if key not in node.entries:
                self._needed(node, schema, path, key, schema.need_reason.format(value=value))
        for key, values in schema.used_by.items():
            if value and key in node.entries and value not in values:
                entry = node.entries[key]
                message = f"{key!r} has no effect with {schema.selector} {value}"
                self.warning(path, message, mark=entry.key_mark, fix=f"it belongs to {', '.join(values)}")
        for key, others in schema.together.items():
            for other in others:
                if key in node.entries and other not in node.entries:
                    self._needed(node, schema, path, other, f"{key!r} needs it")

    def _needed(self, node: Mapping, schema: type[Section], path: Path, key: str, reason: str) -> None:
        field = schema.model_fields[schema.keys()[key]]
        fix = f"add {key!r}: {field.description}"
        self.error(path, f"missing key {key!r}; {reason}", mark=node.mark, fix=fix)

    def _duplicates(self, node: Sequence, schema: type[Section], path: Path) -> None:
        if "name" not in schema.model_fields:
            return
        first: dict[str, int] = {}
        for index, item in enumerate(node.items):
            name = item.get("name") if isinstance(item, Mapping) else None
            if isinstance(name, Scalar) and first.setdefault(name.text, index) != index:
                line = node.items[first[name.text]].mark.line
                message = f"the name {name.text!r} is taken by another {singular(str(path[-1]))} in line {line}"
                self.error((*path, index), message, mark=name.mark, fix="choose another name")

    def _report(self, item: Any) -> None:
        path: Path = tuple(item["loc"])
        node = find(self.root, path)
        if isinstance(node, Scalar) and node.is_null and isinstance(path[-1], str):
            return  # `_clean_value` reported it
        message, fix = _translated(item)
        self.error(path, message, fix=fix)


def _translated(item: Any) -> tuple[str, str | None]:
    """Message and fix for an error of pydantic."""
    kind, value, context = item["type"], item["input"], item.get("ctx", {})
    if kind == "enum":
        choices = [part.strip("' ") for part in context["expected"].replace(" or ", ", ").split(", ")]
        return f"there is no choice {shown(value)}", did_you_mean(value if isinstance(value, str) else "", choices)
    if kind == "too_short":
        return f"needs at least {context['min_length']} values, got {context['actual_length']}", None
    if kind == "too_long":
        return f"needs at most {context['max_length']} values, got {context['actual_length']}", None
    if kind == "list_type":
        return f"needs a list, got {shown(value)}", None
    if kind == "model_type":
        return f"needs a mapping of keys and values, got {shown(value)}", None
    if kind in ("string_type", "string_too_short"):
        return f"needs a text, got {shown(value)}", None
    message = item["msg"]
    if kind.startswith(("greater", "less")):
        message = message.replace("Input should be", "must be") + f", got {shown(value)}"
    return message, None


def _remove_key(data: Any, path: Path) -> None:
    """Remove the last mapping key on `path`; what stands below it is a part of its value."""
    keys = list(itertools.takewhile(lambda step: isinstance(step, str), path))
    for key in keys[:-1]:
        data = data[key] if isinstance(data, dict) and key in data else None
    if keys and isinstance(data, dict):
        data.pop(keys[-1], None)


def nested_section(annotation: Any) -> tuple[type[Section] | None, bool]:
    """The section class in an annotation, and whether it stands in a list."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation, False
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is list:
        return nested_section(arguments[0])[0], True
    if origin is typing.Annotated:
        return nested_section(arguments[0])
    if origin in (typing.Union, types.UnionType):
        for argument in arguments:
            found = nested_section(argument)
            if found[0] is not None:
                return found
    return None, False
