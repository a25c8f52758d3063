"""Feature selection by consensus over nested folds (consensus nested cross-validation)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from assay.base import (
    DataError,
    ParameterError,
    as_frame,
    check_interval,
    check_n_jobs,
    check_random_state,
    check_weight,
    draw_seed,
    in_threads,
    seeded,
)
from assay.base.stored import Array, declared, ensure
from assay.features._consensus_folds import FoldTarget, stratified_folds
from assay.features._kept_columns import KeptColumns, best_columns
from assay.features._relief import ReliefF

Item = TypeVar("Item", bound=Hashable)

#: Fraction of the other rows used as neighbours. With Gaussian columns, this fraction is nearer
#: than mean - sd/2 of the distances, which is MultiSURF's rule (Parvandeh and others, 2020).
NEIGHBOR_SHARE = 0.154


def consensus(kept: Iterable[Iterable[Item]]) -> list[Item]:
    r"""Return the items that all folds have in common, in the order of the first.

    Parameters
    ----------
    kept : iterable of iterables
        The items kept in each fold: names, numbers, or the letters of a text.

    Returns
    -------
    list

    Notes
    -----
    .. math:: C = \bigcap_f K_f

    Examples
    --------
    >>> "".join(consensus(["QWZREFGTYU", "AEFSGD", "FGHJEKL"]))
    'EFG'
    """
    every = [list(dict.fromkeys(each)) for each in kept]
    if not every:
        raise ParameterError("kept must hold at least one fold; got none")
    common = set.intersection(*map(set, every))
    return [item for item in every[0] if item in common]


class ConsensusSelector(KeptColumns):
    r"""Select the columns that a selector keeps in every inner fold of every outer fold.

    Parameters
    ----------
    selector : selector, default=None
        The selector for each fold: any object with `fit(X, y)` and `get_support`. None: a `ReliefF`
        that keeps positive scores, with 15.4 % of the rows as neighbours.
    n_outer : int, default=5
        Number of outer folds, at least 2. More folds of both kinds keep more columns.
    n_inner : int, default=5
        Number of inner folds of each outer fold, at least 2.
    min_features : int, default=1
        Minimum number of columns to keep. If the consensus has fewer, the columns kept by most
        folds are added; ties go to the best mean score.
    n_jobs : int, default=None
        Threads, one fold each; None = 1, -1 = all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of a selector without a seed of its own.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features_in_,)
        Which columns are kept.
    inner_features_ : ndarray of bool of shape (n_outer, n_inner, n_features_in_)
        Columns kept by each inner fold.
    outer_features_ : ndarray of bool of shape (n_outer, n_features_in_)
        Their consensus within each outer fold.
    n_consensus_ : int
        Number of columns in the consensus; fewer than are kept if `min_features` added some.
    votes_ : ndarray of int64 of shape (n_features_in_,)
        Number of inner folds that kept each column.
    scores_ : ndarray of float64 of shape (n_features_in_,)
        Mean of the selector's `feature_importances_` over the folds; if it has none, the fraction
        of folds that kept the column.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    With :math:`K_{oi}` the columns selected on the rows outside outer fold o and outside inner fold
    i of the rest,

    .. math:: C = \bigcap_o \bigcap_i K_{oi}

    No model is fitted, so the cost is that of `n_outer` times `n_inner` selections. A column
    without influence has a positive Relief score in one fold about half of the time, but rarely in
    all folds. Folds are stratified by class, or by the order of a numeric target. Nominal and
    missing values are passed to the selector.

    It uses the target: put it into a pipeline with the model, so that it is fitted inside each
    fold.

    Parvandeh, Yeh, Paulus and McKinney (2020), Bioinformatics 36(10).

    See Also
    --------
    ReliefF : The scores.
    consensus_nested : The whole procedure, with a model and independent rows.

    Examples
    --------
    >>> import numpy as np
    >>> from assay.features import ConsensusSelector
    >>> X = np.random.default_rng(0).normal(size=(300, 50))
    >>> y = X[:, 3] + X[:, 7] > 0
    >>> model = ConsensusSelector(random_state=0).fit(X, y)
    >>> model.get_support(indices=True).tolist()
    [3, 7]
    >>> model.inner_features_.sum(axis=2).mean().round(1).item()  # each fold keeps far more
    24.7
    """

    model_id: ClassVar[int | None] = 245
    expected_failures: ClassVar[Mapping[str, str]] = {
        "check_sample_weight_equivalence_on_dense_data": (
            "neighbours are counted as rows, and duplicates of a row may lie in different folds"
        ),
    }
    stored = declared(
        inner_features_=Array("n_outer, n_inner, features", kinds="b", filled=True),
        scores_=Array("features"),
    )

    def __init__(
        self,
        selector: Any = None,
        *,
        n_outer: int = 5,
        n_inner: int = 5,
        min_features: int = 1,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.selector = selector
        self.n_outer = n_outer
        self.n_inner = n_inner
        self.min_features = min_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Select in every fold and take the consensus.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array or a dataframe, as the selector accepts.
        y : array-like of shape (n_samples,)
            Their classes or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights, for a selector that accepts weights. Rows of weight 0 are left out.

        Returns
        -------
        ConsensusSelector
            The fitted selector.
        """
        n_threads = self._check_parameters()
        if y is None:
            raise DataError("ConsensusSelector requires y to be passed, but the target y is None")
        table = self._table(X, reset=True)
        target = FoldTarget.of(y)
        n_rows, n_columns = table.shape
        if len(target.values) != n_rows:
            raise DataError(
                f"X has {n_rows} rows but y has {len(target.values)}; each row needs one target "
                "(inconsistent numbers of samples)"
            )
        weight = check_weight(sample_weight, table)
        used = np.arange(n_rows) if weight is None else np.flatnonzero(weight)
        seed = draw_seed(self.random_state)
        work = [
            partial(self._select, table, target, weight, rows, (seed, *fold))
            for fold, rows in self._folds(used, target.order, seed)
        ]
        found = in_threads(work, n_threads)
        shape = (self.n_outer, self.n_inner, n_columns)
        self.inner_features_ = np.array([kept for kept, _ in found]).reshape(shape)
        self.scores_ = np.mean([score for _, score in found], axis=0)
        self._agree()
        return self

    def _agree(self) -> None:
        """Intersect over inner folds, then over outer folds."""
        n_columns = self.inner_features_.shape[2]
        outer = [consensus(map(np.flatnonzero, inner)) for inner in self.inner_features_]
        whole = consensus(outer)
        self.outer_features_ = np.array([_marked(each, n_columns) for each in outer])
        self.votes_ = self.inner_features_.sum(axis=(0, 1), dtype=np.int64)
        self.n_consensus_ = len(whole)
        self.support_ = (
            _marked(whole, n_columns)
            if len(whole) >= self.min_features
            else best_columns(self.votes_, self.scores_, self.min_features)
        )

    def _check_parameters(self) -> int:
        able = hasattr(self.selector, "fit") and hasattr(self.selector, "get_support")
        if self.selector is not None and (isinstance(self.selector, type) or not able):
            raise ParameterError(
                "selector must be None or an object with fit and get_support, such as ReliefF; "
                f"got {self.selector!r}"
            )
        for name in ("n_outer", "n_inner"):
            check_interval(name, getattr(self, name), 2, integer=True)
        check_interval("min_features", self.min_features, 1, integer=True)
        check_random_state(self.random_state)
        return check_n_jobs(self.n_jobs)

    def _folds(
        self, used: NDArray[np.int64], order: NDArray[Any], seed: int
    ) -> Iterable[tuple[tuple[int, int], NDArray[np.int64]]]:
        """Yield the number of each inner fold and the rows outside it."""
        largest = -(-len(used) // self.n_outer)
        if len(used) < max(self.n_outer, largest + self.n_inner):
            raise DataError(
                f"{len(used)} rows (n_samples = {len(used)}) are too few for {self.n_outer} outer "
                f"folds of {self.n_inner} inner ones"
            )
        outer = stratified_folds(order[used], self.n_outer, (seed,))
        for o in range(self.n_outer):
            rows = used[outer != o]
            inner = stratified_folds(order[rows], self.n_inner, (seed, o))
            for i in range(self.n_inner):
                yield (o, i), rows[inner != i]

    def _select(
        self,
        table: Any,
        target: FoldTarget,
        weight: NDArray[np.float64] | None,
        rows: NDArray[np.int64],
        seed: tuple[int, ...],
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return the columns selected on some rows, and their scores."""
        chosen = self.selector
        if chosen is None:
            chosen = ReliefF(max(1, int(NEIGHBOR_SHARE * (len(rows) - 1))))
        model = seeded(chosen, seed)
        if model.get_params().get("task") == "auto":  # a few rows could suggest another task
            model.set_params(task="regression" if target.is_number else "classification")
        takes = weight is not None and has_fit_parameter(model, "sample_weight")
        if weight is not None and not takes:
            raise DataError(f"sample_weight cannot be used: {type(model).__name__} takes none")
        weights = {} if weight is None else {"sample_weight": weight[rows]}
        frame = as_frame(table)
        part = table[rows] if frame is None else frame[rows.tolist()].to_native()
        try:
            model.fit(part, target.values[rows], **weights)
        except DataError as error:
            _, outer, inner = seed
            raise DataError(f"{error} (outside outer fold {outer}, inner fold {inner})") from None
        kept = np.asarray(model.get_support(), dtype=np.bool_)
        scores = getattr(model, "feature_importances_", kept)
        return kept, np.asarray(scores, dtype=np.float64)

    def _check_more(self) -> None:
        check_interval("min_features", self.min_features, 1, integer=True)
        names = ("outer_features_", "votes_", "n_consensus_", "support_")
        stored = {name: getattr(self, name, None) for name in names}
        self._agree()
        for name, value in stored.items():
            agree = np.array_equal(value, getattr(self, name))  # type: ignore[arg-type]
            ensure(agree, f"{name} is not the consensus of the folds")

    @classmethod
    def _examples(cls) -> list[Self]:
        return [
            cls(n_outer=3, n_inner=2),
            cls(ReliefF(3, n_features_to_select=0.75), n_outer=2, n_inner=3, min_features=2),
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inside = ReliefF() if self.selector is None else self.selector
        if isinstance(inside, BaseEstimator):
            tags.input_tags.allow_nan = get_tags(inside).input_tags.allow_nan
            tags.input_tags.categorical = get_tags(inside).input_tags.categorical
        return tags


def _marked(columns: list[Any], n_columns: int) -> NDArray[np.bool_]:
    marked = np.zeros(n_columns, dtype=np.bool_)
    marked[columns] = True
    return marked
