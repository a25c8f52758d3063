from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import assay.study
from assay.record import Rows
from tests.cli.shop import HEADER, Run, rows

QUICK = ("--effort", "quick")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace the two steps of a fit by ones that only note their arguments."""
    found: dict[str, Any] = {}

    class Noted:
        table = SimpleNamespace(rows=Rows(read=0, used=0, dropped=()), columns=())

        def fit(self, settings: assay.study.SearchSettings, *, progress: Any) -> None:
            found.update(vars(settings), progress=progress)
            raise KeyboardInterrupt

    def prepare(source: Any, target: str, **options: Any) -> Noted:
        found.update(options, source=source, target=target)
        return Noted()

    monkeypatch.setattr(assay.study, "prepare", prepare)
    return found


def test_fit_writes_the_files_and_tells_the_score(run: Run, table: Path) -> None:
    ended = run("fit", table, "--target", "sold", *QUICK)
    assert ended.code == 0, ended.err
    folder = Path.cwd()
    assert sorted(path.name for path in folder.iterdir()) == [
        "shop.assay", "shop.csv", "shop.html", "shop.ledger",
    ]  # fmt: skip
    lines = ended.out.splitlines()
    assert lines[0] == "Rows       80 read = 80 used + 0 dropped"
    assert any(line.startswith("Score      ROC AUC ") for line in lines)
    assert any(line.startswith("Baseline   ROC AUC 0.5") for line in lines)
    assert "set aside: id: consecutive numbers, one per row" in ended.out
    for name in ("shop.assay", "shop.html", "shop.ledger"):
        assert name in ended.out
    assert "Traceback" not in ended.err


def test_json_prints_one_object_and_nothing_else(run: Run, table: Path) -> None:
    ended = run("fit", table, "--target", "sold", *QUICK, "--json", "--seed", "3")
    found = json.loads(ended.out)
    assert set(found["score"]) == {"metric", "value", "low", "high", "level"}
    assert found["score"]["low"] <= found["score"]["value"] <= found["score"]["high"]
    assert found["rows"] == {"read": 80, "used": 80, "dropped": 0, "reasons": []}
    assert found["files"] == {
        "model": "shop.assay",
        "report": "shop.html",
        "ledger": "shop.ledger",
    }
    assert found["seed"] == 3
    assert found["verdict"]["code"] in ("better", "no better")
    assert found["leaderboard"][0]["rank"] == 1
    assert found["chosen"]["family"]
    assert found["baseline"]["value"] is not None
    assert len(found["digest"]) == 64
    assert found["digest"] == assay.study.load("shop.assay").digest


def test_quiet_prints_nothing(run: Run, table: Path) -> None:
    ended = run("fit", table, "--target", "sold", *QUICK, "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert Path("shop.assay").exists()


def test_same_command_gives_the_same_bytes_and_resumes(run: Run, table: Path) -> None:
    run("fit", table, "--target", "sold", *QUICK)
    before = {name: Path(name).read_bytes() for name in ("shop.assay", "shop.html")}
    ended = run("fit", table, "--target", "sold", *QUICK, "--jobs", "1")
    assert ended.code == 0
    assert before == {name: Path(name).read_bytes() for name in before}


def test_dropped_rows_are_counted_with_their_reason(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join([HEADER, *rows(), "80,0.5,x,1.0,", ""]) + "\n")
    ended = run("fit", path, "--target", "sold", *QUICK, "--json")
    found = json.loads(ended.out)["rows"]
    assert found["read"] == found["used"] + found["dropped"]
    assert found["used"] == 80
    assert sum(entry["count"] for entry in found["reasons"]) == found["dropped"] > 0


def test_standard_input_is_read(run: Run, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(table.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    ended = run("fit", "-", "--target", "sold", *QUICK, "--quiet")
    assert ended.code == 0, ended.err
    assert Path("stdin.assay").exists()


def test_options_reach_the_fit(run: Run, table: Path, asked: dict[str, Any]) -> None:
    ended = run(
        "fit", table, "-t", "price", "--metric", "r2", "--effort", "thorough", "--seed", "7",
        "--jobs", "2", "--backend", "processes", "--kind", "color=ordinal:x<y<z",
        "--kind", "a=b=nominal", "--drop", "id", "--group", "g", "--time", "t", "--weights", "w",
        "--positive", "yes", "--cost", "x,y=2", "--cost", "y,x=3", "--task", "regression",
        "--delimiter", "tab", "--decimal", ",",
        "--encoding", "latin-1", "--sheet", "Sheet1", "--missing", "-999",
        "--monthfirst", "--search", "sobol",
    )  # fmt: skip
    assert ended.code == 130
    missing = asked.pop("missing")
    assert missing[0] == ""
    assert missing[-1] == "-999"
    assert callable(asked.pop("progress"))
    assert asked == {
        "source": str(table), "target": "price", "metric": "r2", "effort": "thorough", "seed": 7,
        "n_jobs": 2, "backend": "processes", "drop": ("id",), "group": "g", "time": "t",
        "kinds": {"color": "ordinal:x<y<z", "a=b": "nominal"}, "weights": "w", "positive": "yes",
        "cost": ["x,y=2", "y,x=3"],
        "task": "regression", "delimiter": "\t", "decimal": ",", "encoding": "latin-1",
        "sheet": "Sheet1", "dayfirst": False, "ledger": Path("shop.ledger"),
        "search": "sobol", "budget": None, "calibrate": None, "holdout": None, "memory": None,
        "prefer": "best", "scheduler": None, "stack": None, "models": None, "defaults": True,
    }  # fmt: skip


def test_no_ledger_keeps_none(run: Run, table: Path, asked: dict[str, Any]) -> None:
    run("fit", table, "-t", "sold", "--no-ledger")
    assert asked["ledger"] is None


def test_an_interrupt_says_how_to_go_on(run: Run, table: Path, asked: dict[str, Any]) -> None:
    ended = run("fit", table, "-t", "sold")
    assert ended.code == 130
    assert ended.err.endswith("assay: error: interrupted (run the same command again to resume)\n")
    assert run("fit", table, "-t", "sold", "--no-ledger").err.endswith(
        "assay: error: interrupted\n"
    )


def _started(folder: Path) -> subprocess.Popen[str]:
    """Start a fit that takes long, and return it once it has said its first line."""
    path = folder / "long.csv"
    path.write_text("\n".join([HEADER, *rows(4000)]) + "\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "assay", "fit", path, "-t", "sold", "--effort", "thorough"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    assert process.stderr.readline() == f"reading {path}\n"
    return process


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_signal_stops_a_running_fit(
    tmp_path: Path, number: signal.Signals, code: int, word: str
) -> None:
    with _started(tmp_path) as process:
        assert process.stderr is not None
        assert "units" in process.stderr.readline()
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert out.startswith("Rows       4,000 read = 4,000 used + 0 dropped\n")
    assert err.splitlines()[-1] == f"assay: error: {word} (run the same command again to resume)"
    assert "Traceback" not in err
    assert {path.suffix for path in tmp_path.iterdir()} <= {
        ".csv", ".ledger", ".ledger-wal", ".ledger-shm",
    }  # fmt: skip


def test_internal_errors_are_one_line_and_name_debug(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prepare(*_: Any, **__: Any) -> None:
        raise RuntimeError("a wheel\ncame off")

    monkeypatch.setattr(assay.study, "prepare", prepare)
    ended = run("fit", table, "-t", "sold", "--quiet")
    assert ended.code == 70
    assert ended.err == (
        "assay: error: internal error: RuntimeError: a wheel; run again with --debug to see where\n"
    )
    debugged = run("fit", table, "-t", "sold", "--quiet", "--debug")
    assert debugged.code == 70
    assert "Traceback (most recent call last)" in debugged.err


def test_too_little_memory_is_said(run: Run, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def prepare(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(assay.study, "prepare", prepare)
    ended = run("fit", table, "-t", "sold", "--quiet")
    assert ended.code == 70
    assert ended.err.startswith("assay: error: not enough memory")


def test_names_of_columns_cannot_drive_the_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    lines = [f"{line}" for line in rows()]
    path.write_text("\n".join(["id,si\x1b[2Jze,color,price,sold", *lines]) + "\n")
    ended = run("fit", path, "-t", "sold", *QUICK)
    assert "\x1b" not in ended.out + ended.err
    assert "\x1b" not in run("fit", path, "-t", "si\x1b[2Jz").err
