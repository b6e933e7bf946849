"""Results as xarray and NetCDF: dimensions, names, attributes, batches, failures."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import jaxmbs as mbs
from jaxmbs._plot import overview, plot_overview
from jaxmbs._variables import VARIABLES


STEPS = 4
#: Of the instances, in the batch shape (2, 2).
PRELOADS = np.array([[0.0, 1.0], [2.0, 3.0]])


def every_dimension() -> mbs.ModelDescription:
    """One element for every dimension of a result."""
    model = mbs.ModelDescription(name="everything", gravity=np.zeros(3))
    model.add_body("ground", fixed=True)
    model.add_body("cart", mass=2, inertia=[1, 1, 1])
    model.add_body("arm", mass=1, inertia=[0.1, 0.2, 0.2], pos=[1, 0, 0])
    model.add_body("link", mass=1, inertia=[0.1, 0.2, 0.2], pos=[1, 2, 0])
    model.add_joint("rail", mbs.JointKind.PRISMATIC, "ground", "cart", pos=[0, 0, 0], axis=[1, 0, 0])
    model.add_motor(
        "rail",
        mbs.MotorKind.ROTATION,
        "arm",
        "cart",
        pos=[0, 0, 0],
        axis=[0, 0, 1],
        actuation=mbs.Actuation.FORCE,
        function=mbs.FunctionDescription.constant(0.0),
    )
    model.add_tsda("spring", "ground", "cart", point1=[-1, 0, 0], point2=[0, 0, 0], free_length=1, stiffness=10)
    model.add_rsda("twist", "cart", "arm", axis=[0, 0, 1], stiffness=1)
    model.add_bushing(
        "mount",
        "ground",
        "link",
        pos=[1, 2, 0],
        stiffness_linear=10,
        damping_linear=0.1,
        stiffness_rotational=1,
        damping_rotational=0.1,
    )
    model.add_constraint("rod", mbs.ConstraintKind.DISTANCE, "arm", "link", point1=[1, 0, 0], point2=[1, 2, 0])
    return model


@pytest.fixture(scope="module")
def solution() -> mbs.Solution:
    model = mbs.compile_model(every_dimension())
    # the last instance breaks: the square of its speed overflows
    omega = jnp.zeros((2, 2, 4, 3)).at[1, 1, 2, 2].set(1e200)
    batch = eqx.tree_at(lambda m: (m.tsdas.preload, m.bodies.omega), model, (jnp.asarray(PRELOADS)[..., None], omega))
    return mbs.simulate(batch, t1=0.04, dt=0.01)


@pytest.fixture(scope="module")
def dataset(solution: mbs.Solution) -> xr.Dataset:
    return solution.to_xarray()


def test_dimensions_and_names(dataset: xr.Dataset):
    assert dict(dataset.sizes) == {
        "instance": 4,
        "time": STEPS + 1,
        "body": 4,
        "joint": 2,
        "motor": 1,
        "tsda": 1,
        "rsda": 1,
        "bushing": 1,
        "constraint": 1,
        "xyz": 3,
        "wxyz": 4,
    }
    assert list(dataset["body"]) == ["ground", "cart", "arm", "link"]
    # a motor that shares its name with a joint
    assert list(dataset["joint"]) == ["rail", "motor:rail"] and list(dataset["motor"]) == ["rail"]
    assert list(dataset["motor_kind"]) == ["ROTATION"]
    assert dataset.attrs["batch_shape"].tolist() == [2, 2]
    assert np.allclose(dataset["time"], 0.01 * np.arange(STEPS + 1))


def test_every_variable_says_what_it_is(dataset: xr.Dataset):
    assert set(VARIABLES) <= set(dataset.variables)
    for name, variable in dataset.variables.items():
        assert variable.attrs["units"] and variable.attrs["frame"] and variable.attrs["long_name"], name
        if name in VARIABLES:
            assert variable.dims == ("instance", "time", *VARIABLES[str(name)].dims)
    assert dataset["motor_effort"].attrs["units"] == "N m"
    assert "body1 relative to body2" in dataset["motor_pos"].attrs["comment"]
    assert "body2 relative to body1" in dataset["joint_angle"].attrs["comment"]
    assert "pushes the bodies apart" in dataset["tsda_force"].attrs["comment"]
    assert dataset["body_omega"].attrs["frame"] == "COM axes of the body"


def test_dataset_attributes(dataset: xr.Dataset):
    assert dataset.attrs["title"] == "everything"
    assert dataset.attrs["jaxmbs_version"] == mbs.__version__
    assert "tsit5" in dataset.attrs["integrator"] and dataset.attrs["steps"] == STEPS
    # three constraint elements: rail and motor at the origin, the rod's point 2 m and 1 m away from them
    assert dataset.attrs["reaction_length"] == pytest.approx(2 * np.sqrt(5) / 3)
    assert dataset.attrs["not_simulated"] == "nothing"


def test_values_are_those_of_the_outputs(solution: mbs.Solution, dataset: xr.Dataset):
    outputs = solution.outputs()
    pos = np.asarray(outputs["body_pos"]).reshape(4, STEPS + 1, 4, 3)
    assert np.array_equal(dataset["body_pos"], pos)
    assert float(dataset["tsda_force"].isel(instance=1, time=0, tsda=0)) == pytest.approx(1.0)
    assert np.isnan(dataset["joint_angle"].sel(joint="rail")).all()
    assert np.isfinite(dataset["joint_displacement"].sel(joint="rail")).all()


def test_status_of_every_instance(dataset: xr.Dataset):
    assert dataset["status"].to_numpy().tolist()[:3] == [0, 0, 0]
    assert int(dataset["status"][3]) in (mbs.Status.DIVERGED, mbs.Status.CONSTRAINTS_OPEN)
    assert np.isinf(dataset["failed_at"][:3]).all()
    assert float(dataset["failed_at"][3]) == pytest.approx(0.01)
    meanings = dict(zip(dataset["status"].attrs["flag_values"], dataset["status"].attrs["flag_meanings"].split()))
    assert meanings[0] == "ok" and len(meanings) == len(mbs.Status)


def test_netcdf_round_trip(dataset: xr.Dataset, tmp_path: Path):
    path = tmp_path / "result.nc"
    dataset.to_netcdf(path, engine="h5netcdf")
    with xr.open_dataset(path) as back:
        xr.testing.assert_identical(back.load().drop_attrs(), dataset.drop_attrs())
        assert back["time"].dtype == np.float64
        for name, variable in dataset.variables.items():
            assert set(variable.attrs) <= set(back[name].attrs)
        assert set(back.attrs) == set(dataset.attrs)


def test_plot_shows_every_kind_of_panel(dataset: xr.Dataset, tmp_path: Path):
    moving = dataset.isel(instance=[1])  # the first one is at rest, and has no paths
    titles = [axes.get_title(loc="left") for axes in overview(moving).axes]
    for start in ("Paths", "Joint angles", "Joint disp", "Motor", "Reaction", "Spring", "Rotational", "Energies"):
        assert any(title.startswith(start) for title in titles), start
    plot_overview(dataset, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_plot_cuts_long_lists_and_says_so(dataset: xr.Dataset):
    one = dataset.isel(instance=1)
    many = one.isel(body=[1] * 12).assign_coords(body=[f"_{i}" for i in range(12)])
    paths = overview(many).axes[0]
    assert "largest 8 of 12" in paths.get_title(loc="left")
    legend = paths.get_legend()
    assert legend is not None and len(legend.get_texts()) == 8


def test_absent_kinds_have_no_variables():
    model = mbs.ModelDescription(name="one body")
    model.add_body("stone", mass=1, inertia=[1, 1, 1])
    dataset = mbs.simulate(mbs.compile_model(model), t1=0.2, dt=0.1).to_xarray()
    assert set(dataset.dims) == {"time", "body", "xyz", "wxyz"}
    assert not [name for name in dataset.variables if str(name).startswith(("joint", "motor", "tsda", "residual"))]
    assert dataset["status"].shape == () and "batch_shape" not in dataset.attrs
    assert float(dataset["body_pos"].sel(body="stone", xyz="z")[-1]) == pytest.approx(-0.5 * 9.81 * 0.2**2)
    assert len(overview(dataset).axes) == 2
    assert jax.tree.leaves(dataset.attrs)
