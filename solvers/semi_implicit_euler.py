"""Semi-implicit Euler: one elimination per step."""

import dataclasses
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._kinematics import Pose
from jaxmbs._math import Vec3
from jaxmbs._term import MultibodyTerm, StepArguments
from jaxmbs.dynamics.acceleration import (
    applied_wrenches,
    aux_rates,
    body_rows,
    driven_power,
    free_wrench,
    six,
    with_motor_work,
)
from jaxmbs.dynamics.projection import extent, nudged
from jaxmbs.dynamics.rows import largest, linearised_rows, negative
from jaxmbs.dynamics.solve import make_solver, row_rates
from jaxmbs.dynamics.system import LaneState, System, context, kinematics
from jaxmbs.solvers._base import AbstractIntegrator, StepPlan
from jaxmbs.solvers._failures import failures, guarded
from jaxmbs.solvers._grid_steps import GridSteps


class SemiImplicitEuler(AbstractIntegrator):
    """The fastest integrator, of first order: poses move with the old velocities, velocities with the forces there.

    One evaluation and one elimination per step serve the velocities and the return of the poses to the constraints.
    Projecting the velocities of bodies that turn takes (h w)^2/2 of their energy per step.

    **References:** Hairer, Lubich & Wanner, Geometric Numerical Integration, section I.1.2; Stewart & Trinkle (1996)
    for constraints on the level of velocities.
    """

    @property
    def name(self) -> str:
        return "semi-implicit Euler, fixed steps"

    @property
    def adaptive(self) -> bool:
        return False

    def plan(self, grid: Array, kinks: Array, h: Array, *, interpolate: bool, reproject: bool) -> StepPlan:
        del kinks, h, interpolate, reproject
        return StepPlan(SemiImplicitEulerSolver(), GridSteps(grid), None, grid.shape[0] - 1)

    def growth(self, z: np.ndarray) -> np.ndarray:
        """The larger root of m^2 - (2 - hc - h^2 k) m + 1 - hc = 0, for the oscillator x" + c x' + k x = 0 of z.

        A real eigenvalue is taken for a critically damped pair.
        """
        z = np.asarray(z, complex)
        damping, stiffness = -2 * np.real(z), np.abs(z) ** 2
        half = (2 - damping - stiffness) / 2
        root = np.sqrt(half.astype(complex) ** 2 - (1 - damping))
        return np.maximum(np.abs(half + root), np.abs(half - root))


class SemiImplicitEulerSolver(diffrax.AbstractSolver):
    """The Diffrax solver behind `SemiImplicitEuler`; values between steps are linear."""

    term_structure = MultibodyTerm
    interpolation_cls = diffrax.ThirdOrderHermitePolynomialInterpolation

    def order(self, terms: Any) -> int:
        return 1

    def init(self, terms: Any, t0: Any, t1: Any, y0: LaneState, args: Any) -> None:
        return None

    def func(self, terms: Any, t0: Any, y0: LaneState, args: StepArguments) -> LaneState:
        return terms.vf(t0, y0, StepArguments(args.system, jnp.reshape(t0, (1, 1))))

    def step(
        self, terms: Any, t0: Any, t1: Any, y0: LaneState, args: StepArguments, solver_state: None, made_jump: Any
    ) -> Any:
        del solver_state, made_jump
        h = terms.contr(t0, t1)
        time, middle = jnp.reshape(t1, (1, 1)), jnp.reshape(t0 + h / 2, (1, 1))
        y1, gap = semi_implicit_step(args.system, h, time, middle, y0)
        y1, _, _ = guarded(y0, y1, *failures(y1, gap), t1)
        change = jax.tree.map(jnp.subtract, y1, y0)
        dense = {"y0": y0, "y1": y1, "k0": change, "k1": change}
        return y1, None, dense, None, diffrax.RESULTS.successful


@eqx.filter_jit
def semi_implicit_step(system: System, h: Array, time: Array, selector: Array, y: LaneState) -> tuple[LaneState, Array]:
    """One step of length h that ends at `time`; returns an estimate of the gap that is left, too, (lanes,).

    At the poses q* = q + h v the velocities solve

        M (v' - v) = h w + J^T p,    J v' = -g_t,

    and the poses move by the nearest correction that closes their gap; what it leaves is of the square of the gap.
    """
    turned = jax.tree.map(lambda q, rate: q + h * rate, y.pose.quat, y.pose.quat.rate_body(y.omega)).normalised()
    pose = Pose(y.pose.pos + y.vel * h, turned)
    moved = dataclasses.replace(y, pose=pose)
    bodies = kinematics(system, moved)
    now = context(system, time, selector, moved)
    rows = linearised_rows(system, bodies, moved, now)
    applied, work_rate = applied_wrenches(system, bodies, moved, now)
    wrench = free_wrench(system, bodies, moved, applied)
    solver = make_solver(system, bodies, rows)
    (change, impulse), (shift, _) = solver.solve_all(
        [(wrench * h, negative(rows.speeds)), (jnp.zeros_like(wrench), negative(rows.residuals))]
    )
    body = body_rows(bodies)
    v = six(body.vel, body.omega) + change
    pose = nudged(pose, shift)
    y1 = LaneState(
        pose=pose,
        vel=Vec3(v[:, 0], v[:, 1], v[:, 2]),
        omega=pose.quat.matrix().transposed_times(Vec3(v[:, 3], v[:, 4], v[:, 5])),
        aux=[a + h * rate for a, rate in zip(y.aux, aux_rates(system, bodies, now, moved), strict=True)],
        work=y.work + with_motor_work(h * work_rate, driven_power(system, rows, impulse, y.work[1])),
        failure=y.failure,
    )
    # what a Newton step leaves is of the square of the gap, unless the rows contradict each other
    gap = largest(rows, rows.residuals)
    left = gap * gap / extent(moved)
    if solver.topology.loop_rows.size:
        left = left + largest(rows, jax.tree.map(jnp.add, rows.residuals, row_rates(rows, shift)))
    return y1, left
