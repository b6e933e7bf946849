"""Functions of time of a model, stacked by type."""

import dataclasses
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._math.table import interpolate


#: Kinks are step boundaries; more than this in one run is a mistake in the file.
MOST_KINKS = 1_000_000


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class FunctionValues:
    """Value and first two time derivatives of every function, each (functions, lanes)."""

    value: Array
    rate: Array
    acceleration: Array


class Functions(eqx.Module):
    """All functions of time of a model.

    CONSTANT, RAMP and POLYNOMIAL share one stack of coefficients. Functions with a `repeat` see the argument
    start + mod(t + shift, width).

    - coefficients: (polynomials, terms), a0 first.
    - sine: (sines, 4): amplitude, frequency [Hz], phase [rad], shift.
    - abscissae, ordinates: (tables, points).
    - repeat: (functions, 3): start, width, shift; not used where `repeated` is false.
    """

    coefficients: Array
    sine: Array
    abscissae: Array
    ordinates: Array
    repeat: Array
    repeated: tuple[bool, ...] = eqx.field(static=True)
    truncated: tuple[bool, ...] = eqx.field(static=True)
    #: For every function its group ("polynomial", "sine", "table", "input") and its place there.
    places: tuple[tuple[str, int], ...] = eqx.field(static=True)
    #: Names of the external values, in the order of the group "input".
    inputs: tuple[str, ...] = eqx.field(static=True)
    #: For every function the abscissae of its table, and its (start, width, shift) of a repeat, as they were loaded;
    #: several of either where models with different ones were stacked. They tell where kinks are.
    corners: tuple[tuple[tuple[float, ...], ...], ...] = eqx.field(static=True)
    periods: tuple[tuple[tuple[float, float, float] | None, ...], ...] = eqx.field(static=True)

    @property
    def count(self) -> int:
        return len(self.places)

    def _argument(self, time: Array, selector: Array) -> tuple[Array, Array]:
        """The argument of every function at `time`, and at `selector` in the same period: (functions, lanes)."""
        start, width, shift = self.repeat[:, 0], self.repeat[:, 1], self.repeat[:, 2]
        periods = (selector + shift) / width
        whole = jnp.where(jnp.asarray(self.truncated)[:, None], jnp.trunc(periods), jnp.floor(periods))
        offset = start + shift - whole * width
        repeated = jnp.asarray(self.repeated)[:, None]
        return jnp.where(repeated, time + offset, time), jnp.where(repeated, selector + offset, selector)

    def _values(self, time: Array, selector: Array, inputs: Array) -> Array:
        argument, chosen = self._argument(time, selector)

        def members(group: str) -> np.ndarray:
            return np.array([i for i, (name, _) in enumerate(self.places) if name == group], dtype=int)

        columns = {}
        index = members("polynomial")
        if index.size:
            x = argument[index]
            total = jnp.zeros_like(x)
            for i in reversed(range(self.coefficients.shape[1])):
                total = total * x + self.coefficients[:, i]
            columns["polynomial"] = total
        index = members("sine")
        if index.size:
            amplitude, frequency, phase, shift = (self.sine[:, i] for i in range(4))
            columns["sine"] = amplitude * jnp.sin(2 * np.pi * frequency * argument[index] + phase) + shift
        index = members("table")
        if index.size:
            columns["table"] = interpolate(self.abscissae, self.ordinates, argument[index], chosen[index])
        if members("input").size:
            columns["input"] = inputs
        shape = jnp.broadcast_shapes(*(column.shape[1:] for column in columns.values()))
        rows = [jnp.broadcast_to(columns[group][i], shape) for group, i in self.places]
        return jnp.stack(rows)

    def evaluate(self, time: Array, selector: Array, inputs: FunctionValues) -> FunctionValues:
        """Values and derivatives of all functions.

        **Arguments:**

        - time: (1, lanes) or (1, 1).
        - selector: the same shape: an instant inside the present time step. It selects the segments of tables and
          the period of repeats, so that one step sees one smooth piece.
        - inputs: values of the external functions.
        """
        if self.count == 0:
            empty = jnp.zeros((0, *time.shape[1:]), time.dtype)
            return FunctionValues(empty, empty, empty)
        one = jnp.ones_like(time)

        def first(t: Array, f: Array, df: Array) -> tuple[Array, Array]:
            return jax.jvp(lambda t, f: self._values(t, selector, f), (t, f), (one, df))

        (value, rate), (_, acceleration) = jax.jvp(
            first, (time, inputs.value, inputs.rate), (one, inputs.rate, inputs.acceleration)
        )
        return FunctionValues(value, rate, acceleration)

    def kinks(self, t0: float, t1: float) -> list[float]:
        """Times in (t0, t1) at which a table, as it was loaded, changes its slope or a repeat starts anew."""
        times: set[float] = set()
        for corners, periods, truncated in zip(self.corners, self.periods, self.truncated, strict=True):
            for abscissae, repeat in itertools.product(corners, periods):
                times.update(abscissae if repeat is None else _repeated_kinks(abscissae, repeat, truncated, t0, t1))
        return sorted(time for time in times if t0 < time < t1)


def _repeated_kinks(
    abscissae: tuple[float, ...], repeat: tuple[float, float, float], truncated: bool, t0: float, t1: float
) -> list[float]:
    start, width, shift = repeat
    if (t1 - t0) / width * (1 + len(abscissae)) > MOST_KINKS:
        raise ValueError(f"a repeat of width {width:g} s has too many kinks in a run of {t1 - t0:g} s")
    times: list[float] = []
    for period in range(int(np.floor((t0 + shift) / width)), int(np.ceil((t1 + shift) / width)) + 1):
        origin = period * width - shift
        times.append(origin)
        # a truncated remainder of a negative argument runs from -width to 0
        first = start - width if truncated and period < 0 else start
        times.extend(origin + x - first for x in abscissae if first <= x <= first + width)
    return times


def merged_kinks(functions: "list[Functions]") -> "list[Functions]":
    """The same functions, all with the kinks of all of them, so that they can be stacked."""
    if len({(f.places, len(f.periods)) for f in functions}) > 1:
        return functions
    corners = tuple(tuple(sorted(set().union(*parts))) for parts in zip(*(f.corners for f in functions), strict=True))
    periods = tuple(tuple(dict.fromkeys(sum(parts, ()))) for parts in zip(*(f.periods for f in functions), strict=True))
    return [dataclasses.replace(f, corners=corners, periods=periods) for f in functions]
