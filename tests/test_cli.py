"""The command line: exit statuses, messages, files."""

import io
import json
import os
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
import yaml
from rich.console import Console
from typer.testing import CliRunner, Result

import jaxmbs as mbs
from jaxmbs._cli import app
from jaxmbs.cli import options, summary
from jaxmbs.cli.diagnosis import non_finite
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
        "HHT (time_step 0.01 s) -> tsit5 with projection, fixed steps, step 0.01 s",
        "drive (CONTROLLER function): = ",
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
    assert "where: body 'wheel': body_alpha has reached" in result.stderr
    with xr.open_dataset(out) as dataset:
        assert int(dataset["status"]) == mbs.Status.DIVERGED
        assert 0 < dataset.sizes["time"] < 21
        assert float(dataset["time"][-1]) < float(dataset["failed_at"]) <= T1
        assert np.all(np.isfinite(dataset["body_pos"]))


def bad(folder: Path, *arguments: object) -> str:
    """The complaint of a command that must end with status 2, without the frame that some are in."""
    result = invoke(*arguments)
    assert result.exit_code == 2, (result.exit_code, result.output)
    return flat(result.stderr.replace("│", " "))


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
        (("mbs.yaml", "--t1", "abc"), "'abc' is no number"),
        (("mbs.yaml", "--input", "drive=1", "--t1", "nan"), "--t1 needs a positive number of seconds, got nan"),
        (("mbs.yaml", "--input", "drive=1", "--dt", "-1"), "--dt needs a positive number of seconds, got -1"),
        (("mbs.yaml", "--integrator", "tsit6"), "did you mean 'tsit5'? The names are tsit5, dopri5, "),
        (("mbs.yaml", "--integrator", "nothing"), "choose from tsit5, dopri5, dopri8, bosh3, heun"),
        (("mbs.yaml", "--lenient=yes"), "--lenient is a switch and takes no value, but got 'yes'"),
        (("mbs.yaml", "--lenient", "true"), "--lenient is a switch and takes no value, but got 'true'"),
        (("mbs.yaml", "--integrator", "dopri5-adaptative"), "did you mean 'dopri5-adaptive'?"),
        (("mbs.yaml", "--format", "chronos"), "did you mean 'chrono'?"),
        (("mbs.yaml", "--dialect", "chrono-9"), "chrono-10"),
        (("mbs.yaml", "--dtype", "float16"), "choose one of float64, float32"),
        (("mbs.yaml", "--gravity", "0", "0", "nan"), "--gravity needs three finite numbers"),
        (("mbs.yaml", "--input", "drive"), "the form NAME=VALUE"),
        (("mbs.yaml", "--input", "driver=1"), "did you mean 'drive'?"),
        (("mbs.yaml", "--input", "drive=1", "--input", "drive=2"), "given twice"),
        (("mbs.yaml", "--input", "drive=1,2,3"), "needs 1 finite number(s)"),
        (("mbs.yaml", "--input", "drive=nowhere.csv"), "cannot be read as a file"),
        (("mbs.yaml", "--input", "drive=FOLDER/solver.yaml"), "the columns are time, value"),
        (("mbs.yaml", "--out", "FOLDER/none/x.nc"), "create it first"),
        (("mbs.yaml", "--out", "FOLDER"), "is a folder; name a file in it"),
        (("mbs.yaml", "--out", "/proc/x.nc"), "the folder '/proc' takes no new files"),
        (("mbs.yaml", "--plot", "/proc/x.png"), "the folder '/proc' takes no new files"),
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


def test_only_regular_files_are_replaced(folder: Path):
    pipe = folder / "pipe.nc"
    os.mkfifo(pipe)
    try:
        assert "is no regular file" in bad(folder, "run", folder / "mbs.yaml", "--out", pipe)
        assert pipe.is_fifo()
    finally:
        pipe.unlink()


def test_errors_of_the_file_are_reported_with_their_place(folder: Path, tmp_path: Path):
    path = tmp_path / "bad.yaml"
    path.write_text(FLYWHEEL.replace("mass: 2", "masse: 2").replace("free_length", "free_lenth"))
    message = bad(folder, "run", path, "--t1", 1)
    assert "bad.yaml:7:" in message and "did you mean 'mass'?" in message and "did you mean 'free_length'?" in message
    assert bad(folder, "check", path).startswith("error: ")


def test_flexible_bodies_are_refused_by_name(folder: Path, root: Path):
    path = root / "tests/data/chrono/everything.yaml"
    message = bad(folder, "run", path, "--t1", 1)
    assert "flexible bodies" in message and "cable" in message
    text = flat(invoke("check", path).stdout)
    assert "a run will refuse this file" in text and "cable, end, slope" in text
    assert "thrust: load controller, zero unless given; --input thrust=X,Y,Z or --input thrust=FILE.csv" in text


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


def test_a_run_says_what_it_overrides_assumes_and_leaves_unwritten(folder: Path, tmp_path: Path):
    model = yaml.safe_load(FLYWHEEL)
    model["model"]["load_controllers"] = [{"name": "push", "type": "TORQUE", "body": "wheel"}]
    (tmp_path / "model.yaml").write_text(yaml.safe_dump(model))
    for name in ("mbs.yaml", "solver.yaml"):
        (tmp_path / name).write_text((folder / name).read_text())
    result = invoke("run", tmp_path / "mbs.yaml", *"--input drive=1 --integrator heun --dt 0.02".split())
    assert result.exit_code == 0, result.output
    text = flat(result.stdout)
    for part in (
        "integrator HHT (time_step 0.01 s) -> heun with projection, fixed steps, step 0.02 s",
        "drive (CONTROLLER function): = 1",
        "push (load controller): none given, so zero; --input push=X,Y,Z or --input push=FILE.csv",
        "nothing was written: add --out FILE.nc",
    ):
        assert part in text, part
    assert "Tsit5" not in text and "warning" not in text


def test_a_model_without_elements_has_no_empty_tables(tmp_path: Path):
    path = tmp_path / "stone.yaml"
    path.write_text(
        "chrono-version: 10.0\nmodel: {name: stone, bodies: [{name: stone, mass: 1, location: [0, 0, 0],"
        " inertia: {moments: [1, 1, 1]}}]}\n"
    )
    text = invoke("check", path).stdout
    assert "Bodies" in text and "Elements" not in text


def test_numbers_that_the_precision_cannot_hold_are_named(folder: Path, tmp_path: Path):
    path = tmp_path / "heavy.yaml"
    path.write_text(FLYWHEEL.replace("mass: 2", "mass: 1e40"))
    message = bad(folder, "run", path, *"--t1 0.1 --input drive=1 --dtype float32".split())
    assert "not finite in float32: bodies.mass of 'wheel' is inf" in message


def test_what_is_not_finite_is_named():
    description = mbs.ModelDescription(name="stone")
    description.add_body("stone", mass=1, inertia=[1, 2, 3])
    description.add_body("ground", fixed=True)
    description.add_tsda("spring", "ground", "stone", point1=[0, 0, 0], point2=[0, 0, 1], free_length=1, stiffness=1)
    model = mbs.compile_model(description)
    assert non_finite(model) == []  # stops that are not there are at infinity
    changed = eqx.tree_at(
        lambda m: (m.bodies.mass, m.tsdas.stiffness), model, (jnp.array([jnp.inf, 1.0]), jnp.array([jnp.nan]))
    )
    assert non_finite(changed) == ["bodies.mass of 'stone' is inf", "tsda.stiffness of 'spring' is nan"]


def results_with(**energies: float) -> xr.Dataset:
    """A result of two times, whose energies grow from zero to these."""
    names = ("energy_kinetic", "energy_potential", "energy_dissipated", "work_motors", "work_loads")
    values = {name: ("time", np.array([0.0, energies.get(name, 0.0)])) for name in names}
    return xr.Dataset(values, coords={"time": [0.0, 1.0]})


def test_a_bad_energy_balance_is_said_with_a_remedy():
    bad_one = results_with(energy_kinetic=2.0, energy_potential=-1.9)
    text = summary.balance_warning(bad_one, 0.01, adaptive=False)
    assert text is not None and "off by 0.1 J, 5 % of the largest energy (2 J)" in text
    assert "a --dt smaller than 0.01" in text
    assert "a fixed step" in str(summary.balance_warning(bad_one, 0.01, adaptive=True))
    assert "--dtype float64" in str(summary.balance_warning(bad_one.astype(np.float32), 0.01, adaptive=False))
    for fine in (
        results_with(energy_kinetic=2.0, energy_potential=-1.9999),
        results_with(energy_kinetic=3e-31, energy_potential=-1e-35),
        results_with(energy_kinetic=5e-324),
    ):
        assert summary.balance_warning(fine, 0.01, adaptive=False) is None
    assert summary.balance(results_with(energy_kinetic=5e-324))[1] == 0.0


def test_numbers_are_short_and_rounding_is_zero():
    eps = float(np.finfo(np.float64).eps)
    assert summary.number(1234.56789, 1e4, eps) == "1234.57"
    assert summary.number(-0.0, 1.0, eps) == summary.number(3e-16, 1.0, eps) == summary.number(5e-324, 0.0, eps) == "0"
    assert summary.number(1e-9, 1.0, eps) == "1e-09"


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
        "drive: CONTROLLER function, needed; --input drive=VALUE or --input drive=FILE.csv",
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
