"""Functions of time of a compiled model, against closed forms."""

import dataclasses
from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmbs as mbs
from jaxmbs import FunctionDescription, Repeat
from jaxmbs._functions import Functions, FunctionValues
from jaxmbs._lanes import to_lanes


def compiled(functions: list[FunctionDescription]) -> mbs.Model:
    """A free body with one load per function."""
    description = mbs.ModelDescription()
    description.add_body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
    for i, function in enumerate(functions):
        description.add_load(f"load {i}", mbs.LoadKind.FORCE, "ball", load=(1.0, 0.0, 0.0), modulation=function)
    return mbs.compile_model(description)


def evaluate(
    functions: list[FunctionDescription], times: np.ndarray, selector: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value, rate and acceleration (functions, times); the times are lanes."""
    model = compiled(functions)
    lanes: Functions = to_lanes(model, model.leaf_ndims, ()).functions
    empty = jnp.zeros((0, 1))
    time = jnp.asarray(times)[None]
    got = lanes.evaluate(
        time, time if selector is None else jnp.asarray(selector)[None], FunctionValues(empty, empty, empty)
    )
    return np.asarray(got.value), np.asarray(got.rate), np.asarray(got.acceleration)


TIMES = np.array([-3.3, -2.0, -0.7, 0.0, 0.2, 0.9, 1.7, 4.1])
TABLE = [[-1.0, 0.5], [0.25, 2.0], [1.0, -1.0], [3.0, 0.0]]


def np_mod(x: np.ndarray, width: float, truncated: bool) -> np.ndarray:
    return np.fmod(x, width) if truncated else np.mod(x, width)


SMOOTH: dict[str, tuple[FunctionDescription, Callable, Callable, Callable]] = {
    "constant": (
        FunctionDescription.constant(2.5),
        lambda t: 2.5 + 0 * t,
        lambda t: 0 * t,
        lambda t: 0 * t,
    ),
    "polynomial": (
        FunctionDescription.polynomial([1.0, -2.0, 0.5, 0.25]),
        lambda t: 1 - 2 * t + 0.5 * t**2 + 0.25 * t**3,
        lambda t: -2 + t + 0.75 * t**2,
        lambda t: 1 + 1.5 * t,
    ),
    "sine": (
        FunctionDescription.sine(1.5, 0.4, 0.3, -0.2),
        lambda t: 1.5 * np.sin(0.8 * np.pi * t + 0.3) - 0.2,
        lambda t: 1.5 * 0.8 * np.pi * np.cos(0.8 * np.pi * t + 0.3),
        lambda t: -1.5 * (0.8 * np.pi) ** 2 * np.sin(0.8 * np.pi * t + 0.3),
    ),
    "ramp": (FunctionDescription.ramp(3.0, -1.0), lambda t: 3 * t - 1, lambda t: 3 + 0 * t, lambda t: 0 * t),
}


def test_smooth_functions_and_their_derivatives() -> None:
    value, rate, acceleration = evaluate([item[0] for item in SMOOTH.values()], TIMES)
    for i, (name, (_, f, df, ddf)) in enumerate(SMOOTH.items()):
        np.testing.assert_allclose(value[i], f(TIMES), rtol=1e-14, atol=1e-14, err_msg=name)
        np.testing.assert_allclose(rate[i], df(TIMES), rtol=1e-14, atol=1e-14, err_msg=name)
        np.testing.assert_allclose(acceleration[i], ddf(TIMES), rtol=1e-13, atol=1e-13, err_msg=name)


def test_derivatives_are_those_of_finite_differences() -> None:
    """Repeats and tables too, at times off their kinks; one evaluation serves all times."""
    repeat = Repeat(0.2, 0.9, 0.35)
    functions = [
        *(item[0] for item in SMOOTH.values()),
        FunctionDescription.data(TABLE),
        FunctionDescription.sine(0.7, 0.6, 0.1, repeat=repeat),
        FunctionDescription.polynomial([0.0, 1.0, 2.0], repeat=dataclasses.replace(repeat, truncated=True)),
    ]
    times, h = TIMES + 0.013, 1e-4
    value, rate, acceleration = evaluate(functions, np.concatenate([times - h, times, times + h]))
    low, middle, high = np.split(value, 3, axis=1)
    count = times.size
    np.testing.assert_allclose(rate[:, count : 2 * count], (high - low) / (2 * h), rtol=0, atol=1e-7)
    np.testing.assert_allclose(acceleration[:, count : 2 * count], (high - 2 * middle + low) / h**2, rtol=0, atol=1e-6)


def test_data_is_linear_between_its_points_and_held_outside() -> None:
    shuffled = [TABLE[2], TABLE[0], TABLE[3], TABLE[1]]  # rows are sorted
    value, rate, acceleration = evaluate([FunctionDescription.data(shuffled), FunctionDescription.data(TABLE)], TIMES)
    want = np.interp(TIMES, *np.array(TABLE).T)
    np.testing.assert_allclose(value, [want, want], rtol=0, atol=1e-15)
    slopes = [0, 0, 1.2, 1.2, 1.2, -4, 0.5, 0]
    np.testing.assert_allclose(rate[0], slopes, rtol=0, atol=1e-14)
    assert not np.any(acceleration)


@pytest.mark.parametrize("truncated", [False, True])
def test_repeats_see_the_remainder(truncated: bool) -> None:
    """Arguments start + mod(t + shift, width); the truncated remainder has the sign of t + shift."""
    start, width, shift = 0.4, 0.8, 0.25
    repeat = Repeat(start, width, shift, truncated)
    functions = [
        FunctionDescription.ramp(2.0, 1.0, repeat=repeat),
        FunctionDescription.data(TABLE, repeat=repeat),
        FunctionDescription.sine(1.0, 0.3, repeat=repeat),
        FunctionDescription.polynomial([0.0, 0.0, 1.0], repeat=repeat),
        FunctionDescription.ramp(2.0, 1.0),
    ]
    value, rate, _ = evaluate(functions, TIMES)
    x = start + np_mod(TIMES + shift, width, truncated)
    assert (x.min() < start) == truncated  # negative arguments are there
    np.testing.assert_allclose(value[0], 2 * x + 1, rtol=0, atol=1e-14)
    np.testing.assert_allclose(value[1], np.interp(x, *np.array(TABLE).T), rtol=0, atol=1e-13)
    np.testing.assert_allclose(value[2], np.sin(0.6 * np.pi * x), rtol=0, atol=1e-14)
    np.testing.assert_allclose(value[3], x**2, rtol=0, atol=1e-14)
    np.testing.assert_allclose(value[4], 2 * TIMES + 1, rtol=0, atol=1e-14)
    np.testing.assert_allclose(rate[0], 2.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(rate[3], 2 * x, rtol=0, atol=1e-14)


def test_a_step_sees_one_period_and_one_segment() -> None:
    """At the end of a step that a kink ends, the selector keeps what held before it."""
    functions = [
        FunctionDescription.ramp(1.0, repeat=Repeat(0.0, 0.5, 0.0)),
        FunctionDescription.data([[0.0, 0.0], [0.5, 1.0], [1.0, 0.0]]),
    ]
    before, after = (evaluate(functions, np.array([0.5]), np.array([s])) for s in (0.45, 0.55))
    np.testing.assert_allclose(before[0][:, 0], [0.5, 1.0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(after[0][:, 0], [0.0, 1.0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(before[1][:, 0], [1.0, 2.0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(after[1][:, 0], [1.0, -2.0], rtol=0, atol=1e-14)


def test_no_functions() -> None:
    value, rate, acceleration = evaluate([], TIMES)
    assert value.shape == rate.shape == acceleration.shape == (0, TIMES.size)
    assert compiled([]).functions.kinks(0.0, 1.0) == []


def test_external_values_pass_through_with_their_derivatives() -> None:
    description = mbs.ModelDescription()
    description.add_body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
    for i, function in enumerate(
        [FunctionDescription.controller("b"), FunctionDescription.constant(3.0), FunctionDescription.controller("b")]
    ):
        description.add_load(f"load {i}", mbs.LoadKind.FORCE, "ball", load=(1.0, 0.0, 0.0), modulation=function)
    model = mbs.compile_model(description)
    assert model.functions.inputs == ("b",)
    lanes = to_lanes(model, model.leaf_ndims, ()).functions
    given = FunctionValues(*(jnp.full((1, 2), c) for c in (1.5, -2.0, 4.0)))
    got = lanes.evaluate(jnp.zeros((1, 2)), jnp.zeros((1, 2)), given)
    np.testing.assert_array_equal(got.value[:, 0], [1.5, 3.0, 1.5])
    np.testing.assert_array_equal(got.rate[:, 0], [-2.0, 0.0, -2.0])
    np.testing.assert_array_equal(got.acceleration[:, 0], [4.0, 0.0, 4.0])


def kinks(function: FunctionDescription, t0: float, t1: float) -> list[float]:
    return compiled([function]).functions.kinks(t0, t1)


def test_kinks_of_tables_lie_inside_the_run() -> None:
    assert kinks(FunctionDescription.data(TABLE), -1.0, 3.0) == [0.25, 1.0]
    assert kinks(FunctionDescription.data(TABLE), -2.0, 3.5) == [-1.0, 0.25, 1.0, 3.0]
    assert kinks(FunctionDescription.sine(1.0, 1.0), -2.0, 3.5) == []


def test_kinks_of_repeats_are_the_starts_of_periods() -> None:
    np.testing.assert_allclose(
        kinks(FunctionDescription.ramp(1.0, repeat=Repeat(0.3, 0.5, 0.1)), 0.0, 2.0), [0.4, 0.9, 1.4, 1.9], atol=1e-15
    )
    np.testing.assert_allclose(
        kinks(FunctionDescription.ramp(1.0, repeat=Repeat(0.3, 0.5, 0.1)), -1.0, 0.0), [-0.6, -0.1], atol=1e-15
    )


@pytest.mark.parametrize("truncated", [False, True])
def test_kinks_are_where_a_repeated_table_bends(truncated: bool) -> None:
    """Bends found by second differences of the closed form; the truncated remainder mirrors nothing, it shifts."""
    start, width, shift = -0.2, 0.9, 0.05
    function = FunctionDescription.data(
        [[-1.0, 0.0], [-0.75, 0.6], [0.1, -0.5], [0.55, 0.8], [3.0, 0.0]], repeat=Repeat(start, width, shift, truncated)
    )
    table = function.table
    assert table is not None
    found = np.array(kinks(function, -2.0, 2.0))
    h = 1e-3
    t = -2.0 + h * (np.arange(4000) + 0.5)
    x = start + np_mod(t + shift, width, truncated)
    second = np.abs(np.diff(np.interp(x, *table.T), 2))
    bends = t[1:-1][second > 1e-9]
    assert found.size > 8
    # every bend is at a kink, and every kink but the crossing of zero (where fmod is smooth) is a bend
    assert np.max(np.min(np.abs(bends[:, None] - found[None]), axis=1)) < 2 * h
    smooth = [kink for kink in found if np.min(np.abs(bends - kink)) > 2 * h]
    np.testing.assert_allclose(smooth, [-shift] if truncated else [], atol=1e-12)


def test_stacked_models_keep_the_kinks_of_both() -> None:
    tables = [[[0.0, 0.0], [0.3, 1.0], [1.0, 0.0]], [[0.0, 0.0], [0.7, 1.0], [1.0, 0.0]]]
    model = mbs.stack([compiled([FunctionDescription.data(table)]) for table in tables])
    assert model.batch_shape == (2,)
    assert model.functions.kinks(-1.0, 2.0) == [0.0, 0.3, 0.7, 1.0]
    lanes = to_lanes(model, model.leaf_ndims, (2,)).functions
    empty, time = jnp.zeros((0, 1)), jnp.full((1, 2), 0.5)
    got = lanes.evaluate(time, time, FunctionValues(empty, empty, empty))
    np.testing.assert_allclose(got.value[0], [5 / 7, 5 / 7], atol=1e-15)
    np.testing.assert_allclose(got.rate[0], [-1 / 0.7, 1 / 0.7], atol=1e-14)


def test_stacked_models_keep_the_periods_of_both() -> None:
    repeats = [Repeat(0.0, 0.4, 0.0), Repeat(0.0, 0.5, 0.0)]
    models = [compiled([FunctionDescription.ramp(1.0, repeat=repeat)]) for repeat in repeats]
    np.testing.assert_allclose(mbs.stack(models).functions.kinks(0.0, 1.3), [0.4, 0.5, 0.8, 1.0, 1.2], atol=1e-15)
    with pytest.raises(ValueError, match="differ in structure"):
        mbs.stack([models[0], compiled([FunctionDescription.ramp(1.0)])])
    with pytest.raises(ValueError, match="the lengths of their tables"):
        mbs.stack([compiled([FunctionDescription.data(table)]) for table in ([[0, 0], [1, 1]], [[0, 0]])])


def test_changed_leaves_keep_the_kinks_as_loaded() -> None:
    """Kinks are known before tracing: they are those of the file."""
    model = compiled([FunctionDescription.data(TABLE)])
    moved = eqx.tree_at(lambda m: m.functions.ordinates, model, 2 * model.functions.ordinates)
    assert moved.functions.kinks(0.0, 2.0) == [0.25, 1.0]


def test_absurd_repeats_are_refused() -> None:
    with pytest.raises(ValueError, match="a repeat of width 1e-09 s has too many kinks in a run of 10 s"):
        kinks(FunctionDescription.ramp(1.0, repeat=Repeat(0.0, 1e-9, 0.0)), 0.0, 10.0)
    with pytest.raises(mbs.ModelError, match="a repeat needs finite numbers and a positive width"):
        Repeat(0.0, 0.0, 0.0)
    with pytest.raises(mbs.ModelError, match="a repeat needs finite numbers and a positive width"):
        Repeat(0.0, np.inf, 0.0)
