"""From the options of a command to what the simulator takes."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np

from jaxmbs._description import ModelDescription
from jaxmbs.cli.errors import UserError, did_you_mean
from jaxmbs.loaders import LoaderChrono
from jaxmbs.solvers import AbstractIntegrator, RungeKutta, SemiImplicitEuler
from jaxmbs.solvers.projected_runge_kutta import METHODS


FORMATS = ("chrono",)
ADAPTIVE = "-adaptive"
SEMI_IMPLICIT = "semi-implicit-euler"
#: Tolerances of the adaptive integrators.
RTOL, ATOL = 1e-8, 1e-10
#: The step where neither the file nor the command line gives one [s].
DT = 1e-3
#: About how many times are saved unless the file or the command line says otherwise.
SAVES = 1000


@dataclasses.dataclass(frozen=True)
class Reading:
    """How to read the file."""

    file: Path
    dialect: str
    lenient: bool
    format: str | None
    gravity: tuple[float, float, float] | None

    def describe(self) -> ModelDescription:
        """The description of the file. **Raises** `UserError` and `LoadError`."""
        if self.format is not None and self.format not in FORMATS:
            raise UserError(f"there is no format {self.format!r}; {did_you_mean(self.format, FORMATS)}")
        description = LoaderChrono(dialect=self.dialect, lenient=self.lenient).describe(self.file)
        if not description.bodies:
            flexible = description.names_not_simulated().get("fea")
            hint = f"it has only flexible bodies (FEA): {', '.join(flexible)}" if flexible else "add some"
            raise UserError(f"{self.file}: the model has no rigid bodies, so there is nothing to simulate; {hint}")
        if self.gravity is not None:
            if not all(map(math.isfinite, self.gravity)):
                raise UserError(f"--gravity needs three finite numbers, got {self.gravity}")
            description.gravity = np.array(self.gravity)
            description.defaults = [line for line in description.defaults if not line.startswith("gravity =")]
        return description


@dataclasses.dataclass(frozen=True)
class Times:
    """End, step and save times of a run [s]."""

    t1: float
    dt: float
    saves: np.ndarray
    sources: tuple[str, ...]

    @property
    def steps(self) -> int:
        return step_count(self.t1, self.dt)

    @property
    def h(self) -> float:
        """The step that is taken where functions of time have no kinks."""
        return self.t1 / self.steps


def step_count(t1: float, dt: float) -> int:
    """N = ceil(t1/dt - 1e-9)."""
    return max(1, math.ceil(t1 / dt - 1e-9))


def times(description: ModelDescription, t1: float | None, dt: float | None, save_dt: float | None) -> Times:
    """The times of a run: the command line decides, then the file, then defaults.

    **Raises** `UserError` where there is no end time, and for numbers that make no sense.
    """
    found, sources = description.simulation, []
    for name, value in (("--t1", t1), ("--dt", dt), ("--save-dt", save_dt)):
        if value is not None and not (math.isfinite(value) and value > 0):
            raise UserError(f"{name} needs a positive number of seconds, got {value:g}")
    if t1 is None:
        if found.t1 is None:
            raise UserError("the file gives no end time; add --t1 SECONDS, for example --t1 5")
        t1 = found.t1
        sources.append("end time")
    if dt is None:
        dt = DT if found.dt is None else found.dt
        sources.extend(() if found.dt is None else ("step",))
    if t1 / dt > 1e8:
        raise UserError(f"--t1 {t1:g} with --dt {dt:g} asks for {t1 / dt:.3g} steps; are both in seconds?")
    steps = step_count(t1, dt)
    if save_dt is None and found.save_dt is not None:
        save_dt = found.save_dt
        sources.append("save times")
    if save_dt is None:
        stride = max(1, round(steps / SAVES))
        saves = t1 * (np.arange(0, steps, stride) / steps)
    else:
        if t1 / save_dt > 1e7:
            raise UserError(f"--save-dt {save_dt:g} asks for {t1 / save_dt:.3g} saved times; choose a larger one")
        saves = save_dt * np.arange(math.floor(t1 / save_dt + 1e-9) + 1)
        saves = saves[saves < t1 * (1 - 1e-9)]
    return Times(t1, dt, np.append(saves, t1), tuple(sources))


def integrator_names() -> list[str]:
    """All names that `--integrator` takes."""
    return [*METHODS, *(name + ADAPTIVE for name in METHODS), SEMI_IMPLICIT]


def integrator(name: str) -> AbstractIntegrator:
    """The integrator of that name. **Raises** `UserError` with a suggestion."""
    if name not in integrator_names():
        names = integrator_names()
        close = did_you_mean(name, names)
        listed = "" if close.startswith("choose") else f" The names are {', '.join(names)}"
        raise UserError(f"there is no integrator {name!r}; {close}{listed}")
    if name == SEMI_IMPLICIT:
        return SemiImplicitEuler()
    method = name.removesuffix(ADAPTIVE)
    return RungeKutta(method, rtol=RTOL, atol=ATOL) if name.endswith(ADAPTIVE) else RungeKutta(method)


def input_syntax(name: str, size: int) -> str:
    """How to give an external value on the command line."""
    return (
        f"--input {name}=VALUE or --input {name}=FILE.csv"
        if size == 1
        else (f"--input {name}=X,Y,Z or --input {name}=FILE.csv")
    )


def inputs(given: list[str], wanted: dict[str, int]) -> dict[str, Any]:
    """External values from `NAME=VALUE` and `NAME=FILE.csv`.

    **Raises** `UserError` for an unknown or missing name, and for values that cannot be read.
    """
    found = {}
    for item in given:
        name, separator, text = item.partition("=")
        if not separator:
            raise UserError(f"--input {item!r} needs the form NAME=VALUE or NAME=FILE.csv")
        if name not in wanted:
            raise UserError(f"the model has no input {name!r}; {did_you_mean(name, wanted)}")
        if name in found:
            raise UserError(f"--input {name!r} is given twice")
        found[name] = _input(name, text, wanted[name])
    missing = [name for name, size in wanted.items() if size == 1 and name not in found]
    if missing:
        options = " ".join(f"--input {name}=VALUE" for name in missing)
        raise UserError(
            f"controllers drive this model, and the run has no values for: {', '.join(missing)}. "
            f"Add {options}, where VALUE is a constant or a CSV file with the columns time, value"
        )
    return found


def _input(name: str, text: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Sample times (samples,) and values (samples,) or (samples, 3)."""
    try:
        constant = np.array([float(part) for part in text.split(",")])
    except ValueError:
        table = _read_table(name, Path(text), size)
        return table[:, 0], table[:, 1] if size == 1 else table[:, 1:]
    if constant.size != size or not np.all(np.isfinite(constant)):
        raise UserError(f"input {name!r} needs {size} finite number(s), got {text!r}")
    return np.zeros(1), constant if size == 1 else constant[None]


def _read_table(name: str, path: Path, size: int) -> np.ndarray:
    columns = "time, value" if size == 1 else "time, x, y, z"
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(
            f"input {name!r}: {str(path)!r} is no number, and cannot be read as a file ({reason})"
        ) from None
    rows = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            row = [float(part) for part in text.split(",")]
        except ValueError:
            if not rows and number == 1:  # a line of titles
                continue
            raise UserError(f"{path}:{number}: {text!r} are no numbers; the columns are {columns}") from None
        if len(row) != size + 1:
            raise UserError(f"{path}:{number}: needs {size + 1} numbers ({columns}), got {len(row)}")
        if not all(map(math.isfinite, row)):
            raise UserError(f"{path}:{number}: {text!r} has a number that is not finite")
        if rows and row[0] <= rows[-1][0]:
            raise UserError(f"{path}:{number}: the time {row[0]:g} does not come after {rows[-1][0]:g}")
        rows.append(row)
    if not rows:
        raise UserError(f"{path}: there are no numbers in it; the columns are {columns}")
    return np.array(rows)


def check_writable(option: str, path: Path | None, sources: tuple[Path, ...], suffixes: tuple[str, ...]) -> None:
    """**Raises** `UserError` when a file cannot be written there later.

    Only regular files are replaced: a device, a pipe or a socket would be lost to the file of the result.
    """
    if path is None:
        return
    if path.is_dir():
        raise UserError(f"{option} {str(path)!r} is a folder; name a file in it, such as {str(path / 'result')!r}")
    if suffixes and path.suffix.lower() not in suffixes:
        raise UserError(f"{option} {str(path)!r} needs a name that ends in {' or '.join(suffixes)}")
    if any(path.resolve() == source.resolve() for source in sources):
        raise UserError(
            f"{option} {str(path)!r} would overwrite a file that the run reads or writes; choose another name"
        )
    if not path.parent.is_dir():
        raise UserError(f"{option} {str(path)!r}: there is no folder {str(path.parent)!r}; create it first")
    if path.exists() and not path.is_file():
        raise UserError(f"{option} {str(path)!r} is no regular file (a device or a pipe); choose another name")
    try:
        if path.exists():
            with path.open("ab"):
                pass
        # results are written beside their place and moved there when complete
        part = part_of(path)
        existed = part.exists()
        with part.open("ab"):
            pass
        if not existed:
            part.unlink()
    except OSError as error:
        reason = error.strerror or str(error)
        if not path.exists():
            reason = f"the folder {str(path.parent)!r} takes no new files ({reason})"
        raise UserError(f"{option} {str(path)!r} cannot be written: {reason}; choose another place") from None


def part_of(path: Path) -> Path:
    """Where a file is written before it is complete."""
    return path.with_name(path.name + ".part")
