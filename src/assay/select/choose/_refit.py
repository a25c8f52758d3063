"""The choice, fitted on all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from assay.base import check_weight
from assay.ensemble import WeightedEnsembleClassifier, WeightedEnsembleRegressor
from assay.multiclass import CalibratedClassifier
from assay.select.choose._outcome import Chosen, Gap, Outcome, Stack
from assay.select.choose._score import Judge
from assay.select.plan import Problem
from assay.select.run import (
    Family,
    collected,
    encoded,
    fit_seed,
    listening,
    path_of,
    predict,
    seeded,
    seeded_candidate,
)

# More training rows than this say no more about the gap, and some models predict slowly.
_GAP_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Refitted:
    """A fitted choice: new rows go through `encoder` (if any), then `estimator`.

    A stack has no encoder in front: its members have their own inside. `gap` compares the score on
    the training rows with the honest one; None if only a `Chosen` was given, or it is undefined.
    """

    encoder: Any
    estimator: Any
    notes: tuple[str, ...]
    gap: Gap | None = None


def refit(
    chosen: Outcome | Chosen,
    X: ArrayLike,
    y: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    queries: ArrayLike | None = None,
    seed: int | None = None,
) -> Refitted:
    """Fit what was chosen, with its encoders, on all rows.

    Parameters
    ----------
    chosen : Outcome or Chosen
        What was chosen: a candidate; of an outcome also a stack, with calibration and threshold.
    X, y, weight
        All rows, as they were given to `search`.
    queries : array-like of shape (n_samples,), optional
        Query of each row, of a ranking.
    seed : int, optional
        Seed of the fit; by default that of the outcome, or 0.

    Returns
    -------
    Refitted
        Encoder (None without one), estimator and warnings of the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from assay.select import Family, search
    >>> X, y = load_diabetes(return_X_y=True)
    >>> outcome = search(X, y, [Family("ridge", Ridge(), [{"alpha": 0.01}])], task="regression")
    >>> model = refit(outcome, X, y)
    >>> model.estimator.alpha, model.estimator.predict(X).shape
    (0.01, (442,))
    """
    if seed is None:
        seed = chosen.seed if isinstance(chosen, Outcome) else 0
    matrix, target = np.asarray(X), np.asarray(y)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    problem = Problem(
        np.ascontiguousarray(matrix),
        target,
        check_weight(weight, matrix),
        queries=None if queries is None else np.asarray(queries, dtype=np.int64),
    )
    # In the same conditions as the units: one BLAS thread, warnings as notes.
    with threadpool_limits(1), listening(), collected() as notes:
        if isinstance(chosen, Chosen):
            encoder, estimator = _fitted(problem, chosen.family, chosen.index, seed)
            return Refitted(encoder, estimator, tuple(notes))
        if chosen.stack is None:
            encoder, estimator = _fitted(problem, chosen.chosen.family, chosen.chosen.index, seed)
        else:
            encoder, estimator = None, _stacked(problem, chosen.stack, chosen, seed)
        estimator = _calibrated(problem, chosen, encoder, estimator)
        gap = _gap(problem, chosen, encoder, estimator)
    return Refitted(encoder, estimator, tuple(notes), gap)


def _fitted(problem: Problem, family: Family, index: int, seed: int) -> tuple[Any, Any]:
    """Return encoder and estimator of one candidate."""
    encoder, rows = None, problem.X
    if family.encoder is not None:
        encoder, rows = _encoder(problem, family, seed)
    return encoder, _estimator(problem, family, index, rows, seed)


def _encoder(problem: Problem, family: Family, seed: int) -> tuple[Any, Any]:
    """Return the fitted encoder of a family and all rows encoded."""
    encoder = seeded(family.encoder, fit_seed(family.encoder, seed, "refit"))
    return encoder, encoded(encoder, problem.X, problem.y, np.arange(len(problem.X)))


def _estimator(problem: Problem, family: Family, index: int, rows: Any, seed: int) -> Any:
    key = fit_seed(family.estimator, seed, "refit")
    return path_of(family.estimator, problem.queries).refit(
        seeded(family.estimator, key),
        rows,
        problem.y,
        problem.weight,
        seeded_candidate(family.candidates[index], key),
    )


def _stacked(problem: Problem, stack: Stack, outcome: Outcome, seed: int) -> Any:
    """Return the weighted ensemble; members with equal encoders share one."""
    made: dict[str, tuple[Any, Any]] = {}
    members: list[tuple[str, Any]] = []
    encoders = []
    for member in stack.members:
        family = member.family
        encoder, rows = None, problem.X
        if family.encoder_digest is not None:
            name = family.encoder_digest
            if name not in made:
                made[name] = _encoder(problem, family, seed)
            encoder, rows = made[name]
        encoders.append(encoder)
        fitted = _estimator(problem, family, member.index, rows, seed)
        members.append((_name(family.name, members), fitted))
    weights = [member.weight for member in stack.members]
    width = problem.X.shape[1]
    if outcome.task == "regression":
        return WeightedEnsembleRegressor.of_fitted(
            members, weights, n_features=width, encoders=encoders
        )
    return WeightedEnsembleClassifier.of_fitted(
        members, weights, n_classes=_n_classes(outcome), n_features=width, encoders=encoders
    )


def _name(family: str, taken: list[tuple[str, Any]]) -> str:
    """Return a name that a list of members may have: unique, and no path to a parameter."""
    plain = family.replace("__", " ")
    same = sum(name == plain or name.startswith(f"{plain} #") for name, _ in taken)
    return f"{plain} #{same + 1}" if same else plain


def _calibrated(problem: Problem, outcome: Outcome, encoder: Any, estimator: Any) -> Any:
    found = outcome.calibration
    if found is None or found.method is None:
        return estimator
    width = problem.X.shape[1] if encoder is None else _width(encoder, estimator, problem)
    return CalibratedClassifier.of_fitted(
        estimator,
        found.learned,
        threshold=found.threshold,
        n_classes=_n_classes(outcome),
        n_features=width,
    )


def _width(encoder: Any, estimator: Any, problem: Problem) -> int:
    found = getattr(estimator, "n_features_in_", None)
    return int(found) if found is not None else int(encoder.transform(problem.X[:1]).shape[1])


def _n_classes(outcome: Outcome) -> int:
    assert outcome.n_classes is not None
    return outcome.n_classes


def _gap(problem: Problem, outcome: Outcome, encoder: Any, estimator: Any) -> Gap | None:
    """Return how much better the training rows score than the honest estimate."""
    judge = Judge(
        outcome.metric,
        problem.X,
        problem.y,
        problem.weight,
        outcome.n_classes,
        outcome.positive,
        outcome.cost,
        problem.queries,
    )
    asked = np.arange(len(problem.y))
    if len(asked) > _GAP_ROWS and problem.queries is None:
        asked = asked[:: -(-len(asked) // _GAP_ROWS)]
    rows = problem.X[asked] if encoder is None else encoder.transform(problem.X[asked])
    queries = None if problem.queries is None else problem.queries[asked]
    score, _ = judge.score(asked, predict(estimator, rows, outcome.n_classes, queries))
    if not np.isfinite(score):
        return None
    train, test = outcome.metric.natural(score), outcome.score.value
    sign = 1.0 if outcome.metric.greater_is_better else -1.0
    return Gap(train, test, sign * (train - test))
