from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from assay.cli._progress import Bar, Lines, left, line, progress


@dataclass(frozen=True)
class Step:
    done: int
    total: int
    seconds_left: float | None = None
    text: str = "ridge"


def test_a_line_tells_how_far_and_how_long() -> None:
    assert line(Step(10, 40, 200.0)) == "10 of 40 units (25%), about 3 min left, ridge"
    assert line(Step(40, 40, 0.0)) == "40 of 40 units (100%)"
    assert line(Step(0, 0, None, "reading")) == "reading"


def test_an_unknown_time_is_not_guessed() -> None:
    assert left(None) == left(float("nan")) == left(-1.0) == ""


def test_lines_come_ever_more_rarely(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    told = Lines()
    for done in range(10_000):
        now[0] += 0.1
        told(Step(done, 10_001))
    told(Step(10_001, 10_001))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("0 of 10,001 units (0%)")
    assert lines[-1] == "10,001 of 10,001 units (100%)"
    assert 30 < len(lines) < 50


def test_a_bar_takes_any_text(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar() as told:
        told(Step(1, 3, 5.0, "[bold]k-NN[/] [/nothing] \x1b[2J"))
        told(Step(3, 3, 0.0))
    assert "\x1b[2J" not in capsys.readouterr().err


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=True) as told:
        told(Step(1, 3))
    assert capsys.readouterr().err == ""


def test_lines_are_used_where_there_is_no_terminal() -> None:
    assert isinstance(progress(quiet=False), Lines)
