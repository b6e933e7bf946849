"""What a step does with lanes that fail: they keep what they have, and say when and why."""

import dataclasses

import jax
import jax.numpy as jnp
from jax import Array

from jaxmbs._calls import call
from jaxmbs._gather import halved
from jaxmbs._results import Status
from jaxmbs.dynamics.projection import is_open
from jaxmbs.dynamics.system import LaneState


def failures(y: LaneState, gap: Array) -> tuple[Array, Array]:
    """Which lanes failed, and why."""
    # a kernel of its own: every state that the answer decides on would repeat it
    return call(_failures)(y, gap)


def _failures(y: LaneState, gap: Array) -> tuple[Array, Array]:
    # a sum that is not finite, of terms that are zero times a number
    total = jnp.zeros_like(gap)
    for leaf in jax.tree.leaves((y.pose, y.vel, y.omega, y.aux, y.work)):
        flat = leaf.reshape(-1, leaf.shape[-1])
        if flat.shape[0]:
            total = total + halved(jnp.add, 0.0 * flat)[0]
    finite = jnp.isfinite(total)
    code = jnp.where(finite, float(Status.CONSTRAINTS_OPEN), float(Status.DIVERGED))
    return ~finite | is_open(y, gap), code.astype(gap.dtype)


def guarded(y0: LaneState, y1: LaneState, failed: Array, code: Array, time: Array) -> tuple[LaneState, Array, Array]:
    """`y1`, or `y0` for lanes that failed, now or before; which lanes go on, and which failed now.

    - time: the end of the step, which is noted for lanes that fail now.
    """
    alive = y0.failure[1] == 0
    broke = alive & failed
    failure = jnp.where(broke[None], jnp.stack([jnp.broadcast_to(time, broke.shape), code]), y0.failure)
    keep = alive & ~failed
    y1 = jax.tree.map(lambda new, old: jnp.where(keep, new, old), y1, y0)
    return dataclasses.replace(y1, failure=failure), keep, broke
