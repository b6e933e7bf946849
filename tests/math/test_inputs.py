"""External values: what is accepted, what they are between samples, and what is said about mistakes."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmbs as mbs
from jaxmbs._inputs import Inputs, evaluate_inputs, function_inputs, make_inputs
from jaxmbs._math.angle import unwrapped


def _model() -> mbs.Model:
    """A body with a FORCE motor driven by `throttle` and a load driven by `wind`."""
    description = mbs.ModelDescription()
    description.add_body("ground", fixed=True)
    description.add_body("body", mass=1.0, inertia=[1, 1, 1])
    description.add_motor(
        "motor",
        mbs.MotorKind.LINEAR,
        "body",
        "ground",
        pos=[0, 0, 0],
        axis=[0, 0, 1],
        actuation=mbs.Actuation.FORCE,
        function=mbs.FunctionDescription.controller("throttle"),
    )
    description.add_load("wind", mbs.LoadKind.FORCE, "body", input="wind")
    return mbs.compile_model(description)


MODEL = _model()


def _state(lanes: int) -> mbs.State:
    state = mbs.State(
        pos=jnp.arange(6.0).reshape(2, 3),
        quat=jnp.tile(jnp.array([1.0, 0, 0, 0]), (2, 1)),
        vel=jnp.zeros((2, 3)),
        omega=jnp.zeros((2, 3)),
        aux=(),
        work=jnp.zeros(3),
    )
    scale = jnp.arange(1.0, lanes + 1)
    return jax.tree.map(lambda leaf: leaf[None] * scale.reshape(-1, *[1] * leaf.ndim), state)


def _evaluate(inputs: Inputs, times: Any) -> dict[str, Any]:
    time = jnp.asarray(times, dtype=jnp.float64)[None]
    return evaluate_inputs(inputs.to_lanes(()), time, time, lambda: _state(time.shape[1]))


def test_samples_are_linear_in_between_and_held_at_the_ends():
    inputs = make_inputs(MODEL, {"throttle": ([0.0, 1.0, 3.0], [2.0, 4.0, -2.0])})
    found = _evaluate(inputs, [-1.0, 0.5, 2.0, 5.0])["throttle"]
    np.testing.assert_allclose(found.value, [[2.0, 3.0, 1.0, -2.0]], rtol=1e-15)
    np.testing.assert_allclose(found.rate, [[0.0, 2.0, -3.0, 0.0]], rtol=1e-15)
    np.testing.assert_array_equal(found.acceleration, np.zeros((1, 4)))
    np.testing.assert_array_equal(inputs.times(), [0.0, 1.0, 3.0])


def test_samples_of_a_vector():
    values = [[1.0, 0.0, 0.0], [3.0, 2.0, -4.0]]
    found = _evaluate(make_inputs(MODEL, {"throttle": ([0.0], [1.0]), "wind": ([0.0, 2.0], values)}), [0.5])
    np.testing.assert_allclose(found["wind"].value[:, 0], [1.5, 0.5, -1.0], rtol=1e-15)
    np.testing.assert_allclose(found["wind"].rate[:, 0], [1.0, 1.0, -2.0], rtol=1e-15)
    assert found["throttle"].value.shape[0] == 1


def test_functions_of_time_bring_two_derivatives():
    times = np.array([0.1, 0.7])
    found = _evaluate(make_inputs(MODEL, {"throttle": lambda t, state: jnp.sin(3 * t)}), times)["throttle"]
    np.testing.assert_allclose(found.value[0], np.sin(3 * times), rtol=1e-14)
    np.testing.assert_allclose(found.rate[0], 3 * np.cos(3 * times), rtol=1e-14)
    np.testing.assert_allclose(found.acceleration[0], -9 * np.sin(3 * times), rtol=1e-14)


def test_functions_see_the_state_of_their_own_lane():
    inputs = make_inputs(MODEL, {"throttle": lambda t, state: t * state.pos[1, 2]})
    found = _evaluate(inputs, [1.0, 1.0, 2.0])["throttle"]
    np.testing.assert_allclose(found.value, [[5.0, 10.0, 30.0]], rtol=1e-15)
    # rates are in time alone, for a state that is held
    np.testing.assert_allclose(found.rate, [[5.0, 10.0, 15.0]], rtol=1e-15)
    stacked = function_inputs(MODEL, {"throttle": found}, jnp.ones((1, 3)))
    np.testing.assert_array_equal(stacked.value, found.value)


def test_load_controllers_default_to_zero():
    inputs = make_inputs(MODEL, {"throttle": ([0.0], [1.0])})
    np.testing.assert_array_equal(_evaluate(inputs, [0.3])["wind"].value, np.zeros((3, 1)))


def test_batched_samples_give_a_batch():
    values = np.arange(12.0).reshape(2, 3, 2)
    inputs = make_inputs(MODEL, {"throttle": ([0.0, 1.0], values)})
    assert inputs.batch_shape() == (2, 3)
    lanes = inputs.to_lanes((2, 3))
    assert lanes.samples["throttle"].values.shape == (2, 1, 6)
    np.testing.assert_array_equal(lanes.samples["throttle"].values[1, 0], values[..., 1].ravel())


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"throtle": 1.0}, "no input 'throtle'; did you mean 'throttle'?"),
        ({"brake": 1.0}, "no input 'brake'; the model's inputs are: throttle, wind"),
        (None, "the input 'throttle' is missing"),
        ({"throttle": 3.0}, "needs a function of .* or a pair"),
        ({"throttle": ([0.0, 1.0], [1.0])}, r"needs times \(samples,\) and values \(samples,\)"),
        ({"throttle": ([0.0], [1.0]), "wind": ([0.0, 1.0], [1.0, 2.0])}, r"values \(samples, 3\)"),
        ({"throttle": ([[0.0, 1.0]], [1.0, 2.0])}, "needs times"),
        ({"throttle": ([], [])}, "needs times"),
        ({"throttle": ([0.0, np.nan], [1.0, 2.0])}, "not finite"),
        ({"throttle": ([0.0, 1.0], [1.0, np.inf])}, "not finite"),
        ({"throttle": ([0.0, 0.0], [1.0, 2.0])}, "must increase"),
        ({"throttle": ([1.0, 0.0], [1.0, 2.0])}, "must increase"),
    ],
)
def test_mistakes_are_named(inputs: Any, message: str):
    with pytest.raises(ValueError, match=message):
        make_inputs(MODEL, inputs)


def test_a_function_of_the_wrong_size_is_named():
    inputs = make_inputs(MODEL, {"throttle": lambda t, state: jnp.stack([t, t])})
    with pytest.raises(ValueError, match=r"input 'throttle' must return 1 number\(s\), got shape \(2,\)"):
        _evaluate(inputs, [0.0])


def test_unwrapped_angles_take_the_nearest_branch():
    near = jnp.array([0.0, 3.0, -3.0, 6.5, 100.0])
    angle = jnp.array([0.3, -3.0, 3.0, 0.1, -2.0])
    found = np.asarray(unwrapped(angle, near))
    turns = (found - np.asarray(angle)) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-12)
    assert np.all(np.abs(found - np.asarray(near)) <= np.pi)
    # the branch is a constant: the derivative is that of the angle alone
    slopes = jax.vmap(jax.grad(unwrapped, argnums=(0, 1)))(angle, near)
    np.testing.assert_array_equal(slopes[0], np.ones(5))
    np.testing.assert_array_equal(slopes[1], np.zeros(5))
