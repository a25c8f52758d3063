"""Fuzzy k-means: the formulas, and what must hold of memberships and objective."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from assay._core import cpu
from assay.base import DataError, ParameterError
from assay.cluster import FuzzyKMeans, KMeans

Rows = NDArray[np.float64]


def blobs(n: int = 200, d: int = 3, centers: int = 3, seed: int = 0) -> tuple[Rows, Rows]:
    rows, groups = make_blobs(n, d, centers=centers, random_state=seed)
    return rows, groups


def memberships(rows: Rows, centres: Rows, m: float) -> Rows:
    """The document's formula, term by term."""
    distances = np.linalg.norm(rows[:, None] - centres, axis=2)
    out: Rows = np.empty_like(distances)
    for i in range(len(centres)):
        out[:, i] = 1 / ((distances[:, [i]] / distances) ** (2 / (m - 1))).sum(axis=1)
    return out


def objective(rows: Rows, centres: Rows, shares: Rows, m: float) -> float:
    squared = ((rows[:, None] - centres) ** 2).sum(axis=2)
    return float((shares**m * squared).sum())


# Oracle


@pytest.mark.parametrize("m", [1.3, 2.0, 3.5])
@pytest.mark.parametrize("centroid", ["standard", "literal"])
def test_rounds_follow_the_formulas(m: float, centroid: str) -> None:
    rows, _ = blobs()
    centres, path = rows[:3], []
    for _ in range(5):
        shares = memberships(rows + 1e-9, centres, m)  # the first centres are rows
        path.append(objective(rows, centres, shares, m))
        pull = shares if centroid == "literal" else shares**m
        centres = pull.T @ rows / pull.sum(axis=0)[:, None]
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=5 iterations"):
        model = FuzzyKMeans(3, m=m, centroid=centroid, init=rows[:3], max_iter=5, tol=0).fit(rows)
    np.testing.assert_allclose(model.cluster_centers_, centres, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.objective_path_[:-1], path, rtol=1e-4)
    shares = memberships(rows, model.cluster_centers_, m)
    np.testing.assert_allclose(model.predict_proba(rows), shares, rtol=1e-9, atol=1e-12)
    assert model.objective_ == pytest.approx(objective(rows, model.cluster_centers_, shares, m))


def test_standard_centres_are_a_fixed_point_of_the_formula() -> None:
    rows, _ = blobs()
    model = FuzzyKMeans(3, random_state=0, tol=1e-20).fit(rows)
    pull = model.predict_proba(rows) ** 2
    np.testing.assert_allclose(
        model.cluster_centers_, pull.T @ rows / pull.sum(axis=0)[:, None], rtol=1e-8
    )


def test_small_m_gives_the_clusters_of_kmeans() -> None:
    rows, _ = blobs(300, 4, 4)
    hard = KMeans(4, n_init=5, random_state=0).fit(rows)
    soft = FuzzyKMeans(4, m=1.02, init=hard.cluster_centers_).fit(rows)
    np.testing.assert_allclose(soft.cluster_centers_, hard.cluster_centers_, atol=1e-3)


def test_separated_blobs_are_found() -> None:
    rows, groups = blobs(300, 4, 4, seed=5)
    assert adjusted_rand_score(groups, FuzzyKMeans(4, random_state=0).fit_predict(rows)) > 0.95


# Invariance


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(12, 300),
    d=st.integers(1, 18),
    k=st.integers(1, 11),
    m=st.floats(1.05, 8),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_memberships_add_up_to_one_and_the_objective_never_rises(
    seed: int, n: int, d: int, k: int, m: float
) -> None:
    rows = np.random.default_rng(seed).normal(size=(n, d))
    model = FuzzyKMeans(k, m=m, random_state=seed, max_iter=30).fit(rows)
    shares = model.predict_proba(rows)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    assert (shares >= 0).all()
    path = model.objective_path_
    assert (np.diff(path) <= 1e-10 * path[0]).all()
    np.testing.assert_array_equal(model.labels_, model.predict(rows))
    chosen = np.take_along_axis(shares, model.labels_[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(chosen, shares.max(axis=1), rtol=1e-9)


def test_weights_are_repeated_rows() -> None:
    rows, _ = blobs(120)
    times = np.random.default_rng(0).integers(0, 4, len(rows))
    start = rows[:3]
    weighted = FuzzyKMeans(3, init=start, tol=1e-12).fit(rows, sample_weight=times)
    repeated = FuzzyKMeans(3, init=start, tol=1e-12).fit(np.repeat(rows, times, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_and_cpu_levels_change_no_byte(dtype: type) -> None:
    rows: NDArray[Any] = blobs(2000, 11)[0].astype(dtype)
    digests = {
        FuzzyKMeans(9, m=1.7, random_state=0, n_jobs=j).fit(rows).digest() for j in (1, 2, 3)
    }
    for level in ("baseline", "avx2"):
        cpu.limit(level)
        try:
            digests.add(FuzzyKMeans(9, m=1.7, random_state=0).fit(rows).digest())
        finally:
            cpu.limit(None)
    assert len(digests) == 1


# Edges


def test_a_row_on_a_centre_belongs_to_it_alone() -> None:
    model = FuzzyKMeans(2, init=[[0.0], [4.0]], max_iter=50).fit([[0.0], [0.0], [4.0], [4.0]])
    assert model.predict_proba([[0.0], [4.0]]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert model.objective_ == 0


def test_coinciding_centres_share_their_rows() -> None:
    model = FuzzyKMeans(3, init=[[1.0], [1.0], [5.0]]).fit([[1.0], [1.0], [5.0]])
    assert model.predict_proba([[1.0]]).tolist() == [[0.5, 0.5, 0.0]]


def test_one_cluster_is_the_mean() -> None:
    rows, _ = blobs()
    model = FuzzyKMeans(1, random_state=0).fit(rows)
    np.testing.assert_allclose(model.cluster_centers_[0], rows.mean(axis=0))
    assert (model.predict_proba(rows) == 1).all()


def test_restarts_keep_the_least_objective() -> None:
    rows, _ = blobs(300, 2, 8)
    one, many = (FuzzyKMeans(8, init="random", n_init=n, random_state=0).fit(rows) for n in (1, 6))
    assert many.objective_ <= one.objective_


# Errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"m": 1.0}, "m must be a finite number > 1; got 1.0"),
        ({"centroid": "mean"}, "centroid must be 'standard' or 'literal'; got 'mean'"),
        ({"n_clusters": 0}, "n_clusters must be an integer >= 1; got 0"),
        ({"init": "far"}, "init must be 'k-means++' or 'random'; got 'far'"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1; got 0"),
        ({"tol": -1}, "tol must be a number >= 0; got -1"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        FuzzyKMeans(**params).fit(blobs()[0])
    assert message in str(error.value)


def test_more_clusters_than_rows_are_refused() -> None:
    with pytest.raises(DataError, match="n_clusters=3 is more than the rows of X"):
        FuzzyKMeans(3).fit([[0.0], [1.0]])


def test_damaged_state_is_refused() -> None:
    model = FuzzyKMeans(2, random_state=0).fit(blobs()[0])
    for change in ({"cluster_centers_": np.ones((2, 2))}, {"objective_path_": np.array([np.nan])}):
        with pytest.raises(DataError, match="the model is damaged"):
            FuzzyKMeans.from_state(model.get_params(), {**model.state(), **change})
    with pytest.raises(DataError, match="m must be above 1"):
        FuzzyKMeans.from_state({**model.get_params(), "m": 0.5}, model.state())
