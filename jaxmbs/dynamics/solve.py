"""Accelerations (or corrections) that satisfy the constraint rows: dense, lanes in parallel.

With the rows J and a free motion u, the constrained motion a minimises |a - u| in the mass metric:

    a = u + M^-1 J^T lambda,    J M^-1 J^T lambda = c - J u,    so that J a = c.

Rows may be redundant: the system is solved proximally, from zero, so that lambda stays in the range of the matrix
(Parikh & Boyd, Proximal Algorithms, section 4.1; Udwadia & Kalaba, Analytical Dynamics, for the minimum norm).
"""

import dataclasses

import jax
import jax.numpy as jnp
from jax import Array

from jaxmbs._math import Sym3, Vec3
from jaxmbs.dynamics.rows import RowPlan, Rows, spread_rows


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class InverseInertia:
    """M^-1 of all bodies: 1/mass and the inverse inertia tensor in world axes, both (bodies, lanes)."""

    mass: Array
    tensor: Sym3

    def times(self, wrench: Array) -> Array:
        """M^-1 applied to (..., bodies, 6, lanes) with linear before angular components."""
        torque = Vec3(wrench[..., 3, :], wrench[..., 4, :], wrench[..., 5, :])
        leading = (1,) * (wrench.ndim - 3)
        tensor, mass = jax.tree.map(lambda leaf: leaf.reshape(leading + leaf.shape), (self.tensor, self.mass))
        spin = tensor @ torque
        linear = wrench[..., :3, :] * mass[..., None, :]
        return jnp.concatenate([linear, jnp.stack([spin.x, spin.y, spin.z], axis=-2)], axis=-2)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ConstraintSolver:
    """The factored system of all rows at one pose.

    - jacobian: (rows, bodies, 6, lanes); spread: M^-1 J^T in the same shape.
    - matrix: (lanes, rows, rows), scaled to a unit diagonal by `scale` (rows, lanes); factor: its Cholesky factor
      with the proximal term added.
    """

    jacobian: Array
    spread: Array
    scale: Array
    matrix: Array
    factor: Array

    def constrain(self, free: Array, target: Array) -> tuple[Array, Array]:
        """The motion nearest to `free` in the mass metric with J a = target.

        **Arguments:**

        - free: (bodies, 6, lanes), linear before angular, world axes.
        - target: (rows, lanes).

        **Returns:** the motion (bodies, 6, lanes) and the multipliers (rows, lanes).
        """
        return self.constrain_all([(free, target)])[0]

    def constrain_all(self, cases: list[tuple[Array, Array]]) -> list[tuple[Array, Array]]:
        """`constrain` for several pairs (free, target) in one solve.

        One solve is faster than several, and safe: on CPUs with few cores, jaxlib 0.10 can deadlock when two batched
        LAPACK calls of one program do not depend on each other and run at the same time.
        """
        if self.jacobian.shape[0] == 0:
            return [(free, jnp.zeros_like(target)) for free, target in cases]
        misses = [target - jnp.sum(self.jacobian * free[None], axis=(1, 2)) for free, target in cases]
        right = jnp.stack([jnp.moveaxis(miss * self.scale, -1, 0) for miss in misses], axis=-1)
        solved = proximal_solve(self.matrix, self.factor, right)
        result = []
        for i, (free, _) in enumerate(cases):
            multipliers = jnp.moveaxis(solved[..., i], 0, -1) * self.scale
            result.append((free + jnp.sum(self.spread * multipliers[:, None, None], axis=0), multipliers))
        return result


def proximal_constants(dtype: jnp.dtype) -> tuple[float, int]:
    """The proximal parameter relative to a unit diagonal, and the number of refinement sweeps.

    In float64 it is small for the sake of poses that are nearly singular, where the matrix has small singular values
    that count: in the N-four-bar benchmark, 1e-10 and two sweeps lose 1.2e-6 J in one step, these 1e-9 J.
    """
    return (1e-12, 3) if dtype == jnp.float64 else (1e-6, 3)


def factorise(rows: Rows, plan: RowPlan, inverse: InverseInertia) -> ConstraintSolver:
    """Form and factor the system of all rows."""
    jacobian = spread_rows(rows, plan, inverse.mass.shape[0])
    spread = inverse.times(jacobian)
    matrix = jnp.einsum("rbcl,sbcl->lrs", jacobian, spread, precision=jax.lax.Precision.HIGHEST)
    matrix, scale = unit_diagonal(matrix)
    return ConstraintSolver(jacobian, spread, scale.T, matrix, proximal_factor(matrix))


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
