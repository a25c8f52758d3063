"""Base class of all least-squares models: prediction and the check of a restored state."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from assay._core import linear as kernels
from assay.base import DataError, Regressor, check_n_jobs
from assay.base.stored import Array, declared, ensure


class LinearModel(Regressor):
    """A regressor that predicts X coef' + intercept."""

    takes_sparse: ClassVar[bool] = True

    coef_: NDArray[np.float64]
    intercept_: float | NDArray[np.float64]
    stored = declared(coef_=Array("features | targets, features"), intercept_=Array("| targets"))

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the predicted target of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples,) or (n_samples, n_targets)
        """
        rows = self._predict_data(X)
        return scores(rows, self.coef_, self.intercept_, check_n_jobs(getattr(self, "n_jobs", 1)))

    def _store(self, coef: NDArray[np.float64], offset: NDArray[np.float64], *, flat: bool) -> None:
        """Store coefficients (n_targets, n_features) and intercepts; `flat`: as for one target."""
        if not (np.isfinite(coef).all() and np.isfinite(offset).all()):
            raise DataError(
                "the numbers of X or y are too large: sums of their squares leave the range of "
                "float64; scale the columns and the target"
            )
        if flat:
            self.coef_, self.intercept_ = coef[0].copy(), float(offset[0])
        else:
            self.coef_, self.intercept_ = np.ascontiguousarray(coef), offset

    def _check_more(self) -> None:
        fits = self.coef_.ndim == 2 or isinstance(self.intercept_, float)
        ensure(fits, f"{type(self).__name__}.intercept_ holds several values for one target")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def scores(
    rows: Any,
    coef: NDArray[np.float64],
    intercept: float | NDArray[np.float64],
    n_threads: int = 1,
) -> NDArray[np.float64]:
    """Return rows coef' + intercept; the value of a row does not depend on the others."""
    if issparse(rows):
        return np.asarray(rows @ coef.T, dtype=np.float64) + intercept
    table = np.ascontiguousarray(np.atleast_2d(coef), dtype=np.float64)
    offset = np.ascontiguousarray(np.broadcast_to(intercept, len(table)), dtype=np.float64)
    out = np.empty((len(rows), len(table)))
    kernels.predict_scores(rows, table, offset, out, n_threads)
    return out if coef.ndim == 2 else out[:, 0]
