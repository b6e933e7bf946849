"""Motions that satisfy the constraint rows and are nearest to a free motion in the mass metric.

With the rows J, wrenches w and targets c:

    M a = w + J^T lambda,    J a = c.

It is solved along the spanning tree, see `jaxmbs.dynamics.tree`; rows may be redundant. Differentiation is implicit:
the derivative of a solution is one more solve, with the derivative of the equations above as its right-hand side.
"""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._gather import sum_onto_bodies, take
from jaxmbs._kinematics import Kinematics
from jaxmbs._math import Sym3, Vec3
from jaxmbs._spatial import ArticulatedInertia, Spatial
from jaxmbs.dynamics.rows import RowPlan, Rows, Values, rows_at
from jaxmbs.dynamics.system import BodyKinematics, System
from jaxmbs.dynamics.topology import DIRECTIONS, Topology, TreeJoints, topology
from jaxmbs.dynamics.tree import Case, TreeData, solve_tree, wrenches_of_joints


@functools.partial(jax.tree_util.register_dataclass, data_fields=["rows", "data"], meta_fields=["topology"])
@dataclasses.dataclass(frozen=True)
class ConstraintSolver:
    """The equations of all bodies and rows at one pose."""

    topology: Topology
    rows: Rows
    data: TreeData

    @property
    def plan(self) -> RowPlan:
        return self.rows.plan

    def solve_all(self, cases: list[tuple[Array, Values]]) -> list[tuple[Array, Values]]:
        """The motions under wrenches, with one elimination.

        **Arguments:** pairs of

        - a wrench: (bodies, 6, lanes), force before torque about the COM, world axes.
        - targets of the rows, by stack and kind.

        **Returns:** the motions (bodies, 6, lanes), zero for fixed bodies, and the multipliers by stack and kind.
        """
        lanes = self.data.offset.x.shape[-1]
        right = [(self._by_place(wrench, lanes), self._with_lanes(target, lanes)) for wrench, target in cases]
        solved = _solution(self, right)
        return [(self._by_body(motion, lanes), jax.tree.map(jnp.negative, pull)) for motion, pull in solved]

    def solve(self, wrench: Array, target: Values) -> tuple[Array, Values]:
        """`solve_all` for one pair."""
        return self.solve_all([(wrench, target)])[0]

    def constrain_all(self, cases: list[tuple[Array, Values]]) -> list[tuple[Array, Values]]:
        """The motions nearest to free ones in the mass metric with J a = target, with one elimination.

        **Arguments:** pairs of a free motion (bodies, 6, lanes), linear before angular, world axes, and targets.

        **Returns:** motions and multipliers.
        """
        if self.plan.count == 0:
            return list(cases)
        corrections = []
        for free, target in cases:
            rest = jax.tree.map(jnp.subtract, target, row_rates(self.rows, free))
            corrections.append((jnp.zeros_like(free), rest))
        solved = self.solve_all(corrections)
        return [(free + motion, multipliers) for (free, _), (motion, multipliers) in zip(cases, solved, strict=True)]

    def _with_lanes(self, values: Values, lanes: int) -> Values:
        return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (leaf.shape[0], lanes)), values)

    def _by_place(self, array: Array, lanes: int) -> Spatial:
        chosen = Spatial.of(rows_at(array, self.topology.order))
        return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (leaf.shape[0], lanes)), chosen)

    def _by_body(self, motion: Spatial, lanes: int) -> Array:
        parts = [motion.linear.array(), motion.angular.array()]
        stacked = jnp.concatenate(parts, axis=1)
        if np.array_equal(self.topology.order, np.arange(self.topology.bodies)):
            return stacked
        index = np.full(self.topology.bodies, self.topology.count)
        index[self.topology.order] = np.arange(self.topology.count)
        return jnp.concatenate([stacked, jnp.zeros((1, 6, lanes), stacked.dtype)])[index]

    def equations(self, cases: list[tuple[Spatial, Values]]) -> list[tuple[Spatial, Values]]:
        """(M a + J^T pull, J a); the pull is minus the multipliers, which makes the matrix symmetric."""
        result = []
        lanes = self.data.offset.x.shape[-1]
        for motion, pull in cases:
            wrench = self._by_place(transposed_rows(self.rows, pull, self.topology.bodies), lanes)
            result.append((self.data.inertia @ motion + wrench, row_rates(self.rows, self._by_body(motion, lanes))))
        return result

    def eliminate(self, cases: list[tuple[Spatial, Values]]) -> list[tuple[Spatial, Values]]:
        """The solution of `equations`."""
        data = self.data
        tree_cases = [Case(wrench, self._relative(data, target), self._loop_target(target)) for wrench, target in cases]
        motions, multipliers = solve_tree(self.topology, data, tree_cases)
        result = []
        for (wrench, _), motion, multiplier in zip(cases, motions, multipliers, strict=True):
            exerted = wrenches_of_joints(self.topology, data, motion, wrench, multiplier)
            pull = jax.tree.map(jnp.negative, self._all_multipliers(data, exerted, multiplier))
            result.append((motion, pull))
        return result

    def _relative(self, data: TreeData, target: Values) -> Spatial:
        """W of all bodies: what the targets of the joints that hold them ask for."""
        topo = self.topology
        relative: Spatial | None = None
        for coordinate in range(DIRECTIONS):
            index = topo.coordinate_row[:, coordinate]
            locked = index >= 0
            if not locked.any():
                continue
            if locked.all():
                part = data.basis[coordinate] * self.plan.chosen(target, index)
            else:
                # a body whose coordinate is free borrows any row
                chosen = self.plan.chosen(target, np.where(locked, index, index[locked][0]))
                part = data.basis[coordinate] * jnp.where(locked[:, None], chosen, 0.0)
            relative = part if relative is None else relative + part
        return Spatial.zeros(data.offset.x) if relative is None else relative

    def _loop_target(self, target: Values) -> Array | None:
        if not self.topology.loop_rows.size:
            return None
        return _by_slot(self.topology, self.plan.chosen(target, self.topology.loop_rows))

    def _all_multipliers(self, data: TreeData, exerted: Spatial, multiplier: Array | None) -> Values:
        """The multipliers of all rows, from the wrenches of the joints of the tree and those of the loops."""
        topo, plan = self.topology, self.plan
        parts = [motion.dot(exerted) for motion in data.basis]
        source = np.full(plan.count, -1)
        for coordinate in range(DIRECTIONS):
            rows = topo.coordinate_row[:, coordinate]
            source[rows[rows >= 0]] = coordinate * topo.count + np.flatnonzero(rows >= 0)
        if multiplier is not None:
            source[topo.loop_rows] = DIRECTIONS * topo.count + topo.slot * topo.groups + topo.group
            parts.append(multiplier.reshape(topo.slots * topo.groups, multiplier.shape[-1]))
        everything = jnp.concatenate([*parts, jnp.zeros_like(parts[0][:1])]) if topo.count else data.offset.x
        values: Values = []
        for stack, (kinds, elements) in enumerate(plan.shape):
            values.append([])
            for kind in range(kinds):
                index = np.full(elements, everything.shape[0] - 1)
                own = np.flatnonzero((plan.stack == stack) & (plan.kind == kind))
                index[plan.element[own]] = source[own]
                values[-1].append(
                    rows_at(everything, index)
                    if topo.count
                    else jnp.zeros((elements, everything.shape[-1]), everything.dtype)
                )
        return values


@eqx.filter_custom_jvp
def _solution(solver: ConstraintSolver, right: list[tuple[Spatial, Values]]) -> list[tuple[Spatial, Values]]:
    return solver.eliminate(right)


@_solution.def_jvp
def _solution_jvp(primals: tuple, tangents: tuple) -> tuple:
    """K x = b gives K dx = db - dK x, without differentiating the elimination."""
    (solver, right), (d_solver, d_right) = primals, tangents
    x = _solution(solver, right)
    _, moved = eqx.filter_jvp(lambda solver: solver.equations(x), (solver,), (d_solver,))
    # One array: the rule of JAX for transposing a linear solve takes no right-hand side that is zero in parts.
    leaves, structure = jax.tree.flatten(jax.tree.map(_minus, right, d_right, moved))
    ends = np.cumsum([leaf.shape[0] for leaf in leaves])[:-1].tolist()

    def apart(flat: Array) -> list[tuple[Spatial, Values]]:
        return jax.tree.unflatten(structure, jnp.split(flat, ends))

    def together(cases: list[tuple[Spatial, Values]]) -> Array:
        return jnp.concatenate(jax.tree.leaves(cases))

    def equations(flat: Array) -> Array:
        return together(solver.equations(apart(flat)))

    def eliminate(_, flat: Array) -> Array:
        return together(solver.eliminate(apart(flat)))

    dx = jax.lax.custom_linear_solve(equations, jnp.concatenate(leaves), eliminate, eliminate, symmetric=True)
    return x, apart(dx)


def _minus(like: Array, first: Array | None, second: Array | None) -> Array:
    """The difference of two tangents; None is zero."""
    first = jnp.zeros_like(like) if first is None else first
    return first if second is None else first - second


def make_solver(system: System, bodies: BodyKinematics, rows: Rows) -> ConstraintSolver:
    """Prepare the equations at the present pose."""
    topo = system_topology(system, rows.plan)
    return ConstraintSolver(topo, rows, _tree_data(system, topo, bodies, rows))


def system_topology(system: System, plan: RowPlan) -> Topology:
    """The spanning tree of a system."""
    joints = tuple(TreeJoints(c.body1, c.body2, c.tree_coordinates) for c in system.model.constraints)
    return topology(plan, joints, system.model.bodies.fixed)


def row_rates(rows: Rows, motion: Array) -> Values:
    """J times a motion (bodies, 6, lanes), by stack and kind; zero for rows that an element does not have."""
    extended = jnp.concatenate([motion, jnp.zeros_like(motion[:1])]) if motion.shape[0] else motion
    plan = rows.plan
    values: Values = []
    for stack, stack_rows in enumerate(rows.by_stack):
        body1, body2 = (Spatial.of(extended[index]) for index in _bodies_of(plan, stack, motion.shape[0]))
        values.append([])
        for kind, row in enumerate(stack_rows):
            rate = Spatial(row.linear1, row.angular1).dot(body1) + Spatial(row.linear2, row.angular2).dot(body2)
            exists = plan.exists(stack, kind)
            values[-1].append(rate if exists.all() else jnp.where(exists[:, None], rate, 0.0))
    return values


def transposed_rows(rows: Rows, multipliers: Values, body_count: int) -> Array:
    """J^T times multipliers, (bodies, 6, lanes)."""
    plan = rows.plan
    total: Array | None = None
    for stack, stack_rows in enumerate(rows.by_stack):
        wrenches: list[Spatial] = []
        for kind, row in enumerate(stack_rows):
            exists = plan.exists(stack, kind)
            value = multipliers[stack][kind]
            value = value if exists.all() else jnp.where(exists[:, None], value, 0.0)
            parts = (Spatial(row.linear1, row.angular1) * value, Spatial(row.linear2, row.angular2) * value)
            wrenches = [a + b for a, b in zip(wrenches, parts, strict=True)] if wrenches else list(parts)
        for wrench, index in zip(wrenches, _bodies_of(plan, stack, -1), strict=True):
            array = jnp.concatenate([wrench.linear.array(), wrench.angular.array()], axis=1)
            flat = array.reshape(array.shape[0], 6 * array.shape[-1])
            part = sum_onto_bodies(flat, tuple(index.tolist()), body_count).reshape(body_count, 6, array.shape[-1])
            total = part if total is None else total + part
    return jnp.zeros((body_count, 6, rows.none.shape[-1]), rows.none.dtype) if total is None else total


def _tree_data(system: System, topo: Topology, bodies: BodyKinematics, rows: Rows) -> TreeData:
    lanes = bodies.all.pose.pos.x.shape[-1]
    pos = bodies.all.pose.pos
    own, above = (jax.tree.map(lambda leaf, i=i: rows_at(leaf, i), pos) for i in (topo.order, _parent_bodies(topo)))
    mass = rows_at(jnp.broadcast_to(system.model.bodies.mass, (topo.bodies, lanes)), topo.order)
    tensor: Sym3 = jax.tree.map(
        lambda leaf: rows_at(jnp.broadcast_to(leaf, (topo.bodies, lanes)), topo.order), bodies.inertia_world
    )
    columns, size = None, None
    if topo.loop_rows.size:
        columns, size = _loop_columns(topo, rows, mass, tensor)
    return TreeData(
        inertia=ArticulatedInertia.rigid(mass, tensor),
        offset=own - above,
        basis=_basis(system, topo, bodies.all, rows, own.x),
        columns=columns,
        size=size,
    )


def _parent_bodies(topo: Topology) -> np.ndarray:
    """The model index of the body above, by place; for the ground the world's row, which is the last."""
    return np.where(topo.parent < 0, topo.bodies, topo.order[np.maximum(topo.parent, 0)])


def _basis(system: System, topo: Topology, bodies: Kinematics, rows: Rows, like: Array) -> tuple[Spatial, ...]:
    """`AbstractConstraint.tree_basis` by place; a body that nothing holds has the six unit motions."""
    sources: list[tuple[Spatial, ...]] = []
    index = np.zeros(topo.count, int)
    start = 0
    for place, constraint in system.constraints():
        held = np.flatnonzero(topo.stack == place)
        if not held.size:
            continue
        onto2 = np.ones((constraint.count, 1), bool)
        onto2[topo.element[held], 0] = topo.onto2[held]
        body1, body2 = take(bodies, constraint.body1), take(bodies, constraint.body2)
        sources.append(constraint.tree_basis(system.anchors[place], body1, body2, rows.by_stack[place], onto2))
        index[held] = start + topo.element[held]
        start += constraint.count
    loose = np.flatnonzero(topo.stack < 0)
    if loose.size:
        sources.append(_unit_motions(like[:1]))
        index[loose] = start
    result = []
    for coordinate in range(DIRECTIONS):
        parts = [source[coordinate] for source in sources]
        result.append(jax.tree.map(lambda *leaves: rows_at(_joined(leaves, like.shape[-1]), index), *parts))
    return tuple(result)


def _bodies_of(plan: RowPlan, stack: int, world: int) -> tuple[np.ndarray, np.ndarray]:
    """The bodies of the elements of a stack; `world` stands for the world, and for elements without rows."""
    found = np.full((2, plan.shape[stack][1]), world)
    own = plan.stack == stack
    for side, body in enumerate((plan.body1, plan.body2)):
        found[side, plan.element[own]] = np.where(body[own] < 0, world, body[own])
    return found[0], found[1]


def _joined(leaves: tuple[Array, ...], lanes: int) -> Array:
    full = [jnp.broadcast_to(leaf, (leaf.shape[0], lanes)) for leaf in leaves]
    return full[0] if len(full) == 1 else jnp.concatenate(full)


def _unit_motions(like: Array) -> tuple[Spatial, ...]:
    none = Vec3.zeros(like)
    units = [Vec3.full(like, *(float(i == k) for i in range(3))) for k in range(3)]
    return (*(Spatial(unit, none) for unit in units), *(Spatial(none, unit) for unit in units))


#: Columns over at most so many bodies are put together from their pieces.
LONGEST_JOIN = 32


def _loop_columns(topo: Topology, rows: Rows, mass: Array, tensor: Sym3) -> tuple[Spatial, Array]:
    """The columns of the loop rows by slot and place, and how large their diagonal entries of S can be."""
    plan = rows.plan
    place = np.full(topo.bodies + 1, -1)
    place[topo.order] = np.arange(topo.count)
    count = topo.loop_rows.size
    table = np.full((topo.slots, topo.count), 2 * count)
    size = jnp.zeros((count, mass.shape[-1]), mass.dtype)
    sides = rows.held(topo.loop_rows)
    for side, (body, part) in enumerate(zip((plan.body1, plan.body2), sides, strict=True)):
        at = place[body[topo.loop_rows]]
        acts = at >= 0
        table[topo.slot[acts], at[acts]] = side * count + np.flatnonzero(acts)
        index = np.maximum(at, 0)
        # any measure of the mobility of a free body will do: this one only scales the rows
        spin = 3.0 / (tensor.xx + tensor.yy + tensor.zz)
        mobility = part.linear.dot(part.linear) / mass[index] + part.angular.dot(part.angular) * spin[index]
        size = size + (mobility if acts.all() else jnp.where(acts[:, None], mobility, 0.0))
    columns = jax.tree.map(lambda one, two: _placed(one, two, table), *sides)
    return columns, _by_slot(topo, size)


def _placed(first: Array, second: Array, table: np.ndarray) -> Array:
    """Rows of `first`, then of `second`, then zeros, by a table (slots, places)."""
    if table.shape[1] > LONGEST_JOIN:
        return jnp.concatenate([first, second, jnp.zeros_like(first[:1])])[table]
    none = jnp.zeros_like(first[:1])
    count = first.shape[0]

    def piece(entry: int) -> Array:
        if entry == 2 * count:
            return none
        return first[entry : entry + 1] if entry < count else second[entry - count : entry - count + 1]

    return jnp.stack([jnp.concatenate([piece(int(entry)) for entry in slot]) for slot in table])


def _by_slot(topo: Topology, values: Array) -> Array:
    """From loop rows (rows, lanes) to (slots, groups, lanes), zero where a system is smaller."""
    table = np.full((topo.slots, topo.groups), values.shape[0])
    table[topo.slot, topo.group] = np.arange(values.shape[0])
    if np.any(table == values.shape[0]):
        values = jnp.concatenate([values, jnp.zeros_like(values[:1])])
    flat = rows_at(values, table.ravel())
    return flat.reshape(topo.slots, topo.groups, values.shape[-1])
