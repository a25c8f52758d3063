"""Density estimation by a tree of boxes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from assay.base import (
    DataError,
    Estimator,
    check_interval,
    check_option,
    check_random_state,
    check_weight,
)
from assay.base.stored import Array, Integers, Plain, declared, each, ensure
from assay.tree._counted_rows import counted_rows
from assay.tree._density_grow import BoxLimits, BoxTree, grow
from assay.tree._density_prune import (
    LeafDensity,
    collapse_index,
    held_out,
    log_likelihoods,
    open_sides,
)

_CHUNK = 8192  # rows predicted at a time
_N_ALPHAS = 40  # number of values of alpha tried by cross-validation


class DensityTree(DensityMixin, Estimator):
    r"""Density estimation tree: a simple density in each of the boxes given by a tree.

    Parameters
    ----------
    criterion : {'squared_error', 'likelihood'}, default='squared_error'
        Criterion of splits: the integrated squared error, or the likelihood.
    leaf : {'uniform', 'gaussian'}, default='uniform'
        Density inside a leaf: constant, or a Gaussian with independent columns, truncated at the
        sides of the box. Gaussian leaves at the border extend to infinity.
    max_depth : int >= 1 or None, default=None
        Maximum depth of the tree. Larger values fit more closely and overfit more easily.
    min_samples_leaf : float >= 1, default=5
        Minimum number of rows (total weight) in a leaf. Larger values give a smoother density.
    ccp_alpha : float >= 0 or 'cv', default='cv'
        Minimum gain in log-likelihood per additional leaf. Larger values prune more; 'cv' chooses
        the value with the largest cross-validated likelihood.
    n_folds : int >= 2, default=5
        Number of folds when `ccp_alpha` is 'cv'.

    Attributes
    ----------
    node_left_ : ndarray of int32 of shape (n_nodes,)
        0 at a leaf; else the left child, for values up to the threshold. The right child is the
        next node.
    node_feature_ : ndarray of int32 of shape (n_nodes,)
        The column of the split; -1 at a leaf.
    node_threshold_ : ndarray of float64 of shape (n_nodes,)
        Its threshold; 0 at a leaf.
    node_slot_ : ndarray of int32 of shape (n_nodes,)
        Index of the leaf; -1 at an inner node.
    leaf_share_ : ndarray of float64 of shape (n_leaves,)
        Share of the training rows in each leaf.
    leaf_low_, leaf_high_ : ndarray of float64 of shape (n_leaves, n_features_in_)
        The boxes of the leaves.
    leaf_mean_, leaf_scale_ : ndarray of float64 of shape (n_leaves, n_features_in_)
        Means and standard deviations of Gaussian leaves; empty for uniform leaves.
    ccp_alpha_ : float
        The value of `ccp_alpha` in use.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With :math:`n_l` of N rows in leaf l of volume :math:`V_l`, uniform leaves give

    .. math:: \hat f(x) = \sum_l \frac{n_l}{N V_l} [x \in l],

    whose integrated squared error is, up to a constant, :math:`-\sum_l n_l^2 / (N^2 V_l)` (Ram and
    Gray, 2011), and whose log-likelihood is :math:`\sum_l n_l \log (n_l / (N V_l))`. Each split,
    half-way between two neighbouring values, improves the chosen criterion most. The full tree is
    then pruned to the subtree that maximises log-likelihood minus `ccp_alpha` times leaves; 0.5 log
    N would be BIC.

    The box of the root extends beyond the extreme values of each column by range / (N - 1), the
    estimate for a uniform distribution. Outside it the density of uniform leaves is 0
    (`score_samples` returns -inf). Columns must be numeric without missing values; a constant
    column has no density. Duplicate rows are in the same fold and folds do not depend on row order:
    the result is deterministic, and a row of weight 2 counts as two rows. O(n d) per depth of the
    tree.

    See Also
    --------
    sklearn.neighbors.KernelDensity : Smooth densities by kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.tree import DensityTree
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.uniform(0, 1, 900), rng.uniform(1, 2, 100)])[:, None]
    >>> model = DensityTree().fit(X)
    >>> np.exp(model.score_samples([[0.5], [1.5], [3.0]])).round(1).tolist()
    [0.9, 0.1, 0.0]
    """

    model_id: ClassVar[int | None] = 126
    stored = declared(
        leaf_share_=Array("leaves", high=1, above=0),
        **each("leaf_low_ leaf_high_", Array("leaves, features")),
        leaf_mean_=Array("gaussians, features"),
        leaf_scale_=Array("gaussians, features", above=0),
        node_left_=Integers("2*leaves-1", 0),
        node_feature_=Integers("2*leaves-1", -1, "features-1"),
        node_threshold_=Array("2*leaves-1"),
        node_slot_=Integers("2*leaves-1", -1, "leaves-1"),
        ccp_alpha_=Plain(float),
    )

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        leaf: str = "uniform",
        max_depth: int | None = None,
        min_samples_leaf: float = 5,
        ccp_alpha: float | str = "cv",
        n_folds: int = 5,
    ) -> None:
        self.criterion = criterion
        self.leaf = leaf
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.ccp_alpha = ccp_alpha
        self.n_folds = n_folds

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,  # noqa: ARG002 (scikit-learn's signature)
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Grow the tree and prune it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library.
        y : None
            Not used; accepted for use in pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a row of weight 2 counts as two rows. Weights that sum to less than the number
            of rows are scaled to sum to it.

        Returns
        -------
        DensityTree
            The fitted model.
        """
        check_option("criterion", self.criterion, ["squared_error", "likelihood"])
        check_option("leaf", self.leaf, ["uniform", "gaussian"])
        check_interval("max_depth", self.max_depth, 1, integer=True, options=[None])
        check_interval("min_samples_leaf", self.min_samples_leaf, 1, open_high=True)
        check_interval("ccp_alpha", self.ccp_alpha, 0, open_high=True, options=["cv"])
        check_interval("n_folds", self.n_folds, 2, integer=True)
        rows = self._fit_rows(X)
        used, weight = counted_rows(check_weight(sample_weight, rows), len(rows))
        rows = rows[used].astype(np.float64) + 0.0  # turns -0.0 into 0.0
        low, high, pad = self._box(rows, float(weight.sum()))
        is_gaussian = self.leaf == "gaussian"
        limits = BoxLimits(self.criterion, self.max_depth, self.min_samples_leaf, is_gaussian)
        alpha = self.ccp_alpha
        if isinstance(alpha, str):
            alphas = np.append(0.0, np.geomspace(0.1, max(1.0, weight.sum()), _N_ALPHAS))
            fold = _folds(rows, self.n_folds)
            box = (low, high)
            likelihood = held_out(rows, weight, fold, box, limits, alphas, is_gaussian, pad)
            # Ties go to the smallest tree.
            top = likelihood.max()
            alpha = float(alphas[likelihood >= top - 1e-9 * max(1.0, abs(top))][-1])
        self.ccp_alpha_ = float(alpha)
        tree = grow(rows, weight, low, high, limits)
        own = log_likelihoods(tree, LeafDensity.of(tree, is_gaussian, pad))
        is_leaf = collapse_index(tree, own, np.array([self.ccp_alpha_])) == 0
        self._keep(tree, is_leaf, pad if is_gaussian else None)
        return self

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the log density of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_queries,)
            -inf where the density is 0.
        """
        rows = self._predict_data(X).astype(np.float64)
        density = self._density()
        share, log_norm = np.log(self.leaf_share_), density.log_norm()
        answer = np.empty(len(rows))
        for begin in range(0, len(rows), _CHUNK):
            some = rows[begin : begin + _CHUNK]
            slot = self._slots(some)
            value = density.log_of_rows(some, slot, log_norm) + share[slot]
            outside = (some < density.low[slot]) | (some > density.high[slot])
            value[outside.any(axis=1)] = -np.inf
            answer[begin : begin + _CHUNK] = value
        return answer

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,  # noqa: ARG002 (scikit-learn's signature)
    ) -> float:
        """Return the mean log density of the rows.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.
        y : None
            Not used; accepted for use in pipelines.

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())

    def sample(
        self, n_samples: int = 1, random_state: int | RandomState | None = None
    ) -> NDArray[np.float64]:
        """Draw rows from the density.

        Parameters
        ----------
        n_samples : int >= 1, default=1
            Number of rows.
        random_state : int, RandomState or None, default=None
            Seed.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        check_interval("n_samples", n_samples, 1, integer=True)
        rng = check_random_state(random_state)
        share = self.leaf_share_ / self.leaf_share_.sum()
        leaf = rng.choice(len(share), size=n_samples, p=share)
        part = rng.uniform(size=(n_samples, self.n_features_in_))
        density = self._density()
        low, high = density.low[leaf], density.high[leaf]
        if density.mean is None or density.scale is None:
            return low + part * (high - low)
        mean, scale = density.mean[leaf], density.scale[leaf]
        first, last = ndtr((low - mean) / scale), ndtr((high - mean) / scale)
        # Avoids 0 and 1, whose quantiles are infinite.
        level = np.clip(first + part * (last - first), 1e-16, 1 - 1e-16)
        return np.asarray(np.clip(mean + scale * ndtri(level), low, high))

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
        return len(self.leaf_share_)

    def _box(
        self, rows: NDArray[np.float64], total: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the box of the root, and how far it extends beyond the rows."""
        if len(rows) < 2:
            raise DataError("DensityTree needs at least two different rows; got n_samples=1")
        low, high = rows.min(axis=0), rows.max(axis=0)
        with np.errstate(over="ignore"):
            pad = (high - low) / max(total - 1, 1.0)
        below, above = low - pad, high + pad
        bad = np.flatnonzero(~((below < low) & (above > high) & np.isfinite(above - below)))
        if bad.size:
            names = getattr(self, "feature_names_in_", None)
            column = f"column {bad[0]}" if names is None else f"column {names[bad[0]]!r}"
            raise DataError(
                f"{column} runs from {low[bad[0]]} to {high[bad[0]]}: such a column has no "
                "density; leave it out or rescale it"
            )
        return below, above, pad

    def _keep(
        self, tree: BoxTree, is_leaf: NDArray[np.bool_], floor: NDArray[np.float64] | None
    ) -> None:
        """Store the subtree with the given leaves; `floor` is for Gaussian leaves."""
        keep = np.zeros(len(is_leaf), dtype=bool)
        keep[0] = True
        for node in np.flatnonzero(~is_leaf):
            keep[tree.left[node] : tree.left[node] + 2] |= keep[node]
        leaf = is_leaf[keep]
        self.node_left_ = np.where(leaf, 0, 2 * np.cumsum(~leaf) - 1).astype(np.int32)
        self.node_feature_ = np.where(leaf, -1, tree.feature[keep]).astype(np.int32)
        self.node_threshold_ = np.where(leaf, 0.0, tree.threshold[keep])
        self.node_slot_ = np.where(leaf, np.cumsum(leaf) - 1, -1).astype(np.int32)
        ends = np.flatnonzero(keep)[leaf]
        self.leaf_share_ = tree.weight[ends] / tree.weight[0]
        self.leaf_low_, self.leaf_high_ = tree.low[ends], tree.high[ends]
        some = ends[:0] if floor is None else ends
        self.leaf_mean_ = tree.mean[some]
        self.leaf_scale_ = np.maximum(tree.deviation[some], 0.0 if floor is None else floor)

    def _slots(self, rows: NDArray[np.float64]) -> NDArray[np.int64]:
        node, active = np.zeros(len(rows), dtype=np.int64), np.arange(len(rows))
        while True:
            active = active[self.node_left_[node[active]] > 0]
            if not active.size:
                return self.node_slot_[node].astype(np.int64)
            at = node[active]
            above = rows[active, self.node_feature_[at]] > self.node_threshold_[at]
            node[active] = self.node_left_[at] + above

    def _density(self) -> LeafDensity:
        check_is_fitted(self)
        low, high = self.leaf_low_, self.leaf_high_
        if not len(self.leaf_mean_):
            return LeafDensity(low, high)
        low, high = open_sides(low, high, low.min(axis=0), high.max(axis=0))
        return LeafDensity(low, high, self.leaf_mean_, self.leaf_scale_)

    def _check_more(self) -> None:
        n_leaves, inner = len(self.leaf_share_), self.node_left_ > 0
        # Breadth first: the k-th inner node has children 2k + 1 and 2k + 2.
        sound = (
            len(self.leaf_mean_) in (0, n_leaves)
            and np.array_equal(self.node_left_[inner], 2 * np.arange(n_leaves - 1) + 1)
            and (self.node_left_ > np.arange(len(inner)))[inner].all()
            and ((self.node_feature_ >= 0) == inner).all()
            and np.array_equal(self.node_slot_[~inner], np.arange(n_leaves))
            and (self.node_slot_[inner] == -1).all()
            and np.isclose(self.leaf_share_.sum(), 1.0)
            and (self.leaf_low_ < self.leaf_high_).all()
        )
        ensure(sound, "the nodes of DensityTree are not a tree")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def _folds(rows: NDArray[np.float64], n_folds: int) -> NDArray[np.int64]:
    """Return the fold of each row, a function of its values: duplicate rows share a fold."""
    key = np.full(len(rows), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in np.ascontiguousarray(rows.T).view(np.uint64):
        key = (key ^ column) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(29)
    place = np.unique(key, return_inverse=True)[1]
    return (place % n_folds).astype(np.int64)
