"""What a model consists of, whether it can be assembled, and what its constraints leave free."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from jaxmbs._compile import compile_model
from jaxmbs._description import Actuation, ModelDescription
from jaxmbs._inputs import Inputs, make_inputs
from jaxmbs._model import Model
from jaxmbs._rank import RANK_TOLERANCE, dependences, mass_metric, rank
from jaxmbs.constraints import (
    AbstractConstraint,
    Distance,
    FrameJoint,
    RevoluteSpherical,
    RevoluteTranslational,
    UniversalJoint,
)
from jaxmbs.constraints.frame_joint import DRIVEN_ROW
from jaxmbs.dynamics.acceleration import body_rows
from jaxmbs.dynamics.assembly import assemble_start
from jaxmbs.dynamics.inertia import inverse_inertia
from jaxmbs.dynamics.projection import tolerances
from jaxmbs.dynamics.rows import linearised_rows, row_plan, spread_rows
from jaxmbs.dynamics.system import LaneState, context, initial_lanes, kinematics, make_system


@dataclasses.dataclass(frozen=True)
class RedundantRow:
    """A constraint row that adds nothing to the rows of the elements before it in the file.

    - element, row: the name and which of its rows, in the joint frame of body2 (`x`, `y`, `z`, `rx`, `ry`, `rz`).
    - depends_on: the elements whose rows already fix the same motion.
    """

    element: str
    row: str
    depends_on: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class ElementResidual:
    """The largest residual of one constraint element [m or rad].

    - initial: as the file poses the bodies; assembled: after assembly.
    - initial_rate: of its velocity rows, as the file gives the velocities [m/s or rad/s].
    """

    element: str
    initial: float
    initial_rate: float
    assembled: float


@dataclasses.dataclass(frozen=True)
class CheckReport:
    """The result of `check_model`; `to_dict` makes it JSON-able.

    - bodies: `name`, `mass` [kg] and `fixed`; elements: by kind, with `name`, `type` and the bodies.
    - gravity: world axes [m/s2].
    - degrees_of_freedom: 6 per moving body less the rank of all rows at the assembled pose, drives included;
      degrees_of_freedom_undriven: without the rows of POSITION and SPEED motors.
    - degrees_of_freedom_counted: 6 per moving body less the number of rows; smaller where rows are redundant.
    - rank_tolerance: relative, for the rows scaled to unit length in the mass metric.
    - gap_initial, gap_assembled: the largest residuals; assembled: whether the second is small enough to run.
    - inputs: the external values that a run may be given, with their number of components; those of one component
      are needed, the others are zero unless given.
    """

    name: str
    gravity: tuple[float, ...]
    bodies: tuple[dict[str, Any], ...]
    elements: dict[str, tuple[dict[str, Any], ...]]
    degrees_of_freedom: int
    degrees_of_freedom_undriven: int
    degrees_of_freedom_counted: int
    rows: int
    rank: int
    rank_tolerance: float
    redundant_rows: tuple[RedundantRow, ...]
    residuals: tuple[ElementResidual, ...]
    gap_initial: float
    gap_assembled: float
    assembled: bool
    inputs: dict[str, int]
    defaults: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    not_simulated: dict[str, tuple[str, ...]]

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists, strings and numbers; a number that is not finite is `None`."""
        return _plain(dataclasses.asdict(self))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def check_model(source: ModelDescription | Model) -> CheckReport:
    """Examine a mechanism at its assembled start pose, in 64-bit precision.

    External values that the model needs are taken as zero.

    **Arguments:**

    - source: a description, or one compiled model; only a description knows defaults, warnings and the kinds of its
      joints.

    **Raises:** `ValueError` for a batch of models.
    """
    with jax.enable_x64(True):
        if isinstance(source, ModelDescription):
            model, description = compile_model(source, dtype=jnp.float64), source
        else:
            model, description = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), source), None
        if model.batch_shape != ():
            raise ValueError(
                "check_model takes a single model; index the batch with jax.tree.map(lambda x: x[i], model)"
            )
        return _report(model, description)


def _report(model: Model, description: ModelDescription | None) -> CheckReport:
    zeros = {name: (np.zeros(1), np.zeros(1)) for name, size in model.input_names().items() if size == 1}
    first, pose = _start_poses(model, make_inputs(model, zeros))
    plan = row_plan(model)
    owners = _row_owners(model)
    order = _file_order(owners, description)
    scaled = mass_metric(*(np.asarray(part) for part in (pose.jacobian, pose.inverse_mass, pose.inverse_inertia)))
    driven = np.array([owner.driven for owner in owners], bool)
    motions = 6 * sum(not fixed for fixed in model.bodies.fixed)
    found = rank(scaled)
    redundant = tuple(
        RedundantRow(owners[item.row].name, owners[item.row].label, _unique(owners[row].name for row in item.of))
        for item in dependences(scaled, order)
    )
    gap = _largest(pose.residual)
    return CheckReport(
        name=model.name,
        gravity=tuple(map(float, model.gravity)),
        bodies=tuple(
            {"name": name, "mass": None if fixed else float(mass), "fixed": fixed}
            for name, mass, fixed in zip(model.bodies.names, model.bodies.mass, model.bodies.fixed, strict=True)
        ),
        elements=_elements(model, description),
        degrees_of_freedom=motions - found,
        degrees_of_freedom_undriven=motions - rank(scaled[~driven]),
        degrees_of_freedom_counted=motions - plan.count,
        rows=plan.count,
        rank=found,
        rank_tolerance=RANK_TOLERANCE,
        redundant_rows=redundant,
        residuals=_by_element(owners, order, first, pose),
        gap_initial=_largest(first.residual),
        gap_assembled=gap,
        assembled=gap <= tolerances(model.dtype).failed,
        inputs=model.input_names(),
        defaults=() if description is None else tuple(description.defaults),
        warnings=() if description is None else _unique(description.warnings),
        notes=() if description is None else description.simulation.notes,
        not_simulated=dict(model.not_simulated),
    )


# ---- the start


class _Start(eqx.Module):
    """Residuals (rows,) at one pose, and the constraint rows there."""

    residual: Array
    rate: Array
    jacobian: Array
    inverse_mass: Array
    inverse_inertia: Array


@eqx.filter_jit
def _look(model: Model, inputs: Inputs, y: LaneState) -> _Start:
    system = make_system(model, inputs, ())
    time = jnp.zeros((1, 1), model.dtype)
    bodies = kinematics(system, y)
    rows = linearised_rows(system, bodies, y, context(system, time, time, y))
    jacobian = spread_rows(rows, row_plan(model), model.bodies.count)[..., 0]
    body = body_rows(bodies)
    v = jnp.concatenate([body.vel.array(), body.omega.array()], axis=1)[..., 0]
    rate = jnp.sum(jacobian * v[None], axis=(1, 2)) + rows.rate[:, 0]
    inverse = inverse_inertia(system, bodies)
    unit = jnp.eye(6, dtype=model.dtype)[:, None, :, None]
    columns = inverse.times(jnp.broadcast_to(unit, (6, model.bodies.count, 6, 1)))[..., 0]
    tensor = jnp.moveaxis(columns[3:, :, 3:], 0, -1)
    return _Start(rows.residual[:, 0], rate, jacobian, columns[0, :, 0], tensor)


@eqx.filter_jit
def _initial(model: Model) -> LaneState:
    return initial_lanes(model, ())


@eqx.filter_jit
def _assembled(model: Model, inputs: Inputs, y: LaneState) -> LaneState:
    return assemble_start(make_system(model, inputs, ()), jnp.zeros((1, 1), model.dtype), y).y


def _start_poses(model: Model, inputs: Inputs) -> tuple[_Start, _Start]:
    """The pose of the file and the assembled one; assembly leaves a closed pose as it is."""
    y = _initial(model)
    first = jax.device_get(_look(model, inputs, y))
    if _largest(first.residual) <= tolerances(model.dtype).closed:
        return first, first
    return first, jax.device_get(_look(model, inputs, _assembled(model, inputs, y)))


# ---- whose row is which


@dataclasses.dataclass(frozen=True)
class _Owner:
    name: str
    label: str
    driven: bool


_LABELS: dict[type[AbstractConstraint], tuple[str, ...]] = {
    FrameJoint: ("x", "y", "z", "rx", "ry", "rz"),
    UniversalJoint: ("x", "y", "z", "perpendicular axes"),
    Distance: ("length",),
    RevoluteSpherical: ("length", "perpendicular axis"),
    RevoluteTranslational: ("z1.x2", "z1.y2", "offset along z1", "distance along x2"),
}


def _row_owners(model: Model) -> list[_Owner]:
    plan, owners = row_plan(model), []
    for stack, element, kind in zip(plan.stack, plan.element, plan.kind, strict=True):
        constraint = model.constraints[stack]
        label = _LABELS[type(constraint)][kind] if type(constraint) in _LABELS else f"row {kind}"
        motor = constraint.motors[element] if isinstance(constraint, FrameJoint) else None
        driven = motor is not None and motor.actuation is not Actuation.FORCE and DRIVEN_ROW[motor.kind] == kind
        owners.append(_Owner(constraint.names[element], f"{label} (drive)" if driven else label, driven))
    return owners


def _file_order(owners: Sequence[_Owner], description: ModelDescription | None) -> list[int]:
    """Rows element by element: joints as in the file, constraints, and motors last."""
    elements = _unique(owner.name for owner in owners)
    if description is not None:
        named = [item.name for item in (*description.joints, *description.constraints)]
        place = {name: index for index, name in reversed(list(enumerate(named)))}
        elements = sorted(elements, key=lambda name: place.get(name, len(named)))
    rank_of = {name: index for index, name in enumerate(elements)}
    return sorted(range(len(owners)), key=lambda row: rank_of[owners[row].name])


def _by_element(
    owners: Sequence[_Owner], order: Sequence[int], first: _Start, last: _Start
) -> tuple[ElementResidual, ...]:
    rows: dict[str, list[int]] = {}
    for row in order:
        rows.setdefault(owners[row].name, []).append(row)
    parts = (np.asarray(first.residual), np.asarray(first.rate), np.asarray(last.residual))
    return tuple(ElementResidual(name, *(_largest(part[own]) for part in parts)) for name, own in rows.items())


def _elements(model: Model, description: ModelDescription | None) -> dict[str, tuple[dict[str, Any], ...]]:
    found: dict[str, list[dict[str, Any]]] = {}
    if description is None:
        for stack in (*model.constraints, *model.forces):
            kind = type(stack).__name__
            found[kind] = [{"name": name, "type": kind} for name in stack.names]
        return {kind: tuple(items) for kind, items in found.items()}
    for kind in ("joints", "constraints", "tsdas", "rsdas", "bushings", "motors", "loads"):
        for item in getattr(description, kind):
            entry = {"name": item.name, "type": _type_name(item)}
            keys = ("body",) if kind == "loads" else ("body1", "body2")
            found.setdefault(kind, []).append(entry | {key: getattr(item, key) for key in keys})
    return {kind: tuple(items) for kind, items in found.items()}


def _type_name(item: Any) -> str:
    parts = [getattr(item, field).name for field in ("kind", "actuation", "guide") if hasattr(item, field)]
    return " ".join(parts) or type(item).__name__.removesuffix("Description").upper()


def _unique(names: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _largest(values: ArrayLike) -> float:
    return float(np.max(np.abs(np.asarray(values)), initial=0.0))
