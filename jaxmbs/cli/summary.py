"""Tables for people: what was understood before a run, and what came out of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jaxmbs._check import CheckReport
from jaxmbs.cli.options import Times, input_syntax
from jaxmbs.solvers import AbstractIntegrator


#: Longer lists are cut, and the cut is said.
MOST_ROWS = 20
#: A balance error above this part of the largest energy is worth a warning.
GOOD_BALANCE = 1e-3
#: Multiples of the rounding unit, relative to the largest number beside it, below which a number is rounding.
ROUNDING = 64
#: Sizes below which a number is rounding whatever is beside it: in SI units, and for energies [J].
NOTHING, NO_ENERGY = 1e-15, 1e-22


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Labels on the left, text on the right."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(Text(label), Text(text))
    return table


def shortened(names: Sequence[str], most: int = MOST_ROWS) -> str:
    """Names in one line, the rest counted."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def count(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


_KINDS = {
    "joints": ("joint", None),
    "constraints": ("constraint", None),
    "motors": ("motor", None),
    "tsdas": ("TSDA", None),
    "rsdas": ("RSDA", None),
    "bushings": ("bushing", None),
    "loads": ("load", None),
}


def model_facts(report: CheckReport) -> list[tuple[str, str]]:
    """Bodies, elements, gravity and degrees of freedom."""
    fixed = sum(body["fixed"] for body in report.bodies)
    elements = [count(len(items), *_KINDS.get(kind, (kind, kind))) for kind, items in report.elements.items()]
    return [
        ("bodies", f"{len(report.bodies)} ({fixed} fixed)"),
        ("elements", ", ".join(elements) or "none"),
        ("gravity", f"[{', '.join(f'{g:g}' for g in report.gravity)}] m/s2, world axes"),
        ("degrees of freedom", freedom(report)),
        *([("redundant rows", redundant(report))] if report.redundant_rows else []),
    ]


def freedom(report: CheckReport) -> str:
    """Degrees of freedom in one line."""
    text = f"{report.degrees_of_freedom} (by rank"
    if report.degrees_of_freedom_undriven != report.degrees_of_freedom:
        text += f"; {report.degrees_of_freedom_undriven} without the drives of motors"
    if report.degrees_of_freedom_counted != report.degrees_of_freedom:
        text += f"; counting {count(report.rows, 'row')} gives {report.degrees_of_freedom_counted}"
    return text + ")"


def redundant(report: CheckReport) -> str:
    """Redundant rows by element, in one line."""
    rows: dict[str, list[str]] = {}
    for item in report.redundant_rows:
        rows.setdefault(item.element, []).append(item.row)
    return f"{len(report.redundant_rows)}: " + "; ".join(f"{name} {', '.join(labels)}" for name, labels in rows.items())


def unsimulated_facts(report: CheckReport) -> list[tuple[str, str]]:
    """What the file has and a run leaves out, by element name."""
    parts = [f"{part} of {shortened(names)}" for part, names in report.not_simulated.items() if names]
    return [("not simulated" if index == 0 else "", part) for index, part in enumerate(parts)]


def refusal(names: Sequence[str]) -> str:
    """Why a file with flexible bodies does not run."""
    return (
        f"the file has flexible bodies (FEA), which jaxmbs does not simulate: {shortened(names) or 'without a name'}. "
        "Remove the FEA section to run the rigid bodies alone"
    )


def print_warnings(console: Console, warnings: Sequence[str]) -> None:
    """One line each."""
    for line in warnings:
        console.print(Text.assemble(("warning: ", "yellow"), line), soft_wrap=True)


def run_facts(report: CheckReport, times: Times, integrator: AbstractIntegrator) -> list[tuple[str, str]]:
    """What the run will do."""
    origin = f" ({', '.join(times.sources)} from the file)" if times.sources else ""
    steps = f"{count(times.steps, 'step')} of {times.h:.6g} s"
    if integrator.adaptive:
        steps = f"adaptive steps, the first of {times.h:.6g} s"
    defaults = "none were needed"
    if report.defaults:
        defaults = f"{count(len(report.defaults), 'line')} of defaults were applied; `jaxmbs check` lists them"
    return [
        ("run", f"{times.t1:g} s in {steps}, {count(len(times.saves), 'time')} saved{origin}"),
        ("integrator", integrator.name),
        *(
            ("mapped" if index == 0 else "", _mapped(note, times, integrator))
            for index, note in enumerate(report.notes)
        ),
        ("defaults", defaults),
    ]


def _mapped(note: str, times: Times, integrator: AbstractIntegrator) -> str:
    """A note of the loader; that about the integrator with what this run does in place of the usual."""
    asked, arrow, _ = note.partition(" -> ")
    if not (arrow and asked.startswith("integrator ")):
        return note
    step = "first step" if integrator.adaptive else "step"
    return f"{asked} -> {integrator.name}, {step} {times.h:.6g} s; the file's tolerances and iterations are not used"


def input_facts(wanted: Mapping[str, int], given: Sequence[str]) -> list[tuple[str, str]]:
    """Where each external value comes from, and how to give those that are left at zero."""
    sources = dict(item.split("=", 1) for item in given)
    rows = []
    for name, size in wanted.items():
        kind = "CONTROLLER function" if size == 1 else "load controller"
        source = f"= {sources[name]}" if name in sources else f"none given, so zero; {input_syntax(name, size)}"
        rows.append(("inputs" if not rows else "", f"{name} ({kind}): {source}"))
    return rows


def results(dataset: xr.Dataset, timing: Sequence[tuple[str, str]]) -> list[Table]:
    """Tables of a finished run."""
    tables = [facts([*timing, *_quality(dataset)])]
    if "body_pos" in dataset and dataset.sizes["body"]:
        tables.append(_final_positions(dataset))
    if "joint_force" in dataset or "constraint_force" in dataset:
        tables.append(_largest_reactions(dataset))
    return tables


def balance(dataset: xr.Dataset) -> tuple[np.ndarray, float]:
    """The error of the energy balance over time [J], and the size of the energies that it is to be compared with."""
    parts = ("energy_kinetic", "energy_potential", "energy_dissipated", "work_motors", "work_loads")
    kinetic, potential, dissipated, motors, loads = (dataset[name].to_numpy() for name in parts)
    total = kinetic + potential + dissipated - motors - loads
    size = max(
        float(np.max(np.abs(part - part[:1]), initial=0.0)) for part in (kinetic, potential, dissipated, motors, loads)
    )
    size = max(size, float(np.max(kinetic, initial=0.0)))
    # energies are differences: what is below the rounding of the largest of them is nothing
    largest = max(float(np.max(np.abs(part), initial=0.0)) for part in (kinetic, potential, dissipated, motors, loads))
    floor = max(NO_ENERGY, ROUNDING * float(np.finfo(kinetic.dtype).eps) * largest)
    error = total - total[:1]
    return np.where(np.abs(error) <= floor, 0.0, error), size if size > floor else 0.0


def balance_warning(dataset: xr.Dataset, dt: float, *, adaptive: bool) -> str | None:
    """What to say when the energies do not add up."""
    error, size = balance(dataset)
    worst = float(np.max(np.abs(error), initial=0.0))
    if worst <= GOOD_BALANCE * size:
        return None
    part = f", {100 * worst / size:.3g} % of the largest energy ({size:.4g} J)" if size > 0 else ""
    advice = "try a fixed step with a small --dt" if adaptive else f"try a --dt smaller than {dt:g}"
    if dataset["energy_kinetic"].dtype == np.float32:
        advice += ", or --dtype float64"
    return f"the energy balance is off by {worst:.3g} J{part}, so the results are inaccurate; {advice}"


def _quality(dataset: xr.Dataset) -> list[tuple[str, str]]:
    error, size = balance(dataset)
    worst = float(np.max(np.abs(error), initial=0.0))
    relative = f", {worst / size:.1e} of the energy exchanged ({size:.4g} J)" if size > 0 else ""
    rows = [("energy balance", f"off by at most {worst:.2e} J{relative}" if worst else "off by at most 0 J")]
    gap = largest_gap(dataset)
    if gap is not None:
        value, name, time = gap
        rows.append(("largest gap", f"{value:.2e} (m or rad) in {name!r} at {time:.6g} s"))
    return rows


def largest_gap(dataset: xr.Dataset) -> tuple[float, str, float] | None:
    """The largest position residual, with the name of its element and its time."""
    found = []
    for name, dim in (("residual_pos", "joint"), ("constraint_residual", "constraint")):
        if name in dataset and dataset[name].size:
            values = dataset[name].to_numpy()
            time, element = np.unravel_index(int(np.argmax(values)), values.shape)
            found.append(
                (float(values[time, element]), str(dataset[dim][element].item()), float(dataset["time"][time]))
            )
    return max(found) if found else None


def _cut(table: Table, total: int, what: str) -> Table:
    if total > MOST_ROWS:
        table.caption = f"{total - MOST_ROWS} more {what} are in the result file"
    return table


def table_of(title: str, columns: Sequence[str]) -> Table:
    """An empty table: names on the left, numbers on the right."""
    style = Text(title, style="bold")
    table = Table(title=style, box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left")
    table.add_column(Text(columns[0]), overflow="fold")
    for column in columns[1:]:
        table.add_column(Text(column), justify="right")
    return table


def _final_positions(dataset: xr.Dataset) -> Table:
    last = dataset.isel(time=-1)
    title = f"Centres of mass at {float(last['time']):.6g} s [m, m/s]"
    table = table_of(title, ("body", "x", "y", "z", "speed"))
    scales = [_largest(dataset["body_pos"])] * 3 + [_largest(dataset["body_vel"])]
    eps = _eps(dataset)
    for name in last["body"].to_numpy()[:MOST_ROWS]:
        body = last.sel(body=name)
        values = (*body["body_pos"].to_numpy(), np.linalg.norm(body["body_vel"]))
        cells = (number(float(value), scale, eps) for value, scale in zip(values, scales, strict=True))
        table.add_row(Text(str(name)), *cells)
    return _cut(table, last.sizes["body"], "bodies")


def _largest_reactions(dataset: xr.Dataset) -> Table:
    table = table_of("Largest reactions", ("joint", "force [N]", "at [s]", "torque [N m]", "at [s]"))
    total, eps = 0, _eps(dataset)
    scales = reaction_scales(dataset)
    for dim in ("joint", "constraint"):
        if f"{dim}_force" not in dataset:
            continue
        for name in dataset[dim].to_numpy():
            total += 1
            if total <= MOST_ROWS:
                cells: list[Any] = []
                for kind in ("force", "torque"):
                    sizes = np.linalg.norm(dataset[f"{dim}_{kind}"].sel({dim: name}).to_numpy(), axis=-1)
                    at = int(np.argmax(sizes))
                    size = number(float(sizes[at]), scales[kind], eps)
                    cells.extend((size, "" if size == "0" else f"{float(dataset['time'][at]):.4g}"))
                table.add_row(Text(str(name)), *cells)
    return _cut(table, total, "elements")


def reaction_scales(dataset: xr.Dataset) -> dict[str, float]:
    """The largest reactions, forces and torques made comparable by the length of the model."""
    length = float(dataset.attrs.get("reaction_length", 0.0))
    found = {
        kind: max([_largest(dataset[f"{dim}_{kind}"]) for dim in ("joint", "constraint") if f"{dim}_{kind}" in dataset])
        for kind in ("force", "torque")
    }
    force = max(found["force"], found["torque"] / length if length > 0 else 0.0)
    return {"force": force, "torque": max(found["torque"], force * length)}


def number(value: float, scale: float, eps: float) -> str:
    """Six significant digits; zero for what is rounding beside numbers of size `scale`."""
    if abs(value) <= max(NOTHING, ROUNDING * eps * scale):
        return "0"
    return f"{value:.6g}"


def _largest(values: xr.DataArray) -> float:
    return float(np.max(np.abs(values.to_numpy()), initial=0.0))


def _eps(dataset: xr.Dataset) -> float:
    return float(np.finfo(dataset["body_pos"].dtype).eps)
