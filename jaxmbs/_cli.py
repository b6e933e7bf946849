"""The command line: `jaxmbs run`, `jaxmbs check`, `jaxmbs bench`, `jaxmbs schema`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from jaxmbs import __version__
from jaxmbs.cli import bench as bench_command, check as check_command, options, run as run_command
from jaxmbs.cli.arguments import Command, one_of, seconds
from jaxmbs.cli.errors import BAD_INPUT, complain, did_you_mean, exit_statuses
from jaxmbs.cli.xla import keep_compiled_programs, prefer_fast_compilation
from jaxmbs.loaders import json_schema


DIALECTS = ("seed", "chrono-10")
PRECISIONS = ("float64", "float32")

app = typer.Typer(
    name="jaxmbs",
    help="Simulate multibody mechanisms.",
    epilog="Exit status: 0 done, 1 the simulation failed (results up to there are written), 2 bad input.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A simulation file, or a model file.", show_default=False)]
DialectOption = Annotated[
    str,
    typer.Option(
        "--dialect",
        metavar="|".join(DIALECTS),
        parser=one_of(*DIALECTS),
        help="How to read what the format leaves open: as specified, or as Chrono 10 does.",
    ),
]
LenientOption = Annotated[bool, typer.Option("--lenient", help="Turn unknown keys into warnings.")]
FormatOption = Annotated[
    str | None, typer.Option("--format", metavar="NAME", help="The file's format, when it does not tell: chrono.")
]
GravityOption = Annotated[
    tuple[float, float, float] | None,
    typer.Option("--gravity", metavar="X Y Z", help="Gravity in world axes, in m/s2; overrides the file."),
]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"jaxmbs {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    del version


@app.command(cls=Command)
def run(
    file: File,
    t1: Annotated[
        float | None,
        typer.Option("--t1", metavar="S", parser=seconds, help="End time in s; required when the file has none."),
    ] = None,
    dt: Annotated[
        float | None,
        typer.Option("--dt", metavar="S", parser=seconds, help="Step in s; by default the file's, else 0.001."),
    ] = None,
    save_dt: Annotated[
        float | None,
        typer.Option(
            "--save-dt",
            metavar="S",
            parser=seconds,
            help="Save every so many s; by default as the file, or ~1000 times.",
        ),
    ] = None,
    gravity: GravityOption = None,
    dialect: DialectOption = DIALECTS[0],
    dtype: Annotated[
        str,
        typer.Option("--dtype", metavar="|".join(PRECISIONS), parser=one_of(*PRECISIONS), help="Precision of the run."),
    ] = PRECISIONS[0],
    integrator: Annotated[
        str,
        typer.Option("--integrator", metavar="NAME", help=f"One of {', '.join(options.integrator_names())}."),
    ] = "tsit5",
    input: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=VALUE",
            help="An external value: a constant, or a CSV file of time, value (three values for a load controller: "
            "NAME=X,Y,Z, or time, x, y, z), linear in between and held at the ends. May be repeated.",
        ),
    ] = None,
    lenient: LenientOption = False,
    format: FormatOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.nc", help="Where to write the results, as NetCDF.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.png", help="Where to draw an overview (.png, .pdf, .svg).")
    ] = None,
) -> None:
    """Simulate a model and write its results."""
    with exit_statuses():
        reading = options.Reading(file, dialect, lenient, format, gravity)
        chosen = run_command.RunOptions(t1, dt, save_dt, dtype, integrator, input or [], out, plot)
        run_command.run(reading, chosen)


@app.command(cls=Command)
def check(
    file: File,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    gravity: GravityOption = None,
    dialect: DialectOption = DIALECTS[0],
    lenient: LenientOption = False,
    format: FormatOption = None,
) -> None:
    """Say what a model consists of, what it leaves free, and whether it can be assembled."""
    with exit_statuses():
        check_command.check(options.Reading(file, dialect, lenient, format, gravity), as_json=as_json)


@app.command(cls=Command)
def bench(
    file: File,
    batch: Annotated[
        list[int] | None, typer.Option("--batch", metavar="N", help="Instances; may be repeated. [default: 256]")
    ] = None,
    dtype: Annotated[
        list[str] | None,
        typer.Option(
            "--dtype",
            metavar="|".join(PRECISIONS),
            parser=one_of(*PRECISIONS),
            help="Precision; may be repeated. [default: float64]",
        ),
    ] = None,
    dt: Annotated[float, typer.Option("--dt", metavar="S", parser=seconds, help="Step in s.")] = 1e-3,
    steps: Annotated[int, typer.Option("--steps", metavar="N", help="Steps of the timed rollout.")] = 1000,
    integrator: Annotated[
        str,
        typer.Option("--integrator", metavar="NAME", help=f"One of {', '.join(options.integrator_names())}."),
    ] = "tsit5",
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON: an object for one combination of batch and precision, else a list."),
    ] = False,
    gravity: GravityOption = None,
    dialect: DialectOption = DIALECTS[0],
    lenient: LenientOption = False,
    format: FormatOption = None,
) -> None:
    """Measure how fast a model runs: throughput, compile time, memory, cost of a gradient."""
    with exit_statuses():
        reading = options.Reading(file, dialect, lenient, format, gravity)
        chosen = bench_command.BenchOptions(batch or [256], dtype or [PRECISIONS[0]], dt, steps, integrator)
        bench_command.bench(reading, chosen, as_json=as_json)


@app.command(cls=Command)
def schema(format: Annotated[str, typer.Argument(metavar="FORMAT", help="chrono")]) -> None:
    """Print the JSON Schema of a format, for editors that complete and check YAML."""
    if format not in options.FORMATS:
        complain(f"there is no format {format!r}; {did_you_mean(format, options.FORMATS)}")
        raise typer.Exit(BAD_INPUT)
    typer.echo(json.dumps(json_schema(format), indent=2))


def main() -> None:
    """Entry point of the command."""
    prefer_fast_compilation()
    keep_compiled_programs()
    app()


if __name__ == "__main__":
    main()
