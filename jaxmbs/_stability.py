"""Whether an explicit method is stable at the step that was asked for."""

import dataclasses
import math
import warnings
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._context import Context
from jaxmbs._inputs import Inputs
from jaxmbs._lanes import to_lanes
from jaxmbs._math import Vec3
from jaxmbs._model import Model
from jaxmbs._state import State
from jaxmbs._tracing import is_traced
from jaxmbs.dynamics.acceleration import body_rows, element_wrenches, inverse_inertia, six
from jaxmbs.dynamics.projection import retract
from jaxmbs.dynamics.rows import linearised_rows, row_plan
from jaxmbs.dynamics.system import (
    LaneState,
    System,
    context,
    initial_lanes,
    kinematics,
    make_system,
    state_to_lanes,
)
from jaxmbs.solvers import AbstractIntegrator


_Tree = TypeVar("_Tree")

#: Instances of a batch that are examined; a batch differs little in what makes a step unstable.
EXAMINED = 16


def check_stability(
    model: Model, inputs: Inputs, state: State | None, batch: tuple[int, ...], h: float, integrator: AbstractIntegrator
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
    jacobian, inverse, stiffness, damping = (
        np.asarray(x, np.float64) for x in _linearised(model, inputs, state, batch)
    )
    finite = all(np.all(np.isfinite(part)) for part in (jacobian, inverse, stiffness, damping))
    if not finite:
        return  # the run itself will fail and say so
    names = [
        f"{type(force).__name__.lower()} {name!r}"
        for force in model.forces
        if force.role == "passive"
        for name in force.names
    ]
    for lane in range(jacobian.shape[-1]):
        worst = _worst_mode(
            jacobian[..., lane], inverse[..., lane], stiffness[..., lane], damping[..., lane], h, integrator
        )
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


def _worst_mode(
    jacobian: np.ndarray,
    inverse: np.ndarray,
    stiffness: np.ndarray,
    damping: np.ndarray,
    h: float,
    integrator: AbstractIntegrator,
) -> tuple[complex, np.ndarray] | None:
    """The most amplified eigenvalue and every element's share in it, or `None` when all are stable.

    - jacobian: (rows, 6 bodies); inverse: (6 bodies, 6 bodies) M^-1; stiffness, damping: (elements, 6 bodies, 6
      bodies), -d wrench/d pose and -d wrench/d velocity.
    """
    values, vectors = np.linalg.eigh(inverse)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    moving = values > 1e-14 * max(values.max(initial=0.0), 1e-300)
    root = root[:, moving]
    if root.shape[1] == 0:
        return None
    _, singular, right = np.linalg.svd(jacobian @ root, full_matrices=True)
    rank = int(np.sum(singular > 1e-9 * max(singular.max(initial=0.0), 1e-300)))
    basis = root @ right[rank:].T
    count = basis.shape[1]
    if count == 0:
        return None
    k, c = (np.einsum("ia,eij,jb->eab", basis, matrix, basis) for matrix in (stiffness, damping))
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
    model: Model, inputs: Inputs, state: State | None, batch: tuple[int, ...]
) -> tuple[Array, Array, Array, Array]:
    """Constraint Jacobian, M^-1, and every passive element's stiffness and damping; lanes last."""
    if batch:
        model = _first_instances(model, model.leaf_ndims, batch)
        inputs = _first_instances(inputs, inputs.leaf_ndims(), batch)
        state = None if state is None else _first_instances(state, state.core_ndims(), batch)
        batch = (min(EXAMINED, math.prod(batch)),)
    system = make_system(model, inputs, batch)
    y = initial_lanes(model, batch) if state is None else state_to_lanes(state, batch)
    zero = jnp.zeros((1, 1), model.dtype)
    now = context(system, zero, zero, y)
    bodies = kinematics(system, y)
    count, lanes = model.bodies.count, y.work.shape[-1]
    plan = row_plan(model)
    rows = linearised_rows(system, bodies, y, now)
    jacobian = jnp.zeros((plan.count, count, 6, lanes), model.dtype)
    jacobian = jacobian.at[np.arange(plan.count), plan.body1].add(rows.jacobian1)
    jacobian = jacobian.at[np.arange(plan.count), plan.body2].add(rows.jacobian2)
    # M^-1 by its columns
    unit = jnp.broadcast_to(
        jnp.eye(6 * count, dtype=model.dtype).reshape(6 * count, count, 6, 1), (6 * count, count, 6, lanes)
    )
    inverse = inverse_inertia(system, bodies).times(unit)
    body = body_rows(bodies)
    velocity = six(body.vel, body.omega)
    flat = jnp.zeros((6 * count,), model.dtype)

    def wrenches(shift: Array, extra: Array) -> Array:
        moved = _moved(y, shift.reshape(count, 6, 1), velocity + extra.reshape(count, 6, 1))
        return _passive_wrenches(system, moved, now)

    stiffness, damping = (-jnp.moveaxis(d, -1, -2) for d in jax.jacfwd(wrenches, argnums=(0, 1))(flat, flat))
    return (
        jacobian.reshape(plan.count, 6 * count, lanes),
        inverse.reshape(6 * count, 6 * count, lanes),
        stiffness,
        damping,
    )


def _first_instances(tree: _Tree, ndims: tuple[int, ...], batch: tuple[int, ...]) -> _Tree:
    """The first instances of a batch, as a batch of one axis."""
    lanes = to_lanes(tree, ndims, batch)
    arrays, static = eqx.partition(lanes, eqx.is_array)
    first = jax.tree.map(lambda leaf: jnp.moveaxis(leaf[..., :EXAMINED], -1, 0), arrays)
    full = min(EXAMINED, math.prod(batch))
    first = jax.tree.map(lambda leaf: leaf if leaf.shape[0] == full else leaf[0], first)
    return eqx.combine(first, static)


def _moved(y: LaneState, shift: Array, velocity: Array) -> LaneState:
    """`y` with its pose moved by a small motion and with other velocities (world axes)."""
    pose = retract(y.pose, jnp.broadcast_to(shift, velocity.shape))
    spin = pose.quat.matrix().transposed_times(Vec3.of(velocity[:, 3:]))
    return dataclasses.replace(y, pose=pose, vel=Vec3.of(velocity[:, :3]), omega=spin)


def _passive_wrenches(system: System, y: LaneState, now: Context) -> Array:
    """Wrenches of every passive element on all bodies, (elements, 6 bodies, lanes)."""
    bodies = kinematics(system, y)
    count, lanes = system.model.bodies.count, y.work.shape[-1]
    parts = []
    for place, force in system.forces():
        if force.role != "passive":
            continue
        _, _, on1, on2 = element_wrenches(system, place, force, bodies, y, now)
        total = jnp.zeros((force.count, count + 1, 6, lanes), y.work.dtype)
        for wrench, index in ((on1, force.body1), (on2, force.body2)):
            columns = jnp.broadcast_to(six(wrench.force, wrench.torque), (force.count, 6, lanes))
            one_hot = np.array(index)[:, None] % (count + 1) == np.arange(count + 1)[None]
            total = total + jnp.asarray(one_hot, total.dtype)[:, :, None, None] * columns[:, None]
        parts.append(total[:, :count].reshape(force.count, 6 * count, lanes))
    return jnp.concatenate(parts)
