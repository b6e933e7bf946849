import pytest

from jaxmbs.loaders import _yaml
from jaxmbs.loaders._diagnostics import Diagnostic, Diagnostics, Mark
from jaxmbs.loaders._yaml import MAX_DEPTH, Mapping, Node, Scalar, Sequence, plain, read_yaml


@pytest.fixture(params=["C", "Python"], autouse=True)
def parser(request, monkeypatch):
    if request.param == "Python":
        monkeypatch.setattr(_yaml, "_PARSER", _yaml.yaml.SafeLoader)
    elif not hasattr(_yaml.yaml, "CSafeLoader"):
        pytest.skip("PyYAML was built without libyaml")


def read(text: str) -> Node:
    diagnostics = Diagnostics()
    node = read_yaml(text, "f.yaml", diagnostics)
    assert not diagnostics.errors, diagnostics.errors
    assert node is not None
    return node


def problem(text: str) -> Diagnostic:
    diagnostics = Diagnostics()
    read_yaml(text, "f.yaml", diagnostics)
    assert len(diagnostics.errors) == 1
    return diagnostics.errors[0]


def test_scalars_stay_text_and_know_their_place():
    node = read("a: 10.10\nb:\n  - 1e5\n  - 'null'\n  - ~\n")
    assert plain(node) == {"a": "10.10", "b": ["1e5", "null", None]}
    assert isinstance(node, Mapping)
    items = node.get("b")
    assert isinstance(items, Sequence) and isinstance(items.items[0], Scalar)
    assert items.items[1].mark == Mark(4, 5)
    assert node.entries["b"].key_mark == Mark(2, 1)


def test_block_texts_are_texts():
    assert plain(read("a: |\n  two\n  lines\n")) == {"a": "two\nlines\n"}


def test_aliases_and_merge_keys():
    text = "x: &x {p: 1, q: 2}\ny: &y {q: 3, r: 4}\na: {<<: *x, q: 5}\nb: {<<: [*x, *y]}\nc: *x\n"
    tree = plain(read(text))
    assert tree["a"] == {"q": "5", "p": "1"}
    assert tree["b"] == {"p": "1", "q": "2", "r": "4"}
    assert tree["c"] == {"p": "1", "q": "2"}


def test_a_standard_tag_keeps_the_text():
    assert plain(read("a: !!str 5\nb: !!float 1\n")) == {"a": "5", "b": "1"}


@pytest.mark.parametrize(
    ("text", "message", "mark"),
    [
        ("a: 1\nb: 2\na: 3\n", "'a' is given twice (first in line 1)", Mark(3, 1)),
        ("a: [1, 2\nb: 3\n", "malformed YAML", Mark(2, 2)),
        ("a: 1\n b: 2\n", "malformed YAML", Mark(2, 3)),
        ("a: *nobody\n", "'*nobody' refers to no anchor", Mark(1, 4)),
        ("a: &a [1, *a]\n", "'*a' stands inside what it refers to", Mark(1, 11)),
        ("a: 1\n--- \nb: 2\n", "more than one YAML document", Mark(2, 1)),
        ("[1]: 2\n", "a key must be a plain text", Mark(1, 1)),
        ("a: !!python/object:os.system x\n", "tag", Mark(1, 4)),
        ("a: !mine x\n", "tag '!mine' has no meaning", Mark(1, 4)),
        ("a: {<<: 1}\n", "'<<' needs a mapping", Mark(1, 5)),
    ],
)
def test_what_is_refused(text, message, mark):
    found = problem(text)
    assert message in found.message
    assert found.mark == mark
    assert found.file == "f.yaml"


def test_a_tab_is_named_in_the_fix():
    found = problem("a:\n\tb: 1\n")
    assert found.line == 2
    assert found.fix == "indent with spaces, not with tabs"


def test_a_control_character_is_placed():
    found = problem("a: 1\nb: x\x01y\n")
    assert "malformed YAML" in found.message


def test_an_empty_text():
    assert problem("# nothing\n").message == "the file is empty"


def test_an_alias_bomb_is_refused_without_being_expanded():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    assert "aliases are expanded" in problem("\n".join(lines)).message


def test_a_merge_bomb_is_refused(monkeypatch):
    monkeypatch.setattr(_yaml, "MAX_NODES", 5000)
    text = "x: &x {" + ", ".join(f"k{i}: 1" for i in range(100)) + "}\n"
    text += "".join(f"y{i}: {{<<: *x}}\n" for i in range(100))
    assert "aliases are expanded" in problem(text).message


def test_depth_is_bounded():
    def nested(depth: int) -> str:
        return "a: " + "[" * depth + "]" * depth

    read(nested(MAX_DEPTH - 1))
    assert "nested deeper" in problem(nested(MAX_DEPTH)).message
    # libyaml reads ahead and refuses this by itself
    assert "nest" in problem("[" * 5000).message


def test_depth_is_bounded_through_aliases():
    lines = ["a0: &a0 [1]"] + [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 100)]
    assert "nested deeper" in problem("\n".join(lines)).message


def test_size_is_bounded(monkeypatch):
    monkeypatch.setattr(_yaml, "MAX_BYTES", 10)
    assert "more than 10 characters" in problem("a: 1234567890\n").message
    monkeypatch.setattr(_yaml, "MAX_BYTES", 10_000)
    monkeypatch.setattr(_yaml, "MAX_NODES", 10)
    assert "more than 10 values" in problem("a: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n").message
