"""Newton-Euler equations with constraints: from a state to its time derivative."""

import dataclasses

import jax
import jax.numpy as jnp
from jax import Array

from jaxmbs._context import Context
from jaxmbs._gather import halved, sum_onto_bodies, take
from jaxmbs._kinematics import Kinematics, Pose, Wrench
from jaxmbs._math import Vec3
from jaxmbs.dynamics.rows import Rows, Values, linearised_rows, negative
from jaxmbs.dynamics.solve import ConstraintSolver, make_solver
from jaxmbs.dynamics.system import BodyKinematics, LaneState, System, context, kinematics
from jaxmbs.forces import AbstractForce


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Motion:
    """Everything that one evaluation of the equations of motion yields.

    - acceleration: (bodies, 6, lanes), of the COM and angular, world axes.
    - multipliers: by stack and kind; applied: the sum of all applied wrenches without gravity, (bodies, 6, lanes).
    """

    bodies: BodyKinematics
    context: Context
    rows: Rows
    solver: ConstraintSolver
    acceleration: Array
    multipliers: Values
    applied: Array
    work_rate: Array


def body_rows(bodies: BodyKinematics) -> Kinematics:
    """The kinematics without the row of the world."""
    return jax.tree.map(lambda leaf: leaf[:-1], bodies.all)


def six(linear: Vec3, angular: Vec3) -> Array:
    """(bodies, 6, lanes) from two vectors."""
    components = jnp.broadcast_arrays(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
    return jnp.stack(components, axis=1)


def element_wrenches(
    system: System, place: int, force: AbstractForce, bodies: BodyKinematics, y: LaneState, context: Context
) -> tuple[Kinematics, Kinematics, Wrench, Wrench]:
    """Kinematics of both bodies of a force stack and the wrenches on them."""
    body1, body2 = take(bodies.all, force.body1), take(bodies.all, force.body2)
    on1, on2 = force.wrenches(system.anchors[place], body1, body2, y.aux[place], context)
    return body1, body2, on1, on2


def applied_wrenches(system: System, bodies: BodyKinematics, y: LaneState, context: Context) -> tuple[Array, Array]:
    """The applied wrenches summed onto bodies, and the rates of (dissipation, motor work, load work)."""
    count, lanes = system.model.bodies.count, y.work.shape[-1]
    applied = jnp.zeros((count, 6, lanes), y.work.dtype)
    rates = {"passive": jnp.zeros(lanes, y.work.dtype)}
    rates["motor"] = rates["load"] = rates["passive"]
    for place, force in system.forces():
        body1, body2, on1, on2 = element_wrenches(system, place, force, bodies, y, context)
        shape = (force.count, lanes)
        for wrench, index in ((on1, force.body1), (on2, force.body2)):
            columns = [
                sum_onto_bodies(jnp.broadcast_to(component, shape), index, count)
                for component in jax.tree.leaves((wrench.force, wrench.torque))
            ]
            applied = applied + jnp.stack(columns, axis=1)
        power = jnp.sum(jnp.broadcast_to(on1.power(body1) + on2.power(body2), shape), axis=0)
        if force.role == "passive":
            stored = _stored_power(system, place, force, body1, body2, y)
            rates["passive"] = rates["passive"] - power - stored
        else:
            rates[force.role] = rates[force.role] + power
    return applied, jnp.stack([rates["passive"], rates["motor"], rates["load"]])


def _stored_power(
    system: System, place: int, force: AbstractForce, body1: Kinematics, body2: Kinematics, y: LaneState
) -> Array:
    """d/dt of the potential energy of a force stack, (lanes,)."""
    lanes = y.work.shape[-1]
    anchors, aux = system.anchors[place], y.aux[place]

    def full(pose: Pose) -> Pose:
        return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (force.count, lanes)), pose)

    def energy(pose1: Pose, pose2: Pose) -> Array:
        return force.potential(anchors, pose1, pose2, aux)

    poses = (full(body1.pose), full(body2.pose))
    _, rate = jax.jvp(energy, poses, (full(body1.motion()), full(body2.motion())))
    return jnp.sum(jnp.broadcast_to(rate, (force.count, lanes)), axis=0)


def solve_motion(system: System, time: Array, selector: Array, y: LaneState) -> Motion:
    """Solve for accelerations and multipliers.

    **References:** Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, equation 11.3.17;
    Featherstone, Rigid Body Dynamics Algorithms, section 3.2.

    **Arguments:**

    - time, selector: (1, lanes) or (1, 1), see `Functions.evaluate`.
    """
    bodies = kinematics(system, y)
    now = context(system, time, selector, y)
    applied, work_rate = applied_wrenches(system, bodies, y, now)
    rows = linearised_rows(system, bodies, y, now)
    solver = make_solver(system, bodies, rows)
    acceleration, multipliers = solver.solve(free_wrench(system, bodies, y, applied), negative(rows.biases))
    work_rate = with_motor_work(work_rate, driven_power(system, rows, multipliers, work_rate[1]))
    return Motion(bodies, now, rows, solver, acceleration, multipliers, applied, work_rate)


def with_motor_work(work: Array, more: Array) -> Array:
    """Add to the work of motors, the second of (dissipation, motor work, load work)."""
    return jnp.stack([work[0], work[1] + more, work[2]])


def driven_power(system: System, rows: Rows, multipliers: Values, like: Array) -> Array:
    """What constraints that are driven do on the bodies, -lambda . g_t, (lanes,)."""
    total = jnp.zeros_like(like)
    for place, constraint in system.constraints():
        for kind in constraint.driven_kinds:
            power = multipliers[place][kind] * rows.by_stack[place][kind].rate
            total = total - halved(jnp.add, jnp.where(rows.plan.exists(place, kind)[:, None], power, 0.0))[0]
    return total


def free_wrench(system: System, bodies: BodyKinematics, y: LaneState, applied: Array) -> Array:
    """Applied, gyroscopic and gravity wrenches on every body, (bodies, 6, lanes)."""
    omega = body_rows(bodies).omega
    gyroscopic = omega.cross(bodies.inertia_world @ omega)
    return applied - six(Vec3.zeros(omega.x), gyroscopic) + weight(system, y)


def weight(system: System, y: LaneState) -> Array:
    """The wrench of gravity on every body, (bodies, 6, lanes)."""
    g, mass = system.model.gravity, system.model.bodies.mass
    linear = [jnp.broadcast_to(mass * g[i][None], y.pose.pos.x.shape) for i in range(3)]
    none = jnp.zeros_like(linear[0])
    return jnp.stack([*linear, none, none, none], axis=1)


def aux_rates(system: System, bodies: BodyKinematics, now: Context, y: LaneState) -> list[Array]:
    """Time derivatives of the elements' own states."""
    aux = []
    for place, constraint in system.constraints():
        first, second = take(bodies.all, constraint.body1), take(bodies.all, constraint.body2)
        drive = constraint.drive(now, y.aux[place])
        aux.append(constraint.aux_rate(system.anchors[place], first, second, drive, y.aux[place]))
    for place, force in system.forces():
        first, second = take(bodies.all, force.body1), take(bodies.all, force.body2)
        aux.append(force.aux_rate(system.anchors[place], first, second, y.aux[place]))
    return aux


def state_rate(system: System, y: LaneState, motion: Motion) -> LaneState:
    """dy/dt for a solved motion."""
    body = body_rows(motion.bodies)
    a = motion.acceleration
    linear, angular = Vec3(a[:, 0], a[:, 1], a[:, 2]), Vec3(a[:, 3], a[:, 4], a[:, 5])
    aux = aux_rates(system, motion.bodies, motion.context, y)
    return LaneState(
        pose=Pose(body.vel, y.pose.quat.rate_body(y.omega)),
        vel=linear,
        # d/dt of the components in COM axes: the transport term omega x omega vanishes
        omega=body.rot.transposed_times(angular),
        aux=aux,
        work=motion.work_rate,
        failure=jnp.zeros_like(y.failure),
    )
