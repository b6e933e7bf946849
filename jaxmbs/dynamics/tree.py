"""The numeric phase on the spanning tree: closed-form elimination of every body together with the joint that holds it.

The motion of a body follows from that of the body above it exactly, also when the joint has drifted apart:

    a = X a_above + W + Z u

with X the rigid motion of the body above, W what the targets of the joint's rows ask for, and u the free directions
Z. Going inward, the free directions are eliminated one by one, so that all pivots are scalars Z^T A Z > 0, and an
articulated inertia of 21 numbers moves on to the body above. Rows that close loops carry their columns G inward in the
same pass; what they see of the free directions is S = G^T Z (Z^T A Z)^-1 Z^T G, and their multipliers solve a small
system in S. The outward pass then gives the motion.

**References:** Featherstone, Rigid Body Dynamics Algorithms, sections 7.3 (articulated bodies) and 8.4 (loops).
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._calls import call
from jaxmbs._math import Vec3
from jaxmbs._spatial import ArticulatedInertia, Spatial
from jaxmbs.dynamics.loops import LARGEST_UNROLLED, solve_large, solve_small
from jaxmbs.dynamics.topology import Segment, Topology


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class TreeData:
    """What the passes need of the mechanism at one pose; arrays (bodies by place, lanes).

    - inertia: of every body; offset: from the COM of the body above to its own.
    - basis: for the six coordinates of the joint that holds a body, see `AbstractConstraint.tree_basis`.
    - columns: of the loop rows on every body, leaves (slots, places, lanes); `None` without loops.
    - size: what is large for a diagonal entry of S, (slots, groups, lanes).
    """

    inertia: ArticulatedInertia
    offset: Vec3
    basis: tuple[Spatial, ...]
    columns: Spatial | None
    size: Array | None


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Case:
    """One right-hand side: wrenches on the bodies, and the motions W that the rows of their joints ask for.

    - target: of the loop rows, (slots, groups, lanes).
    """

    wrench: Spatial
    relative: Spatial
    target: Array | None


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Inward:
    """What a level hands on: articulated inertia, wrench per case, columns of loops."""

    inertia: ArticulatedInertia
    wrenches: list[Spatial]
    columns: Spatial | None


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Eliminated:
    """What a level keeps for every free direction: A Z, 1/(Z^T A Z), u per case, and G^T Z.

    - before: G^T W per case.
    """

    gain: list[Spatial]
    inverse: list[Array]
    free: list[list[Array]]
    seen: list[Array | None]
    before: list[Array | None]


def solve_tree(topology: Topology, data: TreeData, cases: list[Case]) -> tuple[list[Spatial], list[Array | None]]:
    """The motion of all bodies for every case, and the multipliers of the loop rows (slots, groups, lanes)."""
    kept = _inward(topology, data, cases)
    multipliers = _solve_loops(topology, data, cases, kept)
    return _outward(topology, data, cases, kept, multipliers), multipliers


def wrenches_of_joints(
    topology: Topology, data: TreeData, motion: Spatial, wrench: Spatial, multiplier: Array | None
) -> Spatial:
    """What the joint that holds a body exerts on it, about its COM, by place."""
    own = data.inertia @ motion - wrench
    if data.columns is not None and multiplier is not None:
        spread = _spread(topology, multiplier)
        own = own - jax.tree.map(lambda column: _sum([column[k] * spread[k] for k in range(len(spread))]), data.columns)
    below: Spatial | None = None
    results: list[Spatial] = []
    lower: Segment | None = None
    for segment in reversed(topology.segments):
        part, offset = _part((own, data.offset), segment)
        handed = None if lower is None else _onto_parents(below, lower, segment.width)

        def level(carry: Spatial, item: tuple[Spatial, Vec3]) -> tuple[Spatial, Spatial]:
            total = item[0] + carry
            return total.moved_back(item[1]), total

        start = Spatial.zeros(part.linear.x[: segment.width]) if handed is None else handed
        below, result = _over_levels(level, start, (part, offset), segment, inward=True)
        results.append(result)
        lower = segment
    return jax.tree.map(lambda *parts: jnp.concatenate(parts), *reversed(results)) if results else own


# ---- passes


def _inward(topology: Topology, data: TreeData, cases: list[Case]) -> list[_Eliminated]:
    """From the leaves to the ground; returns what is kept, by segment from the ground."""
    handed: _Inward | None = None
    lower: Segment | None = None
    kept: list[_Eliminated] = []
    for segment in reversed(topology.segments):
        above = None if lower is None or handed is None else _onto_parents(handed, lower, segment.width)
        free, mask = _free_directions(topology, data, segment)
        inertia, offset, sides = _part((data.inertia, data.offset, [(c.wrench, c.relative) for c in cases]), segment)
        columns = None
        if data.columns is not None:
            columns = jax.tree.map(lambda leaf, s=segment: leaf[:, s.start : s.stop], data.columns)
        item = (inertia, offset, free, sides, columns, mask)
        if segment.length == 1:
            handed, eliminated = call(_eliminate)(above, item)
        else:
            handed, eliminated = _scan_inward(above, item, segment)
        kept.append(eliminated)
        lower = segment
    return kept[::-1]


def _scan_inward(above: _Inward | None, item: tuple, segment: Segment) -> tuple[_Inward, _Eliminated]:
    """`_eliminate` over the levels of a segment, from its last to its first."""
    *plain, columns, mask = item
    levels = jax.tree.map(lambda leaf: leaf.reshape(segment.length, segment.width, *leaf.shape[1:]), (plain, mask))
    if columns is not None:
        columns = jax.tree.map(
            lambda leaf: jnp.moveaxis(leaf.reshape(leaf.shape[0], segment.length, segment.width, leaf.shape[-1]), 1, 0),
            columns,
        )

    def level(carry: _Inward, level_item: tuple) -> tuple[_Inward, _Eliminated]:
        (plain, mask), columns = level_item
        return _eliminate(carry, (*plain, columns, mask))

    if above is None:
        first = jax.tree.map(lambda leaf: leaf[-1], (levels, columns))
        shape = jax.eval_shape(lambda x: level(None, x)[0], first)  # pyright: ignore[reportArgumentType]
        above = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shape)
    handed, kept = jax.lax.scan(level, above, (levels, columns), reverse=True)  # pyright: ignore[reportArgumentType]
    return handed, _levels_together(kept)


def _eliminate(above: _Inward | None, item: tuple) -> tuple[_Inward, _Eliminated]:
    """One level: eliminate the free directions of its bodies. `above` comes from the level below, if any."""
    inertia, offset, free, cases, columns, mask = item
    wrenches = [wrench for wrench, _ in cases]
    if above is not None:
        inertia = inertia + above.inertia
        wrenches = [one + other for one, other in zip(wrenches, above.wrenches, strict=True)]
        if columns is not None and above.columns is not None:
            columns = columns + above.columns
    relatives = [relative for _, relative in cases]
    wrenches = [wrench - inertia @ relative for wrench, relative in zip(wrenches, relatives, strict=True)]
    before = [None if columns is None else _seen(columns, relative) for relative in relatives]
    gain, inverse, solved, seen = [], [], [[] for _ in cases], []
    for direction, exists in zip(free, mask, strict=True):
        product = inertia @ direction
        pivot = direction.dot(product)
        inverted = 1.0 / pivot if exists is None else jnp.where(exists, 1.0 / jnp.where(exists, pivot, 1.0), 0.0)
        for i, wrench in enumerate(wrenches):
            u = inverted * direction.dot(wrench)
            wrenches[i] = wrench - product * u
            solved[i].append(u)
        if columns is not None:
            part = _seen(columns, direction)
            columns = jax.vmap(lambda g, z, product=product, s=inverted: g - product * (z * s))(columns, part)
            seen.append(part)
        else:
            seen.append(None)
        inertia = inertia.without(product, inverted)
        gain.append(product)
        inverse.append(inverted)
    handed = _Inward(
        inertia.moved_back(offset),
        [wrench.moved_back(offset) for wrench in wrenches],
        None if columns is None else jax.vmap(lambda g: g.moved_back(offset))(columns),
    )
    return handed, _Eliminated(gain, inverse, solved, seen, before)


def _seen(columns: Spatial, direction: Spatial) -> Array:
    """G^T z for all columns, (slots, bodies, lanes)."""
    return jax.vmap(lambda g: g.dot(direction))(columns)


def _solve_loops(topology: Topology, data: TreeData, cases: list[Case], kept: list[_Eliminated]) -> list[Array | None]:
    """The multipliers of the loop rows per case, (slots, groups, lanes)."""
    if data.columns is None or data.size is None:
        return [None for _ in cases]
    matrix: list[list[Array]] = []
    rights: list[list[list[Array]]] = [[] for _ in cases]
    for segment, part in zip(topology.segments, kept, strict=True):
        groups = topology.body_group[segment.start : segment.stop]
        triangle, taken = call(functools.partial(_loop_terms, topology.slots, groups, topology.groups))(part)
        matrix.append(triangle)
        for case, rows in zip(rights, taken, strict=True):
            case.append(rows)
    large = topology.slots > LARGEST_UNROLLED
    right = [
        [
            target - _sum(list(parts))
            for target, *parts in zip([case.target] if large else case.target, *rows, strict=True)
        ]
        for case, rows in zip(cases, rights, strict=True)
        if case.target is not None
    ]
    triangle = [_sum(list(entries)) for entries in zip(*matrix, strict=True)]
    if large:
        return list(solve_large(triangle[0], data.size, [rows[0] for rows in right]))
    return [jnp.stack(rows) for rows in call(solve_small)(triangle, list(data.size), right)]


def _loop_terms(slots: int, groups: np.ndarray, count: int, part: _Eliminated) -> tuple[list[Array], list[list[Array]]]:
    """What the bodies of a segment add to S and take from the right-hand sides, summed over each group.

    **Returns:** the lower triangle of S row by row, each entry (groups, lanes), and per case a list over slots; for
    many slots all of S at once, (slots, slots, groups, lanes), and (slots, groups, lanes).
    """
    seen = [z for z in part.seen if z is not None]
    scaled = [z * inverse[None] for z, inverse in zip(seen, part.inverse, strict=True)]
    rights = []
    for before, free in zip(part.before, part.free, strict=True):
        assert before is not None
        rights.append(_sum([before, *(z * u[None] for z, u in zip(seen, free, strict=True))]))
    onto = lambda values: _onto_groups(values, groups, count)  # noqa: E731
    first = part.before[0]
    assert first is not None
    if slots > LARGEST_UNROLLED:
        none = jnp.zeros_like(first[:, None] * first[None])
        matrix = _sum([z[:, None] * s[None] for z, s in zip(seen, scaled, strict=True)], none)
        return [onto(matrix)], [[onto(right)] for right in rights]
    none = jnp.zeros_like(first[0])
    triangle = [
        onto(_sum([z[i] * s[j] for z, s in zip(seen, scaled, strict=True)], none))
        for i in range(slots)
        for j in range(i + 1)
    ]
    return triangle, [[onto(right[i]) for i in range(slots)] for right in rights]


def _outward(
    topology: Topology, data: TreeData, cases: list[Case], kept: list[_Eliminated], multipliers: list[Array | None]
) -> list[Spatial]:
    """From the ground to the leaves: the motions."""
    results: list[list[Spatial]] = []
    previous: list[Spatial] | None = None
    for segment, part in zip(topology.segments, kept, strict=True):
        free, _ = _free_directions(topology, data, segment)
        offset, relatives = _part((data.offset, [case.relative for case in cases]), segment)
        solved = [_with_loops(topology, segment, part, case, multiplier) for case, multiplier in enumerate(multipliers)]
        item = (offset, free, part.gain, part.inverse, solved, relatives)
        start = None
        if previous is not None:
            start = [_of_parents(motion, segment) for motion in previous]
        if segment.length == 1:
            motions = call(_release)(start, item)
            previous = motions
        else:
            if start is None:
                start = [Spatial.zeros(case.linear.x[: segment.width]) for case in relatives]

            def level(carry: list[Spatial], level_item: tuple) -> tuple[list[Spatial], list[Spatial]]:
                motions = _release(carry, level_item)
                return motions, motions

            previous, motions = _over_levels(level, start, item, segment, inward=False)
        results.append(motions)
    if not results:
        return [case.relative for case in cases]
    return [
        jax.tree.map(lambda *parts: jnp.concatenate(parts), *by_segment) if len(results) > 1 else by_segment[0]
        for by_segment in zip(*results, strict=True)
    ]


def _with_loops(
    topology: Topology, segment: Segment, part: _Eliminated, case: int, multiplier: Array | None
) -> list[Array]:
    """U of every free direction with the push of the loops."""
    if multiplier is None:
        return part.free[case]
    spread = [row[segment.start : segment.stop] for row in _spread(topology, multiplier)]
    result = []
    for u, z, inverse in zip(part.free[case], part.seen, part.inverse, strict=True):
        assert z is not None
        result.append(u + inverse * _sum([z[k] * spread[k] for k in range(len(spread))]))
    return result


def _release(above: list[Spatial] | None, item: tuple) -> list[Spatial]:
    """One level: the motions of its bodies from those of the bodies above; `None` stands for the ground."""
    offset, free, gain, inverse, solved, relatives = item
    motions = []
    for case, relative in enumerate(relatives):
        motion = Spatial.zeros(relative.linear.x) if above is None else above[case].carried(offset)
        for i in reversed(range(len(free))):
            u = solved[case][i]
            if above is not None or i + 1 < len(free):
                u = u - inverse[i] * gain[i].dot(motion)
            motion = motion + free[i] * u
        motions.append(motion + relative)
    return motions


# ---- levels and segments


def _free_directions(topology: Topology, data: TreeData, segment: Segment) -> tuple[list[Spatial], list[Array | None]]:
    """The free directions of the joints of a segment, padded to equally many, and which of them exist."""
    table, exists = _free_table(topology, segment)
    directions, masks = [], []
    for column, mask in zip(table.T, exists.T, strict=True):
        choices = [(coordinate, np.flatnonzero((column == coordinate) & mask)) for coordinate in range(6)]
        choices = [(coordinate, bodies) for coordinate, bodies in choices if bodies.size]
        direction = _part(data.basis[choices[0][0]], segment)
        for coordinate, bodies in choices[1:]:
            chosen = np.isin(np.arange(column.size), bodies)[:, None]
            other = _part(data.basis[coordinate], segment)
            direction = jax.tree.map(lambda new, old, c=chosen: jnp.where(c, new, old), other, direction)
        directions.append(direction)
        masks.append(None if mask.all() else jnp.asarray(mask)[:, None])
    return directions, masks


@functools.cache
def _free_table(topology: Topology, segment: Segment) -> tuple[np.ndarray, np.ndarray]:
    """For every body of a segment its free coordinates, (bodies, most), and which entries are real."""
    rows = topology.coordinate_row[segment.start : segment.stop]
    free = [np.flatnonzero(row < 0) for row in rows]
    most = max((f.size for f in free), default=0)
    table = np.array([np.pad(f, (0, most - f.size)) for f in free], int).reshape(len(free), most)
    exists = np.array([np.arange(most) < f.size for f in free], bool).reshape(len(free), most)
    return table, exists


def _part(tree, segment: Segment):  # noqa: ANN001, ANN202
    """The bodies of a segment, from leaves (places, lanes)."""
    return jax.tree.map(lambda leaf: leaf[segment.start : segment.stop], tree)


def _levels_together(tree):  # noqa: ANN001, ANN202
    """From (levels, ..., width, lanes) back to (..., bodies, lanes)."""

    def merge(leaf: Array) -> Array:
        leaf = jnp.moveaxis(leaf, 0, -3)
        return leaf.reshape(*leaf.shape[:-3], leaf.shape[-3] * leaf.shape[-2], leaf.shape[-1])

    return jax.tree.map(merge, tree)


def _over_levels(level, start, item, segment: Segment, *, inward: bool):  # noqa: ANN001, ANN202
    """Apply `level` to the levels of a segment, leaves (bodies, lanes), one after the other."""
    if segment.length == 1:
        return level(start, item)
    xs = jax.tree.map(lambda leaf: leaf.reshape(segment.length, segment.width, *leaf.shape[1:]), item)
    carry, ys = jax.lax.scan(level, start, xs, reverse=inward)
    return carry, _levels_together(ys)


def _onto_parents(tree, lower: Segment, width: int):  # noqa: ANN001, ANN202
    """Sum what the bodies of a level hand on over the children of each of `width` parents."""
    if lower.parent == tuple(range(width)):
        return tree
    children = [[i for i, parent in enumerate(lower.parent) if parent == p] for p in range(width)]
    most = max(len(c) for c in children)
    if width == 1 and len(children[0]) == lower.width:
        return jax.tree.map(lambda leaf: _sum_axis(leaf), tree)
    table = np.array([c + [lower.width] * (most - len(c)) for c in children])

    def gather(leaf: Array) -> Array:
        padded = jnp.concatenate([leaf, jnp.zeros_like(leaf[..., :1, :])], axis=-2)
        return _sum([padded[..., column, :] for column in table.T])

    return jax.tree.map(gather, tree)


def _of_parents(motion: Spatial, segment: Segment) -> Spatial:
    """The motions of the bodies above."""
    parent = np.array(segment.parent)
    width = motion.linear.x.shape[0]
    if np.array_equal(parent, np.arange(width)):
        return motion
    if width == 1:
        return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (parent.size, leaf.shape[-1])), motion)
    return jax.tree.map(lambda leaf: leaf[parent], motion)


def _onto_groups(values: Array, groups: np.ndarray, count: int) -> Array:
    """Sum (..., bodies, lanes) over the bodies of every group, (..., groups, lanes)."""
    if count == 1 and np.all(groups == 0):
        return _sum_axis(values)
    parts = []
    for group in range(count):
        chosen = np.flatnonzero(groups == group)
        own = values[..., chosen, :] if chosen.size else jnp.zeros_like(values[..., :1, :])
        parts.append(_sum_axis(own))
    return jnp.concatenate(parts, axis=-2)


def _spread(topology: Topology, multiplier: Array) -> list[Array]:
    """The multipliers that a body's columns belong to, (places, lanes) per slot; zero columns get any."""
    if topology.groups == 1:
        return [jnp.broadcast_to(row, (topology.count, row.shape[-1])) for row in multiplier]
    index = np.maximum(topology.body_group, 0)
    return [row[index] for row in multiplier]


def _sum(terms: list[Array], none: Array | None = None) -> Array:
    """The sum of equally shaped arrays; `none` when there are no terms."""
    if not terms:
        assert none is not None
        return none
    return functools.reduce(jnp.add, terms)


#: Sums over at most so many bodies are written out.
LONGEST_SUM = 16


def _sum_axis(values: Array) -> Array:
    """The sum over bodies, (..., 1, lanes)."""
    count = values.shape[-2]
    if count > LONGEST_SUM:
        return jnp.sum(values, axis=-2, keepdims=True)
    return _sum([values[..., i : i + 1, :] for i in range(count)])
