"""Step times, save times and kinks."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from jaxmbs._inputs import Inputs
from jaxmbs._model import Model
from jaxmbs._tracing import is_traced


#: More rows than this, or more bytes than this of states, are a mistake in the call.
MOST_ROWS = 100_000_000
MOST_BYTES = 2**37


def _number(value: ArrayLike, name: str) -> float | None:
    """A concrete float, or `None` for a traced one.

    **Raises** `ValueError` for what is not one number.
    """
    if is_traced(value):
        return None
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} needs one number in seconds, got {value!r}") from None
    if array.shape != ():
        raise ValueError(
            f"{name} needs one number, got an array of shape {array.shape}; all instances of a batch share their times"
        )
    return float(array)


def _concrete(value: ArrayLike, name: str) -> float:
    number = _number(value, name)
    if number is None:
        raise ValueError(f"simulate needs a concrete {name}: the number of steps or of saved rows depends on it")
    return number


def step_times(
    model: Model, inputs: Inputs, t0: ArrayLike, t1: ArrayLike, dt: ArrayLike
) -> tuple[np.ndarray, np.ndarray, float]:
    """Step times from t0 to t1, the kinks among them, and the length of the steps that no kink cuts.

    Kinks closer than 1e-6 of a step to a step time are taken to be that step time.
    """
    end = _number(t1, "t1")
    if end is None:
        raise ValueError(
            "simulate needs a concrete t1: the number of steps depends on it. To differentiate with respect to the "
            "time span, scale time in the inputs, or use d(state)/dt1 = the state's rate at t1"
        )
    t0, dt = _concrete(t0, "t0"), _concrete(dt, "dt")
    if not np.isfinite(end) or not np.isfinite(t0) or end <= t0:
        raise ValueError(f"the end time t1 = {end} must be after t0 = {t0}")
    if not np.isfinite(dt) or dt <= 0:
        raise ValueError(f"the step dt = {dt} must be positive")
    steps = max(1, int(min(np.ceil((end - t0) / dt - 1e-9), 1e18)))
    if steps > MOST_ROWS:
        raise ValueError(f"(t1 - t0)/dt asks for {steps} steps; is dt = {dt} in seconds?")
    resolution = 8 * float(jnp.finfo(model.dtype).eps) * max(abs(t0), abs(end))
    if (end - t0) / steps < resolution:
        raise ValueError(
            f"{model.dtype} cannot tell times {(end - t0) / steps:g} s apart near t = {max(abs(t0), abs(end)):g} s; "
            "use a larger dt, or float64"
        )
    # a step count times h, never a running sum
    grid = t0 + (end - t0) * (np.arange(steps + 1) / steps)
    grid[-1] = end
    times = inputs.times()
    kinks = np.array(model.functions.kinks(t0, end))
    if times is not None and times.size > 1:
        kinks = np.concatenate([kinks, times[(times > t0) & (times < end)].astype(np.float64)])
    h = (end - t0) / steps
    if kinks.size == 0:
        return grid, kinks, h
    near = 1e-6 * h if model.dtype == jnp.float64 else 1e-3 * h
    merged = np.unique(kinks)
    index = np.clip(np.searchsorted(grid, merged), 1, steps)
    distance = np.minimum(np.abs(grid[index] - merged), np.abs(grid[index - 1] - merged))
    extra = merged[distance > near]
    extra = extra[np.insert(np.diff(extra) > near, 0, True)] if extra.size else extra
    return np.sort(np.concatenate([grid, extra])), merged, h


def padded(grid: np.ndarray) -> np.ndarray:
    """Step times with the last one repeated, to a power of two of steps: another duration seldom compiles anew."""
    steps = 1 << (grid.size - 2).bit_length()
    return np.pad(grid, (0, steps + 1 - grid.size), mode="edge")


def save_times(grid: np.ndarray, save_dt: ArrayLike | None, save_at: Any, row_bytes: int = 0) -> np.ndarray:
    """The times to save: every `save_dt`, or at `save_at`, or at every step.

    - row_bytes: of all states at one time.
    """
    if save_dt is not None and save_at is not None:
        raise ValueError("give save_dt or save_at, not both")
    first, last = float(grid[0]), float(grid[-1])
    if save_at is not None:
        if is_traced(save_at):
            raise ValueError("simulate needs concrete times in save_at")
        try:
            times = np.atleast_1d(np.asarray(save_at, dtype=np.float64))
        except (TypeError, ValueError):
            raise ValueError(f"save_at needs a list of finite times, got {save_at!r}") from None
        if times.ndim != 1 or times.size == 0 or not np.all(np.isfinite(times)):
            raise ValueError("save_at needs a list of finite times")
        if np.any(np.diff(times) <= 0):
            place = int(np.argmax(np.diff(times) <= 0))
            raise ValueError(f"the times of save_at must increase, but {times[place]:g} precedes {times[place + 1]:g}")
        slack = 1e-9 * (last - first)
        if times[0] < first - slack or times[-1] > last + slack:
            raise ValueError(f"save_at has times outside [{first}, {last}]")
        return np.clip(times, first, last)
    if save_dt is None:
        _check_rows(grid.size, row_bytes, "saving every step")
        return grid.copy()
    spacing = _concrete(save_dt, "save_dt")
    if not np.isfinite(spacing) or spacing <= 0:
        raise ValueError(f"save_dt = {spacing} must be positive")
    count = int(min(np.floor((last - first) / spacing + 1e-9), 1e18))
    _check_rows(count + 1, row_bytes, f"save_dt = {spacing:g}")
    times = first + spacing * np.arange(count + 1)
    return np.minimum(times, last)


def _check_rows(count: int, row_bytes: int, cause: str) -> None:
    if count > MOST_ROWS or count * row_bytes > MOST_BYTES:
        raise ValueError(
            f"{cause} asks for {count} rows of states, {count * row_bytes:.3g} bytes in all; give save_dt or save_at "
            "in seconds for fewer"
        )


def check_distinct(saves: np.ndarray, dtype: Any) -> None:
    """Refuse save times that are one and the same once they are brought to step times and to the model's precision."""
    rounded = saves.astype(dtype)
    same = rounded[1:] <= rounded[:-1]
    if np.any(same):
        place = int(np.argmax(same))
        raise ValueError(
            f"the save times {saves[place]!r} and {saves[place + 1]!r}, rows {place} and {place + 1}, cannot be told "
            f"apart in {jnp.dtype(dtype)}; save times within rounding of a step are those of the step"
        )


def snap_to_grid(grid: np.ndarray, saves: np.ndarray) -> bool:
    """Move save times that lie within rounding of a step time onto it, in place; whether all of them do."""
    index = np.clip(np.searchsorted(grid, saves), 1, grid.size - 1)
    nearest = np.where(np.abs(grid[index] - saves) < np.abs(grid[index - 1] - saves), index, index - 1)
    close = np.abs(grid[nearest] - saves) <= 1e-9 * max(1.0, float(np.max(np.abs(grid))))
    saves[close] = grid[nearest][close]
    return bool(np.all(close))


def just_before(times: Array, t0: Array) -> Array:
    """Instants that precede `times` by little more than rounding, but not `t0`."""
    size = jnp.maximum(jnp.abs(times[-1]), jnp.abs(t0))
    return jnp.where(times > t0, jnp.maximum(times - 64 * float(jnp.finfo(times.dtype).eps) * size, t0), times)
