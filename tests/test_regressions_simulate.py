"""Runs of `simulate` that once went wrong, or could: one free body, or a motor and a free body."""

import functools
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

import jaxmbs as mbs
from jaxmbs import FunctionDescription
from jaxmbs.solvers import RungeKutta


@functools.cache
def ball() -> mbs.Model:
    """A free body of 2 kg without gravity, pushed by the external load `push`."""
    description = mbs.ModelDescription(gravity=np.zeros(3))
    description.add_body("ball", mass=2.0, inertia=(1.0, 1.0, 1.0), vel=(0.5, 0.0, 0.0))
    description.add_load("push", mbs.LoadKind.FORCE, "ball", local_load=False, input="push")
    return mbs.compile_model(description)


def cart(function: FunctionDescription, actuation: mbs.Actuation) -> mbs.Model:
    """A motor moves a cart along X."""
    description = mbs.ModelDescription(gravity=np.zeros(3))
    description.add_body("ground", fixed=True)
    description.add_body("cart", mass=2.0, inertia=(1.0, 1.0, 1.0))
    description.add_motor(
        "drive",
        mbs.MotorKind.LINEAR,
        "cart",
        "ground",
        pos=(0.0, 0.0, 0.0),
        axis=(1.0, 0.0, 0.0),
        actuation=actuation,
        function=function,
    )
    return mbs.compile_model(description)


# functions of the module: runs with the same one share their compilation
def nan_after_half(t: Array, state: mbs.State) -> Array:
    return jnp.where(t > 0.5, jnp.nan, 1.0) * jnp.array([1.0, 0.0, 0.0])


def nan_after_half_if_fast(t: Array, state: mbs.State) -> Array:
    """NaN where the body started with a positive speed along Y."""
    return jnp.where((t > 0.5) & (state.vel[0, 1] > 0), jnp.nan, 1.0) * jnp.array([1.0, 0.0, 0.0])


SAVES = {"every step": None, "before the failure": [0.0, 0.3], "off the grid": [0.123, 0.321, 0.777], "last": [1.0]}


@pytest.mark.parametrize("saves", SAVES)
def test_a_run_that_fails_raises_whatever_it_saves(saves: str) -> None:
    with pytest.raises(mbs.SimulationError, match="became infinite or not a number") as error:
        mbs.simulate(ball(), t1=1.0, dt=0.1, save_at=SAVES[saves], inputs={"push": nan_after_half})
    solution = error.value.solution
    assert isinstance(solution, mbs.Solution)
    assert int(solution.status) == mbs.Status.DIVERGED
    # the step from 0.5 to 0.6 is the first one with stages after 0.5
    assert float(solution.failed_at) == pytest.approx(0.6, abs=1e-12)
    early = np.asarray(solution.ts) <= 0.5 + 1e-9
    x = 0.5 * np.asarray(solution.ts) + 0.25 * np.asarray(solution.ts) ** 2
    np.testing.assert_allclose(np.asarray(solution.ys.pos)[early, 0, 0], x[early], rtol=0, atol=1e-12)
    assert np.all(np.isfinite(solution.ys.pos))


def test_only_the_lane_that_fails_has_a_status() -> None:
    speeds = np.array([0.0, 1.0, -1.0])
    vel = np.stack([[[0.5, speed, 0.0]] for speed in speeds])
    model = eqx.tree_at(lambda m: m.bodies.vel, ball(), jnp.asarray(vel))
    options: dict[str, Any] = {"t1": 1.0, "dt": 0.1, "inputs": {"push": nan_after_half_if_fast}}
    batch = mbs.simulate(model, save_at=[0.25, 0.9], **options)
    np.testing.assert_array_equal(batch.status, [mbs.Status.OK, mbs.Status.DIVERGED, mbs.Status.OK])
    np.testing.assert_allclose(batch.failed_at, [np.inf, 0.6, np.inf], rtol=0, atol=1e-12)
    single = eqx.tree_at(lambda m: m.bodies.vel, ball(), jnp.asarray(vel[2]))
    alone = mbs.simulate(single, save_at=[0.25, 0.9], **options)
    for got, want in zip(jax.tree.leaves(batch.ys), jax.tree.leaves(alone.ys), strict=True):
        np.testing.assert_allclose(got[2], want, rtol=0, atol=1e-14)
    np.testing.assert_allclose(batch.ys.pos[1, 0, 0], [0.125 + 0.25**3, 0.25, 0.0], rtol=0, atol=1e-12)


def test_callable_position_has_its_acceleration() -> None:
    """The second derivative of a callable reaches the acceleration, not only its value and rate."""
    model = cart(FunctionDescription.controller("place"), mbs.Actuation.POSITION)
    solution = mbs.simulate(model, t1=1.0, dt=0.05, save_dt=0.25, inputs={"place": lambda t, state: jnp.sin(t)})
    out, t = solution.outputs(), np.asarray(solution.ts)
    np.testing.assert_allclose(out["body_pos"][:, 1, 0], np.sin(t), rtol=0, atol=1e-12)
    np.testing.assert_allclose(out["body_vel"][:, 1, 0], np.cos(t), rtol=0, atol=1e-12)
    np.testing.assert_allclose(out["body_acc"][:, 1, 0], -np.sin(t), rtol=0, atol=1e-12)
    np.testing.assert_allclose(out["motor_effort"][:, 0], -2 * np.sin(t), rtol=0, atol=1e-11)


class Spring(eqx.Module):
    """A controller with parameters: a spring and a damper to the origin."""

    gains: Array

    def __call__(self, t: Array, state: mbs.State) -> Array:
        return -self.gains[0] * state.pos[0] - self.gains[1] * state.vel[0]


GAINS = jnp.array([8.0, 0.6])


def end_of(gains: Array, adjoint: diffrax.AbstractAdjoint | None = None) -> Array:
    run = mbs.simulate(ball(), t1=1.0, dt=0.05, save_at=[1.0], inputs={"push": Spring(gains)}, adjoint=adjoint)
    return run.ys.pos[0, 0, 0]


@functools.cache
def reverse_mode() -> Array:
    return jax.grad(end_of)(GAINS)


def test_controller_with_parameters_is_differentiable() -> None:
    # x'' + 0.3 x' + 4 x = 0 from x = 0 at 0.5 m/s
    rate = np.sqrt(4 - 0.15**2)
    assert float(end_of(GAINS)) == pytest.approx(0.5 / rate * np.exp(-0.15) * np.sin(rate), abs=1e-7)
    h = 1e-4
    want = [float(end_of(GAINS + h * unit) - end_of(GAINS - h * unit)) / (2 * h) for unit in jnp.eye(2)]
    np.testing.assert_allclose(reverse_mode(), want, rtol=0, atol=1e-9)
    assert abs(want[0]) > 1e-3


def test_forward_mode_equals_reverse_mode() -> None:
    tangent = jnp.array([1.0, -0.5])
    _, got = jax.jvp(lambda gains: end_of(gains, diffrax.ForwardMode()), (GAINS,), (tangent,))
    assert float(got) == pytest.approx(float(reverse_mode() @ tangent), abs=1e-9)


BENT = [[0.0, 0.0], [0.3, 1.0], [0.437, -1.0], [2.0, 0.5]]


def bent_speed_integral(t: np.ndarray) -> np.ndarray:
    """The exact integral of BENT from 0."""
    table = np.array(BENT)
    fine = np.unique(np.concatenate([t, table[:, 0], [0.0]]))
    values = np.interp(fine, *table.T)
    sums = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(fine) * (values[1:] + values[:-1]))])
    return np.interp(t, fine, sums)


@functools.cache
def bent_cart() -> mbs.Model:
    return cart(FunctionDescription.data(BENT), mbs.Actuation.SPEED)


def test_h_is_the_step_that_no_kink_cuts() -> None:
    """One kink on the grid, one off it: the step is cut, the position exact, and h stays what was asked for."""
    solution = mbs.simulate(bent_cart(), t1=1.0, dt=0.1)
    assert float(solution.h) == pytest.approx(0.1, rel=1e-15)
    assert int(solution.steps) == 11 and solution.ts.shape == (12,)
    t = np.asarray(solution.ts)
    np.testing.assert_allclose(solution.ys.pos[:, 1, 0], bent_speed_integral(t), rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.ys.vel[:, 1, 0], np.interp(t, *np.array(BENT).T), rtol=0, atol=1e-12)


def test_adaptive_steps_through_kinks() -> None:
    solution = mbs.simulate(bent_cart(), t1=1.0, dt=0.1, save_dt=0.25, integrator=RungeKutta(rtol=1e-8, atol=1e-10))
    t = np.asarray(solution.ts)
    assert float(solution.h) == pytest.approx(0.1, rel=1e-15)
    np.testing.assert_allclose(solution.ys.pos[:, 1, 0], bent_speed_integral(t), rtol=0, atol=1e-8)
    np.testing.assert_allclose(solution.ys.vel[:, 1, 0], np.interp(t, *np.array(BENT).T), rtol=0, atol=1e-8)


def test_adaptive_steps_meet_the_closed_form() -> None:
    solution = mbs.simulate(
        ball(),
        t1=1.0,
        dt=0.5,
        save_at=[0.4, 1.0],
        inputs={"push": Spring(GAINS)},
        integrator=RungeKutta(rtol=1e-9, atol=1e-11),
    )
    rate, t = np.sqrt(4 - 0.15**2), np.array([0.4, 1.0])
    want = 0.5 / rate * np.exp(-0.15 * t) * np.sin(rate * t)
    # saves between steps are interpolated by a cubic, the end is not
    assert float(solution.ys.pos[1, 0, 0]) == pytest.approx(want[1], abs=1e-8)
    assert float(solution.ys.pos[0, 0, 0]) == pytest.approx(want[0], abs=1e-5)
    assert int(solution.steps) > 2  # 0.5 s is too long a step for this tolerance


def test_vmap_equals_the_native_batch() -> None:
    masses = jnp.array([[1.0], [2.0], [5.0]])

    def run(mass: Array) -> mbs.Solution:
        model = eqx.tree_at(lambda m: m.bodies.mass, ball(), mass)
        return mbs.simulate(model, t1=1.0, dt=0.05, save_dt=0.5, inputs={"push": Spring(GAINS)})

    mapped, native = jax.vmap(lambda mass: run(mass).ys)(masses), run(masses).ys
    for got, want in zip(jax.tree.leaves(mapped), jax.tree.leaves(native), strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-13)
    assert np.ptp(np.asarray(native.pos)[:, -1, 0, 0]) > 0.01


def test_a_leaf_of_a_wrong_shape_is_named() -> None:
    model = eqx.tree_at(lambda m: m.bodies.mass, ball(), jnp.ones(3))
    with pytest.raises(ValueError, match=r"bodies\.mass has the shape \(3,\), but needs \(1,\) after any batch axes"):
        mbs.simulate(model, t1=1.0, dt=0.1)


def test_inputs_that_are_unknown_or_missing_are_named() -> None:
    with pytest.raises(ValueError, match="the model has no input 'pusch'; did you mean 'push'"):
        mbs.simulate(ball(), t1=1.0, dt=0.1, inputs={"pusch": nan_after_half})
    with pytest.raises(ValueError, match="the model has no input 'wind'; the model's inputs are: push"):
        mbs.simulate(ball(), t1=1.0, dt=0.1, inputs={"wind": nan_after_half})
    driven = cart(FunctionDescription.controller("place"), mbs.Actuation.POSITION)
    with pytest.raises(ValueError, match="the input 'place' is missing: give inputs="):
        mbs.simulate(driven, t1=1.0, dt=0.1)
    with pytest.raises(ValueError, match="POSITION motor 'drive': its input must be a function of time alone"):
        mbs.simulate(driven, t1=1.0, dt=0.1, inputs={"place": lambda t, state: state.pos[0, 0]})


def test_assembly_that_fails_names_the_joints() -> None:
    """A weld and a motor that asks for 0.25 m: the nearest pose shares the gap between them."""
    description = mbs.ModelDescription()
    description.add_body("ground", fixed=True)
    description.add_body("block", mass=1.0, inertia=(1.0, 1.0, 1.0))
    description.add_joint("weld", mbs.JointKind.LOCK, "ground", "block", pos=(0.0, 0.0, 0.0))
    description.add_motor(
        "pusher",
        mbs.MotorKind.LINEAR,
        "block",
        "ground",
        pos=(0.0, 0.0, 0.0),
        axis=(1.0, 0.0, 0.0),
        actuation=mbs.Actuation.POSITION,
        function=FunctionDescription.constant(0.25),
    )
    with pytest.raises(mbs.SimulationError, match="the start pose could not be assembled") as error:
        mbs.simulate(mbs.compile_model(description), t1=0.1, dt=0.1)
    assert "weld is open by 0.125" in str(error.value) and "pusher is open by 0.125" in str(error.value)
    assert isinstance(error.value.solution, mbs.Solution)
    assert int(error.value.solution.status) == mbs.Status.ASSEMBLY_FAILED


@functools.cache
def jumping_pendulum() -> mbs.Model:
    """A pendulum hangs from a cart whose speed falls back to zero every 0.4 s; the cart's jumps kick it."""
    description = mbs.ModelDescription()
    description.add_body("ground", fixed=True)
    description.add_body("cart", mass=2.0, inertia=(1.0, 1.0, 1.0))
    description.add_body("bob", mass=1.0, inertia=(0.02, 0.02, 0.02), pos=(0.0, 0.0, -0.5))
    description.add_joint("hinge", mbs.JointKind.REVOLUTE, "cart", "bob", pos=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    description.add_motor(
        "drive",
        mbs.MotorKind.LINEAR,
        "cart",
        "ground",
        pos=(0.0, 0.0, 0.0),
        axis=(1.0, 0.0, 0.0),
        actuation=mbs.Actuation.SPEED,
        function=FunctionDescription.ramp(2.0, repeat=mbs.Repeat(0.0, 0.4, 0.0)),
    )
    return mbs.compile_model(description)


def exact_angle() -> float:
    """The pendulum's angle at t = 1 by its equation of motion alone, with the kicks from angular momentum.

    J x'' = -m l (g sin x + a cos x) with the acceleration a of the cart, and J dx' = -m l cos x dv where its speed
    jumps by dv; x is the angle that moves the bob towards +X.
    """
    moment, inertia = 1.0 * 0.5, 0.02 + 1.0 * 0.5**2

    def slope(y: np.ndarray) -> np.ndarray:
        return np.array([y[1], -moment / inertia * (9.81 * np.sin(y[0]) + 2.0 * np.cos(y[0]))])

    y = np.zeros(2)
    for span, jump in ((0.4, -0.8), (0.4, -0.8), (0.2, 0.0)):
        h = span / 400
        for _ in range(400):
            k1 = slope(y)
            k2 = slope(y + h / 2 * k1)
            k3 = slope(y + h / 2 * k2)
            k4 = slope(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        y[1] -= moment / inertia * np.cos(y[0]) * jump
    return float(y[0])


def error_of_step(dt: float) -> float:
    """The error of the place of the bob at t = 1, when the cart is at 2 * 0.16 + 0.04."""
    pos = np.asarray(mbs.simulate(jumping_pendulum(), t1=1.0, dt=dt, save_at=[1.0]).ys.pos)[0]
    assert pos[1, 0] == pytest.approx(0.36, abs=1e-12)
    angle = exact_angle()
    assert abs(angle) > 0.1  # the bob really was kicked
    return float(np.linalg.norm(pos[2] - [0.36 + 0.5 * np.sin(angle), 0.0, -0.5 * np.cos(angle)]))


def test_a_jump_of_a_speed_is_applied_at_the_start_of_the_step() -> None:
    """Left to the end of the step that follows it, the kick of the pendulum would be wrong by a first-order term."""
    coarse, fine = error_of_step(0.1), error_of_step(0.05)
    assert coarse < 1e-4
    assert coarse / fine > 4  # second order at least; the method alone is of fifth
