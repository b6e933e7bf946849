"""The systems of rows that close loops: symmetric, positive semidefinite, one per set of coupled loops and lane."""

import functools

import jax
import jax.numpy as jnp
from jax import Array


#: Up to so many rows, the factorisation is written out row by row.
LARGEST_UNROLLED = 12


def proximal_constants(dtype: jnp.dtype) -> tuple[float, int]:
    """The proximal parameter relative to the size of a row, and the number of refinement sweeps.

    In float64 it weighs the loss of energy near singular poses, where small singular values count, against rounding
    that is taken for a singular value. Energy error in float64, three sweeps, step 1 ms, for 1e-8, 1e-10, 1e-12: two
    coupled four-bars that pass a singular pose, 4 s, 8e-6, 8e-9, 8e-11 J; Bricard's mechanism, 1 s, 4e-11, 4e-9,
    2e-7 J.
    """
    return (1e-10, 3) if dtype == jnp.float64 else (1e-6, 3)


def _scale(size: Array) -> Array:
    return jnp.where(size > 0, jax.lax.rsqrt(jnp.where(size > 0, size, 1.0)), 0.0)


def solve_small(triangle: list[Array], size: list[Array], rights: list[list[Array]]) -> list[list[Array]]:
    """Solve S x = r proximally, from zero, so that x stays in the range of S; written out row by row.

    **Arguments:**

    - triangle: the lower triangle of S row by row, each entry (groups, lanes).
    - size: what is large for a diagonal entry of each row: S is scaled by it, so that rounding is not taken for a
      stiffness where a row has none.
    - rights: right-hand sides, each a list of rows.

    **References:** Parikh & Boyd, Proximal Algorithms, section 4.1.
    """
    epsilon, sweeps = proximal_constants(triangle[0].dtype)
    count = len(size)
    scale = [_scale(value) for value in size]
    scaled = [[triangle[i * (i + 1) // 2 + j] * (scale[i] * scale[j]) for j in range(i + 1)] for i in range(count)]
    factor = _cholesky(scaled, epsilon)
    solutions = []
    for right in rights:
        b = [value * s for value, s in zip(right, scale, strict=True)]
        x = _substitute(factor, b)
        for _ in range(sweeps):
            rest = [b[i] - _row_times(scaled, i, x) for i in range(count)]
            x = [value + step for value, step in zip(x, _substitute(factor, rest), strict=True)]
        solutions.append([value * s for value, s in zip(x, scale, strict=True)])
    return solutions


def _row_times(triangle: list[list[Array]], i: int, x: list[Array]) -> Array:
    terms = [triangle[max(i, j)][min(i, j)] * x[j] for j in range(len(x))]
    return functools.reduce(jnp.add, terms)


def _cholesky(matrix: list[list[Array]], epsilon: float) -> list[list[Array]]:
    """The factor L of S + epsilon, with the inverses of its diagonal in place of it."""
    factor: list[list[Array]] = []
    for i, row in enumerate(matrix):
        entries: list[Array] = []
        for j in range(i):
            value = row[j]
            for k in range(j):
                value = value - entries[k] * factor[j][k]
            entries.append(value * factor[j][j])
        pivot = row[i] + epsilon
        for entry in entries:
            pivot = pivot - entry * entry
        # S has no negative eigenvalue, so a smaller pivot is rounding
        factor.append([*entries, jax.lax.rsqrt(jnp.maximum(pivot, 0.5 * epsilon))])
    return factor


def _substitute(factor: list[list[Array]], b: list[Array]) -> list[Array]:
    count = len(b)
    y: list[Array] = []
    for i in range(count):
        value = b[i]
        for k in range(i):
            value = value - factor[i][k] * y[k]
        y.append(value * factor[i][i])
    for i in reversed(range(count)):
        value = y[i]
        for k in range(i + 1, count):
            value = value - factor[k][i] * y[k]
        y[i] = value * factor[i][i]
    return y


def solve_large(matrix: Array, size: Array, rights: list[Array]) -> list[Array]:
    """`solve_small` by loops over arrays: S (rows, rows, groups, lanes), the rest (rows, groups, lanes)."""
    dtype = matrix.dtype
    epsilon, sweeps = proximal_constants(dtype)
    count = size.shape[0]
    scale = _scale(size)
    full = matrix * scale[:, None] * scale[None]
    rows = jnp.arange(count)

    def eliminate(j: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        rest, factor = state
        column = jax.lax.dynamic_index_in_dim(rest, j, 1, keepdims=False)
        pivot = jax.lax.dynamic_index_in_dim(column, j, 0, keepdims=True)
        inverse = jax.lax.rsqrt(jnp.maximum(pivot, 0.5 * epsilon))
        below = (rows > j)[:, None, None]
        column = jnp.where(below, column * inverse, 0.0)
        stored = jnp.where((rows == j)[:, None, None], inverse, column)
        return rest - column[:, None] * column[None], jax.lax.dynamic_update_index_in_dim(factor, stored, j, 1)

    shifted = full + epsilon * jnp.eye(count, dtype=dtype)[:, :, None, None]
    _, factor = jax.lax.fori_loop(0, count, eliminate, (shifted, jnp.zeros_like(shifted)))

    def substitute(b: Array) -> Array:
        def forward(i: Array, y: Array) -> Array:
            column = jax.lax.dynamic_index_in_dim(factor, i, 1, keepdims=False)
            done = jax.lax.dynamic_index_in_dim(y * column, i, 0, keepdims=True)
            below = (rows > i)[:, None, None]
            return jnp.where((rows == i)[:, None, None], done, y - jnp.where(below, column * done, 0.0))

        def backward(step: Array, y: Array) -> Array:
            i = count - 1 - step
            column = jax.lax.dynamic_index_in_dim(factor, i, 1, keepdims=False)
            below = (rows > i)[:, None, None]
            value = jax.lax.dynamic_index_in_dim(y, i, 0, keepdims=True)
            value = value - jnp.sum(jnp.where(below, column * y, 0.0), axis=0, keepdims=True)
            value = value * jax.lax.dynamic_index_in_dim(column, i, 0, keepdims=True)
            return jnp.where((rows == i)[:, None, None], value, y)

        return jax.lax.fori_loop(0, count, backward, jax.lax.fori_loop(0, count, forward, b))

    solutions = []
    for right in rights:
        b = right * scale
        x = substitute(b)
        for _ in range(sweeps):
            x = x + substitute(b - jnp.sum(full * x[None], axis=1))
        solutions.append(x * scale)
    return solutions
