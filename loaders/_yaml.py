"""YAML text to a tree that keeps the place of every node and the text of every scalar.

Scalars stay text, because only the schema knows whether `10.10` is a version and `1e5` a number (YAML 1.1 reads
the latter as a string). The tree is built from parser events without recursion, so that depth, alias expansion
and size are bounded before anything is expanded.
"""

import dataclasses
from typing import Any

import yaml

from jaxmbs.loaders._diagnostics import Diagnostics, Mark


MAX_BYTES = 16 * 1024 * 1024
MAX_NODES = 1_000_000
MAX_DEPTH = 64

#: libyaml is about ten times as fast as the parser in Python; both produce the same events.
_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STANDARD_TAG = "tag:yaml.org,2002:"
_STANDARD_TYPES = ("str", "int", "float", "bool", "null", "map", "seq")
_NULL = ("", "~", "null", "Null", "NULL")


@dataclasses.dataclass(frozen=True)
class Scalar:
    """A text; `quoted` tells `"null"` from `null`."""

    text: str
    quoted: bool
    mark: Mark
    size: int = 1
    depth: int = 1

    @property
    def is_null(self) -> bool:
        """Whether the scalar stands for nothing."""
        return not self.quoted and self.text in _NULL


@dataclasses.dataclass(frozen=True)
class Sequence:
    """A list; `size` and `depth` count what it is when aliases are expanded."""

    items: tuple["Node", ...]
    mark: Mark
    size: int
    depth: int


@dataclasses.dataclass(frozen=True)
class Entry:
    """A key's place and its value."""

    key_mark: Mark
    value: "Node"


@dataclasses.dataclass(frozen=True)
class Mapping:
    """A mapping by key text, in the order of the file."""

    entries: dict[str, Entry]
    mark: Mark
    size: int
    depth: int

    def get(self, key: str) -> "Node | None":
        """The value of `key`, or `None`."""
        entry = self.entries.get(key)
        return None if entry is None else entry.value


Node = Scalar | Sequence | Mapping


def plain(node: Node) -> Any:
    """The tree as dictionaries, lists, strings and `None`."""
    if isinstance(node, Scalar):
        return None if node.is_null else node.text
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key: plain(entry.value) for key, entry in node.entries.items()}


def read_yaml(text: str, file: str, diagnostics: Diagnostics) -> Node | None:
    """Parse one YAML document.

    **Arguments:**

    - `text`: the document.
    - `file`: the name used in messages.
    - `diagnostics`: receives what is wrong with it.

    **Returns:** the tree, or `None` when there is none.
    """
    if len(text) > MAX_BYTES:
        diagnostics.error(f"the text has more than {MAX_BYTES} characters", file)
        return None
    builder = _Builder(file, diagnostics)
    try:
        for event in yaml.parse(text, Loader=_PARSER):
            builder.take(event)
    except _Refused as refused:
        diagnostics.error(refused.message, file, refused.mark, fix=refused.fix)
        return None
    except yaml.YAMLError as error:
        _report_syntax(error, text, file, diagnostics)
        return None
    if builder.root is None:
        diagnostics.error("the file is empty", file)
    return builder.root


def _report_syntax(error: yaml.YAMLError, text: str, file: str, diagnostics: Diagnostics) -> None:
    mark, message, fix = None, str(error), None
    if isinstance(error, yaml.MarkedYAMLError):
        place = error.problem_mark or error.context_mark
        mark = None if place is None else Mark(place.line + 1, place.column + 1)
        message = ": ".join(part for part in (error.context, error.problem) if part) or message
    elif isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position] if isinstance(error.position, int) else ""
        mark = Mark(before.count("\n") + 1, len(before) - before.rfind("\n"))
        message = f"a character that YAML does not allow: {error.reason}"
    if mark is not None:
        lines = text.splitlines()
        if mark.line <= len(lines) and "\t" in lines[mark.line - 1]:
            fix = "indent with spaces, not with tabs"
    diagnostics.error(f"malformed YAML: {message}", file, mark, fix=fix)


class _Refused(Exception):
    def __init__(self, message: str, mark: Mark, fix: str | None = None):
        self.message, self.mark, self.fix = message, mark, fix


@dataclasses.dataclass
class _Open:
    """A collection whose end has not come yet; `key` is the pending key of a mapping."""

    is_mapping: bool
    anchor: str | None
    mark: Mark
    items: list[Node] = dataclasses.field(default_factory=list)
    entries: dict[str, Entry] = dataclasses.field(default_factory=dict)
    merged: list[tuple[Mark, Node]] = dataclasses.field(default_factory=list)
    key: Scalar | None = None


class _Builder:
    """Turns parser events into nodes."""

    def __init__(self, file: str, diagnostics: Diagnostics):
        self.root: Node | None = None
        self._file = file
        self._diagnostics = diagnostics
        self._stack: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._total = 0
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        mark = Mark(event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise _Refused("the file holds more than one YAML document", mark, "keep one document per file")
        elif isinstance(event, yaml.AliasEvent):
            self._add(self._resolve(event.anchor, mark), mark)
        elif isinstance(event, yaml.ScalarEvent):
            self._check_tag(event.tag, mark)
            node = Scalar(event.value, event.style in ("'", '"', "|", ">"), mark)
            if event.anchor is not None:
                self._anchors[event.anchor] = node
            self._add(node, mark)
        elif isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            self._check_tag(event.tag, mark)
            if len(self._stack) >= MAX_DEPTH:
                raise _Refused(f"nested deeper than {MAX_DEPTH} levels", mark)
            self._stack.append(_Open(isinstance(event, yaml.MappingStartEvent), event.anchor, mark))
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            self._close()

    def _check_tag(self, tag: str | None, mark: Mark) -> None:
        if tag in (None, "!") or tag.removeprefix(_STANDARD_TAG) in _STANDARD_TYPES:
            return
        raise _Refused(f"the YAML tag {tag!r} has no meaning here", mark, "remove the tag")

    def _resolve(self, anchor: str, mark: Mark) -> Node:
        if any(collection.anchor == anchor for collection in self._stack):
            raise _Refused(f"the alias '*{anchor}' stands inside what it refers to", mark)
        node = self._anchors.get(anchor)
        if node is None:
            raise _Refused(f"the alias '*{anchor}' refers to no anchor", mark, f"define it before with '&{anchor}'")
        return node

    def _count(self, size: int, mark: Mark) -> None:
        self._total += size
        if self._total > MAX_NODES:
            raise _Refused(f"more than {MAX_NODES} values when all aliases are expanded", mark)

    def _add(self, node: Node, mark: Mark) -> None:
        self._count(node.size, mark)
        if len(self._stack) + node.depth > MAX_DEPTH + 1:
            raise _Refused(f"nested deeper than {MAX_DEPTH} levels when all aliases are expanded", mark)
        if not self._stack:
            self.root = node
            return
        parent = self._stack[-1]
        if not parent.is_mapping:
            parent.items.append(node)
        elif parent.key is None:
            if not isinstance(node, Scalar):
                raise _Refused("a key must be a plain text", mark)
            parent.key = dataclasses.replace(node, mark=mark)
        else:
            key, parent.key = parent.key, None
            self._add_entry(parent, key, node)

    def _add_entry(self, parent: _Open, key: Scalar, node: Node) -> None:
        if key.text == "<<" and not key.quoted:
            parent.merged.append((key.mark, node))
            return
        first = parent.entries.get(key.text)
        if first is None:
            parent.entries[key.text] = Entry(key.mark, node)
            return
        message = f"the key {key.text!r} is given twice (first in line {first.key_mark.line})"
        self._diagnostics.error(message, self._file, key.mark, fix="keep one of them")

    def _close(self) -> None:
        done = self._stack.pop()
        if not done.is_mapping:
            node: Node = Sequence(tuple(done.items), done.mark, *_extent(done.items))
        else:
            for mark, merged in done.merged:
                self._merge(done, merged, mark)
            values = [entry.value for entry in done.entries.values()]
            node = Mapping(done.entries, done.mark, *_extent(values))
        if done.anchor is not None:
            self._anchors[done.anchor] = node
        # The parts of a collection were counted when they came, so only the collection itself counts now.
        self._count(1 - node.size, done.mark)
        self._add(node, done.mark)

    def _merge(self, target: _Open, merged: Node, mark: Mark) -> None:
        """Keys of `<<` count unless the mapping itself, or an earlier merge, gives them."""
        parts = merged.items if isinstance(merged, Sequence) else (merged,)
        for part in parts:
            if not isinstance(part, Mapping):
                raise _Refused("'<<' needs a mapping or a list of mappings", mark)
            self._count(part.size, mark)
            for key, entry in part.entries.items():
                target.entries.setdefault(key, entry)


def _extent(children: list[Node]) -> tuple[int, int]:
    size = 1 + sum(child.size for child in children)
    return size, 1 + max((child.depth for child in children), default=0)
