"""The equations of motion as a Diffrax term."""

import dataclasses
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from jaxmbs.dynamics.acceleration import solve_motion, state_rate
from jaxmbs.dynamics.system import LaneState, System


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class StepArguments:
    """The `args` of the term: the system, and an instant inside the present step (see `Functions.evaluate`)."""

    system: System
    selector: Array


@eqx.filter_jit
def _rate(system: System, time: Array, selector: Array, y: LaneState) -> LaneState:
    """dy/dt. Compiled as one function so that JAX traces and differentiates it once, however often it is used."""
    return state_rate(system, y, solve_motion(system, time, selector, y))


class MultibodyTerm(diffrax.AbstractTerm[LaneState, Array]):
    """dy/dt of a mechanism in the kernel layout, index-1 form.

    The solvers of `jaxmbs.solvers` pass a `StepArguments` as `args`.
    """

    def vf(self, t: Any, y: LaneState, args: StepArguments) -> LaneState:
        return _rate(args.system, jnp.reshape(t, (1, 1)), args.selector, y)

    def contr(self, t0: Any, t1: Any, **kwargs: Any) -> Array:
        return t1 - t0

    def prod(self, vf: LaneState, control: Array) -> LaneState:
        return jax.tree.map(lambda leaf: control * leaf, vf)
