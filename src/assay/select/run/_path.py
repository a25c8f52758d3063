"""Which path a family takes, and the default: one fit per candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from assay.base import Answer, Candidates, Path, Predicted, TrainingSet
from assay.select.run._size import model_size


class _Rows(NamedTuple):
    """The rows of a training set, taken out of the table once for all candidates."""

    data: tuple[Any, ...]
    test_rows: NDArray[Any]
    tested: NDArray[np.int64] | None
    n_classes: int | None


class DefaultPath(Path[_Rows]):
    """One fit per candidate: works for every scikit-learn estimator and pipeline.

    Notes
    -----
    A sample weight is passed where ``fit`` of the estimator, or of the last step of a pipeline,
    takes one; the queries of a ranking to ``fit`` and ``predict`` where they take `qid`.
    """

    def model(self, template: Any, candidate: Mapping[str, Any]) -> Any:
        """Return a copy of the template with the parameters of a candidate, nested ones too."""
        return clone(template).set_params(**candidate)

    def run(self, models: Sequence[Any], training: TrainingSet) -> _Rows:  # noqa: ARG002
        """Take the rows out of the table."""
        queries = training.queries
        known, asked = (
            (None, None) if queries is None else (queries[training.train], queries[training.tested])
        )
        return _Rows((*training.data(), known), training.test_rows(), asked, training.n_classes)

    def read(self, run: _Rows, model: Any) -> Answer:
        """Fit and predict one candidate."""
        fit(model, *run.data)
        answer = _answer(model, run.test_rows, run.n_classes, run.tested)
        return replace(answer, size=model_size(model))


def path_of(estimator: Any) -> Path[Any]:
    """Return the path of an estimator: its class's own, or the default."""
    path = getattr(type(estimator), "assay_path", None)
    return path if isinstance(path, Path) else DefaultPath()


def count_fits(estimator: Any, candidates: Candidates) -> int:
    """Return how many fits one unit with these candidates costs."""
    return path_of(estimator).n_fits(candidates)


def weight_parameter(estimator: Any) -> str | None:
    """Return the name under which ``fit`` takes sample weights, None if it takes none."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    steps = getattr(estimator, "steps", None)
    if steps and has_fit_parameter(steps[-1][1], "sample_weight"):
        return f"{steps[-1][0]}__sample_weight"
    return None


def fit(
    model: Any,
    X: NDArray[Any],
    y: NDArray[Any],
    weight: NDArray[np.float64] | None,
    queries: NDArray[np.int64] | None = None,
) -> Any:
    """Fit, with the weights and queries if there are any and the model takes them."""
    name = None if weight is None else weight_parameter(model)
    given = {} if name is None else {name: weight}
    return model.fit(X, y, **given, **queries_for(model.fit, queries))


def queries_for(method: Any, queries: NDArray[np.int64] | None) -> dict[str, Any]:
    """Return the queries of the rows as an argument, if the method takes them.

    Parameters
    ----------
    method : callable
        ``fit`` or ``predict`` of a model; a ranker may ask for queries in the first only.
    queries : ndarray of int64 or None
        Query of each row.

    Returns
    -------
    dict
        ``{"qid": queries}``, or empty.
    """
    takes = queries is not None and "qid" in signature(method).parameters
    return {"qid": queries} if takes else {}


def predict(
    model: Any,
    X: NDArray[Any],
    n_classes: int | None,
    queries: NDArray[np.int64] | None = None,
) -> Predicted:
    """Return everything that a fitted model predicts for the rows.

    Parameters
    ----------
    model : estimator
        Fitted on class codes or numbers.
    X : ndarray
        The rows.
    n_classes : int or None
        Number of classes of the whole table; None for numbers.
    queries : ndarray of int64, optional
        Query of each row, for a model that compares the rows of a query.
    """
    return _answer(model, X, n_classes, queries).complete(n_classes)


def _answer(
    model: Any, X: NDArray[Any], n_classes: int | None, queries: NDArray[np.int64] | None
) -> Answer:
    """Return the predictions with the model's own columns; the size is left open."""
    if n_classes is None:
        found = model.predict(X, **queries_for(model.predict, queries))
        return Answer(Predicted(value=np.asarray(found, dtype=np.float64).reshape(-1)), 0.0)
    label = np.asarray(model.predict(X)).astype(np.int64).reshape(-1)
    probability = decision = None
    if hasattr(model, "predict_proba"):
        probability = np.asarray(model.predict_proba(X))
    if hasattr(model, "decision_function"):
        decision = np.asarray(model.decision_function(X))
    classes = np.asarray(getattr(model, "classes_", np.arange(n_classes)))
    return Answer(Predicted(label, probability, decision), 0.0, classes)
