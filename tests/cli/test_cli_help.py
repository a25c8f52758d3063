from __future__ import annotations

import json
import subprocess
import sys

import pytest

import assay

ASSAY = [sys.executable, "-m", "assay"]


def _run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ASSAY, *args], capture_output=True, text=True, check=False, timeout=60)


def test_help_loads_no_heavy_library() -> None:
    script = (
        "import json, sys; from assay.cli import main; main(['fit', '--help']); "
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(ended.stderr))
    assert not loaded & {"numpy", "polars", "sklearn", "scipy", "rich", "jinja2", "vl_convert"}


def test_help_lists_the_commands_in_the_order_of_use() -> None:
    text = _run("--help").stdout
    assert [text.index(f"\n  {name} ") for name in ("fit", "predict", "inspect", "completion")] == (
        sorted(text.index(f"\n  {name} ") for name in ("fit", "predict", "inspect", "completion"))
    )
    assert "Exit codes: 0 done, 64 wrong usage, 65 unusable data" in text


def test_no_arguments_print_the_help() -> None:
    ended = _run()
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == _run("--help").stdout


def test_options_of_fit_are_listed_by_section_with_examples() -> None:
    text = _run("fit", "--help").stdout
    heads = ["Examples:", "Table:", "Question:", "Search:", "Resources:", "Output:", "Other:"]
    places = [text.index(f"{head}\n") for head in heads]
    assert places == sorted(places)
    assert text.count("  assay fit ") == 2
    assert "ordinal:a<b<c" in text
    table, question = text.split("\nTable:\n")[1].split("\nQuestion:\n")
    assert "--delimiter" in table
    assert "--target" in question
    assert "FILE" not in text.split("\nOther:\n")[1]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["ft"], "No such command 'ft'. Did you mean 'fit'? See 'assay --help'"),
        (
            ["fit", "x.csv", "--traget", "y"],
            "No such option '--traget'. Did you mean '--target'? See 'assay fit --help'",
        ),
    ],
)
def test_a_typo_names_the_nearest_and_only_that(args: list[str], message: str) -> None:
    assert _run(*args).stderr == f"assay: error: {message}\n"


def test_version_is_that_of_the_package() -> None:
    assert _run("--version").stdout == f"assay {assay.__version__}\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["frobnicate"], "No such command 'frobnicate'; see 'assay --help'"),
        (["fit"], "Missing argument 'FILE'; see 'assay fit --help'"),
        (["fit", "x.csv"], "Missing option '-t' / '--target'; see 'assay fit --help'"),
        (["predict", "m.assay"], "Missing argument 'FILE'; see 'assay predict --help'"),
        (
            ["fit", "x.csv", "-t", "y", "--seed", "-1"],
            "Invalid value for '--seed': -1 is not in the range x>=0; see 'assay fit --help'",
        ),
        (
            ["fit", "x.csv", "-t", "y", "--kind", "zip"],
            "--kind takes COLUMN=KIND, for example zip=nominal; got 'zip'; see 'assay fit --help'",
        ),
        (
            ["fit", "x.csv", "-t", "y", "--ledger", "l", "--no-ledger"],
            "--ledger and --no-ledger exclude each other; see 'assay fit --help'",
        ),
    ],
)
def test_wrong_usage_ends_with_64_and_one_line(args: list[str], message: str) -> None:
    ended = _run(*args)
    assert ended.returncode == 64
    assert ended.stdout == ""
    assert ended.stderr == f"assay: error: {message}\n"


def test_an_effort_that_is_not_offered_is_wrong_usage() -> None:
    ended = _run("fit", "x.csv", "-t", "y", "--effort", "heroic")
    assert ended.returncode == 64
    assert "'heroic' is not one of 'quick', 'normal', 'thorough'" in ended.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_lines_for_the_shell(shell: str) -> None:
    ended = _run("completion", shell)
    assert ended.returncode == 0
    assert f"_ASSAY_COMPLETE={shell}_complete" in ended.stdout


def test_bash_accepts_the_completion() -> None:
    lines = _run("completion", "bash").stdout
    subprocess.run(["bash", "-n"], input=lines, text=True, check=True)


def test_completion_offers_commands_and_options() -> None:
    for words, at, wanted in (("assay ", "1", "predict"), ("assay fit --eff", "2", "--effort")):
        ended = subprocess.run(
            ASSAY,
            env={"COMP_WORDS": words, "COMP_CWORD": at, "_ASSAY_COMPLETE": "bash_complete",
                 "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert wanted in ended.stdout
