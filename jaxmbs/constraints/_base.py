"""What a constraint is: rows that must vanish, as a function of the poses of two bodies."""

import abc
import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from jaxmbs._context import Context
from jaxmbs._kinematics import Kinematics, Pose, Rest
from jaxmbs._math import Vec3


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Drive:
    """Prescribed values that enter a residual, with their first two time derivatives; each (elements, lanes)."""

    value: tuple[Array, ...] = ()
    rate: tuple[Array, ...] = ()
    acceleration: tuple[Array, ...] = ()


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Row:
    """One constraint row of all elements of a type, linearised; every array is (elements, lanes).

    With the velocities v_i, w_i of the two bodies in world axes,

        d residual/dt   = linear1 . v1 + angular1 . w1 + linear2 . v2 + angular2 . w2 + rate
        d2 residual/dt2 = the same with accelerations instead of velocities, + bias

    where `rate` is the part that comes from prescribed motion (g_t) and `bias` all that does not depend on
    accelerations (minus the gamma of Haug, Computer Aided Kinematics and Dynamics, section 3.6).
    """

    residual: Array
    linear1: Vec3
    angular1: Vec3
    linear2: Vec3
    angular2: Vec3
    rate: Array
    bias: Array


class AbstractConstraint(eqx.Module):
    """All constraints of one type in a model, stacked.

    A subclass declares its parameters as array fields `(elements, ...)` holding what the model file says (world
    anchors at t = 0), and implements `attach` and `residual`. `linearise` has a default by forward-mode autodiff.
    """

    names: eqx.AbstractVar[tuple[str, ...]]
    body1: eqx.AbstractVar[tuple[int, ...]]
    body2: eqx.AbstractVar[tuple[int, ...]]

    @property
    def count(self) -> int:
        return len(self.names)

    @property
    @abc.abstractmethod
    def row_mask(self) -> tuple[tuple[bool, ...], ...]:
        """For every element, which of the rows that `residual` returns it really has."""

    @property
    def aux_count(self) -> int:
        """How many numbers of its own state an element integrates."""
        return 0

    @abc.abstractmethod
    def attach(self, rest1: Rest, rest2: Rest) -> Any:
        """Constants of the kernel (body-frame anchors) from the poses at t = 0; any pytree of (elements, lanes)."""

    @abc.abstractmethod
    def residual(self, anchors: Any, pose1: Pose, pose2: Pose, drive: Drive) -> tuple[Array, ...]:
        """The rows, each (elements, lanes); zero when the constraint holds."""

    @abc.abstractmethod
    def origin(self, anchors: Any, body2: Kinematics) -> Vec3:
        """The world point about which the torque of the reaction on body2 is reported."""

    def drive(self, context: Context, aux: Array) -> Drive:
        """Prescribed values; `aux` is (elements, aux_count, lanes)."""
        del context, aux
        return Drive()

    def aux_rate(self, anchors: Any, body1: Kinematics, body2: Kinematics, drive: Drive, aux: Array) -> Array:
        """Time derivative of the element's own state."""
        del anchors, body1, body2, drive
        return jnp.zeros_like(aux)

    def linearise(self, anchors: Any, body1: Kinematics, body2: Kinematics, drive: Drive) -> tuple[Row, ...]:
        """All rows with their Jacobians and acceleration bias."""
        return linearise_by_autodiff(self, anchors, body1, body2, drive)


def linearise_by_autodiff(
    constraint: AbstractConstraint, anchors: Any, body1: Kinematics, body2: Kinematics, drive: Drive
) -> tuple[Row, ...]:
    """`AbstractConstraint.linearise` from `residual` alone: forward mode along all directions, and twice in time."""
    still = Vec3.zeros(body1.pose.pos.x + body2.pose.pos.x)

    def full(pose: Pose) -> Pose:
        return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, still.x.shape), pose)

    pose1, pose2 = full(body1.pose), full(body2.pose)

    def rows(pose1: Pose, pose2: Pose, value: tuple[Array, ...]) -> tuple[Array, ...]:
        return constraint.residual(anchors, pose1, pose2, Drive(value, drive.rate, drive.acceleration))

    values, along = jax.linearize(rows, pose1, pose2, drive.value)
    unmoved = jax.tree.map(jnp.zeros_like, (pose1, pose2))

    def unit_motion(unit: Array) -> tuple[Array, ...]:
        """Row rates for one of twelve unit velocities: v1, w1, v2, w2."""
        components = [unit[i] + still.x for i in range(12)]
        v1, w1, v2, w2 = (Vec3(*components[i : i + 3]) for i in (0, 3, 6, 9))
        motion1, motion2 = Pose(v1, pose1.quat.rate_world(w1)), Pose(v2, pose2.quat.rate_world(w2))
        return along(motion1, motion2, jax.tree.map(jnp.zeros_like, drive.value))

    gradients = jax.vmap(unit_motion)(jnp.eye(12, dtype=still.x.dtype))

    def velocity(pose1: Pose, pose2: Pose, value: tuple[Array, ...], rate: tuple[Array, ...]) -> tuple[Array, ...]:
        motion1 = Pose(body1.vel, pose1.quat.rate_world(body1.omega))
        motion2 = Pose(body2.vel, pose2.quat.rate_world(body2.omega))
        return jax.jvp(rows, (pose1, pose2, value), (full(motion1), full(motion2), rate))[1]

    onward = (full(body1.motion()), full(body2.motion()), drive.rate, drive.acceleration)
    bias = jax.jvp(velocity, (pose1, pose2, drive.value, drive.rate), onward)[1]
    rates = along(*unmoved, drive.rate) if drive.value else tuple(jnp.zeros_like(value) for value in values)
    result = []
    for value, gradient, rate, second in zip(values, gradients, rates, bias, strict=True):
        v1, w1, v2, w2 = (Vec3(*gradient[i : i + 3]) for i in (0, 3, 6, 9))
        result.append(Row(value, v1, w1, v2, w2, rate, second))
    return tuple(result)
