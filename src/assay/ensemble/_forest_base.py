"""Common part of all forests: from a table to trees, and everything read from the trees."""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from assay.base import DataError, Estimator, ParameterError, check_interval, check_n_jobs, draw_seed
from assay.base.stored import Array, Count, Plain, declared, each
from assay.ensemble._forest_grow import Callback, Training, chosen_by_oob, grown_forest
from assay.ensemble._forest_plan import check_forest, resolve
from assay.ensemble._oob import Combine, OutOfBag, trees_between
from assay.tree.engine import Bins, Nodes, Ranks
from assay.tree.engine._nodes import levels_of


class Forest(Estimator):
    """Common part of the four forests."""

    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    _splitter: ClassVar[str] = "best"
    stored = declared(
        importance_sum_=Array("features", 0),
        **each("seed_ n_draws_", Count()),
        n_samples_=Count(1),
        oob_score_=Plain(float, when="oob_score"),
    )

    @property
    def n_estimators_(self) -> int:
        """Number of trees, also when the out-of-bag error chose it."""
        return len(self.tree_start_) - 1

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean decrease of impurity by column, summing to 1 (0 when no tree has a split)."""
        check_is_fitted(self)
        whole: NDArray[np.float64] = self.importance_sum_
        total = whole.sum()
        return whole / total if total > 0 else whole.copy()

    def tree(self, i: int) -> Self:
        """Return tree number i as a forest of one tree.

        Parameters
        ----------
        i : int
            From 0 to ``n_estimators_ - 1``.

        Returns
        -------
        Forest
            Fitted; leaf values are shared with this forest, not copied.
        """
        check_is_fitted(self)
        check_interval("i", i, 0, self.n_estimators_ - 1, integer=True)
        one = copy.copy(self)
        one.set_params(n_estimators=1, oob_score=False)
        for name in [name for name in vars(one) if name.startswith("oob_") and name[-1] == "_"]:
            delattr(one, name)
        trees_between(self._nodes(), i, i + 1).store_in(one)
        return one

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of int32 of shape (n_samples, n_estimators_)
            Node numbers, counted from the root of each tree.
        """
        rows = self._predict_data(X)
        return self._nodes().apply(rows, check_n_jobs(self.n_jobs))

    def decision_path(self, X: ArrayLike) -> tuple[csr_matrix, NDArray[np.int64]]:
        """Return the nodes that each row passes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        indicator : CSR matrix of shape (n_samples, n_nodes)
            1 where the row passes the node.
        n_nodes_ptr : ndarray of int64 of shape (n_estimators_ + 1,)
            The columns of tree t are ``n_nodes_ptr[t]`` to ``n_nodes_ptr[t + 1] - 1``.
        """
        rows = self._predict_data(X)
        return self._nodes().decision_path(rows, check_n_jobs(self.n_jobs)), self.tree_start_

    @abstractmethod
    def _target(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
        """Check the data; return rows, target for the engine, and weights."""

    @abstractmethod
    def _n_classes(self) -> int | None:
        """Return the number of classes, None for regression."""

    @abstractmethod
    def _n_outputs(self) -> int:
        """Return the number of values per leaf."""

    @abstractmethod
    def _oob_error(self, answers: NDArray[np.float64], target: NDArray[Any]) -> float:
        """Return the error of out-of-bag predictions; rows without one do not count."""

    @abstractmethod
    def _keep_oob(self, answers: NDArray[np.float64], target: NDArray[Any]) -> None:
        """Set the out-of-bag attributes."""

    def _class_factor(self, codes: NDArray[Any]) -> NDArray[np.float64] | None:  # noqa: ARG002
        """Return the weight of each row by its class; None when all are equal."""
        return None

    def _nodes(self) -> Nodes:
        return Nodes.from_state(self)

    def _combine(self) -> Combine:
        return "mean"

    def _prepared(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        seed: int | None = None,
        ranks: tuple[Ranks, NDArray[np.int64]] | None = None,
    ) -> Prepared:
        """Check parameters and data, and bin the rows that have a weight.

        `ranks`: the sorted columns of a larger table, and the rows of it that X holds.
        """
        params = self.get_params(deep=False)
        check_forest(params, classifier=hasattr(self, "combine"))
        seed = draw_seed(self.random_state) if seed is None else seed
        all_rows, all_target, weight = self._target(X, y, sample_weight)
        rows, target = all_rows, all_target
        counted = np.arange(len(rows)) if weight is None else np.flatnonzero(weight > 0)
        if weight is not None and len(counted) < len(rows):
            # Rows of weight 0 are left out of the bins and of bootstrap samples.
            rows, target, weight = rows[counted], target[counted], weight[counted]
        plan = resolve(params, *rows.shape, splitter=self._splitter, n_classes=self._n_classes())
        if ranks is None or len(self.categorical_features_):  # each fit codes categories
            bins = Bins.build(rows, self.max_bins, levels_of(self), weight, plan.n_threads)
        else:
            bins = Bins.from_ranks(
                ranks[0], ranks[1][counted], self.max_bins, plan.n_threads, weight
            )
        balanced = getattr(self, "class_weight", None) == "balanced_subsample" and self.bootstrap
        training = Training(rows, target, weight, bins, plan, seed, balanced, self.ccp_alpha)
        return Prepared(training, all_rows, all_target, counted)

    def _fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, callback: Callback | None
    ) -> Self:
        before = _EarlierFit.of(self) if self.warm_start is True else None
        prepared = self._prepared(X, y, sample_weight, None if before is None else before.seed)
        training = prepared.training
        if before is not None:
            before.check_same_table(self, training)
        progress = self._progress_callback(callback)
        if training.plan.n_trees is None:
            nodes, importance = chosen_by_oob(
                training, self._out_of_bag(training), self._oob_error, self.oob_tol, progress
            )
        else:
            kept = None if before is None else (before.nodes, before.importance)
            nodes, importance = grown_forest(training, training.plan.n_trees, progress, kept)
        nodes.store_in(self)
        self.importance_sum_, self.seed_ = importance, training.seed
        self.n_samples_, self.n_draws_ = len(training.rows), training.plan.options.bootstrap
        if self.oob_score:
            self._keep_oob(self._oob_answers(prepared, nodes), prepared.target)
        return self

    def _progress_callback(self, callback: Callback | None) -> Callback | None:
        if callback is not None and not callable(callback):
            raise ParameterError(f"callback must be None or a function; got {callback!r}")
        if not self.verbose:
            return callback

        def progress(done: int, wanted: int) -> Any:
            print(f"{type(self).__name__}: {done} of {wanted} trees")
            return None if callback is None else callback(done, wanted)

        return progress

    def _out_of_bag(self, training: Training) -> OutOfBag:
        return OutOfBag(
            training.rows,
            self._n_outputs(),
            training.seed,
            training.plan.options.bootstrap,
            self._combine(),
            training.plan.n_threads,
        )

    def _oob_answers(self, prepared: Prepared, nodes: Nodes) -> NDArray[np.float64]:
        """Out-of-bag predictions for all rows; a row of weight 0 is out of every bag."""
        out_of_bag = self._out_of_bag(prepared.training)
        out_of_bag.add(nodes, 0)
        if len(prepared.counted) == len(prepared.rows):
            return out_of_bag.answers()
        answers = nodes.predict(prepared.rows, prepared.training.plan.n_threads, self._combine())
        answers[prepared.counted] = out_of_bag.answers()
        return answers

    def _answers(self, X: Any) -> NDArray[np.float64]:
        rows = self._predict_data(X)
        return self._nodes().predict(rows, check_n_jobs(self.n_jobs), self._combine())

    def _check_more(self) -> None:
        self._nodes().check(self.n_features_in_, self._n_outputs())


@dataclass(frozen=True)
class Prepared:
    """A table ready to grow trees on, and all of its rows, including those of weight 0."""

    training: Training
    rows: NDArray[Any]
    target: NDArray[Any]
    counted: NDArray[np.int64]  # positions of the rows that have a weight


@dataclass(frozen=True)
class _EarlierFit:
    """The earlier fit that a warm start continues."""

    nodes: Nodes
    importance: NDArray[np.float64]
    seed: int
    n_samples: int
    n_draws: int
    labels: tuple[list[Any], list[str]]

    @classmethod
    def of(cls, forest: Any) -> Self | None:
        if not hasattr(forest, "tree_start_"):
            return None
        return cls(
            Nodes.from_state(forest),
            forest.importance_sum_,
            forest.seed_,
            forest.n_samples_,
            forest.n_draws_,
            _labels(forest),
        )

    def check_same_table(self, forest: Any, training: Training) -> None:
        n_draws = training.plan.options.bootstrap
        same_rows = (self.n_samples, self.n_draws) == (len(training.rows), n_draws)
        if not same_rows or self.labels != _labels(forest):
            raise DataError(
                "warm_start continues on the table of the first fit: the same number of rows with "
                "positive weight, the same classes and categories; set warm_start=False for a new "
                "forest"
            )
        wanted = training.plan.n_trees
        if wanted is None or wanted < self.nodes.n_trees:
            raise ParameterError(
                f"n_estimators must be at least the {self.nodes.n_trees} trees that warm_start "
                f"continues from; got {forest.n_estimators!r}"
            )


def _labels(forest: Any) -> tuple[list[Any], list[str]]:
    classes = getattr(forest, "classes_", np.empty(0))
    return classes.tolist(), forest.levels_.tolist()


#: Attributes that hold the trees.
