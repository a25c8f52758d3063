"""The search: the same neighbours as scikit-learn's brute force, ties by row number."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from assay.base import DataError, ParameterError
from assay.neighbors import KNeighborsClassifier, KNeighborsRegressor
from assay.neighbors._index import chunks

Matrix = NDArray[np.float64]
EXPONENTS = [1, 1.5, 2, 3, math.inf]

# Few distinct values: ties and duplicates are the rule, and every sum is exact.
small_tables = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 3)),
    elements=st.integers(-3, 3).map(float),
)


def by_definition(queries: Matrix, rows: Matrix, k: int, p: float) -> tuple[Matrix, NDArray[Any]]:
    """All distances, then a stable sort: the definition, word for word."""
    gap = np.abs(queries[:, None].astype(np.float64) - rows[None].astype(np.float64))
    full = gap.max(axis=2) if math.isinf(p) else (gap**p).sum(axis=2) ** (1 / p)
    index = np.argsort(full, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(full, index, axis=1), index


def searcher(rows: Any, k: int, **params: Any) -> KNeighborsRegressor:
    return KNeighborsRegressor(k, **params).fit(rows, np.zeros(len(rows)))


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbours_are_those_of_scikit_learn(dtype: Any, p: float) -> None:
    rng = np.random.default_rng(0)
    rows, queries = (rng.normal(size=(n, 6)).astype(dtype) for n in (500, 80))
    distance, index = searcher(rows, 7, p=p).kneighbors(queries)
    # scikit-learn in float64: its float32 distances have an error of their own.
    metric: dict[str, Any] = {"metric": "chebyshev"} if math.isinf(p) else {"p": p}
    peer = NearestNeighbors(n_neighbors=7, algorithm="brute", **metric)
    peer_distance, peer_index = peer.fit(rows.astype(float)).kneighbors(queries.astype(float))
    assert np.array_equal(index, peer_index)
    np.testing.assert_allclose(distance, peer_distance, rtol=1e-9)
    assert index.dtype == np.int64
    assert distance.dtype == np.float64


@pytest.mark.parametrize(
    ("metric", "scipy_name"),
    [("euclidean", "euclidean"), ("manhattan", "cityblock"), ("chebyshev", "chebyshev")],
)
def test_named_metrics_are_those_of_scipy(metric: str, scipy_name: str) -> None:
    rng = np.random.default_rng(1)
    rows, queries = rng.normal(size=(40, 3)), rng.normal(size=(5, 3))
    distance, index = searcher(rows, 40, metric=metric).kneighbors(queries)
    full = cdist(queries, rows, scipy_name)
    np.testing.assert_allclose(distance, np.sort(full, axis=1), rtol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(full, index, axis=1), distance, rtol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 2, 7, 16, 17, 33, 100])
@pytest.mark.parametrize("n_rows", [1, 5, 64, 257])
def test_every_shape_is_searched_by_definition(n_rows: int, n_columns: int) -> None:
    rng = np.random.default_rng(n_rows * n_columns)
    rows = rng.integers(-2, 3, size=(n_rows, n_columns)).astype(np.float64)
    queries = rng.integers(-2, 3, size=(19, n_columns)).astype(np.float64)
    k = min(n_rows, 9)
    distance, index = searcher(rows, k).kneighbors(queries)
    expected_distance, expected_index = by_definition(queries, rows, k, 2)
    assert np.array_equal(index, expected_index)
    np.testing.assert_allclose(distance, expected_distance, rtol=1e-12)


@pytest.mark.parametrize("p", [1, 2, math.inf])
@given(rows=small_tables, data=st.data())
def test_ties_are_broken_by_row_number(p: float, rows: Matrix, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(rows)))
    _, index = searcher(rows, k, p=p).kneighbors(rows)
    assert np.array_equal(index, by_definition(rows, rows, k, p)[1])


@given(rows=small_tables, seed=st.integers(0, 100))
def test_row_order_changes_numbers_and_no_distance(rows: Matrix, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(rows))
    distance, _ = searcher(rows, len(rows)).kneighbors(rows)
    shuffled, index = searcher(rows[order], len(rows)).kneighbors(rows)
    assert np.array_equal(distance, shuffled)
    assert np.array_equal(np.sort(order[index], axis=1), np.sort(index, axis=1))


@given(rows=small_tables, shift=st.integers(-1000, 1000))
def test_translation_changes_nothing(rows: Matrix, shift: int) -> None:
    k = min(3, len(rows))
    moved = searcher(rows + shift, k).kneighbors(rows + shift)
    for before, after in zip(searcher(rows, k).kneighbors(rows), moved, strict=True):
        assert np.array_equal(before, after)


@given(rows=small_tables)
def test_far_from_the_origin_distances_stay_exact(rows: Matrix) -> None:
    # ||a||^2 - 2ab + ||b||^2 would lose every digit here.
    far = rows + 2.0**40
    distance, index = searcher(far, len(far)).kneighbors(far)
    expected_distance, expected_index = by_definition(rows, rows, len(rows), 2)
    assert np.array_equal(index, expected_index)
    np.testing.assert_allclose(distance, expected_distance, rtol=1e-12)


@given(rows=small_tables, n_jobs=st.integers(1, 4))
def test_threads_change_no_bit(rows: Matrix, n_jobs: int) -> None:
    one = searcher(rows, len(rows)).kneighbors(rows)
    many = searcher(rows, len(rows), n_jobs=n_jobs).kneighbors(rows)
    assert all(np.array_equal(a, b) for a, b in zip(one, many, strict=True))


def test_without_queries_no_row_is_its_own_neighbour() -> None:
    rows = np.random.default_rng(2).normal(size=(50, 3))
    distance, index = searcher(rows, 4).kneighbors()
    peer = NearestNeighbors(n_neighbors=4, algorithm="brute").fit(rows)
    peer_distance, peer_index = peer.kneighbors()
    assert np.array_equal(index, peer_index)
    np.testing.assert_allclose(distance, peer_distance, rtol=1e-9)


@given(rows=small_tables.filter(lambda rows: len(rows) > 1))
def test_without_queries_duplicates_are_still_neighbours(rows: Matrix) -> None:
    k = len(rows) - 1
    distance, index = searcher(np.repeat(rows, 2, axis=0), k).kneighbors()
    assert not (index == np.arange(2 * len(rows))[:, None]).any()
    assert (distance[:, 0] == 0).all()


def test_many_duplicates_leave_a_row_out_of_its_own_list() -> None:
    _, index = searcher(np.zeros((6, 1)), 2).kneighbors()
    assert index.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]]


def test_float32_rows_stay_float32_and_are_not_copied() -> None:
    rows = np.random.default_rng(3).normal(size=(20, 2)).astype(np.float32)
    model = searcher(rows, 1)
    assert model.rows_ is rows


@pytest.mark.parametrize("fitted", [np.float32, np.float64])
@pytest.mark.parametrize("asked", [np.float32, np.float64])
def test_mixed_precision_rounds_no_query(fitted: Any, asked: Any) -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(30, 2)).astype(fitted)
    queries = rng.normal(size=(10, 2)).astype(asked)
    distance, _ = searcher(rows, 1).kneighbors(queries)
    expected, _ = by_definition(queries, rows, 1, 2)
    np.testing.assert_allclose(distance, expected, rtol=1e-12)


def test_neighbours_can_be_asked_for_without_distances() -> None:
    model = searcher([[0.0], [1.0], [5.0]], 1)
    assert model.kneighbors([[4.0]], n_neighbors=2, return_distance=False).tolist() == [[2, 1]]


@pytest.mark.parametrize("value", [1e-200, 1e200])
def test_tiny_and_huge_values_keep_their_order(value: float) -> None:
    rows = np.array([[0.0], [3.0], [1.0]]) * value
    assert searcher(rows, 3, p=1).kneighbors([[0.0]])[1].tolist() == [[0, 2, 1]]


@pytest.mark.parametrize(
    ("n_samples", "k"),
    [
        (1, 1),
        (2, 1),
        (3, 1),
        (4, 3),
        (8, 3),
        (15, 3),
        (16, 5),
        (25, 5),
        (36, 7),
        (100, 11),
        (120, 11),
    ],
)
def test_sqrt_is_the_odd_integer_nearest_to_the_root(n_samples: int, k: int) -> None:
    model = KNeighborsRegressor("sqrt").fit(np.zeros((n_samples, 1)), np.zeros(n_samples))
    assert model.n_neighbors_ == k
    assert k % 2 == 1
    others = [odd for odd in range(1, n_samples + 3, 2) if odd <= n_samples]
    assert abs(k - math.sqrt(n_samples)) == min(abs(o - math.sqrt(n_samples)) for o in others)


@pytest.mark.parametrize(
    ("params", "name", "extra"),
    [
        ({}, "euclidean", {}),
        ({"p": 1}, "manhattan", {}),
        ({"p": math.inf}, "chebyshev", {}),
        ({"p": 3}, "minkowski", {"p": 3.0}),
        ({"metric": "manhattan"}, "manhattan", {}),
    ],
)
def test_effective_metric_has_its_plainest_name(
    params: dict[str, Any], name: str, extra: dict[str, float]
) -> None:
    model = searcher([[0.0], [1.0]], 1, **params)
    assert model.effective_metric_ == name
    assert model.effective_metric_params_ == extra


def test_chunks_cover_all_queries_and_are_bounded() -> None:
    parts = list(chunks(10_000_000, 100))
    assert parts[0].start == 0
    assert parts[-1].stop == 10_000_000
    assert all(a.stop == b.start for a, b in pairwise(parts))
    assert max(part.stop - part.start for part in parts) * 100 <= 1 << 21
    assert list(chunks(0, 5)) == []


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1 or 'sqrt'; got 0"),
        ({"n_neighbors": 2.0}, "n_neighbors must be an integer >= 1 or 'sqrt'; got 2.0"),
        ({"n_neighbors": "root"}, "n_neighbors must be an integer >= 1 or 'sqrt'; got 'root'"),
        (
            {"n_neighbors": 4},
            "n_neighbors must be at most the number of training rows (n_samples = 3); got 4",
        ),
        (
            {"weights": "distanc"},
            "weights must be 'uniform', 'distance', 'gaussian', 'epanechnikov' or 'triangular'; "
            "got 'distanc'; did you mean 'distance'?",
        ),
        (
            {"algorithm": "lsh"},
            "algorithm must be 'auto', 'brute', 'kd_tree' or 'ball_tree'; got 'lsh'",
        ),
        ({"p": 0.5}, "p must be a number >= 1; got 0.5"),
        ({"p": math.nan}, "p must be a number >= 1; got nan"),
        (
            {"metric": "jaccard"},
            "metric must be 'minkowski', 'euclidean', 'manhattan', 'chebyshev', 'seuclidean', "
            "'mahalanobis', 'cosine', 'hamming', 'weighted_hamming' or 'mixed'; got 'jaccard'",
        ),
        (
            {"metric": "manhattan", "p": 3},
            "p applies to metric='minkowski' only; got p=3 with 'manhattan'",
        ),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0; got 0"),
    ],
)
def test_fit_names_the_wrong_parameter(params: dict[str, Any], message: str) -> None:
    for cls in (KNeighborsClassifier, KNeighborsRegressor):
        with pytest.raises(ParameterError) as caught:
            cls(**{"n_neighbors": 1, **params}).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
        assert str(caught.value) == message


def test_kneighbors_names_a_wrong_number() -> None:
    model = searcher([[0.0], [1.0]], 1)
    with pytest.raises(ParameterError, match=r"^n_neighbors must be an integer >= 1; got 'sqrt'$"):
        model.kneighbors([[0.0]], n_neighbors="sqrt")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"^n_neighbors must be less than the number of train"):
        model.kneighbors(n_neighbors=2)


def test_damaged_rows_are_refused() -> None:
    model = searcher([[0.0, 1.0], [1.0, 2.0]], 1)
    for rows in (np.zeros((2, 3)), np.zeros(2), np.full((2, 2), np.nan), np.zeros((0, 2))):
        with pytest.raises((DataError, ParameterError)):
            KNeighborsRegressor.from_state(model.get_params(), {**model.state(), "rows_": rows})
