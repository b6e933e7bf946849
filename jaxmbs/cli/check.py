"""`jaxmbs check`: what a model consists of, and whether it makes sense."""

import json

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jaxmbs._check import CheckReport, check_model
from jaxmbs.cli import options, summary
from jaxmbs.cli.errors import FAILED, complain, stdout
from jaxmbs.cli.run import open_joints


def check(reading: options.Reading, *, as_json: bool) -> None:
    """Print the report of a file. **Raises** `typer.Exit` with status 1 when it cannot be assembled."""
    report = check_model(reading.describe())
    if as_json:
        typer.echo(json.dumps(report.to_dict(), indent=2, allow_nan=False))
    else:
        _print(stdout(), reading, report)
    if not report.assembled:
        complain(f"the constraints cannot be closed: a gap of {report.gap_assembled:.3g} remains (m or rad)")
        for line in open_joints(report):
            complain(line, kind="open")
        raise typer.Exit(FAILED)


def _print(console: Console, reading: options.Reading, report: CheckReport) -> None:
    console.print(f"{report.name}  ({reading.file}, dialect {reading.dialect})", style="bold", markup=False)
    rows = summary.model_facts(report)
    for item in report.redundant_rows:
        others = summary.shortened([name for name in item.depends_on if name != item.element])
        rows.append(
            ("", f"{item.element} {item.row}: fixed already by {others or 'itself, or it acts on fixed bodies'}")
        )
    for name, size in report.inputs.items():
        kind = "CONTROLLER function, needed" if size == 1 else "load controller, zero unless given"
        rows.append(("input", f"{name}: {kind}; {options.input_syntax(name, size)}"))
    found = f"{report.gap_initial:.2e} in the file, {report.gap_assembled:.2e} after assembly (m or rad)"
    rows.append(("largest gap", found if report.residuals else "no constraints"))
    rows.extend(("mapped" if index == 0 else "", note) for index, note in enumerate(report.notes))
    rows.extend(summary.unsimulated_facts(report))
    console.print(summary.facts(rows))
    _print_bodies(console, report)
    if report.elements:
        _print_elements(console, report)
    if report.defaults:
        console.print("Defaults that were applied", style="bold")
        for line in report.defaults:
            console.print(Text(f"  {line}"), soft_wrap=True)
    summary.print_warnings(console, report.warnings)
    if "fea" in report.not_simulated:
        summary.print_warnings(
            console, [f"a run will refuse this file: {summary.refusal(report.not_simulated['fea'])}"]
        )


def _print_bodies(console: Console, report: CheckReport) -> None:
    table = summary.table_of("Bodies", ("body", "mass [kg]"))
    for body in report.bodies:
        table.add_row(Text(body["name"]), "fixed" if body["fixed"] else f"{body['mass']:g}")
    console.print(table)


def _print_elements(console: Console, report: CheckReport) -> None:
    table = Table(title=Text("Elements", style="bold"), box=box.SIMPLE_HEAD, title_justify="left")
    for column in ("name", "kind", "bodies"):
        table.add_column(column, overflow="fold")
    for column in ("residual", "assembled"):
        table.add_column(column, justify="right")
    residuals = {item.element: item for item in report.residuals}
    for kind, items in report.elements.items():
        for item in items:
            bodies = [item[key] for key in ("body1", "body2", "body") if key in item]
            name = item["name"]
            if kind == "motors":
                name = f"motor:{name}" if f"motor:{name}" in residuals else name
            found = residuals.get(name) if kind in ("joints", "constraints", "motors") else None
            numbers = ("", "") if found is None else (f"{found.initial:.1e}", f"{found.assembled:.1e}")
            single = kind.removesuffix("s")
            label = single if item["type"].lower() == single else f"{single} {item['type']}"
            cells = (item["name"], label, " - ".join(bodies))
            table.add_row(*map(Text, cells), *numbers)
    console.print(table)
