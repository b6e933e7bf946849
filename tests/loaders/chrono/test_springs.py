import numpy as np
import pytest

from tests.loaders.texts import between, describe, model, only_error


CURVE = [[1, 10], [-1, -5], [0, 0]]
SORTED = [[-1, -5], [0, 0], [1, 10]]
MAP = {"deformation": [0, 1], "map_data": [[1, 3, 4], [-1, 1, 2]]}


def tsda(**keys):
    return model(tsdas=[between("spring", point1=[0, 0, 0], point2=[1, 0, 0]) | keys])


def rsda(**keys):
    return model(rsdas=[between("spring", axis=[0, 0, 1]) | keys])


def described_tsda(dialect="seed", **keys):
    return describe(tsda(**keys), dialect=dialect).tsdas[0]


def described_rsda(dialect="seed", **keys):
    return describe(rsda(**keys), dialect=dialect).rsdas[0]


def warned(text, *keys):
    """The warnings of a text in the Chrono dialect are about exactly these keys."""
    warnings = describe(text, dialect="chrono-10").warnings
    assert len(warnings) == len(keys), warnings
    for key, warning in zip(keys, warnings, strict=True):
        assert f"spring': {key}: Chrono 10 ignores this key here" in warning


@pytest.mark.parametrize("dialect", ["seed", "chrono-10"])
def test_a_linear_spring_and_damper(dialect):
    keys = {"spring_coefficient": 50, "damping_coefficient": 5, "free_length": 0.8, "preload": 3}
    found = described_tsda(dialect, **keys, minimum_length=0.5, maximum_length=1.5)
    assert (found.stiffness, found.damping, found.free_length, found.preload) == (50.0, 5.0, 0.8, 3.0)
    assert (found.minimum_length, found.maximum_length) == (0.5, 1.5)
    np.testing.assert_array_equal(found.point2, [1, 0, 0])


@pytest.mark.parametrize("dialect", ["seed", "chrono-10"])
def test_a_degressive_damper(dialect):
    keys = {"damping_coefficient": 5, "degressivity_compression": 0.1, "degressivity_expansion": 0.2}
    found = described_tsda(dialect, **keys)
    assert (found.damping, found.degressivity_compression, found.degressivity_expansion) == (5.0, 0.1, 0.2)


@pytest.mark.parametrize("missing", ["damping_coefficient", "degressivity_compression", "degressivity_expansion"])
def test_a_degressive_damper_needs_all_three_coefficients(missing):
    keys = {"damping_coefficient": 5, "degressivity_compression": 0.1, "degressivity_expansion": 0.2}
    del keys[missing]
    found = only_error(tsda(**keys))
    assert found.message.startswith(f"missing key '{missing}'")
    assert described_tsda("chrono-10", **keys).degressivity_compression == 0.0


def test_a_degressive_damper_beside_a_spring():
    keys = {"spring_coefficient": 50, "free_length": 1, "damping_coefficient": 5}
    text = tsda(**keys, degressivity_compression=0.1, degressivity_expansion=0.2)
    description = describe(text)
    assert description.tsdas[0].degressivity_expansion == 0.2
    assert "the damper is degressive here" in description.warnings[0]
    assert describe(text, dialect="chrono-10").tsdas[0].degressivity_expansion == 0.0
    warned(text, "degressivity_compression", "degressivity_expansion")


@pytest.mark.parametrize("dialect", ["seed", "chrono-10"])
def test_curves_are_sorted(dialect):
    found = described_tsda(dialect, free_length=1, spring_curve_data=CURVE, damping_curve_data=CURVE, preload=1)
    np.testing.assert_array_equal(found.spring_curve, SORTED)
    np.testing.assert_array_equal(found.damping_curve, SORTED)
    assert (found.stiffness, found.damping, found.preload) == (0.0, 0.0, 1.0)


def test_a_linear_spring_beside_a_damping_curve():
    text = tsda(free_length=1, spring_coefficient=50, damping_curve_data=CURVE, preload=2)
    seed = describe(text).tsdas[0]
    assert (seed.stiffness, seed.preload, seed.free_length) == (50.0, 2.0, 1.0)
    np.testing.assert_array_equal(seed.damping_curve, SORTED)
    chrono = describe(text, dialect="chrono-10").tsdas[0]
    assert (chrono.stiffness, chrono.preload) == (0.0, 0.0)
    np.testing.assert_array_equal(chrono.damping_curve, SORTED)
    assert len(describe(text, dialect="chrono-10").warnings) == 3


def test_a_spring_curve_beside_a_linear_damper():
    text = tsda(free_length=1, damping_coefficient=5, spring_curve_data=CURVE)
    assert describe(text).tsdas[0].damping == 5.0
    assert describe(text, dialect="chrono-10").tsdas[0].damping == 0.0
    warned(text, "damping_coefficient")


def test_the_preload_of_a_damper():
    text = tsda(damping_coefficient=5, preload=2)
    assert describe(text).tsdas[0].preload == 2.0
    assert describe(text, dialect="chrono-10").tsdas[0].preload == 0.0
    warned(text, "preload")


def test_a_map():
    for dialect in ("seed", "chrono-10"):
        found = described_tsda(dialect, **MAP, preload=2)
        np.testing.assert_array_equal(found.map_deformation, [0, 1])
        np.testing.assert_array_equal(found.map_velocity, [-1, 1])
        np.testing.assert_array_equal(found.map_force, [[1, 2], [3, 4]])
        assert (found.free_length, found.preload) == (0.0, 2.0)
    assert "tsda 'spring': free_length = 0" in describe(tsda(**MAP, preload=2)).defaults


def test_the_free_length_of_a_map():
    text = tsda(**MAP, free_length=0.7)
    assert describe(text).tsdas[0].free_length == 0.7
    assert describe(text, dialect="chrono-10").tsdas[0].free_length == 0.0
    warned(text, "free_length")


def test_stops_and_maps():
    text = tsda(**MAP, minimum_length=0.5, maximum_length=2)
    seed = describe(text).tsdas[0]
    assert (seed.minimum_length, seed.maximum_length) == (0.5, 2.0)
    chrono = describe(text, dialect="chrono-10").tsdas[0]
    assert (chrono.minimum_length, chrono.maximum_length) == (None, None)
    warned(text, "minimum_length", "maximum_length")


@pytest.mark.parametrize("key", ["minimum_length", "maximum_length"])
def test_one_stop_alone(key):
    text = tsda(spring_coefficient=1, free_length=1, **{key: 1.2})
    assert getattr(describe(text).tsdas[0], key) == 1.2
    assert getattr(describe(text, dialect="chrono-10").tsdas[0], key) is None
    warned(text, key)


def test_stops_of_a_damper():
    text = tsda(damping_coefficient=1, minimum_length=0.5, maximum_length=2)
    assert describe(text).tsdas[0].minimum_length == 0.5
    assert describe(text, dialect="chrono-10").tsdas[0].minimum_length is None


def test_a_map_before_everything_else_in_chrono():
    text = tsda(**MAP, spring_coefficient=50, free_length=0.5, damping_curve_data=CURVE)
    seed = describe(text).tsdas[0]
    assert seed.stiffness == 50.0 and seed.damping_curve is not None and seed.map_force is not None
    chrono = describe(text, dialect="chrono-10").tsdas[0]
    assert chrono.stiffness == 0.0 and chrono.damping_curve is None and chrono.map_force is not None


def test_an_element_without_a_force_is_warned_about():
    assert "tsda 'spring': the element has no force" in describe(tsda(free_length=1)).warnings[0]
    assert "rsda 'spring': the element has no force" in describe(rsda(free_angle=1)).warnings[0]


def test_the_type_key_of_real_files():
    description = describe(tsda(type="TSDA", spring_coefficient=1, free_length=1))
    assert "tsda 'spring': 'type' has no effect" in description.warnings[0]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"spring_coefficient": 1}, "missing key 'free_length'; 'spring_coefficient' needs it"),
        ({"spring_curve_data": CURVE}, "missing key 'free_length'; 'spring_curve_data' needs it"),
        ({"map_data": MAP["map_data"]}, "missing key 'deformation'; 'map_data' needs it"),
        ({"deformation": [0, 1]}, "missing key 'map_data'; 'deformation' needs it"),
        ({"deformation": [0, 1], "map_data": [[0, 1, 2], [1, 2]]}, "map_data[1]: the row needs 3 numbers, got 2"),
        ({"deformation": [1, 0], "map_data": MAP["map_data"]}, "the map needs at least two increasing deformations"),
        ({"deformation": [0, 1], "map_data": [[0, 1, 2]]}, "the map needs at least two velocities"),
        ({"damping_curve_data": [[0, 1], [0, 2]]}, "damping_curve: the abscissa 0 is given twice in a table"),
        ({"damping_curve_data": [[0, 1], [1]]}, "damping_curve_data[1]: needs at least 2 values, got 1"),
        ({"damping_curve_data": []}, "damping_curve_data: needs at least 1 values, got 0"),
        ({"damping_curve_data": [[0, "x"]]}, "damping_curve_data[0][1]: needs a number, got 'x'"),
        ({"damping_coefficient": 1, "point2": [0, 0, 0]}, "point2: point1 and point2 coincide"),
        (
            {"damping_coefficient": 1, "minimum_length": 2, "maximum_length": 1},
            "minimum_length exceeds maximum_length",
        ),
        (
            {"damping_coefficient": 1, "visualization": {"type": "COIL"}},
            "visualization.type: there is no choice 'COIL'",
        ),
    ],
)
def test_what_no_tsda_can_have(keys, message):
    found = only_error(tsda(**keys))
    assert found.element == "tsda 'spring'"
    assert found.message.startswith(message)
    assert found.line is not None


def test_a_linear_torsion_spring():
    found = described_rsda(spring_coefficient=10, damping_coefficient=2, free_angle=90, preload=3, location=[1, 2, 3])
    assert (found.stiffness, found.damping, found.preload) == (10.0, 2.0, 3.0)
    assert found.free_angle == pytest.approx(np.pi / 2, abs=1e-15)
    np.testing.assert_array_equal(found.pos, [1, 2, 3])
    np.testing.assert_array_equal(found.axis, [0, 0, 1])


def test_only_the_free_angle_follows_angle_degrees():
    keys = {"spring_coefficient": 10, "free_angle": 2, "spring_curve_data": CURVE}
    text = model(angle_degrees=False, rsdas=[between("spring", axis=[0, 0, 1], **keys)])
    found = describe(text).rsdas[0]
    assert found.free_angle == 2.0
    degrees = described_rsda(**keys)
    assert degrees.free_angle == np.radians(2.0)
    assert (degrees.stiffness, found.stiffness) == (10.0, 10.0)
    np.testing.assert_array_equal(degrees.spring_curve, SORTED)


def test_torsion_dampers_in_chrono_have_no_preload():
    text = rsda(damping_coefficient=2, preload=3)
    assert describe(text).rsdas[0].preload == 3.0
    assert describe(text, dialect="chrono-10").rsdas[0].preload == 0.0
    warned(text, "preload")


def test_torsion_curves_in_chrono_replace_coefficients():
    text = rsda(spring_coefficient=10, free_angle=0, damping_curve_data=CURVE)
    seed = describe(text).rsdas[0]
    assert seed.stiffness == 10.0 and seed.damping_curve is not None
    assert describe(text, dialect="chrono-10").rsdas[0].stiffness == 0.0
    warned(text, "spring_coefficient")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"spring_coefficient": 1}, "missing key 'free_angle'; 'spring_coefficient' needs it"),
        ({"damping_coefficient": 1, "axis": [0, 0, 0]}, "axis: the axis is zero"),
        ({"damping_coefficient": 1, "body1": "x"}, "body1: there is no body 'x'"),
    ],
)
def test_what_no_rsda_can_have(keys, message):
    found = only_error(rsda(**keys))
    assert (found.element, found.message) == ("rsda 'spring'", message)


def test_two_springs_of_one_name():
    spring = between("s", point1=[0, 0, 0], point2=[1, 0, 0], damping_coefficient=1)
    assert "is taken by another tsda" in only_error(model(tsdas=[spring, spring])).message
    spring = between("s", axis=[0, 0, 1], damping_coefficient=1)
    assert "is taken by another rsda" in only_error(model(rsdas=[spring, spring])).message
