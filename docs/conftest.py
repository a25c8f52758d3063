"""Documentation pages are tests: their examples run in a folder that holds the tables they name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay import datasets

# What Sphinx reads or writes is no page of ours.
collect_ignore = ["conf.py", "api", "_build"]


@pytest.fixture(autouse=True)
def _tables_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("titanic", "penguins"):
        shutil.copy(datasets.path(name), tmp_path / f"{name}.csv")
    monkeypatch.chdir(tmp_path)
