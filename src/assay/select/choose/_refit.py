"""The choice, fitted on all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from assay.ensemble import WeightedEnsembleClassifier, WeightedEnsembleRegressor
from assay.multiclass import CalibratedClassifier
from assay.select.choose._outcome import Chosen, Gap, Outcome, Stack
from assay.select.plan import Data, Question
from assay.select.run import (
    Family,
    collected,
    encoded,
    fit,
    fit_seed,
    listening,
    path_of,
    predict,
    seeded,
    seeded_candidate,
)

# More training rows than this add nothing to the gap, and some models predict slowly.
_GAP_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Refitted:
    """A fitted choice: new rows go through `encoder` (if any), then `estimator`.

    A stack has no encoder in front: its members have their own inside. `gap` compares the score on
    the training rows with the nested one; None if only a `Chosen` was given, or it is undefined.
    """

    encoder: Any
    estimator: Any
    notes: tuple[str, ...]
    gap: Gap | None = None


def refit(chosen: Outcome | Chosen, question: Question, *, seed: int | None = None) -> Refitted:
    """Fit what was chosen, with its encoders, on all rows.

    Parameters
    ----------
    chosen : Outcome or Chosen
        What was chosen: a candidate; of an outcome also a stack, with calibration and threshold.
    question : Question
        As it was given to `search`.
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
    >>> from assay.select import Family, Question, search
    >>> X, y = load_diabetes(return_X_y=True)
    >>> question = Question.of(X, y, task="regression")
    >>> outcome = search(question, [Family("ridge", Ridge(), [{"alpha": 0.01}])])
    >>> model = refit(outcome, question)
    >>> model.estimator.alpha, model.estimator.predict(X).shape
    (0.01, (442,))
    """
    if seed is None:
        seed = chosen.seed if isinstance(chosen, Outcome) else 0
    data = question.data
    # In the same conditions as the units: one BLAS thread, warnings as notes.
    with threadpool_limits(1), listening(), collected() as notes:
        if isinstance(chosen, Chosen):
            encoder, estimator = _fitted(data, chosen.family, chosen.index, seed)
            return Refitted(encoder, estimator, tuple(notes))
        if chosen.stack is None:
            encoder, estimator = _fitted(data, chosen.chosen.family, chosen.chosen.index, seed)
        else:
            encoder, estimator = None, _stacked(data, chosen.stack, seed)
        estimator = _calibrated(data, chosen, encoder, estimator)
        gap = _gap(question, chosen, encoder, estimator)
    return Refitted(encoder, estimator, tuple(notes), gap)


def _fitted(data: Data, family: Family, index: int, seed: int) -> tuple[Any, Any]:
    """Return encoder and estimator of one candidate."""
    encoder, rows = None, data.X
    if family.encoder is not None:
        encoder, rows = _encoder(data, family, seed)
    return encoder, _estimator(data, family, index, rows, seed)


def _encoder(data: Data, family: Family, seed: int) -> tuple[Any, Any]:
    """Return the fitted encoder of a family and all rows encoded."""
    encoder = seeded(family.encoder, fit_seed(family.encoder, seed, "refit"))
    return encoder, encoded(encoder, data.X, data.y, np.arange(len(data.X)))


def _estimator(data: Data, family: Family, index: int, rows: Any, seed: int) -> Any:
    key = fit_seed(family.estimator, seed, "refit")
    candidate = seeded_candidate(family.candidates[index], key)
    model = path_of(family.estimator).model(seeded(family.estimator, key), candidate)
    return fit(model, rows, data.y, data.weight, data.queries)


def _stacked(data: Data, stack: Stack, seed: int) -> Any:
    """Return the weighted ensemble; members with equal encoders share one."""
    made: dict[str, tuple[Any, Any]] = {}
    members: list[tuple[str, Any]] = []
    encoders = []
    for member in stack.members:
        family = member.family
        encoder, rows = None, data.X
        if family.encoder_digest is not None:
            name = family.encoder_digest
            if name not in made:
                made[name] = _encoder(data, family, seed)
            encoder, rows = made[name]
        encoders.append(encoder)
        fitted = _estimator(data, family, member.index, rows, seed)
        members.append((_name(family.name, members), fitted))
    weights = [member.weight for member in stack.members]
    width = data.X.shape[1]
    if data.n_classes is None:
        return WeightedEnsembleRegressor.of_fitted(
            members, weights, n_features=width, encoders=encoders
        )
    return WeightedEnsembleClassifier.of_fitted(
        members, weights, n_classes=data.n_classes, n_features=width, encoders=encoders
    )


def _name(family: str, taken: list[tuple[str, Any]]) -> str:
    """Return a unique name for a member, without the double underscore of nested parameters."""
    plain = family.replace("__", " ")
    same = sum(name == plain or name.startswith(f"{plain} #") for name, _ in taken)
    return f"{plain} #{same + 1}" if same else plain


def _calibrated(data: Data, outcome: Outcome, encoder: Any, estimator: Any) -> Any:
    found = outcome.calibration
    if found is None or found.method is None or data.n_classes is None:
        return estimator
    width = data.X.shape[1] if encoder is None else _width(encoder, estimator, data)
    return CalibratedClassifier.of_fitted(
        estimator,
        found.learned,
        threshold=found.threshold,
        n_classes=data.n_classes,
        n_features=width,
    )


def _width(encoder: Any, estimator: Any, data: Data) -> int:
    found = getattr(estimator, "n_features_in_", None)
    return int(found) if found is not None else int(encoder.transform(data.X[:1]).shape[1])


def _gap(question: Question, outcome: Outcome, encoder: Any, estimator: Any) -> Gap | None:
    """Return how much better the training rows score than the nested score."""
    asked = np.arange(len(question.y))
    if len(asked) > _GAP_ROWS and not question.task.has_queries:
        asked = asked[:: -(-len(asked) // _GAP_ROWS)]
    rows = question.X[asked] if encoder is None else encoder.transform(question.X[asked])
    queries = None if question.queries is None else question.queries[asked]
    score, _ = question.score(asked, predict(estimator, rows, question.n_classes, queries))
    if not np.isfinite(score):
        return None
    train, test = question.metric.natural(score), outcome.score.value
    sign = 1.0 if question.metric.greater_is_better else -1.0
    return Gap(train, test, sign * (train - test))
