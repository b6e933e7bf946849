"""Settings that hold for every test, and the fixtures that several of them share."""

import importlib.metadata
import os
import random
from collections.abc import Iterator
from pathlib import Path


# Read once, when JAX starts. A flag that the user has set is left alone. Compiling dominates these tests, which do not
# measure speed: on one mechanism, 12.5 s of CPU time became 4.9 s by the first flag (at equal speed) and 2.4 s by both
# (a run then takes about twice as long).
# XLA ends the process at a flag that it does not know, so the first one is for versions that are known to have it.
TEST_XLA_FLAGS = {"--xla_backend_optimization_level": "0"}
if importlib.metadata.version("jaxlib").startswith("0.10."):
    TEST_XLA_FLAGS["--xla_cpu_use_fusion_emitters"] = "false"


def _set_environment() -> None:
    user_flags = os.environ.get("XLA_FLAGS", "")
    added = [f"{name}={value}" for name, value in TEST_XLA_FLAGS.items() if name not in user_flags]
    if added:
        os.environ["XLA_FLAGS"] = " ".join([user_flags, *added]).strip()
    # XLA's pool of worker threads takes its size from here. With two threads, two batched LAPACK calls of one program
    # can wait for each other for ever (jaxlib 0.10); and the test processes share the cores anyway.
    os.environ.setdefault("NPROC", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # several test processes share one device
    os.environ.setdefault("MPLBACKEND", "agg")


_set_environment()

import hypothesis  # noqa: E402
import jax  # noqa: E402
import jax.random as jr  # noqa: E402
import pytest  # noqa: E402


jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")

hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data beside the repository; a test that compares with it is skipped without it."""
    path = ROOT.parent / "shared"
    if not (path / "reference").is_dir():
        pytest.skip("the reference data (folder `shared` beside the repository) is not here")
    return path


@pytest.fixture(scope="module", autouse=True)
def _forget_programs() -> Iterator[None]:
    """Compiled programs are seldom shared between files, and take gigabytes together."""
    yield
    jax.clear_caches()


@pytest.fixture
def getkey(request: pytest.FixtureRequest):
    """A function that returns a new PRNG key at each call; the sequence depends on the test's name only."""
    rng = random.Random(request.node.nodeid)
    return lambda: jr.PRNGKey(rng.randint(0, 2**31 - 1))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests marked `gpu` where there is none."""
    if item.get_closest_marker("gpu") and jax.default_backend() == "cpu":
        pytest.skip("no accelerator")
