"""k-means from batches, beside scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn import cluster as peer
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from assay.base import DataError, ParameterError
from assay.cluster import KMeans, MiniBatchKMeans


def blobs(n: int = 3000, d: int = 4, centers: int = 5) -> NDArray[np.float64]:
    rows: NDArray[np.float64] = make_blobs(n, d, centers=centers, random_state=0)[0]
    return rows


# Oracle


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_mini_batches_match_scikit_learn_with_the_same_seed(weighted: bool, init: str) -> None:
    rows = blobs()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(rows)) if weighted else None
    settings: dict[str, Any] = {"init": init, "random_state": 1, "batch_size": 256}
    ours = MiniBatchKMeans(5, **settings).fit(rows, sample_weight=weight)
    theirs = peer.MiniBatchKMeans(5, **settings).fit(rows, sample_weight=weight)
    if hasattr(theirs, "n_steps_") and ours.n_steps_ == theirs.n_steps_:
        np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-8)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ <= 1.05 * theirs.inertia_


def test_partial_fit_matches_scikit_learn() -> None:
    rows = blobs(900)
    start = rows[:5]
    ours = MiniBatchKMeans(5, init=start, random_state=0)
    theirs = peer.MiniBatchKMeans(5, init=start, random_state=0, n_init=1)
    for part in np.split(rows, 3):
        ours.partial_fit(part)
        theirs.partial_fit(part)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.n_steps_ == 3


def test_inertia_is_near_that_of_all_rows() -> None:
    rows = blobs()
    whole = KMeans(5, random_state=0, n_init=5).fit(rows)
    parts = MiniBatchKMeans(5, random_state=0, n_init=5).fit(rows)
    assert parts.inertia_ <= 1.05 * whole.inertia_


def test_sparse_tables_are_taken() -> None:
    rows = blobs(600)
    dense, sparse = (
        MiniBatchKMeans(5, random_state=0, batch_size=100).fit(part)
        for part in (rows, csr_matrix(rows))
    )
    np.testing.assert_allclose(dense.cluster_centers_, sparse.cluster_centers_, rtol=1e-8)


# Invariance


def test_threads_change_no_byte() -> None:
    rows = blobs()
    one, two = (MiniBatchKMeans(5, random_state=0, n_jobs=j).fit(rows).digest() for j in (1, 2))
    assert one == two


# Edges


def test_labels_are_left_out_on_request() -> None:
    model = MiniBatchKMeans(5, random_state=0, compute_labels=False).fit(blobs())
    assert not hasattr(model, "labels_")
    assert model.inertia_ > 0


def test_tolerance_ends_the_fit() -> None:
    model = MiniBatchKMeans(5, random_state=0, tol=10.0, max_no_improvement=None).fit(blobs())
    assert (model.stop_reason_, model.n_steps_) == ("tol", 2)


def test_running_out_of_rounds_warns() -> None:
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=1 passes"):
        MiniBatchKMeans(5, random_state=0, max_iter=1).fit(blobs())


def test_centres_that_nobody_chose_are_put_on_rows() -> None:
    rows = blobs(500)
    start = np.r_[rows[:3], np.full((2, 4), 1e6)]
    model = MiniBatchKMeans(5, init=start, random_state=0, batch_size=100).fit(rows)
    assert np.abs(model.cluster_centers_).max() < 100


def test_verbose_tells_why_the_fit_ended(capsys: pytest.CaptureFixture[str]) -> None:
    MiniBatchKMeans(2, random_state=0, verbose=1).fit(blobs(100))
    assert "MiniBatchKMeans: converged after" in capsys.readouterr().out


# Errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"batch_size": 0}, "batch_size must be an integer >= 1; got 0"),
        ({"max_no_improvement": -1}, "max_no_improvement must be an integer >= 0; got -1"),
        ({"init_size": 0}, "init_size must be an integer >= 1; got 0"),
        ({"reassignment_ratio": -0.1}, "reassignment_ratio must be a number >= 0; got -0.1"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1; got 0"),
        ({"n_clusters": -1}, "n_clusters must be an integer >= 1; got -1"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    for method in ("fit", "partial_fit"):
        with pytest.raises(ParameterError) as error:
            getattr(MiniBatchKMeans(**params), method)(blobs(50))
        assert message in str(error.value)


def test_a_first_part_with_too_few_rows_is_refused() -> None:
    with pytest.raises(DataError, match="n_clusters=8 is more than the rows of X"):
        MiniBatchKMeans(8).partial_fit(blobs(5))


def test_damaged_state_is_refused() -> None:
    model = MiniBatchKMeans(2, random_state=0).fit(blobs(100))
    for change in ({"counts_": np.array([1.0])}, {"counts_": np.array([1.0, -1.0])}):
        with pytest.raises(DataError, match="the model is damaged"):
            MiniBatchKMeans.from_state(model.get_params(), {**model.state(), **change})
