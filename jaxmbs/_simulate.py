"""Simulate a mechanism, or a batch of them."""

import dataclasses
import math
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from jaxmbs._description import Actuation
from jaxmbs._inputs import Input, Inputs, make_inputs
from jaxmbs._lanes import from_lanes
from jaxmbs._model import Model
from jaxmbs._parts import part_size, run_parts, take_part
from jaxmbs._results import SimulationError, Status
from jaxmbs._solution import Solution, open_elements
from jaxmbs._stability import check_stability
from jaxmbs._state import State, check_state
from jaxmbs._term import MultibodyTerm, StepArguments
from jaxmbs._timing import check_distinct, just_before, padded, save_times, snap_to_grid, step_times
from jaxmbs._tracing import is_traced
from jaxmbs.constraints import FrameJoint, Motor
from jaxmbs.dynamics.assembly import Start, assemble_start
from jaxmbs.dynamics.projection import project
from jaxmbs.dynamics.system import (
    LaneState,
    System,
    common_batch,
    initial_lanes,
    make_system,
    state_of_lanes,
    state_to_lanes,
)
from jaxmbs.solvers import AbstractIntegrator, RungeKutta
from jaxmbs.solvers.projected_runge_kutta import METHODS


#: Memory of a step, in states: what the elimination keeps between its passes, and the stages.
WORKING_STATES = 64


def simulate(
    model: Model,
    *,
    t1: ArrayLike,
    dt: float,
    t0: float = 0.0,
    save_dt: float | None = None,
    save_at: Sequence[float] | np.ndarray | Array | None = None,
    state: State | None = None,
    inputs: Mapping[str, Input] | None = None,
    integrator: AbstractIntegrator | None = None,
    adjoint: diffrax.AbstractAdjoint | None = None,
    progress_meter: diffrax.AbstractProgressMeter | None = None,
) -> Solution:
    """Integrate from `t0` to `t1`.

    A leading batch axis on any leaf of the model, the state or the inputs simulates all instances in one call; each
    of them equals its single run. The start is assembled first: the nearest state, in the mass metric, that closes
    the constraints.

    **Arguments:**

    - model: the mechanism(s).
    - t1, dt: end time and step [s]; the steps taken are of h = (t1 - t0)/N with N = ceil((t1 - t0)/dt), cut where a
      table of a function of time has a kink.
    - save_dt, save_at: save every so many seconds, or at these times; by default at every step.
    - state: where to start; by default as the model file says.
    - inputs: external values by name: a function of (t, state of one instance), or (times, values), linear in
      between and held at the ends.
    - integrator: `solvers.RungeKutta()` (Tsit5 with projection, fixed steps) by default.
    - adjoint: how Diffrax differentiates; `diffrax.RecursiveCheckpointAdjoint()` by default, for reverse mode. Use
      `diffrax.ForwardMode()` for `jax.jvp` and `jax.jacfwd`.
    - progress_meter: how Diffrax reports progress; not at all by default.

    **Returns:** a `Solution`.

    **Raises:** `SimulationError` when a single run fails; a batch returns a status per instance. `ValueError` for
    arguments that make no sense, and for a step at which the explicit method is unstable.
    """
    _check_types(model, integrator, adjoint, progress_meter)
    integrator = RungeKutta() if integrator is None else integrator
    adjoint = diffrax.RecursiveCheckpointAdjoint() if adjoint is None else adjoint
    meter = diffrax.NoProgressMeter() if progress_meter is None else progress_meter
    if isinstance(adjoint, diffrax.BacksolveAdjoint):
        raise ValueError("BacksolveAdjoint is wrong for constrained systems; use RecursiveCheckpointAdjoint")
    _say_what_is_left_out(model)
    checked = make_inputs(model, inputs)
    state = None if state is None else check_state(model, state)
    batch = common_batch(model, checked, state)
    _check_functions_of_time(model, checked)
    grid, kinks, h = step_times(model, checked, t0, t1, dt)
    saves = save_times(grid, save_dt, save_at, _row_bytes(model, batch))
    check_stability(model, checked, state, batch, float(grid[0]), h, integrator)
    on_grid = not integrator.adaptive and snap_to_grid(grid, saves)
    dtype = model.dtype
    check_distinct(saves, dtype)
    times = (
        jnp.asarray(padded(grid), dtype),
        jnp.asarray(kinks if integrator.adaptive else kinks[:0], dtype),
        jnp.asarray(h, dtype),
        jnp.asarray(saves, dtype),
    )

    def run(model: Model, inputs: Inputs, state: State | None, batch: tuple[int, ...]) -> Any:
        return _run(model, inputs, state, *times, integrator, adjoint, meter, batch=batch, interpolate=not on_grid)

    # lanes that share an adaptive step belong together
    if len(batch) == 1 and not integrator.adaptive and progress_meter is None:
        program = (repr(integrator), repr(adjoint), tuple(leaf.shape for leaf in times), on_grid)
        result = _in_parts(run, program, model, checked, state, batch[0], saves.size)
    else:
        result = run(model, checked, state, batch)
    solution = Solution(
        model=model,
        inputs=checked,
        t0=jnp.asarray(grid[0], dtype),
        t1=jnp.asarray(grid[-1], dtype),
        h=jnp.asarray(h, dtype),
        ts=jnp.asarray(saves, dtype),
        ys=result[0],
        status=result[1],
        failed_at=result[2],
        gap=result[3],
        rate_gap=result[4],
        steps=result[5],
        integrator=integrator,
    )
    _raise_on_failure(solution, batch)
    return solution


def _in_parts(
    run: Any, program: Hashable, model: Model, inputs: Inputs, state: State | None, instances: int, saves: int
) -> Any:
    """`run` for a batch, in parts where that is faster or needed; see `jaxmbs._parts`."""
    size = instances
    if not is_traced((model, inputs, state)):
        size = part_size(instances, _row_bytes(model, ()) * (saves + WORKING_STATES))
    if size == instances:
        return run(model, inputs, state, (instances,))

    def part(start: int) -> Any:
        samples = take_part(inputs.samples, inputs.sample_ndims(), start, size)
        own_state = None if state is None else take_part(state, state.core_ndims(), start, size)
        own_inputs = Inputs(samples, inputs.functions, inputs.components)
        return run(take_part(model, model.leaf_ndims, start, size), own_inputs, own_state, (size,))

    leaves, structure = jax.tree.flatten((model, inputs, state))
    shapes = tuple((jnp.shape(leaf), str(jnp.result_type(leaf))) for leaf in leaves if eqx.is_array(leaf))
    return run_parts(part, (structure, shapes, program), instances, size)


def initial_state(model: Model, *, inputs: Mapping[str, Input] | None = None, t0: float = 0.0) -> State:
    """The assembled state from which a run of `model` starts; change it and pass it to `simulate`.

    **Raises:** `SimulationError` when some instance cannot be assembled.
    """
    _check_types(model)
    checked = make_inputs(model, inputs)
    batch = common_batch(model, checked, None)
    time = _instant(t0, model)
    state, _, codes = _assembled(model, checked, None, time, batch)
    if not is_traced(codes) and np.any(np.asarray(codes)):
        lane = int(np.flatnonzero(np.asarray(codes))[0])
        status = Status(int(codes.reshape(-1)[lane]))
        where = f" of instance {lane}" if batch else ""
        raise SimulationError(
            f"{status.message}{where}: {open_elements(model, checked, state, time, batch, lane, status)}"
        )
    return state


def assemble_state(
    model: Model, state: State, *, inputs: Mapping[str, Input] | None = None, t0: float = 0.0
) -> tuple[State, Array]:
    """The state nearest to `state`, in the mass metric, that closes the constraints; and the gap that remains."""
    _check_types(model)
    checked = make_inputs(model, inputs)
    state = check_state(model, state)
    batch = common_batch(model, checked, state)
    return _assembled(model, checked, state, _instant(t0, model), batch)[:2]


def _instant(t0: ArrayLike, model: Model) -> Array:
    time = jnp.asarray(t0, model.dtype)
    if time.shape != () or not (is_traced(time) or np.isfinite(time)):
        raise ValueError(f"t0 needs one finite number in seconds, got {t0!r}")
    return time


def _check_types(model: Any, integrator: Any = None, adjoint: Any = None, progress_meter: Any = None) -> None:
    """Say what is accepted where an argument is of another type."""
    if not isinstance(model, Model):
        raise TypeError(
            f"model needs a jaxmbs.Model, got {type(model).__name__}; jaxmbs.load(path) makes one of a file, and "
            "jaxmbs.compile_model(description) of a description"
        )
    if integrator is not None and not isinstance(integrator, AbstractIntegrator):
        raise TypeError(
            f"integrator needs an object like jaxmbs.solvers.RungeKutta('tsit5'), got {integrator!r}; its methods are "
            f"{', '.join(METHODS)}"
        )
    if adjoint is not None and not isinstance(adjoint, diffrax.AbstractAdjoint):
        raise TypeError(f"adjoint needs an object like diffrax.ForwardMode(), got {adjoint!r}")
    if progress_meter is not None and not isinstance(progress_meter, diffrax.AbstractProgressMeter):
        raise TypeError(f"progress_meter needs an object like diffrax.TqdmProgressMeter(), got {progress_meter!r}")


def _row_bytes(model: Model, batch: tuple[int, ...]) -> int:
    """Bytes of the states of all instances at one time."""
    numbers = 13 * model.bodies.count + 3 + sum(e.count * e.aux_count for e in (*model.constraints, *model.forces))
    return numbers * math.prod(batch) * model.dtype.itemsize


def _failure_codes(start: Start) -> Array:
    """What is wrong with the start of every lane: `Status` codes, (lanes,)."""
    codes = jnp.where(start.unsteady, float(Status.START_VELOCITY), 0.0)
    return jnp.where(start.open, float(Status.ASSEMBLY_FAILED), codes).astype(start.gap.dtype)


@eqx.filter_jit
def _assembled(
    model: Model, inputs: Inputs, state: State | None, t0: Array, batch: tuple[int, ...]
) -> tuple[State, Array, Array]:
    """The assembled state, the gap and the `Status` codes."""
    y = initial_lanes(model, batch) if state is None else state_to_lanes(model, state, batch)
    start = assemble_start(make_system(model, inputs, batch), t0.reshape(1, 1), y)
    codes = _failure_codes(start).astype(jnp.int32)
    return from_lanes(state_of_lanes(start.y), batch), start.gap.reshape(batch), codes.reshape(batch)


@eqx.filter_jit
def _run(
    model: Model,
    inputs: Inputs,
    state: State | None,
    grid: Array,
    kinks: Array,
    h: Array,
    saves: Array,
    integrator: AbstractIntegrator,
    adjoint: diffrax.AbstractAdjoint,
    progress_meter: diffrax.AbstractProgressMeter,
    *,
    batch: tuple[int, ...],
    interpolate: bool,
) -> tuple[State, Array, Array, Array, Array, Array]:
    system = make_system(model, inputs, batch)
    y0 = initial_lanes(model, batch) if state is None else state_to_lanes(model, state, batch)
    start = assemble_start(system, grid[0].reshape(1, 1), y0)
    codes = _failure_codes(start)
    failure = jnp.stack([jnp.where(codes != 0, grid[0], 0.0), codes])
    y0 = eqx.tree_at(lambda y: y.failure, start.y, failure)
    plan = integrator.plan(grid, kinks, h, interpolate=interpolate, reproject=has_velocity_jumps(model))
    sol = diffrax.diffeqsolve(
        MultibodyTerm(),
        plan.solver,
        t0=grid[0],
        t1=grid[-1],
        dt0=plan.dt0,
        y0=y0,
        args=StepArguments(system, grid[0].reshape(1, 1)),
        saveat=diffrax.SaveAt(
            subs=[diffrax.SubSaveAt(ts=saves), diffrax.SubSaveAt(t1=True, fn=lambda t, y, args: y.failure)]
        ),
        stepsize_controller=plan.controller,
        adjoint=adjoint,
        max_steps=plan.max_steps,
        throw=False,
        progress_meter=progress_meter,
    )
    ys, status, failed_at = _outcome(sol, saves)
    if interpolate:
        ys = _project_saved(system, saves, just_before(saves, grid[0]), ys)
    # time becomes the axis after the batch axes
    states = jax.vmap(lambda y: from_lanes(state_of_lanes(y), batch))(ys)
    states = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, len(batch)), states)
    status, failed_at, gap, rate_gap = (leaf.reshape(batch) for leaf in (status, failed_at, start.gap, start.rate_gap))
    return states, status, failed_at, gap, rate_gap, sol.stats["num_steps"]


def _outcome(sol: diffrax.Solution, saves: Array) -> tuple[LaneState, Array, Array]:
    """Saved states, status and time of failure of every lane.

    What an adaptive run did not reach holds the last state that it did (the start, if it saved none).
    """
    (reached_at, end), (ys, failure) = sol.ts, sol.ys  # pyright: ignore[reportGeneralTypeIssues]
    reached = jnp.isfinite(reached_at)
    last = jnp.maximum(jnp.sum(reached) - 1, 0)

    def fill(leaf: Array) -> Array:
        held = jnp.where(jnp.isfinite(leaf[last]), leaf[last], 0.0)
        return jnp.where(reached.reshape((-1,) + (1,) * (leaf.ndim - 1)), leaf, held)

    time, code = failure[-1]
    unfinished = (sol.result != diffrax.RESULTS.successful) & (code == 0)
    status = jnp.where(unfinished, float(Status.MAX_STEPS), code).astype(jnp.int32)
    stopped = jnp.where(jnp.isfinite(end[-1]), end[-1], reached_at[last])
    failed_at = jnp.where(unfinished, stopped, jnp.where(code == 0, jnp.inf, time))
    states: LaneState = jax.tree.map(fill, ys)
    # interpolation may have touched what says whether a lane had failed by then
    failed = (saves[:, None] >= failed_at[None]).astype(time.dtype)
    return dataclasses.replace(states, failure=failed[:, None] * failure[-1][None]), status, failed_at


def _project_saved(system: System, saves: Array, before: Array, ys: LaneState) -> LaneState:
    """Interpolated states, back onto the constraints, one save time after the other."""

    def one(time: Array, selector: Array, y: LaneState) -> LaneState:
        projected, _ = project(system, time.reshape(1, 1), selector.reshape(1, 1), y)
        # lanes that failed keep what they had
        keep = y.failure[1] == 0
        return jax.tree.map(lambda new, old: jnp.where(keep, new, old), projected, y)

    return jax.lax.map(lambda item: one(*item), (saves, before, ys))


def _say_what_is_left_out(model: Model) -> None:
    """Refuse flexible bodies, warn of contact."""
    parts = dict(model.not_simulated)
    if parts.get("fea"):
        raise ValueError(
            f"flexible bodies (FEA) are not simulated: {', '.join(parts['fea'])}; remove them to run the rest"
        )
    if parts.get("contact"):
        warnings.warn(f"contact is not simulated: {', '.join(parts['contact'])}", stacklevel=3)


def has_velocity_jumps(model: Model) -> bool:
    """Whether a motor may prescribe a velocity that jumps: a POSITION with a kink, or a SPEED with a jump."""
    for _, motor in _motion_motors(model):
        group, _ = model.functions.places[motor.function]
        kinked = motor.actuation is Actuation.POSITION and group in ("table", "input")
        if kinked or model.functions.repeated[motor.function]:
            return True
    return False


def _motion_motors(model: Model) -> list[tuple[str, Motor]]:
    """POSITION and SPEED motors by name."""
    return [
        (name, motor)
        for joints in model.constraints
        if isinstance(joints, FrameJoint)
        for name, motor in zip(joints.names, joints.motors, strict=True)
        if motor is not None and motor.actuation is not Actuation.FORCE
    ]


def _check_functions_of_time(model: Model, inputs: Inputs) -> None:
    """POSITION and SPEED motors need functions of time alone: their rates are derivatives in time."""
    for name, motor in _motion_motors(model):
        group, place = model.functions.places[motor.function]
        if group == "input":
            function = inputs.functions.get(model.functions.inputs[place])
            if function is not None:
                _check_ignores_state(name, motor.actuation, function)


def _check_ignores_state(name: str, actuation: Actuation, function: Any) -> None:
    try:
        jax.eval_shape(lambda t: jnp.asarray(function(t, None)), jax.ShapeDtypeStruct((), jnp.result_type(float)))
    except Exception as error:
        raise ValueError(
            f"{actuation.name} motor {name!r}: its input must be a function of time alone (it is called with the state "
            f"None here, which gave {type(error).__name__}: {error}); use a FORCE motor for feedback"
        ) from None


def _raise_on_failure(solution: Solution, batch: tuple[int, ...]) -> None:
    if batch or is_traced(solution.status):
        return
    if int(solution.status) != Status.OK:
        raise SimulationError(solution.explain(), solution)
