"""The mechanisms of `benchmarks/`: what each leaves free, that it is closed, and that MuJoCo has the same one."""

import importlib.util

import numpy as np
import pytest

import jaxmbs as mbs
from benchmarks import engines, models, reference
from benchmarks.models import MECHANISMS
from benchmarks.timing import alternating_medians


needs_mujoco = pytest.mark.skipif(
    importlib.util.find_spec("mujoco") is None, reason="mujoco is not installed (the extra `benchmarks`)"
)
#: Degrees of freedom and redundant rows. Two more chains of the largest kind would only cost time.
FREEDOM = {
    "chain-4": (4, 0),
    "chain-16": (16, 0),
    "spherical-chain-16": (48, 0),
    "four-bar": (1, 3),
    "slider-crank": (1, 3),
    "hub-12": (13, 0),
    "bricard": (1, 1),
}
OPEN = ("chain-4", "spherical-chain-4", "hub-3")
SMALL = {
    "chain-4": models.chain(4),
    "spherical-chain-4": models.spherical_chain(4),
    "hub-3": models.hub(3),
    "four-bar": models.four_bar(),
    "slider-crank": models.slider_crank(),
    "bricard": models.bricard(),
}


@pytest.mark.parametrize("name", FREEDOM)
def test_degrees_of_freedom_and_closed_start(name: str):
    report = mbs.check_model(MECHANISMS[name]().describe())
    assert (report.degrees_of_freedom, len(report.redundant_rows)) == FREEDOM[name]
    assert report.gap_initial < 1e-12
    assert max(item.initial_rate for item in report.residuals) < 1e-12


@pytest.mark.parametrize("name", MECHANISMS)
def test_parents_come_first(name: str):
    mechanism = MECHANISMS[name]()
    known = {models.GROUND}
    assert mechanism.name == name
    for link in mechanism.links:
        assert link.parent in known
        known.add(link.name)
    assert all({loop.body1, loop.body2} <= known for loop in mechanism.loops)


def test_body_velocities_follow_joint_rates():
    """Two hinges about y: the second rod turns with the sum of the rates."""
    mechanism = models.chain(2)
    vel, omega = mechanism.body_velocities(np.array([[1.0, 0.5], [0.0, 2.0]]))
    assert np.allclose(omega[..., 1], [[1.0, 1.5], [0.0, 2.0]])
    half = models.LENGTH / 2
    assert np.allclose(vel[..., 2], [[-half, -2 * half - 1.5 * half], [0.0, -2.0 * half]])


def test_instances_differ_but_for_the_first():
    task = engines.Task(models.hub(3), batch=3, dt=1e-3, steps=1)
    rates = task.rates()
    assert np.array_equal(rates[0], task.mechanism.rates())
    assert np.all(rates[1] != rates[2])
    assert np.array_equal(rates, task.rates())


def test_medians_are_by_name():
    found = alternating_medians({"nothing": lambda: None, "sum": lambda: sum(range(1000))}, 3)
    assert set(found) == {"nothing", "sum"} and min(found.values()) >= 0


# ---- the same mechanism in MuJoCo


@needs_mujoco
@pytest.mark.parametrize("name", MECHANISMS)
def test_mujoco_has_the_same_links_and_freedom(name: str):
    from benchmarks.peers import MujocoModel

    mechanism = MECHANISMS[name]()
    built = MujocoModel(mechanism, 1e-3)
    assert built.model.nv == mechanism.freedom
    assert [built.model.body(i).name for i in range(1, built.model.nbody)] == [link.name for link in mechanism.links]
    # the order of joint rates is that of the links
    first = np.cumsum([0, *(models.FREEDOM[link.kind] for link in mechanism.links)])[:-1]
    assert np.array_equal(built.model.jnt_dofadr, first)
    data = built.evaluate(built.states(mechanism.rates()[None])[0])
    assert np.allclose(data.xipos[1:], [link.com_pos for link in mechanism.links])
    assert np.max(np.abs(data.efc_pos), initial=0.0) < 1e-12


@needs_mujoco
@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_initial_accelerations_equal_those_of_mujoco(name: str):
    """To rounding without loops, and to a thousandth with MuJoCo's loops as hard as they get."""
    ours, theirs = reference.accelerations(SMALL[name]), reference.mujoco_accelerations(SMALL[name])
    largest = np.max(np.abs(ours))
    assert largest > 0.9
    assert np.allclose(ours, theirs, rtol=0, atol=1e-8 if name in OPEN else 1e-3 * largest)


@needs_mujoco
@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_trajectories_converge_to_each_other(name: str):
    """MuJoCo's Runge-Kutta method of order 4 comes closer to ours by 2^4 when its step is halved.

    With loops by 2^2: their stiffness follows the step.
    """
    steps, order = ((1e-2, 5e-3, 2.5e-3), 4) if name in OPEN else ((2e-3, 1e-3, 5e-4), 2)
    ours = reference.positions(SMALL[name], 0.3, 1e-3)
    errors = [np.max(np.abs(reference.mujoco_positions(SMALL[name], 0.3, dt) - ours)) for dt in steps]
    assert errors[2] < 1e-6
    ratio = 2 ** (order - 0.5)
    assert errors[0] > ratio * errors[1] > ratio**2 * errors[2]
