"""The examples run as they stand and print what they promise."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from jaxmbs._check import check_model
from jaxmbs.loaders import describe


EXAMPLES = {
    "01_pendulum.py": ("period 2.248705 s", "swing -239.9996", "largest reaction 63.7647 N"),
    "02_batch.py": ("'instance': 5", "k = 100.0 N/m"),
    "03_gradient.py": ("x = 1.02836622 m", "dx/dm = -0.11986553", "dx/dk = 0.00479462"),
}


def test_every_example_is_listed(root: Path):
    assert {path.name for path in (root / "examples").glob("*.py")} == set(EXAMPLES)
    for name in EXAMPLES:
        assert len((root / "examples" / name).read_text().splitlines()) < 60


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_example(root: Path, tmp_path: Path, name: str):
    command = [sys.executable, str(root / "examples" / name)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for text in EXAMPLES[name]:
        assert text in done.stdout, (text, done.stdout)
    # what is printed beside a closed form agrees with it
    pairs = re.findall(r"= (-?[\d.]+) \S+, closed form (-?[\d.]+) ", done.stdout)
    assert all(float(one) == pytest.approx(float(other), abs=2e-8) for one, other in pairs)


def test_the_slider_crank_is_read_without_warnings(root: Path):
    description = describe(root / "examples" / "slider_crank" / "mbs.yaml")
    assert description.warnings == []
    assert (description.simulation.t1, description.simulation.dt) == (3.0, 1e-3)
    report = check_model(description)
    assert (report.degrees_of_freedom, report.degrees_of_freedom_undriven) == (0, 1)
    assert report.redundant_rows == () and report.assembled
