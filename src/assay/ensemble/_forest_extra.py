"""Extra-trees: forests with random thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from assay.ensemble._forest_path import ClassifierPath, RegressorPath
from assay.ensemble._forest_task import ForestClassifier, ForestRegressor


class ExtraTreesClassifier(ForestClassifier):
    r"""Let many trees vote whose thresholds are drawn at random.

    Parameters
    ----------
    n_estimators : int or 'oob', default=100
        Number of trees. 'oob': as many as the out-of-bag error asks for, see Notes.
    criterion : {'gini', 'entropy', 'log_loss', 'error'}, default='gini'
        What a split makes smaller. 'log_loss' is the entropy; 'error' the share of rows outside the
        largest class.
    max_depth : int, default=None
        Most questions on the way to a leaf; None = no limit.
    min_samples_split : int or float, default=2
        Fewest rows of a node that is split; a float is a share of the rows.
    min_samples_leaf : int or float, default=1
        Fewest rows of a leaf; a float is a share of the rows.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the weight in a leaf.
    max_features : {'sqrt', 'log2'}, int, float or None, default='sqrt'
        Columns drawn for each split: the square root or logarithm of their number, a number, a
        share, or all.
    max_leaf_nodes : int, default=None
        Most leaves of a tree; the node that gains most is then split first. None = no limit.
    min_impurity_decrease : float, default=0.0
        Least decrease of impurity, weighted by the share of rows, that is worth a split.
    bootstrap : bool, default=False
        Whether each tree sees a sample of the rows, drawn with replacement, or all of them.
    oob_score : bool or callable, default=False
        Whether to score the forest on the rows that each tree did not see; a function of true and
        predicted targets is used instead of the accuracy, and such a model cannot be saved. Needs
        `bootstrap`.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of all random choices. None: another forest at each fit.
    verbose : int, default=0
        Above 0, the number of trees is printed while they grow.
    warm_start : bool, default=False
        Whether `fit` keeps the trees that are there and adds the missing ones, on the same table.
    class_weight : {'balanced', 'balanced_subsample'}, dict or None, default=None
        Weights of the classes: inverse to their numbers of rows, in the table or in the sample of
        each tree; or a weight for each label.
    ccp_alpha : float, default=0.0
        Price of a leaf in minimal cost-complexity pruning of each tree; 0 = no pruning.
    max_samples : int, float or None, default=None
        Rows drawn for each tree, or their share; None = as many as there are. Needs `bootstrap`.
    monotonic_cst : array-like of int of shape (n_features,), default=None
        1 where the answer must not fall when the column rises, -1 where it must not rise, 0 where
        it is free. Two classes only; the probability of the second one is meant.
    combine : {'mean', 'vote', 'product'}, default='mean'
        How the trees' probabilities become one: their mean; the share of trees that vote for the
        class; their normalised product (naive Bayes). See Notes.
    max_bins : int, default=255
        Most bins per column. A column with at most as many distinct values is split exactly; so
        are the others in nodes of at most 512 rows, where rows have equal weights.
    categorical_features : array-like or 'from_dtype', default='from_dtype'
        Nominal columns: names, numbers or one boolean each; 'from_dtype' takes the categorical and
        text columns of a dataframe.
    oob_tol : float, default=0.001
        With ``n_estimators='oob'``: progress of the error that is worth further trees.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    n_estimators_ : int
        Number of trees.
    feature_importances_ : ndarray of float64 of shape (n_features_in_,)
        Mean decrease of impurity by column (MDI), summing to 1. It favours columns with many
        values; `permutation_importance_oob` does not.
    oob_decision_function_ : ndarray of float64 of shape (n_samples, n_classes)
        Probabilities from the trees that did not see the row, if `oob_score`; NaN if all did.
    oob_score_ : float
        Their accuracy, if `oob_score`.
    tree_start_ : ndarray of int64 of shape (n_estimators_ + 1,)
        Where the nodes of each tree begin.
    node_left_, node_feature_, node_threshold_, node_missing_left_, node_slot_ : ndarray
        The nodes of all trees: first child (0 = leaf), column, threshold, where missing values go,
        and the leaf value or level set.
    level_words_, leaf_value_ : ndarray
        Sets of levels, bit by bit, and what the leaves say; leaves may share a row.
    importance_sum_ : ndarray of float64 of shape (n_features_in_,)
        Sum over trees of what `feature_importances_` is the mean of.
    seed_ : int
        The seed drawn from `random_state`.
    n_samples_, n_draws_ : int
        Training rows, and rows drawn for each tree (0: all of them, once).
    categorical_features_, levels_, level_offsets_ : ndarray
        Nominal columns and their levels.
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
    that x reaches in tree t. The product lets a tree that is sure of itself overrule the others; it
    needs leaves that are not pure (`min_samples_leaf`, `max_depth`) to be more than a vote.

    Each tree sees all rows; for each of `max_features` columns drawn anew one threshold is drawn
    between the least and the largest value in the node, and the best of these splits is taken
    (Geurts, Ernst and Wehenkel, 2006). The levels of a nominal column
    are put in the order of their codes or, by a coin, of a class's share (or the mean target), and
    cut at a random place; missing values are a level of it. Of a numeric column they go with the
    greater part of the rows, as a value in their midst would, and levels unseen in fit to the same
    side. O(T n log n m) for m columns per split. The same seed gives the same trees for any
    `n_jobs`, and tree t does
    not depend on the number of trees.

    ``n_estimators='oob'``: batches of 25 trees are grown until the out-of-bag error (share of wrong
    labels) of the last three looks is not below the best earlier one by more than `oob_tol`; at
    most 1000 trees.

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
    assay_path: ClassVar[Any] = ClassifierPath()

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
        Number of trees. 'oob': as many as the out-of-bag error asks for, see Notes.
    criterion : str, default='squared_error'
        What a split makes smaller: 'squared_error'; 'friedman_mse', Friedman's improvement score;
        'poisson', for counts; 'absolute_error', slow on large tables.
    max_depth : int, default=None
        Most questions on the way to a leaf; None = no limit.
    min_samples_split : int or float, default=2
        Fewest rows of a node that is split; a float is a share of the rows.
    min_samples_leaf : int or float, default=1
        Fewest rows of a leaf; a float is a share of the rows.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the weight in a leaf.
    max_features : {'sqrt', 'log2'}, int, float or None, default=1.0
        Columns drawn for each split: the square root or logarithm of their number, a number, a
        share, or all.
    max_leaf_nodes : int, default=None
        Most leaves of a tree; the node that gains most is then split first. None = no limit.
    min_impurity_decrease : float, default=0.0
        Least decrease of impurity, weighted by the share of rows, that is worth a split.
    bootstrap : bool, default=False
        Whether each tree sees a sample of the rows, drawn with replacement, or all of them.
    oob_score : bool or callable, default=False
        Whether to score the forest on the rows that each tree did not see; a function of true and
        predicted targets is used instead of R2, and such a model cannot be saved. Needs
        `bootstrap`.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of all random choices. None: another forest at each fit.
    verbose : int, default=0
        Above 0, the number of trees is printed while they grow.
    warm_start : bool, default=False
        Whether `fit` keeps the trees that are there and adds the missing ones, on the same table.
    ccp_alpha : float, default=0.0
        Price of a leaf in minimal cost-complexity pruning of each tree; 0 = no pruning.
    max_samples : int, float or None, default=None
        Rows drawn for each tree, or their share; None = as many as there are. Needs `bootstrap`.
    monotonic_cst : array-like of int of shape (n_features,), default=None
        1 where the answer must not fall when the column rises, -1 where it must not rise, 0 where
        it is free. One output only.
    max_bins : int, default=255
        Most bins per column. A column with at most as many distinct values is split exactly; so
        are the others in nodes of at most 512 rows, where rows have equal weights.
    categorical_features : array-like or 'from_dtype', default='from_dtype'
        Nominal columns: names, numbers or one boolean each; 'from_dtype' takes the categorical and
        text columns of a dataframe.
    oob_tol : float, default=0.001
        With ``n_estimators='oob'``: progress of the error that is worth further trees.

    Attributes
    ----------
    n_outputs_ : int
        Number of targets.
    n_estimators_ : int
        Number of trees.
    feature_importances_ : ndarray of float64 of shape (n_features_in_,)
        Mean decrease of impurity by column (MDI), summing to 1. It favours columns with many
        values; `permutation_importance_oob` does not.
    oob_prediction_ : ndarray of float64 of shape (n_samples,) or (n_samples, n_outputs)
        Mean of the trees that did not see the row, if `oob_score`; NaN if all did.
    oob_score_ : float
        Their R2, if `oob_score`.
    tree_start_ : ndarray of int64 of shape (n_estimators_ + 1,)
        Where the nodes of each tree begin.
    node_left_, node_feature_, node_threshold_, node_missing_left_, node_slot_ : ndarray
        The nodes of all trees: first child (0 = leaf), column, threshold, where missing values go,
        and the leaf value or level set.
    level_words_, leaf_value_ : ndarray
        Sets of levels, bit by bit, and what the leaves say; leaves may share a row.
    importance_sum_ : ndarray of float64 of shape (n_features_in_,)
        Sum over trees of what `feature_importances_` is the mean of.
    seed_ : int
        The seed drawn from `random_state`.
    n_samples_, n_draws_ : int
        Training rows, and rows drawn for each tree (0: all of them, once).
    categorical_features_, levels_, level_offsets_ : ndarray
        Nominal columns and their levels.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \hat y(x) = \frac1T \sum_t \bar y_t(x)

    where :math:`\bar y_t(x)` is the mean target in the leaf that x reaches in tree t (for
    ``criterion='absolute_error'`` the median).

    Each tree sees all rows; for each of `max_features` columns drawn anew one threshold is drawn
    between the least and the largest value in the node, and the best of these splits is taken
    (Geurts, Ernst and Wehenkel, 2006). The levels of a nominal column
    are put in the order of their codes or, by a coin, of a class's share (or the mean target), and
    cut at a random place; missing values are a level of it. Of a numeric column they go with the
    greater part of the rows, as a value in their midst would, and levels unseen in fit to the same
    side. O(T n log n m) for m columns per split. The same seed gives the same trees for any
    `n_jobs`, and tree t does
    not depend on the number of trees.

    ``n_estimators='oob'``: batches of 25 trees are grown until the out-of-bag error (squared error
    over variance) of the last three looks is not below the best earlier one by more than `oob_tol`;
    at most 1000 trees.

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
    assay_path: ClassVar[Any] = RegressorPath()

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
