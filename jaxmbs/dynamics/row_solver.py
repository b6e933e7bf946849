"""All constraint rows alike, for assembly: a gap that cannot close is shared between them."""

import dataclasses

import jax
import jax.numpy as jnp
from jax import Array

from jaxmbs.dynamics.inertia import inverse_inertia
from jaxmbs.dynamics.loops import solve_large
from jaxmbs.dynamics.rows import Rows, Values, spread_rows
from jaxmbs.dynamics.system import BodyKinematics, System


@dataclasses.dataclass(frozen=True)
class RowSolver:
    """The system J M^-1 J^T of all rows at one pose.

    - jacobian: J as (rows, bodies, 6, lanes); spread: M^-1 J^T in the same shape.
    - matrix: J M^-1 J^T, (rows, rows, 1, lanes).
    """

    rows: Rows
    jacobian: Array
    spread: Array
    matrix: Array

    def constrain_all(self, cases: list[tuple[Array, Values]]) -> list[Array]:
        """The motions nearest to free ones in the mass metric with J a = target.

        **Arguments:** pairs of a free motion (bodies, 6, lanes), linear before angular, world axes, and targets.
        """
        # One array for all cases: the rule of JAX for transposing a linear solve takes no right-hand side that is zero
        # in parts.
        misses = [
            self.rows.together(target) - jnp.sum(self.jacobian * free[None], axis=(1, 2)) for free, target in cases
        ]
        fixed = jax.lax.stop_gradient(self.matrix)
        size = fixed[jnp.arange(fixed.shape[0]), jnp.arange(fixed.shape[0])]

        def product(x: Array) -> Array:
            return jnp.sum(self.matrix[None] * x[:, None], axis=2)

        def solve(_, right: Array) -> Array:
            return jnp.stack(solve_large(fixed, size, list(right)))

        right = jnp.stack(misses)[:, :, None]
        pulls = jax.lax.custom_linear_solve(product, right, solve, solve, symmetric=True)[:, :, 0]
        return [
            free + jnp.sum(self.spread * pull[:, None, None], axis=0)
            for (free, _), pull in zip(cases, pulls, strict=True)
        ]


def row_solver(system: System, bodies: BodyKinematics, rows: Rows) -> RowSolver:
    """Form J M^-1 J^T at the present pose."""
    jacobian = spread_rows(rows, rows.plan, system.model.bodies.count)
    spread = inverse_inertia(system, bodies).times(jacobian)
    matrix = jnp.sum(jacobian[:, None] * spread[None], axis=(2, 3))[:, :, None]
    return RowSolver(rows, jacobian, spread, matrix)
