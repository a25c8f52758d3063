r"""Votes of neighbours: class shares and weighted means, for many k at once.

.. math:: P_k(c) = \frac{\sum_{j \le k} w_j [y_j = c]}{\sum_{j \le k} w_j}, \qquad
          m_k = \frac{\sum_{j \le k} w_j y_j}{\sum_{j \le k} w_j}

The sums run over the neighbours in order, nearest first. So the sums for all k are partial sums of
one pass, and a model with one k gives the same bits as a path over many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError, ParameterError, check_interval
from assay.neighbors._search import KERNELS, Weighting


def vote_weights(
    distance: NDArray[np.float64], weights: Weighting, k: int | None = None
) -> NDArray[np.float64] | None:
    """Return the weight of each of the first k neighbours (None: all); None if all are equal.

    For 'distance' the weight is 1/d, here relative to the nearest: :math:`w_j = d_1 / d_j`. This
    gives the same shares and cannot overflow. Neighbours at distance 0 outvote all others. They do
    not depend on k, so the weights for fewer neighbours are the first columns.

    Kernels divide the distances by that of neighbour k + 1, or of the k-th if there is no other.
    """
    k = distance.shape[1] if k is None else k
    if isinstance(weights, str) and weights in KERNELS:
        return _kernel(distance[:, :k], distance[:, min(k, distance.shape[1] - 1)], weights)
    distance = distance[:, :k]
    if weights == "uniform":
        return None
    if callable(weights):
        return _function_weights(weights, distance)
    first = distance[:, :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance == first, 1.0, first / distance)


def class_factors(
    class_weight: str | Mapping[Any, float] | None, codes: NDArray[np.int64], classes: NDArray[Any]
) -> NDArray[np.float64] | None:
    """Return the factor of a vote for each class: n / n_c if 'balanced'; None if all are equal."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        return len(codes) / np.maximum(np.bincount(codes, minlength=len(classes)), 1)
    labels = classes.tolist()
    for label, weight in class_weight.items():
        check_interval(f"class_weight of {label!r}", weight, 0, open_high=True)
        if label not in labels:
            raise ParameterError(f"class_weight names class {label!r}, which y does not have")
    factors = np.array([float(class_weight.get(label, 1.0)) for label in labels])
    if not factors.all():
        raise ParameterError("class_weight must hold weights > 0")
    return factors


def radius_weights(
    distance: NDArray[np.float64],
    offsets: NDArray[np.int64],
    weights: Weighting,
    scale: float | None,
) -> NDArray[np.float64] | None:
    """Return the weight of each neighbour within a radius; None if all are equal.

    As `vote_weights`, for neighbours ``offsets[i]:offsets[i + 1]`` of query i. Kernels divide the
    distances by `scale`, the radius.
    """
    if weights == "uniform":
        return None
    sizes = np.diff(offsets)
    if callable(weights):
        pieces = [distance[a:b][None] for a, b in pairwise(offsets)]
        found = [_function_weights(weights, piece)[0] for piece in pieces if piece.size]
        return np.concatenate([np.empty(0), *found])
    if scale is not None:
        far = np.full(len(distance), scale)
        return _kernel(distance[:, None], far, str(weights), alone=True)[:, 0]
    some = sizes > 0
    first = np.minimum.reduceat(distance, offsets[:-1][some]) if some.any() else np.empty(0)
    nearest = np.repeat(first, sizes[some])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance == nearest, 1.0, nearest / distance)


def balance(
    weights: NDArray[np.float64] | None,
    labels: NDArray[np.int64],
    factors: NDArray[np.float64] | None,
) -> NDArray[np.float64] | None:
    """Multiply the weights of neighbours by the factors of their classes."""
    if factors is None:
        return weights
    return factors[labels] if weights is None else weights * factors[labels]


def class_shares(
    labels: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    n_classes: int,
    counts: Sequence[int],
) -> Iterator[NDArray[np.float64]]:
    """Yield the class shares among the first k neighbours, for each k of `counts` (ascending).

    Parameters
    ----------
    labels : ndarray of shape (n_queries, n_neighbors)
        Class codes of the neighbours, nearest first.
    weights : ndarray of shape (n_queries, n_neighbors) or None
        Weight of each neighbour.
    n_classes : int
        Number of classes.
    counts : sequence of int
        Distinct, ascending.

    Yields
    ------
    ndarray of float64 of shape (n_queries, n_classes)
    """
    n_queries = len(labels)
    # One row per rank from here on: each step below reads memory in order.
    cells = np.ascontiguousarray(labels.T) + np.arange(n_queries) * n_classes
    ranked = None if weights is None else np.ascontiguousarray(weights.T)
    votes = np.zeros(n_queries * n_classes)
    total = np.zeros(n_queries)
    done = 0
    for k in counts:
        for j in range(done, k):
            given = 1.0 if ranked is None else ranked[j]
            votes[cells[j]] += given
            # Summed over neighbours, not over classes, so that absent classes change no bit.
            total += given
        done = k
        yield votes.reshape(n_queries, n_classes) / total[:, None]


def means(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None, counts: Sequence[int]
) -> Iterator[NDArray[np.float64]]:
    """Yield the weighted mean of the first k neighbours, for each k of `counts` (ascending).

    Parameters
    ----------
    values : ndarray of shape (n_queries, n_neighbors) or (n_queries, n_neighbors, n_outputs)
        Targets of the neighbours, nearest first.
    weights : ndarray of shape (n_queries, n_neighbors) or None
        Weight of each neighbour.
    counts : sequence of int
        Distinct, ascending.

    Yields
    ------
    ndarray of float64 of shape (n_queries,) or (n_queries, n_outputs)
    """
    if weights is None:
        sums = values.cumsum(axis=1)
        for k in counts:
            yield sums[:, k - 1] / k
        return
    wide = weights if values.ndim == 2 else weights[:, :, None]
    sums = (values * wide).cumsum(axis=1)
    totals = wide.cumsum(axis=1)
    for k in counts:
        yield sums[:, k - 1] / totals[:, k - 1]


def _kernel(
    distance: NDArray[np.float64], scale: NDArray[np.float64], name: str, *, alone: bool = False
) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.where(distance == 0, 0.0, distance / scale[:, None])
    u = np.where(np.isnan(u), 1.0, u)  # both infinite
    if name == "gaussian":
        return np.exp(-u * u / 2)
    weights: NDArray[np.float64] = 1 - u * u if name == "epanechnikov" else 1 - u
    if alone:  # for a radius: a row on the boundary keeps a tiny weight, so that sums are not zero
        least: NDArray[np.float64] = np.maximum(weights, np.finfo(np.float64).tiny)
        return least
    return np.where(weights.any(axis=1, keepdims=True), weights, 1.0)


def _function_weights(weights: Weighting, distance: NDArray[np.float64]) -> NDArray[np.float64]:
    given = np.asarray(weights(distance), dtype=np.float64)  # type: ignore[operator]
    if given.shape != distance.shape:
        raise DataError(
            f"the function given as weights must return one weight per distance, shape "
            f"{distance.shape}; got shape {given.shape}"
        )
    if not (np.isfinite(given) & (given >= 0)).all() or not given.any(axis=1).all():
        raise DataError(
            "the function given as weights must return finite numbers >= 0, and not only zeros "
            "for a row"
        )
    return given
