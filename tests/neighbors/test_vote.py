"""The vote: partial sums give every k at once, bit for bit as one k alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.neighbors._vote import class_shares, means, vote_weights

seeds = st.integers(0, 10_000)
weightings = st.sampled_from(["uniform", "distance"])


def neighbours(seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    distance = np.sort(rng.integers(0, 4, size=(6, 9)) * rng.uniform(0.1, 1, size=(6, 1)), axis=1)
    return distance, rng.integers(3, size=(6, 9)), rng.normal(size=(6, 9))


def test_shares_are_weighted_fractions() -> None:
    labels, weights = np.array([[0, 1, 0]]), np.array([[1.0, 0.5, 0.25]])
    three = list(class_shares(labels, weights, 2, [1, 2, 3]))
    expected = np.array([[1, 0], [1 / 1.5, 0.5 / 1.5], [1.25 / 1.75, 0.5 / 1.75]])
    np.testing.assert_allclose(np.concatenate(three), expected, rtol=1e-15)


def test_means_are_weighted() -> None:
    values, weights = np.array([[4.0, 1.0]]), np.array([[1.0, 0.5]])
    assert [float(mean[0]) for mean in means(values, weights, [1, 2])] == [4.0, 3.0]
    assert [float(mean[0]) for mean in means(values, None, [1, 2])] == [4.0, 2.5]


@pytest.mark.parametrize("first", [0.0, 1e-310, 1.0, np.inf])
def test_weights_are_inverse_distances_relative_to_the_nearest(first: float) -> None:
    distance = np.array([[first, first, 2 * first, np.inf]])
    weights = vote_weights(distance, "distance")
    twice = 1.0 if 2 * first == first else 0.5
    last = 1.0 if np.isinf(first) else 0.0
    assert np.array_equal(np.asarray(weights), [[1.0, 1.0, twice, last]])


@given(seed=seeds, weights=weightings, counts=st.sets(st.integers(1, 9), min_size=1).map(sorted))
def test_many_counts_at_once_equal_one_at_a_time(
    seed: int, weights: str, counts: list[int]
) -> None:
    distance, labels, values = neighbours(seed)
    wide = vote_weights(distance, weights)
    shares = list(class_shares(labels, wide, 3, counts))
    averages = list(means(values, wide, counts))
    for k, share, average in zip(counts, shares, averages, strict=True):
        narrow = vote_weights(distance[:, :k], weights)
        (alone,) = class_shares(labels[:, :k], narrow, 3, [k])
        assert np.array_equal(share, alone)
        (alone,) = means(values[:, :k], narrow, [k])
        assert np.array_equal(average, alone)


@given(seed=seeds, weights=weightings)
def test_absent_classes_change_no_bit(seed: int, weights: str) -> None:
    distance, labels, _ = neighbours(seed)
    given_weights = vote_weights(distance, weights)
    (three,) = class_shares(labels, given_weights, 3, [9])
    (thirty,) = class_shares(labels * 10, given_weights, 30, [9])
    assert np.array_equal(three, thirty[:, ::10])
