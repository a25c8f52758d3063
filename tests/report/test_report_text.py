from __future__ import annotations

from typing import Any

from tests.report.typed import overview_text, summary_text

Record = dict[str, Any]


def test_summary_has_score_baseline_verdict_choice_and_best(binary: Record) -> None:
    lines = summary_text(binary).splitlines()
    assert lines[0] == "Score      ROC AUC 0.867  (95% interval 0.838 to 0.896)"
    assert lines[1] == "Baseline   ROC AUC 0.500  (always the most frequent class)"
    assert lines[2].startswith(
        "Verdict    better than the baseline (always the most frequent class)"
    )
    text = "\n".join(lines)
    assert "1 without a score: linear discriminant: ValueError: covariance is singular" in text
    assert "and 51 more candidates" in text


def test_overview_accounts_for_rows_and_columns(binary: Record) -> None:
    text = overview_text(binary)
    assert "Rows       893 read = 891 used + 2 dropped\n" in text
    assert "           2 dropped: the target is missing\n" in text
    assert "set aside: PassengerId, Name: every value is different" in text
    assert "numeric (3): Age, SibSp, Fare" in text


def test_lines_fit_a_terminal(record: Record) -> None:
    for line in [*summary_text(record).splitlines(), *overview_text(record).splitlines()]:
        assert len(line) <= 100


def test_names_cannot_drive_the_terminal(binary: Record) -> None:
    for column in binary["columns"]:
        column["name"] = "\x1b[2Jgone\r\n"
    assert "\x1b" not in overview_text(binary)
    assert "\r" not in overview_text(binary)


def test_weak_candidates_that_were_stopped_are_counted_not_listed(binary: Record) -> None:
    row = {**binary["leaderboard"][-1], "failed": "stopped early: clearly worse"}
    binary["leaderboard"] += [row] * 98
    text = summary_text(binary)
    assert "98 weak candidates stopped early" in text
    assert "clearly worse" not in text
    assert "1 without a score: linear discriminant: ValueError" in text
