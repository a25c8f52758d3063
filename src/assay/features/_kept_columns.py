"""Common part of the selectors, once the columns to keep are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from assay.base import Transformer, as_frame
from assay.base.stored import Array, declared, ensure
from assay.features._names import names_in


class KeptColumns(Transformer):
    """A transformer that keeps the columns marked in `support_`, unchanged."""

    support_: NDArray[np.bool_]
    stored = declared(support_=Array("features", kinds="b"))

    def transform(self, X: ArrayLike) -> Any:
        """Return the columns that are kept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray or dataframe of shape (n_samples, n_selected)
            A dataframe stays a dataframe of the same library.
        """
        table = self._table(X, reset=False)
        kept = self.get_support(indices=True)
        frame = as_frame(table)
        return table[:, kept] if frame is None else frame[:, kept.tolist()].to_native()

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which columns are kept.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return column numbers instead of one boolean per column.

        Returns
        -------
        ndarray of bool of shape (n_features,), or of int64
        """
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_.copy()

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the columns that are kept.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of all columns; None: those seen in fit, or x0, x1, ...

        Returns
        -------
        ndarray of object
        """
        return np.asarray(names_in(self, input_features)[self.get_support()])

    def _check_more(self) -> None:
        ensure(self.support_.any(), "support_ keeps no column")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def best_columns(
    votes: NDArray[np.int64], scores: NDArray[np.float64], count: int
) -> NDArray[np.bool_]:
    """Mark `count` columns by most votes; ties go to the best score, then to the first."""
    order = np.lexsort((np.arange(len(votes)), -scores, -votes))
    marked = np.zeros(len(votes), dtype=np.bool_)
    marked[order[:count]] = True
    return marked
