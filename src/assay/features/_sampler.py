"""Common part of the samplers: checked rows, mixed distances, and tables of any kind."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import (
    DataError,
    Estimator,
    as_frame,
    check_n_jobs,
    check_weight,
    class_codes,
)
from assay.base.stored import Count, declared
from assay.features._ratio import check_classes
from assay.features._row_search import RowSearch

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Sampler(Estimator):
    """Base of the samplers, which return another set of training rows."""

    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    stored = declared(n_samples_=Count(1))

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Check parameters and table; the work is done by `fit_resample`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,), default=None
            Not used here.

        Returns
        -------
        Sampler
            The fitted sampler.
        """
        self._check_parameters()
        self.n_samples_ = len(self._fit_rows(X))
        return self

    @abstractmethod
    def _check_parameters(self) -> None:
        """Check the parameters."""

    def _checked(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Any, NDArray[Any], NDArray[Any], Integers, Floats | None]:
        """Return the user's table, the coded rows, the classes, their codes, and weights."""
        self._check_parameters()
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        rows = self._fit_rows(X)
        self.n_samples_ = len(rows)
        table = self._table(X, reset=False)
        classes, codes = class_codes(y)
        if len(codes) != len(rows):
            raise DataError(
                f"X has {len(rows)} rows but y has {len(codes)}; each row needs one target "
                "(inconsistent numbers of samples)"
            )
        check_classes(classes)
        return table, rows, classes, codes, check_weight(sample_weight, rows)

    def _search(self, rows: NDArray[Any], k: int) -> RowSearch:
        """Return a search among these rows by the mixed distance."""
        return RowSearch(rows, self.categorical_features_, k, self.n_jobs)

    def _others_near(self, rows: NDArray[Any], queries: Integers, k: int) -> Integers:
        """Return the k nearest other rows of some rows, of shape (n_asked, k)."""
        found = self._search(rows, k + 1).near(rows[queries])[1]
        is_self = found == queries[:, None]
        is_self[~is_self.any(axis=1), -1] = True  # hidden behind k + 1 duplicates
        return np.asarray(found[~is_self].reshape(len(queries), k))

    def _check_more(self) -> None:
        check_n_jobs(self.n_jobs)


def taken(table: Any, rows: Integers) -> Any:
    """Return some rows of an array or a dataframe, as the same kind of table."""
    frame = as_frame(table)
    return table[rows] if frame is None else frame[rows].to_native()
