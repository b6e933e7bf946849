"""What an engine is to the comparison, and ours."""

import abc
import dataclasses
import time

import jax
import jax.numpy as jnp
import numpy as np

import jaxmbs as mbs
from benchmarks.models import Mechanism
from jaxmbs._bench import largest_gap
from jaxmbs.solvers import AbstractIntegrator


#: Standard deviation of the joint rates that are added to all instances but the first [rad/s or m/s].
RATE_SPREAD = 1e-2
SEED = 0


@dataclasses.dataclass(frozen=True)
class Task:
    """A batch of rollouts. Instance 0 starts as the mechanism says, the others a little off."""

    mechanism: Mechanism
    batch: int
    dt: float
    steps: int

    def rates(self) -> np.ndarray:
        """(batch, freedom) joint rates at t = 0."""
        noise = np.random.default_rng(SEED).normal(size=(self.batch, self.mechanism.freedom))
        noise[0] = 0.0
        return self.mechanism.rates() + RATE_SPREAD * noise


class AbstractRollout(abc.ABC):
    """A task, ready to run again and again."""

    #: Of building and compiling, first call included [s].
    compile_s: float

    @abc.abstractmethod
    def run(self) -> None:
        """All steps from the start, with only the final state kept. This is what is timed."""

    @abc.abstractmethod
    def positions(self) -> np.ndarray:
        """(links, 3) centres of mass of instance 0 after `run` [m]."""

    @abc.abstractmethod
    def gap(self) -> float:
        """The largest distance by which a joint is open after `run` [m or rad]; zero in joint coordinates."""

    def close(self) -> None:
        """Give back what the rollout holds."""


class AbstractEngine(abc.ABC):
    """A simulator with its settings."""

    name: str
    #: What it does in a step, for the report.
    settings: str

    def refusal(self, task: Task) -> str | None:
        """Why it does not do this task, or `None`."""
        del task
        return None

    @abc.abstractmethod
    def prepare(self, task: Task) -> AbstractRollout:
        """Build, compile and run once."""


class Jaxmbs(AbstractEngine):
    """This project. The rollout is `simulate` on the whole batch."""

    def __init__(self, dtype: str, integrator: AbstractIntegrator, label: str) -> None:
        self.dtype, self.integrator = dtype, integrator
        self.name = f"jaxmbs {label} {dtype}"
        self.settings = f"{integrator.name}, hard constraints, {dtype}"

    def prepare(self, task: Task) -> "JaxmbsRollout":
        return JaxmbsRollout(task, self.dtype, self.integrator)


class JaxmbsRollout(AbstractRollout):
    """See `Jaxmbs`."""

    def __init__(self, task: Task, dtype: str, integrator: AbstractIntegrator) -> None:
        self.task, self.integrator = task, integrator
        self.model = mbs.compile_model(task.mechanism.describe(), dtype=dtype)
        self.state = batched_state(self.model, task)
        started = time.perf_counter()
        self.run()
        first = time.perf_counter() - started
        started = time.perf_counter()
        self.run()
        self.compile_s = max(0.0, first - (time.perf_counter() - started))

    def run(self) -> None:
        t1 = self.task.steps * self.task.dt
        self.solution = mbs.simulate(
            self.model, t1=t1, dt=self.task.dt, save_at=[t1], state=self.state, integrator=self.integrator
        )
        jax.block_until_ready(self.solution)

    def positions(self) -> np.ndarray:
        return np.asarray(self.solution.ys.pos, np.float64)[0, -1, 1:]

    def gap(self) -> float:
        return largest_gap(self.solution)


def batched_state(model: mbs.Model, task: Task) -> mbs.State:
    """The start of every instance; the ground is the first body."""
    state = mbs.initial_state(model)
    vel, omega = task.mechanism.body_velocities(task.rates())
    still = np.zeros((task.batch, 1, 3))

    def repeat(leaf: jax.Array) -> jax.Array:
        return jnp.broadcast_to(leaf, (task.batch, *leaf.shape))

    return mbs.State(
        pos=repeat(state.pos),
        quat=repeat(state.quat),
        vel=jnp.asarray(np.concatenate([still, vel], axis=1), model.dtype),
        omega=jnp.asarray(np.concatenate([still, omega], axis=1), model.dtype),
        aux=tuple(map(repeat, state.aux)),
        work=repeat(state.work),
    )
