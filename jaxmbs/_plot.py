"""An overview of a result in one picture."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure


#: The most lines in one panel; the rest is left out, and the panel says so.
MOST_LINES = 8
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#444444", "#a6761d")
_STYLES = ("-", "--", "-.", ":")
_GREY = "#666666"
#: A body that travels less than this is at rest [m].
_AT_REST = 1e-9
#: Lines that vary by less than this part of their size (at least 1 in SI units) are constant.
_CONSTANT = 1e-10
#: The same for energies: of the largest one, at least so much [J].
_NO_ENERGY = 1e-22

Lines = dict[str, np.ndarray]


def plot_overview(dataset: xr.Dataset, path: str | Path) -> None:
    """Draw paths, joint coordinates, efforts, reactions, energies and gaps, as far as the model has them.

    **Arguments:**

    - dataset: what `Solution.to_xarray` returned; of a batch, the first instance is drawn.
    - path: the picture; its suffix decides the format.
    """
    figure = overview(dataset)
    figure.savefig(path, dpi=130, facecolor="white")


def overview(dataset: xr.Dataset) -> Figure:
    """The figure of `plot_overview`."""
    title = str(dataset.attrs.get("title", "result"))
    if "instance" in dataset.dims:
        title += f" (instance 0 of {dataset.sizes['instance']})"
        dataset = dataset.isel(instance=0)
    panels = _panels(dataset)
    columns = 1 if len(panels) == 1 else 2 if len(panels) <= 4 else 3
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(5.4 * columns, 3.7 * rows + 0.5), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)  # pyright: ignore[reportOptionalMemberAccess, reportCallIssue]
    figure.suptitle(title, fontsize=14, fontweight="bold")
    for index, panel in enumerate(panels):
        axes = figure.add_subplot(rows, columns, index + 1)
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=9, colors="#333333")
        panel(axes)
    return figure


def _panels(dataset: xr.Dataset) -> list[Callable[[Axes], None]]:
    time = dataset["time"].to_numpy()
    panels: list[Callable[[Axes], None]] = []

    def over_time(title: str, label: str, lines: Lines) -> None:
        lines = {name: line for name, line in lines.items() if np.all(np.isfinite(line))}
        if lines:
            panels.append(lambda axes: _over_time(axes, time, title, label, lines))

    if dataset.sizes.get("body", 0) and np.any(_travel(dataset) > _AT_REST):
        panels.append(lambda axes: _paths(axes, dataset))
    over_time("Joint angles (body2 relative to body1)", "angle [rad]", _columns(dataset, "joint_angle", "joint"))
    over_time(
        "Joint displacements (body2 relative to body1)",
        "displacement [m]",
        _columns(dataset, "joint_displacement", "joint"),
    )
    if "motor_effort" in dataset:
        unit = str(dataset["motor_effort"].attrs.get("units", ""))
        over_time("Motor efforts (on body1)", f"effort [{unit}]", _columns(dataset, "motor_effort", "motor"))
    forces = _sizes(dataset, "joint_force", "joint") | _sizes(dataset, "constraint_force", "constraint")
    over_time("Reaction forces", "|force| [N]", forces)
    springs = _columns(dataset, "tsda_force", "tsda") | _sizes(dataset, "bushing_force", "bushing")
    over_time("Spring forces (TSDA: positive pushes apart)", "force [N]", springs)
    over_time("Rotational spring torques (on body2)", "torque [N m]", _columns(dataset, "rsda_torque", "rsda"))
    panels.append(lambda axes: _energies(axes, time, dataset))
    gaps = _columns(dataset, "residual_pos", "joint") | _columns(dataset, "constraint_residual", "constraint")
    if gaps:
        panels.append(lambda axes: _gaps(axes, time, gaps))
    return panels


def _columns(dataset: xr.Dataset, variable: str, dim: str) -> Lines:
    """One line per element."""
    if variable not in dataset:
        return {}
    values = dataset[variable].transpose("time", dim).to_numpy()
    names = dataset[dim].to_numpy()
    return {str(name): line for name, line in zip(names, values.T, strict=True)}


def _sizes(dataset: xr.Dataset, variable: str, dim: str) -> Lines:
    if variable not in dataset:
        return {}
    values = np.linalg.norm(dataset[variable].transpose("time", dim, "xyz").to_numpy(), axis=-1)
    return {str(name): line for name, line in zip(dataset[dim].to_numpy(), values.T, strict=True)}


def _choose(lines: Lines, importance: Callable[[np.ndarray], float]) -> list[str]:
    """The names of at most `MOST_LINES` lines, the most important ones, in their own order."""
    names = sorted(lines, key=lambda name: -importance(lines[name]))[:MOST_LINES]
    return [name for name in lines if name in names]


def _finish(axes: Axes, title: str, shown: int, total: int, handles: bool = True) -> None:
    note = f", largest {shown} of {total}" if shown < total else ""
    axes.set_title(title + note, fontsize=10.5, loc="left", color="#222222")
    if handles and shown:
        axes.legend(fontsize=8, frameon=True, framealpha=0.85, edgecolor="none")


def _legend_above(axes: Axes) -> None:
    """A legend in rows above the lines, for which the axis is extended."""
    _, labels = axes.get_legend_handles_labels()
    columns = max(1, min(len(labels), 4 if max(map(len, labels)) <= 9 else 3 if max(map(len, labels)) <= 14 else 2))
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom, top + 0.085 * -(-len(labels) // columns) * (top - bottom))
    axes.legend(fontsize=8, loc="upper left", ncols=columns, frameon=False, columnspacing=1.2, handlelength=1.8)


def _over_time(axes: Axes, time: np.ndarray, title: str, label: str, lines: Lines) -> None:
    chosen = _choose(lines, lambda line: float(np.ptp(line)))
    for index, name in enumerate(chosen):
        style = _STYLES[index // 2 % len(_STYLES)] if len(chosen) > 4 else "-"
        colour = _COLOURS[index % len(_COLOURS)]
        _line(axes, time, lines[name], style, color=colour, linewidth=1.4, label=_short(name))
    axes.set_xlabel("time [s]", fontsize=9)
    axes.set_ylabel(label, fontsize=9)
    axes.margins(x=0.01)
    _sensible_range(axes, [lines[name] for name in chosen], 1.0)
    _finish(axes, title, len(chosen), len(lines), handles=False)
    _legend_above(axes)


def _line(axes: Axes, time: np.ndarray, line: np.ndarray, style: str, **options: Any) -> None:
    """A line over time; a dot where there is only one time."""
    axes.plot(time, line, style, marker="o" if len(time) == 1 else None, markersize=4, **options)


def _sensible_range(axes: Axes, lines: Sequence[np.ndarray], least: float) -> None:
    """Where all lines together are constant, do not blow rounding up to the full height.

    - least: the size below which a constant is shown as zero.
    """
    axes.ticklabel_format(axis="y", useOffset=False)
    everything = np.concatenate(lines)
    size = float(np.max(np.abs(everything)))
    if np.ptp(everything) > _CONSTANT * max(least, size):
        return
    centre = float(np.mean(everything)) if size > _CONSTANT * least else 0.0
    spread = 0.5 * abs(centre) if centre else 1.0
    axes.set_ylim(centre - spread, centre + spread)


def _travel(dataset: xr.Dataset) -> np.ndarray:
    """How far each body gets along the axis where it gets farthest [m]."""
    positions = dataset["body_pos"].transpose("body", "time", "xyz").to_numpy()
    return np.max(np.ptp(positions, axis=1), axis=1)


def _paths(axes: Axes, dataset: xr.Dataset) -> None:
    """Paths of the centres of mass in the coordinate plane that shows most of them."""
    positions = dataset["body_pos"].transpose("body", "time", "xyz").to_numpy()
    names = [str(name) for name in dataset["body"].to_numpy()]
    travel = _travel(dataset)
    first, second = _plane(positions, travel)
    moving = {name: path for name, path, size in zip(names, positions, travel, strict=True) if size > _AT_REST}
    chosen = _choose(moving, lambda path: float(np.max(np.ptp(path, axis=0))))
    for index, name in enumerate(chosen):
        path, colour = moving[name], _COLOURS[index % len(_COLOURS)]
        axes.plot(path[:, first], path[:, second], color=colour, linewidth=1.4, label=_short(name))
        axes.plot(*path[0, [first, second]], "o", markersize=5, markerfacecolor="white", color=colour)
        axes.plot(*path[-1, [first, second]], "o", markersize=5, color=colour)
    still = positions[travel <= _AT_REST, 0][:, [first, second]]
    if still.size:
        axes.plot(still[:, 0], still[:, 1], "^", markersize=6, color=_GREY, linestyle="none", label="at rest")
    axes.set_xlabel(f"{'xyz'[first]} [m]", fontsize=9)
    axes.set_ylabel(f"{'xyz'[second]} [m]", fontsize=9)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.08)
    _finish(axes, "Paths of centres of mass (open: start, full: end)", len(chosen), len(moving))


def _plane(positions: np.ndarray, travel: np.ndarray) -> tuple[int, int]:
    """The two axes along which the moving bodies travel most; z upwards where it is one of them."""
    moved = np.max(np.ptp(positions, axis=1), axis=0) if travel.size else np.zeros(3)
    extent = np.ptp(positions.reshape(-1, 3), axis=0)
    axes = sorted(range(3), key=lambda axis: (-round(float(moved[axis]), 9), -float(extent[axis]), axis))[:2]
    first, second = sorted(axes)
    return first, second


def _energies(axes: Axes, time: np.ndarray, dataset: xr.Dataset) -> None:
    parts = {
        "kinetic": dataset["energy_kinetic"],
        "potential (from start)": dataset["energy_potential"] - dataset["energy_potential"][0],
        "dissipated": dataset["energy_dissipated"],
        "work of motors": dataset["work_motors"],
        "work of loads": dataset["work_loads"],
    }
    lines = {name: part.to_numpy() for name, part in parts.items()}
    total = lines["kinetic"] + lines["potential (from start)"] + lines["dissipated"]
    balance = total - lines["work of motors"] - lines["work of loads"]
    balance = balance - balance[0]
    largest = max(float(np.max(np.abs(part))) for part in (*lines.values(), dataset["energy_potential"].to_numpy()))
    floor = max(_NO_ENERGY, 64 * float(np.finfo(balance.dtype).eps) * largest)
    shown = {name: np.where(np.abs(line) > floor, line, 0.0) for name, line in (*lines.items(), ("balance", balance))}
    error = float(np.max(np.abs(shown["balance"])))
    for index, name in enumerate(lines):
        if np.any(shown[name] != 0):
            _line(axes, time, shown[name], "-", color=_COLOURS[index], linewidth=1.4, label=name)
    _line(axes, time, shown["balance"], ":", color="#000000", linewidth=1.0, label="balance (from start)")
    axes.set_xlabel("time [s]", fontsize=9)
    axes.set_ylabel("energy [J]", fontsize=9)
    axes.margins(x=0.01)
    _sensible_range(axes, list(shown.values()), _NO_ENERGY)
    said = f"{error:.1e}" if error else "0"
    _finish(axes, f"Energies (balance off by at most {said} J)", 5, 5, handles=False)
    _legend_above(axes)


def _gaps(axes: Axes, time: np.ndarray, gaps: Lines) -> None:
    largest = np.max(np.stack(list(gaps.values())), axis=0)
    name = max(gaps, key=lambda item: float(np.max(gaps[item])))
    floor = 1e-17
    axes.set_yscale("log")
    _line(axes, time, np.maximum(largest, floor), "-", color=_COLOURS[0], linewidth=1.0)
    axes.set_ylim(bottom=floor, top=max(1e-12, 10 * float(np.max(largest))))
    axes.set_xlabel("time [s]", fontsize=9)
    axes.set_ylabel("gap [m or rad]", fontsize=9)
    axes.margins(x=0.01)
    _finish(axes, f"Largest gap of all joints (at worst in {_short(name)})", 1, 1, handles=False)


def _short(name: str, most: int = 24) -> str:
    # a leading underscore would hide the line from the legend
    name = name if not name.startswith("_") else f" {name}"
    return name if len(name) <= most else name[: most - 1] + "…"
