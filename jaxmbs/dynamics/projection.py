"""Back onto the constraints: the nearest pose and the nearest velocity in the mass metric."""

import dataclasses
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from jaxmbs._context import Context
from jaxmbs._kinematics import Pose
from jaxmbs._math import Quat, Vec3
from jaxmbs.dynamics.acceleration import body_rows, six
from jaxmbs.dynamics.row_solver import row_solver
from jaxmbs.dynamics.rows import Rows, Values, largest, linearised_rows, negative, row_plan
from jaxmbs.dynamics.solve import make_solver
from jaxmbs.dynamics.system import LaneState, System, context, kinematics


@dataclasses.dataclass(frozen=True)
class Tolerances:
    """When a pose counts as closed, in metres and radians.

    - closed: gaps below this are left as they are by assembly.
    - rounding: relative to the largest coordinate (at least 1): what iterations aim at.
    - failed: relative to the largest coordinate too: a gap that remains above this is a failure.
    """

    closed: float
    rounding: float
    failed: float


#: A free motion (bodies, 6, lanes) and the targets of the rows.
Case = tuple[Array, Values]
#: From cases to the motions nearest to the free ones, see `ConstraintSolver.constrain_all`.
_Solve = Callable[[list[Case]], list[Array]]


def tolerances(dtype: jnp.dtype) -> Tolerances:
    """Tolerances for a precision."""
    rounding = 100 * float(jnp.finfo(dtype).eps)
    return Tolerances(1e-9, rounding, 1e-7) if dtype == jnp.float64 else Tolerances(1e-5, rounding, 1e-3)


def retract(pose: Pose, delta: Array) -> Pose:
    """Move a pose by (bodies, 6, lanes): a translation and a rotation vector, both in world axes."""
    move, turn = Vec3(delta[:, 0], delta[:, 1], delta[:, 2]), Vec3(delta[:, 3], delta[:, 4], delta[:, 5])
    return Pose(pose.pos + move, (Quat.exp(turn) @ pose.quat).normalised())


def nudged(pose: Pose, delta: Array) -> Pose:
    """`retract` for small motions: to second order in the rotation, and without trigonometry."""
    move, turn = Vec3(delta[:, 0], delta[:, 1], delta[:, 2]), Vec3(delta[:, 3], delta[:, 4], delta[:, 5])
    return Pose(pose.pos + move, jax.tree.map(jnp.add, pose.quat, pose.quat.rate_world(turn)).normalised())


def difference(to: Pose, start: Pose) -> Array:
    """The motion from `start` to `to`, (bodies, 6, lanes), inverse to `retract`."""
    return six(to.pos - start.pos, (to.quat @ start.quat.conj()).rotation_vector())


def extent(y: LaneState) -> Array:
    """The largest coordinate, at least 1 m, (lanes,): what rounding of positions is relative to."""
    return jnp.maximum(1.0, jnp.max(jnp.abs(y.pose.pos.array()), axis=(0, 1)))


def is_open(y: LaneState, gap: Array) -> Array:
    """Whether a gap is a failure; also true for a gap that is not a number."""
    return ~(gap <= tolerances(gap.dtype).failed * extent(y))


#: Up to so many rows, assembly treats all of them alike, so that a gap that cannot close is shared between them. Along
#: the tree all of it would be in those that close loops; but their factor takes time with the cube of the rows.
LARGEST_ALIKE = 100


def _linearise(system: System, y: LaneState, now: Context, *, assembly: bool = False) -> tuple[Rows, _Solve]:
    """The rows at a pose, and a function from pairs (free motion, targets) to the motions nearest to them."""
    bodies = kinematics(system, y)
    rows = linearised_rows(system, bodies, y, now)
    if assembly and rows.plan.count <= LARGEST_ALIKE:
        return rows, row_solver(system, bodies, rows).constrain_all
    solver = make_solver(system, bodies, rows)
    return rows, lambda cases: [motion for motion, _ in solver.constrain_all(cases)]


def _velocity(system: System, y: LaneState) -> Array:
    """Velocities of all bodies in world axes, (bodies, 6, lanes)."""
    body = body_rows(kinematics(system, y))
    return six(body.vel, body.omega)


def _set_velocity(y: LaneState, v: Array) -> LaneState:
    """`y` with velocities (bodies, 6, lanes) given in world axes."""
    spin = y.pose.quat.normalised().matrix().transposed_times(Vec3(v[:, 3], v[:, 4], v[:, 5]))
    return dataclasses.replace(y, vel=Vec3(v[:, 0], v[:, 1], v[:, 2]), omega=spin)


@eqx.filter_custom_jvp
def _nearest(system: System, now: Context, y: LaneState, assembly: bool) -> tuple[Pose, Array, Array]:
    """Iterate to the nearest pose and velocity on the constraints; also the gap that was left, (lanes,).

    Sequential quadratic steps: each minimises the distance to the pose of `y` subject to the linearised rows, and
    projects the velocity with the same factor. The iteration ends when the gap is down to rounding (and, for
    assembly, the steps have vanished), so that the velocity belongs to the final pose.
    """
    limit = tolerances(y.work.dtype)
    still = 1e-13 if y.work.dtype == jnp.float64 else 1e-6
    velocity = _velocity(system, y)
    size = extent(y)

    def body(carry: tuple) -> tuple:
        pose, v, gap, done, iteration = carry
        rows, solve = _linearise(system, dataclasses.replace(y, pose=pose), now, assembly=assembly)
        delta, new_v = solve([(difference(y.pose, pose), negative(rows.residuals)), (velocity, negative(rows.rates))])
        new_gap = largest(rows, rows.residuals)
        new_pose = retract(pose, delta)
        finished = new_gap <= limit.rounding * size
        if assembly:
            finished = finished & (jnp.max(jnp.abs(delta), axis=(0, 1)) <= still * size)
            # what is closed already is left as it is
            untouched = (iteration == 0) & (new_gap <= limit.closed)
            new_pose = jax.tree.map(lambda new, old: jnp.where(untouched, old, new), new_pose, pose)
            finished = finished | untouched
        # lanes that are done keep what they have, so that they do not depend on their neighbours
        keep = lambda old, new: jax.tree.map(lambda a, b: jnp.where(done, a, b), old, new)  # noqa: E731
        return keep(pose, new_pose), keep(v, new_v), keep(gap, new_gap), done | finished, iteration + 1

    def unfinished(carry: tuple) -> Array:
        return ~jnp.all(carry[3]) & (carry[4] < (100 if assembly else 8))

    lanes = size.shape
    start = (y.pose, velocity, jnp.full(lanes, jnp.inf, size.dtype), jnp.zeros(lanes, bool), jnp.zeros((), jnp.int32))
    pose, v, gap, _, _ = jax.lax.while_loop(unfinished, body, start)
    return pose, v, gap


@_nearest.def_jvp
def _nearest_jvp(primals: tuple, tangents: tuple) -> tuple:
    """Implicit: the derivative of one more step from the point that the iteration reached.

    It is exact on the constraints, and up to their curvature times the distance moved otherwise.
    """
    pose, v, gap = _nearest(*primals)
    *arguments, assembly = primals
    *directions, _ = tangents

    def last_step(system: System, now: Context, y: LaneState) -> tuple[Pose, Array]:
        rows, solve = _linearise(system, dataclasses.replace(y, pose=pose), now, assembly=assembly)
        moved = retract(pose, solve([(difference(y.pose, pose), negative(rows.residuals))])[0])
        rows, solve = _linearise(system, dataclasses.replace(y, pose=moved), now, assembly=assembly)
        return moved, solve([(_velocity(system, y), negative(rows.rates))])[0]

    _, (d_pose, d_v) = eqx.filter_jvp(last_step, tuple(arguments), tuple(directions))
    return (pose, v, gap), (d_pose, d_v, jnp.zeros_like(gap))


@eqx.filter_jit
def project(system: System, time: Array, selector: Array, y: LaneState) -> tuple[LaneState, Array]:
    """Pose and velocity onto the constraints at the end of a time step; returns the gap too, (lanes,)."""
    y = dataclasses.replace(y, pose=dataclasses.replace(y.pose, quat=y.pose.quat.normalised()))
    return _onto_constraints(system, context(system, time, selector, y), y, assembly=False)


def assemble(system: System, time: Array, y: LaneState) -> tuple[LaneState, Array]:
    """The nearest consistent state: pose first, then velocity. Returns the gap that remains, (lanes,)."""
    now = context(system, time, time, y)
    return _onto_constraints(system, now, y, assembly=True)


def _onto_constraints(system: System, now: Context, y: LaneState, *, assembly: bool) -> tuple[LaneState, Array]:
    if row_plan(system.model).count == 0:
        return y, jnp.zeros(y.work.shape[-1], y.work.dtype)
    pose, v, gap = _nearest(system, now, y, assembly)
    return _set_velocity(dataclasses.replace(y, pose=pose), v), gap


def project_velocity(system: System, now: Context, y: LaneState) -> LaneState:
    """The velocity nearest to that of `y`, in the mass metric, that the constraints allow at this pose."""
    if row_plan(system.model).count == 0:
        return y
    rows, solve = _linearise(system, y, now)
    return _set_velocity(y, solve([(_velocity(system, y), negative(rows.rates))])[0])
