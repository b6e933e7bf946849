"""Explicit Runge-Kutta on the index-1 form, projected onto the constraints after each step."""

import functools
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._term import MultibodyTerm, StepArguments
from jaxmbs.dynamics.projection import project, project_velocity
from jaxmbs.dynamics.system import LaneState, context
from jaxmbs.solvers._base import AbstractIntegrator, StepPlan
from jaxmbs.solvers._failures import failures, guarded
from jaxmbs.solvers._grid_steps import GridSteps


#: Explicit Diffrax methods by the name that users give.
METHODS = {
    "tsit5": diffrax.Tsit5,
    "dopri5": diffrax.Dopri5,
    "dopri8": diffrax.Dopri8,
    "bosh3": diffrax.Bosh3,
    "heun": diffrax.Heun,
    "midpoint": diffrax.Midpoint,
    "ralston": diffrax.Ralston,
}


class RungeKutta(AbstractIntegrator):
    """An explicit Runge-Kutta method with projection, with fixed or adaptive steps.

    - method: one of `tsit5` (default), `dopri5`, `dopri8`, `bosh3`, `heun`, `midpoint`, `ralston`.
    - rtol, atol: give both for adaptive steps; `dt` is then the first step. In a batch all lanes share the step,
      which follows the error over all of them; `jax.vmap(simulate)` gives every instance its own steps, and runs
      as long as the slowest one.
    - max_steps: of an adaptive run.
    """

    method: str = eqx.field(static=True, default="tsit5")
    rtol: float | None = eqx.field(static=True, default=None)
    atol: float | None = eqx.field(static=True, default=None)
    max_steps: int = eqx.field(static=True, default=65536)

    def __check_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"unknown method {self.method!r}; choose one of {', '.join(METHODS)}")
        if (self.rtol is None) != (self.atol is None):
            raise ValueError("give rtol and atol together for adaptive steps, or neither for fixed steps")

    @property
    def name(self) -> str:
        steps = f"adaptive steps, rtol {self.rtol:g}, atol {self.atol:g}" if self.adaptive else "fixed steps"
        return f"{self.method} with projection, {steps}"

    @property
    def adaptive(self) -> bool:
        return self.rtol is not None

    @property
    def tableau(self) -> diffrax.ButcherTableau:
        return METHODS[self.method].tableau

    def plan(self, grid: Array, kinks: Array, h: Array, *, interpolate: bool, reproject: bool) -> StepPlan:
        if self.rtol is None or self.atol is None:
            solver = ProjectedRungeKutta(self.method, interpolate=interpolate, reproject=reproject, smallest=None)
            return StepPlan(solver, GridSteps(grid), None, grid.shape[0] - 1)
        # in low precision, times cannot be told apart below a few roundings
        rounding = 16 * float(jnp.finfo(grid.dtype).eps) * jnp.maximum(jnp.abs(grid[0]), jnp.abs(grid[-1]))
        smallest = jnp.maximum(1e-6 * h, rounding)
        solver = ProjectedRungeKutta(self.method, interpolate=True, reproject=reproject, smallest=smallest)
        controller = diffrax.PIDController(
            rtol=self.rtol,
            atol=self.atol,
            norm=_worst_lane,
            dtmin=smallest,
            force_dtmin=True,
            error_order=self._error_order,
        )
        clipped = diffrax.ClipStepSizeController(controller, step_ts=kinks) if kinks.shape[0] else controller
        return StepPlan(solver, clipped, h, self.max_steps)

    @property
    def _error_order(self) -> float:
        return METHODS[self.method]().error_order(None)

    def growth(self, z: np.ndarray) -> np.ndarray:
        """|1 + z b (I - z A)^-1 1| (Hairer & Wanner, Solving Ordinary Differential Equations II, equation IV.3.2)."""
        a, b, _, _ = coefficients(self.tableau)
        stages = b.size
        solved = np.linalg.solve(
            np.eye(stages) - np.asarray(z)[..., None, None] * a, np.ones((*np.shape(z), stages, 1))
        )
        return np.abs(1 + z * (solved[..., 0] @ b))


def coefficients(tableau: diffrax.ButcherTableau) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, b, b_error and c of the stages that the solution needs.

    A last stage without weight in the solution (first-same-as-last methods) is left out of A, b and c: it is
    evaluated at the projected end of the step, and only where an error estimate or interpolation needs it.
    """
    stages = tableau.num_stages
    a, c = np.zeros((stages, stages)), np.zeros(stages)
    c[1:] = tableau.c
    for i, row in enumerate(tableau.a_lower):
        a[i + 1, : i + 1] = row
    needed = stages - 1 if tableau.fsal else stages
    return a[:needed, :needed], tableau.b_sol[:needed], tableau.b_error, c[:needed]


def weighted(weights: Array, slopes: Array) -> Array:
    """The sum of weights times stages, in plain arithmetic, which fuses with its neighbours."""
    return functools.reduce(jnp.add, [weights[i] * slopes[i] for i in range(slopes.shape[0])])


class ProjectedRungeKutta(diffrax.AbstractAdaptiveSolver):
    """The Diffrax solver behind `RungeKutta`.

    The stages run in one `lax.scan`, so that the equations of motion are traced once. Each step evaluates its own
    first stage: the end of the last step was projected, and functions of time may have a kink there.

    **References:** Hairer & Wanner, Solving Ordinary Differential Equations II, section VII.2 (projection).
    """

    method: str = eqx.field(static=True)
    interpolate: bool = eqx.field(static=True)
    reproject: bool = eqx.field(static=True)
    #: The smallest adaptive step, at which failures are final; `None` for fixed steps.
    smallest: Array | None

    term_structure = MultibodyTerm
    interpolation_cls = diffrax.ThirdOrderHermitePolynomialInterpolation

    def order(self, terms: Any) -> int:
        return METHODS[self.method]().order(terms)

    def error_order(self, terms: Any) -> Any:
        return METHODS[self.method]().error_order(terms)

    def init(self, terms: Any, t0: Any, t1: Any, y0: LaneState, args: Any) -> None:
        return None

    def func(self, terms: Any, t0: Any, y0: LaneState, args: StepArguments) -> LaneState:
        return terms.vf(t0, y0, StepArguments(args.system, jnp.reshape(t0, (1, 1))))

    def step(
        self, terms: Any, t0: Any, t1: Any, y0: LaneState, args: StepArguments, solver_state: None, made_jump: Any
    ) -> Any:
        del solver_state, made_jump
        h = terms.contr(t0, t1)
        middle, end = jnp.reshape(t0 + h / 2, (1, 1)), jnp.reshape(t1, (1, 1))
        system = args.system
        arguments = StepArguments(system, middle)
        start = y0
        if self.reproject:
            now = context(system, jnp.reshape(t0, (1, 1)), middle, y0)
            start = project_velocity(system, now, y0)
        a, b, b_error, c = (jnp.asarray(x, h.dtype) for x in coefficients(METHODS[self.method].tableau))
        stages = b.shape[0]

        def combine(weights: Array, slopes: LaneState) -> LaneState:
            return jax.tree.map(lambda y, k: y + h * weighted(weights, k), start, slopes)

        def stage(slopes: LaneState, i: Array) -> tuple[LaneState, None]:
            slope = terms.vf(t0 + c[i] * h, combine(a[i], slopes), arguments)
            return jax.tree.map(lambda k, new: k.at[i].set(new), slopes, slope), None

        empty = jax.tree.map(lambda leaf: jnp.zeros((stages, *leaf.shape), leaf.dtype), start)
        slopes, _ = jax.lax.scan(stage, empty, jnp.arange(stages))
        y1, gap = project(system, end, middle, combine(b, slopes))

        failed, code = failures(y1, gap)
        if self.smallest is not None:
            # a rejected step is no failure; only one that cannot get smaller is
            failed = failed & (h <= self.smallest * 1.001)
        y1, keep, broke = guarded(y0, y1, failed, code, t1)
        alive = y0.failure[1] == 0

        error, k0, k1 = None, None, None
        if self.interpolate:
            last = terms.vf(t1, y1, arguments)
            if b_error.shape[0] > stages:
                slopes = jax.tree.map(lambda k, new: jnp.concatenate([k, new[None]]), slopes, last)
            error = jax.tree.map(lambda k: h * weighted(b_error, k), slopes)
            k0 = jax.tree.map(lambda k: jnp.where(keep, h * k[0], 0.0), slopes)
            k1 = jax.tree.map(lambda k: jnp.where(keep, h * k, 0.0), last)
            error = jax.tree.map(lambda e: jnp.where(keep | ~alive, e, jnp.inf), error)
            error = jax.tree.map(lambda e: jnp.where(alive & ~broke, e, 0.0), error)
        else:
            k0 = k1 = jax.tree.map(jnp.subtract, y1, y0)
        dense = {"y0": y0, "y1": y1, "k0": k0, "k1": k1}
        return y1, error, dense, None, diffrax.RESULTS.successful


def _worst_lane(error: LaneState) -> Array:
    """The root mean square over what a lane integrates, of the lane where it is largest."""
    leaves = jax.tree.leaves((error.pose, error.vel, error.omega, error.aux, error.work))
    lanes = error.work.shape[-1]
    parts = [leaf.reshape(-1, lanes) for leaf in leaves]
    squares = sum(jnp.sum(part * part, axis=0) for part in parts)
    mean = squares / sum(part.shape[0] for part in parts)
    positive = mean > 0
    return jnp.max(jnp.where(positive, jnp.sqrt(jnp.where(positive, mean, 1.0)), 0.0))
