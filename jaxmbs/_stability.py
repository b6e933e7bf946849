"""Whether an explicit method is stable at the step that was asked for."""

import math
import warnings
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._context import Context
from jaxmbs._gather import take
from jaxmbs._inputs import Inputs
from jaxmbs._kinematics import Kinematics
from jaxmbs._lanes import to_lanes
from jaxmbs._math import Vec3
from jaxmbs._model import Model
from jaxmbs._state import State
from jaxmbs._tracing import is_traced
from jaxmbs.dynamics.acceleration import six
from jaxmbs.dynamics.inertia import inverse_inertia
from jaxmbs.dynamics.projection import retract
from jaxmbs.dynamics.rows import linearised_rows, row_plan, spread_rows
from jaxmbs.dynamics.system import (
    BodyKinematics,
    LaneState,
    System,
    context,
    initial_lanes,
    kinematics,
    make_system,
    state_to_lanes,
)
from jaxmbs.forces import AbstractForce
from jaxmbs.solvers import AbstractIntegrator


_Tree = TypeVar("_Tree")

#: Instances of a batch that are examined; a batch differs little in what makes a step unstable.
EXAMINED = 16


def check_stability(
    model: Model,
    inputs: Inputs,
    state: State | None,
    batch: tuple[int, ...],
    t0: float,
    h: float,
    integrator: AbstractIntegrator,
) -> None:
    """Refuse a fixed step at which the springs and dampers of the start pose make the method unstable.

    The motion is linearised about the start pose on the constraints: with the tangent basis N, orthonormal in the
    mass metric, d2x/dt2 = -K x - C dx/dt, and every eigenvalue of that system times h must lie where the method
    does not amplify it. Modes that grow by themselves are left alone.

    **Raises** `ValueError` naming the element that stiffens the mode most, its frequency, and what to do; warns of the
    first such instance of a batch, whose neighbours are none the worse for it.
    """
    if integrator.adaptive or not any(force.role == "passive" for force in model.forces):
        return
    if is_traced((model, inputs, state)):
        return
    if batch:
        model = _first_instances(model, model.leaf_ndims, batch)
        samples = _first_instances(inputs.samples, inputs.sample_ndims(), batch)
        inputs = Inputs(samples, inputs.functions, inputs.components)
        state = None if state is None else _first_instances(state, state.core_ndims(), batch)
        batch = (min(EXAMINED, math.prod(batch)),)
    forces = [force for force in model.forces if force.role == "passive"]
    names = [f"{type(force).__name__.lower()} {name!r}" for force in forces for name in force.names]
    linearised = _linearised(model, inputs, state, jnp.asarray(t0, model.dtype), batch)
    jacobian, inverse, local = jax.tree.map(lambda part: np.asarray(part, np.float64), linearised)
    if not all(np.all(np.isfinite(part)) for part in jax.tree.leaves((jacobian, inverse, local))):
        return  # the run itself will fail and say so
    for lane in range(jacobian.shape[-1]):
        basis = _tangent_basis(jacobian[..., lane], inverse[..., lane])
        parts = [_modal(force, matrices[..., lane], basis) for force, matrices in zip(forces, local, strict=True)]
        stiffness, damping = (np.concatenate(part) for part in zip(*parts, strict=True))
        worst = _worst_mode(stiffness, damping, h, integrator)
        if worst is None:
            continue
        rate, shares = worst
        element = names[int(np.argmax(shares))]
        limit = h * _largest_stable_fraction(rate * h, integrator)
        message = (
            f"dt = {h:g} s is too large for {element}: its fastest mode has |lambda| = {abs(rate):.3g} 1/s, so that "
            f"|lambda| dt = {abs(rate) * h:.3g}, where {integrator.name} is unstable; use dt <= {limit:.2g} s, "
            "or adaptive steps (rtol, atol)"
        )
        if not batch:
            raise ValueError(message)
        warnings.warn(f"instance {lane}: {message}", stacklevel=3)
        return


def _tangent_basis(jacobian: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Motions that the constraints allow, orthonormal in the mass metric: (6 bodies, motions)."""
    values, vectors = np.linalg.eigh(inverse)
    moving = values > 1e-14 * max(values.max(initial=0.0), 1e-300)
    root = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, moving]
    _, singular, right = np.linalg.svd(jacobian @ root, full_matrices=True)
    rank = int(np.sum(singular > 1e-9 * max(singular.max(initial=0.0), 1e-300)))
    return root @ right[rank:].T


def _modal(force: AbstractForce, local: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping of every element of a stack in the tangent basis, each (elements, motions, motions)."""
    bodies = np.concatenate([basis.reshape(basis.shape[0] // 6, 6, basis.shape[1]), np.zeros((1, 6, basis.shape[1]))])
    pairs = np.concatenate([bodies[np.array(force.body1)], bodies[np.array(force.body2)]], axis=1)
    stiffness, damping = local[:, :, :12], local[:, :, 12:]
    return tuple(np.einsum("eia,eij,ejb->eab", pairs, part, pairs) for part in (stiffness, damping))


def _worst_mode(
    k: np.ndarray, c: np.ndarray, h: float, integrator: AbstractIntegrator
) -> tuple[complex, np.ndarray] | None:
    """The most amplified eigenvalue and every element's share in it, or `None` when all are stable.

    - k, c: (elements, motions, motions), stiffness and damping in a basis of unit modal mass.
    """
    count = k.shape[1]
    if count == 0:
        return None
    system = np.block([[np.zeros((count, count)), np.eye(count)], [-k.sum(axis=0), -c.sum(axis=0)]])
    rates, modes = (np.asarray(x, complex) for x in np.linalg.eig(system))
    growth = integrator.growth(rates * h)
    # slowly growing modes belong to the mechanism (an inverted pendulum), not to the method
    unstable = (growth > 1.0 + 1e-6) & (np.real(rates) <= 1e-6 * np.abs(rates)) & (np.abs(rates) * h > 0.5)
    if not np.any(unstable):
        return None
    index = int(np.argmax(np.where(unstable, growth, 0.0)))
    shape = modes[:count, index]
    shares = np.abs(np.einsum("a,eab,b->e", shape.conj(), k, shape)) + np.abs(rates[index]) * np.abs(
        np.einsum("a,eab,b->e", shape.conj(), c, shape)
    )
    return complex(rates[index]), shares


def _largest_stable_fraction(z: complex, integrator: AbstractIntegrator) -> float:
    """The largest fraction of the step at which the mode is not amplified, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if integrator.growth(np.array([middle * z]))[0] <= 1 + 1e-6 else (low, middle)
    return low


@eqx.filter_jit
def _linearised(
    model: Model, inputs: Inputs, state: State | None, t0: Array, batch: tuple[int, ...]
) -> tuple[Array, Array, tuple[Array, ...]]:
    """Constraint Jacobian and M^-1 of all bodies, and the local matrices of every passive force stack; lanes last.

    - jacobian: (rows, 6 bodies, lanes); inverse: (6 bodies, 6 bodies, lanes).
    - local, per stack: (elements, 12, 24, lanes): minus the derivative of the wrenches on both bodies with respect to
      their two small motions and their two velocities.
    """
    system = make_system(model, inputs, batch)
    y = initial_lanes(model, batch) if state is None else state_to_lanes(model, state, batch)
    now = context(system, t0.reshape(1, 1), t0.reshape(1, 1), y)
    bodies = kinematics(system, y)
    count, lanes = model.bodies.count, y.work.shape[-1]
    plan = row_plan(model)
    jacobian = spread_rows(linearised_rows(system, bodies, y, now), plan, count)
    size = 6 * count
    unit = jnp.broadcast_to(jnp.eye(size, dtype=model.dtype).reshape(size, count, 6, 1), (size, count, 6, lanes))
    inverse = inverse_inertia(system, bodies).times(unit)
    local = tuple(
        _local_matrices(system, place, force, bodies, y, now)
        for place, force in system.forces()
        if force.role == "passive"
    )
    return jacobian.reshape(plan.count, size, lanes), inverse.reshape(size, size, lanes), local


def _local_matrices(
    system: System, place: int, force: AbstractForce, bodies: BodyKinematics, y: LaneState, now: Context
) -> Array:
    """Minus d(wrench1, wrench2)/d(motion1, motion2, velocity1, velocity2), (elements, 12, 24, lanes)."""
    shape = (force.count, y.work.shape[-1])
    body1, body2 = (
        jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, shape), take(bodies.all, index))
        for index in (force.body1, force.body2)
    )

    def moved(body: Kinematics, motion: Array, velocity: Array) -> Kinematics:
        pose = retract(body.pose, jnp.broadcast_to(motion[None, :, None], (shape[0], 6, shape[1])))
        linear, angular = (Vec3(*(velocity[i : i + 3])) for i in (0, 3))
        return Kinematics(pose, pose.quat.matrix(), body.vel + linear, body.omega + angular)

    def wrenches(x: Array) -> Array:
        first, second = moved(body1, x[:6], x[12:18]), moved(body2, x[6:12], x[18:])
        on1, on2 = force.wrenches(system.anchors[place], first, second, y.aux[place], now)
        parts = (six(on1.force, on1.torque), six(on2.force, on2.torque))
        return jnp.concatenate([jnp.broadcast_to(part, (shape[0], 6, shape[1])) for part in parts], axis=1)

    return -jnp.moveaxis(jax.jacfwd(wrenches)(jnp.zeros(24, y.work.dtype)), -1, 2)


def _first_instances(tree: _Tree, ndims: tuple[int, ...], batch: tuple[int, ...]) -> _Tree:
    """The first instances of a batch, as a batch of one axis."""
    lanes = to_lanes(tree, ndims, batch)
    arrays, static = eqx.partition(lanes, eqx.is_array)
    full = min(EXAMINED, math.prod(batch))
    first = jax.tree.map(lambda leaf: jnp.moveaxis(leaf[..., :full], -1, 0), arrays)
    first = jax.tree.map(lambda leaf: leaf if leaf.shape[0] == full else leaf[0], first)
    return eqx.combine(first, static)
