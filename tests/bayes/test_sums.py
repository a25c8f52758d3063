"""Sums in twice the precision, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.bayes._sums import Sums

NOBODY = np.empty(0)


def codes(n: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.zeros(n, dtype=np.int32)


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=40),
    offset=st.sampled_from([0.0, 1.0, 1e4, 1e8]),
)
def test_variance_is_that_of_exact_fractions(values: list[float], offset: float) -> None:
    x = np.array(values) + offset
    sums = Sums.of(x[:, None], codes(len(x)), None, 1)
    exact = [Fraction(v) for v in x.tolist()]
    mean = sum(exact) / len(x)
    deviations = sum((v - mean) ** 2 for v in exact)
    assert sums.mean[0, 0] == pytest.approx(float(mean), rel=1e-15, abs=1e-300)
    floor = 1e-27 * float(sum(v * v for v in exact))
    assert sums.deviations()[0, 0] == pytest.approx(float(deviations), rel=1e-14, abs=floor)


def test_sums_taken_apart_are_the_sums_of_the_rest() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4)) * [1.0, 1e-3, 1e3, 1.0] + [0.0, 50.0, 1e6, -3.0]
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, 5000).astype(np.int32)
    held = rng.random(5000) < 0.4
    apart = Sums.of(X, y, None, 3).plus(Sums.of(X[held], y[held], None, 3), -1.0)
    alone = Sums.of(X[~held], y[~held], None, 3)
    assert np.array_equal(apart.count, alone.count)
    assert np.array_equal(apart.mean, alone.mean)
    np.testing.assert_allclose(apart.variance, alone.variance, rtol=4e-16)


def test_weights_count_rows_that_often() -> None:
    rng = np.random.default_rng(1)
    X, times = rng.normal(size=(50, 3)) + 100, rng.integers(0, 4, 50)
    weighted = Sums.of(X, codes(50), times.astype(np.float64), 1)
    repeated = np.repeat(X, times, axis=0)
    plain = Sums.of(repeated, codes(len(repeated)), None, 1)
    np.testing.assert_allclose(weighted.mean, plain.mean, rtol=1e-15)
    np.testing.assert_allclose(weighted.variance, plain.variance, rtol=1e-14)


def test_a_constant_column_has_variance_zero() -> None:
    for value in (0.1, 1e8 / 3, -7.0):
        sums = Sums.of(np.full((1000, 1), value), codes(1000), None, 1)
        assert sums.variance.tolist() == [[0.0]]


def test_sums_do_not_depend_on_threads() -> None:
    X = np.random.default_rng(0).normal(size=(30_000, 3))
    one, two = (Sums.of(X, codes(len(X)), None, 1, n_threads=n) for n in (1, 2))
    assert np.array_equal(one.parts, two.parts)


def test_no_rows_sum_to_nothing() -> None:
    sums = Sums.of(np.empty((0, 2)), codes(0), None, 2)
    assert sums.mean.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert sums.variance.tolist() == [[0.0, 0.0], [0.0, 0.0]]
