"""What the compiled programs consist of: plain arithmetic, no library calls, no way back to the host."""

import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

import jaxmbs as mbs
from jaxmbs._inputs import make_inputs
from jaxmbs._simulate import _run
from jaxmbs._timing import padded
from jaxmbs.dynamics.system import LaneState, initial_lanes, make_system
from jaxmbs.solvers import AbstractIntegrator, RungeKutta, SemiImplicitEuler
from jaxmbs.solvers.semi_implicit_euler import semi_implicit_step
from tests.systems.four_bar import FourBar


INTEGRATORS = {"tsit5": RungeKutta(), "semi-implicit-euler": SemiImplicitEuler()}

#: What none of the small blocks of a mechanism may call.
FORBIDDEN = re.compile(r"\bdot\(|custom-call|lapack|cusolver|cublas|callback|infeed|outfeed", re.IGNORECASE)


def rollout(integrator: AbstractIntegrator):  # noqa: ANN201
    """A whole run of a batch of four-bars with its final state, as a function of the model, and a model."""
    model = mbs.broadcast(mbs.compile_model(FourBar().description(), dtype=jnp.float32), 4)
    grid = jnp.asarray(padded(np.linspace(0.0, 0.01, 11)), jnp.float32)

    def run(model: mbs.Model):  # noqa: ANN202
        import diffrax

        inputs = make_inputs(model, None)
        times = (grid, grid[:0], grid[1] - grid[0], grid[-1:])
        adjoint, meter = diffrax.RecursiveCheckpointAdjoint(), diffrax.NoProgressMeter()
        return _run(model, inputs, None, *times, integrator, adjoint, meter, batch=(4,), interpolate=False)[0]

    return run, model


@pytest.mark.parametrize("name", INTEGRATORS)
def test_compiled_program_is_plain_arithmetic(name: str) -> None:
    run, model = rollout(INTEGRATORS[name])
    text = jax.jit(run).lower(model).compile().as_text()
    assert text is not None
    assert " while(" in text
    assert not FORBIDDEN.findall(text)


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_lowers_for_other_platforms(platform: str) -> None:
    """One step; JAX's own `jit` inside Equinox names the backend of this process, and is undone by inlining."""
    model = mbs.compile_model(FourBar().description(), dtype=jnp.float32)
    system = make_system(model, make_inputs(model, None), (4,))
    y = initial_lanes(model, (4,))
    time = jnp.zeros((1, 1), jnp.float32)

    def step(y: LaneState) -> tuple[LaneState, Array]:
        return inspect.unwrap(semi_implicit_step)(system, jnp.float32(1e-3), time, time, y)

    text = jax.jit(step).trace(y).lower(lowering_platforms=(platform,)).as_text()
    assert "stablehlo" in text
    assert not FORBIDDEN.findall(text)
