"""k-means with elliptic clusters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.metrics import adjusted_rand_score

from assay.base import DataError
from assay.cluster import KMeans

Rows = NDArray[np.float64]


def sticks(n: int = 200) -> tuple[Rows, NDArray[np.int64]]:
    """Two long parallel ellipses, nearer to each other than they are long."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(2 * n, 2)) * [8.0, 0.4]
    groups = np.repeat([0, 1], n)
    return rows + groups[:, None] * [0.0, 4.0], groups


def test_elongated_clusters_are_found_that_round_ones_cut() -> None:
    rows, groups = sticks()
    ellipses = KMeans(2, metric="mahalanobis", random_state=0, n_init=5).fit(rows)
    circles = KMeans(2, random_state=0, n_init=5).fit(rows)
    assert adjusted_rand_score(groups, ellipses.labels_) > 0.98
    assert adjusted_rand_score(groups, circles.labels_) < 0.5


def test_shapes_have_volume_one_and_minimise_the_objective() -> None:
    rows, _ = sticks()
    model = KMeans(2, metric="mahalanobis", random_state=0, tol=0, n_init=5).fit(rows)
    np.testing.assert_allclose(np.linalg.det(model.shapes_), 1, rtol=1e-8)
    total = 0.0
    for c, centre in enumerate(model.cluster_centers_):
        members = rows[model.labels_ == c]
        np.testing.assert_allclose(centre, members.mean(axis=0), rtol=1e-9)
        spread = np.cov(members.T, bias=True)
        # sum (x - mu)' A (x - mu) = n d det(S)^(1/d) for the best A
        total += len(members) * 2 * np.sqrt(np.linalg.det(spread))
    assert model.inertia_ == pytest.approx(total, rel=1e-4)


def test_distances_are_those_of_the_shapes() -> None:
    rows, _ = sticks(30)
    model = KMeans(2, metric="mahalanobis", random_state=0).fit(rows)
    moved = rows[:, None] - model.cluster_centers_
    squared = np.einsum("ncj,cjl,ncl->nc", moved, model.shapes_, moved)
    np.testing.assert_allclose(model.transform(rows), np.sqrt(squared), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(rows), np.argmin(squared, axis=1))
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


def test_scaling_columns_changes_no_label() -> None:
    rows, _ = sticks()
    start = rows[[0, -1]]
    scale = np.array([1e-3, 50.0])
    one = KMeans(2, init=start, metric="mahalanobis", tol=0).fit(rows)
    other = KMeans(2, init=start * scale, metric="mahalanobis", tol=0).fit(rows * scale)
    np.testing.assert_array_equal(one.labels_, other.labels_)


def test_one_column_is_plain_kmeans() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 1))
    shaped = KMeans(3, init=rows[:3], metric="mahalanobis").fit(rows)
    plain = KMeans(3, init=rows[:3]).fit(rows)
    np.testing.assert_array_equal(shaped.labels_, plain.labels_)


def test_flat_and_tiny_clusters_stay_finite() -> None:
    random = np.random.default_rng(0)
    flat = np.c_[random.normal(size=(60, 2)), np.full(60, 7.0)]  # a constant column
    model = KMeans(5, metric="mahalanobis", random_state=0, n_init=2).fit(flat)
    assert np.isfinite(model.shapes_).all()
    assert np.isfinite(model.inertia_)
    single = KMeans(3, metric="mahalanobis", init=[[0.0, 0.0], [9.0, 9.0], [50.0, 50.0]]).fit(
        np.r_[random.normal(size=(50, 2)), random.normal(size=(50, 2)) + 9, [[50.0, 50.0]]]
    )
    assert np.isfinite(single.cluster_centers_).all()


def test_sparse_tables_are_refused() -> None:
    rows, _ = sticks(20)
    with pytest.raises(DataError, match="metric='mahalanobis' needs a dense table"):
        KMeans(2, metric="mahalanobis").fit(csr_matrix(rows))
    model = KMeans(2, metric="mahalanobis", random_state=0).fit(rows)
    with pytest.raises(DataError, match="needs a dense table"):
        model.predict(csr_matrix(rows))


def test_damaged_shapes_are_refused() -> None:
    rows, _ = sticks(20)
    model = KMeans(2, metric="mahalanobis", random_state=0).fit(rows)
    for shapes in (np.ones((2, 2)), -model.shapes_, np.full((2, 2, 2), np.nan)):
        with pytest.raises(DataError, match="the model is damaged"):
            KMeans.from_state(model.get_params(), {**model.state(), "shapes_": shapes})
