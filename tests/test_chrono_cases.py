"""Trajectories, reactions and efforts of Project Chrono 10 (`shared/reference/chrono_cases`)."""

import csv
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from jaxmbs import ModelDescription, compile_model
from jaxmbs._description import BushingDescription
from jaxmbs._outputs import constraint_names, joint_names, motor_names
from jaxmbs.loaders import describe
from jaxmbs.solvers import RungeKutta
from tests.systems import rotation
from tests.systems.run import Run


CASES = (
    "body_com_offset",
    "body_euler_vs_quat",
    "body_free_products",
    "bushing_revolute",
    "bushing_spherical",
    "cd_inverted_pendulum_motor",
    "cd_inverted_pendulum_motor_ic",
    "cd_slider_crank",
    "constraint_distance",
    "constraint_revsph_ignored",
    "functions_all",
    "joint_cylindrical_is_lock",
    "joint_lock",
    "joint_point_line",
    "joint_point_plane",
    "joint_prismatic",
    "joint_revolute",
    "joint_spherical",
    "joint_universal",
    "loads_all",
    "motor_linear_force",
    "motor_linear_position",
    "motor_rotation_position",
    "motor_rotation_speed",
    "rsda_curves",
    "rsda_linear",
    "spec_cylindrical",
    "spec_revolute_spherical",
    "spec_revolute_translational",
    "tsda_damping_curve",
    "tsda_degressive",
    "tsda_linear",
    "tsda_map",
    "tsda_spring_curve",
    "tsda_stops",
)
STEP = 1e-3
#: Absolute and relative tolerance of runs with adaptive steps: stops are piecewise linear and stiff, so that steps must
#: be small where they are touched.
ADAPTIVE = {"tsda_stops": 1e-11}
#: Where Chrono recorded no reactions: its link writes zeros, see `check_unrecorded_reactions`.
NOT_RECORDED = {("spec_revolute_translational", "c1")}

XYZ = ("x", "y", "z")


@dataclasses.dataclass(frozen=True)
class Case:
    """A reference run: columns by name, and its own error per quantity."""

    name: str
    description: ModelDescription
    end_time: float
    columns: dict[str, np.ndarray]
    errors: dict[str, float]

    def vector(self, prefix: str, names: tuple[str, ...] = XYZ) -> np.ndarray:
        return np.stack([self.columns[prefix + name] for name in names], axis=-1)

    def named(self, kind: str, suffix: str) -> list[str]:
        """The names of elements of a kind (`B`, `J`, ...) that have a column of that suffix."""
        start, end = f"{kind}:", f":{suffix}"
        return [key[len(start) : -len(end)] for key in self.columns if key.startswith(start) and key.endswith(end)]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """One array beside its reference, (times,) or (times, components). `first` skips rows at the start."""

    quantity: str
    label: str
    got: np.ndarray
    want: np.ndarray
    first: int = 0


def load_case(folder: Path) -> Case:
    meta = json.loads((folder / "meta.json").read_text())
    extrapolated = folder / "reference_extrap.csv"
    errors = meta.get("error_estimate_extrapolated")
    if errors and extrapolated.exists():
        file = extrapolated
    else:
        file, errors = folder / "reference.csv", meta["error_bound_reference"]
    with file.open(newline="") as stream:
        header, *rows = csv.reader(stream)
    values = np.array(rows, dtype=np.float64)
    return Case(
        name=folder.name,
        description=describe(folder / "sim.yaml", dialect=meta.get("dialect", "chrono-10")),
        end_time=meta["end_time"],
        columns={name: values[:, i] for i, name in enumerate(header)},
        errors=errors,
    )


def run_case(case: Case) -> Run:
    model = compile_model(case.description)
    tolerance = ADAPTIVE.get(case.name)
    integrator = RungeKutta() if tolerance is None else RungeKutta(rtol=tolerance, atol=tolerance)
    inputs = {
        name: (np.zeros(1), np.zeros(1 if size == 1 else (1, size))) for name, size in model.input_names().items()
    }
    times = case.columns["t"]
    return Run(model, t1=case.end_time, dt=STEP, save_at=times, inputs=inputs, integrator=integrator)


def comparisons(case: Case, run: Run) -> Iterator[Comparison]:
    yield from body_comparisons(case, run)
    yield from reaction_comparisons(case, run)
    yield from motor_comparisons(case, run)
    yield from spring_comparisons(case, run)
    yield from distance_comparisons(case, run)
    yield from bushing_comparisons(case, run)


def body_comparisons(case: Case, run: Run) -> Iterator[Comparison]:
    for body in case.named("B", "ref_x"):
        start = f"B:{body}:"
        want_quat = case.vector(start, ("e0", "e1", "e2", "e3"))
        quat = rotation.same_sign(run.of("ref_quat", body), want_quat)
        omega = run.of("ref_omega", body)
        yield Comparison("body_pos", f"{body} ref", run.of("ref_pos", body), case.vector(f"{start}ref_"))
        yield Comparison("body_pos", f"{body} com", run.of("body_pos", body), case.vector(f"{start}com_"))
        yield Comparison("body_quat", body, quat, want_quat)
        yield Comparison("body_vel", body, run.of("body_vel", body), case.vector(f"{start}vcom_"))
        yield Comparison("body_omega", f"{body} ref axes", omega, case.vector(f"{start}wref_"))
        world = np.einsum("tij,tj->ti", rotation.matrix(quat), omega)
        yield Comparison("body_omega", f"{body} world axes", world, case.vector(f"{start}wabs_"))


def reaction_comparisons(case: Case, run: Run) -> Iterator[Comparison]:
    joints, constraints = joint_names(run.model), constraint_names(run.model)
    for name in case.named("J", "f2abs_x"):
        if (case.name, name) in NOT_RECORDED:
            continue
        # a motor's guide is a joint too; where a joint has the motor's name, the motor's is `motor:NAME`
        label = name if name in joints or name in constraints else f"motor:{name}"
        kind = "constraint" if name in constraints else "joint"
        for part in ("force", "torque"):
            want = case.vector(f"J:{name}:{part[0]}2abs_")
            yield Comparison(f"joint_{part}", name, run.of(f"{kind}_{part}", label), want, first=1)


def motor_comparisons(case: Case, run: Run) -> Iterator[Comparison]:
    columns = {("pos", "vel", "force"): case.named("M", "pos"), ("angle", "rate", "torque"): case.named("M", "angle")}
    for (pos, vel, effort), names in columns.items():
        for name in names:
            assert name in motor_names(run.model)
            yield Comparison("motor", f"{name} pos", run.of("motor_pos", name), case.columns[f"M:{name}:{pos}"])
            yield Comparison("motor", f"{name} vel", run.of("motor_vel", name), case.columns[f"M:{name}:{vel}"])
            want = case.columns[f"M:{name}:{effort}"]
            yield Comparison("motor", f"{name} effort", run.of("motor_effort", name), want, first=1)


def spring_comparisons(case: Case, run: Run) -> Iterator[Comparison]:
    for kind, variables in (("tsda", ("length", "rate", "force")), ("rsda", ("angle", "rate", "torque"))):
        letter = kind[0].upper()
        for name in case.named(letter, variables[0]):
            for variable in variables:
                want = case.columns[f"{letter}:{name}:{variable}"]
                yield Comparison(kind, f"{name} {variable}", run.of(f"{kind}_{variable}", name), want)


def distance_comparisons(case: Case, run: Run) -> Iterator[Comparison]:
    """The distance of the two points, and the force on body2 along the line from point 2 to point 1."""
    for item in case.description.constraints:
        if f"D:{item.name}:dist" not in case.columns:
            continue
        line = carried(case, run, item.body1, item.point1) - carried(case, run, item.body2, item.point2)
        length = np.linalg.norm(line, axis=-1, keepdims=True)
        force = case.columns[f"D:{item.name}:react"][:, None] * line / length
        yield Comparison("distance", f"{item.name} length", length[:, 0], case.columns[f"D:{item.name}:dist"])
        yield Comparison("distance", f"{item.name} force", run.of("constraint_force", item.name), force, first=1)


def carried(case: Case, run: Run, body: str, point: np.ndarray) -> np.ndarray:
    """Where a point that is given in the world at t = 0 is carried by its body, (times, 3)."""
    start = case.description.body(body)
    local = rotation.matrix(start.quat).T @ (point - start.pos)
    return run.of("ref_pos", body) + rotation.matrix(run.of("ref_quat", body)) @ local


def bushing_comparisons(case: Case, run: Run) -> Iterator[Comparison]:
    """Chrono gives the wrench on body2 in the axes of body2's joint frame; ours are world axes."""
    for item in case.description.bushings:
        start = case.description.body(item.body2)
        local = rotation.matrix(start.quat).T @ bushing_axes(item)
        axes = rotation.matrix(run.of("ref_quat", item.body2)) @ local
        for part in ("force", "torque"):
            want = np.einsum("tij,tj->ti", axes, case.vector(f"U:{item.name}:{part[0]}Bloc_"))
            yield Comparison("bushing_force", f"{item.name} {part}", run.of(f"bushing_{part}", item.name), want)


def bushing_axes(item: BushingDescription) -> np.ndarray:
    """The joint frame in the world at t = 0: z along the axis, x nearest to `axis_x`."""
    z = item.axis / np.linalg.norm(item.axis)
    y = np.cross(z, item.axis_x)
    y /= np.linalg.norm(y)
    return np.stack([np.cross(y, z), y, z], axis=1)


def report(case: Case, compared: list[Comparison]) -> list[str]:
    """One line for every array that is out of tolerance."""
    scale: dict[str, float] = {}
    for item in compared:
        scale[item.quantity] = max(scale.get(item.quantity, 0.0), float(np.max(np.abs(item.want))))
    lines = []
    for item in compared:
        assert item.got.shape == item.want.shape, f"{item.quantity} of {item.label}: {item.got.shape}"
        tolerance = max(3 * case.errors.get(item.quantity, 0.0), 1e-6 * scale[item.quantity], 1e-9)
        error = float(np.max(np.abs(item.got - item.want)[item.first :]))
        if not error <= tolerance:
            lines.append(f"{item.quantity} of {item.label}: error {error:.3g}, tolerance {tolerance:.3g}")
    return lines


def test_every_case_is_here(shared: Path) -> None:
    folders = {path.parent.name for path in (shared / "reference" / "chrono_cases").glob("*/meta.json")}
    assert folders == set(CASES)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the models: parts that are not simulated, what Chrono ignores
@pytest.mark.parametrize("name", CASES)
def test_case_agrees_with_chrono(name: str, shared: Path) -> None:
    case = load_case(shared / "reference" / "chrono_cases" / name)
    run = run_case(case)
    compared = list(comparisons(case, run))
    seen = {item.quantity for item in compared}
    # a quantity that has an error has columns; contact is not simulated
    assert seen == set(case.errors) - {"contact_force"}
    assert not (lines := report(case, compared)), "\n".join(lines)
    if name == "spec_revolute_translational":
        check_unrecorded_reactions(case, run)


def check_unrecorded_reactions(case: Case, run: Run) -> None:
    """The reactions of `c1`, which Chrono's link leaves at zero, must balance link1 together with those of `j2`.

    Force: m (a - g). Torque about the COM: R (I alpha' + omega' x I omega') with body axes.
    """
    link = case.description.body("link1")
    (pos, quat, _, omega), acc = run.body_state("link1"), run.of("body_acc", "link1")
    rot = rotation.matrix(quat)
    force = run.of("constraint_force", "c1") + run.of("joint_force", "j2")
    np.testing.assert_allclose(force, link.mass * (acc - case.description.gravity), rtol=0, atol=1e-9)
    (constraint,), (joint,) = case.description.constraints, case.description.joints
    torque = run.of("constraint_torque", "c1") + run.of("joint_torque", "j2")
    for point, part in (
        (constraint.point2, run.of("constraint_force", "c1")),
        (joint.pos, run.of("joint_force", "j2")),
    ):
        torque = torque + np.cross(carried(case, run, "link1", point) - pos, part)
    alpha = np.einsum("tji,tj->ti", rot, run.of("body_alpha", "link1"))
    rate = alpha @ link.inertia + np.cross(omega, omega @ link.inertia)
    np.testing.assert_allclose(torque, np.einsum("tij,tj->ti", rot, rate), rtol=0, atol=1e-9)
