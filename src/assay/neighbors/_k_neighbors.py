"""Classification and regression by the k nearest training rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from assay.base import Classifier, Regressor, check_array_state
from assay.neighbors._path import ClassifierPath, RegressorPath
from assay.neighbors._search import NeighborSearch, resolve
from assay.neighbors._vote import class_shares, means, vote_weights


class KNeighborsClassifier(Classifier, NeighborSearch):
    r"""Give each row the class that most of its nearest training rows have.

    Parameters
    ----------
    n_neighbors : int or 'sqrt', default=5
        Number k of neighbours that vote. 'sqrt': the odd integer nearest to the square root of the
        number of training rows (of two equally near, the larger).
    weights : {'uniform', 'distance'} or callable, default='uniform'
        Weight of a neighbour's vote: all equal; by inverse distance; or a function from an array of
        distances (n_queries, k) to weights of the same shape. A model with a function can predict
        but not be saved.
    algorithm : {'auto', 'brute'}, default='auto'
        How neighbours are found; both mean exact brute force.
    p : float >= 1, default=2
        Exponent of the Minkowski metric: 1 Manhattan, 2 Euclidean, infinity Chebyshev.
    metric : {'minkowski', 'euclidean', 'manhattan', 'chebyshev'}, default='minkowski'
        The distance. Only 'minkowski' looks at `p`.
    n_jobs : int, default=None
        Threads for the search; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    rows_ : ndarray of shape (n_samples_fit_, n_features_in_)
        The training rows; not a copy when they came as a C-ordered float array.
    codes_ : ndarray of int64 of shape (n_samples_fit_,)
        The training labels as positions in `classes_`.
    n_neighbors_ : int
        Number of neighbours in use.
    n_samples_fit_ : int
        Number of training rows.
    effective_metric_ : str
        The metric in use, by its plainest name.
    effective_metric_params_ : dict
        ``{"p": p}`` when that metric is 'minkowski', else empty.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat P(c \mid x) = \frac{\sum_{j \in N_k(x)} w_j [y_j = c]}{\sum_{j \in N_k(x)} w_j},
              \qquad w_j = 1 \text{ or } 1 / \|x - x_j\|_p

    :math:`N_k(x)` are the k rows smallest by (distance, row number), so ties are broken by the
    order of the training rows, and a tied vote goes to the first class. Rows at distance 0 outvote
    all others when weights are by distance. O(1) to fit, O(n d) for each row to predict.
    Distances of float32 data are float64 sums; float32 rows are kept as float32. Deterministic.

    There is no `sample_weight`, as in scikit-learn: a row of weight 2 would have to count as two of
    the k neighbours, and no agreed meaning exists for other weights.

    Every parameter but X and y is read at prediction; `set_params` needs no new fit.

    See Also
    --------
    KNeighborsRegressor : The mean of the neighbours' values instead of their vote.

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
    assay_path: ClassVar[ClassifierPath] = ClassifierPath()

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Keep the training rows and their classes.

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
        rows, codes, _ = self._fit_data(X, y)
        resolve(vars(self), len(rows))
        self.rows_, self.codes_ = rows, codes
        return self

    def predict(self, X: ArrayLike | None) -> NDArray[Any]:
        """Return the class with the largest share among the neighbours of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None
            The rows. None: the training rows, none of which is its own neighbour (leave-one-out).

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
            The rows. None: the training rows, none of which is its own neighbour (leave-one-out).

        Returns
        -------
        ndarray of float64 of shape (n_queries, n_classes)
            Columns in the order of `classes_`.
        """
        check_is_fitted(self)
        parts: list[NDArray[np.float64]] = []
        for distance, index, plan in self._each_chunk(X, classes=len(self.classes_)):
            weights = vote_weights(distance, plan.weights)
            parts += class_shares(self.codes_[index], weights, len(self.classes_), [plan.k])
        return np.concatenate(parts)

    def _check_state(self) -> None:
        super()._check_state()
        last = len(self.classes_) - 1
        check_array_state(self, "codes_", "i", (self.n_samples_fit_,), low=0, high=last)


class KNeighborsRegressor(Regressor, NeighborSearch):
    r"""Predict the mean target of the nearest training rows.

    Parameters
    ----------
    n_neighbors : int or 'sqrt', default=5
        Number k of neighbours that are averaged. 'sqrt': the odd integer nearest to the square root
        of the number of training rows (of two equally near, the larger).
    weights : {'uniform', 'distance'} or callable, default='uniform'
        Weight of a neighbour in the mean: all equal; by inverse distance; or a function from an
        array of distances (n_queries, k) to weights of the same shape. A model with a function can
        predict but not be saved.
    algorithm : {'auto', 'brute'}, default='auto'
        How neighbours are found; both mean exact brute force.
    p : float >= 1, default=2
        Exponent of the Minkowski metric: 1 Manhattan, 2 Euclidean, infinity Chebyshev.
    metric : {'minkowski', 'euclidean', 'manhattan', 'chebyshev'}, default='minkowski'
        The distance. Only 'minkowski' looks at `p`.
    n_jobs : int, default=None
        Threads for the search; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    rows_ : ndarray of shape (n_samples_fit_, n_features_in_)
        The training rows; not a copy when they came as a C-ordered float array.
    values_ : ndarray of float64 of shape (n_samples_fit_,) or (n_samples_fit_, n_outputs)
        The training targets.
    n_neighbors_ : int
        Number of neighbours in use.
    n_samples_fit_ : int
        Number of training rows.
    effective_metric_ : str
        The metric in use, by its plainest name.
    effective_metric_params_ : dict
        ``{"p": p}`` when that metric is 'minkowski', else empty.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat y(x) = \frac{\sum_{j \in N_k(x)} w_j y_j}{\sum_{j \in N_k(x)} w_j},
              \qquad w_j = 1 \text{ or } 1 / \|x - x_j\|_p

    :math:`N_k(x)` are the k rows smallest by (distance, row number), so ties are broken by the
    order of the training rows. Rows at distance 0 count alone when weights are by distance.
    O(1) to fit, O(n d) for each row to predict. Distances of float32 data are float64 sums; float32
    rows are kept as float32. Deterministic.

    There is no `sample_weight`, as in scikit-learn: a row of weight 2 would have to count as two of
    the k neighbours, and no agreed meaning exists for other weights.

    Every parameter but X and y is read at prediction; `set_params` needs no new fit.

    See Also
    --------
    KNeighborsClassifier : The vote of the neighbours instead of their mean.

    Examples
    --------
    >>> from assay.neighbors import KNeighborsRegressor
    >>> model = KNeighborsRegressor(2).fit([[0], [1], [2], [3]], [0.0, 1.0, 4.0, 9.0])
    >>> model.predict([[0.4], [2.6]]).tolist()
    [0.5, 6.5]
    """

    model_id: ClassVar[int | None] = 111
    assay_path: ClassVar[RegressorPath] = RegressorPath()

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Keep the training rows and their targets.

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
        rows, values, _ = self._fit_data(X, y, multi_output=True)
        resolve(vars(self), len(rows))
        self.rows_, self.values_ = rows, values
        return self

    def predict(self, X: ArrayLike | None) -> NDArray[np.float64]:
        """Return the mean target of the neighbours of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None
            The rows. None: the training rows, none of which is its own neighbour (leave-one-out).

        Returns
        -------
        ndarray of float64 of shape (n_queries,) or (n_queries, n_outputs)
        """
        check_is_fitted(self)
        parts: list[NDArray[np.float64]] = []
        for distance, index, plan in self._each_chunk(X, outputs=self.values_[0].size):
            weights = vote_weights(distance, plan.weights)
            parts += means(self.values_[index], weights, [plan.k])
        return np.concatenate(parts)

    def _check_state(self) -> None:
        super()._check_state()
        several = np.ndim(getattr(self, "values_", 0)) == 2
        shape = (self.n_samples_fit_, None) if several else (self.n_samples_fit_,)
        check_array_state(self, "values_", "f", shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
