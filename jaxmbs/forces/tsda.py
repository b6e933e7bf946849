"""Translational spring-damper-actuators."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmbs._context import Context
from jaxmbs._kinematics import Kinematics, Pose, Rest, Wrench
from jaxmbs._math import Vec3
from jaxmbs._math.table import integral, integral_extrapolated, interpolate, interpolate_map
from jaxmbs.forces._base import AbstractForce


#: Penetration of a stop [m] against its force [N], as Chrono defines it for `minimum_length`, `maximum_length`.
STOP_TABLE = np.array(
    [
        (0.0, 0.0),
        (0.002, 200.0),
        (0.004, 400.0),
        (0.006, 600.0),
        (0.008, 800.0),
        (0.010, 1000.0),
        (0.020, 2500.0),
        (0.030, 4500.0),
        (0.040, 7500.0),
        (0.050, 12500.0),
        (0.060, 125000.0),
    ]
)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class TsdaAnchors:
    """The end points in the COM frames."""

    point1: Vec3
    point2: Vec3


class Tsda(AbstractForce):
    """Springs and dampers along the line between two points.

    With the length L, the deformation d = L - free_length and the rate v = dL/dt, the force (positive pushes the
    bodies apart) is

        preload - stiffness d - damping v D(v) - spring_curve(d) - damping_curve(v) - map(d, v) + stops(L)

    where D(v) = 1/(1 + degressivity_expansion v) for v >= 0 and 1/(1 - degressivity_compression v) for v < 0.
    Curves are constant outside their tables, the map goes on linearly, the stops act beyond `minimum_length` and
    `maximum_length` (-inf and inf where there is none).

    - point1, point2: (elements, 3), world at t = 0 [m].
    - spring_curve (deformation, force), damping_curve (rate, force): (elements, points, 2), restoring positive.
    - map_deformation (elements, columns), map_velocity (elements, rows), map_force (elements, rows, columns).
    - the others: (elements,).

    **References:** Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, section 6.2.4 and 11.4.
    """

    point1: Array
    point2: Array
    free_length: Array
    preload: Array
    stiffness: Array
    damping: Array
    degressivity_compression: Array
    degressivity_expansion: Array
    spring_curve: Array
    damping_curve: Array
    map_deformation: Array
    map_velocity: Array
    map_force: Array
    minimum_length: Array
    maximum_length: Array
    names: tuple[str, ...] = eqx.field(static=True)
    body1: tuple[int, ...] = eqx.field(static=True)
    body2: tuple[int, ...] = eqx.field(static=True)
    #: Whether any element has a curve, a map or stops at all; what no element has is not traced.
    has_curves: bool = eqx.field(static=True)
    has_map: bool = eqx.field(static=True)
    has_stops: bool = eqx.field(static=True)

    def attach(self, rest1: Rest, rest2: Rest) -> TsdaAnchors:
        return TsdaAnchors(rest1.com.to_local(Vec3.of(self.point1)), rest2.com.to_local(Vec3.of(self.point2)))

    def _stops(self, length: Array) -> tuple[Array, Array]:
        """Penetration of the stop at the minimum and at the maximum length, zero when it is not touched."""
        return jnp.maximum(self.minimum_length - length, 0.0), jnp.maximum(length - self.maximum_length, 0.0)

    def _stop_table(self, like: Array) -> tuple[Array, Array]:
        table = jnp.asarray(STOP_TABLE, like.dtype)
        return table[None, :, :1], table[None, :, 1:]

    def law(self, length: Array, rate: Array) -> Array:
        """The force [N] for a length [m] and its rate [m/s]; positive pushes apart."""
        d = length - self.free_length
        fade = jnp.where(rate >= 0, self.degressivity_expansion * rate, -self.degressivity_compression * rate)
        force = self.preload - self.stiffness * d - self.damping * rate / (1 + fade)
        if self.has_curves:
            force = force - interpolate(self.spring_curve[:, :, 0], self.spring_curve[:, :, 1], d)
            force = force - interpolate(self.damping_curve[:, :, 0], self.damping_curve[:, :, 1], rate)
        if self.has_map:
            force = force - interpolate_map(self.map_deformation, self.map_velocity, self.map_force, d, rate)
        if self.has_stops:
            x, y = self._stop_table(length)
            bump, rebound = self._stops(length)
            force = force + interpolate(x, y, bump) - interpolate(x, y, rebound)
        return force

    def measure(
        self, anchors: TsdaAnchors, body1: Kinematics, body2: Kinematics
    ) -> tuple[Array, Array, Array, Vec3, Vec3, Vec3]:
        """Length, rate, force, direction from point 2 to point 1, and the arms of both points."""
        arm1, arm2 = body1.arm(anchors.point1), body2.arm(anchors.point2)
        line = body1.pose.pos + arm1 - body2.pose.pos - arm2
        length, direction = line.norm(), line.unit()
        rate = direction.dot(body1.velocity_at(arm1) - body2.velocity_at(arm2))
        return length, rate, self.law(length, rate), direction, arm1, arm2

    def wrenches(
        self, anchors: TsdaAnchors, body1: Kinematics, body2: Kinematics, aux: Array, context: Context
    ) -> tuple[Wrench, Wrench]:
        del aux, context
        _, _, force, direction, arm1, arm2 = self.measure(anchors, body1, body2)
        return Wrench.at(arm1, direction * force), Wrench.at(arm2, direction * (-force))

    def potential(self, anchors: TsdaAnchors, pose1: Pose, pose2: Pose, aux: Array) -> Array:
        """The integral of the force at rate zero; a map stores what it gives at rate zero."""
        del aux
        length = (pose1.point(anchors.point1) - pose2.point(anchors.point2)).norm()
        d = length - self.free_length
        energy = 0.5 * self.stiffness * d * d - self.preload * d
        if self.has_curves:
            energy = energy + integral(self.spring_curve[:, :, 0], self.spring_curve[:, :, 1], d)
        if self.has_map:
            columns = [
                interpolate_map(
                    self.map_deformation,
                    self.map_velocity,
                    self.map_force,
                    self.map_deformation[:, i],
                    jnp.zeros_like(self.map_deformation[:, i]),
                )
                for i in range(self.map_deformation.shape[1])
            ]
            energy = energy + integral_extrapolated(self.map_deformation, jnp.stack(columns, axis=1), d)
        if self.has_stops:
            x, y = self._stop_table(length)
            bump, rebound = self._stops(length)
            energy = energy + integral(x, y, bump) + integral(x, y, rebound)
        return energy
