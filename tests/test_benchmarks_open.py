"""Published benchmarks without loops: A01 of the IFToMM library, and the heavy top."""

import numpy as np
import pytest

from jaxmbs import ConstraintKind, JointKind, ModelDescription
from tests.systems import Run, jacobi, rotation


# ---- A01: a point mass on a massless bar, 10 s

PERIOD = 2.367841947576237
#: P at 1, 5, 9.99 and 10 s, from elliptic functions.
A01_TIMES = (0.0, 1.0, 5.0, 9.99, 10.0)
A01 = (
    (-1.0, 0.0),
    (0.986291751132, -0.165010853126),
    (-0.942305435044, -0.334754338414),
    (-0.316436469913, -0.948613704576),
    (-0.275087462576, -0.961419205099),
)


@pytest.fixture(scope="module")
def a01() -> Run:
    """A DISTANCE constraint at the COM leaves the body's rotation out of it, so that it is a point mass."""
    model = ModelDescription("a01", gravity=np.array([0.0, -9.81, 0.0]))
    model.add_body("ground", fixed=True)
    model.add_body("mass", mass=1.0, inertia=(0.1, 0.1, 0.1), pos=(-1, 0, 0))
    model.add_constraint("bar", ConstraintKind.DISTANCE, "ground", "mass", point1=(0, 0, 0), point2=(-1, 0, 0))
    return Run(model, t1=10.0, dt=1e-3, save_at=A01_TIMES)


def test_a01_closed_form_is_the_published_one() -> None:
    angle, _ = jacobi.pendulum(np.array(A01_TIMES), np.pi / 2, np.sqrt(9.81))
    np.testing.assert_allclose(np.stack([-np.sin(angle), -np.cos(angle)], axis=-1), A01, rtol=0, atol=1e-11)
    assert 4 * jacobi.quarter_period(0.5) / np.sqrt(9.81) == pytest.approx(PERIOD, abs=1e-14)


def test_a01_position(a01: Run) -> None:
    np.testing.assert_allclose(a01.body_state("mass")[0][:, :2], A01, rtol=0, atol=1e-8)


def test_a01_energy(a01: Run) -> None:
    """The library allows 5e-5 J."""
    assert np.max(np.abs(a01.energy_balance())) < 1e-10


# ---- the heavy top: 150 rad/s about its axis, fixed at a point

TOP_TIMES = (0.0, 0.1, 0.2, 0.5)
TOP_COM = (
    (0.0, 1.0, 0.0),
    (0.4212966589, 0.8945719743, -0.1491647006),
    (0.6055505614, 0.5989576818, -0.5239830274),
    (-0.7024682971, -0.0211651847, -0.7114002577),
)
TOP_QUAT = (
    (0.3318229126, 0.1773380567, 0.9149751591, -0.1458260144),
    (-0.708279153, 0.4387810881, 0.5457283961, 0.0893997528),
)
TOP_OMEGA_AT_200_MS = (-2.6915909121, 150.0, 4.9172609899)


@pytest.fixture(scope="module")
def heavy_top() -> Run:
    """Terze, Mueller & Zlatar (2016), after Bruels & Cardona: 15 kg, COM at (0, 1, 0) from the fixed point."""
    model = ModelDescription("heavy_top", gravity=np.array([0.0, 0.0, -9.81]))
    model.add_body("ground", fixed=True)
    model.add_body("top", mass=15.0, inertia=(0.234375, 0.46875, 0.234375), com_pos=(0, 1, 0), omega=(0, 150, -4.61538))
    model.add_joint("point", JointKind.SPHERICAL, "ground", "top", pos=(0, 0, 0))
    return Run(model, t1=0.5, dt=1e-4, save_at=TOP_TIMES)


def test_heavy_top_position(heavy_top: Run) -> None:
    np.testing.assert_allclose(heavy_top.body_state("top")[0], TOP_COM, rtol=0, atol=1e-7)


def test_heavy_top_attitude_and_spin(heavy_top: Run) -> None:
    _, quat, _, omega = heavy_top.body_state("top")
    want = np.array(TOP_QUAT)
    np.testing.assert_allclose(rotation.same_sign(quat[1:3], want), want, rtol=0, atol=1e-7)
    np.testing.assert_allclose(omega[2], TOP_OMEGA_AT_200_MS, rtol=0, atol=1e-6)


def test_heavy_top_energy(heavy_top: Run) -> None:
    """5430 J, nearly all of it spin."""
    assert np.ptp(heavy_top.energy_balance()) < 1e-8 * 5430
    assert heavy_top.energy_balance()[0] == pytest.approx(
        0.5 * (0.46875 * 150**2 + (0.234375 + 15) * 4.61538**2), rel=1e-14
    )
