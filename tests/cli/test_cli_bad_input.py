"""Every bad input: what and where and what to do, the right exit code, and no file left behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import assay.study
from assay.base import DataError
from tests.cli.shop import HEADER, Run, rows

GOOD = "\n".join([HEADER, *rows()]) + "\n"


def _with_target(value: str) -> str:
    return "\n".join([HEADER, *(line.rsplit(",", 1)[0] + f",{value}" for line in rows())]) + "\n"


CASES: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "empty": (b"", ("bad.csv is empty (0 bytes)",)),
    "header only": (HEADER.encode() + b"\n", ("bad.csv has a header but no rows",)),
    "one class": (
        _with_target("yes").encode(),
        ("bad.csv: the target 'sold' has only one class, 'yes'",),
    ),
    "target missing": (
        _with_target("").encode(),
        ("bad.csv: the target 'sold' is missing in all 80 rows; choose another column",),
    ),
    "ragged": (
        (GOOD + "1,2,3,4,5,6,7\n").encode(),
        ("bad.csv, line 82: 7 cells where the header (line 1) has 5", "What to do"),
    ),
    "column twice": (
        GOOD.replace("size", "color", 1).encode(),
        ("bad.csv, line 1: the column name 'color' appears twice",),
    ),
    "program": (b"\x7fELF\x02\x01\x01\x00" + bytes(3000), ("bad.csv is a program, not a table",)),
    "noise": (bytes(range(256)) * 20, ("bad.csv", "not a table")),
}


def _left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("name", CASES)
def test_unusable_data_ends_with_65_and_no_file(run: Run, tmp_path: Path, name: str) -> None:
    content, said = CASES[name]
    Path(tmp_path, "bad.csv").write_bytes(content)
    ended = run("fit", "bad.csv", "--target", "sold", "--quiet")
    assert ended.code == 65
    assert ended.out == ""
    assert ended.err.startswith("assay: error: ")
    assert ended.err.count("\n") == 1
    for part in said:
        assert part in ended.err
    assert _left(tmp_path) == {"bad.csv"}


def test_unreadable_encoding_is_told_with_its_place(run: Run, tmp_path: Path) -> None:
    Path(tmp_path, "bad.csv").write_bytes(GOOD.encode() + b"80,0.1,\xff\xfe,1.0,yes\n")
    ended = run("fit", "bad.csv", "--target", "sold", "--quiet", "--encoding", "utf-8")
    assert ended.code == 65
    assert "bad.csv, line 82: byte 0xff is not valid utf-8" in ended.err
    assert "give the right encoding" in ended.err
    assert _left(tmp_path) == {"bad.csv"}


def test_an_unknown_encoding_is_wrong_usage(run: Run, table: Path) -> None:
    ended = run("fit", table, "-t", "sold", "--quiet", "--encoding", "klingon")
    assert ended.code == 64
    assert "got 'klingon'" in ended.err


def test_a_missing_file_ends_with_74_and_names_the_nearest(run: Run, table: Path) -> None:
    ended = run("fit", "shopp.csv", "--target", "sold")
    assert ended.code == 74
    assert ended.err == (
        "assay: error: cannot read 'shopp.csv': no such file; did you mean 'shop.csv'?\n"
    )
    assert _left(table.parent) == {"shop.csv"}


def test_a_missing_file_far_from_any_other_is_just_missing(run: Run) -> None:
    assert run("predict", "m.assay", "x.csv").err == (
        "assay: error: cannot read 'm.assay': no such file; check the name\n"
    )
    assert run("fit", "nowhere/x.csv", "-t", "y").err == (
        "assay: error: cannot read 'nowhere/x.csv': no such file (there is no folder 'nowhere')\n"
    )


def test_a_folder_is_no_table(run: Run, tmp_path: Path) -> None:
    Path(tmp_path, "tables").mkdir()
    ended = run("fit", "tables", "-t", "y")
    assert (ended.code, ended.err) == (
        74,
        "assay: error: cannot read 'tables': it is a folder; give a file in it\n",
    )


def test_a_file_without_permission_ends_with_74(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may read everything, so the refusal is played.
    def refuse(self: Path, *_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    ended = run("fit", table, "-t", "sold")
    assert ended.code == 74
    assert "no permission; ask its owner, or copy it" in ended.err


def test_a_wrong_target_names_the_nearest_column(run: Run, table: Path) -> None:
    ended = run("fit", table, "--target", "slod", "--quiet")
    assert ended.code == 65
    assert ended.err == (
        "assay: error: shop.csv has no column 'slod' (target); did you mean 'sold'?\n"
    )
    assert _left(table.parent) == {"shop.csv"}


def test_a_wrong_metric_is_wrong_usage_and_leaves_no_ledger(run: Run, table: Path) -> None:
    ended = run("fit", table, "--target", "sold", "--quiet", "--metric", "acuracy")
    assert ended.code == 64
    assert "did you mean 'accuracy'?" in ended.err
    assert _left(table.parent) == {"shop.csv"}


@pytest.mark.parametrize("old", [False, True])
def test_a_ledger_made_for_nothing_goes_and_an_older_one_stays(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch, old: bool
) -> None:
    def fit(_: Any, settings: assay.study.SearchSettings, **__: Any) -> None:
        assert isinstance(settings.ledger, Path)
        for ending in ("", "-wal", "-shm"):
            settings.ledger.with_name(settings.ledger.name + ending).touch()
        raise DataError("the data are no good")

    if old:
        Path("shop.ledger").write_bytes(b"SQLite format 3\x00")
    monkeypatch.setattr(assay.study.Job, "fit", fit)
    assert run("fit", table, "-t", "sold").code == 65
    assert Path("shop.ledger").exists() == old


def test_a_wrong_kind_is_wrong_usage(run: Run, table: Path) -> None:
    ended = run("fit", table, "--target", "sold", "--quiet", "--kind", "size=numerc")
    assert ended.code == 64
    assert "did you mean 'numeric'?" in ended.err


@pytest.fixture
def never_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepare(*_: Any, **__: Any) -> None:
        raise AssertionError("the long work was started")

    monkeypatch.setattr(assay.study, "prepare", prepare)


@pytest.mark.usefixtures("never_fits")
class TestBeforeTheLongWork:
    """Outputs that cannot be written are found before anything is computed."""

    def test_no_such_folder(self, run: Run, table: Path) -> None:
        ended = run("fit", table, "-t", "sold", "--out", "absent/shop")
        assert ended.code == 74
        assert ended.err == (
            "assay: error: cannot write 'absent/shop.assay': no folder 'absent'; create it first\n"
        )

    def test_folder_that_may_not_be_written(self, run: Run, table: Path) -> None:
        # Not even root may create files there.
        ended = run("fit", table, "-t", "sold", "--out", "/proc/")
        assert ended.code == 74
        assert "cannot write to the folder '/proc'" in ended.err
        assert "choose another with --out" in ended.err

    def test_folder_of_that_name(self, run: Run, table: Path) -> None:
        Path("shop.html").mkdir()
        ended = run("fit", table, "-t", "sold")
        assert ended.code == 74
        assert "it is not a regular file" in ended.err

    def test_write_protected_file(
        self, run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path("shop.assay").touch()
        monkeypatch.setattr(os, "access", lambda *_: False)
        ended = run("fit", table, "-t", "sold")
        assert ended.code == 74
        assert "'shop.assay': it is write-protected" in ended.err

    @pytest.mark.parametrize("name", ["shop.html", "shop.assay", "shop.ledger"])
    def test_file_of_somebody_else(self, run: Run, table: Path, name: str) -> None:
        Path(name).write_text("<!doctype html><p>my own page")
        ended = run("fit", table, "-t", "sold")
        assert ended.code == 64
        assert f"'{name}' exists and was not written by Assay" in ended.err
        assert Path(name).read_text() == "<!doctype html><p>my own page"

    def test_ledger_in_a_folder_that_is_not_there(self, run: Run, table: Path) -> None:
        ended = run("fit", table, "-t", "sold", "--ledger", "absent/x.ledger")
        assert ended.code == 74
        assert "no folder 'absent'" in ended.err

    def test_predictions_into_a_folder_that_is_not_there(
        self, run: Run, models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(assay.study, "load", lambda *_: pytest.fail("it was loaded"))
        ended = run(
            "predict", models / "sold.assay", models / "shop.csv", "--out", "absent/p.csv"
        )  # fmt: skip
        assert ended.code == 74
        assert "no folder 'absent'" in ended.err


def _limited(size: int) -> None:
    """Let a process write files of at most `size` bytes, as a full disk would."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [0, 5_000, 40_000])
def test_a_full_disk_ends_with_74_and_keeps_the_old_files(tmp_path: Path, size: int) -> None:
    Path(tmp_path, "shop.csv").write_text(GOOD)
    old = {name: Path(tmp_path, name) for name in ("shop.assay", "shop.html")}
    for path in old.values():
        path.touch()
    ended = subprocess.run(
        [sys.executable, "-B", "-m", "assay", "fit", "shop.csv", "-t", "sold", "--effort", "quick",
         "--no-ledger"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100,
        preexec_fn=lambda: _limited(size),
    )  # fmt: skip
    assert ended.returncode == 74, ended.stderr
    said = ended.stderr.splitlines()[-1]
    assert said.startswith("assay: error: cannot write the ")
    assert "free some space or choose another disk" in said
    assert "Traceback" not in ended.stderr
    assert _left(tmp_path) == {"shop.csv", "shop.assay", "shop.html"}
    assert old["shop.html"].read_bytes() == b""


def test_a_disk_too_full_for_the_ledger_ends_with_74(tmp_path: Path) -> None:
    Path(tmp_path, "shop.csv").write_text(GOOD)
    ended = subprocess.run(
        [sys.executable, "-B", "-m", "assay", "fit", "shop.csv", "-t", "sold", "--effort", "quick"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100,
        preexec_fn=lambda: _limited(20_000),
    )  # fmt: skip
    assert ended.returncode == 74, ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("assay: error: ")
    assert "Traceback" not in ended.stderr
    assert not _left(tmp_path) & {"shop.assay", "shop.html"}
