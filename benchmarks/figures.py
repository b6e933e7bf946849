"""Ratios that tables of single mechanisms do not show."""

import dataclasses
import time
from collections.abc import Callable

import equinox as eqx
import jax

import jaxmbs as mbs
from benchmarks.bare_scan import bare_scan
from benchmarks.engines import AbstractRollout, Jaxmbs, Task, batched_state
from benchmarks.models import MECHANISMS
from benchmarks.timing import alternating_medians
from jaxmbs.solvers import AbstractIntegrator


@dataclasses.dataclass(frozen=True)
class Figure:
    """One number, with what it is made of."""

    name: str
    value: float
    detail: str


@dataclasses.dataclass(frozen=True)
class Settings:
    """How the figures are measured."""

    dtype: str
    integrator: AbstractIntegrator
    batch: int
    dt: float
    steps: int
    repeats: int

    def rollout(self, name: str) -> AbstractRollout:
        task = Task(MECHANISMS[name](), self.batch, self.dt, self.steps)
        return Jaxmbs(self.dtype, self.integrator, "").prepare(task)


def per_body(settings: Settings, large: str, small: str) -> Figure:
    """Time per body of the larger mechanism over that of the smaller."""
    rollouts = {name: settings.rollout(name) for name in (large, small)}
    found = alternating_medians({name: item.run for name, item in rollouts.items()}, settings.repeats)
    each = {name: seconds / len(MECHANISMS[name]().links) for name, seconds in found.items()}
    detail = ", ".join(f"{name} {1e3 * seconds:.3g} ms per body" for name, seconds in each.items())
    return Figure(f"time per body, {large} / {small}", each[large] / each[small], detail)


def cold_compile(settings: Settings, name: str) -> Figure:
    """Seconds of the first call beyond those of a second one, with nothing compiled before."""
    jax.clear_caches()
    rollout = settings.rollout(name)
    return Figure(f"cold compile of {name} [s]", rollout.compile_s, f"batch {settings.batch}")


def diffrax_loop(settings: Settings, name: str) -> Figure:
    """Time of `simulate` over that of a scan of the same step, both as one compiled program."""
    task = Task(MECHANISMS[name](), settings.batch, settings.dt, settings.steps)
    model = mbs.compile_model(task.mechanism.describe(), dtype=settings.dtype)
    start = batched_state(model, task)
    t1 = settings.steps * settings.dt

    @eqx.filter_jit
    def whole(model: mbs.Model, state: mbs.State) -> mbs.State:
        options = {"dt": settings.dt, "save_at": [t1], "integrator": settings.integrator}
        return mbs.simulate(model, t1=t1, state=state, **options).ys

    @eqx.filter_jit
    def bare(model: mbs.Model, state: mbs.State) -> object:
        return bare_scan(model, state, settings.integrator, dt=settings.dt, steps=settings.steps)

    calls: dict[str, Callable[[], object]] = {
        "simulate": lambda: jax.block_until_ready(whole(model, start)),
        "scan": lambda: jax.block_until_ready(bare(model, start)),
    }
    for call in calls.values():
        call()
    found = alternating_medians(calls, settings.repeats)
    detail = ", ".join(f"{key} {seconds:.3g} s" for key, seconds in found.items())
    return Figure(f"Diffrax loop / bare scan, {name}", found["simulate"] / found["scan"], detail)


def measure(settings: Settings, on_phase: Callable[[str], object]) -> list[Figure]:
    """All figures, slow ones last."""
    plan: dict[str, Callable[[], Figure]] = {
        "cold compile, slider-crank": lambda: cold_compile(settings, "slider-crank"),
        "cold compile, chain-256": lambda: cold_compile(settings, "chain-256"),
        "Diffrax loop, slider-crank": lambda: diffrax_loop(settings, "slider-crank"),
        "Diffrax loop, chain-16": lambda: diffrax_loop(settings, "chain-16"),
        "hubs": lambda: per_body(settings, "hub-48", "hub-12"),
        "chains": lambda: per_body(settings, "chain-256", "chain-16"),
    }
    found = []
    for name, figure in plan.items():
        started = time.perf_counter()
        on_phase(name)
        found.append(figure())
        on_phase(f"{name}: {time.perf_counter() - started:.0f} s")
    return found
