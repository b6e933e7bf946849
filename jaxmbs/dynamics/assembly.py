"""The start of a run: the assembled state, the turns that were made on the way, and what stays open."""

import dataclasses
import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._description import Actuation, MotorKind
from jaxmbs._functions import Functions
from jaxmbs._gather import take
from jaxmbs._math import Vec3
from jaxmbs._math.angle import unwrapped
from jaxmbs.constraints import FrameJoint
from jaxmbs.dynamics.projection import assemble, extent, is_open, tolerances
from jaxmbs.dynamics.rows import Rows, largest, linearised_rows
from jaxmbs.dynamics.system import LaneState, System, context, kinematics
from jaxmbs.forces import Rsda


#: A motor that has to turn by more than this [rad] is brought there in `STAGES` equal parts.
QUARTER = 0.5 * np.pi
STAGES = 5


@dataclasses.dataclass(frozen=True)
class Start:
    """Where a run starts.

    - y: the assembled state.
    - gap: (lanes,) the largest position residual that remains; rate_gap: the same for velocities.
    - open: (lanes,) whether the gap is a failure; unsteady: whether the velocity residual is one.
    """

    y: LaneState
    gap: Array
    rate_gap: Array
    open: Array
    unsteady: Array


def assemble_start(system: System, time: Array, y: LaneState) -> Start:
    """The nearest consistent state, with the turns that POSITION motors make to get there.

    From the pose that is given, a rotation motor goes to the equivalent of its angle f(t) that is within half a turn,
    in parts if that is far; whole turns are only counted. Angles of joints and springs go on counting from where they
    were, as if the mechanism had moved there. The whole turns of motors are theirs too, where motors and what keeps
    orientations alone connect their bodies, about a parallel axis.

    **Arguments:**

    - time: (1, lanes) or (1, 1).
    """
    motors = _rotation_motors(system)
    if motors:
        y, gap = _assemble_with_motors(system, time, y, motors)
    else:
        assembled, gap = assemble(system, time, y)
        y = _carried(system, y, assembled)
    rows = _rows(system, time, y)
    rate_gap = largest(rows, rows.speeds)
    speeds = jnp.concatenate([y.vel.array(), y.omega.array()], axis=1)
    speed = jnp.maximum(1.0, jnp.max(jnp.abs(speeds), axis=(0, 1)))
    unsteady = ~(rate_gap <= 10 * tolerances(gap.dtype).failed * speed * extent(y))
    return Start(y, gap, rate_gap, is_open(y, gap), unsteady)


def row_residuals(system: System, time: Array, y: LaneState) -> tuple[Array, Array]:
    """What poses and velocities leave of every constraint row, each (rows, lanes) [m or rad, and per s]."""
    rows = _rows(system, time, y)
    return rows.residual, rows.speed


def _rows(system: System, time: Array, y: LaneState) -> Rows:
    bodies = kinematics(system, y)
    return linearised_rows(system, bodies, y, context(system, time, time, y))


# ---- motors


def _rotation_motors(system: System) -> list[tuple[int, int]]:
    """(constraint stack, element) of every POSITION motor that turns."""
    return [
        (place, element)
        for place, joints in system.constraints()
        if isinstance(joints, FrameJoint)
        for element, motor in enumerate(joints.motors)
        if motor is not None and motor.actuation is Actuation.POSITION and motor.kind is MotorKind.ROTATION
    ]


def _functions(system: System, motors: list[tuple[int, int]]) -> np.ndarray:
    """Indices of the functions of motors."""
    found = []
    for place, element in motors:
        joints = system.model.constraints[place]
        motor = joints.motors[element] if isinstance(joints, FrameJoint) else None
        assert motor is not None
        found.append(motor.function)
    return np.array(found)


def _assemble_with_motors(
    system: System, time: Array, y: LaneState, motors: list[tuple[int, int]]
) -> tuple[LaneState, Array]:
    """`assemble`, in parts for lanes with a motor that has far to turn, and with whole turns counted.

    Lanes that get stuck on the way start anew for the last part, which is the whole way then.
    """
    functions = context(system, time, time, y).functions
    angles = _angles(system, y)
    # motors measure body1 relative to body2, joints the opposite
    present = jnp.stack([-angles[place][element] for place, element in motors])
    index = _functions(system, motors)
    jump = functions.value[index] - present
    turns = jax.lax.stop_gradient(2 * np.pi * jnp.round(jump / (2 * np.pi)))
    near = jump - turns
    far = jnp.max(jnp.abs(near), axis=0) > QUARTER
    y = _with_turns(system, y, motors, turns)
    shape = (functions.value.shape[0], near.shape[1])
    value, rate = jnp.broadcast_to(functions.value, shape), jnp.broadcast_to(functions.rate, shape)
    rests = jnp.asarray(np.arange(STAGES - 1, -1, -1) / STAGES, near.dtype)
    values = jnp.repeat(value[None], STAGES, axis=0).at[:, index].add(-rests[:, None, None] * near[None])
    spin = y.pose.quat.normalised().matrix() @ y.omega

    def part(carry: tuple[LaneState, Array, Array], stage: tuple[Array, Array]) -> tuple[Any, None]:
        old, gap, going = carry
        values, last = stage

        def go() -> tuple[LaneState, Array, Array]:
            # all parts are one program, which compiles once
            held = eqx.tree_at(lambda s: s.model.functions, system, _lines(values, rate, time))
            assembled, gap = assemble(held, time, old)
            moved = _carried(system, old, assembled)
            arrived = going & ~is_open(moved, gap)
            local = moved.pose.quat.normalised().matrix().transposed_times(spin)
            # velocities are projected at the end only
            between = dataclasses.replace(moved, vel=y.vel, omega=local)
            between = jax.tree.map(lambda new, first: jnp.where(arrived, new, first), between, y)
            chosen = jax.tree.map(lambda end, middle: jnp.where(last, end, middle), moved, between)
            return chosen, gap, arrived

        return jax.lax.cond(last | jnp.any(going), go, lambda: (old, gap, going)), None

    start = (y, jnp.zeros_like(near[0]), far)
    (y, gap, _), _ = jax.lax.scan(part, start, (values, jnp.asarray(rests == 0)))
    return y, gap


def _lines(values: Array, rates: Array, time: Array) -> Functions:
    """Functions of time in lanes with these values and rates (functions, lanes) at `time`."""
    count, lanes = values.shape
    empty = jnp.zeros((0, 1, 1), values.dtype)
    # a repeat whose only period starts at `time`: the argument of the line is zero there, without rounding
    repeat = (jnp.broadcast_to(-time[0], (lanes,)), jnp.full(lanes, 1e30, values.dtype), jnp.zeros(lanes, values.dtype))
    return Functions(
        coefficients=jnp.stack([values, rates], axis=1),
        sine=jnp.zeros((0, 4, 1), values.dtype),
        abscissae=empty,
        ordinates=empty,
        repeat=jnp.broadcast_to(jnp.stack(repeat)[None], (count, 3, lanes)),
        repeated=(True,) * count,
        truncated=(True,) * count,
        places=tuple(("polynomial", i) for i in range(count)),
        inputs=(),
        corners=((),) * count,
        periods=((None,),) * count,
    )


# ---- angles that count turns


def _angles(system: System, y: LaneState) -> dict[int, Array]:
    """Angles [rad] of body2 relative to body1 over any number of turns, (elements, lanes), of stacks that have them."""
    bodies = kinematics(system, y).all.pose
    found: dict[int, Array] = {}
    for place, element in enumerate(system.elements):
        if isinstance(element, FrameJoint | Rsda):
            pose1, pose2 = take(bodies, element.body1), take(bodies, element.body2)
            found[place] = element.angle(system.anchors[place], pose1, pose2, y.aux[place])
    return found


def _moved_aux(y: LaneState, by: dict[int, Array]) -> LaneState:
    """The state with so much added to the angles that its elements have integrated."""
    aux = list(y.aux)
    for place, amount in by.items():
        aux[place] = aux[place].at[:, 0].add(jnp.broadcast_to(amount, aux[place][:, 0].shape))
    return dataclasses.replace(y, aux=aux)


def _carried(system: System, old: LaneState, new: LaneState) -> LaneState:
    """`new` with angles that went on counting from those of `old`: by less than half a turn."""
    before, after = _angles(system, old), _angles(system, new)
    return _moved_aux(new, {place: unwrapped(after[place], before[place]) - before[place] for place in before})


def _with_turns(system: System, y: LaneState, motors: list[tuple[int, int]], turns: Array) -> LaneState:
    """The state with whole turns [rad] of the motors (motors, lanes) added to all angles that they turn."""
    parts, tree = _connections(system, motors)
    turned: dict[int, Vec3] = {}
    roots: dict[int, int] = {}
    for part, parent, motor, sign in tree:
        if parent is None:
            turned[part], roots[part] = Vec3.zeros(turns[0]), part
        else:
            place, element = motors[motor]
            axis = _axis(system.elements[place], element)
            turned[part], roots[part] = turned[parent] + axis * (sign * turns[motor]), roots[parent]
    amounts: dict[int, Array] = {}
    for place, stack in enumerate(system.elements):
        if not isinstance(stack, FrameJoint | Rsda):
            continue
        rows = [jnp.zeros_like(turns[0])] * stack.count
        for element, (body1, body2) in enumerate(zip(stack.body1, stack.body2, strict=True)):
            first, second = parts[body1], parts[body2]
            if first != second and roots[first] == roots[second]:
                axis, relative = _axis(stack, element), turned[second] - turned[first]
                along = relative.dot(axis)
                aside = relative - axis * along
                parallel = aside.dot(aside) <= 1e-6 * relative.dot(relative)
                rows[element] = jnp.where(parallel, 2 * np.pi * jnp.round(along / (2 * np.pi)), 0.0)
        amounts[place] = jax.lax.stop_gradient(jnp.stack(rows))
    return _moved_aux(y, amounts)


def _axis(stack: object, element: int) -> Vec3:
    """The unit axis of an element at t = 0, world, each component (lanes,)."""
    assert isinstance(stack, FrameJoint | Rsda)
    return jax.tree.map(lambda leaf: leaf[element], Vec3.of(stack.axis)).unit()


@functools.cache
def _forest(
    count: int, rigid: tuple[tuple[int, int], ...], driven: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, ...], tuple[tuple[int, int | None, int, float], ...]]:
    """Parts of bodies that do not turn relative to each other, and a forest of the motors that turn them."""
    part = list(range(count))
    for body1, body2 in rigid:
        old, new = part[body1], part[body2]
        part = [new if own == old else own for own in part]
    found: list[tuple[int, int | None, int, float]] = []
    seen: set[int] = set()
    for root in dict.fromkeys(part):
        if root in seen:
            continue
        seen.add(root)
        found.append((root, None, 0, 0.0))
        waiting = [root]
        while waiting:
            here = waiting.pop()
            for motor, (body1, body2) in enumerate(driven):
                for near, far, sign in ((part[body2], part[body1], 1.0), (part[body1], part[body2], -1.0)):
                    if near == here and far not in seen:
                        seen.add(far)
                        found.append((far, here, motor, sign))
                        waiting.append(far)
    return tuple(part), tuple(found)


def _connections(
    system: System, motors: list[tuple[int, int]]
) -> tuple[tuple[int, ...], tuple[tuple[int, int | None, int, float], ...]]:
    """See `_forest`; the world is the last body, which an index of -1 finds too."""
    world = system.model.bodies.count
    rigid = [(world, body) for body, fixed in enumerate(system.model.bodies.fixed) if fixed]
    for _, joints in system.constraints():
        if isinstance(joints, FrameJoint):
            for element, (mask, motor) in enumerate(zip(joints.locked, joints.motors, strict=True)):
                turns = motor is not None and motor.kind is MotorKind.ROTATION
                if all(mask[3:]) and not turns:
                    rigid.append((joints.body1[element], joints.body2[element]))
    driven = [
        (system.model.constraints[place].body1[element], system.model.constraints[place].body2[element])
        for place, element in motors
    ]
    return _forest(world + 1, tuple(rigid), tuple(driven))
