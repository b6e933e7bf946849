"""Gradients by states, inputs and all numbers of a model: right, and finite where formulas are singular."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

import jaxmbs as mbs
from jaxmbs._inputs import Inputs
from jaxmbs.dynamics.acceleration import element_wrenches, six, solve_motion
from tests.laws.elements import (
    BUSHINGS,
    JOINTS,
    LOADS,
    MOTORS,
    RSDAS,
    TSDAS,
    build_model,
    random_states,
    random_times,
    rest_states,
)
from tests.laws.evaluation import in_lanes, inputs_of


LANES = 2
#: By type: the compilation of a gradient grows faster than the number of types in it.
TYPES: dict[str, tuple[str, ...]] = {
    "frame joints": tuple(name for name in JOINTS if name != "joint UNIVERSAL"),
    "universal joint": ("joint UNIVERSAL",),
    "distance": ("constraint DISTANCE",),
    "revolute-spherical": ("constraint REVOLUTE_SPHERICAL",),
    "revolute-translational": ("constraint REVOLUTE_TRANSLATIONAL",),
    "motors": tuple(MOTORS),
    "tsda": tuple(TSDAS),
    "rsda": tuple(RSDAS),
    "bushing": tuple(BUSHINGS),
    "load": tuple(LOADS),
}

#: The model, the state and the inputs of a call.
Arguments = tuple[mbs.Model, mbs.State, Inputs]


def _quantities(arguments: Arguments, time: Array) -> dict[str, Any]:
    """Accelerations, constraint rows, and by type of force wrenches and stored energy."""
    model, state, inputs = arguments
    system, y, t = in_lanes(model, inputs, state, time)
    motion = solve_motion(system, t, t, y)
    found: dict[str, Any] = {
        "acceleration": motion.acceleration,
        "multipliers": motion.multipliers,
        "rows": (motion.rows.residual, motion.rows.rate, motion.rows.together(motion.rows.biases)),
    }
    for place, force in system.forces():
        first, second, on1, on2 = element_wrenches(system, place, force, motion.bodies, y, motion.context)
        stored = force.potential(system.anchors[place], first.pose, second.pose, y.aux[place])
        found[type(force).__name__] = (six(on1.force, on1.torque), six(on2.force, on2.torque), stored)
    return found


def _weighted(arguments: Arguments, time: Array) -> Array:
    """One number that depends on every quantity of every element, differently in each."""
    total = jnp.zeros((), time.dtype)
    for number, leaf in enumerate(jax.tree.leaves(_quantities(arguments, time))):
        weights = np.random.default_rng(number).uniform(0.5, 1.5, leaf.shape)
        total = total + jnp.sum(leaf * jnp.asarray(weights, leaf.dtype))
    return total


_value_and_gradient = eqx.filter_jit(eqx.filter_value_and_grad(_weighted))


@eqx.filter_jit
def _along(arguments: Arguments, directions: Arguments, time: Array) -> tuple[Any, Any]:
    """All quantities and their derivatives along one direction, in forward mode."""
    return eqx.filter_jvp(lambda a: _quantities(a, time), (arguments,), (directions,))


def _arguments(axes: str, dtype: str, names: tuple[str, ...]) -> tuple[Arguments, Array]:
    model = build_model(axes, dtype, names)
    time = jnp.asarray(random_times(LANES), dtype)
    if axes == "oblique":
        return (model, random_states(model, LANES), inputs_of(model)), time
    # one lane at rest, one that moves through the same pose
    state = rest_states(model, LANES)
    speed = np.random.default_rng(1).normal(size=(2, *state.vel.shape)) * np.array([0.0, 1.0])[:, None, None]
    vel, omega = (jnp.asarray(v, dtype) for v in speed)
    state = eqx.tree_at(lambda s: (s.vel, s.omega), state, (vel, omega))
    return (model, state, inputs_of(model)), time


#: Fields (elements, points, ...) with the points of tables.
TABLES = ("spring_curve", "damping_curve", "map_deformation", "map_velocity")


def _padded(table: np.ndarray) -> np.ndarray:
    """Where a point is a copy of its neighbour: tables are padded so, and copies may not move apart."""
    points = table.reshape(*table.shape[:2], -1)
    copies = np.all(points[:, 1:] == points[:, :-1], axis=-1)
    none = np.zeros((table.shape[0], 1), bool)
    either = np.concatenate([none, copies], axis=1) | np.concatenate([copies, none], axis=1)
    return either.reshape(*table.shape[:2], *[1] * (table.ndim - 2))


def _direction(arguments: Arguments, seed: int = 0) -> Arguments:
    """A random direction in the space of all numbers."""
    rng = np.random.default_rng(seed)

    def one(path: Any, leaf: Any) -> Any:
        direction = rng.normal(size=leaf.shape)
        if getattr(path[-1], "name", None) in TABLES:
            direction = np.where(_padded(np.asarray(leaf)), 0.0, direction)
        return jnp.asarray(direction, leaf.dtype)

    return jax.tree_util.tree_map_with_path(one, eqx.filter(arguments, eqx.is_inexact_array))


def _assert_finite(tree: Any, what: str) -> None:
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter(tree, eqx.is_inexact_array))
    assert leaves
    bad = [jax.tree_util.keystr(path) for path, leaf in leaves if not bool(jnp.all(jnp.isfinite(leaf)))]
    assert not bad, f"{what}: not finite: {bad}"


def _by_type(test: Callable) -> Callable:
    return pytest.mark.parametrize("kind", TYPES)(test)


@_by_type
def test_gradients_are_finite_and_right(kind: str):
    """Reverse mode in float64: at singular places, and against central differences at an ordinary one."""
    for axes in ("z", "x"):
        arguments, time = _arguments(axes, "float64", TYPES[kind])
        value, gradient = _value_and_gradient(arguments, time)
        assert bool(jnp.isfinite(value)), axes
        _assert_finite(gradient, f"axes along {axes}")
    arguments, time = _arguments("oblique", "float64", TYPES[kind])
    value, gradient = _value_and_gradient(arguments, time)
    _assert_finite(gradient, "oblique")
    for seed in range(3):
        direction = _direction(arguments, seed)
        products = jax.tree.map(lambda g, d: jnp.sum(g * d), eqx.filter(gradient, eqx.is_inexact_array), direction)
        expected = sum(float(leaf) for leaf in jax.tree.leaves(products))
        h = 1e-6
        ahead, behind = (
            float(_value_and_gradient(eqx.apply_updates(arguments, jax.tree.map(lambda d: s * d, direction)), time)[0])
            for s in (h, -h)
        )
        # truncation is h^2 times the third derivative, rounding 1e-16 value/h: both near 1e-9 of the gradient; the
        # stiffest element (a stop of 6 MN/m whose table has corners) and ill-conditioned rows take some of that
        assert abs((ahead - behind) / (2 * h) - expected) <= 1e-6 * max(1.0, abs(expected)), (seed, expected)


@_by_type
def test_float32_derivatives_are_finite(kind: str):
    """Forward mode in float32, where squares and reciprocals of small numbers over- and underflow first."""
    for axes in ("z", "x"):
        arguments, time = _arguments(axes, "float32", TYPES[kind])
        values, derivatives = _along(arguments, _direction(arguments), time)
        _assert_finite(values, f"values, axes along {axes}")
        _assert_finite(derivatives, f"derivatives, axes along {axes}")
        assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves((values, derivatives)))
