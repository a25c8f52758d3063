"""Typical and unusual rows of each cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from assay.base import DataError, check_interval
from assay.neighbors import NearestNeighbors


@dataclass(frozen=True, eq=False)
class ClusterSummary:
    """Summary of one cluster: size, spread, typical and unusual rows.

    Attributes
    ----------
    label : int
        Label of the cluster.
    size : int
        Number of rows.
    center : ndarray of shape (n_features,)
        Mean of the rows.
    prototypes : ndarray of int64
        Row numbers nearest to the centre, nearest first.
    outliers : ndarray of int64
        Row numbers farthest from it, farthest first.
    mean_distance : float
        Mean distance of its rows to the centre.
    nearest_member_distance : float
        Mean distance of its rows to their nearest other member; 0 for a single row.
    """

    label: int
    size: int
    center: NDArray[np.float64]
    prototypes: NDArray[np.int64]
    outliers: NDArray[np.int64]
    mean_distance: float
    nearest_member_distance: float


def describe_clusters(
    X: Any, labels: ArrayLike, *, n_prototypes: int = 3, n_outliers: int = 3
) -> list[ClusterSummary]:
    r"""Show prototypes, outliers and spread of each cluster.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    labels : array-like of int of shape (n_samples,)
        The cluster of each row; rows with a negative label belong to none.
    n_prototypes : int, default=3
        Number of rows nearest to each centre to return.
    n_outliers : int, default=3
        Number of rows farthest from it to return. Prototypes come first: a small cluster may
        have no rows left as outliers.

    Returns
    -------
    list of ClusterSummary
        Sorted by label.

    Notes
    -----
    With :math:`\bar x_c` the mean of cluster c, rows are ordered by :math:`\|x - \bar x_c\|`, ties
    by row number. The nearest-member distance :math:`\min_{x' \neq x} \|x - x'\|` stays small
    in elongated clusters, where the distance to the centre does not.

    Examples
    --------
    >>> from assay.cluster import describe_clusters
    >>> rows = [[0.0], [1.0], [5.0], [20.0], [21.0]]
    >>> first, second = describe_clusters(rows, [0, 0, 0, 1, 1], n_prototypes=1, n_outliers=1)
    >>> first.center.tolist(), first.prototypes.tolist(), first.outliers.tolist()
    ([2.0], [1], [2])
    """
    check_interval("n_prototypes", n_prototypes, 0, integer=True)
    check_interval("n_outliers", n_outliers, 0, integer=True)
    rows, groups = labelled(X, labels)
    summaries = []
    for label in np.unique(groups[groups >= 0]):
        members = np.flatnonzero(groups == label)
        center = rows[members].mean(axis=0, dtype=np.float64)
        distances = np.sqrt(((rows[members] - center) ** 2).sum(axis=1))
        order = np.argsort(distances, kind="stable")
        near = order[:n_prototypes]
        far = np.argsort(-distances, kind="stable")
        far = far[~np.isin(far, near)][:n_outliers]
        summaries.append(
            ClusterSummary(
                int(label),
                len(members),
                center,
                members[near],
                members[far],
                float(distances.mean()),
                float(nearest_member_distances(rows[members]).mean()),
            )
        )
    return summaries


def labelled(X: Any, labels: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the checked rows and labels."""
    try:
        rows = check_array(X, dtype=(np.float64, np.float32), input_name="X")
    except ValueError as error:
        raise DataError(str(error)) from None
    groups = np.asarray(labels)
    if groups.shape != (len(rows),):
        raise DataError(
            f"labels must hold one number per row, shape ({len(rows)},); got shape {groups.shape}"
        )
    if groups.dtype.kind not in "iu":
        raise DataError(f"labels must be integers; got an array of {groups.dtype}")
    return rows, groups.astype(np.int64)


def nearest_member_distances(members: NDArray[Any]) -> NDArray[np.float64]:
    """Return the distance of each row to the nearest other row; 0 for a single row."""
    if len(members) < 2:
        return np.zeros(len(members))
    distances, _ = NearestNeighbors(n_neighbors=1).fit(members).kneighbors()
    return np.asarray(distances, dtype=np.float64)[:, 0]
