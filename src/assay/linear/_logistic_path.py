"""Every penalty of logistic regression from one table (a path for `assay.select`).

Candidates that differ in `C`, `l1_ratio` or `penalty` are solved one after the other, each from the
solution of the stronger penalty before it, on one scaled copy of the training rows. Solutions are
exact to rounding, so they are those of single fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Fitted, ParameterError, Predicted, did_you_mean
from assay.linear._logistic_solve import probabilities, strength_of

Candidates = Sequence[Mapping[str, Any]]
#: Parameters that only change the penalty.
_STRENGTHS = ("C", "l1_ratio", "penalty")


class LogisticPath:
    """The path of `LogisticRegression`."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> None:  # noqa: ARG002
        """Share nothing between training sets."""
        return

    def n_fits(self, candidates: Candidates) -> int:
        """Return the number of warm-started runs that these candidates cost."""
        return len({_key(candidate) for candidate in candidates})

    def fit_predict(
        self,
        estimator: Any,
        shared: None,  # noqa: ARG002
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        train: NDArray[np.integer[Any]],
        tests: Sequence[NDArray[np.integer[Any]]],
        candidates: Candidates,
    ) -> Iterator[Fitted]:
        """Yield, per candidate and in their order, the predictions for each block of `tests`.

        Parameters
        ----------
        estimator : LogisticRegression
            Unfitted template; a candidate overrides its parameters.
        shared : None
            What `share` returned.
        X : ndarray of shape (n_samples, n_features)
            The whole table, encoded.
        y : ndarray of shape (n_samples,)
            Class codes 0..K-1.
        weight : ndarray or None
            Weights of the rows.
        train : ndarray of int
            Training rows.
        tests : sequence of ndarray of int
            Blocks of rows to predict.
        candidates : sequence of mapping
            Parameter settings.

        Yields
        ------
        Fitted
            With size = nonzero coefficients and intercepts.

        Raises
        ------
        ParameterError, DataError
            In its turn, for a candidate that could not be fitted on these rows either.
        """
        data = (X[train], y[train], None if weight is None else weight[train])
        queries = X[np.concatenate(tests)]
        n_classes, sizes = int(y.max()) + 1, [len(test) for test in tests]
        models: dict[int, Any] = {}
        rows: Any = None  # the test rows, checked once
        for index in range(len(candidates)):
            if index not in models:
                group = _group(estimator, candidates, index)
                models |= _fit_group(estimator, candidates, group, data)
            model = models.pop(index)
            if isinstance(model, ParameterError):
                raise model
            if rows is None:
                rows = model._predict_data(queries)
            scores = model._scores(rows)
            given = probabilities(scores)
            probability = given
            if given.shape[1] != n_classes:
                probability = np.zeros((len(given), n_classes))
                probability[:, model.classes_] = given
            label = model._labels(scores).astype(np.int64)
            size = float(np.count_nonzero(model.coef_) + len(model.intercept_))
            yield Fitted(Predicted(label, probability).blocks(sizes), size)

    def refit(
        self,
        estimator: Any,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        candidate: Mapping[str, Any],
    ) -> Any:
        """Fit one candidate on all rows, as an ordinary fit."""
        return clone(estimator).set_params(**candidate).fit(X, y, sample_weight=weight)


def _key(candidate: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    rest = sorted(item for item in candidate.items() if item[0] not in _STRENGTHS)
    return tuple((name, repr(value)) for name, value in rest)


def _group(estimator: Any, candidates: Candidates, first: int) -> list[int]:
    """Return the candidates from `first` on that share its run, strongest penalty first."""
    key = _key(candidates[first])
    members = [i for i in range(first, len(candidates)) if _key(candidates[i]) == key]
    params = estimator.get_params(deep=False)

    def order(index: int) -> tuple[float, float]:
        try:
            strength = strength_of({**params, **candidates[index]})
        except ParameterError:
            return (0.0, 0.0)
        total = strength.l1 + strength.l2
        return (strength.l1 / total if total else 2.0, -total)

    return sorted(members, key=order)


def _fit_group(
    estimator: Any, candidates: Candidates, group: Sequence[int], data: tuple[Any, Any, Any]
) -> dict[int, Any]:
    """Fit the candidates of one run; a candidate that cannot be fitted gets its error."""
    known = estimator.get_params(deep=False)
    found: dict[int, Any] = {}
    usable: list[tuple[int, Any]] = []
    for index in group:
        for name in candidates[index]:
            if name not in known:
                found[index] = ParameterError(
                    f"{type(estimator).__name__} has no parameter {name!r}"
                    f"{did_you_mean(name, known)}"
                )
        if index in found:
            continue
        model = clone(estimator).set_params(**candidates[index])
        try:
            strength_of(model.get_params(deep=False))
        except ParameterError as error:
            found[index] = error
            continue
        usable.append((index, model))
    if usable:
        usable[0][1]._fit_together([model for _, model in usable], *data)
        found |= dict(usable)
    return found
