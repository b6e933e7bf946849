"""Everything that a result holds, computed from saved states."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._description import Actuation, MotorKind
from jaxmbs._gather import take
from jaxmbs._inputs import Inputs
from jaxmbs._lanes import from_lanes
from jaxmbs._model import Model
from jaxmbs._state import State
from jaxmbs.constraints import FrameJoint, UniversalJoint
from jaxmbs.dynamics.acceleration import Motion, body_rows, solve_motion
from jaxmbs.dynamics.energy import kinetic_energy, potential_energy
from jaxmbs.dynamics.reactions import Reactions, reactions
from jaxmbs.dynamics.rows import row_plan
from jaxmbs.dynamics.system import LaneState, System, make_system, state_to_lanes
from jaxmbs.forces import Bushing, Rsda, Tsda


#: Instances times save times that are evaluated at once.
CHUNK = 4096


def evaluate_outputs(model: Model, inputs: Inputs, times: Array, before: Array, states: State) -> dict[str, Array]:
    """All outputs at saved states.

    **Arguments:**

    - times: (times,); states: leaves (*batch, times, ...).
    - before: (times,) instants inside the steps that ended at `times`: at a kink of a function of time, outputs
      have their left-hand values, as the states do.

    **Returns:** arrays (*batch, times, ...) by name, see `jaxmbs.Solution.to_xarray`; the order of joints is that of
    `joint_names`, of motors that of `motor_names`.
    """
    batch = states.pos.shape[: states.pos.ndim - 3]
    count = times.shape[0]
    size = max(1, min(count, CHUNK // max(1, int(np.prod(batch)))))
    axis = len(batch)
    parts = []
    for start in range(0, count, size):
        # the last window overlaps, so that all have one shape and compile once
        first = min(start, count - size)
        window = jax.tree.map(lambda leaf, f=first: jax.lax.slice_in_dim(leaf, f, f + size, axis=axis), states)
        part = _evaluate(model, inputs, times[first : first + size], before[first : first + size], window, batch)
        drop = start - first
        parts.append(jax.tree.map(lambda leaf, d=drop: jax.lax.slice_in_dim(leaf, d, None, axis=axis), part))
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves, axis=axis), *parts)


def _with_time_axis(tree: Any, ndims: tuple[int, ...]) -> Any:
    """Give batched leaves one more batch axis at the end, for the save times."""
    arrays, static = eqx.partition(tree, eqx.is_array)
    leaves, structure = jax.tree.flatten(arrays)
    expanded = [
        jnp.expand_dims(leaf, leaf.ndim - ndim) if leaf.ndim > ndim else leaf
        for leaf, ndim in zip(leaves, ndims, strict=True)
    ]
    return eqx.combine(jax.tree.unflatten(structure, expanded), static)


@eqx.filter_jit
def _evaluate(
    model: Model, inputs: Inputs, times: Array, before: Array, states: State, batch: tuple[int, ...]
) -> dict[str, Array]:
    everything = (*batch, times.shape[0])
    model = _with_time_axis(model, model.leaf_ndims)
    system = make_system(model, inputs.with_time_axis(), everything)
    y = state_to_lanes(model, states, everything)
    time, selector = (jnp.broadcast_to(t, everything).reshape(1, -1) for t in (times, before))
    motion = solve_motion(system, time, selector, y)
    found = reactions(system, motion)
    lanes = {
        **_body_outputs(system, motion),
        **_joint_outputs(system, motion, found, y),
        **_constraint_outputs(system, motion, found),
        **_force_outputs(system, motion, y),
        **_energy_outputs(system, motion, y),
    }
    return from_lanes(lanes, everything)


def _body_outputs(system: System, motion: Motion) -> dict[str, Array]:
    body = body_rows(motion.bodies)
    ref = system.model.bodies.reference(body.pose)
    a = motion.acceleration
    ref_vel = body.velocity_at(ref.pos - body.pose.pos)
    return {
        "body_pos": body.pose.pos.array(),
        "body_quat": body.pose.quat.array(),
        "body_vel": body.vel.array(),
        "body_omega": body.rot.transposed_times(body.omega).array(),
        "body_acc": a[:, :3],
        "body_alpha": a[:, 3:],
        "ref_pos": ref.pos.array(),
        "ref_quat": ref.quat.array(),
        "ref_vel": ref_vel.array(),
        "ref_omega": ref.quat.matrix().transposed_times(body.omega).array(),
    }


def joint_names(model: Model) -> tuple[str, ...]:
    """Names along the `joint` dimension: frame joints with motors, then universal joints."""
    stacks = [c for c in model.constraints if isinstance(c, FrameJoint | UniversalJoint)]
    return tuple(name for stack in stacks for name in stack.names)


def motor_names(model: Model) -> tuple[str, ...]:
    """Names along the `motor` dimension."""
    for stack in model.constraints:
        if isinstance(stack, FrameJoint):
            return tuple(motor.name for motor in stack.motors if motor is not None)
    return ()


def constraint_names(model: Model) -> tuple[str, ...]:
    """Names along the `constraint` dimension: every constraint stack that is no joint."""
    stacks = [c for c in model.constraints if not isinstance(c, FrameJoint | UniversalJoint)]
    return tuple(name for stack in stacks for name in stack.names)


def _residuals(system: System, motion: Motion, place: int) -> tuple[Array, Array]:
    """The largest position and velocity residual of every element of a stack, (elements, lanes)."""
    plan = row_plan(system.model)
    constraint = system.model.constraints[place]
    rows = motion.rows
    residual, speed = rows.residual, rows.speed
    pos, vel = [], []
    for element in range(constraint.count):
        chosen = np.flatnonzero((plan.stack == place) & (plan.element == element))
        pos.append(jnp.max(jnp.abs(residual[chosen]), axis=0, initial=0.0))
        vel.append(jnp.max(jnp.abs(speed[chosen]), axis=0, initial=0.0))
    return jnp.stack(pos), jnp.stack(vel)


def _joint_outputs(system: System, motion: Motion, found: Reactions, y: LaneState) -> dict[str, Array]:
    columns: dict[str, list[Array]] = {}
    motors: dict[str, Array] = {}
    lanes = motion.acceleration.shape[-1]
    for place, constraint in system.constraints():
        if isinstance(constraint, FrameJoint):
            coordinates = _frame_coordinates(system, motion, place, constraint, y)
            motors = _motor_outputs(system, motion, found, place, constraint, coordinates)
        elif isinstance(constraint, UniversalJoint):
            none = jnp.full((constraint.count, lanes), jnp.nan, motion.acceleration.dtype)
            coordinates = {name: none for name in _COORDINATES}
        else:
            continue
        pos, vel = _residuals(system, motion, place)
        stack = {
            **coordinates,
            "joint_force": found.force[place],
            "joint_torque": found.torque[place],
            "residual_pos": pos,
            "residual_vel": vel,
        }
        for name, values in stack.items():
            columns.setdefault(name, []).append(jnp.broadcast_to(values, (*values.shape[:-1], lanes)))
    return {name: jnp.concatenate(parts) for name, parts in columns.items()} | motors


_COORDINATES = ("joint_angle", "joint_angle_rate", "joint_displacement", "joint_displacement_rate")


def _frame_coordinates(system: System, motion: Motion, place: int, joint: FrameJoint, y: LaneState) -> dict[str, Array]:
    """Angle and displacement of body2 relative to body1, NaN where a joint has none."""
    anchors = system.anchors[place]
    body1, body2 = take(motion.bodies.all, joint.body1), take(motion.bodies.all, joint.body2)
    quat1, quat2 = body1.pose.quat @ anchors.quat1, body2.pose.quat @ anchors.quat2
    axis1, axis2 = quat1.matrix().z, quat2.matrix().z
    arm1, arm2 = body1.arm(anchors.pos1), body2.arm(anchors.pos2)
    gap = body1.pose.pos + arm1 - body2.pose.pos - arm2
    gap_rate = body1.velocity_at(arm1) - body2.velocity_at(arm2)
    angle = joint.angle(anchors, body1.pose, body2.pose, y.aux[place])
    rows = np.array(joint.locked)
    kinds = [None if motor is None else motor.kind for motor in joint.motors]
    driven = np.array([m is not None and m.actuation is not Actuation.FORCE for m in joint.motors])
    rotates = (rows[:, 3] & rows[:, 4] & ~(rows[:, 5] & ~driven)) & [k is not MotorKind.LINEAR for k in kinds]
    rotates = rotates | np.array([k is MotorKind.ROTATION for k in kinds])
    slides = (rows[:, 0] & rows[:, 1] & ~(rows[:, 2] & ~driven)) & ~(
        rows[:, 2] & np.array([k is MotorKind.ROTATION for k in kinds])
    )
    slides = slides | np.array([k is MotorKind.LINEAR for k in kinds])
    nan = jnp.nan
    return {
        "joint_angle": jnp.where(rotates[:, None], angle, nan),
        "joint_angle_rate": jnp.where(rotates[:, None], axis1.dot(body2.omega - body1.omega), nan),
        "joint_displacement": jnp.where(slides[:, None], -axis2.dot(gap), nan),
        "joint_displacement_rate": jnp.where(
            slides[:, None], -(axis2.dot(gap_rate) + body2.omega.cross(axis2).dot(gap)), nan
        ),
    }


def _motor_outputs(
    system: System, motion: Motion, found: Reactions, place: int, joint: FrameJoint, coordinates: dict[str, Array]
) -> dict[str, Array]:
    """Position, rate and effort of motors: body1 relative to body2, effort on body1 along +axis."""
    plan = row_plan(system.model)
    anchors = system.anchors[place]
    body2 = take(motion.bodies.all, joint.body2)
    axis = (body2.pose.quat @ anchors.quat2).matrix().z
    pos, vel, effort = [], [], []
    for element, motor in enumerate(joint.motors):
        if motor is None:
            continue
        linear = motor.kind is MotorKind.LINEAR
        kind = "displacement" if linear else "angle"
        pos.append(-coordinates[f"joint_{kind}"][element])
        vel.append(-coordinates[f"joint_{kind}_rate"][element])
        if motor.actuation is Actuation.FORCE:
            effort.append(jnp.broadcast_to(motion.context.functions.value[motor.function], pos[-1].shape))
            continue
        row = int(
            np.flatnonzero((plan.stack == place) & (plan.element == element) & (plan.kind == (2 if linear else 5)))[0]
        )
        part = motion.rows.jacobian1[row, :3] if linear else motion.rows.jacobian1[row, 3:]
        along = part[0] * axis.x[element] + part[1] * axis.y[element] + part[2] * axis.z[element]
        effort.append(found.multipliers[row] * along)
    if not pos:
        return {}
    return {"motor_pos": jnp.stack(pos), "motor_vel": jnp.stack(vel), "motor_effort": jnp.stack(effort)}


def _constraint_outputs(system: System, motion: Motion, found: Reactions) -> dict[str, Array]:
    columns: dict[str, list[Array]] = {}
    for place, constraint in system.constraints():
        if isinstance(constraint, FrameJoint | UniversalJoint):
            continue
        columns.setdefault("constraint_force", []).append(found.force[place])
        columns.setdefault("constraint_torque", []).append(found.torque[place])
        columns.setdefault("constraint_residual", []).append(_residuals(system, motion, place)[0])
    return {name: jnp.concatenate(parts) for name, parts in columns.items()}


def _force_outputs(system: System, motion: Motion, y: LaneState) -> dict[str, Array]:
    result: dict[str, Array] = {}
    lanes = motion.acceleration.shape[-1]
    for place, force in system.forces():
        body1, body2 = take(motion.bodies.all, force.body1), take(motion.bodies.all, force.body2)
        anchors = system.anchors[place]
        match force:
            case Tsda():
                values = force.measure(anchors, body1, body2)[:3]
                names = ("tsda_length", "tsda_rate", "tsda_force")
            case Rsda():
                values = force.measure(anchors, body1, body2, y.aux[place])[:3]
                names = ("rsda_angle", "rsda_rate", "rsda_torque")
            case Bushing():
                values = tuple(vector.array() for vector in force.measure(anchors, body1, body2)[:2])
                names = ("bushing_force", "bushing_torque")
            case _:
                continue
        full = (jnp.broadcast_to(value, (*value.shape[:-1], lanes)) for value in values)
        result.update(zip(names, full, strict=True))
    return result


def _energy_outputs(system: System, motion: Motion, y: LaneState) -> dict[str, Array]:
    return {
        "energy_kinetic": kinetic_energy(system, motion.bodies),
        "energy_potential": potential_energy(system, motion.bodies, y),
        "energy_dissipated": y.work[0],
        "work_motors": y.work[1],
        "work_loads": y.work[2],
    }
