"""The definition of the kernels' results, in plain NumPy."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

Neighbours = tuple[NDArray[np.float64], NDArray[np.int64]]


def distances(query: NDArray[Any], refs: NDArray[Any], p: float) -> NDArray[np.float64]:
    """Minkowski distances in float64, summed in the order of core/common/distance.hpp."""
    join = np.maximum if np.isinf(p) else np.add
    with np.errstate(over="ignore", under="ignore"):
        size = np.abs(query.astype(np.float64) - refs.astype(np.float64))
        terms = size * size if p == 2 else size if p == 1 or np.isinf(p) else size**p
        zero = np.zeros(len(refs))
        lane = [reduce(join, terms.T[i::8], zero) for i in range(8)]
        even = join(join(lane[0], lane[4]), join(lane[2], lane[6]))
        total = join(even, join(join(lane[1], lane[5]), join(lane[3], lane[7])))
        if p == 2:
            return np.asarray(np.sqrt(total))
        return np.asarray(total if p == 1 or np.isinf(p) else total ** (1 / p))


def brute_force(queries: NDArray[Any], refs: NDArray[Any], k: int, p: float) -> Neighbours:
    """Return the k rows smallest by (distance, row number)."""
    rows = [distances(query, refs, p) for query in queries]
    order = [np.lexsort((np.arange(len(refs)), row))[:k] for row in rows]
    index = np.array(order, dtype=np.int64).reshape(len(queries), k)
    distance = np.array([row[o] for row, o in zip(rows, order, strict=True)])
    return distance.reshape(len(queries), k), index
