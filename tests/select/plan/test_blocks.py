"""Blocks: balanced, groups whole, forward in time, the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.base import DataError, ParameterError
from assay.select import make_blocks
from assay.select.plan._blocks import linked


@st.composite
def tables(draw: st.DrawFn) -> tuple[NDArray[Any], str, int, int]:
    n = draw(st.integers(3, 80))
    k = draw(st.integers(2, min(n, 7)))
    seed = draw(st.integers(0, 1000))
    random = np.random.default_rng(seed)
    if draw(st.booleans()):
        return random.normal(size=n).round(draw(st.integers(0, 3))), "regression", k, seed
    classes = draw(st.integers(2, 6))
    return random.integers(0, classes, n) ** 2 % classes, "multiclass", k, seed


@given(tables())
def test_classes_and_sizes_differ_by_at_most_one_between_blocks(
    table: tuple[NDArray[Any], str, int, int],
) -> None:
    y, task, k, seed = table
    blocks = make_blocks(y, k, task=task, seed=seed)
    sizes = np.bincount(blocks, minlength=k)
    assert len(sizes) == k
    assert sizes.max() - sizes.min() <= 1
    if task == "multiclass":
        for code in np.unique(y):
            counts = np.bincount(blocks[y == code], minlength=k)
            assert counts.max() - counts.min() <= 1


@given(tables(), st.integers(1, 12))
def test_groups_stay_together_and_no_block_is_empty(
    table: tuple[NDArray[Any], str, int, int], spread: int
) -> None:
    y, task, k, seed = table
    random = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(k), random.integers(0, k * spread, len(y) - k)])
    blocks = make_blocks(y, k, task=task, groups=groups, seed=seed)
    assert len(np.unique(blocks)) == k
    for group in np.unique(groups):
        assert len(np.unique(blocks[groups == group])) == 1
    named = np.array([f"g{group}" for group in groups])
    assert len(np.unique(make_blocks(y, k, task=task, groups=named, seed=seed))) == k


@given(tables(), st.integers(2, 60))
def test_forward_blocks_are_ordered_and_do_not_split_equal_times(
    table: tuple[NDArray[Any], str, int, int], distinct: int
) -> None:
    y, task, k, seed = table
    random = np.random.default_rng(seed)
    time = np.concatenate([np.arange(k), random.integers(0, max(distinct, k), len(y) - k)]) * 1.5
    blocks = make_blocks(y, k, task=task, time=time)
    assert len(np.unique(blocks)) == k
    for block in range(1, k):
        assert time[blocks == block].min() > time[blocks == block - 1].max()


def test_groups_of_equal_size_are_balanced_by_class() -> None:
    groups = np.repeat(np.arange(40), 5)
    y = np.repeat(np.arange(40) % 2, 5)
    blocks = make_blocks(y, 5, task="binary", groups=groups)
    for code in (0, 1):
        assert np.bincount(blocks[y == code]).tolist() == [20] * 5


def test_single_rows_fill_the_gaps_that_groups_leave() -> None:
    groups = np.concatenate([np.zeros(20, int), np.arange(1, 81)])
    blocks = make_blocks(np.arange(100) % 2, 5, task="binary", groups=groups)
    assert np.bincount(blocks).tolist() == [20] * 5


def test_forward_blocks_have_about_equal_sizes() -> None:
    blocks = make_blocks(np.zeros(100), 5, task="regression", time=np.arange(100)[::-1])
    assert np.bincount(blocks).tolist() == [20] * 5
    assert blocks[-1] == 0


def test_regression_blocks_are_balanced_by_quantile() -> None:
    y = np.random.default_rng(0).exponential(size=500)
    blocks = make_blocks(y, 5, task="regression")
    means = [y[blocks == block].mean() for block in range(5)]
    shuffled = np.random.default_rng(1).permutation(blocks)
    assert np.ptp(means) < 0.5 * np.ptp([y[shuffled == block].mean() for block in range(5)])


def test_same_seed_same_blocks_and_repeats_differ() -> None:
    y = np.arange(60) % 3
    first = make_blocks(y, 5, task="multiclass", seed=1)
    assert (first == make_blocks(y, 5, task="multiclass", seed=1)).all()
    assert (first != make_blocks(y, 5, task="multiclass", seed=2)).any()
    assert (first != make_blocks(y, 5, task="multiclass", seed=1, repeat=1)).any()


def test_blocks_are_the_same_on_every_machine() -> None:
    blocks = make_blocks(np.arange(20) % 2, 4, task="binary", seed=7)
    expected = [3, 1, 2, 2, 2, 3, 1, 1, 3, 3, 1, 3, 1, 2, 0, 0, 0, 0, 0, 2]
    assert blocks.tolist() == expected


def test_small_class_is_spread_over_blocks() -> None:
    y = np.zeros(50, int)
    y[:3] = 1
    blocks = make_blocks(y, 5, task="binary")
    assert len(np.unique(blocks[:3])) == 3


def test_many_classes_are_no_trouble() -> None:
    y = np.arange(3000) % 1000
    blocks = make_blocks(y, 5, task="multiclass", groups=np.arange(3000) // 2)
    assert np.ptp(np.bincount(blocks)) <= 6


def test_linked_joins_overlapping_groups() -> None:
    joined = linked(np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 2, 3]), np.array([0, 1, 2, 3, 3]))
    assert joined is not None
    assert joined.tolist() == [0, 0, 0, 1, 1]


def test_too_few_rows_groups_or_times_are_explained() -> None:
    with pytest.raises(DataError, match="3 rows cannot be split into 5 blocks; use at most 3"):
        make_blocks([0, 1, 0], 5, task="binary")
    with pytest.raises(DataError, match=r"2 groups cannot be split into 3 blocks .* finer group"):
        make_blocks([0, 1, 0, 1], 3, task="binary", groups=[0, 0, 1, 1])
    with pytest.raises(DataError, match="2 different times cannot be split into 3 blocks"):
        make_blocks([0, 1, 0, 1], 3, task="binary", time=[0, 0, 1, 1])
    with pytest.raises(DataError, match="the time of 1 rows is missing"):
        make_blocks([0, 1, 0, 1], 3, task="binary", time=[0, np.nan, 1, 1])
    with pytest.raises(ParameterError, match="n_blocks must be an integer >= 2; got 1"):
        make_blocks([0, 1, 0, 1], 1, task="binary")
