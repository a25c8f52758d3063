"""Calibration and thresholds, learned from out-of-fold predictions and used only where they help.

Each method is learned without block j and scored on block j, for every inner block j; the best one
is used if it beats leaving the predictions as they are. Calibration is tried where the score
depends on probabilities (log loss, Brier score, costs); a threshold where labels of two classes are
scored and the most probable one need not be the best (F1, balanced accuracy and similar).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.multiclass import ProbabilityMap
from assay.select.choose._model_spec import adjusted
from assay.select.choose._out_of_fold import (
    OutOfFoldPredictions,
    PredictedRows,
    cross_fitted,
    mean_score,
)
from assay.select.plan import Question

ON_PROBABILITIES = frozenset({"log_loss", "brier_score", "d2_log_loss_score", "d2_brier_score"})
ON_LABELS = frozenset(
    {"balanced_accuracy", "matthews_corrcoef", "f1", "f1_macro", "f1_weighted", "jaccard",
     "jaccard_macro", "jaccard_weighted"}
)  # fmt: skip
# With fewer rows an isotonic fit follows noise.
ISOTONIC_ROWS = 1000
_MOST_THRESHOLDS = 99


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The best method, if any was better than none, and the score of each.

    Parameters
    ----------
    method : str or None
        "sigmoid", "isotonic", "temperature", "threshold", or None for none.
    learned : ProbabilityMap or None
        From all pieces.
    threshold : float or None
        From all pieces.
    scores : dict of str to float
        Mean score of each method, "none" included; greater is better.
    """

    method: str | None = None
    learned: ProbabilityMap | None = None
    threshold: float | None = None
    scores: dict[str, float] = field(default_factory=dict)


def ways(question: Question, rows: int) -> list[str]:
    """Return the methods to try for this metric and number of out-of-fold rows."""
    if question.n_classes is None:
        return []
    if question.cost is not None or question.metric.name in ON_PROBABILITIES:
        many = ["isotonic"] if rows >= ISOTONIC_ROWS else []
        return ["temperature", "sigmoid", *many]
    if question.n_classes == 2 and question.metric.name in ON_LABELS:
        return ["threshold"]
    return []


def adjustment(
    level: OutOfFoldPredictions, pieces: Sequence[PredictedRows], out_of_fold: Sequence[Predicted]
) -> Adjusted:
    """Find the best method by cross-fitting, and learn it from all pieces.

    Parameters
    ----------
    level : OutOfFoldPredictions
        Truth and weights.
    pieces : sequence of PredictedRows
        The rows.
    out_of_fold : sequence of Predicted
        Predictions of the choice so far, one per piece.
    """
    rows = len(np.unique(np.concatenate([piece.rows for piece in pieces])))
    tried = ways(level.question, rows)
    if not tried or any(each.probability is None for each in out_of_fold):
        return Adjusted()

    def learn(way: str) -> Callable[[list[int]], Callable[[int], Predicted]]:
        def from_pieces(train: list[int]) -> Callable[[int], Predicted]:
            found = _learned(
                way, level, [pieces[at] for at in train], [out_of_fold[at] for at in train]
            )
            return lambda at: adjusted(out_of_fold[at], *found)

        return from_pieces

    scores = {"none": _mean(level, pieces, out_of_fold)}
    for way in tried:
        mapped = cross_fitted(pieces, learn(way))
        if mapped is None:
            return Adjusted()
        scores[way] = _mean(level, pieces, mapped)
    best = max(scores, key=lambda way: scores[way])  # the first of equals is "none"
    if best == "none" or not scores[best] > scores["none"]:
        return Adjusted(scores=scores)
    learned, threshold = _learned(best, level, pieces, out_of_fold)
    return Adjusted(best, learned, threshold, scores)


def _mean(
    level: OutOfFoldPredictions, pieces: Sequence[PredictedRows], out_of_fold: Sequence[Predicted]
) -> float:
    return mean_score([level.score(p, each) for p, each in zip(pieces, out_of_fold, strict=True)])


def _learned(
    way: str,
    level: OutOfFoldPredictions,
    pieces: Sequence[PredictedRows],
    out_of_fold: Sequence[Predicted],
) -> tuple[ProbabilityMap | None, float | None]:
    shares = np.concatenate([np.asarray(each.probability) for each in out_of_fold])
    if way == "threshold":
        rows = np.concatenate([piece.rows for piece in pieces])
        return None, best_threshold(level.question, rows, shares)
    codes = np.concatenate([level.truth(piece) for piece in pieces]).astype(np.int64)
    weight = None
    if level.question.weight is not None:
        weight = np.concatenate([level.weight(piece) for piece in pieces])
        if not weight.any():
            weight = None
    return ProbabilityMap.fit(way, shares, codes, weight), None


def best_threshold(
    question: Question, rows: NDArray[np.int64], shares: NDArray[np.float64]
) -> float:
    """Return the threshold on the second class of two with the best score on all rows together.

    Of equally good thresholds, the one nearest to 1/2. At most 99 are tried, spread evenly over
    the ranks of the rows, each half-way between two neighbouring probabilities.
    """
    values = np.unique(shares[:, 1])
    if len(values) < 2:
        return 0.5
    middles = (values[1:] + values[:-1]) / 2
    if len(middles) > _MOST_THRESHOLDS:
        picked = np.quantile(shares[:, 1], np.linspace(0, 1, _MOST_THRESHOLDS + 2)[1:-1])
        near = np.unique(np.clip(np.searchsorted(values, picked), 1, len(values) - 1))
        middles = middles[near - 1]
    tried = np.unique(np.append(middles, 0.5))
    tried = tried[np.argsort(np.abs(tried - 0.5), kind="stable")]
    best, found = -np.inf, 0.5
    for threshold in tried.tolist():
        label = (shares[:, 1] > threshold).astype(np.int64)
        score, _ = question.score(rows, Predicted(label=label, probability=shares))
        if score > best + 1e-12:
            best, found = score, threshold
    return float(found)
