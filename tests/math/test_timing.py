"""Steps, save times and kinks."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmbs as mbs
from jaxmbs._inputs import make_inputs
from jaxmbs._timing import just_before, save_times, snap_to_grid, step_times


def ball(corners: list[float] | None = None, dtype: str = "float64") -> mbs.Model:
    """A free body with a load that bends at `corners` and an external load `push`."""
    description = mbs.ModelDescription()
    description.add_body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
    description.add_load("push", mbs.LoadKind.FORCE, "ball", input="push")
    if corners:
        table = mbs.FunctionDescription.data([[x, float(i % 2)] for i, x in enumerate(corners)])
        description.add_load("bent", mbs.LoadKind.FORCE, "ball", load=(1.0, 0.0, 0.0), modulation=table)
    return mbs.compile_model(description, dtype=dtype)


PLAIN = ball()
NO_INPUTS = make_inputs(PLAIN, None)


def steps(t0: float, t1: float, dt: float, model: mbs.Model = PLAIN) -> tuple[np.ndarray, np.ndarray, float]:
    return step_times(model, NO_INPUTS, t0, t1, dt)


@pytest.mark.parametrize(
    ("t0", "t1", "dt", "count"),
    [
        (0.0, 1.0, 0.1, 10),  # 1/0.1 is 10 within rounding, so there is no eleventh step
        (0.0, 1.0, 0.3, 4),
        (0.0, 1.0, 2.0, 1),
        (2.0, 3.5, 0.5, 3),
        (-1.0, 0.0, 0.25, 4),
        (0.0, 0.7, 0.1, 7),
        (0.0, 1.0, 0.1 - 1e-7, 11),
    ],
)
def test_the_span_is_divided_evenly(t0: float, t1: float, dt: float, count: int) -> None:
    grid, kinks, h = steps(t0, t1, dt)
    assert grid.size == count + 1 and kinks.size == 0
    assert grid[0] == t0 and grid[-1] == t1
    assert h == pytest.approx((t1 - t0) / count, rel=1e-15) and h <= dt * (1 + 1e-9)
    np.testing.assert_allclose(np.diff(grid), h, rtol=0, atol=4e-16 * max(abs(t0), abs(t1)))


def test_a_kink_on_the_grid_adds_no_step() -> None:
    grid, kinks, h = steps(0.0, 1.0, 0.1, ball([0.0, 0.3, 0.7, 2.0]))
    np.testing.assert_array_equal(grid, steps(0.0, 1.0, 0.1)[0])
    np.testing.assert_array_equal(kinks, [0.3, 0.7])
    assert h == 0.1


def test_a_kink_off_the_grid_cuts_a_step_and_keeps_h() -> None:
    grid, kinks, h = steps(0.0, 1.0, 0.1, ball([0.0, 0.33, 0.34, 0.75]))
    np.testing.assert_array_equal(grid, np.sort([*steps(0.0, 1.0, 0.1)[0], 0.33, 0.34, 0.75]))
    np.testing.assert_array_equal(kinks, [0.33, 0.34, 0.75])
    assert h == 0.1


def test_kinks_within_rounding_of_a_step_or_of_each_other_are_one() -> None:
    grid, _, _ = steps(0.0, 1.0, 0.1, ball([0.3 + 5e-8, 0.55, 0.55 + 5e-8, 0.85]))
    np.testing.assert_array_equal(grid, np.sort([*steps(0.0, 1.0, 0.1)[0], 0.55, 0.85]))
    # float32 cannot resolve such a short step: there it takes a thousandth of a step
    grid, _, _ = steps(0.0, 1.0, 0.1, ball([0.3 + 5e-5, 0.55, 0.85], "float32"))
    np.testing.assert_array_equal(grid, np.sort([*steps(0.0, 1.0, 0.1)[0], 0.55, 0.85]))


def test_sample_times_of_inputs_are_kinks() -> None:
    inputs = make_inputs(PLAIN, {"push": ([0.0, 0.25, 0.5, 3.0], np.zeros((4, 3)))})
    grid, kinks, h = step_times(PLAIN, inputs, 0.0, 1.0, 0.1)
    np.testing.assert_array_equal(kinks, [0.25, 0.5])
    np.testing.assert_array_equal(grid, np.sort([*steps(0.0, 1.0, 0.1)[0], 0.25]))
    assert h == 0.1


@pytest.mark.parametrize(
    ("t0", "t1", "dt", "message"),
    [
        (0.0, 0.0, 0.1, "the end time t1 = 0.0 must be after t0 = 0.0"),
        (1.0, 0.5, 0.1, "the end time t1 = 0.5 must be after t0 = 1.0"),
        (0.0, np.nan, 0.1, "the end time t1 = nan must be after t0 = 0.0"),
        (0.0, np.inf, 0.1, "the end time t1 = inf must be after t0 = 0.0"),
        (-np.inf, 1.0, 0.1, "the end time t1 = 1.0 must be after t0 = -inf"),
        (0.0, 1.0, 0.0, "the step dt = 0.0 must be positive"),
        (0.0, 1.0, -0.1, "the step dt = -0.1 must be positive"),
        (0.0, 1.0, np.nan, "the step dt = nan must be positive"),
        (0.0, 1.0, np.inf, "the step dt = inf must be positive"),
        (0.0, 1.0, 1e-9, "(t1 - t0)/dt asks for 1000000000 steps; is dt = 1e-09 in seconds?"),
    ],
)
def test_spans_and_steps_that_make_no_sense(t0: float, t1: float, dt: float, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        steps(t0, t1, dt)


def test_steps_that_the_precision_cannot_resolve() -> None:
    single = ball(dtype="float32")
    message = "float32 cannot tell times 0.0001 s apart near t = 1001 s; use a larger dt, or float64"
    with pytest.raises(ValueError, match=re.escape(message)):
        step_times(single, NO_INPUTS, 1000.0, 1001.0, 1e-4)
    assert step_times(single, NO_INPUTS, 1000.0, 1001.0, 1e-2)[0].size == 101
    assert steps(1000.0, 1001.0, 1e-4)[0].size == 10001


def test_a_traced_end_time_is_refused() -> None:
    with pytest.raises(ValueError, match="simulate needs a concrete t1"):
        jax.jit(lambda t1: jnp.asarray(step_times(PLAIN, NO_INPUTS, 0.0, t1, 0.1)[0]))(1.0)


GRID = np.linspace(0.0, 1.0, 11)


def test_every_step_is_saved_by_default() -> None:
    got = save_times(GRID, None, None)
    np.testing.assert_array_equal(got, GRID)
    got[0] = 5.0  # saves are changed in place later: they are no view of the grid
    assert GRID[0] == 0.0


@pytest.mark.parametrize(("save_dt", "count"), [(0.1, 11), (0.25, 5), (0.3, 4), (1.0, 2), (1.5, 1)])
def test_save_dt(save_dt: float, count: int) -> None:
    got = save_times(GRID, save_dt, None)
    np.testing.assert_allclose(got, save_dt * np.arange(count), rtol=0, atol=1e-15)
    assert got[-1] <= 1.0
    np.testing.assert_allclose(save_times(GRID + 2.0, save_dt, None), got + 2.0, rtol=0, atol=1e-15)


def test_save_at() -> None:
    np.testing.assert_array_equal(save_times(GRID, None, [0.0, 0.123, 1.0]), [0.0, 0.123, 1.0])
    np.testing.assert_array_equal(save_times(GRID, None, 0.5), [0.5])
    np.testing.assert_array_equal(save_times(GRID, None, jnp.array([0.25])), [0.25])
    # what is outside by rounding only is moved to the end
    np.testing.assert_array_equal(save_times(GRID, None, [-1e-12, 1.0 + 1e-12]), [0.0, 1.0])


@pytest.mark.parametrize(
    ("save_dt", "save_at", "message"),
    [
        (0.1, [0.5], "give save_dt or save_at, not both"),
        (0.0, None, "save_dt = 0.0 must be positive"),
        (-1.0, None, "save_dt = -1.0 must be positive"),
        (np.nan, None, "save_dt = nan must be positive"),
        (None, [], "save_at needs a list of finite times"),
        (None, [0.1, np.nan], "save_at needs a list of finite times"),
        (None, [[0.1, 0.2]], "save_at needs a list of finite times"),
        (None, [0.2, 0.1], "the times of save_at must increase"),
        (None, [0.1, 0.1], "the times of save_at must increase"),
        (None, [0.1, 1.1], "save_at has times outside [0.0, 1.0]"),
        (None, [-0.1, 0.1], "save_at has times outside [0.0, 1.0]"),
    ],
)
def test_save_times_that_make_no_sense(save_dt: float | None, save_at: list[float] | None, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        save_times(GRID, save_dt, save_at)


def test_saves_within_rounding_snap_onto_steps() -> None:
    saves = np.array([0.1 + 1e-12, 0.5, 0.9 - 1e-11, 1.0])
    assert snap_to_grid(GRID, saves)
    np.testing.assert_array_equal(saves, GRID[[1, 5, 9, 10]])
    saves = np.array([0.0, 0.2 - 1e-12, 0.25])
    assert not snap_to_grid(GRID, saves)
    np.testing.assert_array_equal(saves, [GRID[0], GRID[2], 0.25])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_just_before_is_earlier_but_not_before_the_start(dtype: str) -> None:
    times = jnp.asarray([2.0, 2.0 + 1e-6, 2.5, 3.0], dtype)
    before = just_before(times, jnp.asarray(2.0, dtype))
    eps = float(jnp.finfo(dtype).eps)
    assert before.dtype == dtype and before[0] == 2.0
    assert np.all(np.asarray(before[1:]) >= 2.0) and np.all(np.asarray(before[2:] < times[2:]))
    np.testing.assert_allclose(np.asarray(times - before)[2:], 64 * eps * 3.0, rtol=0.2)
