"""Paths: how much of a fit the candidates of a family can share.

The law of the house: a path gives the same numbers as fitting each candidate alone;
`assert_path_equals_single_fits` checks it for any family.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from assay.base import Fitted, Predicted
from assay.select.run._size import model_size

Candidates = Sequence[Mapping[str, Any]]
Rows = NDArray[np.int64]


@runtime_checkable
class Path(Protocol):
    """What a family may offer; an object found as the class attribute ``assay_path``.

    An estimator class without one gets the default: one fit per candidate. A path may also have
    ``n_fits(candidates) -> int``, the fits that one unit costs (1 if it is absent).
    """

    def share(self, X: NDArray[Any], candidates: Candidates) -> Any:
        """Prepare what all fits on the matrix can use: sort orders, products, distances.

        Called at most once per matrix. Nothing in it may depend on the target or on which rows are
        held out.
        """

    def fit_predict(
        self,
        estimator: Any,
        shared: Any,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        train: Rows,
        tests: Sequence[Rows],
        candidates: Candidates,
    ) -> Iterator[Fitted]:
        """Yield, for each candidate in order, its predictions for each block of test rows.

        `estimator` is the unfitted template (``clone(estimator).set_params(**candidate)`` is the
        candidate), `X` the whole encoded matrix, `y` class codes (integers) or numbers (floats) of
        all rows. Only the rows `train` may be learned from.
        """

    def refit(
        self,
        estimator: Any,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        candidate: Mapping[str, Any],
    ) -> Any:
        """Return the candidate fitted on all rows, by an ordinary fit."""


class DefaultPath:
    """One fit per candidate: works for every scikit-learn estimator and pipeline.

    Notes
    -----
    A sample weight is passed where ``fit`` of the estimator, or of the last step of a pipeline,
    takes one; the queries of a ranking to ``fit`` and ``predict`` where they take `qid`.
    Classes that do not occur in the training rows get probability 0, and the lowest possible
    decision.
    """

    def __init__(self, queries: NDArray[np.int64] | None = None) -> None:
        self.queries = queries

    def share(self, X: NDArray[Any], candidates: Candidates) -> None:  # noqa: ARG002
        """Share nothing."""
        return

    def n_fits(self, candidates: Candidates) -> int:
        """Return one fit per candidate."""
        return len(candidates)

    def fit_predict(
        self,
        estimator: Any,
        shared: Any,  # noqa: ARG002
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        train: Rows,
        tests: Sequence[Rows],
        candidates: Candidates,
    ) -> Iterator[Fitted]:
        """Fit and predict each candidate on its own."""
        X_train, y_train = X[train], y[train]
        weight_train = None if weight is None else weight[train]
        tested = np.concatenate(tests)
        X_test = X[tested]
        known, asked = (
            (None, None) if self.queries is None else (self.queries[train], self.queries[tested])
        )
        n_classes = int(y.max()) + 1 if y.dtype.kind in "iu" else None
        for candidate in candidates:
            model = clone(estimator).set_params(**candidate)
            fit(model, X_train, y_train, weight_train, known)
            whole = predict(model, X_test, n_classes, asked)
            yield Fitted(whole.blocks([len(test) for test in tests]), model_size(model))

    def refit(
        self,
        estimator: Any,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        candidate: Mapping[str, Any],
    ) -> Any:
        """Fit one candidate on all rows."""
        return fit(clone(estimator).set_params(**candidate), X, y, weight, self.queries)


def path_of(estimator: Any, queries: NDArray[np.int64] | None = None) -> Path:
    """Return the path of an estimator: its class's own, or the default, which knows of queries."""
    path: Path | None = getattr(type(estimator), "assay_path", None)
    return DefaultPath(queries) if path is None else path


def count_fits(estimator: Any, candidates: Candidates) -> int:
    """Return how many fits one unit with these candidates costs."""
    n_fits = getattr(path_of(estimator), "n_fits", None)
    return 1 if n_fits is None else int(n_fits(candidates))


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
    """Return everything a fitted model says about the rows.

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
    if n_classes is None:
        found = model.predict(X, **queries_for(model.predict, queries))
        return Predicted(value=np.asarray(found, dtype=np.float64).reshape(-1))
    label = np.asarray(model.predict(X)).astype(np.int64).reshape(-1)
    classes = np.asarray(getattr(model, "classes_", np.arange(n_classes)))
    probability = decision = None
    if hasattr(model, "predict_proba"):
        probability = _aligned(model.predict_proba(X), classes, n_classes, 0.0)
    if hasattr(model, "decision_function"):
        decision = _decision(np.asarray(model.decision_function(X)), classes, n_classes)
    return Predicted(label, probability, decision)


def _decision(
    decision: NDArray[Any], classes: NDArray[Any], n_classes: int
) -> NDArray[np.float64] | None:
    if decision.ndim == 2 and decision.shape[1] == 1:
        decision = decision[:, 0]
    if n_classes == 2:
        # One training class only has no boundary, and a scorer expects one column for two classes.
        usable = decision.ndim == 1 and len(classes) == 2
        return decision.astype(np.float64, copy=False) if usable else None
    if decision.ndim == 1:
        decision = np.column_stack([-decision, decision])
    if decision.shape[1] != len(classes):  # one against one: no column per class
        return None
    # scikit-learn's filler for a class that could not be learned.
    return _aligned(decision, classes, n_classes, float(np.finfo(np.float64).min))


def _aligned(
    given: NDArray[Any], classes: NDArray[Any], n_classes: int, filler: float
) -> NDArray[np.float64]:
    """Columns in the order of all classes; `filler` for those the training rows lack."""
    given = np.asarray(given, dtype=np.float64)
    if given.shape[1] == n_classes:
        return given
    whole = np.full((len(given), n_classes), filler)
    whole[:, classes.astype(np.int64)] = given
    return whole
