"""The search both neighbour estimators share: which rows are nearest, by exact brute force."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from assay._core import neighbors as kernels
from assay.base import (
    Estimator,
    ParameterError,
    check_array_state,
    check_interval,
    check_n_jobs,
    check_option,
)

Weighting = str | Callable[[NDArray[np.float64]], NDArray[np.float64]]

#: The exponent of each metric that has a name; "minkowski" takes it from the parameter p.
_EXPONENTS = {"manhattan": 1.0, "euclidean": 2.0, "chebyshev": math.inf}
_METRICS = ("minkowski", "euclidean", "manhattan", "chebyshev")

#: Neighbours held at once while predicting: 2 million, 32 MB of distances and indices.
_CHUNK = 1 << 21


@dataclass(frozen=True)
class Plan:
    """The parameters of one model, checked and resolved against its training rows."""

    k: int
    p: float
    weights: Weighting
    n_threads: int


def resolve(params: Mapping[str, Any], n_samples: int = sys.maxsize) -> Plan:
    """Check the parameters of a neighbour model that has `n_samples` training rows.

    Without `n_samples` they are checked as far as that is possible before the rows are seen.
    """
    if not callable(params["weights"]):
        check_option("weights", params["weights"], ("uniform", "distance"))
    check_option("algorithm", params["algorithm"], ("auto", "brute"))
    return Plan(
        k=_count(params["n_neighbors"], n_samples),
        p=_exponent(params["metric"], params["p"]),
        weights=params["weights"],
        n_threads=check_n_jobs(params["n_jobs"]),
    )


def nearest(
    queries: NDArray[Any], refs: NDArray[Any], k: int, p: float, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return distances and row numbers of the k rows of `refs` nearest to each query.

    Nearest first; equal distances in the order of the rows. float32 stays float32 only when both
    are: a mixture is searched in float64, so that no query is rounded.
    """
    kind = np.result_type(queries, refs)
    queries = np.ascontiguousarray(queries, dtype=kind)
    refs = np.ascontiguousarray(refs, dtype=kind)
    distance = np.empty((len(queries), k))
    index = np.empty((len(queries), k), dtype=np.int64)
    kernels.brute_force(queries, refs, k, p, distance, index, n_threads)
    return distance, index


def chunks(n_queries: int, width: int) -> Iterator[slice]:
    """Cut the queries so that arrays of `width` numbers per query stay within the budget."""
    step = max(1, _CHUNK // max(1, width))
    for start in range(0, n_queries, step):
        yield slice(start, min(start + step, n_queries))


class NeighborSearch(Estimator):
    """Parameters, attributes and `kneighbors` of the neighbour estimators."""

    def __init__(
        self,
        n_neighbors: int | str = 5,
        *,
        weights: Weighting = "uniform",
        algorithm: str = "auto",
        p: float = 2,
        metric: str = "minkowski",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.p = p
        self.metric = metric
        self.n_jobs = n_jobs

    @property
    def n_samples_fit_(self) -> int:
        """Number of training rows."""
        return len(self.rows_)

    @property
    def n_neighbors_(self) -> int:
        """Number of neighbours that have a say, also when `n_neighbors` is 'sqrt'."""
        return self._plan().k

    @property
    def effective_metric_(self) -> str:
        """Name of the metric in use; 'minkowski' only where p has no name of its own."""
        p = self._plan().p
        return next((name for name, value in _EXPONENTS.items() if value == p), "minkowski")

    @property
    def effective_metric_params_(self) -> dict[str, float]:
        """What else the metric needs: p for 'minkowski'."""
        return {"p": self._plan().p} if self.effective_metric_ == "minkowski" else {}

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the nearest training rows of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), default=None
            The rows whose neighbours are wanted. None: those of every training row, which is then
            not its own neighbour.
        n_neighbors : int, default=None
            How many; None as the model was made.
        return_distance : bool, default=True
            Whether to return the distances too.

        Returns
        -------
        distance : ndarray of float64 of shape (n_queries, n_neighbors)
            Nearest first. Only if `return_distance`.
        index : ndarray of int64 of shape (n_queries, n_neighbors)
            Row numbers of the training table; equal distances in this order.
        """
        plan = self._plan()
        k = plan.k
        if n_neighbors is not None:
            check_interval("n_neighbors", n_neighbors, 1, integer=True)
            k = _count(n_neighbors, self.n_samples_fit_)
        distance, index = self._nearest(self._queries(X), X is None, k, plan)
        return (distance, index) if return_distance else index

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rows_")

    def _plan(self) -> Plan:
        check_is_fitted(self)
        return resolve(vars(self), self.n_samples_fit_)

    def _queries(self, X: Any) -> NDArray[Any]:
        if X is None:
            check_is_fitted(self)
            return self.rows_  # type: ignore[no-any-return]
        return self._predict_data(X)

    def _nearest(
        self, queries: NDArray[Any], leave_out_self: bool, k: int, plan: Plan, first: int = 0
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Search; with `leave_out_self`, query i is training row ``first + i`` and is left out."""
        if not leave_out_self:
            return nearest(queries, self.rows_, k, plan.p, plan.n_threads)
        if k >= self.n_samples_fit_:
            raise ParameterError(
                f"n_neighbors must be less than the number of training rows (n_samples = "
                f"{self.n_samples_fit_}) when a row is not its own neighbour; got {k}"
            )
        distance, index = nearest(queries, self.rows_, k + 1, plan.p, plan.n_threads)
        keep = index != np.arange(first, first + len(queries))[:, None]
        # Among more than k duplicates a row may be missing from its own list: drop the last then.
        keep[keep.all(axis=1), -1] = False
        return distance[keep].reshape(-1, k), index[keep].reshape(-1, k)

    def _each_chunk(
        self, X: Any, *, outputs: int = 1, classes: int = 0
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64], Plan]]:
        """Search for the neighbours of X, a bounded number of rows at a time."""
        plan = self._plan()
        queries = self._queries(X)
        for part in chunks(len(queries), plan.k * outputs + classes):
            yield *self._nearest(queries[part], X is None, plan.k, plan, part.start), plan

    def _check_state(self) -> None:
        super()._check_state()
        check_array_state(self, "rows_", "f", (None, self.n_features_in_))
        self._plan()


def _count(n_neighbors: int | str, n_samples: int) -> int:
    check_interval("n_neighbors", n_neighbors, 1, integer=True, options=("sqrt",))
    if isinstance(n_neighbors, str):
        return math.isqrt(n_samples) | 1  # the odd integer nearest to the root; of two, the larger
    if n_neighbors > n_samples:
        raise ParameterError(
            f"n_neighbors must be at most the number of training rows (n_samples = {n_samples}); "
            f"got {n_neighbors}"
        )
    return int(n_neighbors)


def _exponent(metric: str, p: float) -> float:
    check_option("metric", metric, _METRICS)
    check_interval("p", p, 1)
    if metric == "minkowski":
        return float(p)
    if p not in (2, _EXPONENTS[metric]):
        raise ParameterError(f"p applies to metric='minkowski' only; got p={p!r} with {metric!r}")
    return _EXPONENTS[metric]
