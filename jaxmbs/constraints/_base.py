"""What a constraint is: rows that must vanish, as a function of the poses of two bodies."""

import abc
import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._context import Context
from jaxmbs._kinematics import Kinematics, Pose, Rest
from jaxmbs._math import Mat3, Vec3
from jaxmbs._spatial import Spatial


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

    @property
    def driven_kinds(self) -> tuple[int, ...]:
        """The kinds of rows that prescribed motion may drive, so that they do work."""
        return tuple(range(len(self.row_mask[0]))) if type(self).drive is not AbstractConstraint.drive else ()

    @property
    def tree_coordinates(self) -> tuple[tuple[int, ...] | None, ...]:
        """For every element, for each of six relative coordinates the kind of row that locks it, -1 where it is free.

        `None` for an element whose rows always close a loop: that is right for every constraint, and slower than the
        closed-form elimination of a joint that holds a body, for which `tree_basis` is needed too.
        """
        return (None,) * self.count

    def tree_basis(
        self, anchors: Any, body1: Kinematics, body2: Kinematics, rows: tuple[Row, ...], onto2: np.ndarray
    ) -> tuple[Spatial, ...]:
        """For each of the six coordinates the motion of the held body, relative to the other one, that moves it alone.

        For a locked coordinate, its row changes at unit rate and the other locked rows do not; for a free one, no
        locked row changes. All of them together span the motions of a body.

        **Arguments:**

        - rows: what `linearise` returned.
        - onto2: (elements, 1), whether body2 is the one that is held. It moves, the other one rests.
        """
        raise NotImplementedError(f"{type(self).__name__} gives `tree_coordinates`, so it needs a `tree_basis` too")


def coincidence_rows(
    axes: Mat3,
    arm1: Vec3,
    arm2: Vec3,
    body1: Kinematics,
    body2: Kinematics,
    driven: dict[int, tuple[Array, Array, Array]],
) -> list[Row]:
    """The rows axis . gap - drive = 0 for the three axes of a frame fixed in body2.

    Components in a moving frame, so that no row changes when both bodies move as one.

    **Arguments:**

    - arm1, arm2: from the COMs to the two points, world axes; the gap is point 1 minus point 2.
    - driven: by axis the prescribed component with its two time derivatives.
    """
    w1, w2 = body1.omega, body2.omega
    gap = body1.pose.pos + arm1 - body2.pose.pos - arm2
    gap_rate = body1.velocity_at(arm1) - body2.velocity_at(arm2)
    gap_bias = w1.cross(w1.cross(arm1)) - w2.cross(w2.cross(arm2))
    zero = jnp.zeros_like(gap.x)
    none = Vec3(zero, zero, zero)
    rows = []
    for k, axis in enumerate((axes.x, axes.y, axes.z)):
        turning = w2.cross(axis)
        value, rate, acceleration = driven.get(k, (zero, zero, zero))
        rows.append(
            Row(
                residual=axis.dot(gap) - value,
                linear1=axis + none,
                angular1=arm1.cross(axis),
                linear2=none - axis,
                angular2=axis.cross(arm2 + gap),
                rate=zero - rate,
                bias=axis.dot(gap_bias) + 2 * turning.dot(gap_rate) + w2.cross(turning).dot(gap) - acceleration,
            )
        )
    return rows


def held_row(row: Row, onto2: np.ndarray) -> Spatial:
    """The part of a row's Jacobian that belongs to the held body."""
    one, two = Spatial(row.linear1, row.angular1), Spatial(row.linear2, row.angular2)
    if onto2.all():
        return two
    return Spatial(two.linear.where(onto2, one.linear), two.angular.where(onto2, one.angular))


def basis_at_point(translations: list[Spatial], spins: tuple[Vec3, ...]) -> tuple[Spatial, ...]:
    """A `tree_basis` from the held parts of three orthonormal translations and the three spins.

    The spins are about the point that the translations compare, so that they change no translation.
    """
    none = Vec3.zeros(spins[0].x)
    basis = [Spatial(row.linear + none, none) for row in translations]
    for spin in spins:
        linear = none
        for row in translations:
            linear = linear - row.linear * row.angular.dot(spin)
        basis.append(Spatial(linear, spin))
    return tuple(basis)


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
