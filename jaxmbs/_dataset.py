"""Results with named dimensions, units and frames."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import numpy as np
import xarray as xr
from jax import Array

from jaxmbs._description import MotorKind
from jaxmbs._inputs import Inputs
from jaxmbs._model import Model
from jaxmbs._outputs import constraint_names, joint_names, motor_names
from jaxmbs._results import Status
from jaxmbs._variables import VARIABLES
from jaxmbs._version import __version__
from jaxmbs.constraints import FrameJoint
from jaxmbs.dynamics.reactions import characteristic_length
from jaxmbs.dynamics.system import make_system
from jaxmbs.forces import Bushing, Rsda, Tsda


if TYPE_CHECKING:
    from jaxmbs._solution import Solution

#: Dimensions with what they hold, in the order of the file.
_DIMENSIONS: dict[str, tuple[str, Callable[[Model], Sequence[str]]]] = {
    "body": ("bodies", lambda model: model.bodies.names),
    "joint": ("joints, and motors with their guides and spindles", joint_names),
    "motor": ("motors", motor_names),
    "tsda": ("translational spring-dampers", lambda model: _force_names(model, Tsda)),
    "rsda": ("rotational spring-dampers", lambda model: _force_names(model, Rsda)),
    "bushing": ("bushings", lambda model: _force_names(model, Bushing)),
    "constraint": ("constraints that are no joints", constraint_names),
    "xyz": ("components of a vector", lambda _: ("x", "y", "z")),
    "wxyz": ("components of a quaternion", lambda _: ("w", "x", "y", "z")),
}


def to_dataset(solution: "Solution") -> xr.Dataset:
    """All outputs of a solution.

    Dimensions `time`, `body`, `joint`, `motor`, `tsda`, `rsda`, `bushing`, `constraint`, `xyz`, `wxyz`, with names as
    coordinates; `instance` comes first for a batch, and a batch of several axes is flattened into it, its shape in
    the attribute `batch_shape`. Every variable has the attributes `units`, `frame`, `long_name` and, where there is a
    sign to know, `comment`. What a model does not have is absent.
    """
    outputs = {name: np.asarray(values) for name, values in solution.outputs().items()}
    return arrange(solution, outputs)


def arrange(solution: "Solution", outputs: dict[str, np.ndarray]) -> xr.Dataset:
    """The dataset of a solution whose outputs were computed before."""
    model, times = solution.model, np.asarray(solution.ts)
    batch = solution.status.shape
    lead = ("instance",) if batch else ()
    coordinates = _coordinates(model, batch, times)
    dataset = xr.Dataset(coords=coordinates)
    for name, variable in VARIABLES.items():
        if name not in outputs:
            continue
        dims = (*lead, "time", *variable.dims)
        values = outputs[name].reshape((math.prod(batch),) * bool(batch) + outputs[name].shape[len(batch) :])
        attributes = {
            "long_name": variable.long_name,
            "units": _units(model, variable.units),
            "frame": variable.frame,
            "comment": variable.comment,
        }
        dataset[name] = (dims, values, {key: text for key, text in attributes.items() if text})
    unknown = set(outputs) - set(VARIABLES)
    if unknown:
        raise KeyError(f"outputs without a meaning in _variables.py: {sorted(unknown)}")
    _add_status(dataset, solution, lead)
    dataset.attrs = _attributes(solution, batch)
    length = _reaction_length(model, solution.inputs, batch)
    if np.ptp(length) == 0:
        dataset.attrs["reaction_length"] = float(length.flat[0])
    else:
        meaning = {
            "long_name": "length that weighs torques in redundant reactions",
            "units": "m",
            "frame": "none (scalar)",
        }
        dataset["reaction_length"] = (lead, length, meaning)
    return dataset


def _force_names(model: Model, kind: type) -> tuple[str, ...]:
    return tuple(name for stack in model.forces if isinstance(stack, kind) for name in stack.names)


def motor_kinds(model: Model) -> tuple[MotorKind, ...]:
    """The kinds of the motors, in the order of `motor_names`."""
    stacks = [stack for stack in model.constraints if isinstance(stack, FrameJoint)]
    return tuple(motor.kind for stack in stacks for motor in stack.motors if motor is not None)


def _units(model: Model, units: str) -> str:
    if "|" not in units:
        return units
    linear, rotation = units.split("|")
    kinds = set(motor_kinds(model))
    if len(kinds) == 1:
        return linear if kinds == {MotorKind.LINEAR} else rotation
    return f"{linear} or {rotation}"


def _coordinates(model: Model, batch: tuple[int, ...], times: np.ndarray) -> dict[str, xr.Variable]:
    coordinates = {}
    if batch:
        meaning = {"long_name": "instances of the batch", "units": "1", "frame": "none (scalar)"}
        coordinates["instance"] = xr.Variable("instance", np.arange(math.prod(batch)), meaning)
    meaning = {"long_name": "time", "standard_name": "time", "axis": "T", "units": "s", "frame": "none (scalar)"}
    coordinates["time"] = xr.Variable("time", times, meaning)
    for dim, (long_name, names) in _DIMENSIONS.items():
        found = names(model)
        if found:
            coordinates[dim] = xr.Variable(dim, np.array(found, dtype=object), _names(long_name))
    kinds = [kind.name for kind in motor_kinds(model)]
    if kinds:
        meaning = _names("kind of the motor: LINEAR in m and N, ROTATION in rad and N m")
        coordinates["motor_kind"] = xr.Variable("motor", np.array(kinds, dtype=object), meaning)
    return coordinates


def _names(long_name: str) -> dict[str, str]:
    return {"long_name": long_name, "units": "1", "frame": "none (names)"}


def _add_status(dataset: xr.Dataset, solution: "Solution", lead: tuple[str, ...]) -> None:
    codes = list(Status)
    dataset["status"] = (
        lead,
        np.asarray(solution.status, np.int32).reshape(-1 if lead else ()),
        {
            "long_name": "how the run ended",
            "units": "1",
            "frame": "none (scalar)",
            "flag_values": np.array([int(code) for code in codes], np.int32),
            "flag_meanings": " ".join(code.name.lower() for code in codes),
            "comment": "from failed_at on, all values are those of the last good state",
        },
    )
    dataset["failed_at"] = (
        lead,
        np.asarray(solution.failed_at).reshape(-1 if lead else ()),
        {
            "long_name": "time of failure",
            "units": "s",
            "frame": "none (scalar)",
            "comment": "infinite where there was none",
        },
    )


def _attributes(solution: "Solution", batch: tuple[int, ...]) -> dict[str, Any]:
    steps = int(np.max(np.asarray(solution.steps)))
    attributes: dict[str, Any] = {
        "title": solution.model.name,
        "Conventions": "CF-1.11",
        "source": f"jaxmbs {__version__}",
        "jaxmbs_version": __version__,
        "integrator": solution.integrator.name,
        "steps": steps,
        "t0": float(solution.t0),
        "t1": float(solution.t1),
        "h": float(solution.h),
        "precision": str(solution.model.dtype),
        "reaction_length_comment": (
            "length [m] that weighs torques against forces where redundant constraints leave reactions open"
        ),
        "not_simulated": "; ".join(f"{part} of {', '.join(names)}" for part, names in solution.model.not_simulated)
        or "nothing",
    }
    if batch:
        attributes["batch_shape"] = np.array(batch, np.int32)
    return attributes


@eqx.filter_jit
def _length(model: Model, inputs: Inputs, batch: tuple[int, ...]) -> Array:
    return characteristic_length(make_system(model, inputs, batch))


def _reaction_length(model: Model, inputs: Inputs, batch: tuple[int, ...]) -> np.ndarray:
    """By instance [m]."""
    length = jax.device_get(_length(model, inputs, batch)).reshape(-1)
    return np.broadcast_to(length, (max(1, math.prod(batch)),)).copy()
