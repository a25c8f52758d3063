"""Merging connected parts of a graph that has more of them than clusters are wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from assay.cluster._graph import in_order
from assay.neighbors import NearestNeighbors


def join_parts(part: NDArray[np.int64], count: int, rows: Any | None) -> NDArray[np.int64]:
    """Merge the smallest part with another one until `count` are left.

    Parameters
    ----------
    part : ndarray of int64
        Part of each row, 0, 1, ...
    count : int
        Number of parts to keep.
    rows : ndarray, sparse matrix or None
        The rows: a part is merged with the one that has the row nearest to it. None: with the next
        larger one.

    Returns
    -------
    ndarray of int64
        The merged part of each row, numbered by their first rows.

    Examples
    --------
    >>> rows = np.array([[0.0], [0.1], [5.0], [5.1], [5.2], [1.0]])
    >>> join_parts(np.array([0, 0, 1, 1, 1, 2]), 2, rows).tolist()
    [0, 0, 1, 1, 1, 0]
    """
    part = part.copy()
    dense = rows
    if rows is not None and issparse(rows):
        dense = rows.toarray()
    while True:
        numbers, sizes = np.unique(part, return_counts=True)
        if len(numbers) <= count:
            return in_order(part)
        by_size = numbers[np.argsort(sizes, kind="stable")]
        inside = part == by_size[0]
        if dense is None:
            part[inside] = by_size[1]
            continue
        outside = np.flatnonzero(~inside)
        search = NearestNeighbors(n_neighbors=1).fit(dense[outside])
        distance, index = search.kneighbors(dense[inside])
        part[inside] = part[outside[index[distance[:, 0].argmin(), 0]]]
