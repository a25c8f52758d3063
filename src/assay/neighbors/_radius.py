"""Classification and regression by all training rows within a radius."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from assay.base import Classifier, DataError, ParameterError, Regressor, check_interval
from assay.base.stored import Array, Integers, Plain, declared
from assay.neighbors._index import Ragged
from assay.neighbors._metric import Metric
from assay.neighbors._radius_path import RadiusPath
from assay.neighbors._radius_search import RadiusSearch
from assay.neighbors._search import KERNELS, CountsRows, Weighting, resolve
from assay.neighbors._vote import radius_weights


class RadiusNeighborsClassifier(CountsRows, Classifier, RadiusSearch):
    r"""Classify by all neighbours within a radius.

    Parameters
    ----------
    radius : float >= 0, default=1.0
        Radius within which training rows vote. Larger values give smoother boundaries.
    weights : str or callable, default='uniform'
        Weight of a vote: 'uniform', all equal; 'distance', the inverse distance; 'gaussian',
        'epanechnikov' or 'triangular', a kernel of the distance divided by the radius; or a
        function from the distances to weights of the same shape. A model with a function as weights
        can predict but not be saved.
    algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'}, default='auto'
        Search algorithm; the result is the same, bit for bit.
    leaf_size : int, default=30
        Maximum number of rows in a leaf of the search tree. Affects only speed.
    p : float >= 1, default=2
        Exponent of the Minkowski metric: 1 Manhattan, 2 Euclidean, infinity Chebyshev.
    metric : str or callable, default='minkowski'
        The distance; see `NearestNeighbors`.
    outlier_label : {'most_frequent'}, label or None, default=None
        The class of rows without a neighbour. None raises an error. A label that is not a class of
        y has no column in `predict_proba`, where its rows are all zero.
    metric_params : dict, default=None
        Further parameters of the metric; see `NearestNeighbors`.
    categorical_features : {'from_dtype'}, array-like of str, int or bool, or None, default=None
        Nominal columns for metric='mixed'.
    n_jobs : int, default=None
        Threads for the search; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    rows_ : ndarray of shape (n_samples_fit_, n_features_in_)
        The training rows; not copied if X was a C-ordered float array.
    codes_ : ndarray of int64 of shape (n_samples_fit_,)
        The training labels as positions in `classes_`.
    outlier_label_ : label or None
        The class of rows without a neighbour.
    n_samples_fit_ : int
        Number of training rows.
    effective_metric_ : str
        The metric in use, by its simplest name.
    effective_metric_params_ : dict
        ``{"p": p}`` if that metric is 'minkowski', and `metric_params`.
    effective_algorithm_ : str
        'brute' or 'kd_tree'.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat P(c \mid x) = \frac{\sum_{j : d_j \le r} w_j [y_j = c]}{\sum_{j : d_j \le r} w_j}

    With weights by distance, neighbours at distance 0 outvote all others. A tied vote goes to the
    first class. Deterministic.

    See Also
    --------
    KNeighborsClassifier : A fixed number of neighbours instead of a radius.

    Examples
    --------
    >>> from assay.neighbors import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(1.5, outlier_label="far")
    >>> model.fit([[0], [1], [2], [8]], ["a", "a", "b", "b"]).predict([[0.5], [5.0]]).tolist()
    ['a', 'far']
    """

    model_id: ClassVar[int | None] = 113
    assay_path: ClassVar[RadiusPath] = RadiusPath()
    stored = declared(
        codes_=Integers("n_samples_fit_", 0, "classes-1"),
        outlier_label_=Plain((bool, int, float, str, type(None))),
    )

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Weighting = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Metric = "minkowski",
        outlier_label: Any = None,
        metric_params: Mapping[str, Any] | None = None,
        categorical_features: ArrayLike | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Store the training rows and their classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        RadiusNeighborsClassifier
            The fitted model.
        """
        resolve(vars(self))
        check_interval("radius", self.radius, 0)
        self._clear_cache()
        rows, codes, _ = self._fit_data(X, y)
        self._keep_rows(rows)
        self.codes_ = codes
        if isinstance(self.outlier_label, str) and self.outlier_label == "most_frequent":
            self.outlier_label_ = self.classes_[np.bincount(codes).argmax()].item()
        else:
            self.outlier_label_ = _outlier_label(self.outlier_label, self.classes_)
        return self

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(1.5, outlier_label="most_frequent")]

    def predict(self, X: ArrayLike | None) -> NDArray[Any]:
        """Return the class with the largest share among the rows within the radius.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None
            The rows. None: the training rows, each without itself as a neighbour (leave-one-out).

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        return self._labels(*self._shares(X))

    def predict_proba(self, X: ArrayLike | None) -> NDArray[np.float64]:
        """Return the share of each class among the rows within the radius.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None
            The rows. None: the training rows, each without itself as a neighbour (leave-one-out).

        Returns
        -------
        ndarray of float64 of shape (n_queries, n_classes)
            Columns in the order of `classes_`.
        """
        shares, alone = self._shares(X)
        self._tell(alone)
        return shares

    def _shares(self, X: ArrayLike | None) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return class shares, and which rows have no neighbour."""
        check_is_fitted(self)
        return self._settled(*self._tally(self._within(X, None)))

    def _tally(self, found: Ragged) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return class shares, and which rows have no votes."""
        n_queries, n_classes = len(found.offsets) - 1, len(self.classes_)
        owner, weights = _votes(found, self.weights, self.radius)
        cells = owner * n_classes + self.codes_[found.rows]
        votes = np.bincount(cells, weights=weights, minlength=n_queries * n_classes)
        shares = votes.reshape(n_queries, n_classes).astype(np.float64)
        total = np.bincount(owner, weights=weights, minlength=n_queries)
        alone = np.diff(found.offsets) == 0
        shares /= np.where(alone, 1.0, total)[:, None]
        return shares, alone

    def _settled(
        self, shares: NDArray[np.float64], alone: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Assign the rows without a neighbour to `outlier_label_`."""
        if alone.any() and self.outlier_label_ is None:
            raise DataError(
                f"row {int(np.flatnonzero(alone)[0])} of X has no training row within radius "
                f"{self.radius}; use a larger radius, or set outlier_label"
            )
        known = np.flatnonzero(self.classes_ == self.outlier_label_)
        if known.size:
            shares[alone, known[0]] = 1.0
        return shares, alone

    def _labels(self, shares: NDArray[np.float64], alone: NDArray[np.bool_]) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        if alone.any():
            wide = np.result_type(labels, np.asarray(self.outlier_label_))
            labels = labels.astype(wide if labels.dtype.kind == "U" else labels.dtype)
            labels[alone] = self.outlier_label_
        return labels

    def _tell(self, alone: NDArray[np.bool_]) -> None:
        if alone.any() and self.outlier_label_ not in self.classes_.tolist():
            warnings.warn(
                f"{int(alone.sum())} rows have no neighbour within the radius and the outlier "
                f"label {self.outlier_label_!r} is not a class of y: their shares are zero",
                stacklevel=3,
            )

    def _check_more(self) -> None:
        check_interval("radius", self.radius, 0)


class RadiusNeighborsRegressor(CountsRows, Regressor, RadiusSearch):
    r"""Regression by the mean of all neighbours within a radius.

    Parameters
    ----------
    radius : float >= 0, default=1.0
        Radius within which training rows are averaged. Larger values give smoother predictions.
    weights : str or callable, default='uniform'
        Weight in the mean: 'uniform', all equal; 'distance', the inverse distance; 'gaussian',
        'epanechnikov' or 'triangular', a kernel of the distance divided by the radius; or a
        function from the distances to weights of the same shape. A model with a function as weights
        can predict but not be saved.
    algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'}, default='auto'
        Search algorithm; the result is the same, bit for bit.
    leaf_size : int, default=30
        Maximum number of rows in a leaf of the search tree. Affects only speed.
    p : float >= 1, default=2
        Exponent of the Minkowski metric: 1 Manhattan, 2 Euclidean, infinity Chebyshev.
    metric : str or callable, default='minkowski'
        The distance; see `NearestNeighbors`.
    metric_params : dict, default=None
        Further parameters of the metric; see `NearestNeighbors`.
    categorical_features : {'from_dtype'}, array-like of str, int or bool, or None, default=None
        Nominal columns for metric='mixed'.
    n_jobs : int, default=None
        Threads for the search; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    rows_ : ndarray of shape (n_samples_fit_, n_features_in_)
        The training rows; not copied if X was a C-ordered float array.
    values_ : ndarray of float64 of shape (n_samples_fit_,) or (n_samples_fit_, n_outputs)
        The training targets.
    n_samples_fit_ : int
        Number of training rows.
    effective_metric_ : str
        The metric in use, by its simplest name.
    effective_metric_params_ : dict
        ``{"p": p}`` if that metric is 'minkowski', and `metric_params`.
    effective_algorithm_ : str
        'brute' or 'kd_tree'.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat y(x) = \frac{\sum_{j : d_j \le r} w_j y_j}{\sum_{j : d_j \le r} w_j}

    NaN, with a warning, if no training row is within the radius. Deterministic.

    See Also
    --------
    KNeighborsRegressor : A fixed number of neighbours instead of a radius.

    Examples
    --------
    >>> from assay.neighbors import RadiusNeighborsRegressor
    >>> model = RadiusNeighborsRegressor(1.0).fit([[0], [1], [2], [3]], [0.0, 1.0, 4.0, 9.0])
    >>> model.predict([[0.4], [2.0]]).round(3).tolist()
    [0.5, 4.667]
    """

    model_id: ClassVar[int | None] = 114
    assay_path: ClassVar[RadiusPath] = RadiusPath()
    stored = declared(values_=Array("n_samples_fit_ | n_samples_fit_, outputs"))

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Weighting = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Metric = "minkowski",
        metric_params: Mapping[str, Any] | None = None,
        categorical_features: ArrayLike | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Store the training rows and their targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.

        Returns
        -------
        RadiusNeighborsRegressor
            The fitted model.
        """
        resolve(vars(self))
        check_interval("radius", self.radius, 0)
        self._clear_cache()
        rows, values, _ = self._fit_data(X, y, multi_output=True)
        self._keep_rows(rows)
        self.values_ = values
        return self

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(100.0, weights="distance")]

    def predict(self, X: ArrayLike | None) -> NDArray[np.float64]:
        """Return the mean target of the rows within the radius.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None
            The rows. None: the training rows, each without itself as a neighbour (leave-one-out).

        Returns
        -------
        ndarray of float64 of shape (n_queries,) or (n_queries, n_outputs)
        """
        check_is_fitted(self)
        out, alone = self._tally(self._within(X, None))
        self._tell(alone)
        return out

    def _tally(self, found: Ragged) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the means (NaN without a neighbour), and which rows have no neighbour."""
        n_queries = len(found.offsets) - 1
        owner, weights = _votes(found, self.weights, self.radius)
        alone = np.diff(found.offsets) == 0
        total = np.where(alone, np.nan, np.bincount(owner, weights, minlength=n_queries))
        wide = self.values_ if self.values_.ndim == 2 else self.values_[:, None]
        out = np.empty((n_queries, wide.shape[1]))
        for output in range(wide.shape[1]):
            values = wide[found.rows, output]
            parts = values if weights is None else values * weights
            out[:, output] = np.bincount(owner, parts, minlength=n_queries) / total
        return (out if self.values_.ndim == 2 else out[:, 0]), alone

    def _tell(self, alone: NDArray[np.bool_]) -> None:
        if alone.any():
            warnings.warn(
                f"{int(alone.sum())} rows have no training row within radius {self.radius}: their "
                "prediction is NaN",
                stacklevel=3,
            )

    def _check_more(self) -> None:
        check_interval("radius", self.radius, 0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _votes(
    found: Ragged, weights: Weighting, radius: float
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Return the query of each neighbour, and its weight; None if all are equal."""
    owner = np.repeat(np.arange(len(found.offsets) - 1), np.diff(found.offsets))
    scale = radius if isinstance(weights, str) and weights in KERNELS else None
    return owner, radius_weights(found.distance, found.offsets, weights, scale)


def _outlier_label(label: Any, classes: NDArray[Any]) -> Any:
    if label is None:
        return None
    given = np.asarray(label)
    text = classes.dtype.kind == "U"
    if given.ndim or (given.dtype.kind == "U") != text or given.dtype.kind not in "biufU":
        raise ParameterError(
            f"outlier_label must be None, 'most_frequent' or one label of the kind that y has "
            f"({classes.dtype}); got {label!r}"
        )
    if not text and given.astype(classes.dtype) != given:
        raise ParameterError(f"outlier_label {label!r} does not fit into labels of {classes.dtype}")
    return given.item() if text else given.astype(classes.dtype).item()
