"""The Python code in README.md and docs/ runs as it stands and prints what the page says.

The ```python blocks of a page run in order in one fresh interpreter, in an empty folder that sees `examples/`.
A ```text block right after one holds its exact output. `<!-- not run -->` on the line before a block leaves it out.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest


ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(
    r"^(?P<skip><!-- not run -->\n+)?```python[^\n]*\n(?P<code>.*?)^```\n(?:\n*```text[^\n]*\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
END = "--- end of block ---"


def blocks(page: Path) -> list[tuple[int, str, str | None]]:
    """Line number, code and expected output (or None) of the blocks of a page that run."""
    text = page.read_text() + "\n"
    found = [m for m in BLOCK.finditer(text) if not m["skip"]]
    return [(text.count("\n", 0, m.start("code")) + 1, m["code"], m["output"]) for m in found]


PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if blocks(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_code_runs_and_prints_what_it_says(page: Path, tmp_path: Path):
    runs = blocks(page)
    script = ["namespace = {'__name__': '__main__'}"]
    for line, code, _ in runs:
        padded = "\n" * (line - 1) + code  # so that a traceback shows the line of the page
        script += [f"exec(compile({padded!r}, {str(page)!r}, 'exec'), namespace)", f"print({END!r}, flush=True)"]
    (tmp_path / "run.py").write_text("\n".join(script))
    (tmp_path / "examples").symlink_to(ROOT / "examples")

    done = subprocess.run([sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(END + "\n")
    for (line, _, expected), output in zip(runs, printed, strict=False):
        if expected is not None:
            assert output.strip() == expected.strip(), f"{page}:{line}: the page shows another output"
