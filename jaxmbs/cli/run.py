"""`jaxmbs run`: read, say what was understood, integrate, say what came out, write."""

import dataclasses
import os
import warnings
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import typer
import xarray as xr
from rich.console import Console

from jaxmbs._check import CheckReport, check_model
from jaxmbs._compile import compile_model
from jaxmbs._dataset import to_dataset
from jaxmbs._plot import plot_overview
from jaxmbs._results import SimulationError, Status
from jaxmbs._simulate import simulate
from jaxmbs._solution import Solution
from jaxmbs.cli import options, summary
from jaxmbs.cli.diagnosis import non_finite, runaways
from jaxmbs.cli.errors import FAILED, UserError, complain, stderr, stdout
from jaxmbs.cli.progress import RunProgress, Stopwatch
from jaxmbs.solvers import AbstractIntegrator


PLOT_SUFFIXES = (".png", ".pdf", ".svg")


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """The options of `jaxmbs run` beside those about reading the file."""

    t1: float | None
    dt: float | None
    save_dt: float | None
    dtype: str
    integrator: str
    inputs: list[str]
    out: Path | None
    plot: Path | None


def run(reading: options.Reading, chosen: RunOptions) -> None:
    """Simulate a file. **Raises** `UserError`, `LoadError`, or `typer.Exit` with status 1 for a run that failed."""
    files = tuple(path for path in (chosen.out, chosen.plot) if path is not None)
    options.check_writable("--out", chosen.out, (reading.file,), ())
    options.check_writable("--plot", chosen.plot, (reading.file, *files[:1] * (len(files) > 1)), PLOT_SUFFIXES)
    integrator = options.integrator(chosen.integrator)
    if chosen.dtype == "float64":
        # the command owns its process, so this changes nobody else's arrays
        jax.config.update("jax_enable_x64", True)
    description = reading.describe()
    if "fea" in description.not_simulated:
        raise UserError(summary.refusal(description.names_not_simulated()["fea"]))
    times = options.times(description, chosen.t1, chosen.dt, chosen.save_dt)
    model = compile_model(description, dtype=chosen.dtype)
    given = options.inputs(chosen.inputs, model.input_names())
    lost = non_finite(model)
    if lost:
        raise UserError(f"not finite in {chosen.dtype}: {summary.shortened(lost, 6)}; give numbers that it can hold")

    console = stdout()
    with RunProgress(stderr()) as progress:
        progress.phase("checking the model")
        report = check_model(description)
        with progress.paused():
            say_before(console, reading, report, times, integrator, chosen.inputs)
        progress.phase("compiling")
        failure, watch = None, Stopwatch()
        try:
            # the summary has said what is left out
            warnings.filterwarnings("ignore", message="contact is not simulated")
            solution = simulate(
                model,
                t1=times.t1,
                dt=times.dt,
                save_at=times.saves,
                inputs=given,
                integrator=integrator,
                progress_meter=progress.meter,
            )
        except SimulationError as error:
            failure, solution = error, error.solution
            assert isinstance(solution, Solution)
        except ValueError as error:
            raise UserError(str(error)) from None
        watch.stop()
        progress.phase("computing results")
        after = Stopwatch()
        dataset = to_dataset(_until_failure(solution) if failure else solution)
        after.stop()
        dataset.attrs |= {"dt": times.dt, "model_file": str(reading.file)}
        progress.phase("writing")
        _write(dataset, chosen)
    if failure is not None:
        _say_written(console, chosen)
        _say_failure(failure, report)
        raise typer.Exit(FAILED)
    timing = [
        ("steps", f"{dataset.attrs['steps']}"),
        ("integrating", f"{watch.running:.2f} s, and {watch.compiling:.1f} s of compiling before"),
        ("results", f"{after.running:.2f} s, and {after.compiling:.1f} s of compiling before"),
    ]
    _say_after(console, dataset, timing, chosen)
    warning = summary.balance_warning(dataset, times.h, adaptive=integrator.adaptive)
    if warning is not None:
        summary.print_warnings(console, [warning])
    _say_written(console, chosen)


def say_before(
    console: Console,
    reading: options.Reading,
    report: CheckReport,
    times: options.Times,
    integrator: AbstractIntegrator,
    inputs: list[str],
) -> None:
    """What was understood, before the long part."""
    console.print(f"{report.name}  ({reading.file}, dialect {reading.dialect})", style="bold", markup=False)
    console.print(
        summary.facts(
            [
                *summary.model_facts(report),
                *summary.run_facts(report, times, integrator),
                *summary.input_facts(report.inputs, inputs),
                *summary.unsimulated_facts(report),
            ]
        )
    )
    said = list(report.warnings)
    if report.not_simulated.get("contact"):
        said.append(
            "contact is not simulated; these bodies pass through each other: "
            + summary.shortened(report.not_simulated["contact"])
        )
    summary.print_warnings(console, said)


def _until_failure(solution: Solution) -> Solution:
    """What was computed up to the failure; at least the start."""
    times, failed_at = np.asarray(solution.ts), float(solution.failed_at)
    kept = max(1, int(np.sum(times < failed_at)))
    if kept == times.size:
        return solution
    return eqx.tree_at(
        lambda s: (s.ts, s.ys), solution, (solution.ts[:kept], jax.tree.map(lambda leaf: leaf[:kept], solution.ys))
    )


def write_netcdf(dataset: xr.Dataset, path: Path) -> None:
    """Write a result; a file that is there is replaced only when the new one is complete."""
    part = options.part_of(path)
    dataset.to_netcdf(part, engine="h5netcdf")
    os.replace(part, path)


def _write(dataset: xr.Dataset, chosen: RunOptions) -> None:
    if chosen.out is not None:
        write_netcdf(dataset, chosen.out)
    if chosen.plot is not None:
        plot_overview(dataset, chosen.plot)


def _say_after(console: Console, dataset: xr.Dataset, timing: list[tuple[str, str]], chosen: RunOptions) -> None:
    console.print()
    for table in summary.results(dataset, timing):
        console.print(table)


def _say_written(console: Console, chosen: RunOptions) -> None:
    for path in (chosen.out, chosen.plot):
        if path is not None:
            console.print(f"wrote {path}", markup=False)
    if chosen.out is None and chosen.plot is None:
        console.print("nothing was written: add --out FILE.nc for the results, --plot FILE.png for a picture of them")


def _say_failure(failure: SimulationError, report: CheckReport) -> None:
    complain(f"the simulation failed: {failure}")
    solution = failure.solution
    if not isinstance(solution, Solution):
        return
    if Status(int(solution.status)) is Status.ASSEMBLY_FAILED:
        for line in open_joints(report):
            complain(line, kind="open")
    for line in runaways(solution):
        complain(line, kind="where")


def open_joints(report: CheckReport) -> list[str]:
    """The joints that do not close, the worst first."""
    worst = sorted(report.residuals, key=lambda item: -item.assembled)
    return [
        f"{item.element}: {item.assembled:.3g} after assembly, {item.initial:.3g} in the file (m or rad)"
        for item in worst[: summary.MOST_ROWS]
        if item.assembled > 1e-9
    ]
