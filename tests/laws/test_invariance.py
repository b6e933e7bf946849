"""The same mechanism elsewhere, and in less precision."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmbs as mbs
from jaxmbs._inputs import Inputs
from jaxmbs._outputs import constraint_names, joint_names, motor_names
from jaxmbs.dynamics.rows import row_plan
from tests.laws.elements import GROUPS, matrix, multiply, quaternion, rotate
from tests.laws.evaluation import Sample, evaluate, sample


TURN = quaternion(np.array([0.7, -1.1, 0.4]))
SHIFT = np.array([1.5, -0.8, 2.1])

#: Fields of element stacks that hold points and directions in the world at t = 0.
POINTS = ("pos", "point1", "point2")
DIRECTIONS = ("axis", "axis1", "axis2", "axis_x")

#: Outputs by how they transform; all others are scalars or given in axes that move along.
POINT_OUTPUTS = ("body_pos", "ref_pos")
QUATERNION_OUTPUTS = ("body_quat", "ref_quat")
VECTOR_OUTPUTS = (
    "body_vel",
    "body_acc",
    "body_alpha",
    "ref_vel",
    "joint_force",
    "joint_torque",
    "constraint_force",
    "constraint_torque",
    "bushing_force",
    "bushing_torque",
)


def _turned(v: Any) -> Any:
    return jnp.asarray(rotate(TURN, np.asarray(v)))


def _moved(p: Any) -> Any:
    return jnp.asarray(rotate(TURN, np.asarray(p)) + SHIFT)


def _elsewhere_stack(stack: Any) -> Any:
    changes = {name: _moved(getattr(stack, name)) for name in POINTS if hasattr(stack, name)}
    changes |= {name: _turned(getattr(stack, name)) for name in DIRECTIONS if hasattr(stack, name)}
    if type(stack).__name__ == "BodyLoad":
        in_world, in_space = ~np.array(stack.local_load)[:, None], ~np.array(stack.local_point)[:, None]
        changes["load"] = jnp.where(in_world, _turned(stack.load), stack.load)
        changes["point"] = jnp.where(in_space, _moved(stack.point), stack.point)
    return dataclasses.replace(stack, **changes)


def _elsewhere(model: mbs.Model, inputs: Inputs, state: mbs.State) -> tuple[mbs.Model, Inputs, mbs.State]:
    """The mechanism and its state turned by TURN about the world's origin and then shifted, gravity turned too."""
    bodies = dataclasses.replace(
        model.bodies,
        pos=_moved(model.bodies.pos),
        quat=jnp.asarray(multiply(TURN, np.asarray(model.bodies.quat))),
        vel=_turned(model.bodies.vel),
    )
    model = dataclasses.replace(
        model,
        gravity=_turned(model.gravity),
        bodies=bodies,
        constraints=tuple(map(_elsewhere_stack, model.constraints)),
        forces=tuple(map(_elsewhere_stack, model.forces)),
    )
    if "wheel" in inputs.samples:
        # the external value that is a torque in world axes
        inputs = eqx.tree_at(lambda i: i.samples["wheel"].values, inputs, replace_fn=_turned)
    quat = jnp.asarray(multiply(TURN, np.asarray(state.quat)))
    state = dataclasses.replace(state, pos=_moved(state.pos), quat=quat, vel=_turned(state.vel))
    return model, inputs, state


def _expected(name: str, values: np.ndarray) -> np.ndarray:
    if name in POINT_OUTPUTS:
        return np.asarray(_moved(values))
    if name in QUATERNION_OUTPUTS:
        return multiply(TURN, values)
    return np.asarray(_turned(values)) if name in VECTOR_OUTPUTS else values


@pytest.mark.parametrize("group", GROUPS)
def test_a_turned_and_shifted_world_changes_nothing(group: str):
    here = sample(group)
    model, inputs, state = _elsewhere(here.model, here.inputs, here.state)
    there = jax.tree.map(np.asarray, evaluate(model, inputs, state, here.time)["outputs"])
    expected = {name: _expected(name, values) for name, values in here.result["outputs"].items()}
    # gravity's potential is zero at the world's origin, which did not move along
    masses = float(jnp.sum(here.model.bodies.mass))
    expected["energy_potential"] = expected["energy_potential"] - masses * np.asarray(model.gravity) @ SHIFT
    assert set(POINT_OUTPUTS + QUATERNION_OUTPUTS) < set(there)
    for name, values in there.items():
        if name in ("residual_pos", "residual_vel"):
            continue  # the larger of the components along x and y, which the world chooses; outputs of open joints only
        # rounding of poses (1e-16), enlarged by the stiffest spring and the solve for multipliers (to about 1e-11 of
        # the largest value of the quantity); residuals are such rounding themselves
        size = max(1.0, np.nanmax(np.abs(expected[name])))
        np.testing.assert_allclose(values, expected[name], rtol=0, atol=1e-9 * size, err_msg=name)


#: Quantities that come out of the solve for accelerations and multipliers, by what they are listed over.
SOLVED = {
    "body_acc": "body",
    "body_alpha": "body",
    "joint_force": "joint",
    "joint_torque": "joint",
    "motor_effort": "motor",
    "constraint_force": "constraint",
    "constraint_torque": "constraint",
}


def _as_float32(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf.astype(jnp.float32) if eqx.is_inexact_array(leaf) else leaf, tree)


def _conditions(here: Sample) -> np.ndarray:
    """For every body the condition number of the scaled J M^-1 J^T of its element: the worst of all lanes."""
    bodies, plan = here.model.bodies, row_plan(here.model)
    rot = matrix(np.asarray(here.state.quat))
    xx, yy, zz, xy, xz, yz = np.moveaxis(np.asarray(bodies.inertia), -1, 0)
    tensor = np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), -1, 0)
    inverse = rot @ np.linalg.inv(tensor) @ np.swapaxes(rot, -1, -2)
    worst = np.ones(bodies.count)
    for stack, element in {(s, e) for s, e in zip(plan.stack, plan.element, strict=True)}:
        rows = np.flatnonzero((plan.stack == stack) & (plan.element == element))
        total = 0.0
        for body, name in ((plan.body1[rows[0]], "jacobian1"), (plan.body2[rows[0]], "jacobian2")):
            j = np.moveaxis(here.result[name][rows], -1, 0)
            linear, angular = j[..., :3], j[..., 3:]
            spread = angular @ inverse[:, body] @ np.swapaxes(angular, -1, -2)
            total = total + linear @ np.swapaxes(linear, -1, -2) / float(bodies.mass[body]) + spread
        scale = 1 / np.sqrt(np.diagonal(total, axis1=1, axis2=2))
        worst[[plan.body1[rows[0]], plan.body2[rows[0]]]] = np.max(
            np.linalg.cond(total * scale[:, :, None] * scale[:, None])
        )
    return worst


def _listed(here: Sample, over: str) -> np.ndarray:
    """The first body of every item along a dimension of the results."""
    model = here.model
    if over == "body":
        return np.arange(model.bodies.count)
    names = {"joint": joint_names, "motor": motor_names, "constraint": constraint_names}[over](model)
    return np.array([model.bodies.names.index(f"{name} a") for name in names], dtype=int)


def _sizes(reference: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What rounding is relative to: at least 1; torques are differences of forces times arms of up to a metre."""
    sizes = {name: np.maximum(1.0, np.max(np.abs(values), axis=0)) for name, values in reference.items()}
    for kind in ("joint", "constraint"):
        if f"{kind}_force" in sizes:
            forces = np.max(sizes[f"{kind}_force"], axis=-1, keepdims=True)
            sizes[f"{kind}_torque"] = np.maximum(sizes[f"{kind}_torque"], forces)
    return sizes


@pytest.mark.parametrize("group", GROUPS)
def test_float32_is_near_float64(group: str):
    """Errors of float32 are those of inputs that are off by a few units in the last place, and of the solve.

    How much the first is depends on the sensitivity of every quantity, so it is measured: float64 evaluated with all
    numbers of model and state disturbed by u = 2^-24 (half a unit in the last place of float32). Some hundred
    operations round like this one after the other, in random directions: a factor of 10 is expected, 30 is allowed.
    The solve with the matrix J M^-1 J^T is off by its condition number times u (Higham, Accuracy and Stability of
    Numerical Algorithms, theorem 10.4).
    """
    here = sample(group)
    low = evaluate(*_as_float32((here.model, here.inputs, here.state, here.time)))["outputs"]
    rng = np.random.default_rng(4)
    unit = 2.0**-24

    def disturbed(leaf: Any) -> Any:
        return leaf * (1 + unit * rng.choice([-1.0, 1.0], leaf.shape)) if eqx.is_inexact_array(leaf) else leaf

    reference = here.result["outputs"]
    spread = {name: np.zeros(values.shape[1:]) for name, values in reference.items()}
    for _ in range(4):
        model, inputs, state = jax.tree.map(disturbed, (here.model, here.inputs, here.state))
        outputs = evaluate(model, inputs, state, here.time)["outputs"]
        for name, values in outputs.items():
            spread[name] = np.maximum(spread[name], np.max(np.abs(np.asarray(values) - reference[name]), axis=0))
    sizes, conditions = _sizes(reference), _conditions(here)
    failures = []
    for name, values in low.items():
        assert values.dtype == jnp.float32, name
        error = np.max(np.abs(np.asarray(values, np.float64) - reference[name]), axis=0)
        allowed = 30 * (spread[name] + unit * sizes[name])
        if name in SOLVED:
            condition = conditions[_listed(here, SOLVED[name])]
            allowed = allowed + unit * sizes[name] * condition.reshape(-1, *[1] * (allowed.ndim - 1))
        bad = ~np.isnan(reference[name][0]) & ~(error <= allowed)
        if np.any(bad):
            failures.append((name, float(np.nanmax(error / allowed)), np.argwhere(bad)[:4].tolist()))
    assert not failures, f"(quantity, error over what is allowed, elements): {failures}"
