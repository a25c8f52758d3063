"""Common part of both gradient boosting estimators: parameters, the run, the fitted trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from assay._core import tree as kernels
from assay.base import (
    DataError,
    Estimator,
    ParameterError,
    check_interval,
    check_n_jobs,
    check_option,
    draw_seed,
)
from assay.base.stored import Array, Integers, declared, ensure
from assay.tree.engine import Bins, Nodes, Ranks, levels_of

Real = NDArray[np.float64]
Callback = Callable[[int, float, float | None], object]

_NONE = np.empty(0)
#: "auto" stops early only on tables with more rows than this, which can spare a validation part.
_AUTO_STOP_ROWS = 10_000


@dataclass(frozen=True)
class Settings:
    """Checked parameters, as the kernel takes them."""

    n_rounds: int
    rate: float
    max_leaves: int
    max_depth: int
    min_samples_leaf: int
    l1: float
    l2: float


@dataclass(frozen=True)
class Training:
    """Training rows with targets and weights, and their place in a larger sorted table."""

    X: NDArray[Any]
    target: Real
    weight: Real | None
    ranks: Ranks | None = None  # the columns of a larger table, sorted
    place: NDArray[np.int64] | None = None  # where these rows are in that table

    def take(self, rows: NDArray[np.integer[Any]]) -> Training:
        """Return some of the rows."""
        return Training(
            self.X[rows],
            self.target[rows],
            None if self.weight is None else self.weight[rows],
            self.ranks,
            None if self.place is None else self.place[rows],
        )

    def bins(self, max_bins: int, n_levels: NDArray[np.int32], n_threads: int) -> Bins:
        """Return the rows cut into bins."""
        if self.ranks is not None and self.place is not None:
            return Bins.from_ranks(self.ranks, self.place, max_bins, n_threads, self.weight)
        return Bins.build(self.X, max_bins, n_levels, self.weight, n_threads)


class GradientBoosting(Estimator):
    """Common part of classifier and regressor."""

    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    stored = declared(
        feature_gain_=Array("features", 0),
        start_=Array("outputs", filled=True),
        tree_start_=Integers("bounds", filled=True),
        train_score_=Array("n_iter_"),
        validation_score_=Array("0 | n_iter_"),
    )

    @property
    def n_iter_(self) -> int:
        """Number of rounds in the model."""
        check_is_fitted(self)
        return (len(self.tree_start_) - 1) // len(self.start_)

    @property
    def n_trees_per_iteration_(self) -> int:
        """Trees per round: 1, or one per class where there are more than two."""
        check_is_fitted(self)
        return len(self.start_)

    @property
    def feature_importances_(self) -> Real:
        """Share of each column in the total gain of all splits."""
        check_is_fitted(self)
        total = self.feature_gain_.sum()
        return self.feature_gain_ / total if total > 0 else np.zeros_like(self.feature_gain_)

    def prefix(self, n_estimators: int) -> Self:
        """Return the same model with its first rounds only, without fitting again.

        Parameters
        ----------
        n_estimators : int
            Rounds to keep, from 1 to `n_iter_`.

        Returns
        -------
        estimator
            A fitted model that shares no array with this one. Its `feature_importances_` are
            those of the whole run.
        """
        check_is_fitted(self)
        check_interval("n_estimators", n_estimators, 1, self.n_iter_, integer=True)
        n_trees = int(n_estimators) * len(self.start_)
        nodes = Nodes.from_state(self).first(n_trees)
        is_leaf = nodes.node_left == 0
        n_values = int(nodes.node_slot[is_leaf].max()) + 1
        short = type(self)(**{**self.get_params(deep=False), "n_estimators": int(n_estimators)})
        for name, value in vars(self).items():
            if name.endswith("_"):
                setattr(short, name, value.copy() if isinstance(value, np.ndarray) else value)
        replace(nodes, leaf_value=nodes.leaf_value[:n_values]).store_in(short)
        for name in _TREE_ARRAYS:
            setattr(short, name, getattr(short, name).copy())
        short.train_score_ = short.train_score_[: int(n_estimators)]
        short.validation_score_ = short.validation_score_[: int(n_estimators)]
        return short

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the leaf that each row ends in, in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of int32 of shape (n_samples, n_iter_ * n_trees_per_iteration_)
            Node numbers, counted from the root of the tree.
        """
        rows = self._predict_data(X)
        return Nodes.from_state(self).apply(rows, check_n_jobs(self.n_jobs))

    def _scores(self, X: ArrayLike) -> Real:
        """Raw scores: (n_samples, outputs)."""
        rows = self._predict_data(X)
        return Nodes.from_state(self).predict(
            rows,
            check_n_jobs(self.n_jobs),
            "sum",
            n_groups=len(self.start_),
            init=self.start_,
        )

    def _staged_scores(self, X: ArrayLike) -> Iterator[Real]:
        """Raw scores after each round; some rounds at a time, so that memory stays small."""
        rows = self._predict_data(X)
        yield from staged_scores(
            Nodes.from_state(self), self.start_, rows, range(1, self.n_iter_ + 1), self.n_jobs
        )

    def _settings(self) -> Settings:
        """Check every parameter that does not depend on the data."""
        check_interval("learning_rate", self.learning_rate, 0, open_low=True, high=math.inf)
        check_interval("n_estimators", self.n_estimators, 1, integer=True)
        check_interval("max_leaf_nodes", self.max_leaf_nodes, 2, integer=True, options=[None])
        check_interval("max_depth", self.max_depth, 1, integer=True, options=[None])
        check_interval("min_samples_leaf", self.min_samples_leaf, 1, integer=True)
        for name in ("l2_regularization", "l1_regularization"):
            check_interval(name, getattr(self, name), 0, math.inf, open_high=True)
        check_interval("subsample", self.subsample, 0, 1, open_low=True)
        check_interval("max_bins", self.max_bins, 2, 255, integer=True)
        check_option("early_stopping", self.early_stopping, ("auto", True, False))
        if self.validation_fraction is not None:
            check_interval(
                "validation_fraction",
                self.validation_fraction,
                0,
                1,
                open_low=True,
                open_high=True,
                options=[None],
            )
        check_interval("n_iter_no_change", self.n_iter_no_change, 1, integer=True)
        check_interval("tol", self.tol, 0, math.inf, open_high=True)
        check_interval("verbose", self.verbose, 0, integer=True, options=[True, False])
        return Settings(
            int(self.n_estimators),
            float(self.learning_rate),
            int(self.max_leaf_nodes or 0),
            int(self.max_depth or 0),
            int(self.min_samples_leaf),
            float(self.l1_regularization),
            float(self.l2_regularization),
        )

    def _n_columns(self, n_features: int) -> int:
        """Columns drawn per tree; 0 = all."""
        share = self.max_features
        words = "an integer >= 1, a number in (0, 1], 'sqrt', 'log2' or None"
        if share is None:
            return 0
        if isinstance(share, str) and share in ("sqrt", "log2"):
            root = math.sqrt(n_features) if share == "sqrt" else math.log2(n_features)
            return max(1, int(root))
        if isinstance(share, Integral) and not isinstance(share, bool):
            if share < 1:
                raise ParameterError(f"max_features must be {words}; got {share!r}")
            return min(int(share), n_features)
        if isinstance(share, (float, np.floating)) and 0 < share <= 1:
            return max(1, int(share * n_features))
        raise ParameterError(f"max_features must be {words}; got {share!r}")

    def _monotone(self, n_features: int) -> NDArray[np.int8]:
        """Constraints per column; empty = none."""
        given = self.monotonic_cst
        allowed = "None, one of -1, 0, 1 per column, or a dict from column names to these"
        if given is None:
            return np.empty(0, dtype=np.int8)
        if isinstance(given, dict):
            names = list(getattr(self, "feature_names_in_", []))
            unknown = [name for name in given if name not in names]
            if unknown:
                raise ParameterError(
                    f"monotonic_cst names column {unknown[0]!r}, which X does not have"
                )
            given = [given.get(name, 0) for name in names]
        try:
            signs = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError(
                f"monotonic_cst must be {allowed}; got {self.monotonic_cst!r}"
            ) from None
        if signs.shape != (n_features,) or not np.isin(signs, (-1, 0, 1)).all():
            raise ParameterError(f"monotonic_cst must be {allowed}; got {self.monotonic_cst!r}")
        nominal = np.flatnonzero(signs[self.categorical_features_])
        if nominal.size:
            column = int(self.categorical_features_[nominal[0]])
            raise ParameterError(
                f"monotonic_cst constrains column {column}, which is nominal and has no order"
            )
        return signs.astype(np.int8) if signs.any() else np.empty(0, dtype=np.int8)

    def _boost(
        self,
        data: Training,
        settings: Settings,
        loss: tuple[int, float],
        starts: Callable[[Training], Real],
        by_class: bool,
        callback: Callback | None,
    ) -> None:
        """Run the kernel on checked data and store the trees."""
        n_threads = check_n_jobs(self.n_jobs)
        n_columns = self._n_columns(self.n_features_in_)
        monotone = self._monotone(self.n_features_in_)
        seed = draw_seed(self.random_state)
        if data.weight is not None and not data.weight.all():
            kept = np.flatnonzero(data.weight)  # rows of weight 0 are left out
            data = data.take(kept)
        stops = len(data.target) > _AUTO_STOP_ROWS
        if self.early_stopping != "auto":
            stops = bool(self.early_stopping)
        watch: Training | None = None
        if stops and self.validation_fraction is not None:
            rest, back = validation_split(
                len(data.target),
                data.target if by_class else None,
                float(self.validation_fraction),
                seed,
            )
            data, watch = data.take(rest), data.take(back)
        start = np.atleast_1d(np.asarray(starts(data), dtype=np.float64))
        n_levels = levels_of(self)
        bins = data.bins(int(self.max_bins), n_levels, n_threads)
        table = kernels.boost_table(
            **{field.name: getattr(bins, field.name) for field in fields(bins)}, n_threads=n_threads
        )
        del bins  # a table with bundled columns does not need them, and they are large
        n_rows = int(self.subsample * len(data.target)) if self.subsample < 1 else 0
        grown = kernels.boost(
            table,
            n_levels=n_levels,
            target=np.ascontiguousarray(data.target),
            weight=_NONE if data.weight is None else np.ascontiguousarray(data.weight),
            watch_rows=_watched(watch, self.n_features_in_),
            watch_target=_NONE if watch is None else np.ascontiguousarray(watch.target),
            watch_weight=_NONE if watch is None or watch.weight is None else watch.weight,
            start=start,
            monotone=monotone,
            loss=loss[0],
            param=loss[1],
            n_rounds=settings.n_rounds,
            rate=settings.rate,
            max_leaves=settings.max_leaves,
            max_depth=settings.max_depth,
            min_samples_leaf=settings.min_samples_leaf,
            l1=settings.l1,
            l2=settings.l2,
            n_rows=max(1, n_rows) if self.subsample < 1 else 0,
            n_cols=n_columns,
            patience=int(self.n_iter_no_change) if stops else 0,
            tol=float(self.tol),
            seed=seed,
            n_threads=n_threads,
            after_round=self._reporter(callback, watch is not None),
        )
        if grown["overflow"]:
            raise DataError(
                f"the loss is no longer finite after {len(grown['train_loss']) - 1} rounds: use a "
                "smaller learning_rate or a larger l2_regularization"
            )
        self.start_ = start
        self.train_score_ = grown["train_loss"][1:]
        self.validation_score_ = grown["watch_loss"][1:]
        self.feature_gain_ = grown["gain"]
        Nodes(
            grown["tree_start"],
            grown["node_left"],
            grown["node_feature"],
            grown["node_threshold"],
            grown["node_missing_left"],
            grown["node_slot"],
            grown["level_words"],
            grown["leaf_value"].reshape(-1, 1),
            n_levels,
        ).store_in(self)

    def _reporter(self, callback: Callback | None, watched: bool) -> Any:
        """Return the function that the kernel calls after each round; None = no calls."""
        every = int(self.verbose)
        if callback is None and not every:
            return None

        def after_round(round_: int, train: float, validation: float) -> bool:
            if every and (round_ + 1) % every == 0:
                text = f", validation loss {validation:.6g}" if watched else ""
                print(f"round {round_ + 1}: training loss {train:.6g}{text}")
            if callback is None:
                return True
            return callback(round_, train, validation if watched else None) is not False

        return after_round

    def _check_more(self) -> None:
        Nodes.from_state(self).check(self.n_features_in_, 1)
        whole = (len(self.tree_start_) - 1) % len(self.start_) == 0
        ensure(whole, "tree_start_ is not a whole number of rounds")


_TREE_ARRAYS = (
    "tree_start_",
    "node_left_",
    "node_feature_",
    "node_threshold_",
    "node_missing_left_",
    "node_slot_",
    "level_words_",
    "leaf_value_",
)


def staged_scores(
    nodes: Nodes, start: Real, rows: NDArray[Any], rounds: Any, n_jobs: int | None
) -> Iterator[Real]:
    """Yield raw scores (n_samples, outputs) after each number in `rounds`, which ascend."""
    stops = np.asarray(list(rounds), dtype=np.int64) * len(start)
    at_once = max(1, 2**22 // max(1, len(rows) * len(start)))
    for first in range(0, len(stops), at_once):
        yield from nodes.predict(
            rows,
            check_n_jobs(n_jobs),
            "sum",
            stops[first : first + at_once],
            n_groups=len(start),
            init=start,
        )


def validation_split(
    n_samples: int, codes: NDArray[Any] | None, fraction: float, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the training rows and the validation rows, both ascending.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    codes : ndarray or None
        Classes; each gives the same fraction, and keeps at least one training row.
    fraction : float
        Fraction of the rows used for validation.
    seed : int
        Seed.
    """
    order = np.random.default_rng(seed).permutation(n_samples)
    groups = [order]
    if codes is not None:
        groups = [order[codes[order] == code] for code in np.unique(codes)]
    back = np.concatenate(
        [group[: min(round(fraction * len(group)), len(group) - 1)] for group in groups]
    )
    if not len(back):
        raise DataError(
            f"validation_fraction={fraction:g} of {n_samples} rows leaves no validation row; "
            "use a larger fraction or early_stopping=False"
        )
    is_back = np.zeros(n_samples, dtype=bool)
    is_back[back] = True
    return np.flatnonzero(~is_back), np.flatnonzero(is_back)


def _watched(watch: Training | None, n_features: int) -> Real:
    if watch is None:
        return np.empty((0, n_features))
    return np.ascontiguousarray(watch.X, dtype=np.float64)
