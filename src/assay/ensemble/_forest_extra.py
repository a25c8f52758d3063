"""Extra-trees: forests with random thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from assay.ensemble._forest_path import ForestPath
from assay.ensemble._forest_task import ForestClassifier, ForestRegressor


class ExtraTreesClassifier(ForestClassifier):
    r"""Combine many trees whose thresholds are drawn at random.

    Parameters
    ----------
    n_estimators : int or 'oob', default=100
        Number of trees. More is slower but never less accurate. 'oob': trees are added until the
        out-of-bag error stops improving, see Notes.
    criterion : {'gini', 'entropy', 'log_loss', 'error'}, default='gini'
        Impurity that splits reduce. 'log_loss' is the same as 'entropy'; 'error' is the share of
        rows outside the largest class.
    max_depth : int, default=None
        Maximum depth of each tree; None = no limit.
    min_samples_split : int or float, default=2
        Minimum number of rows to split a node; a float is a fraction of the rows.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in a leaf; a float is a fraction of the rows. Larger values give
        smoother predictions.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight in a leaf.
    max_features : {'sqrt', 'log2'}, int, float or None, default='sqrt'
        Columns tried per split: the square root or logarithm of their number, a number, a fraction,
        or all (None). Smaller values give more diverse but weaker trees.
    max_leaf_nodes : int, default=None
        Maximum number of leaves of a tree, grown by largest gain first. None = no limit.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of impurity for a split, weighted by the node's share of the rows.
    bootstrap : bool, default=False
        Whether each tree is grown on a sample of the rows drawn with replacement, or on all rows.
    oob_score : bool or callable, default=False
        Whether to estimate the accuracy on out-of-bag rows: each row is predicted by the trees that
        were not grown on it. A function of true and predicted targets replaces the accuracy; such a
        model cannot be saved. Needs `bootstrap`.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of all random choices. None: different at each fit.
    verbose : int, default=0
        If above 0, progress is printed.
    warm_start : bool, default=False
        Whether `fit` keeps the existing trees and adds more up to `n_estimators`, on the same
        table.
    class_weight : {'balanced', 'balanced_subsample'}, dict or None, default=None
        Weights of the classes: inversely proportional to their numbers of rows, in the table or in
        the sample of each tree; or a dict from label to weight.
    ccp_alpha : float, default=0.0
        Penalty per leaf in minimal cost-complexity pruning. Larger values give smaller trees; 0 =
        no pruning.
    max_samples : int, float or None, default=None
        Rows drawn for each tree: a number, or a fraction of all rows. None = as many as the table
        has. Smaller values give more diverse but weaker trees. Needs `bootstrap`.
    monotonic_cst : array-like of int of shape (n_features,), default=None
        Per column: 1 = the prediction may only rise with it, -1 = only fall, 0 = no constraint. Two
        classes only; applies to the probability of the second class.
    combine : {'mean', 'vote', 'product'}, default='mean'
        How the trees are combined: mean of their probabilities; share of the trees that vote for
        the class; normalised product of their probabilities (naive Bayes). See Notes.
    max_bins : int, default=255
        Maximum number of bins per column. Columns with at most this many distinct values are split
        exactly; so are all others in nodes of at most 512 rows if the rows have equal weights.
    categorical_features : array-like or 'from_dtype', default='from_dtype'
        Nominal columns: names, indices or a boolean mask; 'from_dtype' takes the categorical and
        text columns of a dataframe.
    oob_tol : float, default=0.001
        With ``n_estimators='oob'``: minimum improvement of the error for adding more trees.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    n_estimators_ : int
        Number of trees.
    feature_importances_ : ndarray of float64 of shape (n_features_in_,)
        Mean impurity decrease by column (MDI), summing to 1. It favours columns with many values;
        `permutation_importance_oob` does not.
    oob_decision_function_ : ndarray of float64 of shape (n_samples, n_classes)
        Out-of-bag probabilities, if `oob_score`; NaN for rows that every tree was grown on.
    oob_score_ : float
        Out-of-bag accuracy, if `oob_score`.
    tree_start_ : ndarray of int64 of shape (n_estimators_ + 1,)
        Index of the first node of each tree.
    node_left_, node_feature_, node_threshold_, node_missing_left_, node_slot_ : ndarray
        The nodes of all trees: first child (0 = leaf), column, threshold, where missing values go,
        and the index of the leaf value or category set.
    level_words_, leaf_value_ : ndarray
        Sets of categories as bits, and the leaf values; leaves may share a row.
    importance_sum_ : ndarray of float64 of shape (n_features_in_,)
        Impurity decrease by column, summed over the trees.
    seed_ : int
        The seed drawn from `random_state`.
    n_samples_, n_draws_ : int
        Training rows, and rows drawn for each tree (0: all of them, once).
    categorical_features_, levels_, level_offsets_ : ndarray
        Nominal columns and their categories.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat P(c \mid x) = \frac1T \sum_t p_t(c), \qquad
              \frac1T \sum_t [c = \arg\max p_t], \qquad
              \propto \exp(\frac1T \sum_t \log p_t(c))

    for `combine` = 'mean', 'vote' and 'product', where :math:`p_t` are the class shares in the leaf
    that x reaches in tree t. With the product, one very confident tree can overrule the others; it
    differs from a vote only if leaves are impure (`min_samples_leaf`, `max_depth`).

    Each tree is grown on all rows. At each split, `max_features` columns are drawn, for each of
    them one threshold between the smallest and the largest value in the node, and the best of these
    splits is taken (Geurts, Ernst and Wehenkel, 2006). The categories of a nominal column are
    ordered by their codes or, with probability 1/2, by the share of a class (or the mean target),
    and cut at a random place; missing values count as a category. In a numeric column, missing
    values go with the larger part of the rows, as a value in the middle would; categories unseen in
    fit go to the same side. O(T n log n m) for m columns per split. The same seed gives the same
    trees for any `n_jobs`, and tree t does not depend on the number of trees.

    ``n_estimators='oob'``: batches of 25 trees are grown until the out-of-bag error (share of
    misclassified rows) has not improved by more than `oob_tol` for three batches; at most 1000
    trees.

    See Also
    --------
    RandomForestClassifier : The best threshold, samples of the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from assay.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ExtraTreesClassifier(50, random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    """

    model_id: ClassVar[int | None] = 142
    _splitter: ClassVar[str] = "random"
    assay_path: ClassVar[ForestPath] = ForestPath()

    def __init__(
        self,
        n_estimators: int | str = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[[Any, Any], float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: str | Mapping[Any, float] | None = None,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: ArrayLike | None = None,
        combine: str = "mean",
        max_bins: int = 255,
        categorical_features: ArrayLike | str | None = "from_dtype",
        oob_tol: float = 1e-3,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.combine = combine
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.oob_tol = oob_tol


class ExtraTreesRegressor(ForestRegressor):
    r"""Average many trees whose thresholds are drawn at random.

    Parameters
    ----------
    n_estimators : int or 'oob', default=100
        Number of trees. More is slower but never less accurate. 'oob': trees are added until the
        out-of-bag error stops improving, see Notes.
    criterion : str, default='squared_error'
        Impurity that splits reduce: 'squared_error'; 'friedman_mse', Friedman's improvement score;
        'poisson', for counts; 'absolute_error', slow on large tables.
    max_depth : int, default=None
        Maximum depth of each tree; None = no limit.
    min_samples_split : int or float, default=2
        Minimum number of rows to split a node; a float is a fraction of the rows.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in a leaf; a float is a fraction of the rows. Larger values give
        smoother predictions.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight in a leaf.
    max_features : {'sqrt', 'log2'}, int, float or None, default=1.0
        Columns tried per split: the square root or logarithm of their number, a number, a fraction,
        or all (None). Smaller values give more diverse but weaker trees.
    max_leaf_nodes : int, default=None
        Maximum number of leaves of a tree, grown by largest gain first. None = no limit.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of impurity for a split, weighted by the node's share of the rows.
    bootstrap : bool, default=False
        Whether each tree is grown on a sample of the rows drawn with replacement, or on all rows.
    oob_score : bool or callable, default=False
        Whether to estimate R2 on out-of-bag rows: each row is predicted by the trees that were not
        grown on it. A function of true and predicted targets replaces R2; such a model cannot be
        saved. Needs `bootstrap`.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of all random choices. None: different at each fit.
    verbose : int, default=0
        If above 0, progress is printed.
    warm_start : bool, default=False
        Whether `fit` keeps the existing trees and adds more up to `n_estimators`, on the same
        table.
    ccp_alpha : float, default=0.0
        Penalty per leaf in minimal cost-complexity pruning. Larger values give smaller trees; 0 =
        no pruning.
    max_samples : int, float or None, default=None
        Rows drawn for each tree: a number, or a fraction of all rows. None = as many as the table
        has. Smaller values give more diverse but weaker trees. Needs `bootstrap`.
    monotonic_cst : array-like of int of shape (n_features,), default=None
        Per column: 1 = the prediction may only rise with it, -1 = only fall, 0 = no constraint. One
        output only.
    max_bins : int, default=255
        Maximum number of bins per column. Columns with at most this many distinct values are split
        exactly; so are all others in nodes of at most 512 rows if the rows have equal weights.
    categorical_features : array-like or 'from_dtype', default='from_dtype'
        Nominal columns: names, indices or a boolean mask; 'from_dtype' takes the categorical and
        text columns of a dataframe.
    oob_tol : float, default=0.001
        With ``n_estimators='oob'``: minimum improvement of the error for adding more trees.

    Attributes
    ----------
    n_outputs_ : int
        Number of targets.
    n_estimators_ : int
        Number of trees.
    feature_importances_ : ndarray of float64 of shape (n_features_in_,)
        Mean impurity decrease by column (MDI), summing to 1. It favours columns with many values;
        `permutation_importance_oob` does not.
    oob_prediction_ : ndarray of float64 of shape (n_samples,) or (n_samples, n_outputs)
        Out-of-bag predictions, if `oob_score`; NaN for rows that every tree was grown on.
    oob_score_ : float
        Out-of-bag R2, if `oob_score`.
    tree_start_ : ndarray of int64 of shape (n_estimators_ + 1,)
        Index of the first node of each tree.
    node_left_, node_feature_, node_threshold_, node_missing_left_, node_slot_ : ndarray
        The nodes of all trees: first child (0 = leaf), column, threshold, where missing values go,
        and the index of the leaf value or category set.
    level_words_, leaf_value_ : ndarray
        Sets of categories as bits, and the leaf values; leaves may share a row.
    importance_sum_ : ndarray of float64 of shape (n_features_in_,)
        Impurity decrease by column, summed over the trees.
    seed_ : int
        The seed drawn from `random_state`.
    n_samples_, n_draws_ : int
        Training rows, and rows drawn for each tree (0: all of them, once).
    categorical_features_, levels_, level_offsets_ : ndarray
        Nominal columns and their categories.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat y(x) = \frac1T \sum_t \bar y_t(x)

    where :math:`\bar y_t(x)` is the mean target in the leaf that x reaches in tree t (for
    ``criterion='absolute_error'`` the median).

    Each tree is grown on all rows. At each split, `max_features` columns are drawn, for each of
    them one threshold between the smallest and the largest value in the node, and the best of these
    splits is taken (Geurts, Ernst and Wehenkel, 2006). The categories of a nominal column are
    ordered by their codes or, with probability 1/2, by the share of a class (or the mean target),
    and cut at a random place; missing values count as a category. In a numeric column, missing
    values go with the larger part of the rows, as a value in the middle would; categories unseen in
    fit go to the same side. O(T n log n m) for m columns per split. The same seed gives the same
    trees for any `n_jobs`, and tree t does not depend on the number of trees.

    ``n_estimators='oob'``: batches of 25 trees are grown until the out-of-bag error (squared error
    over variance) has not improved by more than `oob_tol` for three batches; at most 1000 trees.

    See Also
    --------
    RandomForestRegressor : The best threshold, samples of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.ensemble import ExtraTreesRegressor
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> model = ExtraTreesRegressor(50, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.57], [4.71]]).round(1).tolist()
    [1.0, -1.0]
    """

    model_id: ClassVar[int | None] = 143
    _splitter: ClassVar[str] = "random"
    assay_path: ClassVar[ForestPath] = ForestPath()

    def __init__(
        self,
        n_estimators: int | str = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[[Any, Any], float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: ArrayLike | None = None,
        max_bins: int = 255,
        categorical_features: ArrayLike | str | None = "from_dtype",
        oob_tol: float = 1e-3,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.oob_tol = oob_tol
