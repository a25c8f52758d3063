"""SMOTE: rows between rows, votes on nominal columns, gaps, tables of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.base import DataError, ParameterError
from assay.features import SyntheticSampler
from assay.features._synthetic_rows import NewRows

Matrix = NDArray[np.float64]


def imbalanced(seed: int = 0) -> tuple[Matrix, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [60, 12, 30]))
    return rng.normal(size=(102, 3)) + y[:, None], y


def nearest_of_class(rows: Matrix, k: int) -> NDArray[np.int64]:
    """The k nearest other rows, by the mixed distance of complete numeric rows."""
    width = rows.max(axis=0) - rows.min(axis=0)
    distance = (np.abs(rows[:, None] - rows) / width).mean(axis=2)
    np.fill_diagonal(distance, np.inf)
    return np.argsort(distance, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(1.0, [60, 60, 60]), (0.5, [60, 30, 30]), (0.75, [60, 45, 45]), ({1: 20}, [60, 20, 30])],
)
@pytest.mark.parametrize("method", ["smote", "borderline"])
def test_counts_follow_the_ratio(method: str, ratio: Any, expected: list[int]) -> None:
    X, y = imbalanced()
    rows, labels = SyntheticSampler(ratio, method=method, random_state=0).fit_resample(X, y)
    assert np.bincount(labels).tolist() == expected
    assert np.array_equal(rows[:102], X)
    assert np.array_equal(labels[:102], y)


def test_made_rows_lie_between_a_row_and_one_of_its_neighbours() -> None:
    X, y = imbalanced(3)
    rows, labels = SyntheticSampler(k_neighbors=4, random_state=0).fit_resample(X, y)
    for c in (1, 2):
        members = X[y == c]
        near = nearest_of_class(members, 4)
        started = np.zeros(len(members), dtype=np.int64)
        for new in rows[102:][labels[102:] == c]:
            found = False
            for i, j in zip(np.repeat(np.arange(len(members)), 4), near.ravel(), strict=True):
                line = members[j] - members[i]
                share = (new - members[i]) @ line / (line @ line)
                if 0 <= share <= 1 and np.allclose(members[i] + share * line, new, atol=1e-12):
                    started[i] += 1
                    found = True
                    break
            assert found
        assert started.sum() == 60 - len(members)


def test_every_row_starts_equally_many() -> None:
    y = np.repeat([0, 1], [30, 10])
    X = np.concatenate([np.linspace(100, 200, 30), 2.0 ** np.arange(10)])[:, None]
    new = SyntheticSampler(k_neighbors=1, random_state=0).fit_resample(X, y)[0][40:, 0]
    # The nearest row of 2^i is 2^(i - 1); rows 0 and 1 are nearest to each other.
    starts = np.ceil(np.log2(new)).astype(int)
    assert np.bincount(starts, minlength=10)[2:].tolist() == [2] * 8


def test_border_rows_are_those_among_strangers() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [200, 40])
    X = np.concatenate([rng.uniform(0, 10, size=200), rng.uniform(9, 15, size=40)])[:, None]
    k = 3
    new = SyntheticSampler(k_neighbors=k, method="borderline", random_state=0).fit_resample(X, y)
    near = nearest_of_class(X, 2 * k)
    strangers = (y[near] != y[:, None]).sum(axis=1)
    border = np.flatnonzero((y == 1) & (strangers >= k) & (strangers < 2 * k))
    assert 0 < len(border) < 20
    reach = nearest_of_class(X[y == 1], k) + 200
    low = min(X[border].min(), X[reach[border - 200]].min())
    high = max(X[border].max(), X[reach[border - 200]].max())
    made = new[0][240:]
    assert made.min() >= low
    assert made.max() <= high < 12


def test_nominal_values_are_voted_by_the_neighbours() -> None:
    rows = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 2.0], [3.0, np.nan], [4.0, 0.0]])
    base, share = np.array([0, 4, 0]), np.array([0.5, 0.25, 0.0])
    neighbours = np.array([[1, 2, 4], [1, 0, 3], [3, 4, 0]])
    new = NewRows.between(rows, np.array([1]), base, neighbours, np.array([0, 1, 0]), share)
    made = new.appended(rows)[5:]
    assert made[:, 0].tolist() == [0.5, 3.0, 0.0]
    # two of three; a tie goes to the first level; a tie goes to the level of the base
    assert made[:, 1].tolist() == [2.0, 1.0, 1.0]


def test_without_any_vote_the_cell_of_the_base_is_copied() -> None:
    rows = np.array([[3.0], [np.nan], [np.nan]])
    new = NewRows.between(
        rows, np.array([0]), np.array([0]), np.array([[1, 2]]), np.array([0]), np.array([0.5])
    )
    assert new.appended(rows)[3:].tolist() == [[3.0]]


def test_missing_numbers_follow_the_base() -> None:
    rows = np.array([[1.0, np.nan], [np.nan, 2.0]])
    new = NewRows.between(
        rows,
        np.empty(0, dtype=np.int64),
        np.array([0, 1]),
        np.array([[1], [0]]),
        np.array([0, 0]),
        np.array([0.5, 0.5]),
    )
    made = new.appended(rows)[2:]
    assert np.array_equal(made, rows, equal_nan=True)


@given(seed=st.integers(0, 1000))
def test_made_rows_stay_inside_the_class(seed: int) -> None:
    X, y = imbalanced(seed)
    X[:, 2] = np.random.default_rng(seed).integers(0, 3, size=102)
    X[::5, 1] = np.nan
    weight = np.arange(1.0, 103.0)
    sampler = SyntheticSampler(categorical_features=[2], random_state=seed)
    rows, labels, shares = sampler.fit_resample(X, y, sample_weight=weight)
    assert np.array_equal(shares[:102], weight)
    for c in range(3):
        old, new = X[y == c], rows[102:][labels[102:] == c]
        if len(new):
            assert (new[:, 0] >= old[:, 0].min()).all()
            assert (new[:, 0] <= old[:, 0].max()).all()
            assert set(new[:, 2]) <= set(old[:, 2])
            part = shares[102:][labels[102:] == c]
            assert part.min() >= weight[y == c].min()
            assert part.max() <= weight[y == c].max()


def test_units_change_nothing_but_the_units() -> None:
    X, y = imbalanced(4)
    rows = SyntheticSampler(random_state=0).fit_resample(X, y)[0]
    scaled = SyntheticSampler(random_state=0).fit_resample(X * [1024, 1, 0.5], y)[0]
    np.testing.assert_allclose(scaled, rows * [1024, 1, 0.5], rtol=1e-12)


def test_the_seed_decides_and_threads_do_not() -> None:
    X, y = imbalanced()
    first, second, other = (
        SyntheticSampler(random_state=seed, n_jobs=jobs).fit_resample(X, y)[0]
        for seed, jobs in ((1, 1), (1, 2), (2, 1))
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_dataframes_keep_names_and_types() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["many", "few"], [40, 10])
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=50),
            "count": rng.integers(0, 100, size=50),
            "flag": rng.integers(0, 2, size=50).astype(bool),
            "kind": pd.Categorical(rng.choice(["a", "b", "c"], size=50)),
            "text": rng.choice(["u", "v"], size=50),
            "gaps": pd.array([None if i % 4 == 0 else i for i in range(50)], dtype="Int64"),
            "small": rng.normal(size=50).astype(np.float32),
        }
    )
    rows, labels = SyntheticSampler(random_state=0).fit_resample(frame, y)
    assert rows.dtypes.tolist() == frame.dtypes.tolist()
    assert rows.index.tolist() == list(range(80))
    pd.testing.assert_frame_equal(rows.iloc[:50], frame)
    assert (labels[50:] == "few").all()
    assert rows["gaps"].iloc[50:].isna().any()
    polars = SyntheticSampler(random_state=0).fit_resample(pl.from_pandas(frame), y)[0]
    assert isinstance(polars, pl.DataFrame)
    assert polars.schema == pl.from_pandas(frame).schema
    np.testing.assert_array_equal(polars["number"].to_numpy(), rows["number"].to_numpy())
    assert polars["kind"].to_list() == rows["kind"].tolist()


def test_whole_numbers_and_float32_keep_their_type() -> None:
    X, y = imbalanced()
    assert SyntheticSampler().fit_resample(X.astype(np.float32), y)[0].dtype == np.float32
    assert SyntheticSampler().fit_resample((10 * X).astype(np.int32), y)[0].dtype == np.int32


def test_object_arrays_keep_their_levels() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=30).astype(object), rng.choice(["a", "b"], size=30)])
    sampler = SyntheticSampler(categorical_features=[1], random_state=0)
    rows = sampler.fit_resample(X.astype(object), np.repeat([0, 1], [20, 10]))[0]
    assert set(rows[30:, 1]) <= {"a", "b"}
    assert all(isinstance(value, float) for value in rows[30:, 0])


def test_a_balanced_table_comes_back_as_it_was() -> None:
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    rows, labels, weight = SyntheticSampler().fit_resample(X, y, sample_weight=np.ones(8))
    assert np.array_equal(rows, X)
    assert np.array_equal(labels, y)
    assert np.array_equal(weight, np.ones(8))


def test_constant_and_missing_columns_stay_so() -> None:
    X, y = imbalanced()
    X[:, 1], X[:, 2] = 5.0, np.nan
    rows = SyntheticSampler(random_state=0).fit_resample(X, y)[0]
    assert (rows[:, 1] == 5.0).all()
    assert np.isnan(rows[:, 2]).all()


def test_more_neighbours_than_rows_ask_all_of_them() -> None:
    X, y = imbalanced()
    few = SyntheticSampler({1: 40}, k_neighbors=11, random_state=0).fit_resample(X, y)[0]
    many = SyntheticSampler({1: 40}, k_neighbors=500, random_state=0).fit_resample(X, y)[0]
    assert np.array_equal(few, many)


def test_a_class_of_one_row_cannot_grow() -> None:
    X, y = np.arange(5.0)[:, None], ["a", "a", "a", "b", "b"]
    message = "class 'c' has 1 row, but a synthetic row needs two"
    with pytest.raises(DataError, match=message):
        SyntheticSampler().fit_resample([*X, [9.0]], [*y, "c"])


def test_wrong_parameters_are_named() -> None:
    X, y = imbalanced()
    with pytest.raises(ParameterError, match="k_neighbors must be an integer >= 1; got 0"):
        SyntheticSampler(k_neighbors=0).fit_resample(X, y)
    message = "ratio must leave class 0 at least the 60 rows that it has; got 5"
    with pytest.raises(ParameterError, match=message):
        SyntheticSampler({0: 5}).fit_resample(X, y)
    with pytest.raises(DataError, match="requires y to be passed"):
        SyntheticSampler().fit_resample(X, None)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="X has 102 rows but y has 2"):
        SyntheticSampler().fit_resample(X, [0, 1])
