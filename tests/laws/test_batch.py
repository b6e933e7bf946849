"""A batch equals its single runs, however the batch is made."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import jaxmbs as mbs
from jaxmbs import Actuation, FunctionDescription, JointKind, LoadKind, MotorKind


MASSES, RATES = np.array([1.0, 1.7, 0.6, 2.4]), np.array([0.3, -2.0])
#: A batch is one set of array operations on all lanes; rounding may differ by how XLA vectorises them.
SAME = 1e-10


def _push(t: Any, state: Any) -> Any:
    return jnp.stack([jnp.sin(5 * t), state.vel[-1, 1], 0.3 * jnp.ones_like(t)])


INPUTS = {"push": _push}


@functools.cache
def _model() -> mbs.Model:
    """An arm on a hinge, a wheel that a motor turns on it, and a bob on a spring between arm and ground."""
    description = mbs.ModelDescription()
    description.add_body("ground", fixed=True)
    description.add_body("arm", mass=1.0, inertia=[0.05, 0.06, 0.07], pos=[0.3, 0.0, 0.0], com_pos=[0.02, 0.01, 0.0])
    description.add_body("wheel", mass=0.5, inertia=[0.01, 0.01, 0.02], pos=[0.6, 0.1, 0.0])
    description.add_body("bob", mass=0.3, inertia=[0.01, 0.012, 0.014], pos=[0.9, 0.2, -0.5])
    description.add_joint("hinge", JointKind.REVOLUTE, "ground", "arm", pos=[0, 0, 0], axis=[0.1, 1, 0.2])
    description.add_motor(
        "drive",
        MotorKind.ROTATION,
        "wheel",
        "arm",
        pos=[0.6, 0.1, 0.0],
        axis=[0, 1, 1],
        actuation=Actuation.SPEED,
        function=FunctionDescription.sine(3.0, 1.5),
    )
    description.add_tsda(
        "spring", "arm", "bob", point1=[0.6, 0, 0], point2=[0.9, 0.2, -0.45], free_length=0.4, stiffness=30, damping=0.5
    )
    description.add_load("push", LoadKind.FORCE, "bob", input="push")
    return mbs.compile_model(description)


def _with(mass: Any, rate: Any) -> mbs.Model:
    """Mass of the arm and angular rate of the bob, of any batch shapes."""
    model = _model()
    mass, rate = jnp.asarray(mass), jnp.asarray(rate)
    masses = jnp.broadcast_to(model.bodies.mass, (*mass.shape, 4)).at[..., 1].set(mass)
    spins = jnp.broadcast_to(model.bodies.omega, (*rate.shape, 4, 3)).at[..., 3, 0].set(rate)
    return eqx.tree_at(lambda m: (m.bodies.mass, m.bodies.omega), model, (masses, spins))


def _run(model: mbs.Model) -> mbs.Solution:
    return mbs.simulate(model, t1=0.1, dt=0.01, inputs=INPUTS)


@functools.cache
def _single(mass: float, rate: float) -> mbs.State:
    return _run(_with(mass, rate)).ys


def _assert_equal(found: mbs.State, expected: mbs.State) -> None:
    for (path, mine), other in zip(jax.tree_util.tree_leaves_with_path(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(mine, other, rtol=0, atol=SAME, err_msg=jax.tree_util.keystr(path))


def _instance(states: mbs.State, *index: int) -> mbs.State:
    return jax.tree.map(lambda leaf: leaf[index], states)


def test_a_batch_equals_its_single_runs():
    pairs = [(mass, rate) for mass in MASSES for rate in RATES]
    batch = _run(mbs.stack([_with(mass, rate) for mass, rate in pairs]))
    assert batch.ys.pos.shape == (8, 11, 4, 3) and batch.status.shape == (8,)
    for i, (mass, rate) in enumerate(pairs):
        _assert_equal(_instance(batch.ys, i), _single(mass, rate))
    # the instances do differ
    assert float(jnp.min(jnp.ptp(batch.ys.pos[:, -1, 1:], axis=0))) > 1e-6


def test_a_batch_of_two_axes_from_two_leaves():
    """The batch axes of several leaves are broadcast together."""
    batch = _run(_with(MASSES[:3, None, None], RATES[None]))
    assert batch.ys.pos.shape == (3, 1, 2, 11, 4, 3) and batch.status.shape == (3, 1, 2)
    for i in range(3):
        for j in range(2):
            _assert_equal(_instance(batch.ys, i, 0, j), _single(MASSES[i], RATES[j]))


def test_a_batch_of_one():
    batch = _run(mbs.broadcast(_with(MASSES[1], RATES[1]), 1))
    assert batch.ys.pos.shape == (1, 11, 4, 3)
    _assert_equal(_instance(batch.ys, 0), _single(MASSES[1], RATES[1]))


def test_vmap_equals_the_batch():
    states = jax.vmap(lambda mass, rate: _run(_with(mass, rate)).ys)(jnp.asarray(MASSES[:2]), jnp.asarray(RATES))
    for i in range(2):
        _assert_equal(_instance(states, i), _single(MASSES[i], RATES[i]))


def test_a_batch_of_states():
    """A batch in the start state alone, on a model without one."""
    starts = [mbs.initial_state(_with(MASSES[0], rate), inputs=INPUTS) for rate in RATES]
    start = jax.tree.map(lambda *leaves: jnp.stack(leaves), *starts)
    batch = mbs.simulate(_with(MASSES[0], 0.0), t1=0.1, dt=0.01, inputs=INPUTS, state=start)
    assert batch.ys.pos.shape == (2, 11, 4, 3)
    for i, rate in enumerate(RATES):
        _assert_equal(_instance(batch.ys, i), _single(MASSES[0], rate))
