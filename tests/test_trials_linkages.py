"""Trial cases with closed loops (`shared/reference/trials.md`: D06-D09)."""

import dataclasses
import functools

import jax
import numpy as np
import pytest

import jaxmbs as mbs
from jaxmbs._check import check_model
from tests.systems import Run, SliderCrank, Trammel, rotation
from tests.systems.four_bar import BARS, FourBar
from tests.systems.planar import XZ, wrapped


# ---- D06


@pytest.fixture(scope="module", params=[0.1, 0.01, 1e-3], ids="dt={}".format)
def slider_crank(request: pytest.FixtureRequest) -> Run:
    """Saved at the crank angles 0, 60, 90 and 180 degrees; the coarsest steps turn the crank by 57 degrees each."""
    angles = np.radians([0, 60, 90, 180])
    return Run(SliderCrank().description(), t1=0.4, dt=request.param, save_at=angles / SliderCrank().rate)


def test_slider_crank_kinematics(slider_crank: Run) -> None:
    pos, _, vel, _ = slider_crank.body_state("slider")
    np.testing.assert_allclose(pos[:, 0], [0.4, 0.33722813, 0.28284271, 0.2], rtol=0, atol=1e-8)
    np.testing.assert_allclose(vel[:, 0], [0.0, -1.01678108, -1.0, 0.0], rtol=0, atol=1e-8)


# ---- D07

TIMES = (0.0, 0.25, 0.5, 1.0)
CRANK_ANGLES = (60.0, 27.6034, -70.8035, -261.3596)
#: The rows of the rotation that the trial cases give for the angles [30, 40, 50] in degrees.
TILTED = functools.reduce(
    rotation.product,
    [rotation.about(axis, np.radians(angle)) for axis, angle in (((0, 0, 1), 30), ((0, 1, 0), 40), ((1, 0, 0), 50))],
)
VARIANTS: dict[str, tuple[FourBar, tuple[str, ...]]] = {
    "upright": (FourBar(), ("ground", *BARS)),
    "tilted": (FourBar(plane=XZ.turned(TILTED)), ("ground", *BARS)),
    "crank and rocker swapped": (FourBar(), ("ground", "rocker", "coupler", "crank")),
    "ground last": (FourBar(), ("crank", "coupler", "rocker", "ground")),
}


@functools.cache
def four_bar_run(variant: str) -> Run:
    system, order = VARIANTS[variant]
    return Run(system.description(order), t1=1.0, dt=1e-3, save_at=TIMES)


@pytest.fixture(scope="module", params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> str:
    return request.param


def test_tilt_is_the_matrix_of_the_trial_cases() -> None:
    rows = [[0.66341395, 0.10504046, 0.74084306], [0.38302222, 0.80287234, -0.45682599]]
    np.testing.assert_allclose(rotation.matrix(TILTED)[:2], rows, rtol=0, atol=1e-8)


def test_four_bar_crank_angles(variant: str) -> None:
    system, _ = VARIANTS[variant]
    angle = system.plane.angle(four_bar_run(variant).body_state("crank")[1])
    error = np.degrees(wrapped(angle - np.radians(CRANK_ANGLES)))
    np.testing.assert_allclose(error, 0.0, rtol=0, atol=1e-4)  # all digits that are given


def test_four_bar_energy_gap_and_reactions(variant: str) -> None:
    run = four_bar_run(variant)
    energy = run.of("energy_kinetic") + run.of("energy_potential")
    assert FourBar().energy(np.pi / 3) == pytest.approx(7.0002555, abs=5e-8)
    np.testing.assert_allclose(energy, 7.0002555, rtol=1e-6)
    assert np.ptp(energy) < 1e-9
    assert np.max(run.of("residual_pos")) < 1e-12
    assert np.max(run.of("residual_vel")) < 1e-11
    assert np.all(np.isfinite(run.of("joint_force"))) and np.all(np.isfinite(run.of("joint_torque")))


def test_four_bar_moves_alike_in_all_variants(variant: str) -> None:
    first, run, turn = four_bar_run("upright"), four_bar_run(variant), np.eye(3)
    if variant == "tilted":
        turn = rotation.matrix(TILTED)
    for bar in BARS:
        for one, other in zip(first.body_state(bar)[::2], run.body_state(bar)[::2], strict=True):
            np.testing.assert_allclose(other, one @ turn.T, rtol=0, atol=1e-10)
    for joint in ("crank_pivot", "elbow", "knee", "rocker_pivot"):
        for variable in ("joint_force", "joint_torque"):
            want = first.of(variable, joint) @ turn.T
            np.testing.assert_allclose(run.of(variable, joint), want, rtol=0, atol=1e-9, err_msg=variable)


def test_four_bar_has_one_degree_of_freedom_and_three_redundant_rows(variant: str) -> None:
    system, order = VARIANTS[variant]
    report = check_model(system.description(order))
    assert report.degrees_of_freedom == 1
    assert report.rows == 20
    assert len(report.redundant_rows) == 3
    assert report.degrees_of_freedom_counted == -2


# ---- D08


@pytest.fixture(scope="module")
def trammel() -> Run:
    return Run(Trammel().description(), t1=0.6, dt=1e-3, save_at=[0.0, 0.3, 0.589183])


def test_trammel_start(trammel: Run) -> None:
    """From rest x'' = g sin x with x = 30 degrees: the slider on X accelerates by cos x times that."""
    acc = trammel.of("body_acc", "low")[0, 0]
    assert acc / np.cos(np.pi / 6) == pytest.approx(4.905, abs=1e-9)
    force = trammel.of("constraint_force", "rod")[0]
    # compression pushes body2, the slider above, up and outwards along the rod
    compression = force @ [-np.sin(np.pi / 6), 0, np.cos(np.pi / 6)]
    assert compression == pytest.approx(8.495709, abs=1e-6)
    assert np.linalg.norm(force) == pytest.approx(8.495709, abs=1e-6)


def test_trammel_passes_the_horizontal(trammel: Run) -> None:
    """At 0.589183 s (known to 5e-7 s) the rod lies on X and turns at 4.122065 rad/s."""
    (low, _, _, _), (high, _, vel, _) = trammel.body_state("low"), trammel.body_state("high")
    assert low[-1, 0] == pytest.approx(1.0, abs=1e-9)
    assert high[-1, 2] == pytest.approx(0.0, abs=5e-7 * 4.122065 + 1e-9)
    assert vel[-1, 2] == pytest.approx(-4.122065, abs=1e-6)


def test_trammel_length_rows_and_energy(trammel: Run) -> None:
    gap = trammel.body_state("low")[0] - trammel.body_state("high")[0]
    np.testing.assert_allclose(np.linalg.norm(gap, axis=-1), 1.0, rtol=0, atol=1e-12)
    assert np.ptp(trammel.energy_balance()) < 1e-10
    description = Trammel().description()
    with_rod = check_model(description)
    without = check_model(dataclasses.replace(description, constraints=[]))
    assert with_rod.rows == without.rows + 1
    assert (without.degrees_of_freedom, with_rod.degrees_of_freedom) == (2, 1)


# ---- D09


@pytest.fixture(scope="module")
def disturbed() -> tuple[mbs.Model, mbs.State, mbs.State, float]:
    """The four-bar with its coupler moved by 5 mm along itself and turned by 2 degrees, the crank at 1 rad/s.

    Returns the model, that state, the assembled state and the gap that remains.
    """
    model = mbs.compile_model(FourBar().description())
    start = mbs.initial_state(model)
    crank, coupler = (model.bodies.names.index(name) for name in ("crank", "coupler"))
    along = XZ.point([np.cos(np.radians(29.0719)), np.sin(np.radians(29.0719))])
    turn = rotation.about(XZ.normal, np.radians(2.0))
    state = mbs.State(
        pos=start.pos.at[coupler].add(5e-3 * along),
        quat=start.quat.at[coupler].set(rotation.product(turn, np.asarray(start.quat[coupler]))),
        vel=start.vel,
        omega=start.omega.at[crank, 2].set(1.0),
        aux=start.aux,
        work=start.work,
    )
    assembled, gap = mbs.assemble_state(model, state)
    return model, state, assembled, float(gap)


def bar_angles(model: mbs.Model, state: mbs.State) -> dict[str, float]:
    quats = dict(zip(model.bodies.names, np.asarray(state.quat), strict=True))
    return {bar: float(np.degrees(XZ.angle(quats[bar]))) for bar in BARS}


def test_assembly_closes_the_gap_nearby(disturbed: tuple[mbs.Model, mbs.State, mbs.State, float]) -> None:
    model, _, assembled, gap = disturbed
    assert gap < 1e-10
    angles = bar_angles(model, assembled)
    assert abs(angles["crank"] - 60.0) < 1.5
    assert angles["rocker"] == pytest.approx(95.0, abs=3.0)


def test_a_second_assembly_moves_nothing(disturbed: tuple[mbs.Model, mbs.State, mbs.State, float]) -> None:
    model, _, assembled, _ = disturbed
    again, _ = mbs.assemble_state(model, assembled)
    for one, other in zip(jax.tree.leaves(assembled), jax.tree.leaves(again), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_a_run_starts_assembled(disturbed: tuple[mbs.Model, mbs.State, mbs.State, float]) -> None:
    """Same model and numbers of steps as D07, so that nothing is compiled anew but the start."""
    model, state, assembled, _ = disturbed
    run = Run(model, t1=1.0, dt=1e-3, save_at=TIMES, state=state)
    np.testing.assert_allclose(run.solution.ys.pos[0], assembled.pos, rtol=0, atol=1e-12)
    residual = run.dataset["residual_pos"]
    assert list(residual["joint"].to_numpy()) == ["crank_pivot", "elbow", "knee", "rocker_pivot"]
    assert float(abs(residual).max()) < 1e-10
    assert np.max(run.of("residual_vel")) < 1e-10
    assert abs(run.of("joint_angle_rate", "crank_pivot")[0]) > 1e-3
    assert np.ptp(run.energy_balance()) < 1e-9
