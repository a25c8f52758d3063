"""Common part of the reductions to binary problems: member, threads, tables, tags and state."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags

from assay.base import DataError, Estimator, check_n_jobs, check_weight, class_codes, in_threads
from assay.multiclass._members import (
    check_classifier,
    check_same_length,
    check_takes_weight,
    confidence,
    second_share,
)
from assay.multiclass._sharing import Fit, fit_on
from assay.tree import DecisionTreeClassifier

#: (rows or None for all, labels 0 and 1 of these rows)
Problem = tuple[NDArray[np.int64] | None, NDArray[np.int64]]


class Reduction(Estimator):
    """A classifier made of binary ones; subclasses define the problems and how to combine them."""

    estimators_: list[Any]

    def __init__(self, estimator: Any, *, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs

    @property
    def n_classes_(self) -> int:
        """Number of classes or labels."""
        return len(self.classes_)

    def _check_member(self) -> None:
        check_classifier("estimator", self.estimator)
        check_n_jobs(self.n_jobs)

    def _fit_classes(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Any, NDArray[np.int64], NDArray[np.float64] | None]:
        """Check data with one class per row; set `classes_`; return table, codes and weights."""
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        table = self._table(X, reset=True, accept_sparse=self._takes_sparse_rows())
        self.classes_, codes = class_codes(y)
        check_same_length(table, len(codes))
        if len(self.classes_) < 2:
            raise DataError(
                f"y has one class only, {self.classes_[0].item()!r}; two classes are needed at "
                "least"
            )
        weight = check_weight(sample_weight, table)
        if weight is not None:
            empty = np.flatnonzero(np.bincount(codes, weight, len(self.classes_)) == 0)
            if len(empty):
                label = self.classes_[empty[0]].item()
                raise DataError(
                    f"class {label!r} has no row with a positive sample_weight; leave its rows out"
                )
        return table, codes, weight

    def _fit_members(
        self, X: Any, problems: list[Problem], weight: NDArray[np.float64] | None
    ) -> None:
        check_takes_weight(self.estimator, weight)
        fit: Fit = fit_on(self.estimator, X, weight, [rows for rows, _ in problems])
        work = [partial(fit, rows, labels) for rows, labels in problems]
        self.estimators_ = in_threads(work, check_n_jobs(self.n_jobs))

    def _confidences(self, X: Any) -> NDArray[np.float64]:
        """Return each member's confidence in its class 1, of shape (n_rows, n_members)."""
        return self._stacked(confidence, X)

    def _second_shares(self, X: Any) -> NDArray[np.float64]:
        """Return each member's probability of its class 1, of shape (n_rows, n_members)."""
        return self._stacked(second_share, X)

    def _stacked(
        self, output: Callable[[Any, Any], NDArray[np.float64]], X: Any
    ) -> NDArray[np.float64]:
        table = self._table(X, reset=False, accept_sparse=self._takes_sparse_rows())
        work = [partial(output, member, table) for member in self.estimators_]
        return np.column_stack(in_threads(work, check_n_jobs(self.n_jobs)))

    def _takes_sparse_rows(self) -> bool:
        return _tag(self.estimator, "sparse")

    @classmethod
    def _examples(cls) -> list[Self]:
        # Learners whose results do not depend on the memory order of a dataframe.
        return [cls(GaussianNB()), cls(DecisionTreeClassifier(max_depth=3, random_state=0))]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = _tag(self.estimator, "sparse")
        tags.input_tags.allow_nan = _tag(self.estimator, "allow_nan")
        tags.input_tags.categorical = _tag(self.estimator, "categorical")
        return tags


def has_probabilities(model: Any) -> bool:
    """Return whether the members, or the template before fit, give probabilities."""
    members = getattr(model, "estimators_", None)
    return hasattr(members[0] if members else model.estimator, "predict_proba")


def _tag(estimator: Any, name: str) -> bool:
    known = isinstance(estimator, BaseEstimator) or hasattr(estimator, "__sklearn_tags__")
    if not known or isinstance(estimator, type):
        return False
    return bool(getattr(get_tags(estimator).input_tags, name))
