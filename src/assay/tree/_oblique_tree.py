"""Trees whose splits may be oblique: a weighted sum of columns against a threshold."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from assay.base import Classifier, Estimator, Regressor, check_interval, check_option, draw_seed
from assay.base.stored import Array, Count, Integers, declared, each, ensure
from assay.tree._oblique_grow import ObliqueOptions, grow, scores

_CHUNK = 8192  # rows predicted at a time


class _Oblique(Estimator):
    """Base class of the two estimators: checks, prediction and state."""

    takes_missing: ClassVar[bool] = True
    stored = declared(
        leaf_value_=Array("leaves, outputs"),
        split_threshold_=Array("leaves-1"),
        **each("split_weight_ split_fill_", Array("leaves-1, features")),
        **each("node_left_ node_slot_", Integers("2*leaves-1", 0)),
    )

    def _options(self, criterion: str) -> ObliqueOptions:
        check_interval("max_depth", self.max_depth, 1, integer=True, options=[None])
        check_interval("min_samples_split", self.min_samples_split, 2, integer=True)
        check_interval("min_samples_leaf", self.min_samples_leaf, 1, integer=True)
        check_interval("min_impurity_decrease", self.min_impurity_decrease, 0.0, open_high=True)
        check_interval("n_restarts", self.n_restarts, 0, integer=True)
        return ObliqueOptions(
            criterion,
            self.max_depth,
            self.min_samples_split,
            self.min_samples_leaf,
            self.min_impurity_decrease,
            self.n_restarts,
            draw_seed(self.random_state),
        )

    def _grow(
        self,
        rows: NDArray[Any],
        targets: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        options: ObliqueOptions,
    ) -> None:
        weight = np.ones(len(rows)) if weight is None else weight
        used = weight > 0
        rows, weight = rows[used].astype(np.float64), weight[used]
        tree = grow(rows, targets[used] * weight[:, None], weight, options)
        self.node_left_, self.node_slot_ = tree.left, tree.slot
        self.split_weight_, self.split_threshold_ = tree.weight, tree.threshold
        self.split_fill_, self.leaf_value_ = tree.fill, tree.value

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the index of the leaf node that each row reaches.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of int64 of shape (n_queries,)
        """
        rows = self._predict_data(X).astype(np.float64)
        node = np.zeros(len(rows), dtype=np.int64)
        for begin in range(0, len(rows), _CHUNK):
            self._walk(rows[begin : begin + _CHUNK], node[begin : begin + _CHUNK])
        return node

    def get_depth(self) -> int:
        """Return the depth of the tree: the largest number of splits above a leaf."""
        depth = np.zeros(len(self.node_left_), dtype=np.int64)
        for node in np.flatnonzero(self.node_left_):
            left = self.node_left_[node]
            depth[left : left + 2] = depth[node] + 1
        return int(depth.max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return len(self.leaf_value_)

    def _walk(self, rows: NDArray[np.float64], node: NDArray[np.int64]) -> None:
        active = np.arange(len(rows))
        while True:
            active = active[self.node_left_[node[active]] > 0]
            if not active.size:
                return
            at = node[active]
            line = self.node_slot_[at].astype(np.int64)
            along = scores(rows[active], self.split_weight_, self.split_fill_, line)
            node[active] = self.node_left_[at] + ~(along <= self.split_threshold_[line])

    def _leaf_values(self, X: ArrayLike) -> NDArray[np.float64]:
        node = self.apply(X)
        return self.leaf_value_[self.node_slot_[node]]

    def _check_more(self) -> None:
        left, inner = self.node_left_, self.node_left_ > 0
        n_leaves = len(self.leaf_value_)
        # Breadth first: the k-th inner node has children 2k + 1 and 2k + 2.
        sound = (
            np.array_equal(left[inner], 2 * np.arange(n_leaves - 1) + 1)
            and (left > np.arange(len(left)))[inner].all()
            and np.array_equal(self.node_slot_[inner], np.arange(n_leaves - 1))
            and np.array_equal(self.node_slot_[~inner], np.arange(n_leaves))
        )
        ensure(sound, f"the nodes of {type(self).__name__} are not a tree")


class ObliqueTreeClassifier(Classifier, _Oblique):
    r"""Decision tree classifier whose splits are hyperplanes (OC1).

    Parameters
    ----------
    criterion : {'gini', 'entropy'}, default='gini'
        Impurity that splits reduce.
    max_depth : int >= 1 or None, default=None
        Maximum depth of the tree. Larger values fit more closely and overfit more easily.
    min_samples_split : int >= 2, default=2
        Minimum number of rows of a node to be split. Larger values give smaller trees.
    min_samples_leaf : int >= 1, default=1
        Minimum number of rows on each side of a split. Larger values give smaller trees.
    min_impurity_decrease : float >= 0, default=0.0
        Minimum decrease of impurity of a split, weighted by the node's share of the weight. Larger
        values give smaller trees.
    n_restarts : int >= 0, default=2
        Number of random starting directions for the search. Larger values may find better splits
        but take longer.
    random_state : int, RandomState or None, default=None
        Seed for the random directions.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    node_left_ : ndarray of int32 of shape (n_nodes,)
        0 at a leaf; else the left child, for ``w'x <= r``. The right child is the next node.
    node_slot_ : ndarray of int32 of shape (n_nodes,)
        Index of the split or of the leaf value.
    split_weight_ : ndarray of float64 of shape (n_splits, n_features_in_)
        The weights w of the splits.
    split_threshold_ : ndarray of float64 of shape (n_splits,)
        The thresholds r.
    split_fill_ : ndarray of float64 of shape (n_splits, n_features_in_)
        Column means of the node, which replace missing values.
    leaf_value_ : ndarray of float64 of shape (n_leaves, n_classes)
        Class shares of the leaves.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    A node sends a row to the left if

    .. math:: w^\top x \le r .

    Candidates for w, on columns standardised within the node: each single column; Fisher's
    discriminant of each class against the others,
    :math:`(S_W + \lambda I)^{-1}(\mu_c - \bar\mu)`; logistic regression when there are two
    classes; and the best of these and random directions, improved by the coordinate search of
    OC1 (Murthy, Kasif and Salzberg, 1994): with all other weights fixed, the best value of one
    weight is found by one sort. The split with the smallest impurity is used; ties go to a single
    column, and a node with at most 2d rows may only use single columns. O(n d^2) per depth for the
    discriminants; the coordinate search uses at most 512 rows of a node.

    Numeric columns only: encode nominal ones first. A missing value is replaced by the mean of the
    node. Random choices depend only on the seed and the path to the node: the tree cut at depth k
    is the tree grown with ``max_depth=k``.

    See Also
    --------
    ObliqueTreeRegressor : The same for a numeric target.

    Examples
    --------
    A diagonal boundary needs one oblique split, but many splits on single columns.

    >>> import numpy as np
    >>> from assay.tree import ObliqueTreeClassifier
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> y = X[:, 0] + X[:, 1] > 1
    >>> model = ObliqueTreeClassifier(random_state=0).fit(X, y)
    >>> model.get_n_leaves(), model.score(X, y)
    (2, 1.0)
    """

    model_id: ClassVar[int | None] = 123
    stored = declared(leaf_value_=Array("leaves, classes"))

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        min_impurity_decrease: float = 0.0,
        n_restarts: int = 2,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.n_restarts = n_restarts
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library. NaN is a missing value.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a row of weight 2 counts as two rows.

        Returns
        -------
        ObliqueTreeClassifier
            The fitted model.
        """
        check_option("criterion", self.criterion, ["gini", "entropy"])
        options = self._options(self.criterion)
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        self._grow(rows, np.eye(len(self.classes_))[codes], weight, options)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with the largest share in the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the class shares in the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_queries, n_classes)
            Columns in the order of `classes_`.
        """
        return self._leaf_values(X)


class ObliqueTreeRegressor(Regressor, _Oblique):
    r"""Regression tree whose splits are hyperplanes (OC1).

    Parameters
    ----------
    max_depth : int >= 1 or None, default=None
        Maximum depth of the tree. Larger values fit more closely and overfit more easily.
    min_samples_split : int >= 2, default=2
        Minimum number of rows of a node to be split. Larger values give smaller trees.
    min_samples_leaf : int >= 1, default=1
        Minimum number of rows on each side of a split. Larger values give smaller trees.
    min_impurity_decrease : float >= 0, default=0.0
        Minimum decrease of variance of a split, weighted by the node's share of the weight. Larger
        values give smaller trees.
    n_restarts : int >= 0, default=2
        Number of random starting directions for the search. Larger values may find better splits
        but take longer.
    random_state : int, RandomState or None, default=None
        Seed for the random directions.

    Attributes
    ----------
    node_left_ : ndarray of int32 of shape (n_nodes,)
        0 at a leaf; else the left child, for ``w'x <= r``. The right child is the next node.
    node_slot_ : ndarray of int32 of shape (n_nodes,)
        Index of the split or of the leaf value.
    split_weight_ : ndarray of float64 of shape (n_splits, n_features_in_)
        The weights w of the splits.
    split_threshold_ : ndarray of float64 of shape (n_splits,)
        The thresholds r.
    split_fill_ : ndarray of float64 of shape (n_splits, n_features_in_)
        Column means of the node, which replace missing values.
    leaf_value_ : ndarray of float64 of shape (n_leaves, n_outputs)
        Mean targets of the leaves.
    n_outputs_ : int
        Number of targets; 0 if y had one dimension.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    A node sends a row to the left if :math:`w^\top x \le r`, and w and r reduce the variance

    .. math:: \frac{1}{N} \sum_{i \in L} (y_i - \bar y_L)^2 + \frac{1}{N} \sum_{i \in R}
              (y_i - \bar y_R)^2 .

    Candidates for w, on columns standardised within the node: each single column; the weights of
    a ridge regression, and of a logistic regression of large against small targets; and the best
    of these and random directions, improved by the coordinate search of OC1 (Murthy, Kasif and
    Salzberg, 1994). Ties go to a single column, and a node with at most 2d rows may only use single
    columns. With several targets their variances are added.

    Numeric columns only: encode nominal ones first. A missing value is replaced by the mean of the
    node. Random choices depend only on the seed and the path to the node.

    See Also
    --------
    ObliqueTreeClassifier : The same for classes.
    ModelTreeRegressor : Splits on single columns, linear models in the leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.tree import ObliqueTreeRegressor
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, 5.0, 3.0)
    >>> model = ObliqueTreeRegressor(random_state=0).fit(X, y)
    >>> model.get_n_leaves(), model.predict([[0.1, 0.2], [0.9, 0.8]]).tolist()
    (2, [3.0, 5.0])
    """

    model_id: ClassVar[int | None] = 124
    stored = declared(n_outputs_=Count())

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        min_impurity_decrease: float = 0.0,
        n_restarts: int = 2,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.n_restarts = n_restarts
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library. NaN is a missing value.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a row of weight 2 counts as two rows.

        Returns
        -------
        ObliqueTreeRegressor
            The fitted model.
        """
        options = self._options("squared_error")
        rows, values, weight = self._fit_data(X, y, sample_weight, multi_output=True)
        self.n_outputs_ = values.shape[1] if values.ndim == 2 else 0
        self._grow(rows, values.reshape(len(values), -1), weight, options)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the mean target in the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_queries,) or (n_queries, n_outputs)
        """
        values = self._leaf_values(X)
        return values if self.n_outputs_ else values[:, 0]

    def _check_more(self) -> None:
        fits = self.leaf_value_.shape[1] == max(1, self.n_outputs_)
        ensure(fits, "leaf_value_ does not fit n_outputs_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
