"""Hashed search: exact distances, measured recall, the same bytes for any number of threads."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from assay._core import cpu
from assay.base import DataError, ParameterError
from assay.neighbors import HashedNeighbors


def clusters(n: int = 3000, d: int = 16, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-10, 10, size=(40, d))
    return centres[rng.integers(40, size=n)] + rng.normal(size=(n, d))


def recall(found: NDArray[np.int64], distances: NDArray[np.float64], k: int) -> float:
    """Share of the true neighbours found; equally far ones count as true."""
    worst = np.sort(distances, axis=1)[:, k - 1 : k]
    return float((np.take_along_axis(distances, found, axis=1) <= worst + 1e-12).mean())


@pytest.mark.parametrize(
    ("metric", "directions", "dtype"),
    [
        ("euclidean", "adapted", np.float64),
        ("euclidean", "random", np.float32),
        ("cosine", "adapted", np.float32),
    ],
)
def test_recall_reaches_the_target_while_few_rows_are_examined(
    metric: str, directions: str, dtype: type
) -> None:
    X: NDArray[Any] = clusters(2000).astype(dtype)
    model = HashedNeighbors(n_neighbors=5, metric=metric, directions=directions, random_state=0)
    model.fit(X[300:])
    distance, index = model.kneighbors(X[:300])
    all_distances = cdist(X[:300].astype(float), X[300:].astype(float), metric=metric)
    assert recall(index, all_distances, 5) > 0.9
    assert model.recall_ >= 0.95
    assert model.examined_share_ < 0.3
    found = np.take_along_axis(all_distances, index, axis=1)
    np.testing.assert_allclose(distance, found, rtol=1e-6, atol=1e-7)
    assert (np.diff(distance, axis=1) >= 0).all()


def test_recall_reaches_the_target_on_digits() -> None:
    X, _ = load_digits(return_X_y=True)
    model = HashedNeighbors(n_neighbors=10, random_state=0).fit(X[200:])
    index = model.kneighbors(X[:200], return_distance=False)
    assert recall(index, cdist(X[:200], X[200:]), 10) > 0.93
    assert model.examined_share_ < 0.35


def test_all_candidates_make_the_search_exact() -> None:
    X = clusters(400)
    model = HashedNeighbors(n_neighbors=7, n_candidates=400, n_probes=10**6, random_state=1)
    model.set_params(n_tables=2, n_projections=1, width=1e6, min_hits=1).fit(X)
    distance, index = model.kneighbors(X[:50])
    wanted = cdist(X[:50], X)
    assert np.array_equal(index, np.argsort(wanted, axis=1, kind="stable")[:, :7])
    np.testing.assert_allclose(distance, np.sort(wanted, axis=1)[:, :7], rtol=1e-12, atol=1e-12)
    assert model.recall_ == 1.0


def test_more_hits_examine_fewer_rows() -> None:
    X = clusters()
    fixed: dict[str, Any] = {"n_tables": 8, "n_projections": 8, "width": 5.0, "random_state": 0}
    shares = [
        HashedNeighbors(min_hits=hits, n_candidates=10**6, n_probes=400, **fixed).fit(X)
        for hits in (1, 2, 3)
    ]
    examined = [model.examined_share_ for model in shares]
    assert examined[0] > examined[1] > examined[2]
    assert [model.min_hits_ for model in shares] == [1, 2, 3]


def test_more_candidates_never_lose_a_neighbour() -> None:
    X = clusters(1500)
    fixed: dict[str, Any] = {"n_tables": 4, "n_projections": 8, "width": 4.0, "min_hits": 1}
    recalls = [
        HashedNeighbors(n_candidates=size, random_state=0, **fixed).fit(X).recall_
        for size in (10, 50, 250, 1500)
    ]
    assert recalls == sorted(recalls)


def test_a_training_row_is_not_its_own_neighbour() -> None:
    X = clusters(500)
    model = HashedNeighbors(n_neighbors=3, random_state=0).fit(X)
    assert not (model.kneighbors(return_distance=False) == np.arange(500)[:, None]).any()
    assert (model.kneighbors(X, return_distance=False)[:, 0] == np.arange(500)).all()


def test_graph_holds_the_neighbours() -> None:
    X = clusters(200)
    model = HashedNeighbors(n_neighbors=3, random_state=0).fit(X)
    distance, index = model.kneighbors(X)
    graph = model.kneighbors_graph(X, mode="distance").toarray()
    np.testing.assert_allclose(np.take_along_axis(graph, index, axis=1), distance)
    assert model.kneighbors_graph(X).sum() == 600


@given(seed=st.integers(0, 1000), n=st.integers(1, 30), d=st.integers(1, 4), k=st.integers(1, 30))
def test_small_tables_give_k_distinct_rows(seed: int, n: int, d: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, d)).astype(float)  # with duplicates
    model = HashedNeighbors(n_neighbors=min(k, n), random_state=seed).fit(X)
    distance, index = model.kneighbors(rng.normal(size=(4, d)))
    assert index.shape == (4, min(k, n))
    assert all(len(set(each)) == len(each) for each in index.tolist())
    assert np.isfinite(distance).all()


def test_threads_and_batches_change_no_byte() -> None:
    X = clusters(1000)
    one = HashedNeighbors(n_neighbors=4, random_state=3).fit(X)
    two = HashedNeighbors(n_neighbors=4, random_state=3, n_jobs=2).fit(X)
    assert one.digest() == two.digest()
    first, second = one.kneighbors(X[:333]), two.kneighbors(X[:333])
    single = [one.kneighbors(X[i : i + 1]) for i in range(20)]
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])
    assert np.array_equal(first[1][:20], np.concatenate([index for _, index in single]))


@pytest.mark.parametrize("level", ["baseline", "avx2"])
def test_every_processor_level_gives_the_same_bytes(level: str) -> None:
    X = np.random.default_rng(0).normal(size=(600, 19))
    model = HashedNeighbors(n_neighbors=4, random_state=0).fit(X)
    distance, index = model.kneighbors(X)
    cpu.limit(level)
    try:
        low = HashedNeighbors(n_neighbors=4, random_state=0).fit(X)
        low_distance, low_index = low.kneighbors(X)
    finally:
        cpu.limit(None)
    assert low.digest() == model.digest()
    assert np.array_equal(low_distance, distance)
    assert np.array_equal(low_index, index)


def test_a_restored_model_finds_the_same() -> None:
    X = clusters(800)
    model = HashedNeighbors(n_neighbors=4, random_state=0).fit(X)
    again = HashedNeighbors.from_state(model.get_params(), model.state())
    assert np.array_equal(again.kneighbors(X)[1], model.kneighbors(X)[1])
    assert np.array_equal(
        pickle.loads(pickle.dumps(model)).kneighbors(X)[0], model.kneighbors(X)[0]
    )


@pytest.mark.parametrize("scale", [1e-100, 1e-20, 1e20, 1e150])
def test_the_unit_of_the_columns_does_not_matter(scale: float) -> None:
    X = clusters(600)
    index = HashedNeighbors(n_neighbors=3, random_state=0).fit(X * scale).kneighbors(X[:50] * scale)
    wanted = np.argsort(cdist(X[:50], X), axis=1)[:, :3]
    assert (index[1] == wanted).mean() > 0.9


def test_equal_rows_and_constant_columns_are_searched() -> None:
    X = np.ones((50, 3))
    distance, index = HashedNeighbors(n_neighbors=4, random_state=0).fit(X).kneighbors(X[:2])
    assert not distance.any()
    assert index.tolist() == [[0, 1, 2, 3]] * 2


ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1; got 0"),
    (
        {"n_neighbors": 60},
        "n_neighbors must be at most the number of training rows (n_samples = 50); got 60",
    ),
    ({"metric": "l1"}, "metric must be 'euclidean' or 'cosine'; got 'l1'"),
    ({"target_recall": 0}, "target_recall must be a number in (0, 1]; got 0"),
    ({"n_tables": 256}, "n_tables must be an integer in [1, 255] or 'auto'; got 256"),
    ({"n_projections": 33}, "n_projections must be an integer in [1, 32] or 'auto'; got 33"),
    (
        {"n_tables": 2, "min_hits": 3},
        "min_hits must be at most the number of tables (2): a row lies in one bin of each; got 3",
    ),
    (
        {"random_state": "x"},
        "random_state must be None, an integer in [0, 2**32) or a RandomState; got 'x'",
    ),
]


@pytest.mark.parametrize(("params", "message"), ERRORS, ids=[str(sorted(p)) for p, _ in ERRORS])
def test_a_wrong_parameter_is_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        HashedNeighbors(**params).fit(clusters(50))
    assert str(error.value) == message


def test_a_row_of_zeros_has_no_cosine() -> None:
    X = clusters(50)
    X[7] = 0
    with pytest.raises(DataError, match="row 7 of X is"):
        HashedNeighbors(metric="cosine").fit(X)


def test_all_rows_as_neighbours_of_training_rows_are_refused() -> None:
    model = HashedNeighbors(n_neighbors=5, random_state=0).fit(clusters(5))
    with pytest.raises(ParameterError, match="less than the number of training rows"):
        model.kneighbors()


def test_a_hostile_state_is_refused() -> None:
    model = HashedNeighbors(random_state=0).fit(clusters(100))
    state: dict[str, Any] = model.state()
    for name, value in [
        ("n_tables_", 255),
        ("min_hits_", 300),
        ("scale_", -1.0),
        ("width_", float("nan")),
        ("directions_", state["directions_"][:, :3]),
        ("shifts_", np.full_like(state["shifts_"], 7.0)),
    ]:
        with pytest.raises(DataError, match="damaged"):
            HashedNeighbors.from_state(model.get_params(), {**state, name: value})
