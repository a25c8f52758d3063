"""Honest predictions, aggregated for the report: everything is counted before it is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, roc_curve

Floats = NDArray[np.float64]


def classification(
    truth: NDArray[np.int64],
    labels: NDArray[np.int64],
    probability: Floats | None,
    classes: tuple[str, ...],
    positive: int | None,
) -> dict[str, Any]:
    """Return confusion counts and, for two classes with probabilities, ROC and calibration."""
    counts = confusion_matrix(truth, labels, labels=np.arange(len(classes)))
    page: dict[str, Any] = {
        "confusion": {"labels": list(classes), "counts": counts.tolist()},
        "roc": None,
        "calibration": None,
    }
    if probability is not None and positive is not None:
        page["roc"] = _roc(truth == positive, probability[:, positive])
        page["calibration"] = _calibration(truth == positive, probability[:, positive])
    return page


def regression(truth: Floats, values: Floats) -> dict[str, Any]:
    """Return a histogram of residuals and a grid of predicted against true."""
    counts, edges = np.histogram(truth - values, bins=30)
    grid, x_edges, y_edges = np.histogram2d(values, truth, bins=30)
    return {
        "residuals": histogram(counts, edges),
        "agreement": {
            "x_edges": x_edges.tolist(),
            "y_edges": y_edges.tolist(),
            "counts": grid.astype(int).tolist(),
        },
    }


def ranking(
    truth: Floats, scores: Floats, queries: NDArray[np.int64], n_places: int = 10
) -> dict[str, Any]:
    """Return the mean relevance at the first places: as ranked, and in the best order."""
    found, count = _by_place(truth, scores, queries, n_places)
    best, _ = _by_place(truth, truth, queries, n_places)
    return {
        "places": {
            "relevance": found.tolist(),
            "best": best.tolist(),
            "queries": count.tolist(),
            "mean": float(truth.mean()),
        }
    }


def _by_place(
    truth: Floats, scores: Floats, queries: NDArray[np.int64], n_places: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the mean relevance at each place and how many queries have it."""
    by = np.lexsort((-scores, queries))
    query, score = queries[by], scores[by]
    starts = np.r_[True, query[1:] != query[:-1]]
    ties = np.flatnonzero(starts | np.r_[True, score[1:] != score[:-1]])
    sizes = np.diff(np.r_[ties, len(by)])
    # Rows of equal score share their places.
    shared = np.repeat(np.add.reduceat(truth[by], ties) / sizes, sizes)
    place = np.arange(len(by)) - np.maximum.accumulate(np.where(starts, np.arange(len(by)), 0))
    here = place < n_places
    count = np.bincount(place[here])
    return np.bincount(place[here], shared[here]) / count, count


def histogram(counts: NDArray[Any], edges: Floats) -> dict[str, Any]:
    """Return counts and edges as plain lists."""
    return {"edges": edges.tolist(), "counts": counts.astype(int).tolist()}


def _roc(truth: NDArray[np.bool_], score: Floats, n_points: int = 100) -> dict[str, Any]:
    false_rate, true_rate, _ = roc_curve(truth, score)
    at = np.linspace(0.0, 1.0, n_points)
    # Enough for a picture at any size of table; the score itself uses every row.
    curve = np.interp(at, false_rate, true_rate) if len(at) < len(false_rate) else true_rate
    points = at if len(at) < len(false_rate) else false_rate
    return {"fpr": points.tolist(), "tpr": curve.tolist()}


def _calibration(truth: NDArray[np.bool_], score: Floats, n_bins: int = 10) -> dict[str, Any]:
    which = np.minimum((score * n_bins).astype(int), n_bins - 1)
    count = np.bincount(which, minlength=n_bins)
    full = count > 0
    predicted = np.bincount(which, weights=score, minlength=n_bins)[full] / count[full]
    observed = np.bincount(which, weights=truth, minlength=n_bins)[full] / count[full]
    return {
        "predicted": predicted.tolist(),
        "observed": observed.tolist(),
        "count": count[full].tolist(),
    }
