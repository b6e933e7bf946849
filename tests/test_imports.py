"""The rules about modules: imports go one way, files stay small, importing jaxmbs changes nothing.

`LAYERS` is the one place that orders the modules. A module may import from its own layer and from lower ones.
"""

import ast
import graphlib
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest


ROOT = Path(__file__).resolve().parents[1]

# From the lowest to the highest. An entry stands for the module or package of that name and all below it; the
# longest matching entry decides.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("jaxmbs._math",),
    ("jaxmbs._description_checks", "jaxmbs._rank", "jaxmbs._variables", "jaxmbs._version"),
    ("jaxmbs._description_parts",),
    ("jaxmbs._calls", "jaxmbs._description", "jaxmbs._results", "jaxmbs._tracing"),
    ("jaxmbs._context", "jaxmbs._functions", "jaxmbs._gather", "jaxmbs._kinematics", "jaxmbs._lanes"),
    ("jaxmbs._spatial",),
    ("jaxmbs._bodies", "jaxmbs.constraints", "jaxmbs.forces"),
    ("jaxmbs._compile", "jaxmbs._inputs", "jaxmbs._model", "jaxmbs._state"),
    ("jaxmbs.dynamics",),
    ("jaxmbs.solvers", "jaxmbs._term"),
    ("jaxmbs._parts", "jaxmbs._stability", "jaxmbs._timing"),
    ("jaxmbs._check", "jaxmbs._dataset", "jaxmbs._outputs", "jaxmbs._simulate", "jaxmbs._solution"),
    ("jaxmbs._plot", "jaxmbs.loaders"),
    ("jaxmbs._load",),
    ("jaxmbs",),
    ("jaxmbs.cli", "jaxmbs._bench"),
    ("jaxmbs._cli", "jaxmbs.__main__"),
)

# Stricter than the layers: modules below the name on the left import nothing of jaxmbs but what is on the right,
# and nothing that builds arrays on a device.
ONLY: dict[str, tuple[str, ...]] = {
    "jaxmbs.loaders": ("jaxmbs.loaders", "jaxmbs._description"),
    "jaxmbs._description": ("jaxmbs._description", "jaxmbs._description_checks", "jaxmbs._description_parts"),
    "jaxmbs._description_parts": ("jaxmbs._description_checks",),
}
NUMPY_ONLY_FORBIDS = ("jax", "jaxlib", "equinox", "diffrax", "optimistix", "lineax", "optax")

REVIEW_LINES, MOST_LINES = 400, 600


def modules() -> dict[str, Path]:
    """Import name and file of every module of the package; linked folders are read once, under their import name."""
    found = {}
    for top, name in (("jaxmbs", "jaxmbs"), ("loaders", "jaxmbs.loaders"), ("solvers", "jaxmbs.solvers")):
        for path in sorted((ROOT / top).rglob("*.py")):
            inside = path.relative_to(ROOT / top)
            if top == "jaxmbs" and inside.parts[0] in ("loaders", "solvers"):
                continue
            parts = inside.with_suffix("").parts
            found[".".join((name, *(parts[:-1] if parts[-1] == "__init__" else parts)))] = path
    return found


MODULES = modules()


def below(module: str, name: str) -> bool:
    return module == name or module.startswith(name + ".")


def layer(module: str) -> int:
    entries = [(len(name), level) for level, names in enumerate(LAYERS) for name in names if below(module, name)]
    length, level = max(entries)
    if length == len("jaxmbs") and module != "jaxmbs":
        raise LookupError(f"{module} has no layer: add it to LAYERS in {Path(__file__).name}")
    return level


def imports(module: str) -> Iterator[tuple[str, int]]:
    """Full names that a module imports anywhere in its file, with the line; not those for type checkers only."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]

    def walk(node: ast.AST) -> Iterator[tuple[str, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
                for other in child.orelse:
                    yield from walk(other)
            elif isinstance(child, ast.Import):
                yield from ((alias.name, child.lineno) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:  # relative: one dot is the package itself
                    base = ".".join(filter(None, [package.rsplit(".", child.level - 1)[0], base]))
                for alias in child.names:
                    full = f"{base}.{alias.name}"
                    yield (full if full in MODULES else base), child.lineno
            else:
                yield from walk(child)

    yield from walk(ast.parse(path.read_text(), filename=str(path)))


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_one_way(module: str):
    level = layer(module)
    for target, line in imports(module):
        if below(target, "jaxmbs"):
            assert layer(target) <= level, f"{MODULES[module]}:{line}: {module} imports {target} from a higher layer"
        for name, allowed in ONLY.items():
            if below(module, name):
                inside = not below(target, "jaxmbs") or any(below(target, other) for other in allowed)
                arrays = any(below(target, other) for other in NUMPY_ONLY_FORBIDS)
                assert inside and not arrays, f"{MODULES[module]}:{line}: {module} may not import {target}"


def test_no_import_cycles():
    graph = {name: {target for target, _ in imports(name) if target in MODULES and target != name} for name in MODULES}
    graphlib.TopologicalSorter(graph).prepare()


def test_files_stay_small():
    paths = [*MODULES.values(), *(path for top in ("examples", "tests") for path in (ROOT / top).rglob("*.py"))]
    counts = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in paths}
    for path, count in counts.items():
        if REVIEW_LINES < count <= MOST_LINES:
            warnings.warn(f"{path}: {count} lines; is there one idea in it?", stacklevel=1)
    too_long = {path: count for path, count in counts.items() if count > MOST_LINES}
    assert not too_long, f"files of more than {MOST_LINES} lines, to be split by idea: {too_long}"


def test_import_changes_nothing_and_starts_no_device():
    code = """
import warnings
warnings.simplefilter("error")
import jax
before = dict(jax.config.values)
import jaxmbs, jaxmbs.loaders, jaxmbs.solvers
changed = {name for name, value in jax.config.values.items() if name in before and before[name] != value}
assert not changed, changed
try:
    jax.devices()
except RuntimeError:
    pass
else:
    raise AssertionError("the platform of this test exists, so it proves nothing")
"""
    # A platform that does not exist: whatever starts a backend raises.
    environment = {**os.environ, "JAX_PLATFORMS": "no_such_platform"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
