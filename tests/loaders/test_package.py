import ast
import importlib.util
from pathlib import Path

import pytest

from jaxmbs import loaders


FOLDER = Path(loaders.__file__).resolve().parent


def test_the_folder_is_no_package_of_its_own():
    spec = importlib.util.spec_from_file_location("loaders", FOLDER / "__init__.py")
    assert spec is not None and spec.loader is not None
    with pytest.raises(ImportError, match="import this package as jaxmbs.loaders"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.py")), ids=lambda file: file.stem)
def test_loaders_know_only_the_description(file):
    for node in ast.walk(ast.parse(file.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [node.module or ""]
        for name in names:
            assert name.partition(".")[0] not in ("jax", "jaxlib", "equinox", "diffrax", "xarray")
            if name.startswith("jaxmbs"):
                assert name == "jaxmbs._description" or name.startswith("jaxmbs.loaders")
