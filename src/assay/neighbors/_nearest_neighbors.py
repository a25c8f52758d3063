"""Exact nearest-neighbour search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from assay.base import check_interval
from assay.base.stored import Array, Count, declared
from assay.neighbors._metric import Metric
from assay.neighbors._radius_search import RadiusSearch
from assay.neighbors._search import NeighborSearch, Plan, resolve


class NearestNeighbors(NeighborSearch, RadiusSearch):
    r"""Search for the nearest training rows, or for all within a radius.

    Parameters
    ----------
    n_neighbors : int or 'sqrt', default=5
        Number k of neighbours. 'sqrt': the odd integer closest to the square root of the number of
        training rows (the larger of two equally close).
    radius : float >= 0, default=1.0
        Radius used by `radius_neighbors`.
    algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'}, default='auto'
        Search algorithm; the result is the same, bit for bit. 'auto' chooses, see
        `effective_algorithm_`. 'ball_tree' is an alias of 'kd_tree': one tree supports every
        metric.
    leaf_size : int, default=30
        Maximum number of rows in a leaf of the search tree. Affects only speed.
    metric : str or callable, default='minkowski'
        The distance: 'minkowski', 'euclidean', 'manhattan', 'chebyshev', 'seuclidean',
        'mahalanobis', 'cosine', 'hamming', 'weighted_hamming', 'mixed', or a function of two rows
        (slow). The last three names support nominal columns and missing values.
    p : float >= 1, default=2
        Exponent of 'minkowski': 1 Manhattan, 2 Euclidean, infinity Chebyshev.
    metric_params : dict, default=None
        Further parameters of the metric. 'w': a weight per column, for Minkowski, Hamming and mixed
        distances. 'V': variances for 'seuclidean', covariance for 'mahalanobis', or its inverse
        'VI'; by default those of the training rows. 'similarity': for 'weighted_hamming' and
        'mixed', a dict from columns to matrices of similarities between categories (in the order of
        `levels_`). 'ordinal': for 'mixed', the columns compared by rank.
    categorical_features : {'from_dtype'}, array-like of str, int or bool, or None, default=None
        Nominal columns for 'mixed', by name, number or boolean mask; 'from_dtype' takes the text
        and categorical columns of a dataframe.
    n_jobs : int, default=None
        Threads for the search; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    rows_ : ndarray of shape (n_samples_fit_, n_features_in_)
        The training rows; not copied if X was a C-ordered float array. Nominal columns are stored
        as codes.
    n_samples_fit_ : int
        Number of training rows.
    n_neighbors_ : int
        Number of neighbours in use.
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
    .. math:: \|a - b\|_p = \left(\sum_j w_j |a_j - b_j|^p\right)^{1/p}, \qquad
              d_{\text{mixed}}(a, b) = \frac{\sum_j w_j \delta_j t_j}{\sum_j w_j \delta_j}

    In the mixed distance :math:`\delta_j` is 1 where both rows have a value in column j, else 0;
    :math:`t_j` is the difference divided by the range of the column in the training rows; for an
    ordinal column the same for ranks; for a nominal one 0 or 1 (or 1 minus a given similarity).
    Rows without a common known column have distance 1.

    The neighbours are the rows smallest by (distance, row number), so ties go to the earlier
    training row. Deterministic.

    See Also
    --------
    KNeighborsClassifier : Classification by the neighbours.

    Examples
    --------
    >>> from assay.neighbors import NearestNeighbors
    >>> search = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [5.0]])
    >>> search.kneighbors([[0.9]])[1].tolist()
    [[1, 0]]
    >>> search.radius_neighbors([[0.4]], radius=0.5, return_distance=False)[0].tolist()
    [0]
    """

    model_id: ClassVar[int | None] = 112
    stored = declared(
        n_samples_fit_=Count(1), rows_=Array("n_samples_fit_, features", finite=False)
    )

    def __init__(
        self,
        *,
        n_neighbors: int | str = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Metric = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        categorical_features: ArrayLike | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Store the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : object, default=None
            Not used.

        Returns
        -------
        NearestNeighbors
            The fitted model.
        """
        resolve(vars(self))
        check_interval("radius", self.radius, 0)
        self._clear_cache()
        rows = self._fit_rows(X)
        # Stored so that missing rows in a model file are detected.
        self.n_samples_fit_ = len(rows)
        self._keep_rows(rows)
        return self

    def _plan(self) -> Plan:
        check_is_fitted(self)
        self._check_coding()
        # `n_neighbors` is checked against the rows in `kneighbors`: a radius search does not use
        # it.
        return resolve({**vars(self), "n_neighbors": 1}, len(self.rows_))
