"""Measure jaxmbs beside other engines: `python -m benchmarks.run compare --help`."""

import dataclasses
import datetime
import importlib.metadata
import json
import os
import platform
from pathlib import Path
from typing import Annotated, Any

import jax
import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import jaxmbs as mbs
from benchmarks import figures as extra
from benchmarks.engines import AbstractEngine, AbstractRollout, Jaxmbs, Task
from benchmarks.models import MECHANISMS
from benchmarks.peers import Exudyn, Mjx, Mujoco
from benchmarks.reference import reference
from benchmarks.timing import alternating_medians
from jaxmbs import solvers
from jaxmbs.cli.xla import prefer_fast_compilation
from jaxmbs.solvers import AbstractIntegrator


#: Medians of fewer repeats say little.
FEWEST_REPEATS = 5
#: Ratios are against this engine where it takes part, else against the first one.
BASE = "mujoco"
#: Mechanisms of more links get no error: the reference would take too long.
MOST_LINKS_OF_REFERENCE = 64
PACKAGES = ("jaxmbs", "jax", "jaxlib", "mujoco", "mujoco-mjx", "exudyn", "numpy")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True)
console = Console(width=None if Console().is_terminal else 140, highlight=False)


def integrators() -> dict[str, AbstractIntegrator]:
    """Ours by label: the default one, and semi-implicit Euler, which does what the peers do in a step."""
    found: dict[str, AbstractIntegrator] = {}
    euler = getattr(solvers, "SemiImplicitEuler", None)
    if euler is not None:
        found["euler"] = euler()
    return found | {"default": solvers.RungeKutta()}


def engines() -> dict[str, AbstractEngine]:
    """All engines by the name that the command line takes."""
    ours = {
        f"{label}-{dtype}": Jaxmbs(dtype, integrator, label)
        for label, integrator in integrators().items()
        for dtype in ("float32", "float64")
    }
    return {**ours, "mujoco": Mujoco(), "mjx": Mjx(), "exudyn": Exudyn()}


@dataclasses.dataclass(frozen=True)
class Row:
    """One engine on one task. `ratio`: its speed over that of the base; `error`: of instance 0 at the end [m]."""

    mechanism: str
    batch: int
    engine: str
    seconds: float
    instance_steps_per_s: float
    ratio: float
    compile_s: float
    error: float | None
    gap: float


def _known(given: list[str] | None, known: dict[str, Any]) -> list[str]:
    names = given or list(known)
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"there is no {name!r}; choose from {', '.join(known)}")
    return names


def _compare(task: Task, chosen: dict[str, AbstractEngine], repeats: int, progress: Progress) -> list[Row]:
    rollouts: dict[str, AbstractRollout] = {}
    for name, engine in chosen.items():
        why = engine.refusal(task)
        if why is None:
            progress.console.print(f"  {task.mechanism.name}, batch {task.batch}: preparing {engine.name}", style="dim")
            rollouts[name] = engine.prepare(task)
        else:
            progress.console.print(f"  {task.mechanism.name}, batch {task.batch}: no {engine.name}: {why}", style="dim")
    seconds = alternating_medians({name: item.run for name, item in rollouts.items()}, repeats)
    base = seconds.get(BASE) or next(iter(seconds.values()), 0.0)
    wanted = None
    if len(task.mechanism.links) <= MOST_LINKS_OF_REFERENCE:
        wanted = reference(task.mechanism.name, task.steps * task.dt)
    rows = [
        Row(
            mechanism=task.mechanism.name,
            batch=task.batch,
            engine=name,
            seconds=seconds[name],
            instance_steps_per_s=task.batch * task.steps / seconds[name],
            ratio=base / seconds[name],
            compile_s=item.compile_s,
            error=None if wanted is None else float(np.max(np.abs(item.positions() - wanted))),
            gap=item.gap(),
        )
        for name, item in rollouts.items()
    ]
    for item in rollouts.values():
        item.close()
    return rows


def _machine() -> dict[str, Any]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = mbs.__version__ if name == "jaxmbs" else "none"
    load = os.getloadavg()[0]
    return {
        "date": datetime.date.today().isoformat(),
        "cores": os.cpu_count(),
        "load_before": round(load, 1),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "versions": found,
    }


def _table(rows: list[Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title="Rollouts", title_justify="left")
    for column in ("mechanism", "batch", "engine", "instance-steps/s", "x base", "compile [s]", "error [m]", "gap"):
        table.add_column(column, justify="left" if column in ("mechanism", "engine") else "right")
    for row in rows:
        error = "-" if row.error is None else f"{row.error:.1e}"
        gap = "-" if np.isnan(row.gap) else f"{row.gap:.1e}"
        numbers = (f"{row.instance_steps_per_s:.3g}", f"{row.ratio:.3g}", f"{row.compile_s:.1f}", error, gap)
        table.add_row(row.mechanism, str(row.batch), row.engine, *numbers)
    return table


def _write(out: Path | None, machine: dict[str, Any], items: list[Any]) -> None:
    """Write JSON; a number that is not finite is null."""
    if out is None:
        return
    plain = [
        {key: None if isinstance(value, float) and not np.isfinite(value) else value for key, value in item.items()}
        for item in map(dataclasses.asdict, items)
    ]
    out.write_text(json.dumps({"machine": machine, "rows": plain}, indent=2, allow_nan=False) + "\n")


Out = Annotated[Path | None, typer.Option("--out", metavar="FILE.json", help="Where to write the numbers.")]
Repeats = Annotated[int, typer.Option("--repeats", min=FEWEST_REPEATS, help="Of every timing; medians are reported.")]
Steps = Annotated[int, typer.Option("--steps", min=2, help="Of every rollout.")]
Dt = Annotated[float, typer.Option("--dt", help="Step in s.")]


@app.command()
def compare(
    mechanism: Annotated[list[str] | None, typer.Option("--mechanism", help="May be repeated; by default all.")] = None,
    batch: Annotated[list[int] | None, typer.Option("--batch", min=1, help="By default 1, 64, 1024 and 4096.")] = None,
    engine: Annotated[list[str] | None, typer.Option("--engine", help="May be repeated; by default all.")] = None,
    repeats: Repeats = FEWEST_REPEATS,
    steps: Steps = 1000,
    dt: Dt = 1e-3,
    out: Out = None,
) -> None:
    """Time rollouts of every mechanism, batch and engine; engines alternate within this process."""
    _settle()
    names, known = _known(mechanism, MECHANISMS), engines()
    chosen = {name: known[name] for name in _known(engine, known)}
    tasks = [Task(MECHANISMS[name](), size, dt, steps) for name in names for size in batch or (1, 64, 1024, 4096)]
    machine, rows = _machine(), []
    with Progress(console=console) as progress:
        for task in progress.track(tasks, description="comparing"):
            try:
                rows.extend(_compare(task, chosen, repeats, progress))
            finally:
                _write(out, machine, rows)
            jax.clear_caches()
    console.print(_table(rows))
    for name, item in chosen.items():
        console.print(f"{name}: {item.settings}")
    console.print(f"{machine}")


@app.command()
def figures(
    dtype: Annotated[str, typer.Option("--dtype", help="float32 or float64.")] = "float32",
    integrator: Annotated[str | None, typer.Option("--integrator", help="euler or default.")] = None,
    batch: Annotated[int, typer.Option("--batch", min=1)] = 256,
    repeats: Repeats = FEWEST_REPEATS,
    steps: Steps = 200,
    dt: Dt = 1e-3,
    out: Out = None,
) -> None:
    """Measure how cost grows with size, how long compiling takes, and what the Diffrax loop adds."""
    _settle()
    known = integrators()
    name = integrator or next(iter(known))
    settings = extra.Settings(dtype, known[_known([name], known)[0]], batch, dt, steps, repeats)
    machine = _machine()
    found = extra.measure(settings, lambda phase: console.print(f"  {phase}", style="dim"))
    _write(out, machine, found)
    table = Table(box=box.SIMPLE_HEAD, title=f"Figures ({name}, {dtype}, batch {batch})", title_justify="left")
    for column in ("figure", "value", "of"):
        table.add_column(column)
    for item in found:
        table.add_row(item.name, f"{item.value:.3g}", item.detail)
    console.print(table)


def _settle() -> None:
    """This process measures float64 too, and compiling itself, not a cache on disk."""
    prefer_fast_compilation()
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_enable_compilation_cache", False)


if __name__ == "__main__":
    app()
