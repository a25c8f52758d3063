"""Where predictions for new rows were right and wrong: tables and charts for the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.record import (
    Agreement,
    CalibrationCurve,
    Confusion,
    Histogram,
    Places,
    Roc,
    StudyRecord,
)
from assay.report import _charts
from assay.report._format import count, share, short

MAX_CLASS_ROWS = 40
_MAX_MIXED_UP = 8
_MAX_COUNT_TABLE = 12


def diagnostics(data: StudyRecord) -> dict[str, Any]:
    """Return the parts of the section that the task has; an absent one is None."""
    found, positive = data.diagnostics, data.target.positive
    repeats = _repeats(data)
    return {
        "unit": "Rows" if repeats == 1 else "Predictions",
        "confusion": _confusion(found.confusion, repeats),
        "roc": _roc(found.roc, positive),
        "calibration": _calibration(found.calibration, positive),
        "residuals": _residuals(found.residuals),
        "agreement": _agreement(found.agreement),
        "places": _places(found.places),
    }


def _confusion(part: Confusion | None, repeats: int) -> dict[str, Any] | None:
    if part is None or not part.labels:
        return None
    labels = [label or "(empty)" for label in part.labels]
    counts = part.counts
    size = len(labels)
    whole = sum(map(sum, counts))
    right = sum(counts[at][at] for at in range(size))
    chart = None
    if size <= _charts.MAX_CLASSES:
        chart = {
            "id": "chart-confusion",
            "spec": _charts.confusion(labels, counts),
            "alt": (
                f"Confusion matrix of {count(size, 'class', 'classes')}: {right:,} of "
                f"{count(whole, 'prediction')} on the diagonal."
            ),
        }
    return {
        "sentence": _predicted(right, whole, repeats),
        "chart": chart,
        "not_drawn": None
        if chart
        else f"The matrix of {size:,} classes is not drawn (at most {_charts.MAX_CLASSES}).",
        "classes": _classes(labels, counts, repeats),
        "more": (
            f"{count(size - MAX_CLASS_ROWS, 'rarer class', 'rarer classes')} not listed."
            if size > MAX_CLASS_ROWS
            else None
        ),
        "mixed_up": _mixed_up(labels, counts),
        "labels": labels if size <= _MAX_COUNT_TABLE else None,
        "counts": [
            {"label": label, "cells": [f"{number:,}" for number in line]}
            for label, line in zip(labels, counts, strict=True)
        ]
        if size <= _MAX_COUNT_TABLE
        else None,
    }


def _repeats(data: StudyRecord) -> int:
    """Return how often each row was predicted; files of old have one prediction per row."""
    confusion = data.diagnostics.confusion
    counted = 0 if confusion is None else sum(map(sum, confusion.counts))
    return data.plan.repeats if counted != data.rows.used else 1


def _predicted(right: int, whole: int, repeats: int) -> str:
    """Describe how many predictions are correct; of several repeats, each row has several."""
    if repeats == 1:
        return (
            f"{right:,} of {count(whole, 'row')} ({share(right, whole)}) are predicted correctly, "
            f"each by a model that was not fitted on it."
        )
    return (
        f"{right:,} of {count(whole, 'prediction')} ({share(right, whole)}) are correct. Each row "
        f"is predicted {repeats} times, by models that were not fitted on it."
    )


def _classes(
    labels: Sequence[str], counts: Sequence[Sequence[int]], repeats: int
) -> list[dict[str, str]]:
    sizes = [sum(line) for line in counts]
    predicted = [sum(line[at] for line in counts) for at in range(len(labels))]
    by_size = sorted(range(len(labels)), key=lambda at: -sizes[at])
    return [
        {
            "label": labels[at],
            "rows": f"{round(sizes[at] / repeats):,}",
            "recall": share(counts[at][at], sizes[at]),
            "precision": share(counts[at][at], predicted[at]),
        }
        for at in by_size[:MAX_CLASS_ROWS]
    ]


def _mixed_up(labels: Sequence[str], counts: Sequence[Sequence[int]]) -> list[dict[str, str]]:
    wrong = [
        (number, truth, predicted)
        for truth, line in enumerate(counts)
        for predicted, number in enumerate(line)
        if truth != predicted and number
    ]
    wrong.sort(key=lambda entry: (-entry[0], entry[1], entry[2]))
    return [
        {"count": f"{number:,}", "truth": labels[truth], "predicted": labels[predicted]}
        for number, truth, predicted in wrong[:_MAX_MIXED_UP]
    ]


def _roc(part: Roc | None, positive: str | None) -> dict[str, Any] | None:
    if part is None or not part.fpr:
        return None
    fpr, tpr = part.fpr, part.tpr
    at = {
        limit: max((y for x, y in zip(fpr, tpr, strict=True) if x <= limit), default=0.0)
        for limit in (0.01, 0.05, 0.1, 0.2, 0.5)
    }
    return {
        "id": "chart-roc",
        "spec": _charts.roc(fpr, tpr),
        "alt": (
            f"ROC curve: at a false-positive rate of 10% the true-positive rate is "
            f"{share(at[0.1], 1)}."
        ),
        "positive": positive,
        "table": [[share(limit, 1), share(found, 1)] for limit, found in at.items()],
    }


def _calibration(part: CalibrationCurve | None, positive: str | None) -> dict[str, Any] | None:
    if part is None or not part.predicted:
        return None
    predicted, observed, counts = part.predicted, part.observed, part.count
    total = sum(counts) or 1
    gap = (
        sum(number * abs(x - y) for x, y, number in zip(predicted, observed, counts, strict=True))
        / total
    )
    return {
        "id": "chart-calibration",
        "spec": _charts.calibration(predicted, observed, counts),
        "alt": (
            f"Calibration: predicted probabilities are off by {100 * gap:.1f} points on average."
        ),
        "gap": f"{100 * gap:.1f}",
        "positive": positive,
        "table": [
            [f"{100 * x:.0f}%", f"{100 * y:.0f}%", f"{number:,}"]
            for x, y, number in zip(predicted, observed, counts, strict=True)
        ],
    }


def _residuals(part: Histogram | None) -> dict[str, Any] | None:
    if part is None or not part.counts:
        return None
    edges, counts = part.edges, part.counts
    peak = counts.index(max(counts))
    return {
        "id": "chart-residuals",
        "spec": _charts.residuals(edges, counts),
        "alt": (
            f"Histogram of residuals from {short(edges[0])} to {short(edges[-1])}; the fullest "
            f"bin is {short(edges[peak])} to {short(edges[peak + 1])} with "
            f"{count(counts[peak], 'row')}."
        ),
        "table": [
            [short(low), short(high), f"{number:,}"]
            for low, high, number in zip(edges[:-1], edges[1:], counts, strict=True)
        ],
    }


def _agreement(part: Agreement | None) -> dict[str, Any] | None:
    if part is None or not part.counts:
        return None
    x_edges, y_edges = part.x_edges, part.y_edges
    return {
        "id": "chart-agreement",
        "spec": _charts.agreement(x_edges, y_edges, part.counts),
        "alt": (
            f"Predicted values from {short(x_edges[0])} to {short(x_edges[-1])} against true "
            f"values from {short(y_edges[0])} to {short(y_edges[-1])}, as counts in a grid."
        ),
    }


def _places(part: Places | None) -> dict[str, Any] | None:
    if part is None or not part.relevance:
        return None
    found, best, queries = part.relevance, part.best, part.queries
    return {
        "sentence": (
            f"The row ranked first has a mean target of {short(found[0])}; {short(best[0])} would "
            f"be the best possible, {short(part.mean)} is the mean of all rows. Each query "
            f"was ranked by a model that was not fitted on it."
        ),
        "table": [
            [f"{place:,}", short(value), short(most), f"{number:,}"]
            for place, (value, most, number) in enumerate(
                zip(found, best, queries, strict=True), start=1
            )
        ],
    }
