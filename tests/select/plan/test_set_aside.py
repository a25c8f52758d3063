"""Test rows are like the others and linked to none of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.base import DataError, ParameterError
from assay.select import set_aside

RANDOM = np.random.default_rng(0)


@given(st.integers(40, 200), st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.3, 0.5]), st.integers(0, 9))
def test_share_and_classes_are_those_asked_for(n: int, share: float, seed: int) -> None:
    y = np.arange(n) % 3 == 0
    X = np.random.default_rng(seed).normal(size=(n, 2))
    test, train = set_aside(X, y.astype(int), share, task="binary", seed=seed)
    assert (test ^ train).all()
    # Blocks differ by one row, of each class too; there are at most twenty.
    assert abs(test.sum() - share * n) <= 10
    assert abs(test[y].sum() - share * y.sum()) <= 10


def test_another_seed_gives_other_rows() -> None:
    X, y = RANDOM.normal(size=(60, 2)), np.arange(60) % 2
    one, two = (set_aside(X, y, 0.2, task="binary", seed=seed)[0] for seed in (0, 1))
    again = set_aside(X, y, 0.2, task="binary", seed=0)[0]
    assert (one == again).all()
    assert (one != two).any()


def test_groups_stay_whole() -> None:
    groups = np.arange(100) // 4
    X, y = RANDOM.normal(size=(100, 2)), RANDOM.normal(size=100)
    test, _ = set_aside(X, y, 0.2, task="regression", groups=groups)
    assert 12 <= test.sum() <= 28
    assert not set(groups[test]) & set(groups[~test])


def test_copies_of_a_row_are_on_one_side() -> None:
    X, y = np.repeat(RANDOM.normal(size=(50, 3)), 2, axis=0), np.arange(100) // 2 % 2
    test, _ = set_aside(X, y, 0.2, task="binary")
    assert (test[::2] == test[1::2]).all()


def test_in_time_the_last_rows_are_set_aside_and_their_groups_left_out() -> None:
    time = RANDOM.permutation(100).astype(float)
    groups = np.arange(100) % 25
    X, y = RANDOM.normal(size=(100, 2)), RANDOM.normal(size=100)
    test, train = set_aside(X, y, 0.2, task="regression", time=time)
    assert (test == (time >= 80)).all()
    assert (train == ~test).all()
    test, train = set_aside(X, y, 0.2, task="regression", time=time, groups=groups)
    assert (test == (time >= 80)).all()
    assert (train == (~test & ~np.isin(groups, groups[test]))).all()


def test_the_only_row_of_a_class_is_not_set_aside() -> None:
    X, y = RANDOM.normal(size=(40, 2)), np.arange(40) % 2
    y[7] = 2
    for seed in range(12):
        test, _ = set_aside(X, y, 0.5, task="multiclass", seed=seed)
        assert not test[7]


@pytest.mark.parametrize("share", [0.0, 0.04, 0.6, -1.0, float("nan")])
def test_shares_out_of_range_are_refused(share: float) -> None:
    with pytest.raises(ParameterError, match="share must be"):
        set_aside(np.zeros((9, 1)), np.zeros(9, int), share, task="binary")


def test_too_few_groups_are_told() -> None:
    with pytest.raises(DataError, match="3 groups cannot be split into 5 blocks"):
        set_aside(
            RANDOM.normal(size=(30, 1)), np.arange(30) % 2, 0.2, task="binary",
            groups=np.arange(30) % 3,
        )  # fmt: skip
