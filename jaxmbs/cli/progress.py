"""A progress bar for a run, fed from inside the compiled program."""

import contextlib
import functools
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import diffrax
import jax
import jax.monitoring
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


class CompileClock:
    """Seconds that JAX spent on tracing and compiling; it listens as long as the process lives."""

    def __init__(self) -> None:
        #: Disjoint spans of time, in order.
        self.spans: list[tuple[float, float]] = []
        jax.monitoring.register_event_duration_secs_listener(self._heard)

    @property
    def seconds(self) -> float:
        return sum(end - start for start, end in self.spans)

    def _heard(self, event: str, duration_secs: float, **_: Any) -> None:
        if event.startswith("/jax/core/compile/"):
            now = time.perf_counter()
            # functions are traced inside others: an outer span swallows the inner ones
            while self.spans and self.spans[-1][0] >= now - duration_secs:
                self.spans.pop()
            self.spans.append((max(now - duration_secs, self.spans[-1][1] if self.spans else -math.inf), now))


@functools.cache
def compile_clock() -> CompileClock:
    """The one clock of the process."""
    return CompileClock()


class RunProgress:
    """A bar on the error stream, as a context manager around the phases of a command.

    Without a terminal nothing is shown, and the compiled program has no calls to the host in it.
    """

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
        self.shown = console.is_terminal
        self.progress = Progress(
            *columns,
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not self.shown,
        )
        self.task = self.progress.add_task("reading", total=None)

    @property
    def meter(self) -> diffrax.AbstractProgressMeter | None:
        """What to pass to `simulate`, so that the bar follows the run."""
        return ChannelMeter() if self.shown else None

    def _heard(self, fraction: float) -> None:
        self.progress.update(self.task, description="integrating", total=1.0, completed=fraction)

    def phase(self, description: str) -> None:
        """Show what is done now; "compiling" lasts until the first step was taken."""
        self.progress.reset(self.task, total=None, description=description)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Take the bar away while something else is printed."""
        self.progress.stop()
        yield
        self.progress.start()

    def __enter__(self) -> "RunProgress":
        CHANNEL.listener = self._heard
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        CHANNEL.listener = None
        self.progress.stop()


class Stopwatch:
    """Wall time and the part of it that JAX spent compiling [s], from the start until `stop`."""

    def __init__(self) -> None:
        self.clock = compile_clock()
        self.started, self.compiled_before = time.perf_counter(), self.clock.seconds
        self.wall = self.compiling = 0.0

    def stop(self) -> "Stopwatch":
        self.wall = time.perf_counter() - self.started
        self.compiling = min(self.clock.seconds - self.compiled_before, self.wall)
        return self

    @property
    def running(self) -> float:
        return self.wall - self.compiling
