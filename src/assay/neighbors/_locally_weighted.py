"""Locally weighted regression."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import (
    DataError,
    ParameterError,
    Regressor,
    check_interval,
    check_n_jobs,
    check_option,
)
from assay.base.stored import Array as Floats
from assay.base.stored import Number, declared, ensure
from assay.neighbors._kernels import KERNELS, kernel_weights
from assay.neighbors._local_linear import ROWS, nearest, weighted_sums
from assay.neighbors._local_linear_fit import smoother_weights

Array = NDArray[np.float64]

#: Number of values held at once: 32 MB.
_CHUNK = 1 << 22
_WIDTHS = 24
#: If 1 - l_i is below this, the leave-one-out prediction of row i is computed directly.
_ALONE = 1e-6


class LocallyWeightedRegressor(Regressor):
    r"""Locally weighted linear regression (LOESS).

    Parameters
    ----------
    kernel : str, default='quadratic'
        How the weight decreases with the distance: 'quadratic' (also called 'epanechnikov'),
        'tricube', 'triangular', 'uniform' or 'gaussian'. All but the last are 0 beyond half the
        width; the Gaussian has a standard deviation of a quarter of the width.
    width : float or {'loo', 'neighbors'}, default=10.0
        Width w of the kernel. Larger values give smoother predictions. 'loo': the width with the
        smallest leave-one-out error among 24 widths, from the distances between neighbours to those
        between the farthest rows. 'neighbors': for each row twice the distance to the training row
        after the `n_neighbors` nearest.
    n_neighbors : int, default=30
        Number of neighbours inside the kernel for width='neighbors'; not used otherwise.
    degree : {0, 1}, default=1
        Degree of the local fit: a weighted mean (0) or a weighted linear function (1).
    ridge : float >= 0, default=0.0
        Penalty on the slopes, as a share of the mean weighted variance of a column. Larger values
        give flatter fits.
    n_jobs : int, default=None
        Threads for the search; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    rows_ : ndarray of shape (n_samples_fit_, n_features_in_)
        The training rows; those of weight 0 are left out.
    values_ : ndarray of float64 of shape (n_samples_fit_,) or (n_samples_fit_, n_outputs)
        The training targets.
    weights_ : ndarray of float64 of shape (n_samples_fit_,)
        The sample weights, 1 if none were given.
    width_ : float
        The width in use; 0.0 for width='neighbors'.
    widths_, loo_errors_ : ndarray of float64
        The widths tried and their mean squared leave-one-out errors; empty unless width='loo'.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: h(q) = a, \qquad (a, b) = \arg\min \sum_j K(\|x_j - q\|)
              (y_j - a - b \cdot (x_j - q))^2, \qquad
              K(d) = \max\Bigl(0, 1 - \Bigl(\frac{2d}{w}\Bigr)^2\Bigr)

    A prediction is a sum :math:`\sum_j l_j(q) y_j`; so the error at row i of the model without row
    i needs no refit:

    .. math:: e_{(i)} = \frac{y_i - h(x_i)}{1 - l_i(x_i)}

    A row without training rows inside the kernel gets the target of the nearest one. If the rows
    inside do not determine the slopes, the solution with the smallest slope is used. Distances are
    Euclidean: scale the columns first.

    O(n d) per row for the distances and O(m d^2) for m rows inside the kernel. Deterministic.

    See Also
    --------
    LocalLinearRegressor : Equal weights for the k nearest rows.

    Examples
    --------
    >>> from assay.neighbors import LocallyWeightedRegressor
    >>> model = LocallyWeightedRegressor(width=10.0)
    >>> model.fit([[0.0], [2.0], [4.0], [6.0]], [0.0, 1.0, 2.0, 3.0]).predict([[3.0]]).round(9)
    array([1.5])
    """

    model_id: ClassVar[int | None] = 118
    stored = declared(
        **ROWS,
        weights_=Floats("samples", above=0),
        width_=Number(0),
        widths_=Floats("widths", 0),
        loo_errors_=Floats("errors", 0),
    )

    def __init__(
        self,
        *,
        kernel: str = "quadratic",
        width: float | str = 10.0,
        n_neighbors: int = 30,
        degree: int = 1,
        ridge: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.width = width
        self.n_neighbors = n_neighbors
        self.degree = degree
        self.ridge = ridge
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Store the training rows and, for width='loo', choose the width.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, which multiply those of the kernel.

        Returns
        -------
        LocallyWeightedRegressor
            The fitted model.
        """
        self._check_params()
        rows, values, weight = self._fit_data(X, y, sample_weight, multi_output=True)
        weight = np.ones(len(rows)) if weight is None else weight
        if not weight.all():
            rows, values, weight = rows[weight > 0], values[weight > 0], weight[weight > 0]
        if self.width == "neighbors" and self.n_neighbors > len(rows):
            raise ParameterError(
                f"n_neighbors must be at most the number of training rows (n_samples = "
                f"{len(rows)}); got {self.n_neighbors}"
            )
        self.rows_, self.values_, self.weights_ = rows, values, weight
        self.widths_ = self.loo_errors_ = np.empty(0)
        if self.width == "loo":
            self._choose_width()
        else:
            self.width_ = 0.0 if isinstance(self.width, str) else float(self.width)
        return self

    def predict(self, X: Any) -> Array:
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
        found = np.empty((len(queries), *self.values_.shape[1:]))
        for part in self._parts(len(queries)):
            distance, index = self._around(queries[part])
            width: float | Array = self.width_
            if self.width == "neighbors":
                width = 2 * distance[:, min(self.n_neighbors, distance.shape[1] - 1), None]
            weights = kernel_weights(self.kernel, distance, width) * self.weights_[index]
            found[part] = self._solve(queries[part], weights, index)[0]
        return found

    def _around(self, queries: NDArray[Any]) -> tuple[Array, NDArray[np.int64]]:
        """Return the distances and indices of all rows that can have weight, from near to far."""
        n = len(self.rows_)
        k = min(n, self.n_neighbors + 1) if self.width == "neighbors" else n
        if self.kernel == "gaussian" and self.width == "neighbors":
            k = n
        return nearest(queries, self.rows_, k, check_n_jobs(self.n_jobs))

    def _solve(
        self, queries: NDArray[Any], weights: Array, index: NDArray[np.int64]
    ) -> tuple[Array, Array]:
        """Return predictions and the weights of the rows in them, nearest first."""
        # Rows are ordered from near to far and kernels decrease: the remaining rows have weight 0.
        inside = weights > 0
        most = max(1, int(inside.any(axis=0).sum()))
        weights, index = weights[:, :most], index[:, :most]
        empty = ~inside.any(axis=1)
        weights[empty, 0] = 1.0  # no row inside: use the nearest row
        shares = np.zeros(weights.shape)
        found = np.empty((len(queries), *self.values_.shape[1:]))
        # Queries with the same number of rows inside are solved together, so that the result of a
        # query does not depend on the others.
        counts = np.where(empty, 1, (weights > 0).cumsum(axis=1).argmax(axis=1) + 1)
        for count in np.unique(counts):
            lines = np.flatnonzero(counts == count)
            rows = index[lines, :count]
            gaps = self.rows_[rows].astype(np.float64) - queries[lines][:, None, :]
            part = smoother_weights(
                gaps, weights[lines, :count], float(self.ridge), int(self.degree)
            )
            shares[lines, :count] = part
            found[lines] = weighted_sums(part, self.values_[rows])
        return found, shares

    def _choose_width(self) -> None:
        n = len(self.rows_)
        if n < 3:
            raise DataError(f"width='loo' needs at least 3 rows (n_samples = {n} with a weight)")
        self.widths_ = self._candidates()
        if not len(self.widths_):
            self.widths_, self.loo_errors_, self.width_ = np.ones(1), np.zeros(1), 1.0
            return
        errors = np.zeros(len(self.widths_))
        for part in self._parts(n):
            distance, index = nearest(self.rows_[part], self.rows_, n, check_n_jobs(self.n_jobs))
            own = index == np.arange(part.start, part.stop)[:, None]
            for w, width in enumerate(self.widths_):
                left_out = self._left_out(part, distance, index, own, float(width))
                squares = (self.values_[part] - left_out) ** 2
                squares = squares.reshape(len(squares), -1).mean(axis=1)
                errors[w] += (squares * self.weights_[part]).sum()
        self.loo_errors_ = errors / self.weights_.sum()
        self.width_ = float(self.widths_[int(self.loo_errors_.argmin())])

    def _left_out(
        self,
        part: slice,
        distance: Array,
        index: NDArray[np.int64],
        own: NDArray[np.bool_],
        width: float,
    ) -> Array:
        """Return the leave-one-out prediction of each row i of the part."""
        rows, values = self.rows_[part], self.values_[part]
        weights = kernel_weights(self.kernel, distance, width) * self.weights_[index]
        fitted, shares = self._solve(rows, weights.copy(), index)
        lever = (shares * own[:, : shares.shape[1]]).sum(axis=1)
        alone = 1 - lever < _ALONE
        rest = np.where(alone, 1.0, 1 - lever).reshape(-1, *[1] * (values.ndim - 1))
        left_out = values - (values - fitted) / rest
        if alone.any():
            keep = ~own[alone]
            size = (int(alone.sum()), index.shape[1] - 1)
            left_out[alone] = self._solve(
                rows[alone], weights[alone][keep].reshape(size), index[alone][keep].reshape(size)
            )[0]
        return left_out

    def _candidates(self) -> Array:
        """Return the candidate widths, from the smallest to the largest distances between rows."""
        n, d = self.rows_.shape
        step = -(-n // 200)
        k = min(n, d + 3)
        near = nearest(self.rows_[::step], self.rows_, k, check_n_jobs(self.n_jobs))[0][:, -1]
        spread = self.rows_.max(axis=0).astype(np.float64) - self.rows_.min(axis=0)
        far = float(np.sqrt((spread * spread).sum()))
        positive = near[near > 0]
        if far == 0:
            return np.empty(0)
        low = float(np.median(positive)) if positive.size else far / 100
        return np.geomspace(min(2 * low, 2 * far), 4 * far, _WIDTHS)

    def _parts(self, n_queries: int) -> list[slice]:
        step = max(1, _CHUNK // (len(self.rows_) * (self.rows_.shape[1] + 2)))
        return [slice(s, min(s + step, n_queries)) for s in range(0, n_queries, step)]

    def _check_params(self) -> None:
        check_option("kernel", self.kernel, KERNELS)
        options = ("loo", "neighbors")
        check_interval("width", self.width, 0, open_low=True, open_high=True, options=options)
        check_interval("n_neighbors", self.n_neighbors, 1, integer=True)
        check_interval("degree", self.degree, 0, 1, integer=True)
        check_interval("ridge", self.ridge, 0, open_high=True)
        check_n_jobs(self.n_jobs)

    def _check_more(self) -> None:
        self._check_params()
        by_count = self.width == "neighbors"
        ensure((self.width_ == 0) == by_count, "width_ is out of range")
        enough = not by_count or self.n_neighbors <= len(self.rows_)
        ensure(enough, "rows_ has fewer rows than n_neighbors")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
