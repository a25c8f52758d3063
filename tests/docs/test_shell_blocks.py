"""Every console block of the documentation does what it shows."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import textwrap
import venv
from pathlib import Path
from typing import NamedTuple

import pytest

from assay import datasets

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.rst"))
_RST = re.compile(r"^\.\. code-block:: console\n\n((?:(?:   .*)?\n)+)", re.MULTILINE)
_MARKDOWN = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_OURS = ("assay ", "python -m assay")
_OF_MAKE = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "VENV"}  # these tests may run below `make test`
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Step(NamedTuple):
    """A command and what it prints, as shown; an empty string if nothing is shown."""

    command: str
    shown: str


def steps_of(text: str) -> list[Step]:
    """Return the commands of a page, in order, each with what is shown below it."""
    steps = []
    for block in [*_RST.findall(text), *_MARKDOWN.findall(text)]:
        for part in re.split(r"^\$ ", textwrap.dedent(block), flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            steps.append(Step(command.partition("  #")[0].strip(), shown.strip()))
    return steps


def assay_steps_of(text: str) -> list[Step]:
    """Return the commands of a page that run Assay; others set up a machine."""
    return [step for step in steps_of(text) if step.command.startswith(_OURS)]


def without_figures(text: str) -> str:
    """Return the text without what may differ between machines: fractions, sizes, digests."""
    return re.sub(r"\b([0-9a-f]{64}|\d+\.\d+|\d+(?= [kM]?B\b))", "#", text)


def test_figures_are_left_out_and_words_are_not() -> None:
    assert without_figures(f"0.852 of 891 rows, {'0f' * 32}, 952 kB") == "# of 891 rows, #, # kB"


def test_steps_are_found_in_both_kinds_of_page() -> None:
    page = ".. code-block:: console\n\n   $ assay fit x  # why\n   one\n   two\n   $ make\n\ntext\n"
    assert steps_of(page) == [Step("assay fit x", "one\ntwo"), Step("make", "")]
    assert assay_steps_of(page) == [Step("assay fit x", "one\ntwo")]
    assert steps_of("```console\n$ assay fit y\n```\n") == [Step("assay fit y", "")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the bundled tables; pages share it, so that ledgers save repeated work."""
    path = tmp_path_factory.mktemp("docs")
    for name in ("titanic", "penguins"):
        shutil.copy(datasets.path(name), path / f"{name}.csv")
    return path


def check(step: Step, done: subprocess.CompletedProcess[str]) -> None:
    """Fail unless a command ended as its page shows, and printed what is shown there."""
    fails = "assay: error:" in step.shown
    assert (done.returncode != 0) == fails, f"{step.command}\n\n{done.stderr}"
    printed = done.stderr if fails else done.stdout
    if step.shown:
        matches = doctest.OutputChecker().check_output(
            without_figures(step.shown) + "\n", without_figures(printed), _FLAGS
        )
        assert matches, f"{step.command}\n\nshown:\n{step.shown}\n\nprinted:\n{printed}"


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if assay_steps_of(page.read_text())],
    ids=lambda page: page.name,
)
def test_console_blocks_do_what_they_show(page: Path, folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for step in assay_steps_of(page.read_text()):
        done = subprocess.run(
            step.command,
            shell=True,
            cwd=folder,
            env={**os.environ, "PATH": path, "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=False,
        )
        check(step, done)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The root of a clone in which ``make demo`` has set up ``.venv``, but has not fitted yet.

    Its environment runs the interpreter of these tests, so that nothing is compiled again.
    """
    if not (ROOT / ".git").exists():
        pytest.skip("a clone is made from a clone: this is an unpacked archive")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    root = tmp_path / "assay"
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():  # not one that was deleted and is still in the index
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)
    venv.create(root / ".venv", with_pip=False)
    programs = root / ".venv" / "bin"
    for name, module in (("assay", "-m assay"), ("python", "")):
        (programs / name).unlink(missing_ok=True)
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (programs / name).chmod(0o755)
    (root / ".venv" / ".installed").touch()
    return root


def test_readme_commands_work_in_a_clone_in_the_order_shown(clone: Path) -> None:
    steps = steps_of((ROOT / "README.md").read_text())
    assert [step.command for step in steps[:2]] == ["make demo", "source .venv/bin/activate"]
    assert sum(step.command.startswith("assay ") for step in steps) >= 3
    # As in the shell of somebody who has no Assay yet; what `source` sets, later commands have.
    folders = [Path(entry) for entry in os.environ["PATH"].split(os.pathsep)]
    path = os.pathsep.join(str(entry) for entry in folders if not (entry / "assay").exists())
    inherited = {key: value for key, value in os.environ.items() if key not in _OF_MAKE}
    env = {**inherited, "PATH": path, "COLUMNS": "100"}
    activated = "true"
    for step in steps:
        done = subprocess.run(
            ["bash", "-c", f"{activated}; {step.command}"],
            cwd=clone,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        check(step, done)
        if step.command.startswith("source "):
            activated = step.command
    for name in ("titanic.assay", "titanic.html", "predictions.csv"):
        assert (clone / name).stat().st_size > 0
