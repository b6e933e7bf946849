"""`jaxmbs bench`: what it prints, and what it refuses. How large the numbers are is not tested."""

import dataclasses
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from typer.testing import CliRunner, Result

import jaxmbs as mbs
from jaxmbs import _bench
from jaxmbs._bench import BenchReport, varied, zero_inputs
from jaxmbs._cli import app
from tests.mechanisms import FLYWHEEL


PENDULUM = """
chrono-version: 10.0
model:
  name: pendulum
  bodies:
    - {name: ground, fixed: true, location: [0, 0, 0]}
    - {name: bar, location: [0.5, 0, 0], mass: 1, inertia: {moments: [0.01, 0.1, 0.1]}}
  joints:
    - {name: hinge, type: REVOLUTE, body1: ground, body2: bar, location: [0, 0, 0], axis: [0, 1, 0]}
"""
QUICK = ("--batch", "2", "--steps", "4")


def invoke(*arguments: object) -> Result:
    result = CliRunner().invoke(app, ["bench", *map(str, arguments)])
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "pendulum.yaml"
    path.write_text(PENDULUM)
    return path


@pytest.mark.slow
def test_json_is_one_object_for_one_combination(pendulum: Path):
    result = invoke(pendulum, *QUICK, "--dt", "0.01", "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert list(report) == [field.name for field in dataclasses.fields(BenchReport)]
    for name in ("instance_steps_per_s", "compile_s", "bytes_per_instance", "gradient_ratio"):
        assert report[name] > 0, name
    assert report["body_steps_per_s"] == report["instance_steps_per_s"]  # one moving body
    assert (report["batch"], report["dtype"], report["dt"], report["steps"]) == (2, "float64", 0.01, 4)
    assert 0 <= report["max_gap"] < 1e-10
    assert jax.config.read("jax_enable_x64")


@pytest.mark.slow
def test_json_is_a_list_and_the_table_has_a_row_for_several_combinations(
    pendulum: Path, monkeypatch: pytest.MonkeyPatch
):
    """A gradient that cannot be had is null."""
    monkeypatch.setattr(_bench, "_gradient_ratio", lambda *_: None)
    both = ("--dtype", "float32", "--dtype", "float64", "--integrator", "midpoint")
    result = invoke(pendulum, *QUICK, *both, "--json")
    assert result.exit_code == 0, result.output
    reports = json.loads(result.stdout)
    assert [report["dtype"] for report in reports] == ["float32", "float64"]
    assert [report["gradient_ratio"] for report in reports] == [None, None]

    result = invoke(pendulum, *QUICK, "--integrator", "midpoint")
    assert result.exit_code == 0, result.output
    for part in ("pendulum", "moving bodies  1", "midpoint", "float64", "instance-steps/s", "none"):
        assert part in result.stdout, part
    assert jax.config.read("jax_enable_x64")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--batch", "0"), "--batch needs a positive number, got 0"),
        (("--batch", "many"), "--batch"),
        (("--steps", "-1"), "--steps needs a positive number, got -1"),
        (("--dt", "0"), "--dt needs a positive number of seconds, got 0"),
        (("--dt", "nan"), "--dt needs a positive number of seconds"),
        (("--dtype", "float16"), "float16"),
        (("--integrator", "tsit"), "did you mean 'tsit5'?"),
    ],
)
def test_bad_values_end_with_status_2(pendulum: Path, arguments: tuple[str, ...], message: str):
    result = invoke(pendulum, *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_a_missing_file_ends_with_status_2(tmp_path: Path):
    assert invoke(tmp_path / "missing.yaml").exit_code == 2


def test_a_failed_instance_ends_with_status_1(pendulum: Path, monkeypatch: pytest.MonkeyPatch):
    def failing(*_: object, **__: object) -> BenchReport:
        raise mbs.SimulationError("1 of 2 instances failed")

    monkeypatch.setattr("jaxmbs.cli.bench.bench_model", failing)
    result = invoke(pendulum, *QUICK)
    assert result.exit_code == 1
    assert "float64, batch 2: 1 of 2 instances failed" in result.stderr


def test_instances_differ_and_are_the_same_each_time():
    model = mbs.load(PENDULUM)
    gravity = varied(model, 3).gravity
    assert jnp.unique(gravity[:, 2]).size == 3
    assert jnp.array_equal(gravity, varied(model, 3).gravity)
    assert not jnp.array_equal(gravity, varied(model, 3, seed=1).gravity)


def test_external_values_are_zero():
    assert list(zero_inputs(mbs.load(FLYWHEEL))) == ["drive"]


def test_only_a_lack_of_memory_leaves_the_gradient_out(pendulum: Path, monkeypatch: pytest.MonkeyPatch):
    model = mbs.load(pendulum)

    def fails(message: str):
        def gradient(_: mbs.Model):
            raise jax.errors.JaxRuntimeError(message)

        monkeypatch.setattr(_bench.eqx, "filter_jit", lambda _: gradient)
        return _bench._gradient_ratio(lambda _: jnp.zeros(()), None, model)

    assert fails("RESOURCE_EXHAUSTED: Out of memory allocating 99 bytes.") is None
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL"):
        fails("INTERNAL: something else")
