"""Piecewise linear tables over (elements, lanes): value (with its derivative by autodiff) and integral.

A stacked table is two arrays (elements, points, lanes): abscissae in increasing order and ordinates. Shorter tables
are padded by repeating their last point; segments of zero width are never selected.
"""

import jax.numpy as jnp
import numpy as np
from jax import Array


def pad_tables(tables: list[np.ndarray | None]) -> np.ndarray:
    """Stack tables of rows (x, y) into (elements, points, 2); `None` becomes the zero function."""
    filled = [np.zeros((1, 2)) if table is None else table for table in tables]
    points = max([table.shape[0] for table in filled], default=1)
    padded = [np.concatenate([t, np.repeat(t[-1:], points - t.shape[0], axis=0)]) for t in filled]
    return np.stack(padded) if padded else np.zeros((0, points, 2))


def _lines(abscissae: Array, ordinates: Array, segment: Array, x: Array) -> Array:
    """The straight line through points `segment` and `segment + 1`, at `x`; flat for a zero-width segment."""

    def pick(array: Array, index: Array) -> Array:
        return jnp.take_along_axis(array, index[:, None], axis=1)[:, 0]

    x0, x1 = pick(abscissae, segment), pick(abscissae, segment + 1)
    y0, y1 = pick(ordinates, segment), pick(ordinates, segment + 1)
    width = x1 - x0
    return y0 + (y1 - y0) / jnp.where(width > 0, width, 1.0) * (x - x0)


def interpolate(abscissae: Array, ordinates: Array, x: Array, selector: Array | None = None) -> Array:
    """Linear between the points, constant outside.

    **Arguments:**

    - abscissae, ordinates: (elements, points, lanes).
    - x: (elements, lanes).
    - selector: where given, the segment is chosen at this abscissa instead of at `x`. Within one time step all
      stages then see one and the same linear piece, so that a kink at the end of the step does not leak into it.
    """
    chosen = x if selector is None else selector
    first, last = ordinates[:, 0], ordinates[:, -1]
    if abscissae.shape[1] == 1:
        return jnp.broadcast_to(first, jnp.broadcast_shapes(first.shape, x.shape))
    passed = jnp.sum(chosen[:, None] >= abscissae, axis=1)
    segment = jnp.clip(passed - 1, 0, abscissae.shape[1] - 2)
    inside = _lines(abscissae, ordinates, segment, x)
    return jnp.where(chosen < abscissae[:, 0], first, jnp.where(chosen >= abscissae[:, -1], last, inside))


def integral(abscissae: Array, ordinates: Array, x: Array) -> Array:
    """The integral of `interpolate` from 0 to `x`, in closed form; same shapes."""
    return _primitive(abscissae, ordinates, x) - _primitive(abscissae, ordinates, jnp.zeros_like(x))


def _primitive(abscissae: Array, ordinates: Array, x: Array) -> Array:
    """A primitive that is zero at the first abscissa."""
    x0, y0 = abscissae[:, :-1], ordinates[:, :-1]
    width = abscissae[:, 1:] - x0
    slope = (ordinates[:, 1:] - y0) / jnp.where(width > 0, width, 1.0)
    part = jnp.clip(x[:, None] - x0, 0.0, width)
    inside = jnp.sum(part * (y0 + 0.5 * slope * part), axis=1)
    before = ordinates[:, 0] * jnp.minimum(x - abscissae[:, 0], 0.0)
    after = ordinates[:, -1] * jnp.maximum(x - abscissae[:, -1], 0.0)
    return before + inside + after


def interpolate_map(deformations: Array, velocities: Array, forces: Array, d: Array, v: Array) -> Array:
    """Bilinear with linear extrapolation.

    **Arguments:**

    - deformations: (elements, columns, lanes); velocities: (elements, rows, lanes).
    - forces: (elements, rows, columns, lanes).
    - d, v: (elements, lanes).
    """
    rows = [_extrapolated(deformations, forces[:, i], d) for i in range(velocities.shape[1])]
    return _extrapolated(velocities, jnp.stack(rows, axis=1), v)


def _extrapolated(abscissae: Array, ordinates: Array, x: Array) -> Array:
    """Linear through the two nearest points on every side; padding at the end is not counted as a segment."""
    real = jnp.sum(abscissae[:, 1:] > abscissae[:, :-1], axis=1)
    passed = jnp.sum(x[:, None] >= abscissae, axis=1)
    return _lines(abscissae, ordinates, jnp.clip(passed - 1, 0, jnp.maximum(real - 1, 0)), x)


def integral_extrapolated(abscissae: Array, ordinates: Array, x: Array) -> Array:
    """The integral from 0 to `x` of the piecewise linear function that goes on beyond its ends."""
    x0, y0 = abscissae[:, :-1], ordinates[:, :-1]
    width = abscissae[:, 1:] - x0
    slope = (ordinates[:, 1:] - y0) / jnp.where(width > 0, width, 1.0)
    segment = jnp.arange(width.shape[1])[None, :, None]
    last = jnp.sum(width > 0, axis=1)[:, None] - 1

    def primitive(at: Array) -> Array:
        part = at[:, None] - x0
        part = jnp.where(segment == 0, part, jnp.maximum(part, 0.0))
        part = jnp.where(segment == last, part, jnp.minimum(part, width))
        return jnp.sum(part * (y0 + 0.5 * slope * part), axis=1)

    return primitive(x) - primitive(jnp.zeros_like(x))
