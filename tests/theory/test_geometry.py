"""Neighbourhoods, margins and crowds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from assay.theory import (
    bias_variance,
    neighbourhood_edge,
    perceptron_mistake_bound,
    quadratic_kernel,
)

numbers = st.floats(-1e6, 1e6)


@given(d=st.integers(1, 50), n=st.integers(1, 10**6), data=st.data())
def test_neighbourhood_holds_its_share_of_the_volume(d: int, n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, n))
    assert neighbourhood_edge(d, k, n) ** d == pytest.approx(k / n, rel=1e-9)


def test_neighbourhood_holds_as_many_points_as_asked() -> None:
    points = np.random.default_rng(0).random((5000, 3))
    edge = neighbourhood_edge(3)
    corners = np.random.default_rng(1).random((2000, 3)) * (1 - edge)
    inside = ((points >= corners[:, None]) & (points <= corners[:, None] + edge)).all(axis=2)
    assert inside.sum(axis=1).mean() == pytest.approx(5, rel=0.05)


def test_kernel_is_the_parabola_cut_at_zero() -> None:
    d = np.linspace(-20, 20, 401)
    expected = np.maximum(0, 1 - (2 * np.abs(d) / 7.0) ** 2)
    np.testing.assert_allclose(quadratic_kernel(d, 7.0), expected, rtol=1e-12, atol=1e-15)


def test_kernel_is_finite_however_far() -> None:
    assert quadratic_kernel([1e308, -np.inf], 1e-300).tolist() == [0.0, 0.0]


@given(seed=st.integers(0, 1000), scale=st.floats(0.01, 100))
def test_perceptron_keeps_its_bound_in_any_order(seed: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    truth = random.normal(size=4)
    truth /= np.linalg.norm(truth)
    X = random.normal(size=(60, 4)) * scale
    X = X[np.abs(X @ truth) > 0.2 * scale]
    y = np.sign(X @ truth)
    radius, margin = float(np.linalg.norm(X, axis=1).max()), float((y * (X @ truth)).min())
    w, mistakes = np.zeros(4), 0
    wrong = np.flatnonzero(y * (X @ w) <= 0)
    while len(wrong):
        row = random.choice(wrong)
        w += y[row] * X[row]
        mistakes += 1
        wrong = np.flatnonzero(y * (X @ w) <= 0)
    assert mistakes <= perceptron_mistake_bound(radius, margin)
    assert perceptron_mistake_bound(3 * radius, 3 * margin) == pytest.approx(
        perceptron_mistake_bound(radius, margin)
    )


@given(
    arrays.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=numbers),
    st.data(),
)
def test_error_is_bias_plus_variance(said: np.ndarray, data: st.DataObject) -> None:
    truth = data.draw(arrays.arrays(np.float64, said.shape[1], elements=numbers))
    found = bias_variance(said, truth)
    assert found.error == pytest.approx(found.bias + found.variance, rel=1e-9, abs=1e-9)
    assert found.bias <= found.error * (1 + 1e-9) + 1e-9  # Jensen: the crowd beats its average
    assert found.variance == pytest.approx(said.var(axis=0).mean(), rel=1e-9, abs=1e-9)


def test_bias_variance_takes_one_truth() -> None:
    assert bias_variance([1.0, 3.0], 1.5) == (1.25, 0.25, 1.0)
