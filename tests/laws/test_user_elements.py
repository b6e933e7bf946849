"""A force and a constraint that the package does not know, added without touching it."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

import jaxmbs as mbs
from jaxmbs._kinematics import Kinematics, Pose, Rest, Wrench
from jaxmbs._math import Vec3
from jaxmbs.constraints import AbstractConstraint, Drive
from jaxmbs.forces import AbstractForce


class Attraction(AbstractForce):
    """Newton's attraction of two bodies, strength / distance^2 between their centres.

    - strength: (elements,) [N m2].
    """

    strength: Array
    names: tuple[str, ...] = eqx.field(static=True)
    body1: tuple[int, ...] = eqx.field(static=True)
    body2: tuple[int, ...] = eqx.field(static=True)

    def attach(self, rest1: Rest, rest2: Rest) -> None:
        return None

    def wrenches(
        self, anchors: None, body1: Kinematics, body2: Kinematics, aux: Array, context: Any
    ) -> tuple[Wrench, Wrench]:
        line = body1.pose.pos - body2.pose.pos
        force = line.unit() * (self.strength / line.dot(line))
        none = Vec3.zeros(force.x)
        return Wrench(-force, none), Wrench(force, none)

    def potential(self, anchors: None, pose1: Pose, pose2: Pose, aux: Array) -> Array:
        return -self.strength / (pose1.pos - pose2.pos).norm()


class Rope(AbstractConstraint):
    """A rope over a pulley: the heights of two bodies keep their sum. No parameters of its own."""

    names: tuple[str, ...] = eqx.field(static=True)
    body1: tuple[int, ...] = eqx.field(static=True)
    body2: tuple[int, ...] = eqx.field(static=True)

    @property
    def row_mask(self) -> tuple[tuple[bool, ...], ...]:
        return ((True,),) * self.count

    def attach(self, rest1: Rest, rest2: Rest) -> Array:
        return rest1.com.pos.z + rest2.com.pos.z

    def residual(self, anchors: Array, pose1: Pose, pose2: Pose, drive: Drive) -> tuple[Array, ...]:
        return (pose1.pos.z + pose2.pos.z - anchors,)

    def origin(self, anchors: Array, body2: Kinematics) -> Vec3:
        return body2.pose.pos


def test_a_new_force():
    """Two masses on a circle about their common centre come back after one period, and keep their energy."""
    m1, m2, distance, strength = 2.0, 3.0, 1.5, 4.0
    rate = np.sqrt(strength * (m1 + m2) / (m1 * m2 * distance**3))
    description = mbs.ModelDescription(gravity=np.zeros(3))
    for name, mass, x in (("a", m1, distance * m2 / (m1 + m2)), ("b", m2, -distance * m1 / (m1 + m2))):
        description.add_body(name, mass=mass, inertia=[1, 1, 1], pos=[x, 0, 0], vel=[0, rate * x, 0])
    model = mbs.compile_model(description)
    model = mbs.with_element(
        model, Attraction(strength=jnp.array([strength]), names=("attraction",), body1=(0,), body2=(1,))
    )
    period = 2 * np.pi / rate
    run = mbs.simulate(model, t1=period, dt=period / 400, save_dt=period / 4)
    # Tsit5 with 400 steps a turn: 2 pi (2 pi/400)^5 times a constant near 1e-2
    np.testing.assert_allclose(run.ys.pos[-1], run.ys.pos[0], atol=1e-9)
    np.testing.assert_allclose(run.ys.pos[2], -run.ys.pos[0], atol=1e-9)
    outputs = run.outputs()
    energy = outputs["energy_kinetic"] + outputs["energy_potential"]
    expected = -strength / (2 * distance)  # virial theorem: the total is half the potential energy
    np.testing.assert_allclose(energy, expected, rtol=1e-9)
    np.testing.assert_allclose(outputs["energy_dissipated"], 0.0, atol=1e-12)


def test_a_new_constraint():
    """Atwood's machine: a = g (m1 - m2)/(m1 + m2), tension 2 m1 m2 g/(m1 + m2)."""
    m1, m2, g = 2.0, 3.0, 9.81
    description = mbs.ModelDescription(gravity=np.array([0.0, 0.0, -g]))
    description.add_body("left", mass=m1, inertia=[1, 1, 1], pos=[0, 0, 1])
    description.add_body("right", mass=m2, inertia=[1, 1, 1], pos=[1, 0, 2])
    model = mbs.with_element(mbs.compile_model(description), Rope(names=("rope",), body1=(0,), body2=(1,)))
    run = mbs.simulate(model, t1=0.5, dt=0.05)
    down = g * (m2 - m1) / (m1 + m2)
    # a parabola: exact for a method of fifth order; the solve is proximal with a relative error near 1e-12
    np.testing.assert_allclose(run.ys.pos[:, 0, 2], 1 + down * run.ts**2 / 2, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.ys.pos[:, 1, 2], 2 - down * run.ts**2 / 2, rtol=0, atol=1e-11)
    tension = run.outputs()["constraint_force"][:, 0]
    np.testing.assert_allclose(tension, np.tile([0, 0, 2 * m1 * m2 * g / (m1 + m2)], (11, 1)), rtol=0, atol=1e-9)

    # and gradients reach through it: height at the end by the mass on the left
    def height(mass: Array) -> Array:
        changed = eqx.tree_at(lambda m: m.bodies.mass, model, model.bodies.mass.at[0].set(mass))
        return mbs.simulate(changed, t1=0.5, dt=0.05).ys.pos[-1, 0, 2]

    expected = -2 * m2 / (m1 + m2) ** 2 * g * 0.5**2 / 2
    np.testing.assert_allclose(jax.grad(height)(jnp.asarray(m1)), expected, rtol=1e-10)


def test_new_elements_are_checked():
    description = mbs.ModelDescription()
    description.add_body("only", mass=1.0, inertia=[1, 1, 1])
    model = mbs.compile_model(description)
    with pytest.raises(ValueError, match="Rope: body index 1 is outside -1"):
        mbs.with_element(model, Rope(names=("rope",), body1=(0,), body2=(1,)))
    with pytest.raises(ValueError, match="before the model is batched"):
        mbs.with_element(mbs.broadcast(model, 2), Rope(names=("rope",), body1=(-1,), body2=(0,)))
