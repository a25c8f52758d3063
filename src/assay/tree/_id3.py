"""The ID3 decision tree: one branch for each category of a column."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from assay.base import Classifier, Levels, check_interval, check_option
from assay.base.stored import Array, Integers, declared, ensure
from assay.tree._counted_rows import counted_rows
from assay.tree._id3_grow import BRANCH, CUT, LEAF, LEVEL, Options, grow, prune_chi_square
from assay.tree._id3_text import tree_text

_CHUNK = 8192  # rows predicted at a time


class ID3Classifier(Classifier):
    r"""ID3 decision tree classifier, with one branch for each category of a column.

    Parameters
    ----------
    criterion : {'gain', 'gain_ratio'}, default='gain'
        Criterion of splits: information gain, or gain ratio (C4.5), the gain divided by the entropy
        of the split itself among columns of at least average gain. The gain ratio does not favour
        columns with many categories.
    max_depth : int >= 1 or None, default=None
        Maximum depth of the tree. Larger values fit more closely and overfit more easily.
    min_samples_split : int >= 2, default=2
        Minimum number of rows of a node to be split. Larger values give smaller trees.
    grouping : {None, 'top_vs_rest', 'ordered', 'ignore'}, default=None
        How to treat a nominal column with more than `max_levels` categories, such as a ZIP code:
        None branches on all of them; 'top_vs_rest' splits the most informative category from all
        others; 'ordered' splits by a threshold in the order of the categories; 'ignore' does not
        use the column.
    max_levels : int >= 1, default=10
        Maximum number of categories of a column with one branch each. Used only if `grouping` is
        set.
    prune : {None, 'chi2'}, default=None
        'chi2': grow fully, then prune, from the bottom up, splits that are not significant.
    significance : float in (0, 1), default=0.05
        Splits with a larger p-value are pruned. Smaller values prune more.
    categorical_features : array-like, 'from_dtype' or None, default='from_dtype'
        The nominal columns, by name, number or boolean mask; 'from_dtype' takes the text and
        categorical columns of a dataframe. All other columns are numeric and are split by a
        threshold.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    node_kind_ : ndarray of uint8 of shape (n_nodes,)
        0 leaf; 1 one branch per category; 2 branches ``<=`` and ``>`` the threshold; 3 branches for
        the category whose code is the threshold and for all others.
    node_feature_ : ndarray of int32 of shape (n_nodes,)
        The column of the split; -1 at a leaf.
    node_threshold_ : ndarray of float64 of shape (n_nodes,)
        The threshold of the split; 0 where there is none.
    node_child_start_ : ndarray of int32 of shape (n_nodes + 1,)
        Children of node i are ``node_child_start_[i] .. node_child_start_[i + 1] - 1``.
    node_value_ : ndarray of float64 of shape (n_nodes, n_classes)
        Class shares; an empty node has those of its parent.
    node_weight_ : ndarray of float64 of shape (n_nodes,)
        Total weight of the training rows; 0 in an empty node.
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
    LEARN-DECISION-TREE of Russell and Norvig, with its four cases: a node without examples predicts
    the plurality class of its parent; one with a single class predicts that class; one without
    attributes left predicts its plurality class; any other is split on the attribute of largest

    .. math:: \mathrm{Gain}(A) = H(p) - \sum_k \frac{N_k}{N} H(p_k),
              \qquad H(p) = -\sum_c p_c \log_2 p_c

    and growing continues in each branch without that attribute. Ties go to the first column, a tied
    plurality to the first class. An attribute with only one value in a node is not used there.
    Numeric columns are split half-way between two neighbouring values and may be used again below.

    `prune='chi2'` tests each split whose branches are all leaves, with d nonempty branches:

    .. math:: \Delta = \sum_{k,c} \frac{(n_{kc} - \hat n_{kc})^2}{\hat n_{kc}},
              \qquad \hat n_{kc} = n_c \frac{N_k}{N},

    against the chi-square distribution with (d - 1)(K - 1) degrees of freedom. Pruning comes after
    growing because two attributes can be informative together but not alone (XOR).

    A row with a missing value, or with a category unseen in fit, goes down all branches, weighted
    by their shares of the training rows, in fit and in prediction (Quinlan's C4.5); the gain uses
    the rows with a known value and is multiplied by their share. Deterministic. O(n d) per depth of
    the tree.

    See Also
    --------
    DecisionListClassifier : Rules instead of a tree.

    Examples
    --------
    >>> from assay.datasets import load_restaurant
    >>> from assay.tree import ID3Classifier
    >>> table = load_restaurant()
    >>> X, y = table.drop("WillWait"), table["WillWait"]
    >>> print(ID3Classifier().fit(X, y).to_text())
    Patrons?
    ├── Full: Hungry?
    │   ├── No: No
    │   └── Yes: Type?
    │       ├── Burger: Yes
    │       ├── French: No
    │       ├── Italian: No
    │       └── Thai: Fri/Sat?
    │           ├── No: No
    │           └── Yes: Yes
    ├── None: No
    └── Some: Yes
    >>> print(ID3Classifier(prune="chi2").fit(X, y).to_text())
    Patrons?
    ├── Full: No
    ├── None: No
    └── Some: Yes
    """

    model_id: ClassVar[int | None] = 122
    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    stored = declared(
        node_kind_=Array("nodes", LEAF, LEVEL, kinds="u", filled=True),
        node_feature_=Integers("nodes", -1, "features-1"),
        node_threshold_=Array("nodes"),
        node_child_start_=Integers("nodes+1", 1, "nodes"),
        node_value_=Array("nodes, classes", 0, 1),
        node_weight_=Array("nodes", 0),
    )

    def __init__(
        self,
        *,
        criterion: str = "gain",
        max_depth: int | None = None,
        min_samples_split: int = 2,
        grouping: str | None = None,
        max_levels: int = 10,
        prune: str | None = None,
        significance: float = 0.05,
        categorical_features: ArrayLike | str | None = "from_dtype",
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.grouping = grouping
        self.max_levels = max_levels
        self.prune = prune
        self.significance = significance
        self.categorical_features = categorical_features

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree, and prune it if `prune` is set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library. NaN is a missing value.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a row of weight 2 counts as two rows. Weights that sum to less than the number
            of rows are scaled to sum to it.

        Returns
        -------
        ID3Classifier
            The fitted model.
        """
        check_option("criterion", self.criterion, ["gain", "gain_ratio"])
        check_interval("max_depth", self.max_depth, 1, integer=True, options=[None])
        check_interval("min_samples_split", self.min_samples_split, 2, integer=True)
        check_option("grouping", self.grouping, [None, "top_vs_rest", "ordered", "ignore"])
        check_interval("max_levels", self.max_levels, 1, integer=True)
        check_option("prune", self.prune, [None, "chi2"])
        check_interval("significance", self.significance, 0, 1, open_low=True, open_high=True)
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        used, weight = counted_rows(weight, len(rows))
        options = Options(
            kinds=self._kinds(),
            n_levels=self._n_levels(),
            n_classes=len(self.classes_),
            by_ratio=self.criterion == "gain_ratio",
            max_depth=self.max_depth,
            min_samples_split=self.min_samples_split,
        )
        tree = grow(rows[used].astype(np.float64), codes[used], weight, options)
        if self.prune == "chi2":
            tree = prune_chi_square(tree, self.significance)
        self.node_kind_, self.node_feature_ = tree.kind, tree.feature
        self.node_threshold_, self.node_child_start_ = tree.threshold, tree.child_start
        self.node_value_ = tree.value / tree.value.sum(axis=1, keepdims=True)
        self.node_weight_ = tree.weight
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
        rows = self._predict_data(X).astype(np.float64)
        chunks = range(0, len(rows), _CHUNK)
        return np.concatenate([self._shares(rows[begin : begin + _CHUNK]) for begin in chunks])

    def get_depth(self) -> int:
        """Return the depth of the tree: the largest number of splits above a leaf."""
        check_is_fitted(self)
        depth = np.zeros(len(self.node_kind_), dtype=np.int64)
        for node in np.flatnonzero(self.node_kind_ != LEAF):
            children = slice(self.node_child_start_[node], self.node_child_start_[node + 1])
            depth[children] = depth[node] + 1
        return int(depth.max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves, empty ones included."""
        check_is_fitted(self)
        return int(np.count_nonzero(self.node_kind_ == LEAF))

    def to_text(self) -> str:
        """Return the tree as indented text: splits, branches, classes."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        levels = Levels(self.levels_, self.level_offsets_)

        def column(node: int) -> str:
            feature = self.node_feature_[node]
            return f"x{feature}" if names is None else str(names[feature])

        def branches(node: int) -> list[str]:
            kind, threshold = self.node_kind_[node], self.node_threshold_[node]
            where = np.searchsorted(self.categorical_features_, self.node_feature_[node])
            if kind == BRANCH:
                return levels.of(int(where)).tolist()  # type: ignore[no-any-return]
            if self._n_levels()[self.node_feature_[node]]:
                name = levels.of(int(where))[int(threshold)]
                return [name, "other"] if kind == LEVEL else [f"up to {name}", f"after {name}"]
            return [f"<= {threshold:.6g}", f"> {threshold:.6g}"]

        def answer(node: int) -> str:
            return str(self.classes_[self.node_value_[node].argmax()])

        return tree_text(self.node_child_start_, lambda node: f"{column(node)}?", branches, answer)

    def _shares(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Move all rows down the tree together, one level at a time."""
        shares = np.zeros((len(rows), len(self.classes_)))
        row = np.arange(len(rows))
        node = np.zeros(len(rows), dtype=np.int64)
        part = np.ones(len(rows))
        n_levels = self._n_levels()
        while row.size:
            kind = self.node_kind_[node]
            arrived = kind == LEAF
            np.add.at(shares, row[arrived], part[arrived, None] * self.node_value_[node[arrived]])
            row, node, part, kind = row[~arrived], node[~arrived], part[~arrived], kind[~arrived]
            feature = self.node_feature_[node]
            x, limit = rows[row, feature], n_levels[feature]
            unknown = np.isnan(x) | ((limit > 0) & ((x < 0) | (x >= limit)))
            threshold = self.node_threshold_[node]
            branch = np.where(
                kind == CUT, x > threshold, np.where(kind == LEVEL, x != threshold, x)
            )
            first = self.node_child_start_[node].astype(np.int64)
            down = first + np.where(unknown, 0, branch).astype(np.int64)
            if not unknown.any():
                node = down
                continue
            # A missing or unseen value goes down every branch that has training rows.
            n_children = np.where(unknown, self.node_child_start_[node + 1] - first, 1)
            from_row = np.repeat(np.arange(len(row)), n_children)
            within = np.arange(len(from_row)) - np.repeat(
                np.cumsum(n_children) - n_children, n_children
            )
            node = down[from_row] + within
            weight = np.where(unknown[from_row], self.node_weight_[node], 1.0)
            weight /= np.bincount(from_row, weight)[from_row]
            row, part = row[from_row], part[from_row] * weight
            keep = part > 0
            row, node, part = row[keep], node[keep], part[keep]
        return shares

    def _kinds(self) -> NDArray[np.uint8]:
        """Return the kind of split for each column."""
        n_levels = self._n_levels()
        kinds = np.where(n_levels > 0, BRANCH, CUT)
        kinds[self.categorical_features_[np.diff(self.level_offsets_) == 0]] = LEAF
        if self.grouping is not None:
            many = {"top_vs_rest": LEVEL, "ordered": CUT, "ignore": LEAF}[self.grouping]
            kinds[n_levels > self.max_levels] = many
        return kinds.astype(np.uint8)

    def _n_levels(self) -> NDArray[np.int32]:
        """Return the number of categories of each column; 0 = numeric."""
        n_levels = np.zeros(self.n_features_in_, dtype=np.int32)
        n_levels[self.categorical_features_] = np.diff(self.level_offsets_)
        return n_levels

    def _check_more(self) -> None:
        n, leaf = len(self.node_kind_), self.node_kind_ == LEAF
        start = self.node_child_start_.astype(np.int64)
        levels = self._n_levels()[np.maximum(self.node_feature_, 0)]
        wanted = np.where(leaf, 0, np.where(self.node_kind_ == BRANCH, levels, 2))
        level = self.node_kind_ == LEVEL
        inside = (self.node_threshold_ >= 0) & (self.node_threshold_ < levels)
        sound = (
            start[0] == 1
            and start[-1] == n
            and (np.diff(start) == wanted).all()
            and (start[:-1] > np.arange(n))[~leaf].all()
            and ((self.node_feature_ < 0) == leaf).all()
            and (levels > 0)[(self.node_kind_ == BRANCH) | level].all()
            and inside[level | ((self.node_kind_ == CUT) & (levels > 0))].all()
            and np.allclose(self.node_value_.sum(axis=1), 1.0)
            and (np.add.reduceat(self.node_weight_, start[:-1][~leaf]) > 0).all()
        )
        ensure(sound, "the nodes of ID3Classifier are not a tree")
