"""``assay fit --budget`` and ``--memory``: limits that change nothing unless they are hit."""

from __future__ import annotations

from pathlib import Path

import assay
from tests.cli.shop import Run

FIT = ("--target", "sold", "--effort", "quick", "--no-ledger")


def test_limits_that_are_not_hit_change_no_byte(
    run: Run, table: Path, models: Path, tmp_path: Path
) -> None:
    limits = ("--budget", "10h", "--memory", "100GB")
    ended = run("fit", table, *FIT, *limits, "--out", tmp_path / "sold")
    assert ended.code == 0, ended.err
    assert assay.load(tmp_path / "sold.assay").digest == assay.load(models / "sold.assay").digest
    assert " model fits (a naive nested search: " in ended.out


def test_too_little_time_still_gives_a_model_and_says_what_is_missing(
    run: Run, table: Path
) -> None:
    ended = run("fit", table, *FIT, "--budget", "0.1s")
    assert ended.code == 0, ended.err
    assert "the time limit allows" in ended.out
    assert Path("shop.assay").exists()


def test_limits_that_cannot_be_read_are_an_error_of_one_line(run: Run, table: Path) -> None:
    for option, value, told in (
        ("--budget", "soon", "budget must be a positive time such as '90s', '10m' or '1.5h'"),
        ("--memory", "much", "memory must be a positive amount such as '500MB' or '4GB'"),
    ):
        ended = run("fit", table, *FIT, option, value)
        assert ended.code != 0
        assert told in ended.err
        assert "Traceback" not in ended.err
