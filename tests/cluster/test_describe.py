"""Prototypes and outliers of clusters."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from assay.base import DataError, ParameterError
from assay.cluster import describe_clusters


def test_prototypes_are_nearest_and_outliers_farthest() -> None:
    rows, labels = make_blobs(200, 3, centers=4, random_state=0)
    for summary in describe_clusters(rows, labels, n_prototypes=4, n_outliers=2):
        members = np.flatnonzero(labels == summary.label)
        center = rows[members].mean(axis=0)
        distances = np.linalg.norm(rows[members] - center, axis=1)
        order = members[np.argsort(distances)]
        assert summary.size == len(members)
        np.testing.assert_allclose(summary.center, center)
        np.testing.assert_array_equal(summary.prototypes, order[:4])
        np.testing.assert_array_equal(summary.outliers, order[::-1][:2])
        assert summary.mean_distance == pytest.approx(distances.mean())
        pairs = np.linalg.norm(rows[members][:, None] - rows[members], axis=2)
        np.fill_diagonal(pairs, np.inf)
        assert summary.nearest_member_distance == pytest.approx(pairs.min(axis=1).mean())


def test_rows_of_no_cluster_are_left_out() -> None:
    found = describe_clusters([[0.0], [1.0], [50.0]], [3, 3, -1])
    assert [(s.label, s.size) for s in found] == [(3, 2)]
    assert describe_clusters([[0.0]], [-1]) == []


def test_small_clusters_name_each_row_once() -> None:
    (summary,) = describe_clusters([[0.0], [1.0], [5.0]], [0, 0, 0], n_prototypes=2)
    assert sorted([*summary.prototypes, *summary.outliers]) == [0, 1, 2]
    (alone,) = describe_clusters([[7.0]], [0])
    assert (alone.mean_distance, alone.nearest_member_distance) == (0, 0)


def test_ties_go_to_the_first_row() -> None:
    (summary,) = describe_clusters([[1.0], [-1.0], [1.0], [-1.0]], [0] * 4, n_prototypes=1)
    assert summary.prototypes.tolist() == [0]
    assert summary.outliers.tolist() == [1, 2, 3]


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ParameterError, match="n_prototypes must be an integer >= 0; got -1"):
        describe_clusters([[0.0]], [0], n_prototypes=-1)
    with pytest.raises(ParameterError, match="n_outliers must be an integer >= 0"):
        describe_clusters([[0.0]], [0], n_outliers=1.5)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="one number per row"):
        describe_clusters([[0.0]], [0, 1])
    with pytest.raises(DataError, match="NaN"):
        describe_clusters([[np.nan]], [0])
