"""The command line: exit statuses, messages, files."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import yaml
from rich.console import Console
from typer.testing import CliRunner, Result

import jaxmbs as mbs
from jaxmbs._cli import app
from jaxmbs.cli import options
from jaxmbs.cli.errors import UserError
from jaxmbs.cli.progress import RunProgress
from tests.mechanisms import FLYWHEEL, FLYWHEEL_INERTIA


T1, DT, TORQUE = 0.2, 0.01, 3.0


def invoke(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def flat(text: str) -> str:
    """Text without the line breaks of tables."""
    return " ".join(text.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, a simulation of it, and torques for its controller."""
    path = tmp_path_factory.mktemp("flywheel")
    (path / "model.yaml").write_text(FLYWHEEL)
    (path / "solver.yaml").write_text(
        "chrono-version: 10.0\ncontact_method: NSC\nintegrator: {type: HHT, time_step: 0.01}\nsolver: {type: PSOR}\n"
    )
    (path / "mbs.yaml").write_text(
        "chrono-version: 10.0\ntype: MBS\nmodel: model.yaml\nsolver: solver.yaml\n"
        f"simulation: {{end_time: {T1}, gravity: [0, 0, -1]}}\n"
    )
    (path / "torque.csv").write_text(f"time, torque\n0, {TORQUE}\n0.1, {TORQUE}  # constant\n")
    (path / "broken.csv").write_text("0, 0\n0.1, 1e300\n")
    return path


@pytest.fixture(scope="module")
def done(folder: Path) -> Result:
    """A run that writes everything."""
    return invoke(
        "run",
        folder / "mbs.yaml",
        *("--input", f"drive={folder / 'torque.csv'}"),
        *("--out", folder / "result.nc", "--plot", folder / "plot.png"),
    )


def test_run_says_what_it_understood_and_did(done: Result, folder: Path):
    assert done.exit_code == 0, done.output
    text = flat(done.stdout)
    for part in (
        "bodies 2 (1 fixed)",
        "1 TSDA, 1 motor",
        "gravity [0, 0, -1] m/s2",
        "degrees of freedom 1 (by rank)",
        "0.2 s in 20 steps of 0.01 s",
        "HHT (time_step 0.01 s) -> explicit Tsit5",
        "energy balance off by at most",
        "largest gap",
        "Centres of mass at 0.2 s [m, m/s]",
        "Largest reactions",
    ):
        assert part in text, part
    assert f"wrote {folder / 'result.nc'}" in done.stdout.replace("\n", "") or "result.nc" in done.stdout
    assert not list(folder.glob("*.part"))


def test_run_writes_the_right_numbers(done: Result, folder: Path):
    with xr.open_dataset(folder / "result.nc") as result:
        angle = 0.5 * TORQUE / FLYWHEEL_INERTIA * result["time"] ** 2
        assert result.sizes["time"] == 21
        assert np.allclose(result["motor_pos"].sel(motor="drive"), angle, atol=1e-12)
        assert np.allclose(result["motor_effort"], TORQUE)
        assert np.allclose(result["work_motors"], TORQUE * angle, atol=1e-12)
        assert np.allclose(result["joint_force"].sel(joint="drive", xyz="z"), -2.0 * 1.0)
        assert result["body_pos"].dtype == np.float64
        assert (result.attrs["dt"], result.attrs["t1"]) == (DT, T1) and result.attrs["h"] == pytest.approx(DT)
        assert int(result["status"]) == 0 and result.attrs["title"] == "flywheel"
    assert (folder / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_a_failed_run_writes_its_results_so_far(done: Result, folder: Path):
    out = folder / "failed.nc"
    result = invoke("run", folder / "mbs.yaml", "--input", f"drive={folder / 'broken.csv'}", "--out", out)
    assert result.exit_code == 1
    assert "the simulation failed" in result.stderr and "t = " in result.stderr
    assert "failed.nc" in result.stdout
    with xr.open_dataset(out) as dataset:
        assert int(dataset["status"]) == mbs.Status.DIVERGED
        assert 0 < dataset.sizes["time"] < 21
        assert float(dataset["time"][-1]) < float(dataset["failed_at"]) <= T1
        assert np.all(np.isfinite(dataset["body_pos"]))


def bad(folder: Path, *arguments: object) -> str:
    """The complaint of a command that must end with status 2."""
    result = invoke(*arguments)
    assert result.exit_code == 2, (result.exit_code, result.output)
    return flat(result.stderr)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mbs.yaml",), "no values for: drive. Add --input drive=VALUE"),
        (("model.yaml",), "add --t1 SECONDS"),
        (("missing.yaml",), "missing.yaml"),
        (("mbs.yaml", "--input", "drive=1", "--t1", "-1"), "--t1 needs a positive number"),
        (("mbs.yaml", "--input", "drive=1", "--dt", "0"), "--dt needs a positive number"),
        (("mbs.yaml", "--input", "drive=1", "--dt", "1e-12"), "are both in seconds?"),
        (("mbs.yaml", "--input", "drive=1", "--save-dt", "1e-9"), "choose a larger one"),
        (("mbs.yaml", "--input", "drive=1", "--dt", "x"), "--dt"),
        (("mbs.yaml", "--integrator", "tsit6"), "did you mean 'tsit5'?"),
        (("mbs.yaml", "--integrator", "dopri5-adaptative"), "did you mean 'dopri5-adaptive'?"),
        (("mbs.yaml", "--format", "chronos"), "did you mean 'chrono'?"),
        (("mbs.yaml", "--dialect", "chrono-9"), "chrono-10"),
        (("mbs.yaml", "--dtype", "float16"), "float32"),
        (("mbs.yaml", "--gravity", "0", "0", "nan"), "--gravity needs three finite numbers"),
        (("mbs.yaml", "--input", "drive"), "the form NAME=VALUE"),
        (("mbs.yaml", "--input", "driver=1"), "did you mean 'drive'?"),
        (("mbs.yaml", "--input", "drive=1", "--input", "drive=2"), "given twice"),
        (("mbs.yaml", "--input", "drive=1,2,3"), "needs 1 finite number(s)"),
        (("mbs.yaml", "--input", "drive=nowhere.csv"), "cannot be read as a file"),
        (("mbs.yaml", "--input", "drive=FOLDER/solver.yaml"), "the columns are time, value"),
        (("mbs.yaml", "--out", "FOLDER/none/x.nc"), "create it first"),
        (("mbs.yaml", "--out", "FOLDER"), "cannot be written"),
        (("mbs.yaml", "--out", "FOLDER/mbs.yaml"), "would overwrite"),
        (("mbs.yaml", "--plot", "FOLDER/x.gif"), ".png"),
        (("solver.yaml",), "this is a solver file"),
        (("mbs.yaml", "--no-such-option"), "--no-such-option"),
    ],
)
def test_bad_input_ends_with_status_2(folder: Path, arguments: tuple[str, ...], message: str):
    first, *rest = (text.replace("FOLDER", str(folder)) for text in arguments)
    before = sorted(folder.iterdir())
    assert message in bad(folder, "run", folder / first, *rest)
    assert sorted(folder.iterdir()) == before


def test_errors_of_the_file_are_reported_with_their_place(folder: Path, tmp_path: Path):
    path = tmp_path / "bad.yaml"
    path.write_text(FLYWHEEL.replace("mass: 2", "masse: 2").replace("free_length", "free_lenth"))
    message = bad(folder, "run", path, "--t1", 1)
    assert "bad.yaml:7:" in message and "did you mean 'mass'?" in message and "did you mean 'free_length'?" in message
    assert bad(folder, "check", path).startswith("error: ")


def test_flexible_bodies_are_refused_by_name(folder: Path, root: Path):
    message = bad(folder, "run", root / "tests/data/chrono/everything.yaml", "--t1", 1)
    assert "flexible bodies" in message and "cable" in message


def test_input_tables_are_checked_line_by_line(tmp_path: Path):
    path = tmp_path / "values.csv"
    for text, message in (
        ("0, 1\n0, 2\n", "values.csv:2: the time 0 does not come after 0"),
        ("0, 1\n1\n", "values.csv:2: needs 2 numbers"),
        ("0, 1\n1, inf\n", "values.csv:2"),
        ("0, 1\n1, two\n", "values.csv:2"),
        ("# nothing\n", "no numbers"),
    ):
        path.write_text(text)
        with pytest.raises(UserError, match=message.replace(".", r"\.")):
            options.inputs([f"a={path}"], {"a": 1})
    path.write_text("t,x,y,z\n0,1,2,3\n1,4,5,6\n")
    found = options.inputs([f"a={path}", "b=1,2,3"], {"a": 3, "b": 3, "c": 3})
    assert found["a"][1].tolist() == [[1, 2, 3], [4, 5, 6]] and found["b"][1].tolist() == [[1, 2, 3]]
    assert "c" not in found


def test_times_come_from_the_command_line_then_the_file_then_defaults():
    model = mbs.ModelDescription()
    plain = options.times(model, 2.0, None, None)
    assert (plain.dt, plain.steps, plain.saves.size, plain.saves[-1]) == (1e-3, 2000, 1001, 2.0)
    # never more often than the steps
    assert options.times(model, 1.0, 0.3, None).saves.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    model.simulation.t1, model.simulation.dt, model.simulation.save_dt = 1.0, 0.01, 0.4
    from_file = options.times(model, None, None, None)
    assert from_file.dt == 0.01 and from_file.saves.tolist() == [0.0, 0.4, 0.8, 1.0]
    assert len(from_file.sources) == 3
    assert options.times(model, 0.5, 0.1, 0.25).saves.tolist() == [0.0, 0.25, 0.5]


def test_check_prints_a_report(done: Result, folder: Path):
    text = flat(invoke("check", folder / "mbs.yaml", "--gravity", 0, 0, -2).stdout)
    for part in (
        "degrees of freedom 1",
        "gravity [0, 0, -2]",
        "wheel 2",
        "drive motor ROTATION FORCE REVOLUTE wheel - ground",
        "drive: needed, --input NAME=VALUE",
        "Defaults that were applied",
    ):
        assert part in text, part


def test_check_prints_json(done: Result, folder: Path):
    report = json.loads(invoke("check", folder / "model.yaml", "--json").stdout)
    assert report["degrees_of_freedom"] == 1 and report["assembled"] is True
    assert report["inputs"] == {"drive": 1}
    assert [body["name"] for body in report["bodies"]] == ["ground", "wheel"]
    assert report["gravity"] == [0.0, 0.0, -9.8]
    assert any(line.startswith("gravity") for line in report["defaults"])


def test_a_model_that_cannot_be_assembled_ends_with_status_1(tmp_path: Path):
    model = yaml.safe_load(FLYWHEEL)
    motor = model["model"]["motors"][0]
    motor |= {"actuation_type": "POSITION", "actuation_function": {"type": "CONSTANT", "value": 0.5}}
    model["model"]["joints"] = [
        {"name": "weld", "type": "LOCK", "body1": "ground", "body2": "wheel", "location": [0, 0, 0]}
    ]
    path = tmp_path / "stuck.yaml"
    path.write_text(yaml.safe_dump(model))
    result = invoke("check", path, "--lenient")
    assert result.exit_code == 1
    assert "cannot be closed" in result.stderr and "weld: " in result.stderr and "drive: " in result.stderr


def test_schema_is_json(folder: Path):
    result = invoke("schema", "chrono")
    assert result.exit_code == 0 and "properties" in json.dumps(json.loads(result.stdout))
    assert "did you mean 'chrono'?" in bad(folder, "schema", "crono")


def test_version_and_help():
    assert invoke("--version").stdout.strip() == f"jaxmbs {mbs.__version__}"
    text = flat(invoke("run", "--help").stdout)
    for option in ("--t1", "--dt", "--save-dt", "--gravity", "--dialect", "--dtype", "--integrator", "--lenient"):
        assert option in text, option


def test_an_unexpected_fault_is_no_bad_input(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def broken(_: object) -> None:
        raise RuntimeError("oh no")

    monkeypatch.setattr("jaxmbs.cli.check.check_model", broken)
    result = CliRunner().invoke(app, ["check", str(folder / "mbs.yaml")])
    assert result.exit_code == 1
    assert "please report it" in result.stderr and "oh no" in result.stderr


def test_the_progress_bar_follows_the_run_and_leaves_it_alone():
    description = mbs.ModelDescription(name="stone")
    description.add_body("stone", mass=1, inertia=[1, 2, 3], omega=[1, 1, 1])
    model = mbs.compile_model(description)
    screen = io.StringIO()
    heard: list[float] = []
    with RunProgress(Console(file=screen, force_terminal=True)) as progress:
        listener = progress._heard
        progress._heard = lambda fraction: (heard.append(fraction), listener(fraction))[1]
        with progress:
            metered = mbs.simulate(model, t1=1.0, dt=0.02, progress_meter=progress.meter)
            metered.ts.block_until_ready()
    plain = mbs.simulate(model, t1=1.0, dt=0.02)
    # two programs: XLA may round differently in them
    assert np.allclose(metered.ys.pos, plain.ys.pos, rtol=0, atol=1e-13)
    assert np.allclose(metered.ys.omega, plain.ys.omega, rtol=0, atol=1e-13)
    assert len(heard) >= 10 and heard == sorted(heard) and heard[-1] == pytest.approx(1.0)
    assert "integrating" in screen.getvalue()
    # where nobody looks, the compiled program stays without calls to the host
    assert RunProgress(Console(file=io.StringIO())).meter is None
