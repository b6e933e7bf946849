"""The error falls with the order of the integrator (also `shared/reference/trials.md`: D12).

A mechanism that is played at half its speed (gravity a quarter, velocities half, functions of time stretched) moves
through the same poses at half the pace, so that a step of it is half a step of the original. A batch of speeds thus
has all the step sizes of a convergence study in one program.
"""

import dataclasses

import equinox as eqx
import numpy as np
import pytest

import jaxmbs as mbs
from jaxmbs.solvers import RungeKutta
from tests.systems import FreeTop, Run, rotation
from tests.systems.four_bar import FourBar
from tests.systems.order import DoublePendulum, PendulumOnCart
from tests.systems.planar import XZ, wrapped


SPEEDS = (1.0, 1 / 2, 1 / 4, 1 / 8)
#: The run that errors are measured from.
FINEST = 1 / 64
#: Parts of the run at which they are measured.
MOMENTS = np.array([0.25, 0.5, 0.75, 1.0])


def at_speed(model: mbs.Model, speed: float) -> mbs.Model:
    """The mechanism played slower; its only functions are sines."""
    bodies = dataclasses.replace(model.bodies, vel=model.bodies.vel * speed, omega=model.bodies.omega * speed)
    sine = model.functions.sine.at[:, 1].multiply(speed)
    return eqx.tree_at(
        lambda m: (m.gravity, m.bodies, m.functions.sine), model, (model.gravity * speed**2, bodies, sine)
    )


def attitudes(description: mbs.ModelDescription, method: str, end: float, steps: int) -> dict[str, np.ndarray]:
    """COM quaternions (speeds, moments, 4) of every moving body; `steps` steps at full speed. The finest speed is last.

    Bodies of the models here move by turning, so that their attitudes show all errors.
    """
    model = mbs.compile_model(description)
    speeds = (*SPEEDS, FINEST)
    batch = mbs.stack([at_speed(model, speed) for speed in speeds])
    moments = [end * MOMENTS / speed for speed in speeds]
    times = np.unique(np.concatenate(moments))
    solution = mbs.simulate(batch, t1=end / FINEST, dt=end / steps, save_at=times, integrator=RungeKutta(method))
    quat = np.asarray(solution.ys.quat)
    chosen = np.stack([quat[i, np.searchsorted(times, moment)] for i, moment in enumerate(moments)])
    return {body.name: chosen[:, :, i] for i, body in enumerate(description.bodies) if not body.fixed}


def check_order(found: dict[str, np.ndarray], order: int, most: float) -> None:
    """The slope of the largest error against the step, on logarithmic axes."""
    errors = np.zeros(len(SPEEDS))
    for quat in found.values():
        for i in range(len(SPEEDS)):
            errors[i] = max(errors[i], np.max(np.abs(rotation.same_sign(quat[i], quat[-1]) - quat[-1])))
    slope = float(np.polyfit(np.log(SPEEDS), np.log(errors), 1)[0])
    assert np.all(errors[1:] < errors[:-1]), errors
    assert order - 0.3 < slope < most, f"order {slope:.2f} of errors {errors}"


# The upper bounds: the leading error of tsit5 is so small that the next order shows where steps are large.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "order", "steps", "most"), [("tsit5", 5, 8, 6.5), ("dopri5", 5, 24, 5.3), ("bosh3", 3, 16, 3.3)]
)
def test_free(method: str, order: int, steps: int, most: float) -> None:
    """The attitude of a free top."""
    top = dataclasses.replace(FreeTop(), gravity=0.0)
    found = attitudes(top.description(), method, 1.0, steps)
    check_order(found, order, most)
    exact = top.state(MOMENTS)["body_quat", "top"]
    np.testing.assert_allclose(rotation.same_sign(found["top"][-1], exact), exact, rtol=0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "order", "steps", "most"), [("tsit5", 5, 24, 6.5), ("heun", 2, 40, 2.3)])
def test_driven(method: str, order: int, steps: int, most: float) -> None:
    """A pendulum on a cart that a motor moves to and fro."""
    system = PendulumOnCart()
    found = attitudes(system.description(), method, 1.0, steps)
    del found["cart"]  # it is where the motor wants it, at any step
    check_order(found, order, most)
    angle = wrapped(XZ.angle(found["rod"][-1]) + np.pi / 2)
    exact = [system.angle(float(moment)) for moment in MOMENTS]
    np.testing.assert_allclose(angle, exact, rtol=0, atol=1e-9 if method == "tsit5" else 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "order", "steps", "most"), [("tsit5", 5, 48, 5.3), ("dopri5", 5, 24, 6.5), ("bosh3", 3, 20, 3.3)]
)
def test_redundant(method: str, order: int, steps: int, most: float) -> None:
    """The four-bar linkage of D07, which has three redundant rows."""
    found = attitudes(FourBar().description(), method, 0.5, steps)
    check_order(found, order, most)
    exact = FourBar().crank_angle(0.5)
    assert np.degrees(exact) == pytest.approx(-70.8035, abs=5e-5)
    assert float(XZ.angle(found["crank"][-1, -1])) == pytest.approx(exact, abs=2e-9 if order == 5 else 1e-7)


@pytest.mark.slow
def test_double_pendulum() -> None:
    """D12: the order over 2 s, and angles from straight down at 0.5, 1 and 2 s to all digits that are given."""
    system = DoublePendulum()
    found = attitudes(system.description(), "tsit5", 2.0, 160)
    check_order(found, 5, 6.5)
    table = {0.5: (0.44814263, 1.04196289), 1.0: (-1.20771624, -0.81439102), 2.0: (-0.08275831, 0.40736207)}
    for time, want in table.items():
        place = int(np.searchsorted(2.0 * MOMENTS, time))
        angles = [float(wrapped(XZ.angle(found[name][-1, place]) + np.pi / 2)) for name in ("upper", "lower")]
        np.testing.assert_allclose(angles, want, rtol=0, atol=6e-9, err_msg=f"{time} s")
        np.testing.assert_allclose(angles, system.angles(time), rtol=0, atol=1e-9, err_msg=f"{time} s")


@pytest.mark.slow
def test_double_pendulum_energy_drift() -> None:
    """D12: the drift of energy over 2 s at 1 ms; it starts with none."""
    run = Run(DoublePendulum().description(), t1=2.0, dt=1e-3, save_dt=0.25)
    assert np.max(np.abs(run.energy_balance())) < 1e-10
