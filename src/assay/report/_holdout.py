"""A test set that can be opened once, in words: set aside, opened, opened again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.record import HoldoutPart, Opening, Rows, Score, StudyRecord, decimals, figure
from assay.report._format import count, level, metric_name, share, span

_MAX_OPENINGS = 20


def holdout_page(data: StudyRecord) -> dict[str, Any] | None:
    """Return what the page shows of the test set; None if no rows were set aside.

    Parameters
    ----------
    data : StudyRecord
        A cleaned record; its holdout may have openings.
    """
    holdout = data.holdout
    if holdout is None:
        return None
    openings = holdout.openings or ()
    first = openings[0] if openings else None
    return {
        "text": aside_text(holdout, data.rows),
        "state": state_text(openings),
        "untouched": len(openings) < 2,
        "notes": list(holdout.notes),
        "head": ["Metric", "Score on the test set", "Interval"],
        "rows": [] if first is None else score_rows(first.scores),
        "later": [
            {"when": when(entry), "score": _first_score(entry)}
            for entry in openings[1:_MAX_OPENINGS]
        ],
    }


def holdout_text(record: StudyRecord) -> list[str]:
    """Return the same as lines for a terminal; none if no rows were set aside."""
    holdout = record.holdout
    if holdout is None:
        return []
    return [
        aside_text(holdout, record.rows), state_text(holdout.openings or ()), *holdout.notes
    ]  # fmt: skip


def opening_text(scores: Sequence[Score]) -> list[str]:
    """Return the scores of one opening as lines for a terminal.

    Examples
    --------
    >>> opening_text([Score(metric="roc_auc", value=0.861, low=0.81, high=0.9, level=0.95)])
    ['ROC AUC  0.861  (95% interval 0.810 to 0.900)']
    """
    rows = score_rows(scores)
    wide = max((len(row[0]) for row in rows), default=0)
    digits = max((len(row[1]) for row in rows), default=0)
    return [f"{name:<{wide}}  {value:>{digits}}  ({ends})" for name, value, ends in rows]


def score_rows(scores: Sequence[Score]) -> list[list[str]]:
    """Return metric, value and interval of each score."""
    rows = []
    for score in scores:
        places = decimals(score)
        rows.append(
            [
                metric_name(score.metric),
                figure(score.value, places),
                f"{level(score)} interval {span(score, places)}",
            ]
        )
    return rows


def aside_text(holdout: HoldoutPart, table: Rows) -> str:
    """Return which rows were set aside."""
    rows = count(holdout.rows, "row")
    if holdout.share is None:
        return f"{rows} of {holdout.source}, which took no part in choosing or fitting the model"
    part = share(holdout.rows, table.read)
    return f"{rows} ({part} of the table) were set aside before anything else: {holdout.how}"


def state_text(openings: Sequence[Opening]) -> str:
    """Return whether and when the test set was opened."""
    if not openings:
        return "not opened yet; open it once, at the very end: assay test MODEL TABLE"
    text = f"opened on {when(openings[0])}"
    if len(openings) > 1:
        again = count(len(openings) - 1, "more time")
        text += (
            f" and {again} since, last on {when(openings[-1])}; only the first score is from "
            "untouched rows"
        )
    return text


def when(opening: Opening) -> str:
    """Return the time of an opening as text.

    Examples
    --------
    >>> when(Opening(holdout="", when="2026-11-15T21:20:03Z", model="", rows=1, scores=()))
    '2026-11-15 21:20:03 UTC'
    """
    return opening.when.replace("T", " ").replace("Z", " UTC")


def _first_score(opening: Opening) -> str:
    rows = score_rows(opening.scores[:1])
    return f"{rows[0][0]} {rows[0][1]} ({rows[0][2]})" if rows else "no score"
