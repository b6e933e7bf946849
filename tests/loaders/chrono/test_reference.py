"""Real files; they live beside the repository and are skipped where it stands alone."""

import json
from pathlib import Path

import pytest

from jaxmbs.loaders import LoaderChrono, LoadError
from tests.loaders.texts import DATA, REFERENCE


MODELS = REFERENCE / "chrono_models"
CASES = sorted(path.parent.name for path in REFERENCE.glob("chrono_cases/*/meta.json"))

needs_models = pytest.mark.skipif(not MODELS.is_dir(), reason="the reference models are not there")


def report(source: Path, **options) -> str:
    with pytest.raises(LoadError) as caught:
        LoaderChrono(**options).describe(source)
    return str(caught.value)


@pytest.mark.parametrize("dialect", ["seed", "chrono-10"])
def test_the_repository_has_one_of_everything(dialect):
    description = LoaderChrono(dialect=dialect).describe(DATA / "run.yaml")
    counts = {
        "bodies": 4,
        "joints": 8,
        "bushings": 1,
        "constraints": 3 if dialect == "seed" else 1,
        "tsdas": 4,
        "rsdas": 2,
        "motors": 3,
        "loads": 4,
    }
    assert {key: len(getattr(description, key)) for key in counts} == counts
    assert bool(description.warnings) is (dialect == "chrono-10")


@pytest.mark.skipif(not CASES, reason="the reference cases are not there")
@pytest.mark.parametrize("name", CASES or ["none"])
@pytest.mark.parametrize("file", ["sim.yaml", "model.yaml"])
def test_cases_load(name, file):
    folder = REFERENCE / "chrono_cases" / name
    meta = json.loads((folder / "meta.json").read_text())
    description = LoaderChrono(dialect=meta.get("dialect", "chrono-10")).describe(folder / file)
    assert description.bodies
    if file == "sim.yaml":
        assert description.simulation.t1 == meta["end_time"]
        assert description.simulation.dt == meta["integrator"]["time_step"]
        assert description.gravity.tolist() == [float(value) for value in meta["gravity"]]


@needs_models
@pytest.mark.parametrize("dialect", ["seed", "chrono-10"])
@pytest.mark.parametrize(
    ("name", "bodies"),
    [
        ("mbs/mbs.yaml", 5),
        ("mbs/mbs_controller.yaml", 3),
        ("mbs/model_slider_crank.yaml", 5),
        ("mbs/model_slider_crank_reduced.yaml", 4),
        ("mbs/model_motors.yaml", 16),
        ("mbs/model_inverted_pendulum_motor.yaml", 3),
        ("mbs/model_inverted_pendulum_load.yaml", 3),
        ("fea/mbs.yaml", 3),
        ("fea/model_cables.yaml", 3),
    ],
)
def test_models_load(name, bodies, dialect):
    description = LoaderChrono(dialect=dialect).describe(MODELS / name)
    assert len(description.bodies) == bodies
    known = ("'collision_family' has no effect", "'type' has no effect", "'time_step' has no effect")
    assert [text for text in description.warnings if not any(part in text for part in known)] == []


@needs_models
def test_all_models_are_looked_at():
    names = {path.name for path in MODELS.glob("*/*.yaml") if path.parent.name != "schema"}
    solvers = {"solver_mbs.yaml", "solver_mbs_stiff.yaml"}
    assert len(names - solvers) == 10 and solvers <= names


@needs_models
def test_the_bushing_model_names_its_velocities_wrong():
    text = report(MODELS / "mbs" / "model_bushing.yaml")
    assert "2 errors" in text
    assert "body 'body': unknown key 'lin_vel' (did you mean 'initial_linear_velocity'?)" in text
    assert "body 'body': unknown key 'ang_vel' (did you mean 'initial_angular_velocity'?)" in text


@needs_models
def test_the_bushing_model_with_the_right_keys():
    text = (MODELS / "mbs" / "model_bushing.yaml").read_text()
    text = text.replace("lin_vel", "initial_linear_velocity").replace("ang_vel", "initial_angular_velocity")
    body = LoaderChrono().describe(text).body("body")
    assert body.vel.tolist() == [1.0, -0.4, 0.2]
    assert body.omega.tolist() == [1.5, 1.5, -1.5]


@needs_models
@pytest.mark.parametrize("options", [{"dialect": "chrono-10"}, {"lenient": True}])
def test_the_bushing_model_loads_without_its_velocities(options):
    description = LoaderChrono(**options).describe(MODELS / "mbs" / "model_bushing.yaml")
    assert description.body("body").vel.tolist() == [0.0, 0.0, 0.0]
    assert "did you mean 'initial_linear_velocity'?" in description.warnings[0]


@needs_models
def test_the_beams_model_names_its_section_wrong():
    text = report(MODELS / "fea" / "model_beams.yaml")
    assert "model: unknown key 'FEA_beams' (did you mean 'FEA'?)" in text
    assert "model: missing key 'bodies'" in text


@needs_models
@pytest.mark.parametrize("name", ["mbs/solver_mbs.yaml", "mbs/solver_mbs_stiff.yaml", "fea/solver_mbs.yaml"])
def test_solver_files_alone(name):
    assert "1 error:" in report(MODELS / name) and "this is a solver file" in report(MODELS / name)
