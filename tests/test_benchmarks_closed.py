"""Published benchmarks with closed loops: A02, A03 and A04 of the IFToMM library."""

import numpy as np
import pytest

from jaxmbs._check import check_model
from tests.systems import Run, andrews, bricard
from tests.systems.four_bars import FourBars
from tests.systems.planar import XY, wrapped


# ---- A02 with N = 2: passes the pose in which all bars lie in one line

A02_TIMES = (0.0, 1.0, 4.0, 10.0)
#: Position and velocity of the first tip, from the equation of one degree of freedom.
A02 = (
    (0.0, 1.0, 1.0, 0.0),
    (-0.1950203019, -0.9807992057, -6.6766780369, 1.3275783252),
    (0.1176161024, 0.9930591385, 1.0690392650, -0.1266150492),
    (0.3284581115, 0.9445185382, 1.4230514702, -0.4948688455),
)


@pytest.fixture(scope="module")
def a02() -> Run:
    return Run(FourBars().description(), t1=10.0, dt=1e-3, save_at=A02_TIMES)


@pytest.mark.slow
def test_a02_first_tip(a02: Run) -> None:
    """The tip is twice as far from the pivot as the COM of the bar."""
    pos, _, vel, _ = a02.body_state("bar0")
    np.testing.assert_allclose(2 * pos[:, :2], np.array(A02)[:, :2], rtol=0, atol=1e-5)
    np.testing.assert_allclose(2 * vel[:, :2], np.array(A02)[:, 2:], rtol=0, atol=1e-4)


@pytest.mark.slow
def test_a02_energy_and_gap(a02: Run) -> None:
    assert FourBars().energy == pytest.approx(3.5 * 9.81 + 1.5)
    np.testing.assert_allclose(a02.energy_balance(), FourBars().energy, rtol=1e-8)
    assert np.max(a02.of("residual_pos")) < 1e-10


# ---- A03


@pytest.fixture(scope="module")
def a03() -> Run:
    return Run(andrews.description(), t1=0.03, dt=1e-5, save_at=[0.0, 0.01, 0.02, 0.03])


@pytest.mark.slow
def test_a03_angles(a03: Run) -> None:
    for name, want in andrews.absolute(andrews.AT_30_MS).items():
        error = wrapped(XY.angle(a03.body_state(name)[1][-1]) - want)
        assert abs(error) < 1e-6, f"{name}: {error:.3g} rad"


@pytest.mark.slow
def test_a03_rates(a03: Run) -> None:
    for name, want in andrews.absolute(andrews.RATES_AT_30_MS).items():
        assert a03.body_state(name)[3][-1, 2] == pytest.approx(want, abs=2e-3), name


@pytest.mark.slow
def test_a03_turns_energy_and_gap(a03: Run) -> None:
    """The crank's turns are counted; the work of the torque is what the bodies and the spring have gained."""
    turned = a03.of("joint_angle", "o")[-1]
    assert turned == pytest.approx(andrews.AT_30_MS[0] - andrews.START[0], abs=1e-6)
    assert a03.of("work_loads")[-1] == pytest.approx(andrews.TORQUE * turned, abs=1e-9)
    assert np.ptp(a03.energy_balance()) < 1e-7
    assert np.max(a03.of("residual_pos")) < 1e-12


# ---- A04

A04_TIMES = (0.0, 0.5, 1.0, 2.0, 5.0)
#: Point P3, from an integration with an energy drift of 1e-11.
A04 = (
    (1.0, -1.0, 1.0),
    (0.968283679, -1.224625159, 0.750146609),
    (0.510501461, -1.649167599, 0.140123115),
    (-0.969340345, -1.221246895, 0.754278011),
    (0.999999998, -1.000067258, 0.999932740),
)


@pytest.fixture(scope="module")
def a04() -> Run:
    return Run(bricard.description(), t1=5.0, dt=1e-3, save_at=A04_TIMES)


@pytest.mark.slow
def test_a04_position(a04: Run) -> None:
    np.testing.assert_allclose(a04.of("ref_pos", "bar2"), A04, rtol=0, atol=1e-5)


@pytest.mark.slow
def test_a04_energy_and_gap(a04: Run) -> None:
    assert np.ptp(a04.energy_balance()) < 1e-7
    assert np.max(a04.of("residual_pos")) < 1e-10


def test_a04_degrees_of_freedom() -> None:
    """30 rows of rank 29 for 5 bodies."""
    report = check_model(bricard.description())
    assert (report.rows, report.rank, report.degrees_of_freedom) == (30, 29, 1)
    assert len(report.redundant_rows) == 1
