"""How fast a mechanism runs: throughput, compile time, memory and the cost of a gradient."""

import dataclasses
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax import Array

from jaxmbs._inputs import Input
from jaxmbs._model import Model
from jaxmbs._results import SimulationError, Status
from jaxmbs._simulate import simulate
from jaxmbs._solution import Solution
from jaxmbs.cli.progress import Stopwatch
from jaxmbs.solvers import AbstractIntegrator


#: Timed runs: at least so many, and more until they took so long together [s], up to so many.
FEWEST_REPEATS, ENOUGH_SECONDS, MOST_REPEATS = 3, 10.0, 9
#: Steps of the short rollout that is differentiated.
GRADIENT_STEPS = 32
#: Standard deviation of what is added to the gravity of each instance, so that no two move alike [m/s2].
GRAVITY_SPREAD = 0.1


@dataclasses.dataclass(frozen=True)
class BenchReport:
    """What one combination of batch, precision, step and integrator costs.

    - instance_steps_per_s: steps of all instances in a second; body_steps_per_s: times the moving bodies.
    - compile_s: tracing and compiling of the first call [s].
    - bytes_per_instance: arguments, results and temporary memory of the compiled rollout; `None` where the compiler
      does not say.
    - gradient_ratio: time of value and reverse-mode gradient over time of the value alone, for a scalar of the final
      state of a rollout of at most `GRADIENT_STEPS` steps, with respect to all numbers of the model; `None` where it
      cannot be had.
    - steps: that were taken. max_gap: the largest position residual of any instance at the end [m or rad].
    """

    instance_steps_per_s: float
    body_steps_per_s: float
    compile_s: float
    bytes_per_instance: float | None
    gradient_ratio: float | None
    batch: int
    dtype: str
    dt: float
    steps: int
    max_gap: float


def varied(model: Model, batch: int, seed: int = 0) -> Model:
    """A batch of the model in which every instance has a gravity of its own."""
    noise = GRAVITY_SPREAD * jr.normal(jr.key(seed), (batch, 3), model.dtype)
    return eqx.tree_at(lambda m: m.gravity, model, model.gravity[None] + noise)


def zero_inputs(model: Model) -> dict[str, Input]:
    """Zero for every external value that the model needs."""
    return {name: (np.zeros(1), np.zeros(1)) for name, size in model.input_names().items() if size == 1}


def bench_model(
    model: Model,
    *,
    batch: int,
    dt: float,
    steps: int,
    integrator: AbstractIntegrator | None = None,
    on_phase: Callable[[str], object] = lambda phase: None,
) -> BenchReport:
    """Time rollouts of a batch of one mechanism, in the precision of the model.

    The timed region is a whole call of `simulate` that keeps the final state only; the first call is left out. What
    JAX has compiled before is forgotten first.

    **Arguments:**

    - model: without a batch; external values that it needs are taken as zero.
    - on_phase: is told what is being measured.

    **Raises:** `SimulationError` when an instance fails.
    """
    jax.clear_caches()
    models, inputs = varied(model, batch), zero_inputs(model)

    def rollout(models: Model, steps: int) -> Solution:
        t1 = steps * dt
        return simulate(models, t1=t1, dt=dt, save_at=[t1], inputs=inputs, integrator=integrator)

    on_phase("compiling")
    watch = Stopwatch()
    solution = jax.block_until_ready(rollout(models, steps))
    compile_s = watch.stop().compiling
    _refuse_failures(solution)
    on_phase("running")
    seconds = median_seconds(lambda: rollout(models, steps))
    taken = int(np.max(np.asarray(solution.steps)))
    rate = batch * taken / seconds

    def value(models: Model) -> Array:
        ys = rollout(models, min(steps, GRADIENT_STEPS)).ys
        return sum((jnp.sum(leaf) for leaf in (ys.pos, ys.quat, ys.vel, ys.omega)), jnp.zeros((), model.dtype))

    on_phase("measuring memory")
    jitted: Any = eqx.filter_jit(value)
    compiled = jitted.lower(models).compile()
    on_phase("differentiating")
    return BenchReport(
        instance_steps_per_s=rate,
        body_steps_per_s=rate * model.bodies.fixed.count(False),
        compile_s=compile_s,
        bytes_per_instance=_memory(compiled.compiled, batch),
        gradient_ratio=_gradient_ratio(value, compiled, models),
        batch=batch,
        dtype=str(model.dtype),
        dt=dt,
        steps=taken,
        max_gap=largest_gap(solution),
    )


def median_seconds(call: Callable[[], Any]) -> float:
    """The median time of a call that was made once before [s]."""
    return statistics.median(_repeated(call))


def _repeated(call: Callable[[], Any]) -> Iterator[float]:
    total = 0.0
    for repeat in range(MOST_REPEATS):
        if repeat >= FEWEST_REPEATS and total >= ENOUGH_SECONDS:
            return
        started = time.perf_counter()
        jax.block_until_ready(call())
        seconds = time.perf_counter() - started
        total += seconds
        yield seconds


def _refuse_failures(solution: Solution) -> None:
    codes = np.asarray(solution.status)
    failed = np.flatnonzero(codes)
    if failed.size:
        reason = Status(int(codes[failed[0]])).message
        raise SimulationError(f"{failed.size} of {codes.size} instances failed; number {failed[0]}: {reason}", solution)


def _memory(compiled: Any, batch: int) -> float | None:
    found = compiled.memory_analysis()
    if found is None:
        return None
    return (found.temp_size_in_bytes + found.argument_size_in_bytes + found.output_size_in_bytes) / batch


def _gradient_ratio(value: Callable[[Model], Array], compiled: Any, models: Model) -> float | None:
    """Time of the gradient over time of the value; None where memory does not suffice for it."""
    gradient = eqx.filter_jit(eqx.filter_value_and_grad(value))
    try:
        jax.block_until_ready(gradient(models))
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        return None
    return median_seconds(lambda: gradient(models)) / median_seconds(lambda: compiled(models))


@eqx.filter_jit
def _gap(solution: Solution) -> Array:
    # compiled as a whole, so that no other output is computed
    outputs = solution.outputs()
    found = [outputs[name] for name in ("residual_pos", "constraint_residual") if name in outputs]
    return jnp.max(jnp.concatenate([jnp.ravel(values) for values in found]), initial=0.0) if found else jnp.zeros(())


def largest_gap(solution: Solution) -> float:
    """The largest position residual of all instances at the saved times [m or rad]."""
    return float(_gap(solution))
