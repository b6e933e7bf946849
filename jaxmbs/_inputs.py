"""External values: what drives CONTROLLER functions and load controllers."""

import difflib
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._functions import FunctionValues
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
    """All external values of a run, by name."""

    samples: dict[str, Samples]
    functions: dict[str, Callable[[Array, State], Any]]
    components: tuple[tuple[str, int], ...] = eqx.field(static=True)

    def times(self) -> np.ndarray | None:
        """All sample times, or `None` when they are traced."""
        times = [item.times for item in self.samples.values()]
        if is_traced(times):
            return None
        return np.unique(np.concatenate([np.asarray(item) for item in times])) if times else np.zeros(0)

    def leaf_ndims(self) -> tuple[int, ...]:
        """Axes of every array leaf without a batch."""
        return tuple(ndim for _ in self.samples for ndim in (1, 2))


def make_inputs(model: Model, inputs: Mapping[str, Input] | None) -> Inputs:
    """Check and arrange what the user gives.

    **Raises** `ValueError` for an unknown name, a missing one (load controllers default to zero), or samples of the
    wrong shape, with times that do not increase or numbers that are not finite.
    """
    wanted = model.input_names()
    given = dict(inputs or {})
    samples: dict[str, Samples] = {}
    functions: dict[str, Callable[[Array, State], Any]] = {}
    for name in given:
        if name not in wanted:
            close = difflib.get_close_matches(name, wanted, n=1)
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
    times, values = jnp.asarray(pair[0], model.dtype), jnp.asarray(pair[1], model.dtype)
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


def evaluate_inputs(inputs: Inputs, time: Array, selector: Array, state: Callable[[], State]) -> dict[str, Any]:
    """Every external value with its rate: name to a pair of arrays (components, lanes).

    **Arguments:**

    - inputs: in lanes: times (samples, 1), values (samples, components, lanes).
    - time, selector: (1, lanes) or (1, 1), see `Functions.evaluate`.
    - state: gives the state of all lanes, lanes leading, for inputs that are functions of it.
    """
    result: dict[str, tuple[Array, Array]] = {}
    for name, size in inputs.components:
        if name in inputs.samples:
            samples = inputs.samples[name]
            ordinates = jnp.moveaxis(samples.values, 1, 0)

            def sampled(t: Array, samples: Samples = samples, ordinates: Array = ordinates, size: int = size) -> Array:
                t = jnp.broadcast_to(t, (size, t.shape[-1]))
                chosen = jnp.broadcast_to(selector, (size, selector.shape[-1]))
                return interpolate(samples.times[None], ordinates, t, chosen)

            result[name] = jax.jvp(sampled, (time,), (jnp.ones_like(time),))
        else:
            result[name] = _called(name, inputs.functions[name], size, time, state())
    return result


def _called(name: str, function: Callable[[Array, State], Any], size: int, time: Array, state: State) -> Any:
    lanes = state.pos.shape[0]
    dtype = state.pos.dtype

    def one(t: Array, s: State) -> Array:
        value = jnp.asarray(function(t, s), dtype)
        if value.size != size:
            raise ValueError(f"input {name!r} must return {size} number(s), got shape {value.shape}")
        return value.reshape(size)

    times = jnp.broadcast_to(time[0], (lanes,))
    value, rate = jax.vmap(lambda t, s: jax.jvp(lambda t: one(t, s), (t,), (jnp.ones_like(t),)))(times, state)
    return value.T, rate.T


def function_inputs(model: Model, values: dict[str, tuple[Array, Array]], time: Array) -> FunctionValues:
    """The external values that are functions of the model, stacked (inputs, lanes)."""
    names = model.functions.inputs
    if not names:
        empty = jnp.zeros((0, time.shape[-1]), time.dtype)
        return FunctionValues(empty, empty, empty)
    lanes = max(values[name][0].shape[-1] for name in names)
    stacked = [jnp.concatenate([jnp.broadcast_to(values[name][i], (1, lanes)) for name in names]) for i in range(2)]
    return FunctionValues(stacked[0], stacked[1], jnp.zeros_like(stacked[0]))
