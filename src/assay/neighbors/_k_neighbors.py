"""Classification and regression by the k nearest training rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from assay.base import Classifier, Regressor
from assay.base.stored import Array, Integers, declared
from assay.neighbors._metric import Metric
from assay.neighbors._path import NeighborPath
from assay.neighbors._search import CountsRows, NeighborSearch, Weighting, resolve
from assay.neighbors._vote import balance, class_factors, class_shares, means, vote_weights


class KNeighborsClassifier(CountsRows, Classifier, NeighborSearch):
    r"""Classify by the k nearest neighbours.

    Parameters
    ----------
    n_neighbors : int or 'sqrt', default=5
        Number k of neighbours that vote. Larger values give smoother boundaries. 'sqrt': the odd
        integer closest to the square root of the number of training rows (the larger of two equally
        close).
    weights : str or callable, default='uniform'
        Weight of a neighbour's vote: 'uniform', all equal; 'distance', the inverse distance;
        'gaussian', 'epanechnikov' or 'triangular', a kernel of the distance divided by that of the
        (k+1)-th neighbour; or a function from an array of distances (n_queries, k) to weights of
        the same shape. A model with a function as weights can predict but not be saved.
    algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'}, default='auto'
        Search algorithm; the result is the same, bit for bit. 'auto' chooses, see
        `effective_algorithm_`. 'ball_tree' is an alias of 'kd_tree': one tree supports every
        metric.
    leaf_size : int, default=30
        Maximum number of rows in a leaf of the search tree. Affects only speed.
    p : float >= 1, default=2
        Exponent of the Minkowski metric: 1 Manhattan, 2 Euclidean, infinity Chebyshev.
    metric : str or callable, default='minkowski'
        The distance: 'minkowski', 'euclidean', 'manhattan', 'chebyshev', 'seuclidean',
        'mahalanobis', 'cosine', 'hamming', 'weighted_hamming', 'mixed', or a function of two rows.
        Only 'minkowski' uses `p`. 'hamming', 'weighted_hamming' and 'mixed' support nominal columns
        and missing values. See `NearestNeighbors`.
    metric_params : dict, default=None
        Further parameters of the metric: 'w', 'V', 'VI', 'similarity', 'ordinal'; see
        `NearestNeighbors`.
    categorical_features : {'from_dtype'}, array-like of str, int or bool, or None, default=None
        Nominal columns for metric='mixed'; 'from_dtype' takes the text and categorical columns
        of a dataframe.
    class_weight : 'balanced', dict or None, default=None
        Factor of a vote by its class: 'balanced' is inversely proportional to the size of the
        class; a dict has a weight per class (1 for classes not listed).
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
    n_neighbors_ : int
        Number of neighbours in use.
    n_samples_fit_ : int
        Number of training rows.
    effective_metric_ : str
        The metric in use, by its simplest name.
    effective_metric_params_ : dict
        ``{"p": p}`` if that metric is 'minkowski', and `metric_params`.
    effective_algorithm_ : str
        'brute' or 'kd_tree'.
    categorical_features_ : ndarray of int64
        The nominal columns, if the metric supports any.
    levels_, level_offsets_ : ndarray
        The categories of the nominal columns, and the start of those of each column.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat P(c \mid x) = \frac{\sum_{j \in N_k(x)} w_j [y_j = c]}{\sum_{j \in N_k(x)} w_j},
              \qquad w_j = 1 \text{ or } 1 / \|x - x_j\|_p

    :math:`N_k(x)` are the k rows smallest by (distance, row number), so ties in distance go to the
    earlier training row, and a tied vote goes to the first class. With weights by distance,
    neighbours at distance 0 outvote all others. With `class_weight` 'balanced' a vote for class c
    also counts :math:`n / n_c`. Distances of float32 data are float64 sums; float32 rows are kept
    as float32. O(1) to fit; the first search builds the index. Deterministic.

    Kernels use :math:`u_j = d_j / d_{k+1}`: gaussian :math:`e^{-u^2/2}`, epanechnikov :math:`1 -
    u^2`, triangular :math:`1 - u`. (If all training rows are neighbours, :math:`d_k` is used
    instead of :math:`d_{k+1}`; if all weights would be 0, they are equal.)

    With k = 1 a row that is in the training table gets its stored class (that of the first of
    duplicate rows).

    There is no `sample_weight`, as in scikit-learn: a row of weight 2 would have to count as two of
    the k neighbours, and there is no accepted definition for other weights.

    All parameters are read at prediction, so `set_params` needs no new fit.

    See Also
    --------
    KNeighborsRegressor : The same for a numeric target.

    Examples
    --------
    >>> from assay.neighbors import KNeighborsClassifier
    >>> model = KNeighborsClassifier(3).fit([[0], [1], [2], [8], [9]], ["a", "a", "a", "b", "b"])
    >>> model.predict([[1.5], [8.5]]).tolist()
    ['a', 'b']
    >>> model.predict_proba([[8.5]]).round(3).tolist()
    [[0.333, 0.667]]
    """

    model_id: ClassVar[int | None] = 110
    assay_path: ClassVar[NeighborPath] = NeighborPath()
    stored = declared(codes_=Integers("n_samples_fit_", 0, "classes-1"))

    def __init__(
        self,
        n_neighbors: int | str = 5,
        *,
        weights: Weighting = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Metric = "minkowski",
        metric_params: Mapping[str, Any] | None = None,
        categorical_features: ArrayLike | str | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.categorical_features = categorical_features
        self.class_weight = class_weight
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
        KNeighborsClassifier
            The fitted model.
        """
        resolve(vars(self))
        self._clear_cache()
        rows, codes, _ = self._fit_data(X, y)
        class_factors(self.class_weight, codes, self.classes_)
        self._keep_rows(rows)
        self.codes_ = codes
        return self

    def predict(self, X: ArrayLike | None) -> NDArray[Any]:
        """Return the class with the largest share among the neighbours of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None
            The rows. None: the training rows, each without itself as a neighbour (leave-one-out).

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: ArrayLike | None) -> NDArray[np.float64]:
        """Return the share of each class among the neighbours of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None
            The rows. None: the training rows, each without itself as a neighbour (leave-one-out).

        Returns
        -------
        ndarray of float64 of shape (n_queries, n_classes)
            Columns in the order of `classes_`.
        """
        check_is_fitted(self)
        parts: list[NDArray[np.float64]] = []
        n_classes = len(self.classes_)
        factors = class_factors(self.class_weight, self.codes_, self.classes_)
        for distance, index, plan in self._each_chunk(X, classes=n_classes):
            weights = vote_weights(distance, plan.weights, plan.k)
            labels = self.codes_[index[:, : plan.k]]
            weights = balance(weights, labels, factors)
            parts += class_shares(labels, weights, n_classes, [plan.k])
        return np.concatenate(parts)


class KNeighborsRegressor(CountsRows, Regressor, NeighborSearch):
    r"""Regression by the mean of the k nearest neighbours.

    Parameters
    ----------
    n_neighbors : int or 'sqrt', default=5
        Number k of neighbours that are averaged. Larger values give smoother predictions. 'sqrt':
        the odd integer closest to the square root of the number of training rows (the larger of two
        equally close).
    weights : str or callable, default='uniform'
        Weight of a neighbour in the mean: 'uniform', all equal; 'distance', the inverse distance;
        'gaussian', 'epanechnikov' or 'triangular', a kernel of the distance divided by that of the
        (k+1)-th neighbour; or a function from an array of distances (n_queries, k) to weights of
        the same shape. A model with a function as weights can predict but not be saved.
    algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'}, default='auto'
        Search algorithm; the result is the same, bit for bit. 'auto' chooses, see
        `effective_algorithm_`. 'ball_tree' is an alias of 'kd_tree': one tree supports every
        metric.
    leaf_size : int, default=30
        Maximum number of rows in a leaf of the search tree. Affects only speed.
    p : float >= 1, default=2
        Exponent of the Minkowski metric: 1 Manhattan, 2 Euclidean, infinity Chebyshev.
    metric : str or callable, default='minkowski'
        The distance: 'minkowski', 'euclidean', 'manhattan', 'chebyshev', 'seuclidean',
        'mahalanobis', 'cosine', 'hamming', 'weighted_hamming', 'mixed', or a function of two rows.
        Only 'minkowski' uses `p`. 'hamming', 'weighted_hamming' and 'mixed' support nominal columns
        and missing values. See `NearestNeighbors`.
    metric_params : dict, default=None
        Further parameters of the metric: 'w', 'V', 'VI', 'similarity', 'ordinal'; see
        `NearestNeighbors`.
    categorical_features : {'from_dtype'}, array-like of str, int or bool, or None, default=None
        Nominal columns for metric='mixed'; 'from_dtype' takes the text and categorical columns
        of a dataframe.
    n_jobs : int, default=None
        Threads for the search; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    rows_ : ndarray of shape (n_samples_fit_, n_features_in_)
        The training rows; not copied if X was a C-ordered float array.
    values_ : ndarray of float64 of shape (n_samples_fit_,) or (n_samples_fit_, n_outputs)
        The training targets.
    n_neighbors_ : int
        Number of neighbours in use.
    n_samples_fit_ : int
        Number of training rows.
    effective_metric_ : str
        The metric in use, by its simplest name.
    effective_metric_params_ : dict
        ``{"p": p}`` if that metric is 'minkowski', and `metric_params`.
    effective_algorithm_ : str
        'brute' or 'kd_tree'.
    categorical_features_ : ndarray of int64
        The nominal columns, if the metric supports any.
    levels_, level_offsets_ : ndarray
        The categories of the nominal columns, and the start of those of each column.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat y(x) = \frac{\sum_{j \in N_k(x)} w_j y_j}{\sum_{j \in N_k(x)} w_j},
              \qquad w_j = 1 \text{ or } 1 / \|x - x_j\|_p

    :math:`N_k(x)` are the k rows smallest by (distance, row number), so ties go to the earlier
    training row. With weights by distance, neighbours at distance 0 alone determine the mean.
    Distances of float32 data are float64 sums; float32 rows are kept as float32. O(1) to fit; the
    first search builds the index. Deterministic.

    Kernels use :math:`u_j = d_j / d_{k+1}`: gaussian :math:`e^{-u^2/2}`, epanechnikov :math:`1 -
    u^2`, triangular :math:`1 - u`. (If all training rows are neighbours, :math:`d_k` is used
    instead of :math:`d_{k+1}`; if all weights would be 0, they are equal.)

    There is no `sample_weight`, as in scikit-learn: a row of weight 2 would have to count as two of
    the k neighbours, and there is no accepted definition for other weights.

    All parameters are read at prediction, so `set_params` needs no new fit.

    See Also
    --------
    KNeighborsClassifier : The same for classes.

    Examples
    --------
    >>> from assay.neighbors import KNeighborsRegressor
    >>> model = KNeighborsRegressor(2).fit([[0], [1], [2], [3]], [0.0, 1.0, 4.0, 9.0])
    >>> model.predict([[0.4], [2.6]]).tolist()
    [0.5, 6.5]
    """

    model_id: ClassVar[int | None] = 111
    assay_path: ClassVar[NeighborPath] = NeighborPath()
    stored = declared(values_=Array("n_samples_fit_ | n_samples_fit_, outputs"))

    def __init__(
        self,
        n_neighbors: int | str = 5,
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
        self.n_neighbors = n_neighbors
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
        KNeighborsRegressor
            The fitted model.
        """
        resolve(vars(self))
        self._clear_cache()
        rows, values, _ = self._fit_data(X, y, multi_output=True)
        self._keep_rows(rows)
        self.values_ = values
        return self

    def predict(self, X: ArrayLike | None) -> NDArray[np.float64]:
        """Return the mean target of the neighbours of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None
            The rows. None: the training rows, each without itself as a neighbour (leave-one-out).

        Returns
        -------
        ndarray of float64 of shape (n_queries,) or (n_queries, n_outputs)
        """
        check_is_fitted(self)
        parts: list[NDArray[np.float64]] = []
        for distance, index, plan in self._each_chunk(X, outputs=self.values_[0].size):
            weights = vote_weights(distance, plan.weights, plan.k)
            parts += means(self.values_[index[:, : plan.k]], weights, [plan.k])
        return np.concatenate(parts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
