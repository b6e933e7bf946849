"""Reactions: the multipliers of minimum norm over all joints, as forces and torques."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._gather import take
from jaxmbs._kinematics import Kinematics
from jaxmbs._math import Vec3
from jaxmbs.dynamics.acceleration import Motion
from jaxmbs.dynamics.dense import proximal_factor, proximal_solve, unit_diagonal
from jaxmbs.dynamics.rows import RowPlan, row_plan, spread_rows
from jaxmbs.dynamics.system import System, with_world


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Reactions:
    """What every constraint element exerts.

    - multipliers: (rows, lanes).
    - force, torque: per constraint stack, (elements, 3, lanes), on body2, world axes; the torque about the origin
      that body2 carries.
    - length: (lanes,) the length that weighs torques against forces [m].
    """

    multipliers: Array
    force: tuple[Array, ...]
    torque: tuple[Array, ...]
    length: Array


def _element_places(plan: RowPlan) -> np.ndarray:
    """A number for the element that every row belongs to."""
    return plan.stack * (plan.element.max(initial=0) + 1) + plan.element


def characteristic_length(system: System) -> Array:
    """The mean distance at t = 0 between the origins of all constraint elements, (1 or lanes,) [m].

    It is 1 m for a single element, and where all of them coincide.
    """
    pose = system.model.bodies.rest().com
    none = Vec3.zeros(pose.pos.x)
    (pose, none) = with_world((pose, none))
    at_rest = Kinematics(pose, pose.quat.matrix(), none, none)
    origins = [
        constraint.origin(system.anchors[place], take(at_rest, constraint.body2)).array()
        for place, constraint in system.constraints()
    ]
    lanes = max([points.shape[-1] for points in origins], default=1)
    points = [jnp.broadcast_to(p, (*p.shape[:-1], lanes)) for p in origins]
    count = sum(p.shape[0] for p in points)
    if count < 2:
        return jnp.ones(lanes, system.inverse_mass.dtype)
    everywhere = jnp.concatenate(points)
    gaps = everywhere[:, None] - everywhere[None]
    squared = jnp.sum(gaps * gaps, axis=2)
    apart = squared > 0
    distances = jnp.where(apart, jnp.sqrt(jnp.where(apart, squared, 1.0)), 0.0)
    mean = jnp.sum(distances, axis=(0, 1)) / (count * (count - 1))
    return jnp.where(mean > 1e-9, mean, 1.0)


def _wrench_of_rows(system: System, motion: Motion, plan: RowPlan) -> Array:
    """The wrench on body2 about the element's origin for a unit multiplier of every row, (rows, 6, lanes)."""
    arms = []
    for place, constraint in system.constraints():
        body2 = take(motion.bodies.all, constraint.body2)
        elements = plan.element[plan.stack == place]
        arm = constraint.origin(system.anchors[place], body2) - body2.pose.pos
        arms.append(arm.array()[elements])
    arm = Vec3.of(jnp.concatenate(arms))
    jacobian = motion.rows.jacobian2
    linear, angular = Vec3.of(jacobian[:, :3]), Vec3.of(jacobian[:, 3:])
    return jnp.concatenate([linear.array(), (angular - arm.cross(linear)).array()], axis=1)


def reactions(system: System, motion: Motion) -> Reactions:
    """Reactions at one instant.

    Of all multipliers that give the same motion, those that minimise the sum over joints of |force|^2 + |torque/l|^2
    with the characteristic length l. With the Gram matrix G = C C^T of the rows' wrenches (block diagonal by
    element), that sum is |mu|^2 for mu = C^T lambda.
    """
    plan = row_plan(system.model)
    lanes = motion.acceleration.shape[-1]
    length = jnp.broadcast_to(characteristic_length(system), (lanes,))
    if plan.count == 0:
        empty = [jnp.zeros((c.count, 3, lanes), length.dtype) for _, c in system.constraints()]
        return Reactions(length[None][:0], tuple(empty), tuple(empty), length)
    wrenches = _wrench_of_rows(system, motion, plan)
    # without loops the rows are independent, and the multipliers unique
    looped = motion.solver.topology.loop_rows.size > 0
    multipliers = (
        _minimum_norm(system, motion, wrenches, length) if looped else motion.rows.together(motion.multipliers)
    )
    force, torque = [], []
    for place, constraint in system.constraints():
        chosen = plan.stack == place
        table = np.asarray(plan.element[chosen][None] == np.arange(constraint.count)[:, None], dtype=np.float64)
        summed = jnp.einsum(
            "er,rcl->ecl",
            jnp.asarray(table, wrenches.dtype),
            wrenches[chosen] * multipliers[chosen][:, None],
            precision=jax.lax.Precision.HIGHEST,
        )
        force.append(summed[:, :3])
        torque.append(summed[:, 3:])
    return Reactions(multipliers, tuple(force), tuple(torque), length)


def _minimum_norm(system: System, motion: Motion, wrenches: Array, length: Array) -> Array:
    """The multipliers C^-T mu with mu of minimum norm, for the motion that was solved; (rows, lanes).

    With the rows Jc = C^-1 J, the mu of least norm with Jc^T mu = J^T lambda is mu = Jc z for any z that solves
    Jc^T Jc z = J^T lambda. What a proximal solve leaves of the null space of that matrix is lost in Jc z, so that mu
    is in the range of the rows to rounding.
    """
    plan = row_plan(system.model)
    lanes = length.shape[-1]
    weight = jnp.concatenate([jnp.ones((3, lanes), length.dtype), jnp.broadcast_to(1 / length[None], (3, lanes))])
    weighted = wrenches * weight[None]
    places = _element_places(plan)
    same = (places[:, None] == places[None]).astype(np.float64)
    gram = jnp.einsum("rcl,scl->lrs", weighted, weighted, precision=jax.lax.Precision.HIGHEST)
    factor = jnp.linalg.cholesky(gram * jnp.asarray(same, gram.dtype)[None])
    jacobian = spread_rows(motion.rows, plan, system.model.bodies.count)
    rows, bodies, _, _ = jacobian.shape
    moving = jnp.asarray(system.model.bodies.moving)[None, :, None]
    flat = jnp.where(moving, jacobian, 0.0).reshape(rows, bodies * 6, lanes)
    wrench = jnp.sum(flat * motion.rows.together(motion.multipliers)[:, None], axis=0).T
    scaled = jax.scipy.linalg.solve_triangular(factor, jnp.moveaxis(flat, -1, 0), lower=True)
    matrix = jnp.einsum("lrj,lrk->ljk", scaled, scaled, precision=jax.lax.Precision.HIGHEST)
    matrix, size = unit_diagonal(matrix)
    z = size * proximal_solve(matrix, proximal_factor(matrix), (size * wrench)[..., None])[..., 0]
    mu = jnp.einsum("lrk,lk->lr", scaled, z, precision=jax.lax.Precision.HIGHEST)
    multipliers = jax.scipy.linalg.solve_triangular(factor, mu[..., None], lower=True, trans="T")
    return jnp.moveaxis(multipliers[..., 0], 0, -1)
