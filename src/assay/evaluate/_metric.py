"""Metrics by name: any scikit-learn scorer, reported in its natural sign."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, get_scorer_names

from assay.base import ParameterError, Predicted, Task, did_you_mean
from assay.evaluate import _areas, _formulas
from assay.evaluate._formulas import Formula
from assay.evaluate._ranking_metric import ranking_formula
from assay.evaluate._replay import replay

_DEFAULT = {
    Task.BINARY: "roc_auc",
    Task.MULTICLASS: "accuracy",
    Task.REGRESSION: "r2",
    Task.RANK: "ndcg@10",
}


@dataclass(frozen=True)
class Metric:
    """A metric: its scorer, the direction that is better, and its range.

    Parameters
    ----------
    name : str
        Name in natural sign: ``"log_loss"`` for scikit-learn's ``"neg_log_loss"``.
    scorer : callable
        ``scorer(estimator, X, y) -> float``, greater is better, as in scikit-learn.
    greater_is_better : bool, default=True
        False for a loss: reports then show minus the scorer's value.
    low, high : float, optional
        Range in natural sign, None where there is no bound.
    formula : callable, optional
        A fast implementation, equal to the scorer.
    by_query : bool, default=False
        Whether the truth has a second column, the query of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.base import Predicted
    >>> metric = get_metric("neg_mean_absolute_error", "regression")
    >>> metric.name, metric.greater_is_better, metric.low
    ('mean_absolute_error', False, 0.0)
    >>> score = metric.score(np.array([1.0, 2.0]), Predicted(value=np.array([1.5, 2.0])))
    >>> score, metric.natural(score)
    (-0.25, 0.25)
    """

    name: str
    scorer: Callable[..., float]
    greater_is_better: bool = True
    low: float | None = None
    high: float | None = None
    formula: Formula | None = None
    by_query: bool = False

    def natural(self, score: float) -> float:
        """Convert a score where greater is better into the reported sign."""
        return score if self.greater_is_better else -score

    @property
    def takes_weights(self) -> bool:
        """Whether the metric accepts row weights."""
        return self.formula is not None or _takes_weights(self.scorer)

    def needs_probability(self, n_classes: int) -> bool:
        """Return whether the metric needs probabilities to score `n_classes` classes.

        Examples
        --------
        >>> [get_metric(name, "binary").needs_probability(2) for name in ("roc_auc", "log_loss")]
        [False, True]
        """
        codes = np.tile(np.arange(n_classes), 2)
        decision = np.eye(n_classes)[codes] if n_classes > 2 else codes.astype(np.float64) - 0.5
        try:
            self.score(codes, Predicted(label=codes, decision=decision), n_classes=n_classes)
        except (AttributeError, ValueError):
            return True
        return False

    def score(
        self,
        y: NDArray[Any],
        predicted: Predicted,
        *,
        weight: NDArray[np.float64] | None = None,
        X: Any = None,
        n_classes: int | None = None,
    ) -> float:
        """Score stored predictions; greater is better.

        Parameters
        ----------
        y : ndarray of shape (n,)
            The truth: class codes or numbers.
        predicted : Predicted
            The predictions for the same rows.
        weight : ndarray of shape (n,), optional
            Weight of each row, where the metric takes weights.
        X : array of n rows, optional
            Passed to the scorer; only scorers written by users read it.
        n_classes : int, optional
            Number of classes of the whole problem; by default that of `predicted`.

        Returns
        -------
        float
            NaN where the metric is undefined, for example an area under the curve of one class.
        """
        if self.formula is not None:
            return float(self.formula(y, predicted, None if weight is None else weight[None])[0])
        if predicted.value is None and n_classes is None:
            n_classes = _class_count(y, predicted)
        model = replay(predicted, None if predicted.value is not None else n_classes)
        matrix = np.zeros((len(y), 1)) if X is None else X
        given = {} if weight is None or not self.takes_weights else {"sample_weight": weight}
        # NaN shows that a score is undefined; the same warning a thousand times would not help.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(self.scorer(model, matrix, y, **given))


def get_metric(metric: str | Callable[..., float] | Metric | None, task: str) -> Metric:
    """Find a metric by name, or wrap a scorer.

    Parameters
    ----------
    metric : str, callable, Metric or None
        A scikit-learn scorer name (``neg_`` may be left out), a scorer ``(estimator, X, y)``,
        a `Metric`, or None for the default: roc_auc for two classes, accuracy for more, r2 for
        numbers, ndcg@10 for a ranking. For a ranking: ndcg@K, ndcg_linear@K, map, auc, kendall_tau.
    task : {"binary", "multiclass", "regression", "rank"}
        The task.

    Returns
    -------
    Metric
        A callable scorer counts as greater is better, without a known range.

    Raises
    ------
    ParameterError
        If the name is unknown or does not fit the task.

    Examples
    --------
    >>> get_metric(None, "binary").name
    'roc_auc'
    >>> get_metric("root_mean_squared_error", "regression").greater_is_better
    False
    """
    kind = Task.of(task)
    if isinstance(metric, Metric):
        return metric
    if metric is None:
        metric = _DEFAULT[kind]
    if kind.has_queries:
        formula, low = ranking_formula(metric)
        return Metric(
            str(metric), _needs_queries, low=low, high=1.0, formula=formula, by_query=True
        )
    if not isinstance(metric, str):
        if not callable(metric):
            raise ParameterError(
                f"metric must be a scorer name, a callable or None; got {metric!r}"
            )
        return Metric(getattr(metric, "__name__", None) or repr(metric), metric)
    return _by_name(metric, kind)


@dataclass(frozen=True)
class _Entry:
    tasks: tuple[Task, ...]
    low: float | None
    high: float | None
    formula: Formula | None = None
    instead: str | None = None


_BINARY, _CLASSES, _NUMBERS = (Task.BINARY,), (Task.BINARY, Task.MULTICLASS), (Task.REGRESSION,)


def _per_class_entries() -> dict[str, _Entry]:
    entries = {}
    for kind in ("precision", "recall", "f1", "jaccard"):
        entries[kind] = _Entry(
            _BINARY, 0.0, 1.0, _formulas.per_class(kind, "binary"), f"{kind}_macro"
        )
        for average in ("macro", "micro", "weighted"):
            formula = _formulas.per_class(kind, average)
            entries[f"{kind}_{average}"] = _Entry(_CLASSES, 0.0, 1.0, formula)
    return entries


# By scikit-learn's name without "neg_"; other scorers work too, but without a range.
_TABLE: dict[str, _Entry] = {
    "accuracy": _Entry(_CLASSES, 0.0, 1.0, _formulas.accuracy),
    "balanced_accuracy": _Entry(_CLASSES, 0.0, 1.0, _formulas.balanced_accuracy),
    "matthews_corrcoef": _Entry(_CLASSES, -1.0, 1.0, _formulas.matthews),
    "log_loss": _Entry(_CLASSES, 0.0, None, _formulas.log_loss),
    "brier_score": _Entry(_CLASSES, 0.0, None, _formulas.brier),
    "roc_auc": _Entry(_BINARY, 0.0, 1.0, _areas.roc_auc, "roc_auc_ovr"),
    "roc_auc_ovr": _Entry(_CLASSES, 0.0, 1.0, _areas.roc_auc_ovr("macro")),
    "roc_auc_ovr_weighted": _Entry(_CLASSES, 0.0, 1.0, _areas.roc_auc_ovr("weighted")),
    "roc_auc_ovo": _Entry(_CLASSES, 0.0, 1.0, _areas.roc_auc_ovo("macro")),
    "roc_auc_ovo_weighted": _Entry(_CLASSES, 0.0, 1.0, _areas.roc_auc_ovo("weighted")),
    "average_precision": _Entry(_BINARY, 0.0, 1.0, _areas.average_precision, "roc_auc_ovr"),
    "top_k_accuracy": _Entry(_CLASSES, 0.0, 1.0),
    "d2_log_loss_score": _Entry(_CLASSES, None, 1.0),
    "d2_brier_score": _Entry(_CLASSES, None, 1.0),
    "r2": _Entry(_NUMBERS, None, 1.0, _formulas.r2),
    "explained_variance": _Entry(_NUMBERS, None, 1.0),
    "d2_absolute_error_score": _Entry(_NUMBERS, None, 1.0),
    "mean_squared_error": _Entry(_NUMBERS, 0.0, None, _formulas.squared_error),
    "root_mean_squared_error": _Entry(_NUMBERS, 0.0, None, _formulas.root_squared_error),
    "mean_absolute_error": _Entry(_NUMBERS, 0.0, None, _formulas.absolute_error),
    "mean_absolute_percentage_error": _Entry(_NUMBERS, 0.0, None, _formulas.percentage_error),
    "median_absolute_error": _Entry(_NUMBERS, 0.0, None),
    "max_error": _Entry(_NUMBERS, 0.0, None),
    "mean_squared_log_error": _Entry(_NUMBERS, 0.0, None),
    "root_mean_squared_log_error": _Entry(_NUMBERS, 0.0, None),
    "mean_poisson_deviance": _Entry(_NUMBERS, 0.0, None),
    "mean_gamma_deviance": _Entry(_NUMBERS, 0.0, None),
    **_per_class_entries(),
}


def _by_name(name: str, task: Task) -> Metric:
    scoring = {known.removeprefix("neg_"): known for known in get_scorer_names()}
    plain = name.removeprefix("neg_")
    if plain not in scoring or name not in (plain, scoring[plain]):
        raise ParameterError(
            f"metric {name!r} is not known{did_you_mean(plain, scoring) or '.'} "
            "Allowed: any scikit-learn scorer name, a scorer callable, or None"
        )
    entry = _TABLE.get(plain, _Entry(_CLASSES + _NUMBERS, None, None))
    if task not in entry.tasks:
        hint = f"; use {entry.instead!r}" if entry.instead and task is Task.MULTICLASS else ""
        raise ParameterError(
            f"metric {plain!r} is for {' or '.join(entry.tasks)}, and the task is {task}{hint}"
        )
    scorer = get_scorer(scoring[plain])
    return Metric(
        plain, scorer, not scoring[plain].startswith("neg_"), entry.low, entry.high, entry.formula
    )


def _needs_queries(*_: Any) -> float:
    raise ValueError("a ranking is scored by query, from stored predictions")


def _class_count(y: NDArray[Any], predicted: Predicted) -> int:
    if predicted.probability is not None:
        return int(predicted.probability.shape[1])
    if predicted.decision is not None and predicted.decision.ndim == 2:
        return int(predicted.decision.shape[1])
    label = predicted.label
    return int(max(1, y.max(), 0 if label is None else label.max())) + 1


def _takes_weights(scorer: Callable[..., float]) -> bool:
    if hasattr(scorer, "get_metadata_routing"):  # made by scikit-learn
        return "sample_weight" in scorer.get_metadata_routing().score.requests
    try:
        return "sample_weight" in inspect.signature(scorer).parameters
    except (TypeError, ValueError):  # a callable without a readable signature
        return False
