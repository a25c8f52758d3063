"""Linear models against the formulas of textbooks."""

from __future__ import annotations

import numpy as np
import pytest

from assay.linear import LinearRegression, PolynomialRegression, Ridge

# Sizes (square feet) and prices (thousands) of houses; the documents print no data of their own.
SIZE = np.array([1100.0, 1400.0, 1425.0, 1550.0, 1600.0, 1700.0, 1875.0, 2350.0])
PRICE = np.array([199.0, 245.0, 319.0, 240.0, 312.0, 279.0, 308.0, 405.0])


def test_b17_one_column_has_the_closed_form() -> None:
    n = len(SIZE)
    slope = (n * (SIZE @ PRICE) - SIZE.sum() * PRICE.sum()) / (n * (SIZE @ SIZE) - SIZE.sum() ** 2)
    offset = (PRICE.sum() - slope * SIZE.sum()) / n
    model = LinearRegression().fit(SIZE[:, None], PRICE)
    assert model.coef_[0] == pytest.approx(slope, rel=1e-12)
    assert model.intercept_ == pytest.approx(offset, rel=1e-10)


def test_b18_normal_equations() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    plain = LinearRegression(fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(plain.coef_, np.linalg.inv(X.T @ X) @ X.T @ y, rtol=1e-10)
    ones = np.column_stack([np.ones(50), X])
    whole = np.linalg.inv(ones.T @ ones) @ ones.T @ y
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose([model.intercept_, *model.coef_], whole, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("penalty", [0.1, 1.0, 25.0])
def test_b19_ridge_closed_form(penalty: float) -> None:
    rng = np.random.default_rng(2)
    X, t = rng.normal(size=(40, 5)), rng.normal(size=40)
    expected = np.linalg.solve(X.T @ X + penalty * np.eye(5), X.T @ t)
    model = Ridge(penalty, fit_intercept=False).fit(X, t)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-11)


def test_b20_polynomial_of_degree_m_is_the_normal_equations_of_its_terms() -> None:
    x = np.linspace(-1, 1, 30)
    t = np.sin(2 * x)
    terms = np.column_stack([x, x**2, x**3])
    expected = np.linalg.solve(terms.T @ terms + 0.5 * np.eye(3), terms.T @ t)
    model = PolynomialRegression(3, fit_intercept=False, alpha=0.5).fit(x[:, None], t)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-11, atol=1e-14)
