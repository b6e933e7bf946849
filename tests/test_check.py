"""The check of a model: degrees of freedom by rank, redundant rows by name, assembly."""

import json

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmbs as mbs
from jaxmbs._check import check_model
from jaxmbs._rank import dependences, mass_metric, rank
from tests.mechanisms import four_bar


def rotation(yaw: float, pitch: float, roll: float) -> np.ndarray:
    (cz, cy, cx), (sz, sy, sx) = np.cos([yaw, pitch, roll]), np.sin([yaw, pitch, roll])
    z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    return z @ y @ x


@pytest.mark.parametrize("turn", [np.eye(3), rotation(*np.radians([30, 40, 50]))], ids=["plain", "rotated"])
def test_four_bar_has_one_degree_of_freedom_and_three_redundant_rows(turn: np.ndarray):
    report = check_model(four_bar(turn))
    assert report.degrees_of_freedom == report.degrees_of_freedom_undriven == 1
    assert report.degrees_of_freedom_counted == -2
    assert (report.rows, report.rank) == (20, 17)
    assert len(report.redundant_rows) == 3
    # the rows of the joint that closes the loop add nothing to those of the others
    assert {row.element for row in report.redundant_rows} == {"D"}
    assert all({"A", "B", "C"} <= set(row.depends_on) for row in report.redundant_rows)
    assert report.assembled and report.gap_assembled < 1e-9
    assert [item.element for item in report.residuals] == ["A", "B", "C", "D"]


def test_report_lists_what_the_description_holds():
    description = four_bar()
    description.defaults.append("gravity = [0, 0, -9.81]")
    description.warnings.extend(["look", "look"])
    description.not_simulated["contact"] = {"crank": {"shapes": []}}
    report = check_model(description)
    assert [body["name"] for body in report.bodies] == ["ground", "crank", "coupler", "rocker"]
    assert report.bodies[0] == {"name": "ground", "mass": None, "fixed": True}
    assert report.bodies[1]["mass"] == pytest.approx(0.3)
    assert report.elements["joints"][0] == {"name": "A", "type": "REVOLUTE", "body1": "ground", "body2": "crank"}
    assert report.defaults == ("gravity = [0, 0, -9.81]",)
    assert report.warnings == ("look",)
    assert report.not_simulated == {"contact": ("crank",)}
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["degrees_of_freedom"] == 1


def test_a_compiled_model_gives_the_same_numbers():
    model = mbs.compile_model(four_bar())
    report = check_model(model)
    assert (report.degrees_of_freedom, len(report.redundant_rows)) == (1, 3)
    assert [item["name"] for item in report.elements["FrameJoint"]] == ["A", "B", "C", "D"]
    with pytest.raises(ValueError, match="single model"):
        check_model(mbs.broadcast(model, 2))


def test_assembly_that_fails_names_the_joints():
    description = mbs.ModelDescription(name="stuck")
    description.add_body("ground", fixed=True)
    description.add_body("block", mass=1, inertia=[1, 1, 1])
    description.add_joint("weld", mbs.JointKind.LOCK, "ground", "block", pos=[0, 0, 0])
    description.add_motor(
        "pusher",
        mbs.MotorKind.LINEAR,
        "block",
        "ground",
        pos=[0, 0, 0],
        axis=[1, 0, 0],
        actuation=mbs.Actuation.POSITION,
        function=mbs.FunctionDescription.constant(0.25),
    )
    report = check_model(description)
    assert not report.assembled
    residuals = {item.element: item for item in report.residuals}
    assert residuals["weld"].initial == 0.0 and residuals["pusher"].initial == pytest.approx(0.25)
    # the nearest pose shares the gap
    assert residuals["weld"].assembled == pytest.approx(0.125) == residuals["pusher"].assembled
    assert (report.degrees_of_freedom, report.degrees_of_freedom_counted) == (0, -6)
    assert {(row.element, row.row) for row in report.redundant_rows} == {
        ("pusher", label) for label in ("x", "y", "z (drive)", "rx", "ry", "rz")
    }


def test_elements_that_are_not_simulated_are_named():
    description = mbs.ModelDescription()
    description.not_simulated = {
        "visualization": {"bodies": {"a": {}}, "tsdas": {"s": {}}},
        "fea": {"beams": [{"name": "cable"}], "data_path": {}},
    }
    assert description.names_not_simulated() == {"visualization": ("a", "s"), "fea": ("cable",)}


def test_rank_and_dependences_of_known_rows():
    rows = np.array([[1.0, 0, 0], [0, 2, 0], [3, 4, 0], [0, 0, 0], [0, 1e-9, 1]])
    assert rank(rows) == 3
    assert rank(np.zeros((0, 3))) == 0
    found = dependences(rows, range(5))
    assert [(item.row, item.of) for item in found] == [(2, (0, 1)), (3, ())]
    # in another order others are the ones that add nothing
    assert [item.row for item in dependences(rows, [2, 1, 0, 3, 4])] == [0, 3]


def test_mass_metric_measures_velocities_by_kinetic_energy():
    jacobian = np.zeros((2, 1, 6))
    jacobian[0, 0, 0], jacobian[1, 0, 5] = 7.0, 3.0
    tensor = np.diag([1.0, 1.0, 4.0])[None]
    assert np.allclose(mass_metric(jacobian, np.array([0.25]), tensor), np.eye(6)[[0, 5]])
    assert not np.any(mass_metric(jacobian, np.zeros(1), np.zeros((1, 3, 3))))


def test_check_leaves_the_precision_of_the_process_alone():
    before = jnp.asarray(1.0).dtype
    assert eqx.is_array(mbs.compile_model(four_bar(), dtype="float32").gravity)
    check_model(four_bar())
    assert jnp.asarray(1.0).dtype == before
