"""Constraint rows: Jacobian, rate and acceleration bias against derivatives of the residual."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

import jaxmbs as mbs
from jaxmbs._gather import take
from jaxmbs._inputs import Inputs
from jaxmbs._kinematics import Kinematics, Pose
from jaxmbs._math import Quat, Vec3
from jaxmbs.constraints import Row, linearise_by_autodiff
from jaxmbs.dynamics.system import context, kinematics
from tests.laws.elements import GROUPS, LANES, build_model, random_states, random_times
from tests.laws.evaluation import in_lanes, inputs_of


#: Types of constraint, by the group of elements that has them.
STACKS = {
    "constraints": ("FrameJoint", "UniversalJoint", "Distance", "RevoluteSpherical", "RevoluteTranslational"),
    "motors": ("FrameJoint",),
}
CASES = [(group, name) for group, names in STACKS.items() for name in names]


def _along(row: Row, linear1: Vec3, angular1: Vec3, linear2: Vec3, angular2: Vec3) -> Array:
    return row.linear1.dot(linear1) + row.angular1.dot(angular1) + row.linear2.dot(linear2) + row.angular2.dot(angular2)


@eqx.filter_jit
def _evaluate(
    model: mbs.Model, inputs: Inputs, state: mbs.State, time: Array, acceleration: Array, step: Array
) -> dict[str, dict[str, Any]]:
    """Rows and derivatives of residuals along a motion with the given accelerations (bodies + 1, 6, lanes)."""
    system, y, t = in_lanes(model, inputs, state, time)
    bodies = kinematics(system, y)
    found = {}
    for place, constraint in system.constraints():
        anchors, aux = system.anchors[place], y.aux[place]
        body1, body2 = take(bodies.all, constraint.body1), take(bodies.all, constraint.body2)
        a1, a2 = take(acceleration, constraint.body1), take(acceleration, constraint.body2)
        drive = constraint.drive(context(system, t, t, y), aux)
        # the own state of SPEED motors moves along too: its rate is the function's value, and that rate's the slope
        aux_rate = constraint.aux_rate(anchors, body1, body2, drive, aux)
        aux_acceleration = jnp.zeros_like(aux)
        if aux.shape[1] == 2:
            driven = jnp.where(aux_rate[:, 1] == 0, 0.0, drive.acceleration[0] + drive.acceleration[1])
            aux_acceleration = aux_acceleration.at[:, 1].set(driven)

        def moved(body: Kinematics, a: Array, s: Array) -> Pose:
            pos = body.pose.pos + body.vel * s + Vec3.of(a[:, :3]) * (s * s / 2)
            turn = Quat.exp(body.omega * s + Vec3.of(a[:, 3:]) * (s * s / 2))
            return Pose(pos, turn @ body.pose.quat)

        def residual(s: Array) -> Array:
            # tables and repeats stay on the segment of the instant itself
            aux_then = aux + aux_rate * s + aux_acceleration * (s * s / 2)
            now = constraint.drive(context(system, t + s, t, y), aux_then)
            rows = constraint.residual(anchors, moved(body1, a1, s), moved(body2, a2, s), now)
            return jnp.stack([jnp.broadcast_to(row, (constraint.count, t.shape[-1])) for row in rows])

        def rate(s: Array) -> tuple[Array, Array]:
            return jax.jvp(residual, (s,), (jnp.ones_like(s),))

        zero = jnp.zeros_like(step)
        (value, first), (_, second) = jax.jvp(rate, (zero,), (jnp.ones_like(zero),))
        rows = constraint.linearise(anchors, body1, body2, drive)
        velocities = (body1.vel, body1.omega, body2.vel, body2.omega)
        accelerations = (Vec3.of(a1[:, :3]), Vec3.of(a1[:, 3:]), Vec3.of(a2[:, :3]), Vec3.of(a2[:, 3:]))
        found[type(constraint).__name__] = {
            "rows": rows,
            "autodiff": linearise_by_autodiff(constraint, anchors, body1, body2, drive),
            "value": value,
            "first": first,
            "second": second,
            "rate": jnp.stack([_along(row, *velocities) + row.rate for row in rows]),
            "acceleration": jnp.stack([_along(row, *accelerations) + row.bias for row in rows]),
            "nearby": [residual(k * step) for k in (-2, -1, 0, 1, 2)],
        }
    return found


STEP = 1e-3


@functools.cache
def _group(group: str) -> dict[str, dict[str, Any]]:
    model = build_model(names=GROUPS[group])
    rng = np.random.default_rng(5)
    acceleration = 3 * rng.normal(size=(model.bodies.count + 1, 6, LANES))
    acceleration[-1] = 0.0  # the world
    return _evaluate(
        model,
        inputs_of(model),
        random_states(model),
        jnp.asarray(random_times()),
        jnp.asarray(acceleration),
        jnp.asarray(STEP),
    )


def _scale(array: Array) -> float:
    """The largest value of a quantity over a stack: rows of one stack have the same units and sizes."""
    return max(1.0, float(jnp.max(jnp.abs(array))))


@pytest.mark.parametrize(("group", "stack"), CASES)
def test_rows_equal_autodiff_of_the_residual(group: str, stack: str):
    found = _group(group)[stack]
    paths = jax.tree_util.tree_leaves_with_path(found["rows"])
    for (path, mine), reference in zip(paths, jax.tree.leaves(found["autodiff"]), strict=True):
        # both are exact derivatives; they differ by rounding of some hundred operations
        np.testing.assert_allclose(
            np.broadcast_to(mine, reference.shape),
            reference,
            rtol=0,
            atol=1e-12 * _scale(reference),
            err_msg=jax.tree_util.keystr(path),
        )


@pytest.mark.parametrize(("group", "stack"), CASES)
def test_rates_and_bias_are_time_derivatives(group: str, stack: str):
    found = _group(group)[stack]
    for row, value in zip(found["rows"], found["value"], strict=True):
        np.testing.assert_allclose(np.broadcast_to(row.residual, value.shape), value, rtol=0, atol=1e-14)
    # exact derivatives of two formulas: rounding only
    np.testing.assert_allclose(found["rate"], found["first"], rtol=0, atol=1e-12 * _scale(found["first"]))
    np.testing.assert_allclose(found["acceleration"], found["second"], rtol=0, atol=1e-12 * _scale(found["second"]))


@pytest.mark.parametrize(("group", "stack"), CASES)
def test_rates_and_bias_against_central_differences(group: str, stack: str):
    found = _group(group)[stack]
    two_behind, behind, value, ahead, two_ahead = found["nearby"]
    rate = (8 * (ahead - behind) - (two_ahead - two_behind)) / (12 * STEP)
    acceleration = (16 * (ahead + behind) - (two_ahead + two_behind) - 30 * value) / (12 * STEP**2)
    # Spins, and speeds over the lengths of links, are of up to w = 15/s, rows of up to r = 1 m, so the n-th derivative
    # is about r w^n: truncation is h^4 r w^5/30 = 3e-8 and h^4 r w^6/90 = 1e-7, rounding 1e-15/h = 1e-12 and
    # 1e-15/h^2 = 1e-9.
    np.testing.assert_allclose(found["rate"], rate, rtol=0, atol=1e-7)
    np.testing.assert_allclose(found["acceleration"], acceleration, rtol=0, atol=1e-6)


def test_every_type_of_constraint_is_here():
    for group, names in STACKS.items():
        assert set(_group(group)) == set(names)
