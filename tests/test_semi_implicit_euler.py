"""The semi-implicit Euler integrator, and batches in parts."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmbs as mbs
from jaxmbs import _parts
from jaxmbs.solvers import SemiImplicitEuler
from tests.systems.four_bar import FourBar


EULER = SemiImplicitEuler()


@pytest.fixture(scope="module")
def four_bar() -> mbs.Model:
    return mbs.compile_model(FourBar().description())


def final(model: mbs.Model, dt: float, **options) -> mbs.Solution:  # noqa: ANN003
    return mbs.simulate(model, t1=0.2, dt=dt, save_at=[0.0, 0.2], **options)


def test_first_order_with_closed_loops(four_bar: mbs.Model) -> None:
    """The error at the end halves with the step, against Tsit5, which is 1e-9 m from the truth at this step."""
    truth = np.asarray(final(four_bar, 1e-3).ys.pos[-1])
    errors = [
        np.max(np.abs(np.asarray(final(four_bar, dt, integrator=EULER).ys.pos[-1]) - truth))
        for dt in (4e-3, 2e-3, 1e-3)
    ]
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert 1e-6 < errors[-1] < 1e-2
    np.testing.assert_allclose(ratios, 2.0, rtol=0.1)


def test_gap_is_of_the_square_of_that_of_a_step(four_bar: mbs.Model) -> None:
    """Bars of at most 1 m at speeds of at most 3 rad/s move apart by (w h)^2/2 = 5e-6 m, and that squared is left."""
    data = mbs.simulate(four_bar, t1=0.2, dt=1e-3, save_dt=0.05, integrator=EULER).to_xarray()
    assert float(data.residual_pos.max()) < 1e-10


def test_energy_falls_in_the_first_order_of_the_step() -> None:
    """A pendulum: projecting the velocity of a body that turns takes (h w)^2/2 of its energy per step."""
    description = mbs.ModelDescription("pendulum")
    description.add_body("ground", fixed=True)
    description.add_body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), pos=(1.0, 0.0, 0.0))
    description.add_joint("pivot", mbs.JointKind.REVOLUTE, "ground", "bob", pos=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    model, losses = mbs.compile_model(description), []
    for dt in (2e-3, 1e-3):
        data = mbs.simulate(model, t1=4.0, dt=dt, save_dt=0.5, integrator=EULER).to_xarray()
        energy = data.energy_kinetic.values + data.energy_potential.values
        losses.append(energy[0] - energy[-1])
    assert 0 < losses[1] < 0.05 * 9.81
    np.testing.assert_allclose(losses[0] / losses[1], 2.0, rtol=0.1)


def test_parts_do_not_change_results(four_bar: mbs.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 10
    speeds = jnp.linspace(0.9, 1.1, count)[:, None, None]
    batch = mbs.broadcast(four_bar, count)
    batch = eqx.tree_at(lambda m: m.bodies.omega, batch, batch.bodies.omega * speeds)
    whole = final(batch, 1e-3, integrator=EULER)
    monkeypatch.setattr(_parts, "CPU_LANES", 3)
    assert 1 < _parts.part_size(count, 0) < 4
    parts = final(batch, 1e-3, integrator=EULER)
    again = final(batch, 1e-3, integrator=EULER)
    for one, two, three in zip(*map(jax.tree.leaves, (whole.ys, parts.ys, again.ys)), strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(two, three)
    assert parts.status.shape == (count,)


def test_other_numbers_and_durations_do_not_compile_again(four_bar: mbs.Model) -> None:
    compiled = []
    final(four_bar, 1e-3, integrator=EULER)
    heavier = eqx.tree_at(lambda m: m.bodies.mass, four_bar, four_bar.bodies.mass * 1.5)
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, *_, **__: compiled.append(event) if event.endswith("backend_compile_duration") else None
    )
    final(heavier, 1e-3, integrator=EULER)
    mbs.simulate(four_bar, t1=0.25, dt=1e-3, save_at=[0.0, 0.25], integrator=EULER)
    assert not compiled
    mbs.simulate(four_bar, t1=0.3, dt=1e-3, save_at=[0.0, 0.3], integrator=EULER)
    assert compiled
