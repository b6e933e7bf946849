"""Angles over many turns."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


def unwrapped(angle: Array, near: Array) -> Array:
    """The angle that differs from `angle` by whole turns and lies nearest to `near`."""
    turns = jax.lax.stop_gradient(jnp.round((near - angle) / (2 * np.pi)))
    return angle + 2 * np.pi * turns
