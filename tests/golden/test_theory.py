"""Hypotheses, partitions, neighbourhoods and the kernel against worked examples."""

from __future__ import annotations

import math

import pytest

from assay.theory import (
    bias_variance,
    count_dichotomies,
    count_partitions,
    cover_fraction,
    hypothesis_space_size,
    neighbourhood_edge,
    quadratic_kernel,
)


def test_number_of_hypotheses() -> None:
    assert hypothesis_space_size(2) == 16
    assert hypothesis_space_size(6) == 18446744073709551616
    assert hypothesis_space_size(20) == 2**1048576


def test_number_of_partitions() -> None:
    assert count_partitions(4, 2) == 7
    exact = count_partitions(100, 5)
    assert math.floor(math.log10(exact)) == 67
    assert exact == pytest.approx(6.574e67, rel=5e-5)


def test_edge_of_a_neighbourhood_of_five_of_5000_points() -> None:
    assert neighbourhood_edge(1) == pytest.approx(0.001)
    assert neighbourhood_edge(2) == pytest.approx(math.sqrt(0.001))
    assert neighbourhood_edge(3) == pytest.approx(0.1)
    assert neighbourhood_edge(10) == pytest.approx(0.501, abs=5e-4)


def test_kernel_of_width_ten() -> None:
    assert quadratic_kernel([0.0, 2.5, 4.0, 5.0], 10.0).tolist() == pytest.approx(
        [1, 0.75, 0.36, 0]
    )


@pytest.mark.parametrize(("p", "n"), [(4, 3), (10, 3), (10, 6), (20, 11)])
def test_cover_counts_by_the_sum_of_the_theorem(p: int, n: int) -> None:
    assert count_dichotomies(p, n) == 2 * sum(math.comb(p - 1, k) for k in range(n))
    assert cover_fraction(p, n) == pytest.approx(count_dichotomies(p, n) / 2**p)


def test_mean_of_the_crowd_beats_its_average_member() -> None:
    # Galton's quartiles, median and mean of 787 guesses; the ox weighed 1198 pounds.
    guesses = [1162.0, 1197.0, 1207.0, 1236.0]
    crowd = bias_variance(guesses, 1198.0)
    assert crowd.bias <= crowd.error
