"""The search shared by all neighbour estimators: parameters, training rows and their index."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from assay.base import Estimator, Levels, ParameterError, check_interval, check_n_jobs, check_option
from assay.base.stored import Array, declared, ensure
from assay.neighbors._graph import GraphOfNeighbors
from assay.neighbors._index import Codes, Index, chunks
from assay.neighbors._metric import CODED, MetricPlan, freeze, resolve_metric

Weighting = str | Callable[[NDArray[np.float64]], NDArray[np.float64]]

#: Kernels of the distance divided by that to the (k+1)-th neighbour.
KERNELS = ("gaussian", "epanechnikov", "triangular")
_ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree")


@dataclass(frozen=True)
class Plan:
    """The parameters of one model, checked and resolved against its training rows."""

    k: int
    metric: MetricPlan
    weights: Weighting
    algorithm: str
    leaf_size: int
    n_threads: int
    class_weight: str | Mapping[Any, float] | None = None
    nominal: Any = None

    @property
    def reach(self) -> int:
        """Number of neighbours to search: kernels need one more."""
        return self.k + 1 if self.weights in KERNELS else self.k

    @property
    def search_key(self) -> tuple[Any, ...]:
        """Return a key that identifies the search."""
        return (self.metric.key, self.algorithm, self.leaf_size, freeze(self.nominal))


def resolve(params: Mapping[str, Any], n_samples: int = sys.maxsize) -> Plan:
    """Check the parameters of a neighbour model that has `n_samples` training rows.

    Without `n_samples` they are checked as far as possible without the rows.
    """
    weights = params.get("weights", "uniform")
    if not callable(weights):
        check_option("weights", weights, ("uniform", "distance", *KERNELS))
    check_option("algorithm", params["algorithm"], _ALGORITHMS)
    check_interval("leaf_size", params["leaf_size"], 1, integer=True)
    class_weight = params.get("class_weight")
    if not isinstance(class_weight, Mapping):
        check_option("class_weight", class_weight, (None, "balanced"))
    metric = resolve_metric(params["metric"], params["p"], params["metric_params"])
    nominal = params["categorical_features"]
    given = nominal is not None and not (isinstance(nominal, str) and nominal == "from_dtype")
    if given and not metric.coded:
        raise ParameterError(
            f"categorical_features needs metric='mixed'; got {nominal!r} with "
            f"metric={params['metric']!r}"
        )
    return Plan(
        k=count(params.get("n_neighbors", 1), n_samples),
        metric=metric,
        weights=weights,
        algorithm=params["algorithm"],
        leaf_size=int(params["leaf_size"]),
        n_threads=check_n_jobs(params["n_jobs"]),
        class_weight=class_weight,
        nominal=nominal,
    )


class _CachedIndex:
    """The cached index of a fitted model, built when it is first needed."""

    def __init__(self) -> None:
        self.key: tuple[Any, ...] = ()
        self.index: Index | None = None


class NeighborRows(Estimator):
    """The training rows and their index."""

    stored = declared(rows_=Array("samples, features", filled=True, finite=False))

    @property
    def takes_missing(self) -> bool:  # type: ignore[override]
        """Whether the metric supports missing values."""
        return isinstance(self.metric, str) and self.metric in CODED

    @property
    def takes_nominal(self) -> bool:  # type: ignore[override]
        """Whether the metric supports nominal columns."""
        return self.takes_missing

    @property
    def effective_metric_(self) -> str:
        """Name of the metric in use; 'minkowski' only if its p has no name of its own."""
        return self._plan().metric.name

    @property
    def effective_metric_params_(self) -> dict[str, Any]:
        """Parameters of the metric in use: p for 'minkowski', and `metric_params`."""
        metric = self._plan().metric
        return {**({"p": metric.p} if metric.name == "minkowski" else {}), **metric.params}

    @property
    def effective_algorithm_(self) -> str:
        """The algorithm in use: 'brute' or 'kd_tree'."""
        return self._index(self._plan()).algorithm

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rows_")

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_cache", None)  # rebuilt from the rows
        return state

    def _keep_rows(self, rows: NDArray[Any]) -> None:
        self.rows_ = rows
        self._cache = _CachedIndex()
        try:
            plan = self._plan()
            # Errors that depend on the rows (wrong lengths, a singular covariance) are raised by
            # fit.
            if plan.metric.params or plan.metric.name not in ("minkowski", *_PLAIN):
                self._index(plan)
        except ValueError:
            del self.rows_
            raise

    def _clear_cache(self) -> None:
        for name in ("categorical_features_", "levels_", "level_offsets_"):
            self.__dict__.pop(name, None)

    def _plan(self) -> Plan:
        check_is_fitted(self)
        self._check_coding()
        return resolve(vars(self), len(self.rows_))

    def _check_coding(self) -> None:
        if self.takes_nominal != hasattr(self, "levels_"):
            raise ParameterError(
                f"metric={self.metric!r} was set after fit, but the columns were encoded for "
                "another metric; call fit again"
            )

    def _index(self, plan: Plan) -> Index:
        cache = self.__dict__.get("_cache")
        if cache is None:
            cache = self._cache = _CachedIndex()
        if cache.index is None or cache.key != plan.search_key:
            cache.index = Index(
                plan.metric,
                self.rows_,
                self._codes(),
                plan.algorithm,
                plan.leaf_size,
                plan.n_threads,
            )
            cache.key = plan.search_key
        return cache.index

    def _codes(self) -> Codes:
        names = getattr(self, "feature_names_in_", None)
        return Codes(
            getattr(self, "categorical_features_", np.empty(0, dtype=np.int64)),
            np.diff(getattr(self, "level_offsets_", [0])).tolist(),
            None if names is None else names.tolist(),
        )

    def _queries(self, X: Any) -> NDArray[Any]:
        if X is None:
            check_is_fitted(self)
            return self.rows_
        return self._predict_data(X)

    def _nominal(self, X: Any, frame: nw.DataFrame[Any] | None, reset: bool) -> list[int]:
        if not (reset and self.metric in ("hamming", "weighted_hamming")):
            return super()._nominal(X, frame, reset)
        # The Hamming distance treats every column as nominal.
        columns = np.arange(self.n_features_in_, dtype=np.int64)
        table = [X[:, j] for j in columns] if frame is None else map(_values, frame.iter_columns())
        levels = Levels.learn(list(table))
        self.categorical_features_ = columns
        self.levels_, self.level_offsets_ = levels.names, levels.offsets
        return columns.tolist()

    def _check_more(self) -> None:
        known = np.isfinite(self.rows_) | (self.takes_missing and np.isnan(self.rows_))
        ensure(known.all(), "rows_ has values that are not finite")
        for j, levels in zip(*self._codes()[:2], strict=True):
            codes = self.rows_[~np.isnan(self.rows_[:, j]), j]
            are_codes = (codes == np.floor(codes)) & (codes >= 0) & (codes < levels)
            ensure(are_codes.all(), f"column {j} of rows_ has unknown categories")
        self._index(self._plan())


class CountsRows:
    """Derives the number of training rows from other attributes."""

    rows_: NDArray[Any]

    @property
    def n_samples_fit_(self) -> int:
        """Number of training rows."""
        return len(self.rows_)


class NeighborSearch(GraphOfNeighbors, NeighborRows):
    """`kneighbors` of the estimators that search for k neighbours."""

    @property
    def n_neighbors_(self) -> int:
        """Number of neighbours in use, also if `n_neighbors` is 'sqrt'."""
        check_is_fitted(self)
        return count(self.n_neighbors, len(self.rows_))

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the nearest training rows of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), default=None
            The query rows. None: all training rows, which then are not their own neighbours.
        n_neighbors : int, default=None
            Number of neighbours; None uses the parameter of the model.
        return_distance : bool, default=True
            Whether to also return the distances.

        Returns
        -------
        distance : ndarray of float64 of shape (n_queries, n_neighbors)
            Nearest first. Only if `return_distance`.
        index : ndarray of int64 of shape (n_queries, n_neighbors)
            Indices of training rows; equal distances are in this order.
        """
        plan = self._plan()
        if n_neighbors is not None:
            check_interval("n_neighbors", n_neighbors, 1, integer=True)
        k = count(self.n_neighbors if n_neighbors is None else n_neighbors, len(self.rows_))
        distance, index = self._nearest(self._queries(X), X is None, k, plan)
        return (distance, index) if return_distance else index

    def _nearest(
        self, queries: NDArray[Any], leave_out_self: bool, k: int, plan: Plan, first: int = 0
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Search; with `leave_out_self`, query i is training row ``first + i`` and is left out."""
        found = self._index(plan)
        if not leave_out_self:
            return found.nearest(queries, k, plan.n_threads)
        if k >= len(self.rows_):
            raise ParameterError(
                f"n_neighbors must be less than the number of training rows (n_samples = "
                f"{len(self.rows_)}) when a row is not its own neighbour; got {k}"
            )
        distance, index = found.nearest(queries, k + 1, plan.n_threads)
        keep = index != np.arange(first, first + len(queries))[:, None]
        # With more than k duplicates a row may be missing from its own list: then drop the last.
        keep[keep.all(axis=1), -1] = False
        return distance[keep].reshape(-1, k), index[keep].reshape(-1, k)

    def _each_chunk(
        self, X: Any, *, outputs: int = 1, classes: int = 0
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64], Plan]]:
        """Search for the neighbours of X in chunks."""
        plan = self._plan()
        queries = self._queries(X)
        most = len(self.rows_) - (X is None)
        k = max(plan.k, min(plan.reach, most))
        for part in chunks(len(queries), k * outputs + classes):
            yield *self._nearest(queries[part], X is None, k, plan, part.start), plan


_PLAIN = ("euclidean", "manhattan", "chebyshev")


def count(n_neighbors: int | str, n_samples: int) -> int:
    """Return the number of neighbours, checked against the number of rows."""
    check_interval("n_neighbors", n_neighbors, 1, integer=True, options=("sqrt",))
    if isinstance(n_neighbors, str):
        return math.isqrt(n_samples) | 1  # the odd integer closest to the root; the larger of two
    if n_neighbors > n_samples:
        raise ParameterError(
            f"n_neighbors must be at most the number of training rows (n_samples = {n_samples}); "
            f"got {n_neighbors}"
        )
    return int(n_neighbors)


def _values(column: nw.Series[Any]) -> NDArray[Any]:
    return column.to_numpy()
