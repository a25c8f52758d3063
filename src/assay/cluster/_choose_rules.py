"""Formulas of the criteria for a number of clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def elbow_distance(counts: Vector, inertia: Vector) -> Vector:
    """Return the distance of a falling curve below its chord, both axes scaled to 0 .. 1.

    Of the logarithm of the inertia, so that relative drops count: absolute ones of the first
    clusters would hide all later ones.

    Examples
    --------
    >>> elbow_distance(np.array([1.0, 2.0, 3.0]), np.array([100.0, 1.0, 1.0]))
    array([0. , 0.5, 0. ])
    """
    x = (counts - counts[0]) / (counts[-1] - counts[0])
    height = np.log(np.maximum(inertia, max(1e-12 * inertia.max(), 1e-300)))
    drop = height[0] - height[-1]
    y = (height - height[-1]) / drop if drop > 0 else 1.0 - x
    return np.asarray(1.0 - x - y)


def penalised_loss(
    sizes: Sequence[NDArray[np.int64]], inertia: Vector, n_columns: int, penalty: float
) -> Vector:
    """Return the cost of describing all rows by each clustering; see `choose_n_clusters`.

    Without the cost of naming the cluster of each row, cutting round clusters in pieces would seem
    to explain the data better.
    """
    n_rows = int(sizes[0].sum())
    counts = np.array([len(part) for part in sizes])
    entropy = np.array([-(part / n_rows * np.log(part / n_rows)).sum() for part in sizes])
    cells = n_rows * n_columns
    # Rounding leaves an inertia of about 1e-16 of the first where it should be 0.
    least = max(1e-12 * inertia.max(), 1e-300)
    return np.asarray(
        cells * np.log(np.maximum(inertia, least) / cells)
        + 2.0 * n_rows * entropy
        + penalty * counts * (n_columns + 1) * np.log(n_rows)
    )


def first_gap(gap: Vector, error: Vector) -> int:
    """Return the position of the first gap within one standard error of the largest.

    Examples
    --------
    >>> first_gap(np.array([0.1, 0.95, 1.0]), np.array([0.0, 0.1, 0.1]))
    1
    """
    best = int(gap.argmax())
    return int(np.flatnonzero(gap >= gap[best] - error[best])[0])


def reference_box(rows: Vector) -> Vector:
    """Return the smallest and largest coordinate of the rows on each principal axis."""
    centred = rows - rows.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    along = centred @ axes.T
    return np.stack([along.min(axis=0), along.max(axis=0)])


def reference_rows(box: Vector, n_rows: int, number: int, seed: int) -> Vector:
    """Return rows drawn uniformly from a box; each reference has a stream of its own.

    They keep the axes of the box: inertia does not depend on the orientation.
    """
    stream = np.random.default_rng([seed, number])
    return np.asarray(box[0] + (box[1] - box[0]) * stream.random((n_rows, box.shape[1])))
