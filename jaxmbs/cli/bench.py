"""`jaxmbs bench`: how fast a model runs."""

import contextlib
import dataclasses
import itertools
import json
import math
from collections.abc import Iterator

import jax
import typer
from rich import box
from rich.table import Table

from jaxmbs._bench import GRADIENT_STEPS, BenchReport, bench_model
from jaxmbs._compile import compile_model
from jaxmbs._description import ModelDescription
from jaxmbs._results import SimulationError
from jaxmbs.cli import options, summary
from jaxmbs.cli.errors import FAILED, UserError, complain, stderr, stdout
from jaxmbs.cli.progress import RunProgress


@dataclasses.dataclass(frozen=True)
class BenchOptions:
    """The options of `jaxmbs bench` beside those about reading the file."""

    batches: list[int]
    dtypes: list[str]
    dt: float
    steps: int
    integrator: str


def bench(reading: options.Reading, chosen: BenchOptions, *, as_json: bool) -> None:
    """Measure every combination of batch and precision.

    **Raises** `UserError`, `LoadError`, or `typer.Exit` with status 1 when an instance fails.
    """
    if not (math.isfinite(chosen.dt) and chosen.dt > 0):
        raise UserError(f"--dt needs a positive number of seconds, got {chosen.dt:g}")
    for name, values in (("--batch", chosen.batches), ("--steps", [chosen.steps])):
        if min(values) < 1:
            raise UserError(f"{name} needs a positive number, got {min(values)}")
    integrator = options.integrator(chosen.integrator)
    description = reading.describe()
    if "fea" in description.not_simulated:
        raise UserError(summary.refusal(description.names_not_simulated()["fea"]))
    combinations = list(itertools.product(dict.fromkeys(chosen.dtypes), dict.fromkeys(chosen.batches)))
    reports = []
    with RunProgress(stderr()) as progress, _own_settings():
        for dtype, batch in combinations:
            jax.config.update("jax_enable_x64", dtype == "float64")
            try:
                report = bench_model(
                    compile_model(description, dtype=dtype),
                    batch=batch,
                    dt=chosen.dt,
                    steps=chosen.steps,
                    integrator=integrator,
                    on_phase=lambda phase, what=f"{dtype}, batch {batch}": progress.phase(f"{what}: {phase}"),
                )
            except SimulationError as error:
                complain(f"{dtype}, batch {batch}: {error}")
                raise typer.Exit(FAILED) from None
            except ValueError as error:
                raise UserError(str(error)) from None
            reports.append(report)
    if as_json:
        found = [dataclasses.asdict(report) for report in reports]
        typer.echo(json.dumps(found[0] if len(found) == 1 else found, indent=2, allow_nan=False))
    else:
        _print(reading, description, integrator.name, reports)


@contextlib.contextmanager
def _own_settings() -> Iterator[None]:
    """Measure compiling itself, not a cache on disk; leave JAX's settings as they were."""
    names = ("jax_enable_x64", "jax_enable_compilation_cache")
    before = {name: getattr(jax.config, name) for name in names}
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


def _print(
    reading: options.Reading, description: ModelDescription, integrator: str, reports: list[BenchReport]
) -> None:
    console = stdout()
    console.print(f"{description.name}  ({reading.file}, dialect {reading.dialect})", style="bold", markup=False)
    moving = sum(not body.fixed for body in description.bodies)
    device = jax.devices()[0]
    facts = [
        ("moving bodies", str(moving)),
        ("run", f"{reports[0].steps} steps of {reports[0].dt:g} s, only the final state kept"),
        ("integrator", integrator),
        ("device", f"{device.device_kind}, {summary.count(jax.device_count(), 'device')}"),
    ]
    console.print(summary.facts(facts))
    table = Table(box=box.SIMPLE_HEAD, caption_justify="left")
    table.add_column("precision")
    columns = ("batch", "instance-steps/s", "body-steps/s", "compile [s]", "bytes/instance", "gradient", "gap")
    for column in columns:
        table.add_column(column, justify="right")
    for report in reports:
        table.add_row(
            report.dtype,
            str(report.batch),
            f"{report.instance_steps_per_s:.3g}",
            f"{report.body_steps_per_s:.3g}",
            f"{report.compile_s:.1f}",
            "unknown" if report.bytes_per_instance is None else f"{report.bytes_per_instance:.0f}",
            "none" if report.gradient_ratio is None else f"{report.gradient_ratio:.2f}",
            f"{report.max_gap:.1e}",
        )
    table.caption = (
        "medians of repeated runs, the first call left out; gradient: time of value and reverse-mode gradient over "
        f"that of the value, for at most {GRADIENT_STEPS} steps; gap: the largest position residual at the end (m, rad)"
    )
    console.print(table)
