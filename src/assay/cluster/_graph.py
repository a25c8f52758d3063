"""Similarity graphs: construction, connected parts, normalised cut and eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_matrix, diags, issparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu
from sklearn.metrics.pairwise import euclidean_distances

from assay.base import DataError
from assay.neighbors import NearestNeighbors

#: Up to this size, computing all eigenvectors is cheaper than some of them.
_DENSE = 600
#: Restarts of the plain Lanczos method before switching to shift-invert.
_RESTARTS = 60


def full_graph(rows: Any, gamma: float) -> NDArray[np.float64]:
    r"""Return :math:`W_{ij} = \exp(-\gamma \|x_i - x_j\|^2)` for all pairs of rows."""
    if not issparse(rows):
        # Distances do not depend on the origin; near it they are more accurate.
        rows = rows - rows.mean(axis=0, dtype=np.float64)
    weights: NDArray[np.float64] = euclidean_distances(rows, squared=True)
    weights *= -gamma
    np.exp(weights, out=weights)
    np.fill_diagonal(weights, 1.0)
    # Bit-symmetric, for any order of the sums in a matrix product.
    return np.asarray(np.maximum(weights, weights.T))


def neighbor_graph(
    rows: NDArray[Any], n_neighbors: int, gamma: float | None, n_jobs: int | None
) -> csr_matrix:
    """Return the symmetric graph of nearest neighbours; a row counts as its own nearest one.

    Without `gamma` the weight is 1 where each row is among the neighbours of the other and 1/2
    where only one is; with it, the weight of the full graph wherever either is.
    """
    n_rows = rows.shape[0]
    others = min(n_neighbors, n_rows) - 1
    if others == 0:
        return csr_matrix(np.eye(n_rows))
    search = NearestNeighbors(n_neighbors=others, n_jobs=n_jobs).fit(rows)
    distance, index = search.kneighbors()
    weight = np.ones(index.size) if gamma is None else np.exp(-gamma * distance.ravel() ** 2)
    starts = np.arange(0, index.size + 1, others)
    half = csr_matrix((weight, index.ravel(), starts), shape=(n_rows, n_rows))
    half.sort_indices()
    loops = diags(np.ones(n_rows), format="csr")
    if gamma is None:
        return csr_matrix((half + half.T) * 0.5 + loops)
    return csr_matrix(half.maximum(half.T) + loops)


def checked_affinity(affinity: Any) -> Any:
    """Return a given matrix of similarities as float64; raise unless it is an undirected graph."""
    if affinity.shape[0] != affinity.shape[1]:
        raise DataError(
            f"affinity='precomputed' needs a square matrix of similarities; got shape "
            f"{affinity.shape}"
        )
    weights = csr_matrix(affinity, dtype=np.float64) if issparse(affinity) else affinity
    values = weights.data if issparse(weights) else weights
    if values.size and values.min() < 0:
        raise DataError(f"similarities must not be negative; got {values.min():g}")
    gap = abs(weights - weights.T).max() if values.size else 0.0
    if gap > 1e-8 * max(values.max(initial=0.0), 1e-300):
        raise DataError(
            f"similarities must be symmetric; the largest difference between (i, j) and (j, i) "
            f"is {gap:g}"
        )
    return (weights + weights.T) * 0.5 if gap else weights.astype(np.float64, copy=False)


def degrees(affinity: Any) -> NDArray[np.float64]:
    """Return the sum of the similarities of each row."""
    return np.asarray(affinity.sum(axis=1), dtype=np.float64).ravel()


def graph_parts(affinity: Any) -> NDArray[np.int64]:
    """Return the connected part of each row, numbered by their first rows."""
    graph = affinity if issparse(affinity) else csr_matrix(affinity > 0)
    _, part = connected_components(graph, directed=False)
    return in_order(part)


def in_order(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the same clusters, numbered by their first rows.

    Examples
    --------
    >>> in_order(np.array([7, 2, 7, 5])).tolist()
    [0, 1, 0, 2]
    """
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[codes.ravel()])


def normalized_cut(affinity: Any, labels: ArrayLike) -> float:
    r"""Return the normalised cut of a clustering of a graph.

    Parameters
    ----------
    affinity : array-like or sparse matrix of shape (n_samples, n_samples)
        Symmetric similarities W, not negative.
    labels : array-like of shape (n_samples,)
        The cluster of each row.

    Returns
    -------
    float
        From 0 (no similarity between clusters) to the number of clusters - 1 or slightly more.

    Notes
    -----
    .. math:: \mathrm{Ncut} = \sum_k \frac{\mathrm{cut}(A_k, \bar A_k)}{\mathrm{vol}(A_k)}, \qquad
              \mathrm{cut}(A, B) = \sum_{i \in A, j \in B} W_{ij}, \qquad
              \mathrm{vol}(A) = \sum_{i \in A} \sum_j W_{ij}

    A cluster without any similarity, not even to itself, adds 0. O(edges). Source: Shi and
    Malik, *Normalized cuts and image segmentation*, 2000.

    Examples
    --------
    >>> from assay.cluster import normalized_cut
    >>> chain = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> normalized_cut(chain, [0, 0, 1])  # 1/3 + 1/1
    1.3333333333333333
    """
    weights = affinity if issparse(affinity) else np.asarray(affinity, dtype=np.float64)
    _, codes = np.unique(np.asarray(labels), return_inverse=True)
    if weights.shape != (len(codes), len(codes)):
        raise DataError(
            f"affinity must have one row and one column per label ({len(codes)}); "
            f"got shape {weights.shape}"
        )
    member = csr_matrix(
        (np.ones(len(codes)), (np.arange(len(codes)), codes)), shape=(len(codes), codes.max() + 1)
    )
    between = np.asarray((member.T @ (weights @ member.toarray())), dtype=np.float64)
    volume = between.sum(axis=1)
    cut = volume - np.diag(between)
    share = np.divide(cut, volume, out=np.zeros_like(cut), where=volume > 0)
    return float(np.maximum(share, 0.0).sum())


def cut_vectors(
    affinity: Any, count: int, tol: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return the smallest solutions of :math:`(D - W) y = \lambda D y` besides the constant one.

    Needs a connected graph of more than `count` rows. The vectors are scaled to
    :math:`y^T D y = 1`, and the largest entry of each is positive. Computed by symmetric
    eigenvectors u of :math:`M = D^{-1/2} W D^{-1/2}` orthogonal to the known one,
    :math:`D^{1/2} 1`: all of them for a small graph, Lanczos from a fixed start otherwise.
    """
    root = np.sqrt(degrees(affinity))
    trivial = root / np.linalg.norm(root)
    scaled = _scaled(affinity, 1.0 / root)
    n_rows = len(root)
    if n_rows <= _DENSE or count > n_rows // 3:
        dense = scaled.toarray() if issparse(scaled) else scaled
        # Shift the known solution from 1, where it could mix with others, to -1.
        dense = dense - 2.0 * np.outer(trivial, trivial)
        values, vectors = eigh(dense, subset_by_index=[n_rows - count, n_rows - 1])
    else:
        values, vectors = _lanczos(scaled, trivial, count, tol)
    order = np.argsort(-values, kind="stable")
    vectors = vectors[:, order] / root[:, None]
    peak = np.abs(vectors).argmax(axis=0)
    vectors *= np.where(vectors[peak, np.arange(count)] < 0, -1.0, 1.0)
    return np.maximum(1.0 - values[order], 0.0), vectors


def residual(affinity: Any, values: NDArray[Any], vectors: NDArray[Any]) -> float:
    r"""Return the largest :math:`\|(D - W) y - \lambda D y\| / \|D y\|`, 0 for exact solutions."""
    if not vectors.shape[1]:
        return 0.0
    weighted = degrees(affinity)[:, None] * vectors
    error = weighted - affinity @ vectors - weighted * values
    return float((np.linalg.norm(error, axis=0) / np.linalg.norm(weighted, axis=0)).max())


def _scaled(affinity: Any, factor: NDArray[np.float64]) -> Any:
    if issparse(affinity):
        return csr_matrix(diags(factor) @ affinity @ diags(factor))
    return factor[:, None] * affinity * factor


def _lanczos(
    scaled: Any, trivial: NDArray[np.float64], count: int, tol: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest eigenvalues of M with their vectors, all orthogonal to the known one."""
    n_rows = len(trivial)
    start = np.random.default_rng(0).uniform(-1.0, 1.0, n_rows)
    start -= trivial * (trivial @ start)
    basis = min(n_rows - 1, max(2 * count + 1, 32))
    plain = LinearOperator(
        (n_rows, n_rows),
        matvec=lambda x: scaled @ x.ravel() - 2.0 * trivial * (trivial @ x.ravel()),
        dtype=np.float64,
    )
    options: dict[str, Any] = {"k": count, "v0": start, "tol": tol, "ncv": basis}
    try:
        values, vectors = eigsh(plain, which="LA", maxiter=_RESTARTS, **options)
    except ArpackNoConvergence:
        # Eigenvalues crowd just below 1 where parts are weakly connected. Inverted around a point
        # just above 1 they are well separated.
        shift = 1.0 + 1e-3
        if not issparse(scaled):
            shifted = np.diag(np.full(n_rows, shift)) - scaled
            values, vectors = eigh(
                shifted + 2.0 * np.outer(trivial, trivial), subset_by_index=[0, count - 1]
            )
            return shift - values, vectors
        factor = splu((diags(np.full(n_rows, shift)) - scaled).tocsc())

        def inverted(x: NDArray[np.float64]) -> NDArray[np.float64]:
            x = x.ravel() - trivial * (trivial @ x.ravel())
            y = factor.solve(x)
            return np.asarray(y - trivial * (trivial @ y))

        operator = LinearOperator((n_rows, n_rows), matvec=inverted, dtype=np.float64)
        inverse, vectors = eigsh(operator, which="LA", maxiter=50 * n_rows, **options)
        values = shift - 1.0 / inverse
    return values, vectors
