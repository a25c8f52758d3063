"""k-means: the same as Lloyd's iteration, and as scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn import cluster as peer
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from assay._core import cpu
from assay.base import DataError, ParameterError
from assay.cluster import KMeans
from tests.cluster.lloyd_oracle import lloyd

Rows = NDArray[np.float64]


def blobs(n: int = 600, d: int = 4, centers: int = 6, seed: int = 0, spread: float = 2.0) -> Rows:
    rows: Rows = make_blobs(n, d, centers=centers, random_state=seed, cluster_std=spread)[0]
    return rows


def table(kind: str, n: int, d: int, seed: int) -> Rows:
    random = np.random.default_rng(seed)
    if kind == "grid":  # distances tie all the time
        return random.integers(-3, 4, size=(n, d)).astype(np.float64)
    if kind == "repeated":
        return random.normal(size=(max(2, n // 6), d))[random.integers(max(2, n // 6), size=n)]
    if kind == "float32":
        return random.normal(size=(n, d)).astype(np.float32).astype(np.float64)
    if kind == "offset":
        return 1e8 + random.normal(size=(n, d))
    return blobs(n, d, 5, seed)


# Oracle


@settings(deadline=None, max_examples=60)
@given(
    kind=st.sampled_from(["blobs", "grid", "repeated", "float32", "offset"]),
    n=st.integers(20, 300),
    d=st.integers(1, 19),
    k=st.integers(1, 20),
    seed=st.integers(0, 10_000),
)
def test_kmeans_equals_lloyd_label_for_label(kind: str, n: int, d: int, k: int, seed: int) -> None:
    rows = table(kind, n, d, seed)
    start = np.unique(rows, axis=0)
    start = start[np.random.default_rng(seed).permutation(len(start))][:k]
    found = lloyd(rows, start, 100)
    assume(found is not None)  # emptied clusters have a test of their own
    assert found is not None
    labels, centres, n_iter = found
    for algorithm in ("lloyd", "full"):
        model = KMeans(
            len(start), init=start, max_iter=100, tol=0, algorithm=algorithm, n_jobs=2
        ).fit(rows.astype(np.float32) if kind == "float32" else rows)
        np.testing.assert_array_equal(model.labels_, labels)
        np.testing.assert_array_equal(model.cluster_centers_, centres)
        assert model.n_iter_ == n_iter


@settings(deadline=None, max_examples=60)
@given(
    kind=st.sampled_from(["blobs", "grid", "repeated", "offset"]),
    n=st.integers(30, 3000),
    d=st.integers(1, 33),
    k=st.integers(1, 30),
    seed=st.integers(0, 10_000),
    weighted=st.booleans(),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bounds_change_no_bit_of_the_result(
    kind: str, n: int, d: int, k: int, seed: int, weighted: bool
) -> None:
    rows = table(kind, n, d, seed)
    weight = np.random.default_rng(seed).integers(0, 4, n) + 0.5 if weighted else None
    pair = [
        KMeans(k, init="random", n_init=1, random_state=seed, algorithm=algorithm, tol=0)
        .fit(rows, sample_weight=weight)
        .state()
        for algorithm in ("lloyd", "full")
    ]
    for name, value in pair[0].items():
        np.testing.assert_array_equal(value, pair[1][name], err_msg=name)


@pytest.mark.parametrize("k", [1, 2, 7, 25])
@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("weighted", [False, True])
def test_kmeans_matches_scikit_learn_with_the_same_seed(k: int, init: str, weighted: bool) -> None:
    rows = blobs(1500, 5, 9)
    weight = np.random.default_rng(1).uniform(0.1, 3, len(rows)) if weighted else None
    ours = KMeans(k, init=init, random_state=3).fit(rows, sample_weight=weight)
    theirs = peer.KMeans(k, init=init, random_state=3).fit(rows, sample_weight=weight)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-10)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    np.testing.assert_allclose(ours.transform(rows), theirs.transform(rows), rtol=1e-7, atol=1e-7)
    assert ours.score(rows) == pytest.approx(theirs.score(rows), rel=1e-10)


def test_sparse_tables_give_the_clusters_of_dense_ones() -> None:
    rows = np.where(np.random.default_rng(0).random((400, 30)) < 0.2, blobs(400, 30), 0)
    weight = np.random.default_rng(1).uniform(0.5, 2, 400)
    for given_weight in (None, weight):
        dense = KMeans(5, random_state=0).fit(rows, sample_weight=given_weight)
        sparse = KMeans(5, random_state=0).fit(csr_matrix(rows), sample_weight=given_weight)
        np.testing.assert_array_equal(dense.labels_, sparse.labels_)
        np.testing.assert_allclose(dense.cluster_centers_, sparse.cluster_centers_, atol=1e-12)
        assert dense.inertia_ == pytest.approx(sparse.inertia_)
        np.testing.assert_array_equal(sparse.predict(csr_matrix(rows)), dense.labels_)
        np.testing.assert_allclose(sparse.transform(csr_matrix(rows)), dense.transform(rows))
        assert sparse.score(csr_matrix(rows)) == pytest.approx(dense.score(rows))


def test_emptied_clusters_take_the_farthest_rows_as_in_scikit_learn() -> None:
    rows = blobs(300, 3, 4)
    start = np.r_[rows[:2], np.full((3, 3), 1e3) + np.arange(3)[:, None]]  # nobody is near
    ours = KMeans(5, init=start).fit(rows)
    theirs = peer.KMeans(5, init=start, n_init=1).fit(rows)
    assert len(np.unique(ours.labels_)) == 5
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    sparse = KMeans(5, init=start).fit(csr_matrix(rows))
    np.testing.assert_array_equal(ours.labels_, sparse.labels_)


def test_kmeans_cannot_separate_concentric_circles() -> None:
    rows, circle = make_circles(400, factor=0.3, noise=0.03, random_state=0)
    assert adjusted_rand_score(circle, KMeans(2, random_state=0).fit_predict(rows)) < 0.1


# Invariance


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000))
def test_order_of_rows_changes_no_centre(seed: int) -> None:
    rows = blobs(400, 3)
    order = np.random.default_rng(seed).permutation(len(rows))
    start = rows[:6]
    one, other = (KMeans(6, init=start).fit(part) for part in (rows, rows[order]))
    np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)
    np.testing.assert_array_equal(one.labels_[order], other.labels_)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000))
def test_weights_are_repeated_rows(seed: int) -> None:
    rows = blobs(200, 3)
    times = np.random.default_rng(seed).integers(0, 4, len(rows))
    start = rows[np.flatnonzero(times)[:4]]
    weighted = KMeans(4, init=start, tol=0).fit(rows, sample_weight=times)
    repeated = KMeans(4, init=start, tol=0).fit(np.repeat(rows, times, axis=0))
    np.testing.assert_array_equal(np.repeat(weighted.labels_, times), repeated.labels_)
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_and_cpu_levels_change_no_byte(dtype: type) -> None:
    rows: NDArray[Any] = blobs(3000, 11).astype(dtype)
    digests = {KMeans(20, random_state=0, n_jobs=j).fit(rows).digest() for j in (1, 2, 3)}
    for level in ("baseline", "avx2"):
        cpu.limit(level)
        try:
            digests.add(KMeans(20, random_state=0).fit(rows).digest())
        finally:
            cpu.limit(None)
    assert len(digests) == 1


def test_memory_order_and_precision_change_no_label() -> None:
    rows = blobs(500, 4).astype(np.float32).astype(np.float64)
    expected = KMeans(6, random_state=0).fit(rows)
    for same in (np.asfortranarray(rows), rows.astype(np.float32), rows.tolist()):
        np.testing.assert_array_equal(KMeans(6, random_state=0).fit(same).labels_, expected.labels_)


# Optimality


def test_every_row_is_at_its_nearest_centre_and_every_centre_at_its_mean() -> None:
    rows = blobs()
    model = KMeans(6, random_state=0, tol=0).fit(rows)
    assert model.stop_reason_ == "converged"
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    for c, centre in enumerate(model.cluster_centers_):
        np.testing.assert_allclose(centre, rows[model.labels_ == c].mean(axis=0), rtol=1e-12)
    own = ((rows - model.cluster_centers_[model.labels_]) ** 2).sum()
    assert model.inertia_ == pytest.approx(own, rel=1e-12)


def test_restarts_keep_the_least_inertia() -> None:
    rows = blobs(500, 2, 10, spread=0.5)
    one, many = (KMeans(10, init="random", n_init=n, random_state=0).fit(rows) for n in (1, 8))
    assert many.inertia_ <= one.inertia_


# Edges


def test_a_cluster_of_equal_rows_has_its_centre_on_them() -> None:
    rows = np.repeat([[0.1, 0.7], [3.3, 1e-3], [1e9, -0.3]], [7, 3, 11], axis=0)
    model = KMeans(3, random_state=0).fit(rows)
    assert model.inertia_ == 0
    np.testing.assert_array_equal(model.cluster_centers_[model.labels_], rows)


def test_more_clusters_than_distinct_rows_warns() -> None:
    rows = np.repeat([[0.0], [1.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\) found smaller than"):
        model = KMeans(3, random_state=0).fit(rows)
    assert model.inertia_ == 0
    assert np.isfinite(model.cluster_centers_).all()


def test_as_many_clusters_as_rows_leaves_no_inertia() -> None:
    assert KMeans(7, random_state=0).fit(np.arange(7.0)[:, None]).inertia_ == 0


def test_stopping_early_warns_and_labels_fit_the_centres() -> None:
    rows = blobs()
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=1 iterations"):
        model = KMeans(6, max_iter=1, init="random", n_init=1, random_state=0).fit(rows)
    assert (model.n_iter_, model.stop_reason_) == (1, "max_iter")
    np.testing.assert_array_equal(model.labels_, model.predict(rows))


def test_loose_tolerance_ends_a_run() -> None:
    assert KMeans(6, tol=10.0, random_state=0).fit(blobs()).stop_reason_ == "tol"


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e150, 1e300])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_extreme_scales_give_the_labels_of_the_full_search(scale: float) -> None:
    rows = blobs(200, 3) * scale / 10
    results = [
        KMeans(4, init=rows[:4], algorithm=a, max_iter=20, tol=0).fit(rows).state()
        for a in ("lloyd", "full")
    ]
    np.testing.assert_array_equal(results[0]["labels_"], results[1]["labels_"])
    np.testing.assert_array_equal(results[0]["cluster_centers_"], results[1]["cluster_centers_"])


def test_init_may_be_a_function_of_rows_number_and_generator() -> None:
    rows = blobs()

    def first(X: Any, n_clusters: int, random_state: np.random.RandomState) -> Any:
        assert isinstance(random_state, np.random.RandomState)
        return X[:n_clusters]

    given_rows = KMeans(3, init=rows[:3]).fit(rows)
    called = KMeans(3, init=first, n_init=2, random_state=0).fit(rows)
    np.testing.assert_array_equal(called.labels_, given_rows.labels_)


def test_verbose_prints_one_line_per_run(capsys: pytest.CaptureFixture[str]) -> None:
    KMeans(2, n_init=3, random_state=0, verbose=1).fit(blobs(50))
    assert capsys.readouterr().out.count("KMeans run") == 3


# Errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be an integer >= 1; got 0"),
        ({"n_clusters": 2.5}, "n_clusters must be an integer >= 1; got 2.5"),
        ({"init": "farthest"}, "init must be 'k-means++' or 'random'; got 'farthest'"),
        ({"init": 3}, "init must be 'k-means++', 'random', an array of centres or a function"),
        ({"n_init": 0}, "n_init must be an integer >= 1; got 0"),
        ({"n_init": "many"}, "n_init must be 'auto'; got 'many'"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1; got 0"),
        ({"tol": -1.0}, "tol must be a number >= 0; got -1.0"),
        ({"algorithm": "fast"}, "algorithm must be 'lloyd', 'elkan' or 'full'; got 'fast'"),
        ({"random_state": "x"}, "random_state must be None, an integer in [0, 2**32) or a"),
        ({"metric": "cosine"}, "metric must be 'euclidean' or 'mahalanobis'; got 'cosine'"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0; got 0"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        KMeans(**params).fit(blobs(50))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda: KMeans(9).fit(np.ones((8, 2))), "n_clusters=9 is more than the rows of X"),
        (lambda: KMeans(2, init=np.ones((3, 4))).fit(blobs(50)), "does not match the number of cl"),
        (lambda: KMeans(2, init=np.ones((2, 3))).fit(blobs(50)), "does not match the number of fe"),
        (
            lambda: KMeans(2, init=[[np.nan] * 4] * 2).fit(blobs(50)),
            "init is not an array of centres",
        ),
        (lambda: KMeans(2).fit(blobs(50), sample_weight=np.ones(49)), "one number per row"),
        (lambda: KMeans(2).fit([[np.nan], [1.0]]), "NaN"),
        (lambda: KMeans(2, random_state=0).fit(blobs(50)).predict(np.ones((2, 3))), "features"),
    ],
    ids=["rows", "init rows", "init columns", "init nan", "weights", "nan", "columns"],
)
def test_unusable_data_are_refused(fit: Callable[[], Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        fit()


@pytest.mark.parametrize(
    "change",
    [
        {"cluster_centers_": np.ones((2, 3))},
        {"cluster_centers_": np.full((2, 4), np.nan)},
        {"cluster_centers_": np.empty((0, 4))},
        {"inertia_": -1.0},
        {"n_iter_": 0},
        {"stop_reason_": "tired"},
        {"shapes_": np.ones((2, 4))},
        {"labels_": np.array([0, 2])},
        {"labels_": np.array([0.0, 1.0])},
    ],
)
def test_damaged_state_is_refused(change: dict[str, Any]) -> None:
    model = KMeans(2, random_state=0).fit(blobs(50))
    with pytest.raises(DataError, match="the model is damaged"):
        KMeans.from_state(model.get_params(), {**model.state(), **change})
