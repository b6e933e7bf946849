"""Arguments that make no sense: every error names the argument, what it is and what is needed."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmbs as mbs
from jaxmbs import FunctionDescription, ModelError
from jaxmbs.solvers import RungeKutta


@functools.cache
def hinged() -> mbs.Model:
    """A pendulum on a hinge with a spring, pushed by the external load `push`."""
    description = mbs.ModelDescription()
    description.add_body("ground", fixed=True)
    description.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), pos=(0.0, 0.0, -1.0))
    description.add_joint("hinge", mbs.JointKind.REVOLUTE, "ground", "bob", pos=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    description.add_rsda("spring", "ground", "bob", axis=(0.0, 1.0, 0.0))
    description.add_load("push", mbs.LoadKind.FORCE, "bob", input="push")
    return mbs.compile_model(description)


@functools.cache
def state() -> mbs.State:
    return mbs.initial_state(hinged())


def changed(**leaves: Any) -> mbs.State:
    return dataclasses.replace(state(), **leaves)


# ---- states

STATES: dict[str, tuple[Callable[[], Any], str]] = {
    "shape": (
        lambda: changed(pos=jnp.zeros((3, 3))),
        r"state.pos has the shape \(3, 3\), but needs \(2, 3\) after",
    ),
    "axes": (lambda: changed(quat=jnp.zeros(4)), r"state.quat has the shape \(4,\), but needs \(2, 4\)"),
    "work": (lambda: changed(work=jnp.zeros((3, 1))), r"state.work has the shape \(3, 1\), but needs \(3,\)"),
    "dtype": (
        lambda: jax.tree.map(lambda leaf: leaf.astype("float32"), state()),
        r"state.pos has the dtype float32, but needs float64.*; state.aux\[0\] \(FrameJoint\) has the dtype float32",
    ),
    "no aux": (lambda: changed(aux=()), r"state.aux has 0 arrays, but needs 3: FrameJoint \(1, 2\), Rsda \(1, 1\), B"),
    "aux": (
        lambda: changed(aux=(*state().aux[:1], jnp.zeros((2, 1)), state().aux[2])),
        r"state.aux\[1\] \(Rsda\) has the shape \(2, 1\), but needs \(1, 1\)",
    ),
    "list": (lambda: changed(vel=[[0.0, 0.0, 0.0]] * 2), r"state.vel is a list, but needs an array of shape \(2, 3\)"),
    "nan": (
        lambda: changed(omega=state().omega.at[1, 2].set(jnp.nan)),
        r"state.omega has numbers that are not finite, the first at \[1, 2\]",
    ),
    "quat": (lambda: changed(quat=state().quat.at[1].set(0.0)), "state.quat is zero for body 'bob'"),
}


@pytest.mark.parametrize("case", STATES)
def test_states_that_do_not_fit(case: str) -> None:
    make, message = STATES[case]
    with pytest.raises(ValueError, match=message):
        mbs.simulate(hinged(), t1=1.0, dt=0.1, state=make())
    with pytest.raises(ValueError, match=message):
        mbs.assemble_state(hinged(), make())


def test_a_state_of_another_type_or_of_numpy_arrays() -> None:
    with pytest.raises(TypeError, match=r"state needs a jaxmbs.State, .*, got dict"):
        mbs.assemble_state(hinged(), {})  # pyright: ignore[reportArgumentType]
    got, gap = mbs.assemble_state(hinged(), jax.tree.map(np.asarray, state()))
    np.testing.assert_array_equal(got.pos, state().pos)
    assert float(gap) < 1e-15  # rounding


# ---- arguments of simulate


def raising(t: Any, state: Any) -> Any:
    raise RuntimeError("no wind today")


def none(t: Any, state: Any) -> Any:
    return None


def two(t: Any, state: Any) -> Any:
    return jnp.zeros(2)


ARGUMENTS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "integrator": ({"integrator": "tsit5"}, TypeError, r"RungeKutta\('tsit5'\), got 'tsit5'; its methods are tsit5, "),
    "class": ({"integrator": RungeKutta}, TypeError, "integrator needs an object like"),
    "adjoint": ({"adjoint": "forward"}, TypeError, r"adjoint needs an object like diffrax.ForwardMode\(\)"),
    "meter": ({"progress_meter": True}, TypeError, "progress_meter needs an object like"),
    "inputs": ({"inputs": [1.0]}, TypeError, "inputs needs a mapping from names to values, got list"),
    "t1": ({"t1": np.array([1.0])}, ValueError, r"t1 needs one number, got an array of shape \(1,\); all instances"),
    "t1 text": ({"t1": "1 s"}, ValueError, "t1 needs one number in seconds, got '1 s'"),
    "t0": ({"t0": np.zeros(2)}, ValueError, r"t0 needs one number, got an array of shape \(2,\)"),
    "dt": ({"dt": np.zeros(2)}, ValueError, r"dt needs one number, got an array of shape \(2,\)"),
    "dt nan": ({"dt": np.nan}, ValueError, "the step dt = nan must be positive"),
    "dt negative": ({"dt": -0.1}, ValueError, "the step dt = -0.1 must be positive"),
    "dt zero": ({"dt": 0.0}, ValueError, "the step dt = 0.0 must be positive"),
    "dt tiny": ({"dt": 1e-300}, ValueError, r"\(t1 - t0\)/dt asks for \d+ steps; is dt = 1e-300 in seconds\?"),
    "save_dt nan": ({"save_dt": np.nan}, ValueError, "save_dt = nan must be positive"),
    "save_dt zero": ({"save_dt": 0.0}, ValueError, "save_dt = 0.0 must be positive"),
    "save_dt text": ({"save_dt": "x"}, ValueError, "save_dt needs one number in seconds, got 'x'"),
    # 13 numbers for each of 2 bodies, 3 of work, 2 for the hinge and 1 for the spring, of 8 bytes
    "save_dt tiny": (
        {"save_dt": 1e-12},
        ValueError,
        r"save_dt = 1e-12 asks for 1000000000001 rows of states, 2.56e\+14 bytes in all",
    ),
    "save_at order": ({"save_at": [0.0, 0.5, 0.4]}, ValueError, "must increase, but 0.5 precedes 0.4"),
    "save_at text": ({"save_at": "every"}, ValueError, "save_at needs a list of finite times, got 'every'"),
    "save_at twice": (
        {"save_at": [0.0, 0.3, 0.3 + 1e-11]},
        ValueError,
        r"the save times .*0.3.* and .*0.3.*, rows 1 and 2, cannot be told apart in float64",
    ),
    "raises": ({"inputs": {"push": raising}}, ValueError, r"input 'push' failed when .*RuntimeError: no wind today"),
    "none": ({"inputs": {"push": none}}, ValueError, "input 'push' "),
    "shape": ({"inputs": {"push": two}}, ValueError, r"input 'push' must return 3 number\(s\), got shape \(2,\)"),
    "samples": ({"inputs": {"push": ("a", "b")}}, ValueError, "input 'push' needs times and values that are numbers"),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_arguments_that_make_no_sense(case: str) -> None:
    arguments, kind, message = ARGUMENTS[case]
    with pytest.raises(kind, match=message):
        mbs.simulate(hinged(), **{"t1": 1.0, "dt": 0.1, **arguments})


def test_a_model_that_is_not_compiled() -> None:
    with pytest.raises(TypeError, match="model needs a jaxmbs.Model, got ModelDescription; .*compile_model"):
        mbs.simulate(mbs.ModelDescription(), t1=1.0, dt=0.1)  # pyright: ignore[reportArgumentType]


def test_models_that_do_not_stack() -> None:
    with pytest.raises(ValueError, match=r"one batch shape, got \(\) and \(3,\); bring the others to it with jaxmbs.b"):
        mbs.stack([hinged(), mbs.broadcast(hinged(), 3)])
    with pytest.raises(TypeError, match="stack needs a list of compiled models, got str"):
        mbs.stack(["model"])  # pyright: ignore[reportArgumentType]
    single = jax.tree.map(lambda leaf: leaf.astype("float32"), hinged())
    with pytest.raises(ValueError, match="one dtype, got float64 and float32"):
        mbs.stack([hinged(), single])
    with pytest.raises(TypeError, match="broadcast needs a number of copies, got 2.5"):
        mbs.broadcast(hinged(), 2.5)  # pyright: ignore[reportArgumentType]
    assert mbs.stack([mbs.broadcast(hinged(), 3)] * 2).batch_shape == (2, 3)


# ---- descriptions


def pair() -> mbs.ModelDescription:
    description = mbs.ModelDescription()
    description.add_body("a", mass=1.0, inertia=(1.0, 1.0, 1.0))
    description.add_body("b", mass=1.0, inertia=(1.0, 1.0, 1.0))
    return description


X, O = (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)
NUMBER = FunctionDescription.constant(1.0)
DESCRIPTIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "kind": (
        lambda d: d.add_joint("j", "revolut", "a", "b", pos=O, axis=X),
        "joint 'j': kind needs a jaxmbs.JointKind, got 'revolut'; did you mean JointKind.REVOLUTE",
    ),
    "far kind": (lambda d: d.add_joint("j", 3, "a", "b", pos=O), "got 3; it is one of LOCK, REVOLUTE, "),
    "constraint": (
        lambda d: d.add_constraint("c", "revolute-spherical", "a", "b", point1=O, point2=X),
        "did you mean ConstraintKind.REVOLUTE_SPHERICAL",
    ),
    "load": (lambda d: d.add_load("l", "force", "a"), "did you mean LoadKind.FORCE"),
    "motor": (
        lambda d: d.add_motor("m", "linear", "a", "b", pos=O, axis=X, actuation=mbs.Actuation.SPEED, function=NUMBER),
        "motor 'm': kind needs a jaxmbs.MotorKind, got 'linear'",
    ),
    "actuation": (
        lambda d: d.add_motor("m", mbs.MotorKind.LINEAR, "a", "b", pos=O, axis=X, actuation="x", function=NUMBER),
        "motor 'm': actuation needs a jaxmbs.Actuation, got 'x'; it is one of POSITION, SPEED, FORCE",
    ),
    "function": (
        lambda d: d.add_motor(
            "m", mbs.MotorKind.LINEAR, "a", "b", pos=O, axis=X, actuation=mbs.Actuation.SPEED, function=1.0
        ),
        r"motor 'm': function needs a FunctionDescription, as FunctionDescription.constant\(1.0\); got 1.0",
    ),
    "name": (
        lambda d: d.add_body(7, fixed=True),
        "name of one of the bodies needs a text that is not empty, got 7",
    ),
    "no name": (lambda d: d.add_load("", mbs.LoadKind.FORCE, "a"), "name of one of the loads needs a text"),
    "body": (lambda d: d.add_rsda("r", 0, "b", axis=X), "rsda 'r': the name of a body needs a text .*got 0"),
    "mass": (lambda d: d.add_body("c", mass="2 kg", inertia=X), "body 'c': mass needs numbers, got '2 kg'"),
    "vector": (lambda d: d.add_rsda("r", "a", "b", axis=("x", 0, 0)), "rsda 'r': axis needs numbers"),
    "stop": (
        lambda d: d.add_tsda("t", "a", "b", point1=O, point2=X, minimum_length=np.nan),
        "tsda 't': minimum_length needs a number, got nan",
    ),
    "other stop": (
        lambda d: d.add_tsda("t", "a", "b", point1=O, point2=X, maximum_length="far"),
        "tsda 't': maximum_length needs a number, got 'far'",
    ),
    "free length": (
        lambda d: d.add_tsda("t", "a", "b", point1=O, point2=X, free_length=np.nan),
        "tsda 't': free_length needs finite numbers, got nan",
    ),
    "map": (
        lambda d: d.add_tsda(
            "t", "a", "b", point1=O, point2=X, map_deformation=[0.0, np.nan], map_data=[[0.0, 1.0, 2.0]] * 2
        ),
        "tsda 't': map_deformation needs finite numbers",
    ),
    "quat": (lambda d: d.add_body("c", fixed=True, quat=(0.0,) * 4), "body 'c': quat is a zero quaternion"),
}


@pytest.mark.parametrize("case", DESCRIPTIONS)
def test_elements_that_make_no_sense(case: str) -> None:
    add, message = DESCRIPTIONS[case]
    with pytest.raises(ModelError, match=message):
        add(pair())


FUNCTIONS: dict[str, tuple[Callable[[], Any], str]] = {
    "nan": (lambda: FunctionDescription.constant(np.nan), "a CONSTANT function: coefficients needs finite numbers"),
    "inf": (lambda: FunctionDescription.ramp(1.0, np.inf), "a RAMP function: coefficients needs finite numbers"),
    "sine": (lambda: FunctionDescription.sine(1.0, np.nan), "a SINE function: coefficients needs finite numbers"),
    "text": (lambda: FunctionDescription.constant("x"), "a CONSTANT function: coefficients needs numbers"),  # pyright: ignore[reportArgumentType]
    "empty": (lambda: FunctionDescription.polynomial([]), "a POLYNOMIAL function needs at least one coefficient"),
    "polynomial": (lambda: FunctionDescription.polynomial([1.0, np.nan]), "a POLYNOMIAL function: coefficients needs"),
    "count": (
        lambda: FunctionDescription(FunctionDescription.sine(1.0, 1.0).kind, (1.0, 2.0)),
        r"a SINE function needs 4 coefficient\(s\), got \(1.0, 2.0\)",
    ),
    "no table": (lambda: FunctionDescription(FunctionDescription.data([[0, 1]]).kind), "DATA function needs a table"),
    "no rows": (lambda: FunctionDescription.data([]), "a table needs rows of 2 numbers"),
    "twice": (lambda: FunctionDescription.data([[0.0, 1.0], [0.0, 2.0]]), "the abscissa 0 is given twice"),
    "nan in table": (lambda: FunctionDescription.data([[0.0, 1.0], [1.0, np.nan]]), "a table needs finite numbers"),
    "input": (lambda: FunctionDescription.controller(""), "a CONTROLLER function: input needs a text"),
    "repeat": (lambda: mbs.Repeat(0.0, np.nan, 0.0), "a repeat needs finite numbers and a positive width"),
    "repeat text": (lambda: mbs.Repeat(0.0, "1 s", 0.0), "a repeat needs finite numbers"),  # pyright: ignore[reportArgumentType]
    "width": (lambda: mbs.Repeat(0.0, 0.0, 0.0), "a repeat needs finite numbers and a positive width"),
}


@pytest.mark.parametrize("case", FUNCTIONS)
def test_functions_that_make_no_sense(case: str) -> None:
    make, message = FUNCTIONS[case]
    with pytest.raises(ModelError, match=message):
        make()


def test_a_table_given_directly_is_sorted() -> None:
    kind = FunctionDescription.data([[0.0, 1.0]]).kind
    function = FunctionDescription(kind, table=np.array([[2.0, 5.0], [1.0, 3.0]]))
    np.testing.assert_array_equal(function.table, [[1.0, 3.0], [2.0, 5.0]])


@pytest.mark.parametrize("scale", [1e200, 1.0, 3e-200])
def test_directions_of_any_length(scale: float) -> None:
    """Squares of these leave the range of numbers."""
    description = pair()
    body = description.add_body("c", fixed=True, quat=np.array([3.0, 0.0, 4.0, 0.0]) * scale)
    np.testing.assert_allclose(body.quat, [0.6, 0.0, 0.8, 0.0], rtol=1e-15)
    direct = dataclasses.replace(body, name="d", quat=np.array([0.0, 0.0, scale, 0.0]))
    description.bodies.append(direct)
    spring = description.add_rsda("r", "a", "b", axis=np.array([0.0, 3.0, 4.0]) * scale)
    np.testing.assert_allclose(spring.axis / np.linalg.norm(spring.axis), [0.0, 0.6, 0.8], rtol=1e-15)
    model = mbs.compile_model(description, dtype="float32")
    np.testing.assert_allclose(model.bodies.quat[2:], [[0.6, 0.0, 0.8, 0.0], [0.0, 0.0, 1.0, 0.0]], rtol=1e-7)
    assert np.all(np.isfinite(model.rsdas.axis))


def test_names_of_motors_that_joints_have() -> None:
    """A motor `m`, joints `m` and `motor:m`, and a motor whose own name starts that way."""
    description = pair()
    for name in ("m", "motor:m"):
        description.add_joint(name, mbs.JointKind.SPHERICAL, "a", "b", pos=O)
    for name in ("m", "motor:x", "plain"):
        description.add_motor(
            name, mbs.MotorKind.LINEAR, "a", "b", pos=O, axis=X, actuation=mbs.Actuation.FORCE, function=NUMBER
        )
    model = mbs.compile_model(description)
    assert model.joints.names == ("m", "motor:m", "motor:motor:m", "motor:x", "plain")
    dataset = mbs.simulate(model, t1=0.1, dt=0.1).to_xarray()
    assert list(dataset["joint"].values) == list(model.joints.names)
    assert list(dataset["motor"].values) == ["m", "motor:x", "plain"]
