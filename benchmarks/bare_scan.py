"""The steps of an integrator without Diffrax around them, to see what the loop costs."""

import jax
import jax.numpy as jnp
from jax import Array

import jaxmbs as mbs
from jaxmbs._inputs import make_inputs
from jaxmbs._term import MultibodyTerm, StepArguments
from jaxmbs.dynamics.system import LaneState, common_batch, make_system, state_to_lanes
from jaxmbs.solvers import AbstractIntegrator


def bare_scan(
    model: mbs.Model, state: mbs.State, integrator: AbstractIntegrator, *, dt: float, steps: int
) -> LaneState:
    """The state after fixed steps by `integrator`'s solver in one `lax.scan`; the start is taken as closed."""
    inputs = make_inputs(model, None)
    batch = common_batch(model, inputs, state)
    system = make_system(model, inputs, batch)
    grid = jnp.arange(steps + 1, dtype=model.dtype) * jnp.asarray(dt, model.dtype)
    plan = integrator.plan(grid, grid[:0], jnp.asarray(dt, model.dtype), interpolate=False, reproject=False)
    arguments = StepArguments(system, grid[0].reshape(1, 1))
    term = MultibodyTerm()
    y0 = state_to_lanes(model, state, batch)
    memory = plan.solver.init(term, grid[0], grid[1], y0, arguments)

    def step(carry: tuple[LaneState, object], times: tuple[Array, Array]) -> tuple[tuple[LaneState, object], None]:
        y, memory = carry
        y, _, _, memory, _ = plan.solver.step(term, *times, y, arguments, memory, jnp.asarray(False))
        return (y, memory), None

    (y, _), _ = jax.lax.scan(step, (y0, memory), (grid[:-1], grid[1:]))
    return y
