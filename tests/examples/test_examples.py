"""Every example runs as printed, warns about nothing and is short."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
# What each leaves in the folder where it runs.
FILES = {
    "clusters.py": {"penguins.clusters.html"},
    "first_report.py": {"penguins.assay", "penguins.html"},
    "model_file.py": {"penguins.assay", "damaged.assay", "pickle.assay"},
}
SECONDS = 60  # a loaded machine; alone, none takes ten


def test_examples_are_found() -> None:
    assert len(EXAMPLES) >= 5
    assert set(FILES) <= {path.name for path in EXAMPLES}


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_prints(script: Path, tmp_path: Path) -> None:
    lines = script.read_text(encoding="utf-8").splitlines()
    assert 20 <= len(lines) <= 50
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-W", "error", script],
        cwd=tmp_path, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < SECONDS
    assert len(done.stdout.splitlines()) >= 3
    assert "nan" not in re.split(r"\W+", done.stdout)
    assert {path.name for path in tmp_path.iterdir()} == FILES.get(script.name, set())


def test_the_list_of_examples_names_every_script() -> None:
    listed = re.findall(r"^\| \[(\w+\.py)\]", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == [path.name for path in EXAMPLES]
