"""Bins: exact where values are few, balanced where they are many, the same from ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.base import ParameterError
from assay.tree.engine import Bins, Ranks

FIELDS = Bins.__dataclass_fields__


def assert_same(a: Bins, b: Bins) -> None:
    for name in FIELDS:
        left, right = getattr(a, name), getattr(b, name)
        assert left.dtype == right.dtype, name
        np.testing.assert_array_equal(left, right, err_msg=name)


def column_bins(bins: Bins, f: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    part = slice(bins.bin_start[f], bins.bin_start[f + 1])
    return bins.lower[part], bins.upper[part]


def mixed_table(
    seed: int, n: int = 300, dtype: Any = np.float64
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [
            random.normal(size=n),
            random.integers(-3, 4, n) * 0.5,
            np.exp(random.normal(size=n) * 20),
            random.integers(0, 30, n),
            np.where(random.random(n) < 0.6, 0.0, random.normal(size=n)),
            1.6e9 + random.integers(0, 1000, n),
            np.full(n, 7.0),
        ]
    ).astype(dtype)
    X[random.random(X.shape) < 0.1] = np.nan
    return X, np.array([0, 0, 0, 30, 0, 0, 0], dtype=np.int32)


def test_bins_of_few_values_are_the_distinct_values() -> None:
    X, _ = mixed_table(0)
    bins = Bins.build(X, 300)
    assert bins.codes.dtype == np.uint16
    for f in range(X.shape[1]):
        present = ~np.isnan(X[:, f])
        values, codes = np.unique(X[present, f], return_inverse=True)
        lower, upper = column_bins(bins, f)
        np.testing.assert_array_equal(lower, values)
        np.testing.assert_array_equal(upper, values)
        np.testing.assert_array_equal(bins.codes[f, present], codes)
        np.testing.assert_array_equal(bins.codes[f, ~present], len(values))
        assert bins.has_missing[f] == (not present.all())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("max_bins", [2, 7, 100, 255])
def test_bins_are_ascending_intervals_of_the_values(dtype: Any, max_bins: int) -> None:
    X, _ = mixed_table(1, 2000, dtype)
    bins = Bins.build(X, max_bins)
    for f in range(X.shape[1]):
        lower, upper = column_bins(bins, f)
        assert len(lower) == bins.n_bins[f] <= max_bins
        assert (lower <= upper).all()
        assert (upper[:-1] < lower[1:]).all()
        for b in range(bins.n_bins[f]):
            inside = X[bins.codes[f] == b, f]
            assert (inside.min(), inside.max()) == (lower[b], upper[b])


@pytest.mark.parametrize("n", [97, 1000, 4097, 30_000])
def test_bins_of_a_continuous_column_hold_equal_counts(n: int) -> None:
    X = np.random.default_rng(2).normal(size=(n, 1))
    bins = Bins.build(X, 16)
    counts = np.bincount(bins.codes[0], minlength=16)
    assert bins.n_bins[0] == 16
    assert counts.max() - counts.min() <= 2


def test_bins_of_heavy_values_are_their_own() -> None:
    random = np.random.default_rng(3)
    light = np.clip(random.normal(size=5000), -9, 2.9)
    x = np.concatenate([np.zeros(5000), light, np.full(2000, 3.0)])
    bins = Bins.build(random.permutation(x)[:, None], 64)
    lower, upper = column_bins(bins, 0)
    for heavy in (0.0, 3.0):
        b = np.flatnonzero(lower == heavy)[0]
        assert upper[b] == heavy
    counts = np.bincount(bins.codes[0])
    others = np.delete(counts, [np.flatnonzero(lower == v)[0] for v in (0.0, 3.0)])
    assert bins.n_bins[0] == 64
    assert others.max() <= 2.1 * others.mean()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [10, 90, 3000, 20_000])
def test_sort_is_exact_for_close_values_and_outliers(dtype: Any, n: int) -> None:
    random = np.random.default_rng(4)
    near = np.nextafter(dtype(1.0), dtype(2.0)) - dtype(1.0)
    x = (1 + near * random.integers(0, 200, n)).astype(dtype)
    x[random.random(n) < 0.1] = 1e30
    x[random.random(n) < 0.1] = -1e30
    x[random.random(n) < 0.1] = dtype(5e-45)
    x[random.random(n) < 0.1] = -0.0
    x[random.random(n) < 0.1] = 0.0
    ranks = Ranks.build(x[:, None])
    values, codes = np.unique(x, return_inverse=True)
    np.testing.assert_array_equal(ranks.value, values)
    np.testing.assert_array_equal(ranks.rank[0], codes)
    assert not np.signbit(ranks.value[ranks.value == 0]).any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("max_bins", [2, 5, 20, 255, 256, 2000])
@pytest.mark.parametrize("weighted", [False, True])
def test_bins_from_ranks_are_those_of_the_rows_alone(
    dtype: Any, max_bins: int, weighted: bool
) -> None:
    X, n_levels = mixed_table(5, 1200, dtype)
    random = np.random.default_rng(6)
    ranks = Ranks.build(X, n_levels, 2)
    for rows in (np.arange(1200), np.sort(random.permutation(1200)[:700]), np.arange(3)):
        weight = random.integers(0, 4, len(rows)) * np.float64(0.3) if weighted else None
        expected = Bins.build(X[rows], max_bins, n_levels, weight)
        assert_same(Bins.from_ranks(ranks, rows, max_bins, 2, weight), expected)


@pytest.mark.parametrize(("n_values", "width"), [(255, 1), (256, 2)])
def test_codes_have_one_byte_where_every_value_fits(n_values: int, width: int) -> None:
    random = np.random.default_rng(n_values)
    few = random.integers(0, 3, 6000)
    many = np.concatenate([np.arange(n_values), random.integers(0, n_values, 6000 - n_values)])
    X = np.column_stack([few, many]).astype(np.float64)
    X[::7] = np.nan  # missing is no value
    X[1:4001:2, 1] = np.arange(2000) % n_values
    for bins in (Bins.build(X, 65535), Bins.from_ranks(Ranks.build(X), np.arange(6000), 65535)):
        assert bins.codes.itemsize == width
        assert bins.n_bins.tolist() == [3, n_values]
        known = ~np.isnan(X[:, 1])
        np.testing.assert_array_equal(bins.codes[1, known], X[known, 1])


def test_too_many_bins_are_refused_even_where_few_are_needed() -> None:
    with pytest.raises(ParameterError, match=r"max_bins must be an integer in \[2, 65535\]"):
        Bins.build(np.zeros((3, 1)), 65536)


def test_levels_are_bins_and_the_rarest_are_pooled() -> None:
    levels = np.repeat([0, 1, 2, 3, 4], [5, 1, 7, 2, 5]).astype(float)
    X = np.concatenate([levels, [np.nan, 9.0, -1.0]])[:, None]
    n_levels = np.array([5], dtype=np.int32)
    exact = Bins.build(X, 5, n_levels)
    np.testing.assert_array_equal(exact.level_bin, range(5))
    np.testing.assert_array_equal(exact.codes[0, :20], levels)
    np.testing.assert_array_equal(exact.codes[0, 20:], [5, 5, 5])
    pooled = Bins.build(X, 4, n_levels)
    np.testing.assert_array_equal(pooled.level_bin, [0, 3, 1, 3, 2])
    np.testing.assert_array_equal(pooled.lower, [0, 2, 4, 1])
    np.testing.assert_array_equal(pooled.upper, [0, 2, 4, 3])
    assert pooled.has_missing[0]
    assert pooled.nominal[0]
    np.testing.assert_array_equal(pooled.n_levels, [5])


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=60),
    st.integers(2, 9),
    st.integers(0, 2**31),
)
def test_weights_count_as_repeated_rows(values: list[int], max_bins: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    x = np.array(values, dtype=float)
    counts = random.integers(0, 5, len(x))
    counts[random.integers(len(x))] = 3
    weighted = Bins.build(x[:, None], max_bins, weight=counts.astype(float))
    repeated = Bins.build(np.repeat(x, counts)[:, None], max_bins)
    np.testing.assert_array_equal(np.repeat(weighted.codes[0], counts), repeated.codes[0])
    np.testing.assert_array_equal(weighted.lower, repeated.lower)
    np.testing.assert_array_equal(weighted.upper, repeated.upper)
    assert (weighted.codes[0] < weighted.n_bins[0]).all()


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=40),
    st.integers(2, 12),
)
def test_cuts_never_exceed_max_bins_and_use_them(counts: list[int], max_bins: int) -> None:
    x = np.repeat(np.arange(len(counts)), counts).astype(float)
    if not len(x):
        return
    bins = Bins.build(x[:, None], max_bins)
    assert bins.n_bins[0] <= max_bins
    distinct = np.count_nonzero(counts)
    assert bins.n_bins[0] >= min(distinct, max_bins / 2)


def test_bins_do_not_depend_on_threads_or_row_order() -> None:
    X, n_levels = mixed_table(7, 5000)
    one = Bins.build(X, 50, n_levels)
    assert_same(Bins.build(X, 50, n_levels, n_threads=2), one)
    order = np.random.default_rng(8).permutation(len(X))
    shuffled = Bins.build(X[order], 50, n_levels)
    np.testing.assert_array_equal(shuffled.codes, one.codes[:, order])
    np.testing.assert_array_equal(shuffled.lower, one.lower)


def test_bins_of_an_empty_column_are_one_empty_bin() -> None:
    bins = Bins.build(np.full((3, 1), np.nan), 10)
    assert (bins.n_bins[0], bins.has_missing[0]) == (1, 1)
    np.testing.assert_array_equal(bins.codes[0], [1, 1, 1])


def test_bins_refuse_a_wrong_max_bins() -> None:
    with pytest.raises(ParameterError, match=r"max_bins must be an integer in \[2, 65535\]; got 1"):
        Bins.build(np.zeros((2, 1)), 1)
