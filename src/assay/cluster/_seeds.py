"""Initial centres: k-means++, random rows, given centres, or a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from assay._core import cluster as kernels
from assay.base import DataError, ParameterError, check_interval, check_option

Init: TypeAlias = str | ArrayLike | Callable[..., ArrayLike]

#: Value of the weights for which kernels use 1 for every row.
NO_WEIGHT: NDArray[np.float64] = np.empty(0)


def check_init(init: object) -> None:
    """Raise on a text that is not an initialisation."""
    if isinstance(init, str):
        check_option("init", init, ("k-means++", "random"))
    elif not callable(init) and not _is_matrix(init):
        raise ParameterError(
            f"init must be 'k-means++', 'random', an array of centres or a function; got {init!r}"
        )


def _is_matrix(init: object) -> bool:
    try:
        return np.asarray(init, dtype=np.float64).ndim == 2
    except (TypeError, ValueError):
        return False


def runs(n_init: int | str, init: object, auto: int) -> int:
    """Return the number of runs; 'auto' is 1 where further runs change little."""
    if isinstance(n_init, str):
        check_option("n_init", n_init, ("auto",))
        informed = (isinstance(init, str) and init == "k-means++") or (
            not isinstance(init, str) and not callable(init)
        )
        return 1 if informed else auto
    check_interval("n_init", n_init, 1, integer=True)
    return 1 if not isinstance(init, str) and not callable(init) else int(n_init)


def check_enough_rows(rows: Any, n_clusters: int) -> None:
    """Raise if there are more clusters than rows."""
    if rows.shape[0] < n_clusters:
        raise DataError(
            f"n_clusters={n_clusters} is more than the rows of X: n_samples={rows.shape[0]} "
            f"should be >= n_clusters={n_clusters}"
        )


def first_centres(
    rows: Any,
    weight: NDArray[np.float64] | None,
    n_clusters: int,
    init: Init,
    random: np.random.RandomState,
    n_threads: int,
) -> NDArray[np.float64]:
    """Return the initial centres of a run, one row per cluster.

    Random numbers are drawn as in scikit-learn, so that the same `random_state` gives the same
    rows.
    """
    if callable(init):
        return given_centres(init(rows, n_clusters, random_state=random), rows, n_clusters)
    if not isinstance(init, str):
        return given_centres(init, rows, n_clusters)
    if init == "random":
        n = rows.shape[0]
        share = np.full(n, 1 / n) if weight is None else weight / weight.sum()
        if np.count_nonzero(share) < n_clusters:  # then rows without weight are used, too
            share = None
        chosen = random.choice(rows.shape[0], size=n_clusters, replace=False, p=share)
    else:
        chosen = plus_plus(rows, weight, n_clusters, random, n_threads)
    return dense(rows[chosen])


def plus_plus(
    rows: Any,
    weight: NDArray[np.float64] | None,
    n_clusters: int,
    random: np.random.RandomState,
    n_threads: int,
) -> NDArray[np.int64]:
    """Return the rows that greedy k-means++ chooses, with 2 + log k trials per seed."""
    trials = 2 + int(np.log(n_clusters))
    if weight is None:
        first = min(int(random.random_sample() * rows.shape[0]), rows.shape[0] - 1)
    else:
        first = int(random.choice(rows.shape[0], p=weight / weight.sum()))
    draws = random.uniform(size=(n_clusters - 1, trials))
    if issparse(rows):
        return _sparse_plus_plus(rows, weight, first, draws)
    chosen = np.empty(n_clusters, dtype=np.int64)
    # One lane per trial; more than 64 would need e^62 clusters.
    kernels.seed_rows(
        rows, NO_WEIGHT if weight is None else weight, first, draws, chosen, n_threads
    )
    return chosen


def _sparse_plus_plus(
    rows: Any,
    weight: NDArray[np.float64] | None,
    first: int,
    draws: NDArray[np.float64],
) -> NDArray[np.int64]:
    norms = squared_norms(rows)
    weight = np.ones(rows.shape[0]) if weight is None else weight

    def squared(chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        products = np.asarray((rows @ rows[chosen].T).todense(), dtype=np.float64)
        return np.maximum(norms[:, None] - 2 * products + norms[chosen], 0)

    chosen = np.empty(len(draws) + 1, dtype=np.int64)
    chosen[0] = first
    nearest = squared(chosen[:1])[:, 0]
    for step, draw in enumerate(draws, start=1):
        reached = np.cumsum(weight * nearest)
        drawn = np.minimum(np.searchsorted(reached, draw * reached[-1]), len(reached) - 1)
        offered = np.minimum(squared(drawn), nearest[:, None])
        best = int(np.argmin(weight @ offered))
        chosen[step] = drawn[best]
        nearest = offered[:, best]
    return chosen


def given_centres(centres: Any, rows: Any, n_clusters: int) -> NDArray[np.float64]:
    """Return centres given by the caller, as float64; raise unless they fit the table."""
    try:
        found = check_array(centres, dtype=np.float64, order="C", copy=True, input_name="init")
    except ValueError as error:
        raise DataError(f"init is not an array of centres: {error}") from None
    if found.shape[0] != n_clusters:
        raise DataError(
            f"The shape of the initial centers {found.shape} does not match the number of "
            f"clusters {n_clusters}."
        )
    if found.shape[1] != rows.shape[1]:
        raise DataError(
            f"The shape of the initial centers {found.shape} does not match the number of "
            f"features of the data {rows.shape[1]}."
        )
    return np.asarray(found)


def dense(rows: Any) -> NDArray[np.float64]:
    """Return a few rows as a new dense float64 matrix."""
    if issparse(rows):
        rows = rows.toarray()
    return np.array(rows, dtype=np.float64, order="C")


def squared_norms(rows: Any) -> NDArray[np.float64]:
    """Return the squared lengths of the rows of a sparse matrix."""
    squares = rows.multiply(rows) if rows.dtype == np.float64 else _wide_squares(rows)
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def _wide_squares(rows: Any) -> Any:
    wide = rows.astype(np.float64)
    wide.data **= 2
    return wide
