"""The search as an estimator: trees and brute force agree bit for bit, for every metric."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.neighbors import NearestNeighbors as Peer

from assay import store
from assay.base import DataError, ParameterError, same
from assay.neighbors import NearestNeighbors
from assay.theory import neighbourhood_edge

Matrix = NDArray[np.float64]
EXPONENTS = [1, 1.3, 2, 3, math.inf]
TREES = ["kd_tree", "ball_tree"]

# Few distinct values: ties and duplicates are the rule.
grids = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 40), st.integers(1, 3)),
    elements=st.integers(-3, 3).map(float),
)


def tables(n: int, m: int, d: int, seed: int = 0) -> tuple[Matrix, Matrix]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d))


def assert_same_answers(a: NearestNeighbors, b: NearestNeighbors, queries: Any, r: float) -> None:
    for x, y in zip(a.kneighbors(queries), b.kneighbors(queries), strict=True):
        assert np.array_equal(x, y)
    near, far = (
        a.radius_neighbors_graph(queries, r, "distance"),
        b.radius_neighbors_graph(queries, r, "distance"),
    )
    assert np.array_equal(near.indptr, far.indptr)
    assert np.array_equal(near.indices, far.indices)
    assert np.array_equal(near.data, far.data)


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tree_and_brute_force_give_the_same_bits(p: float, d: int, dtype: Any) -> None:
    rows, queries = (each.astype(dtype) for each in tables(900, 60, d))
    tree = NearestNeighbors(n_neighbors=9, p=p, algorithm="kd_tree", leaf_size=7).fit(rows)
    brute = NearestNeighbors(n_neighbors=9, p=p, algorithm="brute", n_jobs=2).fit(rows)
    assert (tree.effective_algorithm_, brute.effective_algorithm_) == ("kd_tree", "brute")
    assert_same_answers(tree, brute, queries, 0.5)
    assert_same_answers(clone(tree).set_params(n_jobs=2).fit(rows), brute, None, 0.5)


@given(rows=grids, p=st.sampled_from(EXPONENTS), leaf_size=st.integers(1, 9), data=st.data())
def test_ties_and_duplicates_keep_the_order_of_rows(
    rows: Matrix, p: float, leaf_size: int, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(rows)))
    r = data.draw(st.integers(0, 5))
    params: dict[str, Any] = {"n_neighbors": k, "p": p, "leaf_size": leaf_size}
    tree, brute = (
        NearestNeighbors(algorithm=name, **params).fit(rows) for name in ("kd_tree", "brute")
    )
    assert_same_answers(tree, brute, rows + 1, float(r))
    distance, index = tree.kneighbors(rows)
    gap = np.abs(rows[:, None] - rows[None])
    full = gap.max(axis=2) if math.isinf(p) else (gap**p).sum(axis=2) ** (1 / p)
    np.testing.assert_allclose(distance, np.sort(full, axis=1)[:, :k], rtol=1e-12)
    expected = [set(np.flatnonzero(row <= r + 1e-9).tolist()) for row in full]
    found = tree.radius_neighbors(rows, r + 1e-9, return_distance=False)
    assert [set(each.tolist()) for each in found] == expected
    assert all((np.diff(each) > 0).all() for each in found)
    tied = np.diff(distance, axis=1) == 0
    assert (np.diff(index, axis=1)[tied] > 0).all()


@pytest.mark.parametrize("algorithm", ["brute", *TREES])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_weighted_minkowski_is_that_of_scikit_learn(algorithm: str, p: float) -> None:
    rows, queries = tables(300, 40, 4)
    params = {"w": np.array([1.0, 2.0, 0.5, 0.0])}
    ours = NearestNeighbors(p=p, metric_params=params, algorithm=algorithm).fit(rows)
    theirs = Peer(p=p, metric_params=params, algorithm="brute").fit(rows)
    np.testing.assert_allclose(ours.kneighbors(queries)[0], theirs.kneighbors(queries)[0])
    assert np.array_equal(ours.kneighbors(queries)[1], theirs.kneighbors(queries)[1])
    assert ours.effective_metric_params_["w"] is params["w"]


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
@pytest.mark.parametrize("given_params", [False, True])
@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis", "cosine"])
def test_changed_spaces_are_the_distances_of_scipy(
    metric: str, given_params: bool, algorithm: str
) -> None:
    rows, queries = tables(200, 30, 3)
    rows[:, 1] += 2 * rows[:, 0]
    covariance = np.cov(rows.T)
    params: dict[str, Any] = {
        "seuclidean": {"V": rows.var(axis=0, ddof=1)},
        "mahalanobis": {"VI": np.linalg.inv(covariance)},
        "cosine": {},
    }[metric]
    ours = NearestNeighbors(
        n_neighbors=200,
        metric=metric,
        algorithm=algorithm,
        metric_params=params if given_params else None,
    ).fit(rows)
    full = cdist(queries, rows, metric, **params)
    distance, index = ours.kneighbors(queries)
    np.testing.assert_allclose(distance, np.sort(full, axis=1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(full, index, axis=1), distance, rtol=1e-9)
    radius = float(np.quantile(full, 0.1))
    inside = ours.radius_neighbors_graph(queries, radius).toarray() > 0
    assert np.array_equal(inside, full <= radius)


def test_covariance_may_be_given_instead_of_its_inverse() -> None:
    rows, queries = tables(100, 10, 3)
    V = np.cov(rows.T) + np.eye(3)
    one = NearestNeighbors(metric="mahalanobis", metric_params={"V": V}).fit(rows)
    two = NearestNeighbors(metric="mahalanobis", metric_params={"VI": np.linalg.inv(V)}).fit(rows)
    np.testing.assert_allclose(one.kneighbors(queries)[0], two.kneighbors(queries)[0], rtol=1e-9)


def test_function_as_metric_is_searched_row_by_row() -> None:
    rows, queries = tables(30, 5, 2)

    def city(a: Matrix, b: Matrix, scale: float) -> float:
        return float(scale * np.abs(a - b).sum())

    ours = NearestNeighbors(metric=city, metric_params={"scale": 2.0}).fit(rows)
    plain = NearestNeighbors(p=1).fit(rows)
    distance, index = ours.kneighbors(queries)
    np.testing.assert_allclose(distance, 2 * plain.kneighbors(queries)[0])
    assert np.array_equal(index, plain.kneighbors(queries)[1])
    found = ours.radius_neighbors(queries, 2.0, return_distance=False)
    expected = plain.radius_neighbors(queries, 1.0, return_distance=False)
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]
    with pytest.raises(ParameterError) as caught:
        clone(ours).set_params(algorithm="kd_tree").fit(rows).kneighbors()
    assert str(caught.value) == (
        "algorithm='kd_tree' does not support a function as metric; use 'auto' or 'brute'"
    )


def test_auto_looks_at_the_data_and_says_what_it_chose() -> None:
    rng = np.random.default_rng(0)
    line = np.cumsum(rng.normal(size=(6000, 1)), axis=0) @ rng.normal(size=(1, 12))
    cloud = rng.normal(size=(6000, 12))
    flat = rng.normal(size=(6000, 2))
    assert NearestNeighbors().fit(line).effective_algorithm_ == "kd_tree"
    assert NearestNeighbors().fit(flat).effective_algorithm_ == "kd_tree"
    assert NearestNeighbors().fit(cloud).effective_algorithm_ == "brute"
    assert NearestNeighbors().fit(flat[:1000]).effective_algorithm_ == "brute"
    for rows in (line, cloud):
        auto, brute = NearestNeighbors().fit(rows), NearestNeighbors(algorithm="brute").fit(rows)
        assert_same_answers(auto, brute, rows[:50], 1.0)


def test_graphs_are_those_of_scikit_learn() -> None:
    rows, _ = tables(80, 1, 3)
    ours, theirs = NearestNeighbors(n_neighbors=4).fit(rows), Peer(n_neighbors=4).fit(rows)
    for mode in ("connectivity", "distance"):
        a = ours.kneighbors_graph(mode=mode).toarray()
        np.testing.assert_allclose(a, theirs.kneighbors_graph(mode=mode).toarray(), rtol=1e-9)
        b = ours.radius_neighbors_graph(rows, 0.8, mode=mode, sort_results=True).toarray()
        peer = theirs.radius_neighbors_graph(rows, 0.8, mode=mode).toarray()
        np.testing.assert_allclose(b, peer, rtol=1e-9, atol=1e-9)


def test_sorted_radius_answers_go_from_near_to_far() -> None:
    rows, queries = tables(200, 9, 2)
    model = NearestNeighbors(algorithm="kd_tree").fit(rows)
    distance, index = model.radius_neighbors(queries, 1.0, sort_results=True)
    plain = model.radius_neighbors(queries, 1.0, return_distance=False)
    for far, near, every in zip(distance, index, plain, strict=True):
        assert (np.diff(far) >= 0).all()
        assert sorted(near.tolist()) == every.tolist()


def test_row_is_not_its_own_neighbour() -> None:
    rows = np.array([[0.0], [0.0], [1.0]])
    model = NearestNeighbors(n_neighbors=1, radius=0.5).fit(rows)
    assert model.kneighbors(return_distance=False).tolist() == [[1], [0], [0]]
    found = model.radius_neighbors(return_distance=False)
    assert [each.tolist() for each in found] == [[1], [0], []]


def test_radius_needs_no_number_of_neighbours() -> None:
    model = NearestNeighbors(n_neighbors=5).fit([[0.0], [1.0]])
    assert model.radius_neighbors([[0.0]], 3.0, return_distance=False)[0].tolist() == [0, 1]
    with pytest.raises(ParameterError, match=r"n_samples = 2\); got 5"):
        model.kneighbors([[0.0]])


def test_model_file_holds_rows_and_no_tree() -> None:
    X, _ = load_iris(return_X_y=True)
    model = NearestNeighbors(algorithm="kd_tree").fit(X)
    model.kneighbors(X)
    assert set(model.state()) == {"n_features_in_", "n_samples_fit_", "rows_"}
    restored = NearestNeighbors.from_state(model.get_params(), model.state())
    thawed = pickle.loads(pickle.dumps(model))
    for other in (restored, thawed):
        assert same(model, other)
        assert_same_answers(model, other, X[:9], 0.5)


@pytest.mark.parametrize(
    "params",
    [
        {"metric_params": {"w": np.array([1.0, 2.0])}},
        {"metric": "mahalanobis", "metric_params": {"VI": [[2.0, 0.5], [0.5, 1.0]]}},
        {"metric": "weighted_hamming", "metric_params": {"similarity": {0: np.eye(3)}}},
        {"metric": "mixed", "categorical_features": [1], "metric_params": {"ordinal": [0]}},
    ],
)
def test_model_files_hold_every_metric(params: dict[str, Any], tmp_path: Path) -> None:
    rows = np.random.default_rng(0).integers(0, 3, size=(30, 2)).astype(np.float64)
    model = NearestNeighbors(**params).fit(rows)
    store.save(tmp_path / "m.assay", {}, {"model": model})
    restored = store.load(tmp_path / "m.assay")[1]["model"]
    assert_same_answers(model, restored, rows, 0.5)


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_huge_and_tiny_numbers_are_searched_alike(algorithm: str) -> None:
    rows = np.array([[1.7e308], [-1.7e308], [1e-320], [0.0]])
    model = NearestNeighbors(n_neighbors=4, algorithm=algorithm, leaf_size=1).fit(rows)
    assert model.kneighbors([[0.0]], return_distance=False).tolist() == [[2, 3, 0, 1]]
    assert model.radius_neighbors([[0.0]], math.inf, False)[0].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("d", [1, 2, 4])
def test_neighbourhood_grows_with_the_dimension(d: int) -> None:
    """Golden 18: to hold 5 of 5000 even points, a cube needs the edge 0.001^(1/D)."""
    rows = np.random.default_rng(d).uniform(size=(5000, d))
    middle = rows[(np.abs(rows - 0.5) < 0.2).all(axis=1)][:400]
    model = NearestNeighbors(p=math.inf, algorithm="kd_tree").fit(rows)
    # The cube around a point that just holds its five nearest others.
    edge = 2 * model.kneighbors(middle, 6)[0][:, -1]
    np.testing.assert_allclose(np.mean(edge**d), neighbourhood_edge(d) ** d, rtol=0.15)


ONE, TWO = np.ones((4, 1)), np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize(
    ("params", "rows", "message"),
    [
        ({"p": 0.5}, TWO, "p must be a number >= 1; got 0.5"),
        ({"radius": -1.0}, TWO, "radius must be a number >= 0; got -1.0"),
        ({"leaf_size": 0}, TWO, "leaf_size must be an integer >= 1; got 0"),
        (
            {"algorithm": "kd-tree"},
            TWO,
            "algorithm must be 'auto', 'brute', 'kd_tree' or 'ball_tree'; got 'kd-tree'; did you "
            "mean 'kd_tree'?",
        ),
        (
            {"metric_params": {"w": [1.0]}},
            TWO,
            "metric_params['w'] must hold one weight per column, shape (2,); got shape (1,)",
        ),
        (
            {"metric_params": {"w": [1.0, -1.0]}},
            TWO,
            "metric_params['w'] must hold finite weights >= 0, not all of them zero",
        ),
        ({"metric_params": {"w": ["a", "b"]}}, TWO, "metric_params['w'] must hold numbers only"),
        ({"metric_params": 3}, TWO, "metric_params must be a dict or None; got 3"),
        (
            {"metric": "cosine", "metric_params": {"w": 1}},
            TWO,
            "metric_params of 'cosine' may hold nothing; got 'w'",
        ),
        (
            {"metric": "seuclidean", "metric_params": {"V": [1.0, 0.0]}},
            TWO,
            "metric_params['V'] must hold finite variances > 0",
        ),
        (
            {"metric": "seuclidean", "metric_params": {"V": [1.0]}},
            TWO,
            "metric_params['V'] must hold one variance per column, shape (2,); got shape (1,)",
        ),
        (
            {"metric": "mahalanobis"},
            TWO,
            "metric='mahalanobis': the covariance of the training rows is singular (a constant "
            "column, linearly dependent columns, or fewer rows than columns); drop such "
            "columns or pass metric_params['VI']",
        ),
        (
            {"metric": "mahalanobis", "metric_params": {"V": np.zeros((2, 2))}},
            TWO,
            "metric='mahalanobis': metric_params['V'] is singular (a constant column, "
            "linearly dependent columns, or fewer rows than columns); drop such columns or pass "
            "metric_params['VI']",
        ),
        (
            {"metric": "mahalanobis", "metric_params": {"VI": np.diag([1.0, -1.0])}},
            TWO,
            "metric_params['VI'] is not positive definite",
        ),
        (
            {"metric": "mahalanobis", "metric_params": {"VI": np.eye(3)}},
            TWO,
            "metric_params['VI'] must have the shape (2, 2); got shape (3, 3)",
        ),
        (
            {"metric": "mahalanobis", "metric_params": {"V": np.eye(2), "VI": np.eye(2)}},
            TWO,
            "metric_params of 'mahalanobis' may hold V or VI, not both",
        ),
        (
            {"metric": "cosine"},
            np.zeros((2, 2)),
            "metric='cosine' is not defined for a row of zeros, as row 0 of X is; leave it out",
        ),
        (
            {"categorical_features": [0]},
            TWO,
            "categorical_features needs metric='mixed'; got [0] with metric='minkowski'",
        ),
        (
            {},
            np.array([[np.nan]]),
            "X contains NaN in row 0, column 0: NearestNeighbors takes no missing values; fill "
            "them in (assay.table.Encoder does) or leave these rows out",
        ),
    ],
)
def test_senseless_parameters_are_refused(
    params: dict[str, Any], rows: Matrix, message: str
) -> None:
    model = NearestNeighbors(**params)
    with pytest.raises((ParameterError, DataError)) as caught:
        model.fit(rows)
    assert str(caught.value) == message
    with pytest.raises(ValueError, match="not fitted"):
        model.kneighbors(rows)


def test_constant_columns_are_left_out_of_standardised_distances() -> None:
    rows = np.column_stack([np.arange(6.0), np.full(6, 7.0)])
    model = NearestNeighbors(metric="seuclidean", n_neighbors=2).fit(rows)
    assert model.kneighbors([[1.1, 900.0]], return_distance=False).tolist() == [[1, 2]]


def test_dataframes_are_searched_by_name() -> None:
    frame = pl.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0]})
    model = NearestNeighbors(n_neighbors=1).fit(frame)
    assert model.kneighbors(frame, return_distance=False).tolist() == [[0], [1]]
    with pytest.raises(DataError, match="b"):
        model.kneighbors(frame.rename({"b": "c"}))
