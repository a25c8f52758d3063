"""Criteria of a clustering, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from assay.base import DataError
from assay.cluster import KMeans, cluster_criteria


def test_criteria_match_their_definitions() -> None:
    rows, labels = make_blobs(120, 3, centers=4, random_state=0)
    labels[:5] = -1
    centroid = intra = near = 0.0
    for c in range(4):
        members = rows[labels == c]
        squared = ((members[:, None] - members) ** 2).sum(axis=2)
        centroid += ((members - members.mean(axis=0)) ** 2).sum()
        intra += squared.mean(axis=1).sum()
        near += (squared + np.diag(np.full(len(members), np.inf))).min(axis=1).sum()
    found = cluster_criteria(rows, labels)
    assert found.centroid == pytest.approx(centroid)
    assert found.intra_class == pytest.approx(intra)
    assert found.nearest_member == pytest.approx(near)


def test_centroid_criterion_of_kmeans_is_its_inertia() -> None:
    rows = make_blobs(300, 4, random_state=1)[0]
    model = KMeans(5, random_state=0, tol=0).fit(rows)
    assert cluster_criteria(rows, model.labels_).centroid == pytest.approx(model.inertia_)


def test_nearest_member_prefers_elongated_clusters_that_the_centroid_criterion_cuts() -> None:
    line = np.c_[np.linspace(0, 20, 101), np.zeros(101)]
    rows = np.r_[line, line + np.array([0, 3])]
    lengthwise = np.repeat([0, 1], 101)
    across = (rows[:, 0] > 10).astype(int)
    long, cut = (cluster_criteria(rows, labels) for labels in (lengthwise, across))
    assert cut.centroid < long.centroid
    assert long.nearest_member <= cut.nearest_member


def test_rows_alone_add_nothing() -> None:
    assert cluster_criteria([[0.0], [5.0]], [0, 1]).nearest_member == 0


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 2], "labels must hold one number per row, shape (2,); got shape (3,)"),
        ([0.0, 1.0], "labels must be integers; got an array of float64"),
    ],
)
def test_unusable_labels_are_refused(labels: list[float], message: str) -> None:
    with pytest.raises(DataError) as error:
        cluster_criteria([[0.0], [1.0]], labels)
    assert str(error.value) == message
