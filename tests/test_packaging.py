"""The package list, the links and the wheel agree with the folders on disk."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest


MAPPED = {"loaders": "jaxmbs.loaders", "solvers": "jaxmbs.solvers"}


def packages_on_disk(root: Path) -> set[str]:
    """Import names of all folders that hold an `__init__.py`."""
    found = set()
    for top in ("jaxmbs", *MAPPED):
        for init in (root / top).rglob("__init__.py"):
            folder = init.parent.relative_to(root)
            # Path.rglob does not enter linked folders before Python 3.13, and then only on request.
            if folder.parts[:2] in {("jaxmbs", name) for name in MAPPED}:
                continue
            found.add(".".join((MAPPED.get(folder.parts[0], folder.parts[0]), *folder.parts[1:])))
    return found


def test_package_list_equals_folders(root: Path):
    listed = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    assert listed == sorted(set(listed))
    assert set(listed) == packages_on_disk(root)


def test_folders_with_modules_are_packages(root: Path):
    missing = {
        str(module.parent.relative_to(root))
        for top in ("jaxmbs", *MAPPED)
        for module in (root / top).rglob("*.py")
        if not (module.parent / "__init__.py").is_file()
    }
    assert not missing, f"folders with modules but without __init__.py: {sorted(missing)}"


@pytest.mark.parametrize("name", MAPPED)
def test_link_resolves_to_root_folder(root: Path, name: str):
    link = root / "jaxmbs" / name
    if not link.is_symlink():
        pytest.skip("the links are lost here (an archive, or no links on this disk); installing does not need them")
    assert link.resolve() == root / name


@pytest.mark.parametrize("name", MAPPED)
def test_root_folder_is_not_importable_by_itself(root: Path, name: str):
    code = f"import sys; sys.path.insert(0, {str(root)!r}); import {name}"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.returncode != 0
    assert "ImportError" in done.stderr and MAPPED[name] in done.stderr


@pytest.mark.parametrize("links", [True, False], ids=["links", "no-links"])
def test_wheel_contains_only_the_package(root: Path, tmp_path: Path, links: bool):
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source / name)
    for name in ("jaxmbs", *MAPPED):
        ignore = shutil.ignore_patterns("__pycache__", *(() if links or name != "jaxmbs" else MAPPED))
        shutil.copytree(root / name, source / name, symlinks=True, ignore=ignore)

    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run([*pip, "--wheel-dir", str(tmp_path), str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert {name.split("/")[0] for name in names} == {"jaxmbs"}
    expected = {"jaxmbs/py.typed"} | {
        str(Path(*(MAPPED.get(path.parts[0], path.parts[0])).split("."), *path.parts[1:]))
        for top in ("jaxmbs", *MAPPED)
        for path in (file.relative_to(root) for file in (root / top).rglob("*.py"))
        if path.parts[:2] not in {("jaxmbs", name) for name in MAPPED}
    }
    assert set(names) == expected
