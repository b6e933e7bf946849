"""The symbolic phase: how the bodies of a mechanism hang together. NumPy only, once per topology.

A spanning tree of moving bodies is rooted in the ground (the world and the fixed bodies). A body and the joint that
holds it are one node of the tree; a body that no suitable joint holds hangs on the ground with six free directions.
All rows that belong to no joint of the tree close loops.

**References:** Featherstone, Rigid Body Dynamics Algorithms, section 4.1 (connectivity, spanning trees, loop joints).
"""

import dataclasses
import functools
import heapq

import numpy as np

from jaxmbs.dynamics.rows import RowPlan


#: Directions that a rigid body has.
DIRECTIONS = 6
#: Runs of at least so many levels of the same shape are scanned; shorter ones are unrolled.
SHORTEST_SCAN = 3


@dataclasses.dataclass(frozen=True)
class Segment:
    """Consecutive levels of equal width where every body hangs on the body in the same place of the level above.

    - start, width, length: the first place in `Topology.order`, bodies per level, levels.
    - parent: for the bodies of the first level, their parents' places in the level above; -1 is the ground.
    """

    start: int
    width: int
    length: int
    parent: tuple[int, ...]

    @property
    def stop(self) -> int:
        return self.start + self.width * self.length


@dataclasses.dataclass(frozen=True, eq=False)
class Topology:
    """A spanning tree and its loops.

    Bodies are numbered by their place in the tree, level by level from the ground.

    - bodies: of the model, fixed ones included; order: model indices of the moving bodies by place.
    - stack, element: the constraint that holds a body, by place; stack -1 for none.
    - onto2: whether the body that is held is body2 of that constraint.
    - parent: place of the body above, -1 for the ground.
    - coordinate_row: (places, 6) the row that locks a coordinate of the joint, -1 where it is free.
    - loop_rows: rows that close loops; group, slot: where each goes in the systems of coupled loops.
    - body_group: (places,) the system that a body's loops belong to, -1 for none.
    - groups, slots: number of systems and the size of the largest.
    - segments: the schedule.
    """

    bodies: int
    order: np.ndarray
    stack: np.ndarray
    element: np.ndarray
    onto2: np.ndarray
    parent: np.ndarray
    coordinate_row: np.ndarray
    loop_rows: np.ndarray
    group: np.ndarray
    slot: np.ndarray
    body_group: np.ndarray
    groups: int
    slots: int
    segments: tuple[Segment, ...]

    @property
    def count(self) -> int:
        """Moving bodies."""
        return self.order.size


@dataclasses.dataclass(frozen=True)
class TreeJoints:
    """Which elements of a constraint stack may hold a body, and how.

    - coordinates: for every element, for each of the six relative coordinates the kind of row that locks it, -1 where
      it is free; `None` for elements that always close loops.
    """

    body1: tuple[int, ...]
    body2: tuple[int, ...]
    coordinates: tuple[tuple[int, ...] | None, ...]


def topology(plan: RowPlan, joints: tuple[TreeJoints, ...], fixed: tuple[bool, ...]) -> Topology:
    """The topology of a mechanism; equal arguments share one object."""
    rows = tuple(map(tuple, np.stack([plan.stack, plan.element, plan.kind, plan.body1, plan.body2], axis=1).tolist()))
    return _topology(rows, joints, fixed)


@functools.cache
def _topology(rows: tuple[tuple[int, ...], ...], joints: tuple[TreeJoints, ...], fixed: tuple[bool, ...]) -> Topology:
    moving = [body for body, is_fixed in enumerate(fixed) if not is_fixed]
    held, depth = _spanning_tree(joints, fixed)
    # by depth, then by the parent's place, so that the children of a body are neighbours
    order: list[int] = []
    place = {-1: -1}
    for level in range(1, max(depth.values(), default=0) + 1):
        bodies = [body for body in moving if depth[body] == level]
        for body in sorted(bodies, key=lambda b: (place[_above(held, joints, fixed, b)], b)):
            place[body] = len(order)
            order.append(body)
    count = len(order)
    stack, element = np.full(count, -1), np.zeros(count, int)
    onto2, parent = np.ones(count, bool), np.full(count, -1)
    coordinate_row = np.full((count, DIRECTIONS), -1)
    number = {row[:3]: i for i, row in enumerate(rows)}
    in_tree = np.zeros(len(rows), bool)
    for at, body in enumerate(order):
        if body not in held:
            continue
        stack[at], element[at], onto2[at] = held[body]
        parent[at] = place[_above(held, joints, fixed, body)]
        coordinates = joints[stack[at]].coordinates[element[at]]
        assert coordinates is not None
        for coordinate, kind in enumerate(coordinates):
            if kind >= 0:
                coordinate_row[at, coordinate] = number[stack[at], element[at], kind]
                in_tree[coordinate_row[at, coordinate]] = True
    loop_rows = np.flatnonzero(~in_tree)
    ends = [[place[b] for b in rows[r][3:5] if b >= 0 and not fixed[b]] for r in loop_rows]
    group, slot, body_group, groups, slots = _groups(ends, parent)
    return Topology(
        bodies=len(fixed),
        order=np.array(order, int),
        stack=stack,
        element=element,
        onto2=onto2,
        parent=parent,
        coordinate_row=coordinate_row,
        loop_rows=loop_rows,
        group=group,
        slot=slot,
        body_group=body_group,
        groups=groups,
        slots=slots,
        segments=_segments(parent),
    )


def _spanning_tree(
    joints: tuple[TreeJoints, ...], fixed: tuple[bool, ...]
) -> tuple[dict[int, tuple[int, int, bool]], dict[int, int]]:
    """For every held body its (stack, element, onto2), and the depth of all moving bodies.

    Breadth first, so that the tree is shallow; among the joints at one depth, those with most rows first, so that few
    rows are left to close loops.
    """
    edges: dict[int, list[tuple[int, int, int, int, bool]]] = {}
    for stack, joint in enumerate(joints):
        for element, coordinates in enumerate(joint.coordinates):
            if coordinates is None:
                continue
            one, two = (-1 if b >= 0 and fixed[b] else b for b in (joint.body1[element], joint.body2[element]))
            rows = sum(kind >= 0 for kind in coordinates)
            edges.setdefault(one, []).append((-rows, stack, element, two, True))
            edges.setdefault(two, []).append((-rows, stack, element, one, False))
    held: dict[int, tuple[int, int, bool]] = {}
    depth: dict[int, int] = {-1: 0}
    queue: list[tuple[int, int, int, int, int, bool]] = []

    def reach(body: int) -> None:
        for rows, stack, element, other, onto2 in edges.get(body, []):
            if other not in depth:
                heapq.heappush(queue, (depth[body] + 1, rows, stack, element, other, onto2))

    def spread() -> None:
        while queue:
            level, _, stack, element, body, onto2 = heapq.heappop(queue)
            if body not in depth:
                depth[body] = level
                held[body] = (stack, element, onto2)
                reach(body)

    reach(-1)
    spread()
    for body, is_fixed in enumerate(fixed):
        if not is_fixed and body not in depth:
            depth[body] = 1
            reach(body)
            spread()
    return held, depth


def _above(
    held: dict[int, tuple[int, int, bool]], joints: tuple[TreeJoints, ...], fixed: tuple[bool, ...], body: int
) -> int:
    """The body that holds `body`, -1 for the ground."""
    if body not in held:
        return -1
    stack, element, onto2 = held[body]
    other = (joints[stack].body1 if onto2 else joints[stack].body2)[element]
    return -1 if other < 0 or fixed[other] else other


def _groups(ends: list[list[int]], parent: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, int]:
    """Which loop rows are coupled: those that act on bodies of the same branch of the ground."""
    root = np.arange(parent.size)
    for at in range(parent.size):
        if parent[at] >= 0:
            root[at] = root[parent[at]]

    def find(branch: int) -> int:
        while root[branch] != branch:
            branch = root[branch]
        return branch

    for bodies in ends:
        for other in bodies[1:]:
            first, second = sorted((find(bodies[0]), find(other)))
            root[second] = first
    numbers: dict[int, int] = {}
    # rows between the ground and the ground act on nothing: they share a system of their own
    group = np.array([numbers.setdefault(find(b[0]) if b else -1, len(numbers)) for b in ends], int)
    slot = np.array([np.sum(group[:i] == group[i]) for i in range(group.size)], int)
    body_group = np.array([numbers.get(find(at), -1) for at in range(parent.size)], int)
    return group, slot, body_group, len(numbers), int(slot.max(initial=-1)) + 1


def _segments(parent: np.ndarray) -> tuple[Segment, ...]:
    """Levels, with runs of levels of the same shape taken together."""
    levels: list[tuple[int, tuple[int, ...]]] = []
    start, above = 0, 0
    while start < parent.size:
        # a level holds the bodies whose parents are in the level above
        inside = (parent[start:] >= above) & (parent[start:] < start) if start else parent[start:] < 0
        width = int(np.argmin(inside)) if not inside.all() else inside.size
        levels.append(
            (start, tuple(np.where(parent[start : start + width] < 0, -1, parent[start : start + width] - above)))
        )
        above, start = start, start + width
    segments: list[Segment] = []
    i = 0
    while i < len(levels):
        first, places = levels[i]
        width = len(places)
        j = i + 1
        while j < len(levels) and levels[j][1] == tuple(range(width)):
            j += 1
        length = j - i if j - i >= SHORTEST_SCAN else 1
        segments.append(Segment(first, width, length, tuple(int(p) for p in places)))
        i += length
    return tuple(segments)
