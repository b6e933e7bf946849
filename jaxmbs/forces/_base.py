"""What a force element is: wrenches on two bodies as a function of their motion."""

import abc
from typing import Any, Literal

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from jaxmbs._context import Context
from jaxmbs._kinematics import Kinematics, Pose, Rest, Wrench


class AbstractForce(eqx.Module):
    """All force elements of one type in a model, stacked.

    A subclass declares its parameters as array fields `(elements, ...)` holding what the model file says (world
    anchors at t = 0), and implements `attach` and `wrenches`. A body index of -1 is the world.
    """

    names: eqx.AbstractVar[tuple[str, ...]]
    body1: eqx.AbstractVar[tuple[int, ...]]
    body2: eqx.AbstractVar[tuple[int, ...]]

    @property
    def count(self) -> int:
        return len(self.names)

    @property
    def role(self) -> Literal["passive", "motor", "load"]:
        """Where its work is booked: a passive element stores energy in `potential` and dissipates the rest."""
        return "passive"

    @property
    def aux_count(self) -> int:
        """How many numbers of its own state an element integrates."""
        return 0

    @abc.abstractmethod
    def attach(self, rest1: Rest, rest2: Rest) -> Any:
        """Constants of the kernel (body-frame anchors) from the poses at t = 0; any pytree of (elements, lanes)."""

    @abc.abstractmethod
    def wrenches(
        self, anchors: Any, body1: Kinematics, body2: Kinematics, aux: Array, context: Context
    ) -> tuple[Wrench, Wrench]:
        """The wrenches on body1 and body2, about their COM, world axes.

        `aux` is the element's own state (elements, aux_count, lanes).
        """

    def potential(self, anchors: Any, pose1: Pose, pose2: Pose, aux: Array) -> Array:
        """Stored energy [J], (elements, lanes); zero unless the element is a spring of some kind."""
        del anchors, pose2, aux
        return jnp.zeros_like(pose1.pos.x)

    def aux_rate(self, anchors: Any, body1: Kinematics, body2: Kinematics, aux: Array) -> Array:
        """Time derivative of the element's own state."""
        del anchors, body1, body2
        return jnp.zeros_like(aux)
