"""Regression trees with a linear model in every leaf."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from assay.base import Levels, ParameterError, Regressor, check_interval, check_option
from assay.base.stored import Array, Integers, declared, ensure
from assay.tree._counted_rows import counted_rows
from assay.tree._id3_text import tree_text
from assay.tree._linear_nodes import fit_nodes, mix_leaves
from assay.tree._model_tree_grow import GrowthLimits, grow
from assay.tree._ordered_levels import expand, level_groups, n_groups

_CHUNK = 8192  # rows predicted at a time


class ModelTreeRegressor(Regressor):
    r"""Model tree (M5): a regression tree with a linear model in each leaf.

    Parameters
    ----------
    max_depth : int >= 1 or None, default=None
        Maximum depth of the tree. Larger values fit more closely and overfit more easily.
    min_samples_split : float >= 2, default=4
        Minimum number of rows (total weight) of a node to be split. Larger values give smaller
        trees.
    min_samples_leaf : float >= 1, default=2
        Minimum number of rows (total weight) on each side of a split.
    min_deviation : float in [0, 1], default=0.05
        A node is not split if the standard deviation of its targets is at most this share of that
        of all targets. Larger values give smaller trees.
    model_columns : {'subtree', 'all'}, default='subtree'
        Columns that the model of a node may use: those used by splits below it in the full tree, or
        all.
    ridge : float >= 0, default=1e-08
        Ridge term added to the variance of each standardised column. Larger values shrink the
        coefficients.
    prune : bool, default=True
        Whether to prune nodes whose model is at least as good as the subtree below.
    smoothing : float >= 0, default=15.0
        Weight k of the model of the parent node when predictions are smoothed along the path.
        Larger values smooth more; 0 = no smoothing.
    clip : bool, default=True
        Whether to clip predictions to the range of the training targets. Otherwise the linear
        models extrapolate far from the training rows.
    categorical_features : array-like, 'from_dtype' or None, default='from_dtype'
        The nominal columns, by name, number or boolean mask; 'from_dtype' takes the text and
        categorical columns of a dataframe. All other columns are numeric.

    Attributes
    ----------
    node_left_ : ndarray of int32 of shape (n_nodes,)
        0 at a leaf; else the left child, for values up to the threshold. The right child is the
        next node.
    node_feature_ : ndarray of int32 of shape (n_nodes,)
        The expanded column of the split; -1 at a leaf.
    node_threshold_ : ndarray of float64 of shape (n_nodes,)
        Its threshold; 0 at a leaf.
    node_slot_ : ndarray of int32 of shape (n_nodes,)
        Index of the leaf's model; -1 at an inner node.
    leaf_coef_ : ndarray of float64 of shape (n_leaves, n_expanded)
        Coefficients of the leaves, after smoothing.
    leaf_intercept_ : ndarray of float64 of shape (n_leaves,)
        Intercepts of the leaves, after smoothing; for rows minus `fill_`.
    fill_ : ndarray of float64 of shape (n_expanded,)
        Mean of each expanded column; replaces missing values.
    target_range_ : ndarray of float64 of shape (2,)
        Smallest and largest training target.
    level_group_ : ndarray of int32
        Group of each category of `levels_`: its position by mean target within its column.
    categorical_features_ : ndarray of int64
        The nominal columns.
    levels_ : ndarray of str
        The categories of all nominal columns, column by column.
    level_offsets_ : ndarray of int64
        Start of the categories of each nominal column in `levels_`.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    M5 (Quinlan 1992; Wang and Witten 1997). Each split maximises the reduction of the standard
    deviation,

    .. math:: \mathrm{SDR} = \mathrm{sd}(T) - \sum_i \frac{|T_i|}{|T|} \mathrm{sd}(T_i).

    Every node gets a linear model by least squares, from which columns are dropped as long as the
    pessimistic error does not increase: the mean absolute residual times (n + v) / (n - v) for v
    parameters. From the bottom up, a node becomes a leaf when the pessimistic error of its model is
    no larger than that of the tree below it, whose v counts all its models and splits. Finally the
    models on the path from the root to a leaf are combined,

    .. math:: p \leftarrow \frac{n\,p + k\,q}{n + k},

    with q the model of a node and p that of its child with n rows. This is done in fit, so a
    prediction is a single linear model.

    The categories of a nominal column are ordered by mean target (more than 16 categories share 16
    groups), and the column becomes one binary column per step in this order. Missing values and
    categories unseen in fit are replaced by the mean of their expanded column. O(n d) per level of
    the tree to grow, O(n d^2) for the models. Deterministic. A row of weight 2 counts as two rows.

    See Also
    --------
    ObliqueTreeRegressor : Oblique splits and constant leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.tree import ModelTreeRegressor
    >>> x = np.linspace(-1, 1, 101)[:, None]
    >>> y = np.where(x[:, 0] <= 0, 5 + 2 * x[:, 0], 1 - 3 * x[:, 0])
    >>> model = ModelTreeRegressor(smoothing=0).fit(x, y)
    >>> print(model.to_text())
    x0?
    ├── <= 0.01: 5 + 2 x0
    └── > 0.01: 1 - 3 x0
    """

    model_id: ClassVar[int | None] = 125
    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    stored = declared(
        level_group_=Integers("levels", 0),
        target_range_=Array("2"),
        fill_=Array("steps"),
        leaf_coef_=Array("leaves, steps"),
        leaf_intercept_=Array("leaves"),
        node_left_=Integers("2*leaves-1", 0),
        node_feature_=Integers("2*leaves-1", -1, "steps-1"),
        node_threshold_=Array("2*leaves-1"),
        node_slot_=Integers("2*leaves-1", -1, "leaves-1"),
    )

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_split: float = 4,
        min_samples_leaf: float = 2,
        min_deviation: float = 0.05,
        model_columns: str = "subtree",
        ridge: float = 1e-8,
        prune: bool = True,
        smoothing: float = 15.0,
        clip: bool = True,
        categorical_features: ArrayLike | str | None = "from_dtype",
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_deviation = min_deviation
        self.model_columns = model_columns
        self.ridge = ridge
        self.prune = prune
        self.smoothing = smoothing
        self.clip = clip
        self.categorical_features = categorical_features

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree, fit its models, prune and smooth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library. NaN is a missing value.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a row of weight 2 counts as two rows. Weights that sum to less than the number
            of rows are scaled to sum to it.

        Returns
        -------
        ModelTreeRegressor
            The fitted model.
        """
        limits = self._limits()
        rows, target, weight = self._fit_data(X, y, sample_weight)
        used, weight = counted_rows(weight, len(rows))
        rows, target = rows[used].astype(np.float64), target[used]
        self.target_range_ = np.array([target.min(), target.max()])
        self._learn_levels(rows, target, weight)
        Z = expand(rows, self._groups())
        known = ~np.isnan(Z)
        heavy, sums = weight @ known, weight @ np.where(known, Z, 0.0)
        self.fill_ = np.divide(sums, heavy, out=np.zeros(Z.shape[1]), where=heavy > 0)
        Z = np.where(known, Z, self.fill_)
        tree = grow(Z, target, weight, limits)
        models, is_leaf = fit_nodes(
            tree,
            Z - self.fill_,
            target,
            weight,
            all_columns=self.model_columns == "all",
            ridge=self.ridge,
            prune=bool(self.prune),
        )
        mixed = mix_leaves(tree, models, is_leaf, weight, self.smoothing)
        self.node_left_, self.node_feature_ = mixed.left, mixed.feature
        self.node_threshold_, self.node_slot_ = mixed.threshold, mixed.slot
        self.leaf_coef_, self.leaf_intercept_ = mixed.coef, mixed.intercept
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the prediction of the linear model in the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_queries,)
        """
        rows = self._predict_data(X).astype(np.float64)
        chunks = range(0, len(rows), _CHUNK)
        return np.concatenate([self._predict(rows[begin : begin + _CHUNK]) for begin in chunks])

    def get_depth(self) -> int:
        """Return the depth of the tree: the largest number of splits above a leaf."""
        check_is_fitted(self)
        depth = np.zeros(len(self.node_left_), dtype=np.int64)
        for node in np.flatnonzero(self.node_left_):
            left = self.node_left_[node]
            depth[left : left + 2] = depth[node] + 1
        return int(depth.max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return len(self.leaf_intercept_)

    def to_text(self) -> str:
        """Return the tree as indented text with the linear model of each leaf."""
        check_is_fitted(self)
        names = self._expanded_names()
        inner = self.node_left_ > 0
        child_start = np.cumsum([1, *np.where(inner, 2, 0)]).astype(np.int32)

        def question(node: int) -> str:
            return f"{names[self.node_feature_[node]]}?"

        def branches(node: int) -> list[str]:
            if self._is_step()[self.node_feature_[node]]:
                return ["no", "yes"]
            threshold = self.node_threshold_[node]
            return [f"<= {threshold:.6g}", f"> {threshold:.6g}"]

        def answer(node: int) -> str:
            coef = self.leaf_coef_[self.node_slot_[node]]
            intercept = self.leaf_intercept_[self.node_slot_[node]] - coef @ self.fill_
            scale = max(abs(intercept), float(np.abs(coef).max(initial=0.0)), 1e-300)
            text = f"{intercept if abs(intercept) > 1e-9 * scale else 0.0:.4g}"
            for j in np.flatnonzero(np.abs(coef) > 1e-9 * scale):
                text += f" {'-' if coef[j] < 0 else '+'} {abs(coef[j]):.4g} {names[j]}"
            return text

        return tree_text(child_start, question, branches, answer)

    def _predict(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        Z = expand(rows, self._groups())
        Z = np.where(np.isnan(Z), self.fill_, Z)
        node = np.zeros(len(Z), dtype=np.int64)
        active = np.arange(len(Z))
        while True:
            active = active[self.node_left_[node[active]] > 0]
            if not active.size:
                break
            at = node[active]
            above = Z[active, self.node_feature_[at]] > self.node_threshold_[at]
            node[active] = self.node_left_[at] + above
        slot = self.node_slot_[node]
        along: NDArray[np.float64] = np.einsum("ij,ij->i", Z - self.fill_, self.leaf_coef_[slot])
        along += self.leaf_intercept_[slot]
        return np.clip(along, *self.target_range_) if self.clip else along

    def _limits(self) -> GrowthLimits:
        check_interval("max_depth", self.max_depth, 1, integer=True, options=[None])
        check_interval("min_samples_split", self.min_samples_split, 2, open_high=True)
        check_interval("min_samples_leaf", self.min_samples_leaf, 1, open_high=True)
        check_interval("min_deviation", self.min_deviation, 0, 1)
        check_option("model_columns", self.model_columns, ["subtree", "all"])
        check_interval("ridge", self.ridge, 0, open_high=True)
        check_interval("smoothing", self.smoothing, 0, open_high=True)
        for name in ("prune", "clip"):
            value = getattr(self, name)
            if not isinstance(value, (bool, np.bool_)):
                raise ParameterError(f"{name} must be True or False; got {value!r}")
        return GrowthLimits(
            self.max_depth, self.min_samples_split, self.min_samples_leaf, self.min_deviation
        )

    def _learn_levels(
        self,
        rows: NDArray[np.float64],
        target: NDArray[np.float64],
        weight: NDArray[np.float64],
    ) -> None:
        sizes = np.diff(self.level_offsets_).tolist()
        groups = [
            level_groups(rows[:, j], target, weight, size)
            for j, size in zip(self.categorical_features_, sizes, strict=True)
        ]
        self.level_group_ = np.concatenate([*groups, np.empty(0, dtype=np.int32)])

    def _groups(self) -> dict[int, NDArray[np.int32]]:
        """Return the groups of the categories of each nominal column."""
        ends = self.level_offsets_
        return {
            int(j): self.level_group_[ends[c] : ends[c + 1]]
            for c, j in enumerate(self.categorical_features_)
        }

    def _is_step(self) -> NDArray[np.bool_]:
        """Return for each expanded column whether it comes from a nominal column."""
        groups = self._groups()
        flags = [
            [True] * (n_groups(groups[j]) - 1) if j in groups else [False]
            for j in range(self.n_features_in_)
        ]
        return np.array([flag for part in flags for flag in part], dtype=bool)

    def _expanded_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        groups, levels = self._groups(), Levels(self.levels_, self.level_offsets_)
        position = {int(j): c for c, j in enumerate(self.categorical_features_)}
        expanded = []
        for j, name in enumerate(names):
            if j not in groups:
                expanded.append(str(name))
                continue
            for step in range(1, n_groups(groups[j])):
                upper = levels.of(position[j])[groups[j] >= step]
                shown = ", ".join(upper[:4]) + (", ..." if len(upper) > 4 else "")
                expanded.append(
                    f"[{name} in {{{shown}}}]" if len(upper) > 1 else f"[{name} = {shown}]"
                )
        return expanded

    def _check_more(self) -> None:
        small = all((group < max(1, len(group))).all() for group in self._groups().values())
        ensure(small, "level_group_ has a group that is too large")
        n_leaves, inner = len(self.leaf_coef_), self.node_left_ > 0
        # Breadth first: the k-th inner node has children 2k + 1 and 2k + 2.
        sound = (
            len(self.fill_) == len(self._is_step())
            and np.array_equal(self.node_left_[inner], 2 * np.arange(n_leaves - 1) + 1)
            and (self.node_left_ > np.arange(len(inner)))[inner].all()
            and ((self.node_feature_ >= 0) == inner).all()
            and np.array_equal(self.node_slot_[~inner], np.arange(n_leaves))
            and (self.node_slot_[inner] == -1).all()
        )
        ensure(sound, "the nodes of ModelTreeRegressor are not a tree")
