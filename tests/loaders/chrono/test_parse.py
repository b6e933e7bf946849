"""Kinds of files, versions, unknown keys, and reports of several errors."""

import pytest

from jaxmbs.loaders import LoaderChrono, LoadError
from tests.loaders.texts import GROUND, between, body, describe, errors, line_of, model, only_error


@pytest.mark.parametrize("version", ["10.0", "'10.0'", "10.0.3", "10.0.0"])
def test_versions_that_are_accepted(version):
    assert describe(model().replace("'10.0'", version)).warnings == []


@pytest.mark.parametrize("version", ["10.10", "10.1", "10", "9.0", "10.00", "11.0", "ten", "1e1"])
def test_versions_are_compared_by_their_text(version):
    text = model().replace("'10.0'", version)
    for dialect in ("seed", "chrono-10"):
        found = only_error(text, dialect=dialect)
        assert found.message == f"chrono-version: this is version '{version}' of the format; 10.0 is supported"
        assert (found.line, found.column) == (1, 17)
    (warning,) = describe(text, lenient=True).warnings
    assert f"this is version '{version}' of the format" in warning


def test_the_version_is_needed():
    text = "\n".join(model().splitlines()[1:])
    assert only_error(text).message == "missing key 'chrono-version'"


def test_an_unknown_key():
    text = model(joints=[between("hinge", type="LOCK", location=[0, 0, 0], axes=[1, 0, 0])])
    found = only_error(text)
    assert (found.element, found.message, found.fix) == (
        "joint 'hinge'",
        "unknown key 'axes'",
        "did you mean 'axis'?",
    )
    assert (found.line, found.column) == (line_of(text, "axes:"), 5)
    for options in ({"lenient": True}, {"dialect": "chrono-10"}):
        description = describe(text, **options)
        assert len(description.joints) == 1
        assert "joint 'hinge': unknown key 'axes' is ignored (did you mean 'axis'?)" in description.warnings[0]


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        (model(FEA_beams=[]), "did you mean 'FEA'?"),
        (model(joint=[]), "did you mean 'joints'?"),
        (model(angel_degrees=True), "did you mean 'angle_degrees'?"),
        (model() + "modle: 1\n", "did you mean 'model'?"),
        (model(xyz=1), "choose from 'name', 'angle_degrees', 'data_path', 'bodies', 'joints', 'constraints', "),
    ],
)
def test_suggestions(text, fix):
    found = only_error(text)
    assert found.fix is not None and found.fix.startswith(fix)


def test_keys_are_case_sensitive_and_values_are_not():
    assert only_error(model(Joints=[])).fix == "did you mean 'joints'?"
    describe(model(data_path={"type": "Absolute"}))


@pytest.mark.parametrize("section", ["joints", "constraints", "tsdas", "rsdas", "motors", "body_loads", "bodies"])
def test_a_section_left_empty_is_an_empty_list(section):
    describe(model(**{section: None}))


@pytest.mark.parametrize("value", [3, "x", {"a": 1}])
def test_a_section_must_be_a_list(value):
    found = only_error(model(joints=value))
    assert found.message.startswith("model.joints: needs a list, got ")


def test_an_element_must_be_a_mapping():
    found = only_error(model(joints=["hinge"]))
    assert found.message == "model.joints[0]: needs a mapping of keys and values, got 'hinge'"


def test_an_element_without_a_name_is_counted():
    found = only_error(model(joints=[{"type": "LOCK", "body1": "ground", "body2": "rod", "location": [0, 0, 0]}]))
    assert (found.element, found.message) == ("joint 1", "missing key 'name'")


def test_the_bodies_are_needed():
    assert only_error("chrono-version: 10.0\nmodel:\n  name: x\n").message == "model: missing key 'bodies'"
    assert only_error("chrono-version: 10.0\nmodel:\n").message == "model: this key has no value"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("just a sentence\n", "this is no Chrono YAML file: it needs keys"),
        ("- 1\n- 2\n", "this is no Chrono YAML file: it needs keys"),
        ("chrono-version: 10.0\n\n", "this is no Chrono YAML file: there is no key 'model'"),
        ("chrono-version: 10.0\nbodies: []\n", "'bodies' stands outside 'model'"),
        ("a: [1\nb: 2\n", "malformed YAML"),
    ],
)
def test_files_of_another_kind(text, message):
    assert only_error(text).message.startswith(message)


def test_all_errors_are_in_one_report():
    text = model(
        nmae="x",
        angle_degrees="maybe",
        bodies=[
            GROUND,
            body("broken", mass="heavy"),
            body("bad", inertia={"moments": [1, 1, 5]}),
            body("good"),
            body("good"),
        ],
        joints=[
            between("a", body2="broken", type="LOCK", location=[0, 0, 0]),
            between("b", body2="bad", type="LOCK", location=[0, 0, 0]),
            between("c", body2="nobody", type="REVOLUTE", location=[0, 0, 0], axis=[0, 0, 0]),
            between("d", body2="good", type="UNIVERSAL", location=[0, 0], axis1=[1, 0, 0]),
            "nothing",
            between("e", body2="god", type="LOCK", location=[0, 0, 0]),
        ],
    )
    with pytest.raises(LoadError) as caught:
        LoaderChrono().describe(text)
    found = {(error.element, error.message) for error in caught.value.errors}
    # Joints to bodies with errors of their own are not blamed.
    assert found == {
        (None, "model: unknown key 'nmae'"),
        (None, "model.angle_degrees: needs true or false, got 'maybe'"),
        ("body 'broken'", "mass: needs a number, got 'heavy'"),
        (
            "body 'bad'",
            "inertia: no body has this inertia: the largest principal moment 5 exceeds the sum of the others 2",
        ),
        ("body 'good'", f"the name 'good' is taken by another body in line {line_of(text, 'name: good')}"),
        ("joint 'c'", "body2: there is no body 'nobody'"),
        ("joint 'c'", "axis: the axis is zero"),
        ("joint 'd'", "location: needs at least 3 values, got 2"),
        ("joint 'd'", "missing key 'axis2'; type UNIVERSAL needs it"),
        (None, "model.joints[4]: needs a mapping of keys and values, got 'nothing'"),
        ("joint 'e'", "body2: there is no body 'god'"),
    }
    report = str(caught.value)
    assert report.startswith("11 errors:\n  <text>:")
    lines = [error.line or 0 for error in caught.value.errors]
    assert lines == sorted(lines)
    place = line_of(text, "body2: god")
    assert f"<text>:{place}:12: joint 'e': body2: there is no body 'god' (did you mean 'good'?)" in report


def test_a_key_that_is_given_twice():
    text = model() + "model: {}\n"
    assert any("the key 'model' is given twice" in error.message for error in errors(text))


def test_anchors_and_merge_keys():
    text = """
chrono-version: 10.0
model:
  bodies:
    - {name: ground, fixed: true, location: [0, 0, 0]}
    - &rod {name: a, location: &place [1, 0, 0], mass: 2, inertia: {moments: [1, 1, 1]}}
    - <<: *rod
      name: b
  joints:
    - {name: hinge, type: LOCK, body1: a, body2: b, location: *place}
"""
    description = describe(text)
    assert [(item.name, item.mass) for item in description.bodies[1:]] == [("a", 2.0), ("b", 2.0)]
    assert description.joints[0].pos.tolist() == [1.0, 0.0, 0.0]


def test_many_errors_take_no_square_of_time():
    joints = [between(f"j{i}", type="LOCK", location=[0, 0, 0], body2=f"b{i}") for i in range(300)]
    assert len(errors(model(joints=joints))) == 300
