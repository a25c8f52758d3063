"""Every console block of the documentation does what it shows."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

from assay import datasets

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.rst")), ROOT / "README.md"]
_RST = re.compile(r"^\.\. code-block:: console\n\n((?:(?:   .*)?\n)+)", re.MULTILINE)
_MARKDOWN = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Step(NamedTuple):
    """A command and what it prints, as shown; an empty string if nothing is shown."""

    command: str
    shown: str


def steps_of(text: str) -> list[Step]:
    """Return the ``$ assay`` commands of a page, in order; others set up a machine."""
    steps = []
    for block in [*_RST.findall(text), *_MARKDOWN.findall(text)]:
        for part in re.split(r"^\$ ", textwrap.dedent(block), flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            if command.startswith("assay "):
                steps.append(Step(command.partition("  #")[0], shown.strip()))
    return steps


def without_figures(text: str) -> str:
    """Return the text without what may differ between machines: fractions, sizes, digests."""
    return re.sub(r"\b([0-9a-f]{64}|\d+\.\d+|\d+(?= [kM]?B\b))", "#", text)


def test_figures_are_left_out_and_words_are_not() -> None:
    assert without_figures(f"0.852 of 891 rows, {'0f' * 32}, 952 kB") == "# of 891 rows, #, # kB"


def test_steps_are_found_in_both_kinds_of_page() -> None:
    page = ".. code-block:: console\n\n   $ assay fit x  # why\n   one\n   two\n   $ make\n\ntext\n"
    assert steps_of(page) == [Step("assay fit x", "one\ntwo")]
    assert steps_of("```console\n$ assay fit y\n```\n") == [Step("assay fit y", "")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the bundled tables; pages share it, so that ledgers save repeated work."""
    path = tmp_path_factory.mktemp("docs")
    for name in ("titanic", "penguins"):
        shutil.copy(datasets.path(name), path / f"{name}.csv")
    return path


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if steps_of(page.read_text())],
    ids=lambda page: page.name,
)
def test_console_blocks_do_what_they_show(page: Path, folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for step in steps_of(page.read_text()):
        done = subprocess.run(
            step.command,
            shell=True,
            cwd=folder,
            env={**os.environ, "PATH": path, "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=False,
        )
        fails = "assay: error:" in step.shown
        assert (done.returncode != 0) == fails, done.stderr
        printed = done.stderr if fails else done.stdout
        if step.shown:
            matches = doctest.OutputChecker().check_output(
                without_figures(step.shown) + "\n", without_figures(printed), _FLAGS
            )
            assert matches, f"{step.command}\n\nshown:\n{step.shown}\n\nprinted:\n{printed}"
