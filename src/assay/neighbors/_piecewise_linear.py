"""Piecewise linear interpolation."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import LinearNDInterpolator
from scipy.spatial import Delaunay, QhullError

from assay._core import neighbors as kernels
from assay.base import ParameterError, Regressor, check_option
from assay.base.stored import Array, OneOf, declared, ensure

#: With more columns than this a triangulation has too many simplices to be practical.
MOST_COLUMNS = 8


class PiecewiseLinearRegressor(Regressor):
    r"""Piecewise linear interpolation between training points.

    Parameters
    ----------
    extrapolation : {'nearest', 'linear'}, default='nearest'
        Prediction outside the training points: the value of the nearest point, or (with one column
        only) the line through the two outermost points.

    Attributes
    ----------
    rows_ : ndarray of float64 of shape (n_points, n_features_in_)
        The distinct training points, in lexicographic order.
    values_ : ndarray of float64 of shape (n_points,) or (n_points, n_outputs)
        Their targets; duplicate points have the (weighted) mean.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: h(x) = y_i + (y_{i+1} - y_i) \frac{x - x_i}{x_{i+1} - x_i},
              \qquad x_i \le x \le x_{i+1}

    With two to eight columns, the points are joined by a Delaunay triangulation, and the prediction
    is the barycentric mean of the corners of the simplex that contains the row. If there is no
    triangulation (points on one hyperplane, or fewer than columns + 2), and with more than 8
    columns, the value of the nearest point is used.

    O(n log n) to fit and O(log n) per row with one column. Deterministic.

    See Also
    --------
    LocalLinearRegressor : A linear fit to the k nearest rows.

    Examples
    --------
    >>> from assay.neighbors import PiecewiseLinearRegressor
    >>> model = PiecewiseLinearRegressor().fit([[0.0], [1.0], [3.0]], [0.0, 2.0, 0.0])
    >>> model.predict([[0.5], [2.0], [9.0]]).tolist()
    [1.0, 1.0, 0.0]
    """

    model_id: ClassVar[int | None] = 116
    stored = declared(
        extrapolation=OneOf(("nearest", "linear")),
        rows_=Array("samples, features", dtype=np.float64, filled=True),
        values_=Array("samples | samples, outputs"),
    )

    def __init__(self, *, extrapolation: str = "nearest") -> None:
        self.extrapolation = extrapolation

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Store the distinct training points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights for the mean over duplicate rows; rows of weight 0 are left out.

        Returns
        -------
        PiecewiseLinearRegressor
            The fitted model.
        """
        check_option("extrapolation", self.extrapolation, ("nearest", "linear"))
        rows, values, weight = self._fit_data(X, y, sample_weight, multi_output=True)
        if self.extrapolation == "linear" and rows.shape[1] > 1:
            raise ParameterError(
                f"extrapolation='linear' needs one column; X has {rows.shape[1]} features"
            )
        rows = rows.astype(np.float64, copy=False)
        if weight is not None and (weight == 0).any():
            rows, values, weight = rows[weight > 0], values[weight > 0], weight[weight > 0]
        self.rows_, group = np.unique(rows + 0.0, axis=0, return_inverse=True)  # -0 is 0
        self.values_ = _group_means(group.ravel(), values, weight, len(self.rows_))
        self._cache: list[Any] = []
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the interpolated value of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of float64 of shape (n_queries,) or (n_queries, n_outputs)
        """
        rows = self._predict_data(X).astype(np.float64, copy=False)
        values = self.values_.reshape(len(self.rows_), -1)
        if self.n_features_in_ == 1:
            found = _along_line(rows[:, 0], self.rows_[:, 0], values, self.extrapolation)
        else:
            found = self._in_simplex(rows, values)
        return found.reshape(len(rows), *self.values_.shape[1:])

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_cache", None)  # rebuilt from the points
        return state

    def _in_simplex(
        self, rows: NDArray[np.float64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        cache = self.__dict__.setdefault("_cache", [])
        if not cache:
            cache.append(_triangulation(self.rows_))
        if cache[0] is None:
            return values[_nearest(rows, self.rows_)]
        found = LinearNDInterpolator(cache[0], values)(rows)
        outside = np.isnan(found).any(axis=1)
        if outside.any():
            found[outside] = values[_nearest(rows[outside], self.rows_)]
        return found  # type: ignore[no-any-return]

    def _check_more(self) -> None:
        one = self.n_features_in_ == 1
        ensure(one or self.extrapolation == "nearest", "extrapolation='linear' needs one column")
        ascending = not one or (np.diff(self.rows_[:, 0]) > 0).all()
        ensure(ascending, "rows_ is not ascending")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _group_means(
    group: NDArray[np.int64],
    values: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    n_groups: int,
) -> NDArray[np.float64]:
    """Return the weighted mean of the values of each group."""
    weight = np.ones(len(group)) if weight is None else weight / weight.max()
    total = np.bincount(group, weights=weight, minlength=n_groups)
    columns = values.reshape(len(values), -1).T
    sums = [np.bincount(group, weights=weight * y, minlength=n_groups) for y in columns]
    return (np.array(sums) / total).T.reshape(n_groups, *values.shape[1:])


def _along_line(
    x: NDArray[np.float64],
    points: NDArray[np.float64],
    values: NDArray[np.float64],
    extrapolation: str,
) -> NDArray[np.float64]:
    if len(points) == 1:
        return np.repeat(values, len(x), axis=0)
    left = np.clip(np.searchsorted(points, x, side="right") - 1, 0, len(points) - 2)
    # Halved, since the distance between two finite points may overflow.
    share = (x / 2 - points[left] / 2) / (points[left + 1] / 2 - points[left] / 2)
    if extrapolation == "nearest":
        share = np.clip(share, 0.0, 1.0)
    return values[left] * (1 - share)[:, None] + values[left + 1] * share[:, None]


def _triangulation(points: NDArray[np.float64]) -> Delaunay | None:
    n, d = points.shape
    if d > MOST_COLUMNS or n < d + 2:
        return None
    try:
        return Delaunay(points)
    except QhullError:  # the points lie on one hyperplane
        return None


def _nearest(rows: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.int64]:
    rows = np.ascontiguousarray(rows)
    distance = np.empty((len(rows), 1))
    index = np.empty((len(rows), 1), dtype=np.int64)
    kernels.brute_force(rows, np.ascontiguousarray(points), 1, 2.0, distance, index, 1)
    return index[:, 0]
