"""The overview picture: nothing empty, nothing unexplained, no rounding blown up."""

import numpy as np
import pytest
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import jaxmbs as mbs
from jaxmbs._plot import overview


def run(*, gravity: float, vel: float = 0.0, t1: float = 0.1) -> xr.Dataset:
    """A block on a rail along x, and a spring that is not stretched."""
    mechanism = mbs.ModelDescription(name="block", gravity=np.array([0.0, 0.0, gravity]))
    mechanism.add_body("ground", fixed=True)
    mechanism.add_body("block", mass=2.0, inertia=[1, 1, 1], pos=[1, 0, 5], vel=[vel, 0, 0])
    mechanism.add_joint("rail", mbs.JointKind.PRISMATIC, "ground", "block", pos=[0, 0, 5], axis=[1, 0, 0])
    mechanism.add_tsda("spring", "ground", "block", point1=[1, 0, 0], point2=[1, 0, 5], free_length=5, stiffness=0.0)
    return mbs.simulate(mbs.compile_model(mechanism), t1=t1, dt=0.01).to_xarray()


@pytest.fixture(scope="module")
def rest() -> xr.Dataset:
    return run(gravity=-9.81)


@pytest.fixture(scope="module")
def moving() -> xr.Dataset:
    return run(gravity=-9.81, vel=1.0)


def panels(figure: Figure) -> dict[str, Axes]:
    return {axes.get_title(loc="left"): axes for axes in figure.axes}


def panel(figure: Figure, start: str) -> Axes:
    return next(axes for title, axes in panels(figure).items() if title.startswith(start))


def labels(axes: Axes) -> list[str]:
    return [str(label) for label in axes.get_legend_handles_labels()[1]]


def test_no_panel_is_empty(rest: xr.Dataset, moving: xr.Dataset):
    for dataset in (rest, moving, moving.isel(time=[0])):
        for title, axes in panels(overview(dataset)).items():
            assert axes.lines and all(np.all(np.isfinite(line.get_ydata())) for line in axes.lines), title
            single = len(np.asarray(axes.lines[0].get_xdata())) == 1
            assert not single or axes.lines[0].get_marker() == "o", title
    # nothing moves, so there are no paths to draw
    assert not any(title.startswith("Paths") for title in panels(overview(rest)))


def test_every_mark_is_explained(moving: xr.Dataset):
    axes = panel(overview(moving), "Paths of centres of mass (open: start, full: end)")
    assert labels(axes) == ["block", "at rest"]
    triangle = next(line for line in axes.lines if line.get_marker() == "^")
    assert triangle.get_label() == "at rest" and np.asarray(triangle.get_xydata()).tolist() == [[0.0, 0.0]]


def test_the_balance_starts_at_zero(moving: xr.Dataset):
    # the potential energy of 98.1 J at the start is no error
    axes = panel(overview(moving), "Energies (balance off by at most")
    balance = next(line for line in axes.lines if str(line.get_label()).startswith("balance"))
    assert np.max(np.abs(np.asarray(balance.get_ydata()))) < 1e-12


def test_rounding_is_not_blown_up(rest: xr.Dataset):
    noise = 1e-17 * np.cos(np.arange(rest.sizes["time"]))
    dataset = rest.assign(
        joint_displacement=rest["joint_displacement"] * 0 + noise[:, None],
        joint_force=rest["joint_force"] * 0 + 5.0 + 1e-14 * noise[:, None, None],
        energy_kinetic=rest["energy_kinetic"] * 0 + 1e-30 * np.abs(noise),
    )
    figure = overview(dataset)
    assert panel(figure, "Joint displacements").get_ylim()[0] == -1.0
    low, high = panel(figure, "Reaction forces").get_ylim()
    size = 5 * np.sqrt(3)
    assert low == pytest.approx(size / 2) and high > 1.5 * size
    energies = panel(figure, "Energies (balance off by at most 0 J)")
    assert labels(energies) == ["balance (from start)"] and energies.get_ylim()[0] == -1.0
