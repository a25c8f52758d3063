"""Under-sampling: counts, choices by definition, tables of any kind."""

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
from assay.features import UnderSampler

Matrix = NDArray[np.float64]


def imbalanced(seed: int = 0) -> tuple[Matrix, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [60, 12, 30]))
    return rng.normal(size=(102, 3)) + y[:, None], y


def gower(X: Matrix, rows: Matrix) -> Matrix:
    """The mixed distance of complete numeric rows, in units of the ranges of `rows`."""
    width = rows.max(axis=0) - rows.min(axis=0)
    return np.asarray((np.abs(X[:, None] - rows) / width).mean(axis=2))


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(1.0, [12, 12, 12]), (0.5, [24, 12, 24]), (0.3, [40, 12, 30]), ({0: 20, 2: 5}, [20, 12, 5])],
)
@pytest.mark.parametrize("method", ["random", "near_miss"])
def test_counts_follow_the_ratio(method: str, ratio: Any, expected: list[int]) -> None:
    X, y = imbalanced()
    rows, labels = UnderSampler(ratio, method=method, random_state=0).fit_resample(X, y)
    assert np.bincount(labels).tolist() == expected
    assert len(rows) == len(labels)


def test_near_miss_keeps_the_rows_nearest_to_the_smallest_class() -> None:
    X, y = imbalanced(1)
    model = UnderSampler(method="near_miss", n_neighbors=3)
    model.fit_resample(X, y)
    for c in (0, 2):
        members = np.flatnonzero(y == c)
        mean = np.sort(gower(X[members], X[y == 1]), axis=1)[:, :3].mean(axis=1)
        expected = np.sort(members[np.argsort(mean, kind="stable")[:12]])
        kept = model.sample_indices_[y[model.sample_indices_] == c]
        assert np.array_equal(kept, expected)


def test_tomek_links_lose_the_row_of_the_larger_class() -> None:
    X, y = imbalanced(2)
    distance = gower(X, X)
    np.fill_diagonal(distance, np.inf)
    nearest = distance.argmin(axis=1)
    size = np.bincount(y)
    linked = [
        i for i in range(len(X)) if nearest[nearest[i]] == i and size[y[i]] > size[y[nearest[i]]]
    ]
    assert linked
    model = UnderSampler(method="tomek")
    model.fit_resample(X, y)
    assert model.sample_indices_.tolist() == sorted(set(range(len(X))) - set(linked))


@given(seed=st.integers(0, 1000))
def test_rows_labels_and_weights_stay_together_in_their_order(seed: int) -> None:
    X, y = imbalanced(seed)
    X[::7, 1] = np.nan
    weight = np.arange(1.0, 103.0)
    model = UnderSampler(random_state=seed)
    rows, labels, shares = model.fit_resample(X, y, sample_weight=weight)
    kept = model.sample_indices_
    assert (np.diff(kept) > 0).all()
    assert np.array_equal(rows, X[kept], equal_nan=True)
    assert np.array_equal(labels, y[kept])
    assert np.array_equal(shares, weight[kept])


def test_the_seed_decides() -> None:
    X, y = imbalanced()
    first, second, other = (UnderSampler(random_state=seed) for seed in (1, 1, 2))
    for model in (first, second, other):
        model.fit_resample(X, y)
    assert np.array_equal(first.sample_indices_, second.sample_indices_)
    assert not np.array_equal(first.sample_indices_, other.sample_indices_)


@pytest.mark.parametrize("method", ["random", "near_miss", "tomek"])
def test_dataframes_stay_dataframes(method: str) -> None:
    X, y = imbalanced()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
        kind=np.where(X[:, 0] > 0, "x", "y"), n=np.arange(102)
    )
    labels = np.array(["p", "q", "r"])[y]
    model = UnderSampler(method=method, random_state=0)
    rows, kept = model.fit_resample(frame, pd.Series(labels))
    pd.testing.assert_frame_equal(rows, frame.iloc[model.sample_indices_])
    assert np.array_equal(kept, labels[model.sample_indices_])
    again = UnderSampler(method=method, random_state=0)
    polars = again.fit_resample(pl.from_pandas(frame), pl.Series(labels))[0]
    assert polars["n"].to_list() == rows["n"].tolist()


def test_more_neighbours_than_rows_ask_all_of_them() -> None:
    X, y = imbalanced()
    few, many = (UnderSampler(method="near_miss", n_neighbors=k) for k in (12, 500))
    few.fit_resample(X, y)
    many.fit_resample(X, y)
    assert np.array_equal(few.sample_indices_, many.sample_indices_)


@pytest.mark.parametrize("ratio", [0, 1.5, "half", {}, {0: 0}, {0: 2.5}, True])
def test_wrong_ratios_are_named(ratio: Any) -> None:
    X, y = imbalanced()
    with pytest.raises(ParameterError, match=r"ratio must be a number in \(0, 1\], or a dict"):
        UnderSampler(ratio).fit_resample(X, y)


def test_ratios_that_do_not_fit_the_classes_are_named() -> None:
    X, y = imbalanced()
    with pytest.raises(ParameterError, match="ratio names class 7, which y does not have"):
        UnderSampler({7: 5}).fit_resample(X, y)
    message = "ratio must leave class 1 at most the 12 rows that it has; got 13"
    with pytest.raises(ParameterError, match=message):
        UnderSampler({1: 13}).fit_resample(X, y)


def test_one_class_is_refused() -> None:
    with pytest.raises(DataError, match="y has one class only, 'a'; there is nothing to balance"):
        UnderSampler().fit_resample([[1.0], [2.0]], ["a", "a"])


def test_real_targets_are_refused() -> None:
    with pytest.raises(DataError, match="continuous"):
        UnderSampler().fit_resample([[1.0], [2.0]], [0.5, 1.5])
