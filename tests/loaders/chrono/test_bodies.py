import numpy as np
import pytest

from jaxmbs.loaders.chrono.rotation import rotate
from tests.loaders.texts import GROUND, body, describe, errors, line_of, model, only_error


def matrix(quat: np.ndarray) -> np.ndarray:
    return np.stack([rotate(quat, axis) for axis in np.eye(3)], axis=1)


def described(dialect: str = "seed", **keys):
    return describe(model(bodies=[GROUND, body(**keys)]), dialect=dialect).bodies[1]


def oriented(orientation, **sections):
    text = model(bodies=[{**GROUND, "orientation": orientation}], **sections)
    return describe(text)


@pytest.mark.parametrize(
    ("orientation", "x_axis"), [([90, 0, 0], [0, 1, 0]), ([0, 90, 0], [0, 0, -1]), ([0, 0, 90], [1, 0, 0])]
)
def test_euler_triple_by_the_x_axis(orientation, x_axis):
    np.testing.assert_allclose(matrix(oriented(orientation).bodies[0].quat)[:, 0], x_axis, atol=1e-15)


def test_euler_triple_is_yaw_pitch_roll():
    rows = [
        [0.66341395, 0.10504046, 0.74084306],
        [0.38302222, 0.80287234, -0.45682599],
        [-0.64278761, 0.58682409, 0.49240388],
    ]
    np.testing.assert_allclose(matrix(oriented([30, 40, 50]).bodies[0].quat), rows, atol=1e-8)


def test_euler_triple_in_radians():
    radians = oriented(np.radians([30, 40, 50]).tolist(), angle_degrees=False)
    np.testing.assert_allclose(radians.bodies[0].quat, oriented([30, 40, 50]).bodies[0].quat, atol=1e-15)


def test_four_numbers_are_a_quaternion_with_the_scalar_first():
    description = oriented([0.5, 0.5, -0.5, 0.5])
    np.testing.assert_array_equal(description.bodies[0].quat, [0.5, 0.5, -0.5, 0.5])
    assert description.warnings == []


def test_a_quaternion_is_normalised_with_a_warning():
    description = oriented([2, 0, 0, 0])
    np.testing.assert_array_equal(description.bodies[0].quat, [1, 0, 0, 0])
    (warning,) = description.warnings
    assert "body 'ground': orientation: the quaternion has the norm 2 and is normalised" in warning
    np.testing.assert_array_equal(oriented([0, 1e90, 0, 0]).bodies[0].quat, [0, 1, 0, 0])


def test_a_zero_quaternion_is_an_error():
    found = only_error(model(bodies=[{**GROUND, "orientation": [0, 0, 0, 0]}]))
    assert (found.element, found.message) == ("body 'ground'", "orientation: this is a zero quaternion")


def test_products_of_inertia_are_tensor_entries():
    found = described(inertia={"moments": [3, 4, 5], "products": [0.1, 0.2, 0.3]})
    np.testing.assert_array_equal(found.inertia, [[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]])


def test_the_com_frame():
    found = described(com={"location": [0.1, 0.2, 0.3], "orientation": [90, 0, 0]})
    np.testing.assert_array_equal(found.com_pos, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(matrix(found.com_quat)[:, 0], [0, 1, 0], atol=1e-15)


VELOCITIES = {
    "orientation": [90, 0, 0],
    "com": {"location": [0.5, 0, 0], "orientation": [0, 0, 90]},
    "initial_linear_velocity": [1, 2, 3],
    "initial_angular_velocity": [0, 0, 4],
}


def test_seed_velocities_are_those_of_the_reference_frame():
    found = described(**VELOCITIES)
    np.testing.assert_array_equal(found.vel, [1, 2, 3])
    np.testing.assert_array_equal(found.omega, [0, 0, 4])


def test_chrono_velocities_are_those_of_the_com_frame():
    found = described("chrono-10", **VELOCITIES)
    # The COM frame is turned by 90 degrees about x, so its z axis is -y of the reference frame.
    np.testing.assert_allclose(found.omega, [0, -4, 0], atol=1e-15)
    # omega x r = (0, -4, 0) x (0.5, 0, 0) = (0, 0, 2) in reference axes, which share z with the world.
    np.testing.assert_allclose(found.vel, [1, 2, 1], atol=1e-15)


def test_angular_velocities_are_in_radians_even_where_angles_are_in_degrees():
    assert described(initial_angular_velocity=[0, 0, 1]).omega[2] == 1.0


def test_a_fixed_body_needs_no_mass_and_does_not_move():
    text = model(bodies=[{**GROUND, "initial_linear_velocity": [1, 0, 0]}])
    description = describe(text)
    assert description.bodies[0].fixed
    np.testing.assert_array_equal(description.bodies[0].vel, [0, 0, 0])
    assert "body 'ground': initial_linear_velocity: a fixed body does not move" in description.warnings[0]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"mass": -1}, "mass: must be greater than or equal to 0, got -1"),
        ({"mass": 0}, "mass: a moving body needs a positive mass"),
        ({"mass": ".inf"}, "mass: needs a finite number, got '.inf'"),
        ({"mass": float("nan")}, "mass: needs a finite number, got '.nan'"),
        ({"mass": "abc"}, "mass: needs a number, got 'abc'"),
        ({"mass": [1]}, "mass: needs a number, got a list of 1"),
        ({"mass": None}, "mass: this key has no value"),
        ({"location": [0, 0]}, "location: needs at least 3 values, got 2"),
        ({"location": [0, 0, 0, 0]}, "location: needs at most 3 values, got 4"),
        ({"location": {"x": 1}}, "location: needs a list, got a mapping"),
        ({"orientation": [0, 0]}, "orientation: needs at least 3 values, got 2"),
        ({"inertia": {"moments": [1, 1, -1]}}, "inertia.moments[2]: must be greater than or equal to 0, got -1"),
        ({"inertia": {"moments": [1, 1, 0]}}, "inertia: no body has this inertia: a principal moment is not positive"),
        ({"inertia": {"moments": [1, 1, 3]}}, "inertia: no body has this inertia: the largest principal moment 3"),
        ({"inertia": {"moments": [1, 1, 1], "products": [2, 0, 0]}}, "inertia: no body has this inertia"),
        ({"inertia": 5}, "inertia: needs a mapping of keys and values, got '5'"),
        ({"fixed": "maybe"}, "fixed: needs true or false, got 'maybe'"),
        ({"com": {"position": [0, 0, 0]}}, "com: unknown key 'position'"),
        ({"name": ""}, "name: needs a text, got ''"),
    ],
)
def test_what_no_body_can_have(keys, message):
    text = model(bodies=[GROUND, body(**keys)])
    found = only_error(text)
    assert found.message.startswith(message)
    assert found.element is not None and found.element.startswith("body ")
    assert found.file == "<text>"
    assert found.line is not None and found.line >= text.splitlines().index("  - name: ground") + 1


@pytest.mark.parametrize("key", ["location", "mass", "inertia", "name"])
def test_a_missing_key(key):
    keys = body()
    del keys[key]
    found = only_error(model(bodies=[keys]))
    assert found.message.startswith(f"missing key '{key}'")
    assert found.fix is not None and found.fix.startswith(f"add '{key}': ")


def test_a_flat_body_is_possible():
    np.testing.assert_array_equal(described(inertia={"moments": [1, 1, 2]}).inertia, np.diag([1.0, 1.0, 2.0]))


def test_two_bodies_of_one_name():
    text = model(bodies=[GROUND, body("a"), body("a")])
    found = only_error(text)
    assert found.message == f"the name 'a' is taken by another body in line {line_of(text, 'name: a')}"
    assert found.element == "body 'a'"
    assert found.line is not None and found.line > line_of(text, "name: a")


def test_defaults_are_listed():
    defaults = describe(model(bodies=[GROUND, body(initial_linear_velocity=[0, 0, 1])])).defaults
    assert "body 'ground': orientation = identity" in defaults
    line = "orientation = identity, initial_angular_velocity = [0, 0, 0], com = reference frame, inertia.products"
    assert f"body 'rod': {line} = [0, 0, 0]" in defaults
    assert defaults[-1] == "gravity = [0, 0, -9.8] (the format's default)"
    assert defaults[0] == "model: name = YAML model, angle_degrees = true"


@pytest.mark.parametrize(("wrong", "right"), [("lin_vel", "linear"), ("ang_vel", "angular")])
def test_short_names_of_velocities(wrong, right):
    (found,) = errors(model(bodies=[GROUND, body("body", **{wrong: [1, 0, 0]})]))
    assert (found.element, found.message) == ("body 'body'", f"unknown key '{wrong}'")
    assert found.fix == f"did you mean 'initial_{right}_velocity'?"


def test_a_model_without_bodies_is_warned_about():
    assert "the model has no bodies" in describe(model(bodies=[])).warnings[0]
