import numpy as np
import pytest

from jaxmbs._description import Actuation, FunctionKind, Guide, LoadKind, MotorKind
from tests.loaders.texts import GROUND, between, body, describe, model, only_error


CONSTANT = {"type": "CONSTANT", "value": 3}


def motor(**keys):
    defaults = {
        "type": "ROTATION",
        "location": [1, 2, 3],
        "axis": [0, 0, 2],
        "actuation_type": "SPEED",
        "actuation_function": CONSTANT,
    }
    return model(motors=[between("drive") | defaults | keys])


def function(dialect="seed", degrees=True, **keys):
    drive = between("drive", type="LINEAR", location=[0, 0, 0], axis=[1, 0, 0], actuation_type="POSITION")
    text = model(angle_degrees=degrees, motors=[drive | {"actuation_function": keys}])
    return describe(text, dialect=dialect).motors[0].function


@pytest.mark.parametrize("dialect", ["seed", "chrono-10"])
@pytest.mark.parametrize("actuation", ["POSITION", "SPEED", "FORCE"])
@pytest.mark.parametrize(
    ("type", "key", "guide"),
    [
        ("LINEAR", None, "PRISMATIC"),
        ("LINEAR", "guide", "PRISMATIC"),
        ("LINEAR", "guide", "SPHERICAL"),
        ("LINEAR", "guide", "FREE"),
        ("ROTATION", None, "REVOLUTE"),
        ("ROTATION", "spindle", "REVOLUTE"),
        ("ROTATION", "spindle", "CYLINDRICAL"),
        ("ROTATION", "spindle", "FREE"),
    ],
)
def test_motors(type, key, guide, actuation, dialect):
    keys = {} if key is None else {key: guide.lower()}
    (found,) = describe(motor(type=type, actuation_type=actuation, **keys), dialect=dialect).motors
    assert found.kind is MotorKind[type]
    assert found.actuation is Actuation[actuation]
    assert found.guide is Guide[guide]
    # Both sides state the motion of body1 relative to body2, so the order of the bodies stays.
    assert (found.body1, found.body2) == ("ground", "rod")
    np.testing.assert_array_equal(found.pos, [1, 2, 3])
    np.testing.assert_array_equal(found.axis, [0, 0, 2])
    assert found.function.coefficients == (3.0,)


def test_the_default_guide_is_listed():
    assert "motor 'drive': spindle = REVOLUTE" in describe(motor()).defaults
    assert "motor 'drive': guide = PRISMATIC" in describe(motor(type="LINEAR")).defaults


def test_a_guide_of_the_other_kind_is_warned_about():
    (warning,) = describe(motor(guide="FREE")).warnings
    assert "motor 'drive': 'guide' has no effect with type ROTATION" in warning


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"actuation_type": "VELOCITY"}, "actuation_type: there is no choice 'VELOCITY'"),
        ({"axis": [0, 0, 0]}, "axis: the axis is zero"),
        ({"body1": "rod"}, "body2: the element connects body 'rod' with itself"),
        ({"spindle": "BALL"}, "spindle: there is no choice 'BALL'"),
        ({"actuation_function": 3}, "actuation_function: needs a mapping of keys and values, got '3'"),
        ({"actuation_function": {"type": "STEP"}}, "actuation_function.type: there is no choice 'STEP'"),
        (
            {"actuation_function": {"type": "CONSTANT"}},
            "actuation_function: missing key 'value'; type CONSTANT needs it",
        ),
        (
            {"actuation_function": {"type": "DATA", "data": [[0, 1], [0, 2]]}},
            "the abscissa 0 is given twice in a table",
        ),
    ],
)
def test_what_no_motor_can_have(keys, message):
    found = only_error(motor(**keys))
    assert (found.element, found.message) == ("motor 'drive'", message)


@pytest.mark.parametrize(
    ("keys", "kind", "coefficients"),
    [
        ({"type": "constant", "value": "1e-1"}, FunctionKind.CONSTANT, (0.1,)),
        ({"type": "POLYNOMIAL", "coefficients": [1, 2, 3]}, FunctionKind.POLYNOMIAL, (1.0, 2.0, 3.0)),
        ({"type": "SINE", "amplitude": 2, "frequency": 3}, FunctionKind.SINE, (2.0, 3.0, 0.0, 0.0)),
        ({"type": "RAMP", "slope": 2}, FunctionKind.RAMP, (2.0, 0.0)),
        ({"type": "RAMP", "slope": 2, "intercept": 5}, FunctionKind.RAMP, (2.0, 5.0)),
    ],
)
def test_functions(keys, kind, coefficients):
    found = function(**keys)
    assert found.kind is kind
    assert found.coefficients == coefficients
    assert found.repeat is None


def test_the_phase_of_a_sine_follows_angle_degrees():
    keys = {"type": "SINE", "amplitude": 2, "frequency": 3, "phase": 90, "shift": 0.5}
    assert function(**keys).coefficients == (2.0, 3.0, np.pi / 2, 0.5)
    assert function(degrees=False, **keys).coefficients == (2.0, 3.0, 90.0, 0.5)


def test_the_defaults_of_a_sine_are_listed():
    text = motor(actuation_function={"type": "SINE", "amplitude": 2, "frequency": 3})
    line = "motor 'drive': actuation_function.phase = 0, actuation_function.shift = 0"
    assert line in describe(text).defaults


def test_values_of_functions_are_in_radians():
    assert function(type="CONSTANT", value=90).coefficients == (90.0,)


def test_data_is_sorted():
    found = function(type="DATA", data=[[1, 5], [0, 0], [2, 2.5]])
    assert found.kind is FunctionKind.DATA and found.table is not None
    np.testing.assert_array_equal(found.table, [[0, 0], [1, 5], [2, 2.5]])


def test_a_controller_is_named_after_its_motor():
    found = function(type="CONTROLLER")
    assert (found.kind, found.input) == (FunctionKind.CONTROLLER, "drive")


@pytest.mark.parametrize(("dialect", "truncated"), [("seed", False), ("chrono-10", True)])
def test_repeat(dialect, truncated):
    repeat = function(dialect, **CONSTANT, repeat={"start": 1, "width": 2, "shift": 3}).repeat
    assert repeat is not None
    assert (repeat.start, repeat.width, repeat.shift, repeat.truncated) == (1.0, 2.0, 3.0, truncated)


@pytest.mark.parametrize(
    ("repeat", "message"),
    [
        ({"start": 0, "shift": 0}, "actuation_function.repeat: missing key 'width'"),
        ({"start": 0, "shift": 0, "width": 0}, "actuation_function.repeat.width: must be greater than 0, got 0"),
    ],
)
def test_what_no_repeat_can_have(repeat, message):
    assert only_error(motor(actuation_function={**CONSTANT, "repeat": repeat})).message == message


COM = {"location": [0.5, 0, 0], "orientation": [90, 0, 0]}


def load(section="body_loads", **keys):
    defaults = {"name": "push", "type": "FORCE", "body": "rod", "load": [1, 2, 3]}
    return model(bodies=[GROUND, body(com=COM)], **{section: [defaults | keys]})


def test_a_force_in_the_seed_dialect():
    (found,) = describe(load(point=[0.1, 0.2, 0.3])).loads
    assert (found.kind, found.body, found.local_load, found.local_point) == (LoadKind.FORCE, "rod", True, True)
    np.testing.assert_array_equal(found.load, [1, 2, 3])
    np.testing.assert_array_equal(found.point, [0.1, 0.2, 0.3])
    assert found.modulation is None and found.input is None


def test_the_defaults_of_a_force():
    description = describe(load())
    assert (description.loads[0].local_load, description.loads[0].local_point) == (True, True)
    np.testing.assert_array_equal(description.loads[0].point, [0, 0, 0])
    assert "body load 'push': local_load = true, point = [0, 0, 0], local_point = true" in description.defaults


def test_local_is_the_com_frame_in_chrono():
    (found,) = describe(load(point=[0.1, 0.2, 0.3], local_point=True), dialect="chrono-10").loads
    # The COM frame is turned by 90 degrees about z: (x, y) becomes (-y, x).
    np.testing.assert_allclose(found.load, [-2, 1, 3], atol=1e-15)
    np.testing.assert_allclose(found.point, [0.5 - 0.2, 0.1, 0.3], atol=1e-15)


def test_global_loads_are_the_same_in_both_dialects():
    text = load(point=[0.1, 0.2, 0.3], local_point=False, local_load=False)
    for dialect in ("seed", "chrono-10"):
        (found,) = describe(text, dialect=dialect).loads
        np.testing.assert_array_equal(found.load, [1, 2, 3])
        np.testing.assert_array_equal(found.point, [0.1, 0.2, 0.3])
        assert not found.local_load and not found.local_point


@pytest.mark.parametrize("section", ["body_loads", "load_controllers"])
@pytest.mark.parametrize("key", ["point", "local_point"])
def test_chrono_needs_the_point_of_a_force(section, key):
    keys = {"point": [0, 0, 0], "local_point": True}
    del keys[key]
    found = only_error(load(section, load=[0, 0, 0], **keys), dialect="chrono-10")
    assert found.message == f"missing key '{key}'; Chrono 10 needs it for a FORCE"
    describe(load(section, load=[0, 0, 0], type="TORQUE"), dialect="chrono-10")


def test_a_torque():
    description = describe(load(type="torque", local_load=False))
    assert description.loads[0].kind is LoadKind.TORQUE
    np.testing.assert_array_equal(
        describe(load(type="TORQUE"), dialect="chrono-10").loads[0].load.round(12), [-2, 1, 3]
    )
    assert "'point' has no effect with type TORQUE" in describe(load(type="TORQUE", point=[1, 0, 0])).warnings[0]


def test_modulation():
    (found,) = describe(load(modulation_function={"type": "RAMP", "slope": 2, "intercept": 1})).loads
    assert found.modulation is not None and found.modulation.coefficients == (2.0, 1.0)
    (found,) = describe(load(modulation_function={"type": "CONTROLLER"})).loads
    assert found.modulation is not None and found.modulation.input == "push"


def test_a_load_controller():
    text = model(load_controllers=[{"name": "thrust", "type": "FORCE", "body": "rod"}])
    (found,) = describe(text).loads
    assert (found.name, found.input) == ("thrust", "thrust")
    np.testing.assert_array_equal(found.load, [0, 0, 0])


def test_the_load_of_a_controller_is_warned_about():
    assert "load controller 'push': load: this has no effect" in describe(load("load_controllers")).warnings[0]


def test_a_controller_in_com_axes_is_warned_about():
    text = load("load_controllers", load=[0, 0, 0], point=[0, 0, 0], local_point=True)
    (warning,) = describe(text, dialect="chrono-10").warnings
    assert "the controller's load is given in reference axes" in warning


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"body": "rood"}, "body: there is no body 'rood'"),
        ({"load": [1, 2]}, "load: needs at least 3 values, got 2"),
        ({"type": "PUSH"}, "type: there is no choice 'PUSH'"),
        ({"modulation": {}}, "unknown key 'modulation'"),
    ],
)
def test_what_no_load_can_have(keys, message):
    found = only_error(load(**keys))
    assert (found.element, found.message) == ("body load 'push'", message)


def test_a_load_is_needed():
    text = model(body_loads=[{"name": "push", "type": "FORCE", "body": "rod"}])
    assert only_error(text).message == "missing key 'load'"


def test_names_that_are_taken():
    push = {"name": "push", "type": "TORQUE", "body": "rod", "load": [0, 0, 1]}
    thrust = {"name": "push", "type": "TORQUE", "body": "rod"}
    assert "taken by another body load" in only_error(model(body_loads=[push, push])).message
    assert "taken by another load controller" in only_error(model(load_controllers=[thrust, thrust])).message
    both = only_error(model(body_loads=[push], load_controllers=[thrust]))
    assert both.message == "there are two loads of the name 'push'"
    drive = between("push", type="ROTATION", location=[0, 0, 0], axis=[0, 0, 1], actuation_type="FORCE")
    drive["actuation_function"] = {"type": "CONTROLLER"}
    clash = only_error(model(motors=[drive], load_controllers=[thrust]))
    assert clash.message == "the external value 'push' would also be that of motor 'push'"
    assert "taken by another motor" in only_error(model(motors=[drive, drive])).message
