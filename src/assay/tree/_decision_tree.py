"""Classification and regression trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight

from assay.base import Classifier, DataError, ParameterError, Regressor
from assay.base.stored import Count, declared
from assay.tree._growth import Training
from assay.tree._path import TreePath
from assay.tree._single_tree import SingleTree


class DecisionTreeClassifier(Classifier, SingleTree):
    r"""Decision tree classifier (CART).

    Parameters
    ----------
    criterion : {'gini', 'entropy', 'log_loss', 'error'}, default='gini'
        Impurity of a node; 'log_loss' is 'entropy', 'error' is the share of rows not in the largest
        class.
    splitter : {'best', 'random'}, default='best'
        Use the best threshold of a column, or one drawn at random.
    max_depth : int >= 1 or None, default=None
        Maximum depth of the tree. Larger values fit more closely and overfit more easily.
    min_samples_split : int >= 2 or float in (0, 1], default=2
        Minimum number of rows of a node to be split; a float is a share of all rows. Larger values
        give smaller trees.
    min_samples_leaf : int >= 1 or float in (0, 1), default=1
        Minimum number of rows of a leaf; a float is a share of all rows. Larger values give
        smaller, smoother trees.
    min_weight_fraction_leaf : float in [0, 0.5], default=0.0
        Minimum share of the total weight in a leaf.
    max_features : int >= 1, float in (0, 1], {'sqrt', 'log2'} or None, default=None
        Number of columns tried for each split, drawn at random; None = all.
    random_state : int, RandomState or None, default=None
        Seed for random columns, random thresholds and the rows held out for pruning.
    max_leaf_nodes : int >= 2 or None, default=None
        Maximum number of leaves; nodes with the largest decrease of impurity are then split first.
    min_impurity_decrease : float >= 0, default=0.0
        Minimum decrease of impurity of a split, weighted by the share of rows. Larger values give
        smaller trees.
    class_weight : dict, 'balanced' or None, default=None
        Weight of each class; 'balanced': inversely proportional to its number of rows.
    ccp_alpha : float >= 0 or 'cv', default=0.0
        Complexity parameter of cost-complexity pruning. Larger values prune more; 0 does not prune,
        unless `prune` is set. 'cv': chosen by cross-validation.
    monotonic_cst : array-like of int of shape (n_features,) or None, default=None
        Constraint per column: 1 = the probability of the second class must not decrease with the
        column, -1 = must not increase, 0 = none. Two classes only.
    categorical_features : 'from_dtype', array-like or None, default='from_dtype'
        Nominal columns by name, number or boolean mask; 'from_dtype' takes the categorical, enum
        and text columns of a dataframe.
    missing : {'learned', 'fractional'}, default='learned'
        Where missing values go: to the side learned for each split, or to both sides with weights
        in proportion to the known rows (C4.5).
    entropy_base : {2, 'e'}, default=2
        Unit of the entropy, bits or nats. Affects reported impurities and the scale of
        `min_impurity_decrease` and `ccp_alpha`, but not the ranking of splits.
    max_bins : int in [2, 65535], default=65535
        Maximum number of bins per column; splits are only tried between bins. With the default, a
        large table without nominal columns, missing values or columns of few values is not binned
        at all.
    prune : {'cost_complexity', 'chi2', 'reduced_error', 'pessimistic'} or None, default=None
        How to prune the grown tree; None = only by `ccp_alpha`.
    significance : float in (0, 1), default=0.05
        'chi2': splits with a larger p-value are pruned. Smaller values prune more.
    validation_fraction : float in (0, 1), default=0.25
        'reduced_error': share of the rows held out for pruning.
    confidence : float in (0, 0.5], default=0.25
        'pessimistic': probability that the true error of a leaf is above the upper limit used.
        Smaller values prune more.
    n_folds : int >= 2, default=10
        Number of folds for ``ccp_alpha='cv'``.
    standard_errors : float >= 0, default=1.0
        ``ccp_alpha='cv'``: the smallest tree within this many standard errors of the best is
        chosen.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    n_classes_ : int
        Number of classes.
    n_outputs_ : int
        Always 1.
    tree_ : TreeView
        The tree with the statistics of every node, under scikit-learn's names.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Total decrease of impurity per column, weighted by node size and scaled to sum to 1.
    max_features_ : int
        Number of columns tried for each split.
    ccp_alpha_ : float
        The complexity parameter used, if the tree was pruned by cost-complexity.
    ccp_alphas_, ccp_impurities_ : ndarray
        The pruning path: complexity parameter and impurity of each step.
    cv_alphas_, cv_errors_, cv_standard_errors_ : ndarray
        For ``ccp_alpha='cv'``: the candidate values, their errors and standard errors.
    tree_start_, node_left_, node_feature_, node_threshold_, node_missing_left_ : ndarray
        The tree as flat arrays, one entry per node.
    node_slot_, level_words_, leaf_value_, node_impurity_, node_samples_, node_weight_ : ndarray
        Further arrays of the tree.
    has_missing_ : ndarray of uint8 of shape (n_features_in_,)
        Columns that had missing values in fit.
    categorical_features_, levels_, level_offsets_ : ndarray
        The nominal columns and their categories.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    A node with class shares p is split where the weighted impurity decreases most:

    .. math:: \Delta = I(D) - \sum_{d} \frac{|D_d|}{|D|} I(D_d), \qquad
              I = 1 - \sum_c p_c^2,\; -\sum_c p_c \log_2 p_c \text{ or } 1 - \max_c p_c

    Numeric columns are split between neighbouring values, nominal ones into two sets of categories.
    Ties go to the first column, then to the lowest threshold. Splits without a decrease are made
    too (XOR needs them); `prune` removes the useless ones. A category unseen in fit goes where
    missing values go. Pruning by 'chi2' removes, from the bottom up, splits whose table of branch
    and class is not significantly dependent. The user guide describes all four kinds of pruning.

    O(n d log n) to bin, O(n d depth) to grow, O(depth) for each row to predict. Deterministic:
    random choices depend only on the seed and the position of the node.

    See Also
    --------
    DecisionTreeRegressor : The same for a numeric target.
    rules : The fitted tree as a set of rules.

    Examples
    --------
    >>> from assay.tree import DecisionTreeClassifier
    >>> X = [["rain", 12.0], ["sun", 25.0], ["sun", 12.0], ["rain", None]]
    >>> model = DecisionTreeClassifier(categorical_features=[0]).fit(X, ["in", "out", "out", "in"])
    >>> model.predict([["sun", 20.0], ["rain", 20.0]]).tolist()
    ['out', 'in']
    """

    model_id: ClassVar[int | None] = 120
    assay_path: ClassVar[TreePath] = TreePath()
    task: ClassVar[str] = "classification"
    stored = declared(n_classes_=Count("classes", "classes"), n_outputs_=Count(1, 1))

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Mapping[Any, float] | str | None = None,
        ccp_alpha: float | str = 0.0,
        monotonic_cst: ArrayLike | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        missing: str = "learned",
        entropy_base: int | str = 2,
        max_bins: int = 65535,
        prune: str | None = None,
        significance: float = 0.05,
        validation_fraction: float = 0.25,
        confidence: float = 0.25,
        n_folds: int = 10,
        standard_errors: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.missing = missing
        self.entropy_base = entropy_base
        self.max_bins = max_bins
        self.prune = prune
        self.significance = significance
        self.validation_fraction = validation_fraction
        self.confidence = confidence
        self.n_folds = n_folds
        self.standard_errors = standard_errors
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree and prune it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights; a row of weight 2 counts as two rows.

        Returns
        -------
        DecisionTreeClassifier
            The fitted model.
        """
        self._fit_tree(X, y, sample_weight)
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
        shares = self._answers(X)
        return self.classes_[shares.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the share of each class in the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_queries, n_classes)
            Columns in the order of `classes_`.
        """
        return self._answers(X)

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_queries, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self._answers(X))

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        self.n_classes_, self.n_outputs_ = len(self.classes_), 1
        factor = class_factors(self.class_weight, self.classes_, codes)
        if factor is not None:
            weight = factor[codes] if weight is None else weight * factor[codes]
            if not weight.any():
                raise DataError("class_weight gives no row a weight above 0")
        return self._counted(rows, codes, weight)

    def _n_classes(self) -> int:
        return len(self.classes_)


class DecisionTreeRegressor(Regressor, SingleTree):
    r"""Decision tree regressor (CART).

    Parameters
    ----------
    criterion : str, default='squared_error'
        Impurity of a node: variance ('squared_error'; 'friedman_mse' scores splits by Friedman's
        rule), mean absolute deviation from the median ('absolute_error') or Poisson deviance
        ('poisson').
    splitter : {'best', 'random'}, default='best'
        Use the best threshold of a column, or one drawn at random.
    max_depth : int >= 1 or None, default=None
        Maximum depth of the tree. Larger values fit more closely and overfit more easily.
    min_samples_split : int >= 2 or float in (0, 1], default=2
        Minimum number of rows of a node to be split; a float is a share of all rows. Larger values
        give smaller trees.
    min_samples_leaf : int >= 1 or float in (0, 1), default=1
        Minimum number of rows of a leaf; a float is a share of all rows. Larger values give
        smaller, smoother trees.
    min_weight_fraction_leaf : float in [0, 0.5], default=0.0
        Minimum share of the total weight in a leaf.
    max_features : int >= 1, float in (0, 1], {'sqrt', 'log2'} or None, default=None
        Number of columns tried for each split, drawn at random; None = all.
    random_state : int, RandomState or None, default=None
        Seed for random columns, random thresholds and the rows held out for pruning.
    max_leaf_nodes : int >= 2 or None, default=None
        Maximum number of leaves; nodes with the largest decrease of impurity are then split first.
    min_impurity_decrease : float >= 0, default=0.0
        Minimum decrease of impurity of a split, weighted by the share of rows. Larger values give
        smaller trees.
    ccp_alpha : float >= 0 or 'cv', default=0.0
        Complexity parameter of cost-complexity pruning. Larger values prune more; 0 does not prune,
        unless `prune` is set. 'cv': chosen by cross-validation.
    monotonic_cst : array-like of int of shape (n_features,) or None, default=None
        Constraint per column: 1 = the prediction must not decrease with the column, -1 = must not
        increase, 0 = none.
    categorical_features : 'from_dtype', array-like or None, default='from_dtype'
        Nominal columns by name, number or boolean mask; 'from_dtype' takes the categorical, enum
        and text columns of a dataframe.
    missing : {'learned', 'fractional'}, default='learned'
        Where missing values go: to the side learned for each split, or to both sides with weights
        in proportion to the known rows (C4.5).
    max_bins : int in [2, 65535], default=65535
        Maximum number of bins per column; splits are only tried between bins. With the default, a
        large table without nominal columns, missing values or columns of few values is not binned
        at all.
    prune : {'cost_complexity', 'chi2', 'reduced_error', 'pessimistic'} or None, default=None
        How to prune the grown tree; None = only by `ccp_alpha`. For regression 'chi2' is an F test.
    significance : float in (0, 1), default=0.05
        'chi2': splits with a larger p-value are pruned. Smaller values prune more.
    validation_fraction : float in (0, 1), default=0.25
        'reduced_error': share of the rows held out for pruning.
    n_folds : int >= 2, default=10
        Number of folds for ``ccp_alpha='cv'``.
    standard_errors : float >= 0, default=1.0
        ``ccp_alpha='cv'``: the smallest tree within this many standard errors of the best is
        chosen.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    n_outputs_ : int
        Number of targets.
    tree_ : TreeView
        The tree with the statistics of every node, under scikit-learn's names.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Total decrease of impurity per column, weighted by node size and scaled to sum to 1.
    max_features_ : int
        Number of columns tried for each split.
    ccp_alpha_ : float
        The complexity parameter used, if the tree was pruned by cost-complexity.
    ccp_alphas_, ccp_impurities_ : ndarray
        The pruning path: complexity parameter and impurity of each step.
    cv_alphas_, cv_errors_, cv_standard_errors_ : ndarray
        For ``ccp_alpha='cv'``: the candidate values, their errors and standard errors.
    tree_start_, node_left_, node_feature_, node_threshold_, node_missing_left_ : ndarray
        The tree as flat arrays, one entry per node.
    node_slot_, level_words_, leaf_value_, node_impurity_, node_samples_, node_weight_ : ndarray
        Further arrays of the tree.
    has_missing_ : ndarray of uint8 of shape (n_features_in_,)
        Columns that had missing values in fit.
    categorical_features_, levels_, level_offsets_ : ndarray
        The nominal columns and their categories.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    A node is split where the weighted impurity decreases most; with the variance as impurity,

    .. math:: \Delta = I(D) - \sum_{d} \frac{|D_d|}{|D|} I(D_d), \qquad
              I(D) = \frac{1}{|D|} \sum_{i \in D} (y_i - \bar y_D)^2

    and a leaf predicts the mean (the median for 'absolute_error'). Several targets share one tree;
    their impurities are averaged. Numeric columns are split between neighbouring values, nominal
    ones into two sets of categories. Ties go to the first column, then to the lowest threshold. A
    category unseen in fit goes where missing values go.

    O(n d log n) to bin, O(n d depth) to grow, O(depth) for each row to predict. Deterministic:
    random choices depend only on the seed and the position of the node.

    See Also
    --------
    DecisionTreeClassifier : The same for classes.
    rules : The fitted tree as a set of rules.

    Examples
    --------
    >>> from assay.tree import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[0], [1], [8], [9]], [1.0, 3.0, 6.0, 8.0])
    >>> model.predict([[0.5], [7.0]]).tolist()
    [2.0, 7.0]
    """

    model_id: ClassVar[int | None] = 121
    assay_path: ClassVar[TreePath] = TreePath()
    task: ClassVar[str] = "regression"
    stored = declared(n_outputs_=Count(1))

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float | str = 0.0,
        monotonic_cst: ArrayLike | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        missing: str = "learned",
        max_bins: int = 65535,
        prune: str | None = None,
        significance: float = 0.05,
        validation_fraction: float = 0.25,
        n_folds: int = 10,
        standard_errors: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.missing = missing
        self.max_bins = max_bins
        self.prune = prune
        self.significance = significance
        self.validation_fraction = validation_fraction
        self.n_folds = n_folds
        self.standard_errors = standard_errors
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree and prune it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights; a row of weight 2 counts as two rows.

        Returns
        -------
        DecisionTreeRegressor
            The fitted model.
        """
        self._fit_tree(X, y, sample_weight)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the value of the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_queries,) or (n_queries, n_outputs)
        """
        values = self._answers(X)
        return values[:, 0] if self.n_outputs_ == 1 else values

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        rows, values, weight = self._fit_data(X, y, sample_weight, multi_output=True)
        if self.criterion == "poisson" and (values.min() < 0 or not values.sum() > 0):
            raise DataError(
                "criterion='poisson' needs targets that are not negative and not all zero; some "
                f"value of y is not positive, the smallest is {values.min():g}"
            )
        self.n_outputs_ = values.shape[1] if values.ndim == 2 else 1
        return self._counted(rows, values, weight)

    def _n_classes(self) -> int:
        return 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def class_factors(
    class_weight: Mapping[Any, float] | str | None, classes: NDArray[Any], codes: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Return the weight of each class, None when all are 1."""
    if class_weight is None:
        return None
    if not (class_weight == "balanced" or isinstance(class_weight, Mapping)):
        raise ParameterError(
            f"class_weight must be a dict, 'balanced' or None; got {class_weight!r}"
        )
    given = class_weight if isinstance(class_weight, str) else dict(class_weight)
    try:
        factor = compute_class_weight(given, classes=classes, y=classes[codes])
    except (TypeError, ValueError) as error:
        raise ParameterError(f"class_weight: {error}; got {class_weight!r}") from None
    factor = np.asarray(factor, dtype=np.float64)
    if not (np.isfinite(factor).all() and (factor >= 0).all()):
        raise ParameterError(
            f"class_weight must hold finite numbers that are not negative; got {class_weight!r}"
        )
    return factor
