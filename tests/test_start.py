"""Where runs start: motors that start after several turns, and starts that contradict themselves."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

import jaxmbs as mbs
from jaxmbs import FunctionDescription
from tests.mechanisms import four_bar


Z = (0.0, 0.0, 1.0)
ORIGIN = (0.0, 0.0, 0.0)


@functools.cache
def wheel() -> mbs.Model:
    """A wheel that a motor turns by 0.5 + t; a rim is welded to it, and springs and a hinge measure the rim.

    A second motor, on the wheel, turns an arm by 0.25 relative to it.
    """
    description = mbs.ModelDescription(gravity=np.zeros(3))
    description.add_body("ground", fixed=True)
    description.add_body("base", fixed=True)
    description.add_body("wheel", mass=2.0, inertia=(1.0, 1.0, 1.0))
    description.add_body("rim", mass=1.0, inertia=(1.0, 1.0, 1.0), pos=(0.3, 0.0, 0.0))
    description.add_body("arm", mass=1.0, inertia=(1.0, 1.0, 1.0))
    for name, body1, body2, function in (
        ("drive", "wheel", "ground", FunctionDescription.ramp(1.0, 0.5)),
        ("wrist", "wheel", "arm", FunctionDescription.ramp(0.0, 0.25)),
    ):
        description.add_motor(
            name,
            mbs.MotorKind.ROTATION,
            body1,
            body2,
            pos=ORIGIN,
            axis=Z,
            actuation=mbs.Actuation.POSITION,
            function=function,
        )
    description.add_joint("weld", mbs.JointKind.LOCK, "wheel", "rim", pos=(0.3, 0.0, 0.0))
    description.add_joint("hinge", mbs.JointKind.CYLINDRICAL, "base", "rim", pos=ORIGIN, axis=(0.0, 0.0, -2.0))
    description.add_rsda("same", "ground", "rim", axis=Z, stiffness=1.0)
    description.add_rsda("opposite", "rim", "ground", axis=Z)
    description.add_rsda("arm", "base", "arm", axis=Z)
    return mbs.compile_model(description)


def started(drive: Array, wrist: Array) -> mbs.Model:
    """The wheel with other angles at t = 0."""
    ramps = jnp.stack([jnp.stack([drive, jnp.ones_like(drive)], -1), jnp.stack([wrist, jnp.zeros_like(wrist)], -1)], -2)
    return eqx.tree_at(lambda m: m.functions.coefficients, wheel(), ramps)


ANGLES = np.array([0.5, 2.0, 3.0, np.pi, 10.0, -20.3])
WRIST = np.array([0.0, -7.0, 0.25, 0.0, 4.0, -30.0])


def test_motors_that_start_after_several_turns() -> None:
    """All angles are those of a mechanism that was turned there from the pose of the file."""
    solution = mbs.simulate(started(jnp.asarray(ANGLES), jnp.asarray(WRIST)), t1=1.0, dt=0.1, save_dt=0.5)
    np.testing.assert_array_equal(solution.status, mbs.Status.OK)
    out = solution.outputs()
    turned = ANGLES[:, None] + np.array([0.0, 0.5, 1.0])
    np.testing.assert_allclose(out["motor_pos"][..., 0], turned, rtol=0, atol=1e-9)
    np.testing.assert_allclose(out["motor_pos"][..., 1], np.broadcast_to(WRIST[:, None], (6, 3)), rtol=0, atol=1e-9)
    hinge = solution.model.joints.names.index("hinge")
    np.testing.assert_allclose(out["joint_angle"][..., hinge], -turned, rtol=0, atol=1e-9)
    np.testing.assert_allclose(out["rsda_angle"][..., 0], turned, rtol=0, atol=1e-9)
    np.testing.assert_allclose(out["rsda_angle"][..., 1], -turned, rtol=0, atol=1e-9)
    # the motor turns the wheel relative to the arm
    np.testing.assert_allclose(out["rsda_angle"][..., 2], turned - WRIST[:, None], rtol=0, atol=1e-9)
    np.testing.assert_allclose(out["motor_effort"][..., 0], turned, rtol=0, atol=1e-8)
    np.testing.assert_allclose(out["energy_potential"], 0.5 * turned**2, rtol=0, atol=1e-7)


def test_a_late_start_equals_its_single_run() -> None:
    model = started(jnp.asarray(ANGLES), jnp.asarray(WRIST))
    batch = mbs.initial_state(model)
    for lane in (1, 4):
        alone = mbs.initial_state(started(jnp.asarray(ANGLES[lane]), jnp.asarray(WRIST[lane])))
        for got, want in zip(jax.tree.leaves(batch), jax.tree.leaves(alone), strict=True):
            np.testing.assert_allclose(got[lane], want, rtol=0, atol=1e-13)


@pytest.mark.slow
def test_a_run_goes_on_from_its_end() -> None:
    """A state has its turns already: nothing is added again."""
    model = started(jnp.asarray(10.0), jnp.asarray(-7.0))
    first = mbs.simulate(model, t1=0.5, dt=0.1, save_at=[0.5])
    last = jax.tree.map(lambda leaf: leaf[-1], first.ys)
    second = mbs.simulate(model, t0=0.5, t1=1.0, dt=0.1, save_dt=0.5, state=last).outputs()
    np.testing.assert_allclose(second["motor_pos"], [[10.5, -7.0], [11.0, -7.0]], rtol=0, atol=1e-9)
    np.testing.assert_allclose(second["rsda_angle"][:, 0], [10.5, 11.0], rtol=0, atol=1e-9)


@functools.cache
def reverse_derivative() -> Any:
    def measured(angle: Array) -> Array:
        state = mbs.initial_state(started(angle, jnp.asarray(0.0)))
        return jnp.stack([state.pos[3, 0], state.vel[3, 0], state.aux[-1][0, 0]])

    return jax.jit(jax.jacrev(measured))


@pytest.mark.slow
@pytest.mark.parametrize("start", [0.3, 3.0, 10.0])
def test_the_start_angle_is_differentiable(start: float) -> None:
    """The rim is 0.3 m from the axis, at the angle f(0), and turns by 1 rad/s; the spring's angle is f(0)."""
    want = [-0.3 * np.sin(start), -0.3 * np.cos(start), 1.0]
    np.testing.assert_allclose(reverse_derivative()(jnp.asarray(start)), want, rtol=0, atol=1e-9)


def driven_four_bar(angle: float) -> mbs.ModelDescription:
    """The crank of the four-bar is a motor's, at `angle` from the pose of the file."""
    description = four_bar()
    description.joints.pop(0)
    description.add_motor(
        "drive",
        mbs.MotorKind.ROTATION,
        "crank",
        "ground",
        pos=ORIGIN,
        axis=(0.0, 1.0, 0.0),
        actuation=mbs.Actuation.POSITION,
        function=FunctionDescription.constant(angle),
    )
    return description


def test_a_closed_chain_follows_a_large_jump() -> None:
    """The crank goes by 10 rad; the loop closes, in the branch of the file, as the same angle less two turns."""
    states = [mbs.initial_state(mbs.compile_model(driven_four_bar(10.0 - turns))) for turns in (0.0, 4 * np.pi)]
    np.testing.assert_allclose(states[0].pos, states[1].pos, rtol=0, atol=1e-9)
    description = driven_four_bar(0.0)
    description.motors[0].function = FunctionDescription.ramp(10.0 - 4 * np.pi)
    end = mbs.simulate(mbs.compile_model(description), t1=1.0, dt=0.01, save_at=[1.0]).ys
    np.testing.assert_allclose(states[0].pos, end.pos[0], rtol=0, atol=1e-6)


# ---- velocities that contradict each other


def contradiction(first: float, second: float) -> mbs.ModelDescription:
    """Two motors on one slide that ask for different speeds."""
    description = mbs.ModelDescription(gravity=np.zeros(3))
    description.add_body("ground", fixed=True)
    description.add_body("block", mass=1.0, inertia=(1.0, 1.0, 1.0))
    motors = (("slow", first, mbs.Actuation.SPEED, mbs.Guide.PRISMATIC), ("fast", second, None, mbs.Guide.FREE))
    for name, speed, actuation, guide in motors:
        speeds = FunctionDescription.constant(speed) if actuation else FunctionDescription.ramp(speed)
        description.add_motor(
            name,
            mbs.MotorKind.LINEAR,
            "block",
            "ground",
            pos=ORIGIN,
            axis=(1.0, 0.0, 0.0),
            actuation=actuation or mbs.Actuation.POSITION,
            function=speeds,
            guide=guide,
        )
    return description


def test_speeds_that_contradict_each_other_are_named() -> None:
    with pytest.raises(mbs.SimulationError, match="no velocities at the start satisfy the constraints") as error:
        mbs.simulate(mbs.compile_model(contradiction(1.0, 2.0)), t1=0.1, dt=0.1)
    # the nearest speed is 1.5 m/s
    assert "slow is off by 0.5 m/s" in str(error.value) and "fast is off by 0.5 m/s" in str(error.value)
    solution = error.value.solution
    assert isinstance(solution, mbs.Solution)
    assert int(solution.status) == mbs.Status.START_VELOCITY and float(solution.failed_at) == 0.0
    assert float(solution.rate_gap) == pytest.approx(0.5, abs=1e-6)


def test_speeds_that_contradict_each_other_in_a_batch() -> None:
    pairs = ((1.0, 1.0), (1.0, 3.0))
    model = mbs.stack([mbs.compile_model(contradiction(*pair)) for pair in pairs])
    solution = mbs.simulate(model, t1=0.1, dt=0.1, save_at=[0.1])
    np.testing.assert_array_equal(solution.status, [mbs.Status.OK, mbs.Status.START_VELOCITY])
    np.testing.assert_allclose(solution.rate_gap, [0.0, 1.0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(solution.ys.pos[0, 0, 1], [0.1, 0.0, 0.0], rtol=0, atol=1e-9)
    assert solution.explain(0) == "finished"
    assert "slow is off by 1 m/s" in solution.explain(1) and "fast is off by 1 m/s" in solution.explain(1)
    with pytest.raises(ValueError, match=r"explain needs 1 indices for a batch of shape \(2,\), got 0"):
        solution.explain()
    with pytest.raises(mbs.SimulationError, match="of instance 1: slow is off by 1 m/s"):
        mbs.initial_state(model)


def test_a_motor_between_fixed_bodies_is_named() -> None:
    description = mbs.ModelDescription(gravity=np.zeros(3))
    description.add_body("ground", fixed=True)
    description.add_body("wall", fixed=True)
    description.add_body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
    description.add_motor(
        "spin",
        mbs.MotorKind.ROTATION,
        "wall",
        "ground",
        pos=ORIGIN,
        axis=Z,
        actuation=mbs.Actuation.SPEED,
        function=FunctionDescription.constant(0.75),
    )
    with pytest.raises(mbs.SimulationError, match="spin is off by 0.75 m/s or rad/s"):
        mbs.simulate(mbs.compile_model(description), t1=0.1, dt=0.1)


def test_joints_that_stay_open_are_named_at_the_start() -> None:
    """A weld and a motor that asks for 0.25 m + t: named as of t = 0, whatever is saved, and in a batch."""
    description = mbs.ModelDescription()
    description.add_body("ground", fixed=True)
    description.add_body("block", mass=1.0, inertia=(1.0, 1.0, 1.0))
    description.add_joint("weld", mbs.JointKind.LOCK, "ground", "block", pos=ORIGIN)
    description.add_motor(
        "pusher",
        mbs.MotorKind.LINEAR,
        "block",
        "ground",
        pos=ORIGIN,
        axis=(1.0, 0.0, 0.0),
        actuation=mbs.Actuation.POSITION,
        function=FunctionDescription.ramp(1.0, 0.25),
    )
    solution = mbs.simulate(mbs.broadcast(mbs.compile_model(description), 2), t1=0.1, dt=0.1, save_at=[0.1])
    np.testing.assert_array_equal(solution.status, mbs.Status.ASSEMBLY_FAILED)
    assert "weld is open by 0.125" in solution.explain(1) and "pusher is open by 0.125" in solution.explain(1)
