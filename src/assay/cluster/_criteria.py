"""Quality of a clustering, by the criteria that clusterings minimise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assay.cluster._describe import labelled, nearest_member_distances


@dataclass(frozen=True)
class ClusterCriteria:
    """Three criteria of one clustering; less is better, for the same number of clusters.

    Attributes
    ----------
    centroid : float
        Sum of squared distances to the means of the clusters.
    intra_class : float
        Sum over rows of the mean squared distance to all rows of its cluster; twice `centroid`.
    nearest_member : float
        Sum over rows of the squared distance to the nearest other row of its cluster.
    """

    centroid: float
    intra_class: float
    nearest_member: float


def cluster_criteria(X: Any, labels: ArrayLike) -> ClusterCriteria:
    r"""Compute the centroid, intra-class and nearest-member criteria of a clustering.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    labels : array-like of int of shape (n_samples,)
        The cluster of each row; rows with a negative label belong to none and are ignored.

    Returns
    -------
    ClusterCriteria

    Notes
    -----
    .. math:: J_e = \sum_i \sum_{x \in C_i} \|x - \bar x_i\|^2, \qquad
              J = \sum_i n_i \bar s_i, \quad
              \bar s_i = \frac{1}{n_i} \sum_{x \in C_i} f(x, C_i)

    with :math:`f(x, C_i) = \frac{1}{n_i} \sum_{x' \in C_i} \|x - x'\|^2` (intra-class) or
    :math:`f(x, C_i) = \min_{x' \neq x} \|x - x'\|^2` (nearest member). The latter does not penalise
    elongated clusters: one near row is enough. A row alone in its cluster adds 0.

    Examples
    --------
    >>> from assay.cluster import cluster_criteria
    >>> cluster_criteria([[0.0], [1.0], [2.0], [9.0]], [0, 0, 0, 1])
    ClusterCriteria(centroid=2.0, intra_class=4.0, nearest_member=3.0)
    """
    rows, groups = labelled(X, labels)
    centroid = intra = near = 0.0
    for label in np.unique(groups[groups >= 0]):
        members = rows[groups == label].astype(np.float64, copy=False)
        moved = members - members.mean(axis=0)
        squared = float(np.einsum("ij,ij->", moved, moved))
        centroid += squared
        # Around the mean, the cross terms of ||x - x'||^2 add up to zero.
        intra += 2 * squared
        near += float((nearest_member_distances(members) ** 2).sum())
    return ClusterCriteria(centroid, intra, near)
