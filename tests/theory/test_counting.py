"""Sizes of spaces, by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import stirling2

from assay.theory import (
    count_conjunctions,
    count_dichotomies,
    count_partitions,
    cover_fraction,
    hypothesis_space_size,
    log_decision_lists,
    pac_sample_size,
)


def partitions(items: list[int]) -> list[list[list[int]]]:
    """Return every division of the items into non-empty sets."""
    if not items:
        return [[]]
    first, rest = items[0], items[1:]
    found = []
    for division in partitions(rest):
        found.append([[first], *division])
        for at, members in enumerate(division):
            found.append([*division[:at], [first, *members], *division[at + 1 :]])
    return found


def separable(points: np.ndarray, labels: tuple[int, ...]) -> bool:
    """Say whether some w has y_i (w . x_i) >= 1 for all i."""
    constraints = -np.array(labels)[:, None] * points
    bound = -np.ones(len(points))
    found = linprog(np.zeros(points.shape[1]), constraints, bound, bounds=(None, None))
    return bool(found.status == 0)


@pytest.mark.parametrize("n", range(8))
def test_partitions_are_those_one_can_list(n: int) -> None:
    listed = partitions(list(range(n)))
    assert count_partitions(n) == len(listed)
    for c in range(n + 2):
        assert count_partitions(n, c) == sum(len(division) == c for division in listed)


@given(n=st.integers(0, 60), c=st.integers(0, 60))
def test_partitions_match_scipy(n: int, c: int) -> None:
    assert count_partitions(n, c) == int(stirling2(n, c, exact=True))


@given(n=st.integers(1, 80))
def test_all_partitions_are_the_sum_over_the_number_of_clusters(n: int) -> None:
    assert count_partitions(n) == sum(count_partitions(n, c) for c in range(n + 1))


@given(n=st.integers(1, 200), c=st.integers(1, 200))
def test_partitions_follow_the_recurrence(n: int, c: int) -> None:
    # The last row stands alone, or joins one of the clusters of the others.
    assert count_partitions(n, c) == count_partitions(n - 1, c - 1) + c * count_partitions(n - 1, c)


def test_partitions_of_many_rows_are_about_the_power() -> None:
    exact, power = count_partitions(100, 5), Fraction(5**100, math.factorial(5))
    assert abs(float(exact / power) - 1) < 1e-8


@pytest.mark.parametrize(("p", "n"), [(1, 1), (3, 2), (4, 2), (4, 3), (5, 3), (6, 3), (6, 4)])
def test_dichotomies_are_those_a_linear_program_separates(p: int, n: int) -> None:
    points = np.random.default_rng(p * n).normal(size=(p, n))  # in general position
    found = sum(separable(points, labels) for labels in product((-1, 1), repeat=p))
    assert count_dichotomies(p, n) == found
    assert cover_fraction(p, n) == pytest.approx(found / 2**p, rel=1e-15)


@given(p=st.integers(1, 300), n=st.integers(1, 300))
def test_cover_fraction_is_the_exact_ratio(p: int, n: int) -> None:
    exact = Fraction(count_dichotomies(p, n), 2**p)
    assert cover_fraction(p, n) == pytest.approx(float(exact), rel=1e-12, abs=1e-300)


@given(p=st.integers(1, 60), n=st.integers(2, 60))
def test_dichotomies_follow_the_recurrence(p: int, n: int) -> None:
    # Cover's proof: a new point doubles those dichotomies whose hyperplane can go through it.
    assert count_dichotomies(p + 1, n) == count_dichotomies(p, n) + count_dichotomies(p, n - 1)


def test_cover_fraction_falls_at_twice_the_dimensions() -> None:
    assert cover_fraction(1800, 1000) > 0.9999
    assert cover_fraction(2000, 1000) == 0.5
    assert cover_fraction(2200, 1000) < 0.0001
    assert cover_fraction(10**9, 10) == 0.0


@pytest.mark.parametrize("n", range(4))
def test_hypotheses_are_the_truth_tables(n: int) -> None:
    cases = list(product((0, 1), repeat=n))
    assert hypothesis_space_size(n) == len(set(product((0, 1), repeat=len(cases))))


def test_hypotheses_of_twenty_attributes_are_exact() -> None:
    assert hypothesis_space_size(20) == 2**1048576


@pytest.mark.parametrize(("n", "k"), [(1, 0), (1, 3), (3, 1), (3, 2), (4, 3)])
def test_conjunctions_are_sets_of_literals(n: int, k: int) -> None:
    literals = range(2 * n)
    listed = [c for size in range(min(k, 2 * n) + 1) for c in combinations(literals, size)]
    assert count_conjunctions(n, k) == len(listed)
    bound = 3 ** len(listed) * math.factorial(len(listed))
    assert log_decision_lists(n, k) == pytest.approx(math.log(bound), rel=1e-12)


@given(error=st.floats(0.001, 1.0), delta=st.floats(0.001, 1.0), size=st.integers(1, 10**30))
def test_pac_sample_size_is_enough_and_one_less_is_not(
    error: float, delta: float, size: int
) -> None:
    n = pac_sample_size(error, delta, n_hypotheses=size)
    log_size = math.log(size)
    slack = 1e-9 * (1 + log_size + n)
    assert log_size - error * n <= math.log(delta) + slack
    if n:
        assert log_size - error * (n - 1) > math.log(delta) - slack
    assert n == pac_sample_size(error, delta, log_hypotheses=log_size)


def test_pac_sample_size_of_all_functions_is_that_of_all_cases() -> None:
    for n in (5, 10, 15):
        size = pac_sample_size(0.1, 0.05, n_hypotheses=hypothesis_space_size(n))
        assert size >= 2**n


def test_pac_sample_size_of_decision_lists_grows_like_a_power() -> None:
    sizes = [
        pac_sample_size(0.1, 0.05, log_hypotheses=log_decision_lists(n, 2)) for n in (20, 40, 80)
    ]
    # n^k with k = 2, and the logarithm of the factorial on top.
    assert all(4 < b / a < 6 for a, b in pairwise(sizes))
