"""Proximal solves of dense systems that may be singular, for results at save times. Uses LAPACK, lanes in a batch."""

import jax
import jax.numpy as jnp
from jax import Array


def proximal_constants(dtype: jnp.dtype) -> tuple[float, int]:
    """The proximal parameter relative to a unit diagonal, and the number of refinement sweeps."""
    return (1e-12, 3) if dtype == jnp.float64 else (1e-6, 3)


def unit_diagonal(matrix: Array) -> tuple[Array, Array]:
    """D A D with a unit diagonal, and the diagonal of D (lanes, rows); zero rows are left alone."""
    diagonal = jnp.diagonal(matrix, axis1=1, axis2=2)
    positive = diagonal > 0
    # not differentiated: the solution does not depend on the scale
    scale = jax.lax.stop_gradient(jnp.where(positive, jax.lax.rsqrt(jnp.where(positive, diagonal, 1.0)), 1.0))
    return matrix * scale[:, :, None] * scale[:, None, :], scale


def proximal_factor(matrix: Array) -> Array:
    """The Cholesky factor of A + epsilon for `proximal_solve`, (lanes, rows, rows)."""
    epsilon, _ = proximal_constants(matrix.dtype)
    shifted = jax.lax.stop_gradient(matrix) + epsilon * jnp.eye(matrix.shape[-1], dtype=matrix.dtype)[None]
    return jnp.linalg.cholesky(shifted, symmetrize_input=False)


def proximal_solve(matrix: Array, factor: Array, right: Array) -> Array:
    """Solve matrix x = right for (lanes, rows, cases), `matrix` symmetric and possibly singular.

    Differentiation is implicit: one more solve with the same factor.
    """
    _, sweeps = proximal_constants(matrix.dtype)

    def product(a: Array, x: Array) -> Array:
        return jnp.einsum("lrs,lsk->lrk", a, x, precision=jax.lax.Precision.HIGHEST)

    def solve(_, b: Array) -> Array:
        fixed = jax.lax.stop_gradient(matrix)
        x = jax.scipy.linalg.cho_solve((factor, True), b)
        for _ in range(sweeps):
            x = x + jax.scipy.linalg.cho_solve((factor, True), b - product(fixed, x))
        return x

    return jax.lax.custom_linear_solve(lambda x: product(matrix, x), right, solve, solve, symmetric=True)
