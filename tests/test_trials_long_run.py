"""A minute at steps of 1 ms: loops neither open nor drift, with default settings (trial case D10)."""

from pathlib import Path

import numpy as np
import pytest

from jaxmbs import ModelDescription
from jaxmbs._check import check_model
from jaxmbs.loaders import describe
from tests.systems import Run, jansen, rotation
from tests.systems.four_bar import FourBar
from tests.systems.gap import revolute_gap
from tests.systems.planar import XZ, wrapped


END, STEP, SAVE = 60.0, 1e-3, 0.1


def trend(time: np.ndarray, gap: np.ndarray) -> tuple[float, float]:
    """The growth of the straight line through the gap over the whole run, and 3 sigma of what it leaves."""
    line = np.polyfit(time, gap, 1)
    return line[0] * (time[-1] - time[0]), 3 * float(np.std(gap - np.polyval(line, time), ddof=2))


def check_gap(description: ModelDescription, run: Run) -> None:
    gap = revolute_gap(description, run)
    assert np.all(np.isfinite(np.asarray(run.solution.ys.vel)))
    assert np.max(gap) < 1e-10
    growth, noise = trend(run.time, gap)
    assert growth < noise


@pytest.mark.slow
def test_four_bar() -> None:
    """Also the energy: released at rest, the crank comes back to its first pose whenever the kinetic energy is zero."""
    system = FourBar()
    description = system.description()
    run = Run(description, t1=END, dt=STEP, save_dt=SAVE)
    check_gap(description, run)
    energy = np.zeros(run.time.size)
    for body in description.bodies:
        if not body.fixed:
            pos, _, vel, omega = run.body_state(body.name)
            spin = np.einsum("ti,ij,tj->t", omega, body.inertia, omega)
            energy += 0.5 * (body.mass * np.sum(vel**2, axis=-1) + spin) + body.mass * system.gravity * pos[:, 2]
    np.testing.assert_allclose(energy, system.energy(system.start), rtol=1e-8)
    crank = XZ.angle(run.body_state("crank")[1])
    coupler = np.array([system.angles(float(angle))["coupler"] for angle in wrapped(crank)])
    np.testing.assert_allclose(wrapped(XZ.angle(run.body_state("coupler")[1]) - coupler), 0.0, rtol=0, atol=1e-10)


@pytest.fixture(scope="module")
def leg(root: Path) -> ModelDescription:
    return describe(root / "examples" / "jansen_leg" / "mbs.yaml")


def test_jansen_leg_is_read_without_warnings(leg: ModelDescription) -> None:
    assert not leg.warnings
    report = check_model(leg)
    assert report.gap_initial < 1e-12
    assert (report.degrees_of_freedom, report.degrees_of_freedom_undriven) == (0, 1)
    assert (report.rows, len(report.redundant_rows)) == (51, 9)


@pytest.mark.slow
def test_jansen_leg(leg: ModelDescription) -> None:
    """The foot keeps to its path; points are given to 1e-8 m in the file."""
    run = Run(leg, t1=END, dt=STEP, save_dt=SAVE)
    check_gap(leg, run)
    pos, quat, _, _ = run.body_state("foot")
    body = leg.body("foot")
    foot = pos - rotation.matrix(quat) @ body.com_pos
    path = np.array([jansen.foot(-np.pi * time) for time in run.time])
    np.testing.assert_allclose(foot[:, [0, 2]], path, rtol=0, atol=1e-7)
    np.testing.assert_allclose(foot[:, 1], 0.0, rtol=0, atol=1e-12)
