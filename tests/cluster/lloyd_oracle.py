"""Lloyd's iteration by brute force, with the kernel's definition of distance and mean."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]


def squared_distances(rows: Rows, centres: Rows) -> Rows:
    """Return all squared distances; term j goes to partial sum j mod 8, then a tree."""
    terms = (rows[:, None].astype(np.float64) - centres) ** 2
    partial = np.zeros((len(rows), len(centres), 8))
    for j in range(terms.shape[2]):
        partial[:, :, j % 8] += terms[:, :, j]
    p = [partial[:, :, lane] for lane in range(8)]
    total: Rows = ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]))
    return total


def means(rows: Rows, labels: NDArray[np.int64], centres: Rows) -> Rows:
    """Return the means by sums of Python's integers; every cluster must have a row."""
    out = centres.copy()
    for j in range(rows.shape[1]):
        column = rows[:, j].astype(np.float64)
        shift = 94 - math.frexp(float(np.abs(column).max()))[1]
        whole = [int(x) for x in (column * 2.0**shift).tolist()]
        for c in range(len(centres)):
            members = np.flatnonzero(labels == c).tolist()
            total = sum(whole[i] for i in members)
            quotient = abs(total) // len(members) * (1 if total >= 0 else -1)
            out[c, j] = float(quotient) * 2.0**-shift
    return out


def lloyd(rows: Rows, centres: Rows, max_iter: int) -> tuple[NDArray[np.int64], Rows, int] | None:
    """Return labels, centres and rounds, until nothing changes; None if a cluster empties."""
    labels = np.full(len(rows), -1)
    for n_iter in range(1, max_iter + 1):
        before, labels = labels, np.argmin(squared_distances(rows, centres), axis=1)
        if len(np.unique(labels)) < len(centres):
            return None
        last, centres = centres, means(rows, labels, centres)
        if np.array_equal(before, labels) or np.array_equal(last, centres):
            return labels, centres, n_iter
    return np.argmin(squared_distances(rows, centres), axis=1), centres, max_iter
