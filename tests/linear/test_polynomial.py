"""Polynomial regression."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import linear_model as peers
from sklearn.preprocessing import PolynomialFeatures

from assay.base import DataError, ParameterError
from assay.linear import PolynomialRegression, Ridge
from assay.linear._polynomial import expand

from .least_tables import made


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("interaction_only", [True, False])
def test_terms_are_those_of_scikit_learn(degree: int, interaction_only: bool) -> None:
    table = made(30, 3)
    model = PolynomialRegression(degree, interaction_only=interaction_only, alpha=0.1)
    model.fit(table.X, table.y)
    peer = PolynomialFeatures(degree, interaction_only=interaction_only, include_bias=False)
    terms = peer.fit_transform(table.X)
    np.testing.assert_array_equal(model.powers_, peer.powers_)
    np.testing.assert_allclose(expand(table.X, model.powers_), terms, rtol=1e-13)
    ridge = Ridge(0.1).fit(terms, table.y)
    np.testing.assert_allclose(model.predict(table.X), ridge.predict(terms), rtol=1e-7, atol=1e-8)


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_a_polynomial_is_found_again(seed: int, degree: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(60, 2))
    terms = PolynomialFeatures(degree, include_bias=False).fit_transform(X)
    weights = rng.normal(size=terms.shape[1])
    model = PolynomialRegression(degree).fit(X, terms @ weights + 3.0)
    np.testing.assert_allclose(model.coef_, weights, atol=1e-8)
    assert model.intercept_ == pytest.approx(3.0, abs=1e-8)


def test_circles_are_a_line_in_squares() -> None:
    angle = np.linspace(0, 6, 40)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * np.repeat([1.0, 2.0], 20)[:, None]
    model = PolynomialRegression(2).fit(X, (X**2).sum(axis=1))
    assert model.powers_.tolist() == [[1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
    np.testing.assert_allclose(model.coef_, [0, 0, 1, 0, 1], atol=1e-10)


def test_high_degrees_far_from_zero_take_the_safe_route() -> None:
    x = np.linspace(100, 101, 50)[:, None]
    y = np.sin(6 * x[:, 0])
    model = PolynomialRegression(5).fit(x, y)
    assert model.solver_ == "svd"
    assert PolynomialRegression(5).fit(x - 100.5, y).solver_ == "cholesky"


def test_weights_sparse_rows_and_several_targets() -> None:
    table = made(60, 3, zeros=0.4)
    Y = np.column_stack([table.y, table.y**2])
    model = PolynomialRegression(2, alpha=1.0).fit(table.sparse, Y, table.weight)
    terms = PolynomialFeatures(2, include_bias=False).fit_transform(table.X)
    peer = peers.Ridge(1.0).fit(terms, Y, table.weight)
    np.testing.assert_allclose(model.predict(table.sparse), peer.predict(terms), rtol=1e-7)


def test_without_an_intercept_zero_is_zero() -> None:
    table = made(60, 3)
    model = PolynomialRegression(2, fit_intercept=False).fit(table.X, table.y)
    assert model.predict(np.zeros((1, 3))).tolist() == [0.0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"degree": 0}, "degree must be an integer >= 1; got 0"),
        ({"degree": 1.5}, "degree must be an integer >= 1; got 1.5"),
        ({"alpha": -1}, "alpha must be a finite number >= 0; got -1"),
        ({"interaction_only": "no"}, "interaction_only must be True or False; got 'no'"),
    ],
)
def test_bad_parameters_are_refused(settings: dict[str, Any], message: str) -> None:
    table = made(10, 2)
    with pytest.raises(ParameterError, match=message):
        PolynomialRegression(**settings).fit(table.X, table.y)


def test_too_many_terms_are_refused_before_they_are_made() -> None:
    table = made(10, 60)
    with pytest.raises(DataError, match="degree 4 in 60 columns has 635375 terms, more than"):
        PolynomialRegression(4).fit(table.X, table.y)


def test_powers_that_overflow_are_refused() -> None:
    with pytest.raises(DataError, match="too large for float64"):
        PolynomialRegression(3).fit([[1e200], [1.0]], [1.0, 2.0])


@pytest.mark.parametrize(
    ("name", "value"),
    [("powers_", np.zeros((5, 2), dtype=np.int64)), ("powers_", -np.ones((5, 2), dtype=np.int64))],
)
def test_damaged_state_is_refused(name: str, value: Any) -> None:
    table = made(20, 2)
    state = PolynomialRegression().fit(table.X, table.y).state()
    with pytest.raises(DataError, match="damaged"):
        PolynomialRegression.from_state({}, {**state, name: value})
