"""Permutation importance of columns, on the out-of-bag rows of each tree."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from assay.base import (
    DataError,
    ParameterError,
    check_interval,
    check_n_jobs,
    check_weight,
    class_codes,
    real_values,
)
from assay.ensemble._forest_base import Forest
from assay.ensemble._oob import trees_between
from assay.tree.engine import Nodes, bootstrap_counts


@dataclass(frozen=True)
class OutOfBagImportance:
    """Permutation importances on out-of-bag rows; made by `permutation_importance_oob`.

    Parameters
    ----------
    mean : ndarray of float64 of shape (n_features,)
        Mean decrease of the score by column.
    low, high : ndarray of float64 of shape (n_features,)
        Confidence interval of the mean.
    by_tree : ndarray of float64 of shape (n_trees, n_features)
        Decrease of the score of each tree; NaN where a tree has no out-of-bag row.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    by_tree: NDArray[np.float64]


def permutation_importance_oob(
    forest: Forest,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
    n_jobs: int | None = None,
) -> OutOfBagImportance:
    r"""Measure the importance of each column by permuting it on out-of-bag rows.

    Parameters
    ----------
    forest : Forest
        Fitted with ``bootstrap=True``.
    X, y : array-like
        The training table of the forest, in the same order.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of that fit.
    confidence : float in (0, 1), default=0.95
        Confidence of the intervals.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Returns
    -------
    OutOfBagImportance
        Mean and interval for each column.

    Notes
    -----
    For tree t with the rows :math:`O_t` out of its bag and a permutation :math:`\pi` of them,

    .. math:: d_{tj} = s(O_t) - s(O_t \text{ with column } j \text{ permuted by } \pi), \qquad
              \bar d_j \pm q \sqrt{(\frac1T + \rho) s_j^2}

    where s is the accuracy of the tree, or its R2 (mean over outputs); :math:`s_j` the standard
    deviation of :math:`d_{tj}` over the trees, q a quantile of Student's t with T - 1 degrees of
    freedom, and :math:`\rho` the mean number of rows out of bag over that of rows in it (0.58 for a
    full bootstrap). Trees share most of their rows, so 1/T alone would give far too narrow
    intervals; the second term is Nadeau and Bengio's correction for resampled scores (2003).

    An uninformative column has mean 0, however many values it has: what a tree learned from noise
    does not carry over to out-of-bag rows. The impurity decrease (`feature_importances_`) is
    measured on the training rows of the tree, and favours columns with many values (Strobl and
    others, 2007). Redundant columns share their importance in both measures.

    The permutation depends on the seed of the forest, the tree and the column. O(T n d) tree walks.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.ensemble import RandomForestClassifier, permutation_importance_oob
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = X[:, 0] > 0  # the second column is noise
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> found = permutation_importance_oob(forest, X, y)
    >>> (found.low > 0).tolist()
    [True, False]
    """
    check_interval("confidence", confidence, 0.0, 1.0, open_low=True, open_high=True)
    n_threads = check_n_jobs(n_jobs)
    if not isinstance(forest, Forest):
        raise ParameterError(f"forest must be a fitted forest of assay.ensemble; got {forest!r}")
    check_is_fitted(forest)
    if forest.n_draws_ == 0:
        raise ParameterError(
            "forest was fitted with bootstrap=False, so no row is out of bag; use bootstrap=True, "
            "or sklearn.inspection.permutation_importance on held-out rows"
        )
    rows, target, weight = _table(forest, X, y, sample_weight)
    measure = _Measure(forest, forest._nodes(), rows, target, weight)
    trees = range(forest.n_estimators_)
    with ThreadPoolExecutor(n_threads) as pool:
        by_tree = np.array(list(pool.map(measure.losses, trees)))
    known = by_tree[~np.isnan(by_tree[:, 0])]
    if len(known) < 2:
        raise DataError(
            "fewer than two trees have out-of-bag rows; increase n_estimators, or reduce "
            "max_samples"
        )
    mean = known.mean(axis=0)
    ratio = np.mean([measure.out_over_in(tree) for tree in trees])
    spread = known.std(axis=0, ddof=1) * np.sqrt(1 / len(known) + ratio)
    reach = student.ppf(0.5 + confidence / 2, len(known) - 1) * spread
    return OutOfBagImportance(mean, mean - reach, mean + reach, by_tree)


@dataclass(frozen=True)
class _Measure:
    """The forest on its own table; rows of weight 0 are not in it."""

    forest: Forest
    nodes: Nodes
    rows: NDArray[Any]
    target: NDArray[Any]
    weight: NDArray[np.float64]

    def losses(self, tree: int) -> NDArray[np.float64]:
        """Return the decrease of the score of one tree by column."""
        n_features = self.rows.shape[1]
        out = np.flatnonzero(self._counts(tree) == 0)
        if not len(out):
            return np.full(n_features, np.nan)
        alone = trees_between(self.nodes, tree, tree + 1)
        rows = np.ascontiguousarray(self.rows[out])
        target, weight = self.target[out], self.weight[out]
        whole = self._score(alone, rows, target, weight)
        losses = np.zeros(n_features)
        for column in self._columns(alone):
            rng = np.random.default_rng((self.forest.seed_, tree, column))
            kept = rows[:, column].copy()
            rows[:, column] = kept[rng.permutation(len(kept))]
            losses[column] = whole - self._score(alone, rows, target, weight)
            rows[:, column] = kept
        return losses

    def out_over_in(self, tree: int) -> float:
        """Return the number of out-of-bag rows of a tree over that of in-bag rows."""
        n_in = np.count_nonzero(self._counts(tree))
        return (len(self.rows) - n_in) / n_in

    def _counts(self, tree: int) -> NDArray[np.uint32]:
        forest = self.forest
        return bootstrap_counts(forest.seed_, tree, len(self.rows), forest.n_draws_)

    def _columns(self, alone: Nodes) -> Iterator[int]:
        """Yield the columns that the tree splits on; permuting the others changes nothing."""
        used = np.unique(alone.node_feature)
        yield from used[used >= 0].tolist()

    def _score(
        self,
        alone: Nodes,
        rows: NDArray[Any],
        target: NDArray[Any],
        weight: NDArray[np.float64],
    ) -> float:
        answers = alone.predict(rows)
        if is_classifier(self.forest):
            return float(np.average(answers.argmax(axis=1) == target, weights=weight))
        middle = np.average(target, axis=0, weights=weight)
        spread = (weight[:, None] * (target - middle) ** 2).sum(axis=0)
        wrong = (weight[:, None] * (target - answers) ** 2).sum(axis=0)
        return float(np.mean(1 - wrong[spread > 0] / spread[spread > 0])) if spread.any() else 0.0


def _table(
    forest: Forest, X: Any, y: Any, sample_weight: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    """Return the table as in the fit: rows that have a weight, codes or values, weights."""
    rows = forest._predict_data(X)
    given = check_weight(sample_weight, rows)
    weight = np.ones(len(rows)) if given is None else given
    if is_classifier(forest):
        labels, codes = class_codes(y)
        position = np.minimum(np.searchsorted(forest.classes_, labels), len(forest.classes_) - 1)
        if (forest.classes_[position] != labels).any():
            raise DataError("y has a label that the forest was not fitted on")
        target = position[codes]
    else:
        values = real_values(y, multi_output=True)
        target = values.reshape(len(values), -1)
    if len(target) != len(rows):
        raise DataError(f"X has {len(rows)} rows but y has {len(target)}")
    factor = forest._class_factor(target)
    weight = weight if factor is None else weight * factor
    counted = weight > 0
    if np.count_nonzero(counted) != forest.n_samples_:
        raise DataError(
            f"the forest was fitted on {forest.n_samples_} rows; got "
            f"{np.count_nonzero(counted)}; pass the training table, whose out-of-bag rows are known"
        )
    return rows[counted], target[counted], weight[counted]
