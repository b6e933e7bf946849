"""The error falls with the order of the integrator (also `shared/reference/trials.md`: D12).

A mechanism that is played at half its speed (gravity a quarter, velocities half, functions of time stretched) moves
through the same poses at half the pace, so that a step of it is half a step of the original. A batch of speeds thus
has all the step sizes of a convergence study in one program.
"""

import dataclasses

import equinox as eqx
import numpy as np
import pytest
from tests.systems import FreeTop, rotation
from tests.systems.four_bar import FourBar
from tests.systems.order import DoublePendulum, PendulumOnCart
from tests.systems.planar import XZ, wrapped

import jaxmbs as mbs
from jaxmbs.solvers import RungeKutta


SPEEDS = (1.0, 1 / 2, 1 / 4, 1 / 8)


def at_speed(model: mbs.Model, speed: float) -> mbs.Model:
    """The mechanism played slower; its only functions are sines."""
    bodies = dataclasses.replace(model.bodies, vel=model.bodies.vel * speed, omega=model.bodies.omega * speed)
    sine = model.functions.sine.at[:, 1].multiply(speed)
    return eqx.tree_at(
        lambda m: (m.gravity, m.bodies, m.functions.sine), model, (model.gravity * speed**2, bodies, sine)
    )


def final_states(description: mbs.ModelDescription, method: str, end: float, steps: int) -> list[dict[str, np.ndarray]]:
    """COM quaternions by body at `end`, for `steps` steps and for twice, four times, ... as many."""
    model = mbs.compile_model(description)
    batch = mbs.stack([at_speed(model, speed) for speed in SPEEDS])
    ends = [end / speed for speed in SPEEDS]
    solution = mbs.simulate(batch, t1=ends[-1], dt=end / steps, save_at=ends, integrator=RungeKutta(method))
    quat = np.asarray(solution.ys.quat)
    return [dict(zip(model.bodies.names, quat[i, i], strict=True)) for i in range(len(SPEEDS))]


def observed_order(errors: list[float]) -> float:
    """The slope of the error against the step on logarithmic axes."""
    return float(np.polyfit(np.log(SPEEDS), np.log(errors), 1)[0])


def check_order(errors: list[float], order: int) -> None:
    assert all(np.diff(errors) < 0), errors
    assert observed_order(errors) == pytest.approx(order, abs=0.4), errors


@pytest.mark.slow
@pytest.mark.parametrize(("method", "order", "steps"), [("tsit5", 5, 10), ("bosh3", 3, 20)])
def test_free(method: str, order: int, steps: int) -> None:
    """The attitude of a free top."""
    top = dataclasses.replace(FreeTop(), gravity=0.0)
    exact = top.state(np.array([1.0]))["body_quat", "top"][0]
    found = final_states(top.description(), method, 1.0, steps)
    check_order([float(np.max(np.abs(rotation.same_sign(f["top"], exact) - exact))) for f in found], order)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "order", "steps"), [("tsit5", 5, 10), ("heun", 2, 40)])
def test_driven(method: str, order: int, steps: int) -> None:
    """A pendulum on a cart that a motor moves to and fro."""
    system = PendulumOnCart()
    exact = system.angle(1.0)
    found = final_states(system.description(), method, 1.0, steps)
    check_order([abs(float(wrapped(XZ.angle(f["rod"]) + np.pi / 2 - exact))) for f in found], order)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "order", "steps"), [("tsit5", 5, 10), ("dopri5", 5, 10), ("bosh3", 3, 20)])
def test_redundant(method: str, order: int, steps: int) -> None:
    """The crank of the four-bar linkage of D07, which has three redundant rows."""
    exact = FourBar().crank_angle(0.5)
    assert np.degrees(exact) == pytest.approx(-70.8035, abs=5e-5)
    found = final_states(FourBar().description(), method, 0.5, steps)
    check_order([abs(float(wrapped(XZ.angle(f["crank"]) - exact))) for f in found], order)


@pytest.mark.slow
def test_double_pendulum() -> None:
    """D12: angles from straight down at 0.5, 1 and 2 s, to all digits that are given; then the order at 1 s."""
    system = DoublePendulum()
    table = {0.5: (0.44814263, 1.04196289), 1.0: (-1.20771624, -0.81439102), 2.0: (-0.08275831, 0.40736207)}
    model = mbs.compile_model(system.description())
    batch = mbs.stack([at_speed(model, speed) for speed in SPEEDS])
    times = np.unique([time / speed for time in table for speed in SPEEDS])
    solution = mbs.simulate(batch, t1=2.0 / SPEEDS[-1], dt=0.02, save_at=times)
    errors = []
    for i, speed in enumerate(SPEEDS):
        places = np.searchsorted(times, [time / speed for time in table])
        quat = np.asarray(solution.ys.quat)[i, places]
        angles = wrapped(XZ.angle(quat[:, 1:]) + np.pi / 2)
        exact = np.array([system.angles(time) for time in table])
        np.testing.assert_allclose(exact, np.array(list(table.values())), rtol=0, atol=6e-9)
        errors.append(float(np.max(np.abs(wrapped(angles - exact)[1]))))
        if speed == SPEEDS[-1]:
            np.testing.assert_allclose(angles, exact, rtol=0, atol=1e-7)
    check_order(errors, 5)
