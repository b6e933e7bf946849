"""Step times, save times and kinks."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from jaxmbs._inputs import Inputs
from jaxmbs._model import Model
from jaxmbs._tracing import is_traced


def _number(value: ArrayLike) -> float | None:
    """A concrete float, or `None` for a traced one."""
    return None if is_traced(value) else float(np.asarray(value))


def step_times(
    model: Model, inputs: Inputs, t0: float, t1: ArrayLike, dt: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Step times from t0 to t1, the kinks among them, and the length of the steps that no kink cuts.

    Kinks closer than 1e-6 of a step to a step time are taken to be that step time.
    """
    end = _number(t1)
    if end is None:
        raise ValueError(
            "simulate needs a concrete t1: the number of steps depends on it. To differentiate with respect to the "
            "time span, scale time in the inputs, or use d(state)/dt1 = the state's rate at t1"
        )
    if not np.isfinite(end) or not np.isfinite(t0) or end <= t0:
        raise ValueError(f"the end time t1 = {end} must be after t0 = {t0}")
    if not np.isfinite(dt) or dt <= 0:
        raise ValueError(f"the step dt = {dt} must be positive")
    steps = max(1, int(np.ceil((end - t0) / dt - 1e-9)))
    if steps > 100_000_000:
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


def save_times(grid: np.ndarray, save_dt: float | None, save_at: Any) -> np.ndarray:
    """The times to save: every `save_dt`, or at `save_at`, or at every step."""
    if save_dt is not None and save_at is not None:
        raise ValueError("give save_dt or save_at, not both")
    first, last = float(grid[0]), float(grid[-1])
    if save_at is not None:
        times = np.atleast_1d(np.asarray(save_at, dtype=np.float64))
        if times.ndim != 1 or times.size == 0 or not np.all(np.isfinite(times)):
            raise ValueError("save_at needs a list of finite times")
        if np.any(np.diff(times) <= 0):
            raise ValueError("the times of save_at must increase")
        slack = 1e-9 * (last - first)
        if times[0] < first - slack or times[-1] > last + slack:
            raise ValueError(f"save_at has times outside [{first}, {last}]")
        return np.clip(times, first, last)
    if save_dt is None:
        return grid.copy()
    if not np.isfinite(save_dt) or save_dt <= 0:
        raise ValueError(f"save_dt = {save_dt} must be positive")
    count = int(np.floor((last - first) / save_dt + 1e-9))
    times = first + save_dt * np.arange(count + 1)
    return np.minimum(times, last)


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
