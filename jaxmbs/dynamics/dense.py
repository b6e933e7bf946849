"""Proximal solves of dense systems that may be singular, by LAPACK, lanes in a batch.

For what is not in the loop over steps: assembly, and results at save times. It is a small program to compile.
"""

import dataclasses

import jax
import jax.numpy as jnp
from jax import Array

from jaxmbs.dynamics.inertia import inverse_inertia
from jaxmbs.dynamics.rows import Rows, Values, spread_rows
from jaxmbs.dynamics.system import BodyKinematics, System


@dataclasses.dataclass(frozen=True)
class DenseSolver:
    """All constraint rows alike: what contradictory rows leave open is shared between them.

    - jacobian: (rows, bodies, 6, lanes); spread: M^-1 J^T in the same shape.
    - matrix: (lanes, rows, rows), scaled to a unit diagonal by `scale` (lanes, rows); factor: see `proximal_factor`.
    """

    rows: Rows
    jacobian: Array
    spread: Array
    scale: Array
    matrix: Array
    factor: Array

    def constrain_all(self, cases: list[tuple[Array, Values]]) -> list[Array]:
        """The motions nearest to free ones in the mass metric with J a = target, for pairs of both."""
        misses = [
            self.rows.together(target) - jnp.sum(self.jacobian * free[None], axis=(1, 2)) for free, target in cases
        ]
        right = jnp.stack([miss.T * self.scale for miss in misses], axis=-1)
        solved = proximal_solve(self.matrix, self.factor, right) * self.scale[:, :, None]
        pulls = [jnp.sum(self.spread * solved[..., i].T[:, None, None], axis=0) for i in range(len(cases))]
        return [free + pull for (free, _), pull in zip(cases, pulls, strict=True)]


def dense_solver(system: System, bodies: BodyKinematics, rows: Rows) -> DenseSolver:
    """Form and factor J M^-1 J^T at the present pose."""
    jacobian = spread_rows(rows, rows.plan, system.model.bodies.count)
    spread = inverse_inertia(system, bodies).times(jacobian)
    matrix = jnp.einsum("rbcl,sbcl->lrs", jacobian, spread, precision=jax.lax.Precision.HIGHEST)
    matrix, scale = unit_diagonal(matrix)
    return DenseSolver(rows, jacobian, spread, scale, matrix, proximal_factor(matrix))


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
