"""The calculators: enumeration, simulation-free identities, and their errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency
from scipy.stats import entropy as peer_entropy

from assay.theory import (
    bootstrap_share,
    chi_square_deviation,
    chi_square_threshold,
    entropy,
    information_gain,
    majority_error,
)

tables = st.integers(1, 5).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(0, 20), min_size=k, max_size=k), min_size=1, max_size=6
    ).filter(lambda rows: any(map(any, rows)))
)


@given(n=st.integers(1, 60), error=st.floats(0, 1))
def test_majority_error_is_the_binomial_sum(n: int, error: float) -> None:
    wrong = range(math.ceil((n + 1) / 2), n + 1)
    terms = (math.comb(n, k) * error**k * (1 - error) ** (n - k) for k in wrong)
    assert majority_error(n, error) == pytest.approx(sum(terms), abs=1e-13, rel=1e-9)


def test_majority_error_of_many_voters_is_finite() -> None:
    assert majority_error(1_000_001, 0.5) == pytest.approx(0.5)
    assert majority_error(100_001, 0.49) < 1e-9


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_bootstrap_share_is_the_power(n: int) -> None:
    assert bootstrap_share(n) == pytest.approx(1 - (1 - 1 / n) ** n, rel=1e-12)


def test_bootstrap_share_falls_to_its_limit() -> None:
    shares = [bootstrap_share(n) for n in (1, 2, 5, 100, 10**12)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == pytest.approx(bootstrap_share(), rel=1e-11)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any))
def test_entropy_matches_scipy(counts: list[int]) -> None:
    for base in (2.0, math.e):
        expected = peer_entropy(counts, base=base)
        assert entropy(counts, base=base) == pytest.approx(expected, abs=1e-12)


@given(tables)
def test_information_gain_is_mutual_information(rows: list[list[int]]) -> None:
    joint = np.array(rows, dtype=float)
    expected = entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint.ravel())
    assert information_gain(joint) == pytest.approx(expected, abs=1e-9)
    assert information_gain(joint) >= 0


@given(tables)
def test_chi_square_deviation_matches_scipy(rows: list[list[int]]) -> None:
    table = np.array(rows)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    expected = chi2_contingency(table, correction=False).statistic
    assert chi_square_deviation(rows) == pytest.approx(expected, abs=1e-9)


def test_chi_square_threshold_is_the_upper_quantile() -> None:
    assert chi_square_threshold(4, 0.01, n_classes=3) == pytest.approx(chi2.isf(0.01, 6))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: majority_error(0, 0.1), "n_voters must be an integer >= 1; got 0"),
        (lambda: majority_error(3, 1.5), "error must be a number in [0, 1]; got 1.5"),
        (lambda: majority_error(3, math.nan), "error must be a number in [0, 1]; got nan"),
        (lambda: bootstrap_share(0), "n_samples must be an integer >= 1 or None; got 0"),
        (lambda: entropy([[1.0]]), "counts must have 1 dimension(s); got shape (1, 1)"),
        (
            lambda: entropy([-1, 2]),
            "counts must hold finite numbers >= 0, not all zero; got [-1, 2]",
        ),
        (lambda: entropy([1], base=1), "base must be a finite number > 1; got 1"),
        (
            lambda: information_gain([[0, 0]]),
            "table must hold finite numbers >= 0, not all zero; got [[0, 0]]",
        ),
        (
            lambda: chi_square_deviation([1, 2]),
            "table must be 2-dimensional with finite numbers >= 0; got [1, 2]",
        ),
        (lambda: chi_square_deviation([[0]]), "table must not be all zero"),
        (lambda: chi_square_threshold(1), "n_subsets must be an integer >= 2; got 1"),
        (
            lambda: chi_square_threshold(2, 0.0),
            "significance must be a number in (0, 1); got 0.0",
        ),
    ],
)
def test_wrong_arguments_are_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the whole message is compared)
        call()
    assert str(error.value) == message
