"""All constraint rows of a mechanism, stacked."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._context import Context
from jaxmbs._gather import take
from jaxmbs._model import Model
from jaxmbs.dynamics.system import BodyKinematics, LaneState, System


@dataclasses.dataclass(frozen=True)
class RowPlan:
    """Where every row of a mechanism comes from: NumPy index arrays, one entry per row.

    - stack: place of the constraint stack; element: the element in it; kind: which of its rows.
    - body1, body2: body indices.
    """

    stack: np.ndarray
    element: np.ndarray
    kind: np.ndarray
    body1: np.ndarray
    body2: np.ndarray

    @property
    def count(self) -> int:
        return self.stack.size


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Rows:
    """Linearised rows, see `jaxmbs.constraints.Row`.

    - residual, rate, bias: (rows, lanes).
    - jacobian1, jacobian2: (rows, 6, lanes), linear before angular, world axes.
    """

    residual: Array
    rate: Array
    bias: Array
    jacobian1: Array
    jacobian2: Array


def row_plan(model: Model) -> RowPlan:
    """The rows of a model: by stack, then by kind of row, then by element."""
    return _row_plan(tuple((c.row_mask, c.body1, c.body2) for c in model.constraints))


@functools.cache
def _row_plan(stacks: tuple[tuple[tuple[tuple[bool, ...], ...], tuple[int, ...], tuple[int, ...]], ...]) -> RowPlan:
    entries = [
        (place, element, kind, body1[element], body2[element])
        for place, (mask, body1, body2) in enumerate(stacks)
        for kind in range(len(mask[0]) if mask else 0)
        for element in range(len(mask))
        if mask[element][kind]
    ]
    columns = np.array(entries, dtype=int).reshape(len(entries), 5).T
    return RowPlan(*columns)


def _select(per_kind: list[Array], plan: RowPlan, place: int) -> Array | None:
    """Rows that exist, from arrays (elements, ...) by kind of row."""
    parts = []
    for kind, values in enumerate(per_kind):
        elements = plan.element[(plan.stack == place) & (plan.kind == kind)]
        if elements.size == values.shape[0]:
            parts.append(values)
        elif elements.size:
            parts.append(values[elements])
    return jnp.concatenate(parts) if parts else None


def linearised_rows(system: System, bodies: BodyKinematics, y: LaneState, context: Context) -> Rows:
    """Residuals, Jacobians and acceleration bias of all rows."""
    plan = row_plan(system.model)
    lanes = y.pose.pos.x.shape[-1]
    parts: list[list[Array]] = [[], [], [], [], []]
    for place, constraint in system.constraints():
        body1, body2 = take(bodies.all, constraint.body1), take(bodies.all, constraint.body2)
        drive = constraint.drive(context, y.aux[place])
        rows = constraint.linearise(system.anchors[place], body1, body2, drive)
        shape = (constraint.count, lanes)
        quantities: list[list[Array]] = [
            [jnp.broadcast_to(row.residual, shape) for row in rows],
            [jnp.broadcast_to(row.rate, shape) for row in rows],
            [jnp.broadcast_to(row.bias, shape) for row in rows],
            [_six(row.linear1, row.angular1, shape) for row in rows],
            [_six(row.linear2, row.angular2, shape) for row in rows],
        ]
        for part, quantity in zip(parts, quantities, strict=True):
            chosen = _select(quantity, plan, place)
            if chosen is not None:
                part.append(chosen)
    if plan.count == 0:
        scalar, six = jnp.zeros((0, lanes), y.work.dtype), jnp.zeros((0, 6, lanes), y.work.dtype)
        return Rows(scalar, scalar, scalar, six, six)
    return Rows(*(jnp.concatenate(part) for part in parts))


def spread_rows(rows: Rows, plan: RowPlan, body_count: int) -> Array:
    """The Jacobian of all rows as one array (rows, bodies, 6, lanes); what acts on the world is left out."""
    bodies = np.arange(body_count)[None]
    first = jnp.asarray(plan.body1[:, None] == bodies, rows.residual.dtype)[:, :, None, None]
    second = jnp.asarray(plan.body2[:, None] == bodies, rows.residual.dtype)[:, :, None, None]
    return first * rows.jacobian1[:, None] + second * rows.jacobian2[:, None]


def _six(linear, angular, shape: tuple[int, int]) -> Array:
    components = (linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
    return jnp.stack([jnp.broadcast_to(component, shape) for component in components], axis=1)
