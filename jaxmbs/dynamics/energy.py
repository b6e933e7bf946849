"""Kinetic and potential energy."""

import jax.numpy as jnp
from jax import Array

from jaxmbs._gather import take
from jaxmbs._math import Vec3
from jaxmbs.dynamics.acceleration import body_rows
from jaxmbs.dynamics.system import BodyKinematics, LaneState, System


def kinetic_energy(system: System, bodies: BodyKinematics) -> Array:
    """The kinetic energy of all moving bodies [J], (lanes,)."""
    body = body_rows(bodies)
    twice = system.model.bodies.mass * body.vel.dot(body.vel) + body.omega.dot(bodies.inertia_world @ body.omega)
    return 0.5 * jnp.sum(jnp.where(system.model.bodies.moving, twice, 0.0), axis=0)


def potential_energy(system: System, bodies: BodyKinematics, y: LaneState) -> Array:
    """The energy of gravity (zero at the world origin) and of all springs [J], (lanes,)."""
    g = system.model.gravity
    pos = body_rows(bodies).pose.pos
    height = Vec3(g[0:1], g[1:2], g[2:3]).dot(pos)
    weight = jnp.where(system.model.bodies.moving, system.model.bodies.mass * height, 0.0)
    total = -jnp.sum(weight, axis=0)
    for place, force in system.forces():
        pose1, pose2 = take(bodies.all, force.body1).pose, take(bodies.all, force.body2).pose
        stored = force.potential(system.anchors[place], pose1, pose2, y.aux[place])
        shape = (force.count, y.work.shape[-1])
        total = total + jnp.sum(jnp.broadcast_to(stored, shape), axis=0)
    return total
