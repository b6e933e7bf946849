"""Derivatives of a whole simulation of a redundant loop: reverse mode, forward mode and differences agree."""

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import jaxmbs as mbs
from tests.mechanisms import four_bar


NAMES = ("mass of the crank", "inertia of the coupler", "gravity", "spin of the crank", "place of joint C")


def _loss(factors: Array, adjoint: diffrax.AbstractAdjoint | None) -> Array:
    """A number that depends on the end of 20 steps of the four-bar (3 redundant rows) with changed parameters."""
    model = mbs.compile_model(four_bar())
    a, b, g, spin, shift = (factors[i] for i in range(5))

    def places(m: mbs.Model) -> Any:
        return m.bodies.mass, m.bodies.inertia, m.gravity, m.bodies.omega, m.joints.pos

    joint = jnp.array([0.0, 0.0, 1.0, 0.0])[:, None] * jnp.array([[0.05, 0.0, -0.03]])
    changed = eqx.tree_at(
        places,
        model,
        (
            model.bodies.mass.at[1].multiply(1 + a),
            model.bodies.inertia.at[2].multiply(1 + b),
            model.gravity * (1 + g),
            model.bodies.omega.at[1, 1].set(2.0 + spin),
            model.joints.pos + shift * joint,
        ),
    )
    end = mbs.simulate(changed, t1=0.1, dt=5e-3, save_at=[0.1], adjoint=adjoint).ys
    weights = jnp.arange(1.0, 13.0).reshape(4, 3)
    return jnp.sum(weights * (end.pos[0] + 0.1 * end.vel[0] + 0.3 * end.omega[0]))


def test_reverse_equals_forward_equals_differences():
    at = jnp.array([0.1, -0.2, 0.05, 0.3, 0.4])
    reverse = jax.grad(_loss)(at, None)
    forward = jax.jacfwd(lambda x: _loss(x, diffrax.ForwardMode()))(at)
    # the same linear map, applied and transposed: rounding of about 20 x 7 solves
    np.testing.assert_allclose(reverse, forward, rtol=1e-9, atol=1e-9 * float(jnp.max(jnp.abs(forward))))
    h = 1e-5
    # truncation is of order h^2 = 1e-10, rounding of the projected end state 1e-14/h = 1e-9
    differences = [float(_loss(at + h * e, None) - _loss(at - h * e, None)) / (2 * h) for e in jnp.eye(5)]
    np.testing.assert_allclose(reverse, differences, rtol=1e-6, atol=1e-6)
    assert float(jnp.min(jnp.abs(forward))) > 1e-3, dict(zip(NAMES, forward, strict=True))
