"""All constraint rows of a mechanism."""

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._context import Context
from jaxmbs._gather import halved, take
from jaxmbs._kinematics import Kinematics
from jaxmbs._math import Vec3
from jaxmbs._model import Model
from jaxmbs._spatial import Spatial
from jaxmbs.constraints import Row
from jaxmbs.dynamics.system import BodyKinematics, LaneState, System


#: One number per row, as the elements give them: by constraint stack and kind of row, (elements, lanes). Entries of
#: rows that an element does not have mean nothing.
Values = list[list[Array]]


@dataclasses.dataclass(frozen=True, eq=False)
class RowPlan:
    """Where every row of a mechanism comes from: NumPy index arrays, one entry per row.

    - stack: place of the constraint stack; element: the element in it; kind: which of its rows.
    - body1, body2: body indices.
    - shape: of every stack, (kinds of rows, elements).
    """

    stack: np.ndarray
    element: np.ndarray
    kind: np.ndarray
    body1: np.ndarray
    body2: np.ndarray
    shape: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        return self.stack.size

    def exists(self, stack: int, kind: int) -> np.ndarray:
        """Which elements of a stack have a kind of row, (elements,)."""
        return np.isin(np.arange(self.shape[stack][1]), self.element[(self.stack == stack) & (self.kind == kind)])

    def chosen(self, values: Values, rows: np.ndarray) -> Array:
        """The values of some rows, (rows, lanes)."""
        parts, start = [], 0
        while start < rows.size:
            stack, kind = self.stack[rows[start]], self.kind[rows[start]]
            stop = start
            while stop < rows.size and (self.stack[rows[stop]], self.kind[rows[stop]]) == (stack, kind):
                stop += 1
            parts.append(rows_at(values[stack][kind], self.element[rows[start:stop]]))
            start = stop
        return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


@functools.partial(jax.tree_util.register_dataclass, data_fields=["by_stack", "speeds", "none"], meta_fields=["plan"])
@dataclasses.dataclass(frozen=True)
class Rows:
    """Linearised rows, see `jaxmbs.constraints.Row`.

    - by_stack: what `AbstractConstraint.linearise` gave, with every array (elements, lanes).
    - speeds: the time derivative of every residual at the velocities of the bodies, by stack and kind.
    - none: no rows, (0, lanes).
    """

    by_stack: list[tuple[Row, ...]]
    speeds: Values
    none: Array
    plan: RowPlan

    def values(self, quantity: Callable[[Row], Array]) -> Values:
        """A scalar of every row, by stack and kind."""
        return [[quantity(row) for row in rows] for rows in self.by_stack]

    @property
    def residuals(self) -> Values:
        return self.values(lambda row: row.residual)

    @property
    def rates(self) -> Values:
        return self.values(lambda row: row.rate)

    @property
    def biases(self) -> Values:
        return self.values(lambda row: row.bias)

    def together(self, values: Values) -> Array:
        """From values by stack and kind to (rows, lanes)."""
        return self.plan.chosen(values, np.arange(self.plan.count)) if self.plan.count else self.none

    # The same as arrays over all rows, for results: in steps, gathering them costs more than all the rest.

    @property
    def residual(self) -> Array:
        """(rows, lanes)."""
        return self.together(self.residuals)

    @property
    def rate(self) -> Array:
        """(rows, lanes)."""
        return self.together(self.rates)

    @property
    def speed(self) -> Array:
        """(rows, lanes)."""
        return self.together(self.speeds)

    @property
    def jacobian1(self) -> Array:
        """(rows, 6, lanes), linear before angular, world axes."""
        return self._jacobian(lambda row: (row.linear1, row.angular1))

    @property
    def jacobian2(self) -> Array:
        """(rows, 6, lanes), linear before angular, world axes."""
        return self._jacobian(lambda row: (row.linear2, row.angular2))

    def _jacobian(self, part: Callable[[Row], tuple[Vec3, Vec3]]) -> Array:
        columns = [
            self.together(self.values(lambda row, v=v, c=c: getattr(part(row)[v], c))) for v in (0, 1) for c in "xyz"
        ]
        return jnp.stack(columns, axis=1)

    def held(self, rows: np.ndarray) -> tuple[Spatial, Spatial]:
        """The Jacobians of some rows with respect to body1 and body2, (rows, lanes)."""

        def part(name: str) -> Vec3:
            return Vec3(
                *(self.plan.chosen(self.values(lambda row, c=c: getattr(getattr(row, name), c)), rows) for c in "xyz")
            )

        return Spatial(part("linear1"), part("angular1")), Spatial(part("linear2"), part("angular2"))


def row_plan(model: Model) -> RowPlan:
    """The rows of a model: by stack, then by kind of row, then by element."""
    return _row_plan(tuple((c.row_mask, c.body1, c.body2) for c in model.constraints))


@functools.cache
def _row_plan(stacks: tuple[tuple[tuple[tuple[bool, ...], ...], tuple[int, ...], tuple[int, ...]], ...]) -> RowPlan:
    shape = tuple((len(mask[0]) if mask else 0, len(mask)) for mask, _, _ in stacks)
    entries = [
        (place, element, kind, body1[element], body2[element])
        for place, (mask, body1, body2) in enumerate(stacks)
        for kind in range(shape[place][0])
        for element in range(len(mask))
        if mask[element][kind]
    ]
    columns = np.array(entries, dtype=int).reshape(len(entries), 5).T
    return RowPlan(*columns, shape=shape)


def rows_at(values: Array, index: np.ndarray) -> Array:
    """Rows of an array by static index, as a slice where they are neighbours."""
    if index.size and np.array_equal(index, np.arange(index[0], index[0] + index.size)):
        return values[int(index[0]) : int(index[-1]) + 1]
    return values[index]


def linearised_rows(system: System, bodies: BodyKinematics, y: LaneState, context: Context) -> Rows:
    """Residuals, Jacobians and acceleration bias of all rows."""
    lanes = y.pose.pos.x.shape[-1]
    by_stack: list[tuple[Row, ...]] = []
    speeds: Values = []
    for place, constraint in system.constraints():
        body1, body2 = take(bodies.all, constraint.body1), take(bodies.all, constraint.body2)
        drive = constraint.drive(context, y.aux[place])
        rows = constraint.linearise(system.anchors[place], body1, body2, drive)
        shape = (constraint.count, lanes)
        rows = jax.tree.map(lambda leaf, shape=shape: jnp.broadcast_to(leaf, shape), rows)
        by_stack.append(rows)
        speeds.append([_speed(row, body1, body2) for row in rows])
    none = jnp.zeros((0, lanes), y.work.dtype)
    return Rows(by_stack, speeds, none, row_plan(system.model))


def _speed(row: Row, body1: Kinematics, body2: Kinematics) -> Array:
    first = row.linear1.dot(body1.vel) + row.angular1.dot(body1.omega)
    return first + row.linear2.dot(body2.vel) + row.angular2.dot(body2.omega) + row.rate


def negative(values: Values) -> Values:
    """Minus every value: targets are minus residuals, rates or biases."""
    return jax.tree.map(jnp.negative, values)


def largest(rows: Rows, values: Values) -> Array:
    """The largest absolute value over all rows, (lanes,)."""
    plan = rows.plan
    found = []
    for stack, (kinds, _) in enumerate(plan.shape):
        parts = []
        for kind in range(kinds):
            exists = plan.exists(stack, kind)
            if exists.any():
                size = jnp.abs(values[stack][kind])
                parts.append(size if exists.all() else jnp.where(exists[:, None], size, 0.0))
        if parts:
            found.append(halved(jnp.maximum, functools.reduce(jnp.maximum, parts))[0])
    return functools.reduce(jnp.maximum, found) if found else jnp.zeros_like(rows.none, shape=rows.none.shape[1:])


def spread_rows(rows: Rows, plan: RowPlan, body_count: int) -> Array:
    """The Jacobian of all rows as one array (rows, bodies, 6, lanes); what acts on the world is left out."""
    bodies = np.arange(body_count)[None]
    jacobian1, jacobian2 = rows.jacobian1, rows.jacobian2
    first = jnp.asarray(plan.body1[:, None] == bodies, jacobian1.dtype)[:, :, None, None]
    second = jnp.asarray(plan.body2[:, None] == bodies, jacobian1.dtype)[:, :, None, None]
    return first * jacobian1[:, None] + second * jacobian2[:, None]
