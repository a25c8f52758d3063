r"""How neighbours decide: shares of classes and weighted means, for many k at once.

.. math:: P_k(c) = \frac{\sum_{j \le k} w_j [y_j = c]}{\sum_{j \le k} w_j}, \qquad
          m_k = \frac{\sum_{j \le k} w_j y_j}{\sum_{j \le k} w_j}

The sums run over the neighbours in order, nearest first. So the sums for every k are partial sums
of one pass, and a model with one k and a path over many give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError
from assay.neighbors._search import Weighting


def vote_weights(distance: NDArray[np.float64], weights: Weighting) -> NDArray[np.float64] | None:
    """Return the weight of each neighbour; None when all are equal.

    By 'distance' the weight is 1/d, here relative to the nearest: :math:`w_j = d_1 / d_j`. This
    gives the same shares and cannot overflow. Neighbours at distance 0 outvote all others.
    Nothing depends on k, so the weights for fewer neighbours are the first columns of these.
    """
    if weights == "uniform":
        return None
    if callable(weights):
        return _called(weights, distance)
    first = distance[:, :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance == first, 1.0, first / distance)


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
            # Summed over neighbours, not over classes: a class that is not there changes no bit.
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


def _called(weights: Weighting, distance: NDArray[np.float64]) -> NDArray[np.float64]:
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
