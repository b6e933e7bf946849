import numpy as np
import pytest

from jaxmbs._description import ConstraintKind, JointKind
from tests.loaders.texts import between, describe, errors, line_of, model, only_error


BUSHING = {"stiffness_linear": 1000, "damping_linear": 10, "stiffness_rotational": 50, "damping_rotational": 5}
DOF = {"stiffness_linear": 0, "damping_linear": 0, "stiffness_rotational": 7, "damping_rotational": 0.7}


def joint(type: str, **keys):
    return model(joints=[between("hinge", type=type, location=[1, 2, 3]) | keys])


def bushing(type: str, dialect: str = "seed", data=None, **keys):
    text = joint(type, bushing_data=BUSHING if data is None else data, **keys)
    description = describe(text, dialect=dialect)
    assert description.joints == []
    return description.bushings[0]


@pytest.mark.parametrize("type", ["REVOLUTE", "PRISMATIC", "CYLINDRICAL", "POINT_LINE", "POINT_PLANE"])
def test_joints_with_an_axis(type):
    (found,) = describe(joint(type, axis=[0, 3, 4])).joints
    assert found.kind is JointKind[type]
    assert (found.name, found.body1, found.body2) == ("hinge", "ground", "rod")
    np.testing.assert_array_equal(found.pos, [1, 2, 3])
    np.testing.assert_array_equal(found.axis, [0, 3, 4])


@pytest.mark.parametrize("type", ["LOCK", "SPHERICAL", "lock", "sPHERical"])
def test_joints_without_an_axis(type):
    (found,) = describe(joint(type)).joints
    assert found.kind is JointKind[type.upper()]


def test_universal():
    (found,) = describe(joint("UNIVERSAL", axis1=[1, 0, 0], axis2=[1, 1, 0])).joints
    assert found.kind is JointKind.UNIVERSAL
    np.testing.assert_array_equal(found.axis, [1, 0, 0])
    np.testing.assert_array_equal(found.axis2, [1, 1, 0])


@pytest.mark.parametrize(("type", "axis"), [("POINT_LINE", [1, 0, 0]), ("POINT_PLANE", [0, 0, 1])])
def test_point_joints_have_default_axes(type, axis):
    description = describe(joint(type))
    np.testing.assert_array_equal(description.joints[0].axis, axis)
    assert f"joint 'hinge': axis = {axis}" in description.defaults


@pytest.mark.parametrize(("type", "axis"), [("POINT_LINE", [1, 0, 0]), ("POINT_PLANE", [0, 0, 1])])
def test_chrono_ignores_the_axis_of_point_joints(type, axis):
    description = describe(joint(type, axis=[0, 1, 0]), dialect="chrono-10")
    np.testing.assert_array_equal(description.joints[0].axis, axis)
    assert f"joint 'hinge': axis: Chrono 10 ignores the axis of a {type} joint" in description.warnings[0]


def test_chrono_locks_cylindrical_joints():
    description = describe(joint("CYLINDRICAL", axis=[0, 1, 0]), dialect="chrono-10")
    assert description.joints[0].kind is JointKind.LOCK
    assert "Chrono 10 makes a LOCK joint of CYLINDRICAL" in description.warnings[0]


def test_an_axis_without_a_meaning_is_warned_about():
    (warning,) = describe(joint("SPHERICAL", axis=[0, 1, 0])).warnings
    assert "joint 'hinge': 'axis' has no effect with type SPHERICAL" in warning


@pytest.mark.parametrize(
    ("type", "keys", "message"),
    [
        ("REVOLUTE", {}, "missing key 'axis'; type REVOLUTE needs it"),
        ("PRISMATIC", {}, "missing key 'axis'; type PRISMATIC needs it"),
        ("CYLINDRICAL", {}, "missing key 'axis'; type CYLINDRICAL needs it"),
        ("UNIVERSAL", {"axis1": [1, 0, 0]}, "missing key 'axis2'; type UNIVERSAL needs it"),
        ("REVOLUTE", {"axis": [0, 0, 0]}, "axis: the axis is zero"),
        ("UNIVERSAL", {"axis1": [1, 0, 0], "axis2": [0, 0, 0]}, "axis2: the axis is zero"),
        ("UNIVERSAL", {"axis1": [1, 0, 0], "axis2": [-2, 0, 0]}, "axis2: axis1 and axis2 are parallel"),
        ("LOCK", {"body2": "rood"}, "body2: there is no body 'rood'"),
        ("LOCK", {"body2": "ground"}, "body2: the element connects body 'ground' with itself"),
        ("LOCK", {"body1": 7}, "body1: there is no body '7'"),
        ("WELD", {}, "type: there is no choice 'WELD'"),
        ("POINT-LINE", {}, "type: there is no choice 'POINT-LINE'"),
    ],
)
@pytest.mark.parametrize("dialect", ["seed", "chrono-10"])
def test_what_no_joint_can_have(type, keys, message, dialect):
    text = joint(type, **keys)
    found = only_error(text, dialect=dialect)
    assert found.message == message
    assert found.element == "joint 'hinge'"
    assert found.line is not None and found.line >= line_of(text, "name: hinge")


def test_suggestions():
    assert only_error(joint("LOCK", body2="Rod")).fix == "did you mean 'rod'?"
    assert only_error(joint("POINT-LINE")).fix == "did you mean 'POINT_LINE'?"
    assert only_error(joint("LOCK", postion=[0, 0, 0])).fix == "did you mean 'location'?"


def test_two_joints_of_one_name():
    hinge = between("hinge", type="LOCK", location=[0, 0, 0])
    found = only_error(model(joints=[hinge, hinge | {"bushing_data": BUSHING}]))
    assert found.message.startswith("the name 'hinge' is taken by another joint in line ")


@pytest.mark.parametrize(
    ("type", "keys", "free"),
    [
        ("LOCK", {}, [False, False, False]),
        ("REVOLUTE", {"axis": [0, 1, 0]}, [False, False, True]),
        ("SPHERICAL", {}, [True, True, True]),
        ("UNIVERSAL", {"axis1": [1, 0, 0], "axis2": [0, 1, 0]}, [True, True, False]),
    ],
)
def test_bushings(type, keys, free):
    for data, stiffness, damping in ((BUSHING, 0, 0), ({**BUSHING, "DOF": DOF}, 7, 0.7)):
        found = bushing(type, data=data, **keys)
        assert found.kind is JointKind[type]
        np.testing.assert_array_equal(found.stiffness_linear, [1000, 1000, 1000])
        np.testing.assert_array_equal(found.damping_linear, [10, 10, 10])
        np.testing.assert_array_equal(found.stiffness_rotational, np.where(free, stiffness, 50))
        np.testing.assert_array_equal(found.damping_rotational, np.where(free, damping, 5))


def test_bushing_frames():
    lock = bushing("LOCK")
    np.testing.assert_array_equal(lock.axis, [0, 0, 1])
    np.testing.assert_array_equal(lock.axis_x, [1, 0, 0])
    revolute = bushing("REVOLUTE", axis=[1, 2, -0.5])
    np.testing.assert_array_equal(revolute.axis, [1, 2, -0.5])
    universal = bushing("UNIVERSAL", axis1=[0, 2, 0], axis2=[0, 1, 1])
    np.testing.assert_array_equal(universal.axis_x, [0, 2, 0])
    np.testing.assert_allclose(universal.axis / np.linalg.norm(universal.axis), [1, 0, 0])


@pytest.mark.parametrize("dialect", ["seed", "chrono-10"])
@pytest.mark.parametrize("type", ["PRISMATIC", "POINT_LINE", "POINT_PLANE"])
def test_types_that_may_not_be_bushings(type, dialect):
    found = only_error(joint(type, axis=[1, 0, 0], bushing_data=BUSHING), dialect=dialect)
    assert found.message == f"bushing_data: a {type} joint may not be a bushing"
    assert found.fix is not None and "LOCK, REVOLUTE, SPHERICAL, UNIVERSAL" in found.fix


def test_a_cylindrical_bushing():
    text = joint("CYLINDRICAL", axis=[1, 0, 0], bushing_data=BUSHING)
    assert only_error(text).message == "bushing_data: a CYLINDRICAL joint may not be a bushing"
    description = describe(text, dialect="chrono-10")
    assert description.bushings[0].kind is JointKind.LOCK
    np.testing.assert_array_equal(description.bushings[0].axis, [0, 0, 1])
    np.testing.assert_array_equal(description.bushings[0].stiffness_rotational, [50, 50, 50])
    assert "Chrono 10 makes a LOCK joint of CYLINDRICAL" in description.warnings[0]


@pytest.mark.parametrize("key", list(BUSHING))
def test_a_bushing_needs_all_four_coefficients(key):
    data = {name: value for name, value in BUSHING.items() if name != key}
    found = only_error(joint("LOCK", bushing_data=data))
    assert found.message == f"bushing_data: missing key '{key}'"


def test_a_bushing_with_a_negative_coefficient():
    found = only_error(joint("LOCK", bushing_data={**BUSHING, "damping_linear": -1}))
    assert found.message == "bushing_data.damping_linear: must be greater than or equal to 0, got -1"


def test_free_coefficients_without_a_meaning_are_warned_about():
    data = {**BUSHING, "DOF": {**DOF, "stiffness_linear": 3}}
    revolute = describe(joint("REVOLUTE", axis=[1, 0, 0], bushing_data=data)).warnings
    assert len(revolute) == 1
    assert "bushing_data.DOF.stiffness_linear: this has no effect" in revolute[0]
    assert len(describe(joint("LOCK", bushing_data=data)).warnings) == 3


def test_numbers_without_a_dot():
    """The same bushing in two spellings of its numbers."""
    spellings = [("7e7", "1e3", "1E5", "5", ".5e3", "+2e-3"), ("7.0e+7", "1000.0", "100000.0", "5.0", "500", "0.002")]
    found = []
    for linear, damping, rotational, rate, free, free_rate in spellings:
        text = f"""
chrono-version: 10.0
model:
  bodies:
    - {{name: ground, fixed: true, location: [0, 0, 0]}}
    - {{name: rod, location: [1, 0, 0], mass: 5, inertia: {{moments: [1, 1, 1]}}}}
  joints:
    - name: soft
      type: SPHERICAL
      body1: ground
      body2: rod
      location: [0, 0, 0]
      bushing_data:
        stiffness_linear: {linear}
        damping_linear: {damping}
        stiffness_rotational: {rotational}
        damping_rotational: {rate}
        DOF: {{stiffness_rotational: {free}, damping_rotational: {free_rate}}}
"""
        found.append(describe(text).bushings[0])
    for key, value in (
        ("stiffness_linear", 7e7),
        ("damping_linear", 1e3),
        ("stiffness_rotational", 500.0),
        ("damping_rotational", 0.002),
    ):
        first, second = getattr(found[0], key), getattr(found[1], key)
        assert first.dtype == second.dtype == np.float64
        np.testing.assert_array_equal(first, [value] * 3)
        np.testing.assert_array_equal(first, second)


def test_a_quoted_word_is_no_number():
    found = only_error(joint("LOCK", bushing_data={**BUSHING, "stiffness_linear": "abc"}))
    assert found.message == "bushing_data.stiffness_linear: needs a number, got 'abc'"


def constraint(type: str, **keys):
    points = {"point1": [0, 0, 0], "point2": [1, 0, 0]}
    return model(constraints=[between("link", type=type) | points | keys])


def test_constraints():
    (distance,) = describe(constraint("distance")).constraints
    assert distance.kind is ConstraintKind.DISTANCE
    np.testing.assert_array_equal(distance.point2 - distance.point1, [1, 0, 0])
    (fork,) = describe(constraint("REVOLUTE-SPHERICAL", axis1=[0, 0, 1])).constraints
    assert fork.kind is ConstraintKind.REVOLUTE_SPHERICAL
    np.testing.assert_array_equal(fork.axis1, [0, 0, 1])
    (slide,) = describe(constraint("Revolute-Translational", axis1=[0, 0, 1], axis2=[0, 1, 0])).constraints
    assert slide.kind is ConstraintKind.REVOLUTE_TRANSLATIONAL
    np.testing.assert_array_equal(slide.axis2, [0, 1, 0])


@pytest.mark.parametrize("type", ["REVOLUTE-SPHERICAL", "REVOLUTE-TRANSLATIONAL"])
def test_chrono_ignores_two_kinds_of_constraints(type):
    description = describe(constraint(type), dialect="chrono-10")
    assert description.constraints == []
    assert f"constraint 'link': type: Chrono 10 ignores {type} constraints" in description.warnings[0]


@pytest.mark.parametrize(
    ("type", "keys", "message"),
    [
        ("DISTANCE", {"point2": [0, 0, 0]}, "point1 and point2 coincide; a distance of zero is a SPHERICAL joint"),
        ("REVOLUTE-SPHERICAL", {}, "missing key 'axis1'; type REVOLUTE-SPHERICAL needs it"),
        ("REVOLUTE-SPHERICAL", {"axis1": [0, 0, 0]}, "axis1: the axis is zero"),
        ("REVOLUTE-TRANSLATIONAL", {"axis1": [0, 0, 1]}, "missing key 'axis2'; type REVOLUTE-TRANSLATIONAL needs it"),
        ("REVOLUTE_SPHERICAL", {}, "type: there is no choice 'REVOLUTE_SPHERICAL'"),
    ],
)
def test_what_no_constraint_can_have(type, keys, message):
    found = only_error(constraint(type, **keys))
    assert (found.element, found.message) == ("constraint 'link'", message)


def test_axes_of_constraints_must_be_perpendicular():
    message = errors(constraint("REVOLUTE-SPHERICAL", axis1=[1, 0, 1]))[0].message
    assert "axis1 and point2 - point1 must be perpendicular; their angle is 45.000 degrees" in message
    message = errors(constraint("REVOLUTE-TRANSLATIONAL", axis1=[0, 0, 1], axis2=[0, 1, 1]))[0].message
    assert "axis1 and axis2 must be perpendicular" in message
