"""Consensus nested cross-validation as a whole: select, train once, validate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline

from assay.base import (
    DataError,
    ParameterError,
    as_frame,
    as_vector,
    check_interval,
    draw_seed,
    seeded,
)
from assay.features._consensus import ConsensusSelector
from assay.features._consensus_folds import FoldTarget


@dataclass(frozen=True)
class ConsensusStudy:
    """A model on the columns of the consensus, and its score on independent rows.

    Parameters
    ----------
    features : ndarray of object
        Names of the columns of the model.
    model : Pipeline
        The fitted selector, then the estimator fitted on its columns: predicts from whole rows.
    score : float
        Score on rows used neither for selection nor for fitting.
    train_score : float
        Score on the training rows.
    n_train, n_validation : int
        Number of training and validation rows.
    """

    features: NDArray[Any]
    model: Pipeline
    score: float
    train_score: float
    n_train: int
    n_validation: int

    @property
    def gap(self) -> float:
        """Training score minus validation score."""
        return self.train_score - self.score


def consensus_nested(
    X: ArrayLike,
    y: ArrayLike,
    estimator: Any,
    *,
    selector: ConsensusSelector | None = None,
    validation: float | tuple[Any, Any] = 0.25,
    scoring: Any = None,
    random_state: int | np.random.RandomState | None = 0,
) -> ConsensusStudy:
    r"""Select columns by consensus, train one model on them, and validate it on independent rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        All rows, or those to train on.
    y : array-like of shape (n_samples,)
        Their classes or numbers.
    estimator : estimator
        The model to train once, on the columns of the consensus.
    selector : ConsensusSelector, default=None
        A selector with your own settings; None: the defaults.
    validation : float in (0, 1), or pair (X, y), default=0.25
        The independent rows, or the fraction of the rows to set aside for them, stratified by class
        (or by the range of a numeric target).
    scoring : str or callable, default=None
        As in scikit-learn; None: the estimator's own score.
    random_state : int, RandomState or None, default=0
        Seed of the rows set aside, of the folds and of the model.

    Returns
    -------
    ConsensusStudy
        Columns, model and scores.

    Notes
    -----
    Rows are split into outer folds, each outer training set into inner folds. The columns kept in
    all inner training sets of an outer fold are its features, those of all outer folds the
    consensus :math:`C = \bigcap_o \bigcap_i K_{oi}`. Only then is one model trained with the
    columns of C on all training rows, and scored on rows not used for anything before.

    The single validation set makes the score unbiased, but variable when there are few rows. For a
    score with an interval from all rows, put a `ConsensusSelector` before the model in a pipeline
    and pass it to `assay.select.NestedSearch`.

    Parvandeh, Yeh, Paulus and McKinney (2020), Bioinformatics 36(10).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from assay.features import consensus_nested
    >>> X = np.random.default_rng(0).normal(size=(400, 50))
    >>> y = X[:, 3] + X[:, 7] > 0
    >>> study = consensus_nested(X, y, GaussianNB())
    >>> study.features.tolist(), study.score, study.n_validation
    (['x3', 'x7'], 0.95, 100)
    """
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise ParameterError(f"estimator must be an estimator object; got {estimator!r}")
    if selector is not None and not isinstance(selector, ConsensusSelector):
        raise ParameterError(f"selector must be None or a ConsensusSelector; got {selector!r}")
    seed = draw_seed(random_state)
    if isinstance(validation, tuple):
        if len(validation) != 2:
            raise ParameterError(
                f"validation must be a fraction or a pair (X, y); got {len(validation)} parts"
            )
        train, test = (X, as_vector(y)), (validation[0], as_vector(validation[1]))
    else:
        check_interval("validation", validation, 0.0, 1.0, open_low=True, open_high=True)
        train, test = _set_aside(X, y, validation, seed)
    chosen = seeded(ConsensusSelector() if selector is None else selector, seed)
    columns = chosen.fit_transform(*train)
    model = seeded(estimator, seed).fit(columns, train[1])
    whole = Pipeline([("selector", chosen), ("model", model)])
    scored = check_scoring(model, scoring)
    return ConsensusStudy(
        chosen.get_feature_names_out(),
        whole,
        float(scored(whole, *test)),
        float(scored(whole, *train)),
        len(train[1]),
        len(test[1]),
    )


def _set_aside(
    X: Any, y: Any, share: float, seed: int
) -> tuple[tuple[Any, NDArray[Any]], tuple[Any, NDArray[Any]]]:
    """Return training and validation rows: every k-th row in the order of the target is validation.

    Rows with equal targets are in random order, so this is a stratified draw for any fraction.
    """
    target = FoldTarget.of(y)
    random = np.random.default_rng((seed, 1))
    n_rows = len(target.values)
    sequence = np.lexsort((random.permutation(n_rows), target.order))
    steps = np.floor(np.arange(n_rows + 1) * share + random.uniform())
    aside = np.zeros(n_rows, dtype=np.bool_)
    aside[sequence] = np.diff(steps) > 0
    if not aside.any() or aside.all():
        raise DataError(f"{n_rows} rows are too few to set {share:g} of them aside")
    sides = []
    for rows in (np.flatnonzero(~aside), np.flatnonzero(aside)):
        frame = as_frame(X)
        part = np.asarray(X)[rows] if frame is None else frame[rows.tolist()].to_native()
        sides.append((part, target.values[rows]))
    return sides[0], sides[1]
