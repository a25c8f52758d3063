"""Local linear regression on the nearest training rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay._core import neighbors as kernels
from assay.base import ParameterError, Regressor, check_interval, check_n_jobs
from assay.base.stored import Array, declared
from assay.neighbors._local_linear_fit import smoother_weights

#: Number of values held at once while predicting: 32 MB.
_CHUNK = 1 << 22

#: Rules for training rows and their targets.
ROWS = declared(
    rows_=Array("samples, features", filled=True), values_=Array("samples | samples, outputs")
)


class LocalLinearRegressor(Regressor):
    r"""Local linear regression on the k nearest neighbours.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number k of neighbours. Larger values give smoother predictions.
    ridge : float >= 0, default=0.0
        Penalty on the slopes, as a share of the mean variance of a column among the neighbours. A
        small value (0.01) stabilises the fit if k is hardly larger than the number of columns.
    n_jobs : int, default=None
        Threads for the search; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    rows_ : ndarray of shape (n_samples_fit_, n_features_in_)
        The training rows; not copied if X was a C-ordered float array.
    values_ : ndarray of float64 of shape (n_samples_fit_,) or (n_samples_fit_, n_outputs)
        The training targets.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: h(x) = a + b \cdot x, \qquad
              (a, b) = \arg\min \sum_{j \in N_k(x)} (y_j - a - b \cdot x_j)^2 + \rho \|b\|^2

    :math:`N_k(x)` are the k nearest rows by Euclidean distance, with ties going to the earlier row.
    If the neighbours do not determine the slopes (k at most the number of columns, duplicate rows,
    rows on one hyperplane) the solution with the smallest slope is used: it is flat in the
    undetermined directions; a single neighbour, or duplicates, give their mean.

    O(n d) to search and O(k d min(k, d)) to solve per row. Deterministic.

    See Also
    --------
    LocallyWeightedRegressor : Weights that decrease with the distance; a continuous function.
    KNeighborsRegressor : The mean of the neighbours.

    Examples
    --------
    >>> from assay.neighbors import LocalLinearRegressor
    >>> model = LocalLinearRegressor(n_neighbors=3)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 4.0, 6.0]).predict([[1.5], [4.0]])
    array([3., 8.])
    """

    model_id: ClassVar[int | None] = 117
    stored = ROWS

    def __init__(
        self, n_neighbors: int = 5, *, ridge: float = 0.0, n_jobs: int | None = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.ridge = ridge
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Store the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        Returns
        -------
        LocalLinearRegressor
            The fitted model.
        """
        self._check_params()
        rows, values, _ = self._fit_data(X, y, multi_output=True)
        self._count(len(rows))
        self.rows_, self.values_ = rows, values
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the prediction of the local fit of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of float64 of shape (n_queries,) or (n_queries, n_outputs)
        """
        queries = self._predict_data(X)
        k, n_threads = self._count(len(self.rows_)), check_n_jobs(self.n_jobs)
        found = np.empty((len(queries), *self.values_.shape[1:]))
        # Each query has its own rows in the arrays: its result does not depend on the others.
        step = max(1, _CHUNK // (k * (queries.shape[1] + 1)))
        for start in range(0, len(queries), step):
            part = queries[start : start + step]
            index = nearest(part, self.rows_, k, n_threads)[1]
            gaps = self.rows_[index].astype(np.float64) - part[:, None, :]
            shares = smoother_weights(gaps, np.ones(index.shape), float(self.ridge), 1)
            found[start : start + step] = weighted_sums(shares, self.values_[index])
        return found

    def _check_params(self) -> None:
        check_interval("n_neighbors", self.n_neighbors, 1, integer=True)
        check_interval("ridge", self.ridge, 0, open_high=True)
        check_n_jobs(self.n_jobs)

    def _count(self, n: int) -> int:
        if self.n_neighbors > n:
            raise ParameterError(
                f"n_neighbors must be at most the number of training rows (n_samples = {n}); "
                f"got {self.n_neighbors}"
            )
        return int(self.n_neighbors)

    def _check_more(self) -> None:
        self._check_params()
        self._count(len(self.rows_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def nearest(
    queries: NDArray[Any], rows: NDArray[Any], k: int, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return distances and row numbers of the k nearest rows, exactly."""
    kind = np.result_type(queries, rows)
    distance = np.empty((len(queries), k))
    index = np.empty((len(queries), k), dtype=np.int64)
    kernels.brute_force(
        np.ascontiguousarray(queries, dtype=kind),
        np.ascontiguousarray(rows, dtype=kind),
        k,
        2.0,
        distance,
        index,
        n_threads,
    )
    return distance, index


def weighted_sums(shares: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum over rows of share times target, for one target or several."""
    if values.ndim == 2:
        return (shares * values).sum(axis=1)  # type: ignore[no-any-return]
    return (shares[:, :, None] * values).sum(axis=1)  # type: ignore[no-any-return]
