import numpy as np
import pytest

from jaxmbs.loaders import LoaderChrono
from tests.loaders.texts import DATA, errors, line_of, model, only_error


RUN = """chrono-version: 10.0
type: MBS
model: model.yaml
solver: solver.yaml
"""
SOLVER = """chrono-version: 10.0
contact_method: NSC
integrator: {type: HHT, time_step: 1e-3}
solver: {type: SPARSE_LU}
"""


@pytest.fixture
def files(tmp_path):
    """Writes the three files, with other texts where they are given, and returns the simulation file."""

    def write(run=RUN, solver=SOLVER, text=None):
        (tmp_path / "run.yaml").write_text(run)
        (tmp_path / "solver.yaml").write_text(solver)
        (tmp_path / "model.yaml").write_text(model() if text is None else text)
        return tmp_path / "run.yaml"

    return write


def described(source):
    return LoaderChrono().describe(source)


def test_a_simulation_file():
    description = described(DATA / "run.yaml")
    assert description.name == "everything"
    np.testing.assert_array_equal(description.gravity, [0, -9.81, 0])
    simulation = description.simulation
    assert (simulation.t1, simulation.dt, simulation.save_dt) == (2.5, 1e-4, 0.02)
    assert simulation.notes[0].startswith("integrator HHT (time_step 0.0001 s) -> explicit Tsit5 with projection")
    assert simulation.notes[1].startswith("solver MINRES -> constraints are solved directly")
    assert not any("gravity" in line for line in description.defaults)


def test_a_model_file_alone():
    description = described(DATA / "everything.yaml")
    np.testing.assert_array_equal(description.gravity, [0, 0, -9.8])
    assert (description.simulation.t1, description.simulation.dt) == (None, None)
    assert description.simulation.notes == ()
    assert description.defaults[-1] == "gravity = [0, 0, -9.8] (the format's default)"


def test_a_short_simulation_file(files):
    description = described(files())
    np.testing.assert_array_equal(description.gravity, [0, 0, -9.8])
    assert (description.simulation.t1, description.simulation.dt, description.simulation.save_dt) == (None, 1e-3, None)
    assert description.defaults[-1] == "gravity = [0, 0, -9.8] (the format's default)"


@pytest.mark.parametrize(("end_time", "t1"), [("5", 5.0), ("1e-1", 0.1), ("-1", None), ("0", None)])
def test_end_time(files, end_time, t1):
    assert described(files(RUN + f"simulation: {{end_time: {end_time}}}\n")).simulation.t1 == t1


@pytest.mark.parametrize(("output", "save_dt"), [("{fps: 20}", 0.05), ("{fps: 0}", None), ("{format: NONE}", None)])
def test_outputs_per_second(files, output, save_dt):
    assert described(files(RUN + f"output: {output}\n")).simulation.save_dt == save_dt


def test_the_leftover_step_of_real_files(files):
    description = described(files(RUN + "simulation: {time_step: 1e-4}\n"))
    assert description.simulation.dt == 1e-3
    assert "run.yaml:5:14: simulation: 'time_step' has no effect" in description.warnings[0]


def test_the_two_spellings_of_the_step(files):
    description = described(files(solver=SOLVER.replace("time_step", "time-step")))
    assert description.simulation.dt == 1e-3
    assert (
        "solver.yaml:3:25: integrator: 'time-step' is read as 'time_step' (write 'time_step')"
        in (description.warnings[0])
    )


@pytest.mark.parametrize(
    "integrator", ["EULER_IMPLICIT_LINEARIZED", "EULER_IMPLICIT_PROJECTED", "Euler_Implicit", "hht"]
)
def test_every_integrator_is_accepted(files, integrator):
    notes = described(files(solver=SOLVER.replace("HHT", integrator))).simulation.notes
    assert notes[0].startswith(f"integrator {integrator.upper()} ")


@pytest.mark.parametrize(
    "solver",
    "BARZILAI_BORWEIN PSOR APGD MINRES GMRES BICGSTAB PARDISO MUMPS SPARSE_LU SPARSE_QR Barzilai_Borwein".split(),
)
def test_every_solver_is_accepted(files, solver):
    notes = described(files(solver=SOLVER.replace("SPARSE_LU", solver))).simulation.notes
    assert notes[1].startswith(f"solver {solver.upper()} ")


def test_solver_and_integrator_may_be_left_out(files):
    assert described(files(solver="chrono-version: 10.0\ncontact_method: SMC\n")).simulation.dt is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("contact_method: NSC\n", "", "missing key 'contact_method'"),
        ("NSC", "DEM", "contact_method: there is no choice 'DEM'"),
        ("HHT", "RK4", "integrator.type: there is no choice 'RK4'"),
        ("1e-3", "0", "integrator.time_step: must be greater than 0, got 0"),
        ("1e-3", "fast", "integrator.time_step: needs a number, got 'fast'"),
        (", time_step: 1e-3", "", "integrator: missing key 'time_step'"),
        ("SPARSE_LU", "LU", "solver.type: there is no choice 'LU'"),
        ("SPARSE_LU}", "GMRES, tol: 1}", "solver: unknown key 'tol'"),
        ("SPARSE_LU}", "GMRES, max_iterations: 1.5}", "solver.max_iterations: needs an integer, got '1.5'"),
        ("10.0", "9.0", "chrono-version: this is version '9.0' of the format; 10.0 is supported"),
    ],
)
def test_what_no_solver_file_can_have(files, old, new, message):
    found = only_error(files(solver=SOLVER.replace(old, new)))
    assert found.file.endswith("solver.yaml")
    assert found.message == message
    assert found.line is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RUN.replace("MBS", "FSI"), "type: there is no choice 'FSI'"),
        (RUN.replace("type: MBS\n", ""), "missing key 'type'"),
        (RUN.replace("solver: solver.yaml\n", ""), "missing key 'solver'"),
        (RUN + "simulation: {gravity: [0, 1]}\n", "simulation.gravity: needs at least 3 values, got 2"),
        (RUN + "simulation: {end_tim: 1}\n", "simulation: unknown key 'end_tim'"),
        (RUN + "output: {format: CSV}\n", "output.format: there is no choice 'CSV'"),
        (RUN + "output: {mode: ALL}\n", "output.mode: there is no choice 'ALL'"),
        (RUN + "visualization: {type: WIRE}\n", "visualization.type: there is no choice 'WIRE'"),
        (RUN + "visualization: {camera: {vertical: X}}\n", "visualization.camera.vertical: there is no choice 'X'"),
        (
            RUN + "visualization: {output: {save_images: 3}}\n",
            "visualization.output.save_images: needs true or false, ",
        ),
    ],
)
def test_what_no_simulation_file_can_have(files, text, message):
    found = only_error(files(text))
    assert found.file.endswith("run.yaml")
    assert found.message.startswith(message)


def test_a_simulation_file_without_a_model(files):
    assert only_error(files(RUN.replace("model: model.yaml\n", ""))).message == "missing key 'model'"


@pytest.mark.parametrize("key", ["model", "solver"])
def test_a_missing_file(files, key):
    found = only_error(files(RUN.replace(f"{key}.yaml", "nothing.yaml")))
    assert found.file.endswith("run.yaml")
    assert found.line == line_of(RUN, f"{key}.yaml")
    assert found.message.startswith(f"{key}: there is no file ") and found.message.endswith("nothing.yaml'")


def test_files_of_the_wrong_kind(files):
    swapped = RUN.replace("model: model.yaml", "model: solver.yaml").replace(
        "solver: solver.yaml", "solver: model.yaml"
    )
    assert [error.message for error in errors(files(swapped))] == [
        "model: 'solver.yaml' is a solver file, not a model file",
        "solver: 'model.yaml' is a model file, not a solver file",
    ]
    itself = RUN.replace("model: model.yaml", "model: run.yaml")
    assert only_error(files(itself)).message == "model: 'run.yaml' is a simulation file, not a model file"


def test_a_solver_file_alone():
    found = only_error(DATA / "solver.yaml")
    assert found.message == "this is a solver file; it holds no mechanism"
    assert found.fix == "give the simulation file or the model file"


def test_errors_of_all_files_are_in_one_report(files):
    run = files(RUN + "extra: 1\n", SOLVER + "extra: 1\n", model(extra=1))
    assert [error.file.rsplit("/", 1)[1] for error in errors(run)] == ["run.yaml", "model.yaml", "solver.yaml"]


def test_a_simulation_text_starts_from_the_working_directory(files, monkeypatch):
    monkeypatch.chdir(files().parent)
    assert described(RUN).simulation.dt == 1e-3
