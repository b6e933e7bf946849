"""External values: what drives CONTROLLER functions and load controllers."""

import dataclasses
import difflib
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._functions import FunctionValues
from jaxmbs._lanes import batch_shape, to_lanes
from jaxmbs._math.table import interpolate
from jaxmbs._model import Model
from jaxmbs._state import State
from jaxmbs._tracing import is_traced


#: A function of (time, state of one instance), or (times, values).
Input = Callable[[Array, State], Any] | tuple[Any, Any]


class Samples(eqx.Module):
    """Samples of an external value, linear in between and held at the ends.

    - times: (samples,); values: (*batch, samples, components).
    """

    times: Array
    values: Array


class Inputs(eqx.Module):
    """All external values of a run, by name.

    A function may be a pytree with arrays in it (a controller with parameters), which are shared by all instances.
    """

    samples: dict[str, Samples]
    functions: dict[str, Callable[[Array, State], Any]]
    components: tuple[tuple[str, int], ...] = eqx.field(static=True)

    def times(self) -> np.ndarray | None:
        """All sample times, or `None` when they are traced."""
        times = [item.times for item in self.samples.values()]
        if is_traced(times):
            return None
        return np.unique(np.concatenate([np.asarray(item) for item in times])) if times else np.zeros(0)

    def batch_shape(self) -> tuple[int, ...]:
        """The batch shape of the samples; functions have none."""
        return batch_shape(self.samples, self.sample_ndims())

    def to_lanes(self, batch: tuple[int, ...]) -> "Inputs":
        """Samples with lanes last: times (samples, 1), values (samples, components, lanes)."""
        return Inputs(to_lanes(self.samples, self.sample_ndims(), batch), self.functions, self.components)

    def with_time_axis(self) -> "Inputs":
        """Batched samples with one more batch axis at the end, for save times."""
        samples = {
            name: Samples(item.times, item.values if item.values.ndim == 2 else jnp.expand_dims(item.values, -3))
            for name, item in self.samples.items()
        }
        return Inputs(samples, self.functions, self.components)

    def sample_ndims(self) -> tuple[int, ...]:
        """Axes of every leaf of `samples` without a batch."""
        return tuple(ndim for _ in self.samples for ndim in (1, 2))


def make_inputs(model: Model, inputs: Mapping[str, Input] | None) -> Inputs:
    """Check and arrange what the user gives.

    **Raises** `ValueError` for an unknown name, a missing one (load controllers default to zero), or samples of the
    wrong shape, with times that do not increase or numbers that are not finite.
    """
    wanted = model.input_names()
    if inputs is not None and not isinstance(inputs, Mapping):
        raise TypeError(f"inputs needs a mapping from names to values, got {type(inputs).__name__}")
    given = dict(inputs or {})
    samples: dict[str, Samples] = {}
    functions: dict[str, Callable[[Array, State], Any]] = {}
    for name in given:
        if name not in wanted:
            close = difflib.get_close_matches(str(name), wanted, n=1)
            known = f"did you mean {close[0]!r}?" if close else f"the model's inputs are: {', '.join(wanted) or 'none'}"
            raise ValueError(f"the model has no input {name!r}; {known}")
    for name, size in wanted.items():
        if name not in given:
            if size == 1:
                raise ValueError(
                    f"the input {name!r} is missing: give inputs={{{name!r}: f(t, state) or (times, values)}}"
                )
            samples[name] = Samples(jnp.zeros(1, model.dtype), jnp.zeros((1, size), model.dtype))
        elif callable(given[name]):
            functions[name] = given[name]  # pyright: ignore[reportArgumentType]
        else:
            samples[name] = _samples(name, size, given[name], model)
    return Inputs(samples, functions, tuple(wanted.items()))


def _samples(name: str, size: int, pair: Any, model: Model) -> Samples:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ValueError(f"input {name!r} needs a function of (t, state) or a pair (times, values), got {type(pair)}")
    try:
        times, values = jnp.asarray(pair[0], model.dtype), jnp.asarray(pair[1], model.dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"input {name!r} needs times and values that are numbers: {error}") from None
    if size == 1:
        values = values[..., None]
    if times.ndim != 1 or times.shape[0] < 1 or values.ndim < 2 or values.shape[-2:] != (times.shape[0], size):
        shape = "(samples,)" if size == 1 else f"(samples, {size})"
        raise ValueError(f"input {name!r} needs times (samples,) and values {shape}, got {times.shape}, {pair[1]!r}")
    if not is_traced((times, values)):
        if not (np.all(np.isfinite(times)) and np.all(np.isfinite(values))):
            raise ValueError(f"input {name!r} has values that are not finite")
        if np.any(np.diff(np.asarray(times)) <= 0):
            raise ValueError(f"the times of input {name!r} must increase")
    return Samples(times, values)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class InputValue:
    """An external value with its first two time derivatives, each (components, lanes)."""

    value: Array
    rate: Array
    acceleration: Array


def evaluate_inputs(inputs: Inputs, time: Array, selector: Array, state: Callable[[], State]) -> dict[str, InputValue]:
    """Every external value by name.

    The rates are in time alone, for a state that is held: motions are prescribed by functions of time.

    **Arguments:**

    - inputs: in lanes: times (samples, 1), values (samples, components, lanes).
    - time, selector: (1, lanes) or (1, 1), see `Functions.evaluate`.
    - state: gives the state of all lanes, lanes leading, for inputs that are functions of it.
    """
    result: dict[str, InputValue] = {}
    for name, size in inputs.components:
        if name in inputs.samples:
            samples = inputs.samples[name]
            ordinates = jnp.moveaxis(samples.values, 1, 0)

            def sampled(t: Array, samples: Samples = samples, ordinates: Array = ordinates, size: int = size) -> Array:
                t = jnp.broadcast_to(t, (size, t.shape[-1]))
                chosen = jnp.broadcast_to(selector, (size, selector.shape[-1]))
                return interpolate(samples.times[None], ordinates, t, chosen)

            value, rate = jax.jvp(sampled, (time,), (jnp.ones_like(time),))
            result[name] = InputValue(value, rate, jnp.zeros_like(value))
        else:
            result[name] = _called(name, inputs.functions[name], size, time, state())
    return result


def _called(name: str, function: Callable[[Array, State], Any], size: int, time: Array, state: State) -> InputValue:
    lanes = state.pos.shape[0]
    dtype = state.pos.dtype

    def one(t: Array, s: State) -> Array:
        try:
            value = jnp.asarray(function(t, s), dtype)
        except Exception as error:
            raise ValueError(
                f"input {name!r} failed when it was called with (t, state of one instance): "
                f"{type(error).__name__}: {error}"
            ) from error
        if value.size != size:
            raise ValueError(f"input {name!r} must return {size} number(s), got shape {value.shape}")
        return value.reshape(size)

    def derivatives(t: Array, s: State) -> tuple[Array, Array, Array]:
        def first(t: Array) -> tuple[Array, Array]:
            return jax.jvp(lambda t: one(t, s), (t,), (jnp.ones_like(t),))

        (value, rate), (_, acceleration) = jax.jvp(first, (t,), (jnp.ones_like(t),))
        return value, rate, acceleration

    times = jnp.broadcast_to(time[0], (lanes,))
    value, rate, acceleration = jax.vmap(derivatives)(times, state)
    return InputValue(value.T, rate.T, acceleration.T)


def function_inputs(model: Model, values: dict[str, InputValue], time: Array) -> FunctionValues:
    """The external values that are functions of the model, stacked (inputs, lanes)."""
    names = model.functions.inputs
    if not names:
        empty = jnp.zeros((0, time.shape[-1]), time.dtype)
        return FunctionValues(empty, empty, empty)
    lanes = max(values[name].value.shape[-1] for name in names)

    def stacked(part: str) -> Array:
        return jnp.concatenate([jnp.broadcast_to(getattr(values[name], part), (1, lanes)) for name in names])

    return FunctionValues(stacked("value"), stacked("rate"), stacked("acceleration"))
