"""Whatever is done to a valid file, it loads or it fails with a `LoadError`."""

import copy
import dataclasses
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st

from jaxmbs.loaders import Diagnostic, LoaderChrono, LoadError
from tests.loaders.texts import DATA


SETTINGS = settings(
    derandomize=True,
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
    database=None,
)
TEXT = (DATA / "everything.yaml").read_text()
#: Strings stay strings, so that the tree can be written as the file was.
TREE = yaml.load(TEXT, yaml.BaseLoader)
SOLVER = yaml.load((DATA / "solver.yaml").read_text(), yaml.BaseLoader)

ODD_VALUES = st.one_of(
    st.sampled_from(
        ["", "~", ".nan", "-.inf", "1e400", "-1", "0", "1e-300", "1e99", "yes", "ground", "arm", "10.10", "\u0663"]
    ),
    st.sampled_from([None, True, 0, -1, 1e308, [], {}, [[]], {"type": "SPHERE"}, [0, 0, 0], [1, 2], ["x"] * 5]),
    st.text(max_size=8),
    st.integers(),
    st.floats(),
    st.lists(st.integers(-2, 2) | st.text(max_size=2), max_size=5),
    st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)


def places(tree: Any, path: tuple = ()) -> list[tuple]:
    """The path of every value."""
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [found for key, value in children for found in ((*path, key), *places(value, (*path, key)))]


def holder(tree: Any, path: tuple) -> Any:
    for step in path[:-1]:
        tree = tree[step]
    return tree


@st.composite
def mutated(draw: st.DrawFn, original: Any) -> Any:
    tree = copy.deepcopy(original)
    for _ in range(draw(st.integers(1, 3))):
        paths = places(tree)
        if not paths:
            break
        path, other = draw(st.sampled_from(paths)), draw(st.sampled_from(paths))
        action = draw(st.sampled_from(["replace", "remove", "swap", "rename", "duplicate"]))
        parent, last = holder(tree, path), path[-1]
        if action == "replace":
            parent[last] = draw(ODD_VALUES)
        elif action == "remove":
            del parent[last]
        elif action == "swap":
            parent[last] = copy.deepcopy(holder(tree, other)[other[-1]])
        elif action == "rename" and isinstance(parent, dict):
            parent[draw(st.text(max_size=6) | st.sampled_from(["name", "type", "axis", "FEA"]))] = parent.pop(last)
        elif action == "duplicate" and isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
    return tree


def numbers(value: Any) -> list[float]:
    if dataclasses.is_dataclass(value):
        return [n for field in dataclasses.fields(value) for n in numbers(getattr(value, field.name))]
    if isinstance(value, (list, tuple)):
        return [n for item in value for n in numbers(item)]
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    return [value] if isinstance(value, float) else []


def load(text: str, **options: Any) -> None:
    """What loads has finite numbers, and what does not has a report."""
    try:
        description = LoaderChrono(**options).describe(text + "\n")
    except LoadError as error:
        assert error.errors and all(isinstance(item, Diagnostic) and item.message for item in error.errors)
        assert str(error).startswith(f"{len(error.errors)} error")
    else:
        assert np.all(np.isfinite(numbers(description)))


OPTIONS = st.sampled_from([{}, {"dialect": "chrono-10"}, {"lenient": True}])


@pytest.fixture(autouse=True)
def in_data_folder(monkeypatch):
    monkeypatch.chdir(DATA)  # where relative paths of texts start


@SETTINGS
@given(mutated(TREE), OPTIONS)
def test_models_of_another_structure(tree, options):
    load(yaml.safe_dump(tree, allow_unicode=True), **options)


@SETTINGS
@given(st.data(), OPTIONS)
def test_models_of_another_text(data, options):
    text = TEXT
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, min(len(text), start + 30)))
        new = data.draw(
            st.text(max_size=5)
            | st.sampled_from([": ", "- ", "[", "]", "{", "}", "&a ", "*a", "<<: ", "\t", "\n", "!!", "'"])
        )
        text = text[:start] + new + text[stop:]
    load(text, **options)


@SETTINGS
@given(mutated(yaml.load((DATA / "run.yaml").read_text(), yaml.BaseLoader)), OPTIONS)
def test_simulations_of_another_structure(tree, options):
    load(yaml.safe_dump(tree, allow_unicode=True), **options)


@SETTINGS
@given(mutated(SOLVER))
def test_solvers_of_another_structure(tmp_path_factory, tree):
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "solver.yaml").write_text(yaml.safe_dump(tree))
    (folder / "model.yaml").write_text("chrono-version: 10.0\nmodel: {bodies: []}\n")
    run = folder / "run.yaml"
    run.write_text("chrono-version: 10.0\ntype: MBS\nmodel: model.yaml\nsolver: solver.yaml\n")
    try:
        LoaderChrono().describe(run)
    except LoadError as error:
        assert error.errors


@SETTINGS
@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_text(text):
    with pytest.raises(LoadError):
        LoaderChrono().describe(text)
