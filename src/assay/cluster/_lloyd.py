"""One run of Lloyd's iteration from given centres, for dense and sparse tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from assay._core import cluster as kernels
from assay.cluster._seeds import NO_WEIGHT, squared_norms

#: Memory for the scores of sparse rows for all centres: about 8 MB.
_SCORES = 1 << 20


class Run(NamedTuple):
    """The result of one run."""

    centres: NDArray[np.float64]
    labels: NDArray[np.int32]
    inertia: float
    n_iter: int
    stop_reason: str
    shift: float


def lloyd(
    rows: Any,
    weight: NDArray[np.float64] | None,
    centres: NDArray[np.float64],
    *,
    max_iter: int,
    tolerance: float,
    bounds: bool,
    n_threads: int,
) -> Run:
    """Iterate from `centres`, which are overwritten, until convergence."""
    if issparse(rows):
        return _sparse_lloyd(rows, weight, centres, max_iter, tolerance)
    labels = np.empty(rows.shape[0], dtype=np.int32)
    inertia, n_iter, stable, shift, _ = kernels.kmeans(
        rows,
        NO_WEIGHT if weight is None else weight,
        centres,
        labels,
        max_iter,
        tolerance,
        bounds,
        n_threads,
    )
    return Run(centres, labels, inertia, n_iter, _reason(stable, shift, tolerance), shift)


def nearest(
    rows: Any, centres: NDArray[np.float64], n_threads: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the nearest centre of each row and the squared distance to it."""
    if issparse(rows):
        return _sparse_nearest(rows, centres, squared_norms(rows))
    labels = np.empty(rows.shape[0], dtype=np.int32)
    squared = np.empty(rows.shape[0])
    kernels.nearest_centre(rows, centres, labels, squared, n_threads)
    return labels, squared


def tolerance_of(rows: Any, tol: float, n_threads: int) -> float:
    """Return `tol` times the mean variance of the columns, without a copy of the table."""
    if tol == 0:
        return 0.0
    if issparse(rows):
        mean = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
        return float(tol * (squared_norms(rows).sum() / rows.shape[0] - mean @ mean) / len(mean))
    variances = np.empty(rows.shape[1])
    kernels.column_variances(rows, variances, n_threads)
    return float(tol * variances.mean())


def _reason(stable: bool, shift: float, tolerance: float) -> str:
    if stable:
        return "converged"
    return "tol" if shift <= tolerance else "max_iter"


def _sparse_lloyd(
    rows: Any,
    weight: NDArray[np.float64] | None,
    centres: NDArray[np.float64],
    max_iter: int,
    tolerance: float,
) -> Run:
    norms = squared_norms(rows)
    mass = np.ones(rows.shape[0]) if weight is None else weight
    labels = np.full(rows.shape[0], -1, dtype=np.int32)
    stable, shift, n_iter = False, np.inf, 0
    while n_iter < max_iter and not stable:
        n_iter += 1
        before, labels_before = centres, labels
        labels, squared = _sparse_nearest(rows, before, norms)
        centres = _sparse_means(rows, mass, labels, squared, before)
        stable = np.array_equal(labels, labels_before)
        shift = float(((centres - before) ** 2).sum())
        if shift <= tolerance:
            break
    if not stable:
        labels, _ = _sparse_nearest(rows, centres, norms)
    inertia = float(mass @ _own(rows, centres, labels, norms))
    return Run(centres, labels, inertia, n_iter, _reason(stable, shift, tolerance), shift)


def _sparse_nearest(
    rows: Any, centres: NDArray[np.float64], norms: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    lengths = (centres**2).sum(axis=1)
    labels = np.empty(rows.shape[0], dtype=np.int32)
    squared = np.empty(rows.shape[0])
    step = max(1, _SCORES // len(centres))
    for start in range(0, rows.shape[0], step):
        part = slice(start, start + step)
        scores = lengths - 2 * (rows[part] @ centres.T)
        labels[part] = np.argmin(scores, axis=1)
        squared[part] = scores[np.arange(len(scores)), labels[part]] + norms[part]
    return labels, np.maximum(squared, 0)


def _sparse_means(
    rows: Any,
    weight: NDArray[np.float64],
    labels: NDArray[np.int32],
    squared: NDArray[np.float64],
    before: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the means; a cluster without weight gets one of the farthest rows."""
    k = len(before)
    members = csr_matrix((weight, labels, np.arange(len(labels) + 1)), shape=(len(labels), k))
    sums = np.asarray((members.T @ rows).todense(), dtype=np.float64)
    mass = np.bincount(labels, weights=weight, minlength=k)
    empty = np.flatnonzero(mass <= 0)
    far = np.argsort(-squared, kind="stable")[: len(empty)]
    for cluster, row in zip(empty, far, strict=True):
        if squared[row] > 0 and weight[row] > 0:
            moved = weight[row] * rows[[row]].toarray()[0]
            sums[labels[row]] -= moved
            mass[labels[row]] -= weight[row]
            sums[cluster] += moved
            mass[cluster] += weight[row]
    heaviest = int(np.argmax(mass))
    means = sums / np.where(mass > 0, mass, 1)[:, None]
    means[mass <= 0] = means[heaviest]
    return means


def _own(
    rows: Any,
    centres: NDArray[np.float64],
    labels: NDArray[np.int32],
    norms: NDArray[np.float64],
) -> NDArray[np.float64]:
    lengths = (centres**2).sum(axis=1)
    owner = np.repeat(labels, np.diff(rows.indptr))
    products = rows.data * centres[owner, rows.indices]
    sums = np.add.reduceat(np.append(products, 0.0), rows.indptr[:-1])
    sums[np.diff(rows.indptr) == 0] = 0
    squared: NDArray[np.float64] = np.maximum(norms - 2 * sums + lengths[labels], 0)
    return squared
