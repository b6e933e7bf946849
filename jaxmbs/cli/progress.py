"""A progress bar for a run, fed from inside the compiled program."""

import time
from collections.abc import Callable
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Channel:
    """Leads from the compiled program, which outlives a run, to whoever listens now."""

    def __init__(self) -> None:
        self.listener: Callable[[float], None] | None = None

    def send(self, progress: Any) -> None:
        if self.listener is not None:
            self.listener(float(progress))


CHANNEL = Channel()


class ChannelMeter(diffrax.AbstractProgressMeter[Array]):
    """Reports after the first step, then at least every hundredth of the run, and at its end."""

    def init(self) -> Array:
        return jnp.asarray(-1.0)

    def step(self, state: Array, progress: Any) -> Array:
        progress = jnp.asarray(progress, state.dtype)
        due = (progress - state >= 0.01) | (progress >= 1)
        jax.lax.cond(due, lambda: jax.debug.callback(CHANNEL.send, progress), lambda: None)
        return jnp.where(due, progress, state)

    def close(self, state: Array) -> None:
        del state


class MeteredAdjoint(diffrax.AbstractAdjoint):
    """Another adjoint, with a progress meter."""

    adjoint: diffrax.AbstractAdjoint
    meter: diffrax.AbstractProgressMeter

    def loop(self, *, init_state: Any, progress_meter: Any, **arguments: Any) -> Any:
        none = lambda leaf: leaf is None  # noqa: E731
        metered = eqx.tree_at(lambda s: s.progress_meter_state, init_state, self.meter.init(), is_leaf=none)
        state, stats = self.adjoint.loop(init_state=metered, progress_meter=self.meter, **arguments)
        return eqx.tree_at(lambda s: s.progress_meter_state, state, None), stats


class RunProgress:
    """A bar on the error stream; also measures how long compiling and integrating took [s].

    Use it as a context manager around the run, and pass `adjoint` to `simulate`.
    """

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
        self.progress = Progress(
            *columns,
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.progress.add_task("compiling", total=None)
        self.started = time.perf_counter()
        self.compiled: float | None = None
        self.ended = self.started

    @property
    def adjoint(self) -> diffrax.AbstractAdjoint:
        return MeteredAdjoint(diffrax.RecursiveCheckpointAdjoint(), ChannelMeter())

    @property
    def compile_seconds(self) -> float:
        return (self.ended if self.compiled is None else self.compiled) - self.started

    @property
    def run_seconds(self) -> float:
        return self.ended - (self.ended if self.compiled is None else self.compiled)

    def _heard(self, fraction: float) -> None:
        if self.compiled is None:
            self.compiled = time.perf_counter()
        self.progress.update(self.task, description="integrating", total=1.0, completed=fraction)

    def phase(self, description: str) -> None:
        """Show what follows the run."""
        self.progress.update(self.task, description=description, total=None, completed=0)

    def finished(self) -> None:
        """The run is done: stop its clock."""
        jax.effects_barrier()
        self.ended = time.perf_counter()

    def __enter__(self) -> "RunProgress":
        CHANNEL.listener = self._heard
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        CHANNEL.listener = None
        self.progress.stop()
