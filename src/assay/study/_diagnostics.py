"""Honest predictions, aggregated for the report: everything is counted before it is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, roc_curve

from assay.record import (
    Agreement,
    CalibrationCurve,
    Confusion,
    Diagnostics,
    Histogram,
    Places,
    Roc,
)

Floats = NDArray[np.float64]


def classification(
    truth: NDArray[np.int64],
    labels: NDArray[np.int64],
    probability: Floats | None,
    classes: tuple[str, ...],
    positive: int | None,
) -> Diagnostics:
    """Return confusion counts and, for two classes with probabilities, ROC and calibration."""
    counts = confusion_matrix(truth, labels, labels=np.arange(len(classes)))
    confusion = Confusion(labels=classes, counts=tuple(map(tuple, counts.tolist())))
    if probability is None or positive is None:
        return Diagnostics(confusion=confusion)
    return Diagnostics(
        confusion=confusion,
        roc=_roc(truth == positive, probability[:, positive]),
        calibration=_calibration(truth == positive, probability[:, positive]),
    )


def regression(truth: Floats, values: Floats) -> Diagnostics:
    """Return a histogram of residuals and a grid of predicted against true."""
    counts, edges = np.histogram(truth - values, bins=30)
    grid, x_edges, y_edges = np.histogram2d(values, truth, bins=30)
    return Diagnostics(
        residuals=histogram(counts, edges),
        agreement=Agreement(
            x_edges=tuple(x_edges.tolist()),
            y_edges=tuple(y_edges.tolist()),
            counts=tuple(map(tuple, grid.astype(int).tolist())),
        ),
    )


def ranking(
    truth: Floats, scores: Floats, queries: NDArray[np.int64], n_places: int = 10
) -> Diagnostics:
    """Return the mean relevance at the first places: as ranked, and in the best order."""
    found, count = _by_place(truth, scores, queries, n_places)
    best, _ = _by_place(truth, truth, queries, n_places)
    return Diagnostics(
        places=Places(
            relevance=tuple(found.tolist()),
            best=tuple(best.tolist()),
            queries=tuple(count.tolist()),
            mean=float(truth.mean()),
        )
    )


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


def histogram(counts: NDArray[Any], edges: Floats) -> Histogram:
    """Return counts and edges as a part of the record."""
    return Histogram(edges=tuple(edges.tolist()), counts=tuple(counts.astype(int).tolist()))


def _roc(truth: NDArray[np.bool_], score: Floats, n_points: int = 100) -> Roc:
    false_rate, true_rate, _ = roc_curve(truth, score)
    at = np.linspace(0.0, 1.0, n_points)
    # Enough for a picture at any size of table; the score itself uses every row.
    curve = np.interp(at, false_rate, true_rate) if len(at) < len(false_rate) else true_rate
    points = at if len(at) < len(false_rate) else false_rate
    return Roc(fpr=tuple(points.tolist()), tpr=tuple(curve.tolist()))


def _calibration(truth: NDArray[np.bool_], score: Floats, n_bins: int = 10) -> CalibrationCurve:
    which = np.minimum((score * n_bins).astype(int), n_bins - 1)
    count = np.bincount(which, minlength=n_bins)
    full = count > 0
    predicted = np.bincount(which, weights=score, minlength=n_bins)[full] / count[full]
    observed = np.bincount(which, weights=truth, minlength=n_bins)[full] / count[full]
    return CalibrationCurve(
        predicted=tuple(predicted.tolist()),
        observed=tuple(observed.tolist()),
        count=tuple(count[full].tolist()),
    )
