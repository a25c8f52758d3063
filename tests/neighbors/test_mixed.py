"""Distances between codes: the definition of Gower and Hamming, with and without the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from assay.base import DataError, ParameterError, same
from assay.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors

Matrix = NDArray[np.float64]


def by_definition(
    queries: Matrix,
    rows: Matrix,
    nominal: set[int],
    w: Any = None,
    ordinal: tuple[int, ...] = (),
    similarity: dict[int, Any] | None = None,
) -> Matrix:
    """Gower's formula, pair by pair and word for word (nominal columns hold codes)."""
    weights = np.ones(rows.shape[1]) if w is None else np.asarray(w)
    out = np.ones((len(queries), len(rows)))
    queries, rows = queries.copy(), rows.copy()
    for j in ordinal:
        distinct = np.unique(rows[~np.isnan(rows[:, j]), j])
        for table in (queries, rows):
            for i, x in enumerate(table[:, j]):
                below, up_to = (distinct < x).sum(), (distinct <= x).sum()
                table[i, j] = np.nan if np.isnan(x) else (below + up_to - 1) / 2
    present = ~np.isnan(rows)
    spread = [
        np.ptp(rows[present[:, j], j]) if present[:, j].any() else 0.0 for j in range(len(weights))
    ]
    for i, a in enumerate(queries):
        for r, b in enumerate(rows):
            total = count = 0.0
            for j in range(len(weights)):
                if np.isnan(a[j]) or np.isnan(b[j]) or weights[j] == 0:
                    continue
                if similarity and j in similarity:
                    part = 1 - similarity[j][int(a[j])][int(b[j])]
                elif j in nominal:
                    part = float(a[j] != b[j])
                else:
                    part = abs(a[j] - b[j]) / spread[j] if spread[j] > 0 else 0.0
                total += weights[j] * part
                count += weights[j]
            if count > 0:
                out[i, r] = total / count
    return out


def mixed_table(seed: int, n: int, missing: float = 0.15) -> Matrix:
    """Two numeric columns, one ordinal, two nominal, all with holes."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 2)) * [1, 100]
    codes = np.column_stack([rng.integers(0, c, size=n) for c in (5, 3, 4)])
    table = np.column_stack([numbers, codes]).astype(np.float64)
    table[rng.uniform(size=table.shape) < missing] = np.nan
    # Every level at least once, so that codes are those of the model.
    table[:5, 2:] = np.column_stack([np.arange(5) % c for c in (5, 3, 4)])
    return table


NOMINAL = {3, 4}
MIXED: dict[str, Any] = {"metric": "mixed", "categorical_features": [3, 4]}


@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree", "ball_tree"])
@pytest.mark.parametrize("w", [None, [1.0, 0.5, 2.0, 0.0, 3.0]])
@pytest.mark.parametrize("ordinal", [(), (2,)])
def test_mixed_distance_is_the_one_defined(algorithm: str, w: Any, ordinal: Any) -> None:
    rows, queries = mixed_table(0, 120), mixed_table(1, 20)
    params = {"ordinal": list(ordinal)} | ({} if w is None else {"w": w})
    model = NearestNeighbors(
        n_neighbors=120, algorithm=algorithm, leaf_size=5, metric_params=params, **MIXED
    ).fit(rows)
    distance, index = model.kneighbors(queries)
    full = by_definition(queries, rows, NOMINAL, w, ordinal)
    np.testing.assert_allclose(np.sort(full, axis=1), distance, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(np.take_along_axis(full, index, axis=1), distance, atol=1e-13)
    inside = model.radius_neighbors_graph(queries, 0.31).toarray() > 0
    assert np.array_equal(inside, full <= 0.31)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(5, 80),
    leaf_size=st.integers(1, 9),
    missing=st.sampled_from([0.0, 0.1, 0.7]),
)
def test_tree_and_full_scan_give_the_same_bits(
    seed: int, n: int, leaf_size: int, missing: float
) -> None:
    rows, queries = mixed_table(seed, n, missing).round(1), mixed_table(seed + 1, 9, missing)
    k = min(n, 7)
    tree, brute = (
        NearestNeighbors(n_neighbors=k, algorithm=name, leaf_size=leaf_size, **MIXED).fit(rows)
        for name in ("kd_tree", "brute")
    )
    for x, y in zip(tree.kneighbors(queries), brute.kneighbors(queries), strict=True):
        assert np.array_equal(x, y)
    near, far = (m.radius_neighbors_graph(queries, 0.4, "distance") for m in (tree, brute))
    assert np.array_equal(near.indices, far.indices)
    assert np.array_equal(near.data, far.data)


def test_threads_change_no_bit() -> None:
    rows = mixed_table(3, 3000)
    one, two = (NearestNeighbors(n_jobs=n, **MIXED).fit(rows) for n in (1, 2))
    assert one.effective_algorithm_ == "kd_tree"
    for x, y in zip(one.kneighbors(), two.kneighbors(), strict=True):
        assert np.array_equal(x, y)


def test_hamming_is_the_share_of_columns_that_differ() -> None:
    rng = np.random.default_rng(0)
    rows, queries = rng.integers(0, 3, size=(400, 7)), rng.integers(0, 3, size=(30, 7))
    full = cdist(queries, rows, "hamming")
    w = np.arange(7.0)
    for params, expected in (
        (None, full),
        ({"w": w}, cdist(queries, rows, "hamming", w=w)),
    ):
        for algorithm in ("brute", "kd_tree"):
            model = NearestNeighbors(
                n_neighbors=50, metric="hamming", metric_params=params, algorithm=algorithm
            ).fit(rows)
            distance, index = model.kneighbors(queries)
            np.testing.assert_allclose(distance, np.sort(expected, axis=1)[:, :50], atol=1e-15)
            assert np.array_equal(
                index, np.argsort(expected.round(12), axis=1, kind="stable")[:, :50]
            )


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_weighted_hamming_takes_partial_similarities(algorithm: str) -> None:
    """S2: similarity = sum of w f(a, b) by sum of w; here red and orange are alike by 0.8."""
    rows = np.array([["red", "s"], ["orange", "s"], ["blue", "s"], ["red", "m"]], dtype=object)
    alike = np.eye(3)  # blue, orange, red: alphabetical
    alike[1, 2] = alike[2, 1] = 0.8
    model = NearestNeighbors(
        n_neighbors=4,
        metric="weighted_hamming",
        algorithm=algorithm,
        metric_params={"w": [3, 1], "similarity": {0: alike}},
    ).fit(rows)
    distance, index = model.kneighbors(np.array([["red", "s"]], dtype=object))
    np.testing.assert_allclose(distance, [[0.0, 3 * 0.2 / 4, 1 / 4, 3 / 4]])
    assert index.tolist() == [[0, 1, 3, 2]]
    # A level that fit has not seen is like none.
    distance, _ = model.kneighbors(np.array([["green", "s"]], dtype=object))
    np.testing.assert_allclose(distance, [[0.75, 0.75, 0.75, 1.0]])


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_tables_for_many_levels_are_searched_exactly(algorithm: str) -> None:
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.permutation(300) % 90, rng.integers(0, 3, size=300)])
    rows = codes.astype(np.float64)
    alike = rng.uniform(size=(90, 90))
    model = NearestNeighbors(
        n_neighbors=300,
        metric="weighted_hamming",
        algorithm=algorithm,
        leaf_size=4,
        metric_params={"similarity": {0: alike}},
    ).fit(rows)
    full = by_definition(rows[:20], rows, {0, 1}, similarity={0: alike})
    distance, _ = model.kneighbors(rows[:20])
    np.testing.assert_allclose(distance, np.sort(full, axis=1), atol=1e-13)


def test_dataframe_with_text_and_holes_is_searched_by_its_types() -> None:
    frame = pd.DataFrame(
        {"age": [20.0, 40.0, np.nan, 30.0], "town": ["a", "b", "a", None], "size": [1, 2, 3, 9]}
    )
    model = NearestNeighbors(
        n_neighbors=4,
        metric="mixed",
        categorical_features="from_dtype",
        metric_params={"ordinal": ["size"]},
    ).fit(frame)
    distance, index = model.kneighbors(frame.iloc[:1])
    expected = {0: 0.0, 1: (1 + 1 + 1 / 3) / 3, 2: (0 + 2 / 3) / 2, 3: (0.5 + 1) / 2}
    np.testing.assert_allclose(distance[0], sorted(expected.values()))
    assert index[0].tolist() == sorted(expected, key=lambda r: expected[r])
    assert model.categorical_features_.tolist() == [1]
    restored = NearestNeighbors.from_state(model.get_params(), model.state())
    assert same(model, restored)
    assert np.array_equal(restored.kneighbors(frame)[0], model.kneighbors(frame)[0])


def test_constant_and_empty_columns_say_nothing() -> None:
    rows = np.array([[0.0, 5.0, np.nan], [1.0, 5.0, np.nan], [4.0, 5.0, np.nan]])
    model = NearestNeighbors(n_neighbors=3, metric="mixed").fit(rows)
    distance, _ = model.kneighbors([[0.0, 900.0, 1.0]])
    np.testing.assert_allclose(distance, [[0.0, 0.25 / 2, 0.5]])


def test_rows_without_a_common_column_have_distance_one() -> None:
    rows = np.array([[0.0, np.nan], [1.0, 2.0], [np.nan, 4.0]])
    model = NearestNeighbors(n_neighbors=3, metric="mixed").fit(rows)
    distance, index = model.kneighbors([[np.nan, 4.0], [np.nan, np.nan]])
    assert distance.tolist() == [[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    assert index.tolist() == [[2, 0, 1], [0, 1, 2]]


def test_estimators_vote_on_mixed_tables() -> None:
    rng = np.random.default_rng(0)
    town = rng.choice(np.array(["x", "y", "z"], dtype=object), size=300)
    frame = pd.DataFrame({"a": rng.normal(size=300), "town": town})
    frame.loc[::7, "a"] = np.nan
    y = (town == "y").astype(int)
    params: dict[str, Any] = {"metric": "mixed", "categorical_features": ["town"]}
    assert KNeighborsClassifier(5, **params).fit(frame, y).score(frame, y) == 1.0
    model = KNeighborsRegressor(5, weights="distance", **params).fit(frame, y.astype(float))
    np.testing.assert_allclose(model.predict(frame), y, atol=1e-12)


SMALL = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"ordinal": [2]}, "metric_params['ordinal'] must name columns, or number them in [0, 1]"),
        ({"ordinal": ["a"]}, "metric_params['ordinal'] names column 'a', which X does not have"),
        (
            {"ordinal": [1]},
            "metric_params['ordinal'] names column 1, which is nominal; an ordinal column must "
            "hold numbers, whose order is used",
        ),
        (
            {"similarity": {0: np.eye(3)}},
            "metric_params['similarity'] names column 0, which is not nominal",
        ),
        (
            {"similarity": {1: np.eye(3)}},
            "metric_params['similarity'] of column 1 must have one row and column per category, "
            "shape (2, 2); got shape (3, 3)",
        ),
        (
            {"similarity": {1: 2 * np.eye(2)}},
            "metric_params['similarity'] of column 1 must hold numbers from 0 to 1",
        ),
        (
            {"similarity": [np.eye(2)]},
            "metric_params['similarity'] must map columns to matrices of similarities",
        ),
        (
            {"w": [1.0]},
            "metric_params['w'] must hold one weight per column, shape (2,); got shape (1,)",
        ),
    ],
)
def test_senseless_metric_params_are_refused(params: dict[str, Any], message: str) -> None:
    model = NearestNeighbors(metric="mixed", categorical_features=[1], metric_params=params)
    with pytest.raises(ParameterError) as caught:
        model.fit(SMALL)
    assert str(caught.value).startswith(message)


def test_metric_between_codes_needs_a_fit_of_its_own() -> None:
    model = NearestNeighbors(n_neighbors=1).fit(SMALL).set_params(metric="mixed")
    with pytest.raises(ParameterError, match="call fit again"):
        model.kneighbors(SMALL)
    model = NearestNeighbors(n_neighbors=1, metric="mixed").fit(SMALL).set_params(metric="cosine")
    with pytest.raises(ParameterError, match="call fit again"):
        model.kneighbors(SMALL)


def test_refit_with_a_plain_metric_forgets_the_levels() -> None:
    model = NearestNeighbors(metric="hamming").fit(SMALL).set_params(metric="euclidean")
    assert set(model.fit(SMALL).state()) == {"n_features_in_", "n_samples_fit_", "rows_"}


@pytest.mark.parametrize("value", [7.0, -1.0, 0.5, np.inf])
def test_damaged_levels_are_refused(value: float) -> None:
    model = NearestNeighbors(metric="mixed", categorical_features=[1]).fit(SMALL)
    rows = model.rows_.copy()
    rows[0, 1] = value
    with pytest.raises(DataError, match="damaged"):
        NearestNeighbors.from_state(model.get_params(), {**model.state(), "rows_": rows})
