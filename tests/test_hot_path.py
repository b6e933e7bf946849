"""What the compiled loop over steps consists of: plain arithmetic, no library calls, no way back to the host."""

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

#: Where an instruction names the computations that it runs.
CALLED = r"(?:body|condition|calls|to_apply|true_computation|false_computation)=%[\w.\-]+|branch_computations=\{[^}]*\}"


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


def loops(program: str) -> list[str]:
    """The loops of a compiled program with all that they call, the longest first."""
    heads = r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$"
    parts = re.split(heads, program, flags=re.MULTILINE)
    bodies = dict(zip(parts[1::2], parts[2::2], strict=True))

    def everything(name: str, seen: set[str]) -> str:
        if name in seen or name not in bodies:
            return ""
        seen.add(name)
        called = re.findall(r"%([\w.\-]+)", " ".join(re.findall(CALLED, bodies[name])))
        return bodies[name] + "".join(everything(other, seen) for other in called)

    names = re.findall(r" while\(.*body=%([\w.\-]+)", program)
    return sorted((everything(name, set()) for name in names), key=len, reverse=True)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_compiled_step_loop_is_plain_arithmetic(name: str) -> None:
    """Assembly, which is not in the loop over steps, does use LAPACK: see that the right loop was found."""
    run, model = rollout(INTEGRATORS[name])
    text = jax.jit(run).lower(model).compile().as_text()
    assert text is not None
    over_steps, *others = loops(text)
    assert len(over_steps) > 0.5 * len(text)
    assert not FORBIDDEN.findall(over_steps)
    assert any(FORBIDDEN.search(loop) for loop in others)


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
