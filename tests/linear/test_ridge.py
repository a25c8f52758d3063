"""Ridge regression, and every penalty from one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn import linear_model as peers

from assay.base import DataError, ParameterError
from assay.linear import Ridge
from assay.linear._least_moments import moments
from assay.select import Family, assert_path_equals_single_fits
from tests.along import fits_along

from .least_tables import bundled, made

TABLES = bundled()
PENALTIES = [{"alpha": alpha} for alpha in (1e-3, 0.1, 1.0, 10.0, 1e3)]


def closed_form(table: Any, alpha: float, weight: Any) -> Any:
    """(X'VX + alpha I)^-1 X'Vy of the centred table."""
    v = np.ones(len(table.y)) if weight is None else weight
    X = table.X - np.average(table.X, axis=0, weights=v)
    y = table.y - np.average(table.y, weights=v)
    return np.linalg.solve(X.T @ (v[:, None] * X) + alpha * np.eye(X.shape[1]), X.T @ (v * y))


@pytest.mark.parametrize("solver", ["auto", "cholesky", "svd", "sparse_cg", "lsqr", "sag", "lbfgs"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("shape", [(120, 15), (12, 40)])
def test_ridge_matches_the_closed_form(
    solver: str, weighted: bool, sparse: bool, shape: tuple[int, int]
) -> None:
    table = made(*shape, zeros=0.4)
    weight = table.weight if weighted else None
    model = Ridge(0.7, solver=solver).fit(table.sparse if sparse else table.X, table.y, weight)
    expected = closed_form(table, 0.7, weight)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-8)
    v = np.ones(len(table.y)) if weight is None else weight
    offset = np.average(table.y - table.X @ expected, weights=v)
    assert model.intercept_ == pytest.approx(offset, abs=1e-7)
    assert model.solver_ == {"svd": "svd", "sparse_cg": "sparse_cg", "lsqr": "lsqr"}.get(
        solver, "cholesky"
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ridge_is_that_of_scikit_learn_with_a_penalty_for_each_target(fit_intercept: bool) -> None:
    table = made()
    Y = np.column_stack([table.y, table.X[:, 1], table.y])
    settings: dict[str, Any] = {"alpha": [0.1, 5.0, 0.1], "fit_intercept": fit_intercept}
    ours = Ridge(**settings).fit(table.X, Y, table.weight)
    peer = peers.Ridge(**settings).fit(table.X, Y, table.weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-8)
    assert ours.n_iter_.tolist() == [1, 1, 1]


@pytest.mark.parametrize("shape", [(100, 10), (8, 20)])
def test_positive_ridge_is_augmented_non_negative_least_squares(shape: tuple[int, int]) -> None:
    table = made(*shape)
    model = Ridge(2.0, positive=True).fit(table.X, table.y)
    X, y = table.X - table.X.mean(axis=0), table.y - table.y.mean()
    p = shape[1]
    rows, goal = np.vstack([X, np.sqrt(2) * np.eye(p)]), np.concatenate([y, np.zeros(p)])
    np.testing.assert_allclose(model.coef_, nnls(rows, goal)[0], atol=1e-9)
    assert model.solver_ == "nnls"


def test_products_that_lose_too_many_digits_give_way_to_singular_values() -> None:
    table = made(200, 6)
    X = table.X.copy()
    X[:, 5] = X[:, 0] + 1e-7 * X[:, 5]
    model = Ridge(1e-13, solver="cholesky").fit(X, table.y)
    assert model.solver_ == "svd"
    np.testing.assert_allclose(
        model.predict(X), peers.Ridge(1e-13, solver="svd").fit(X, table.y).predict(X), rtol=1e-7
    )
    assert Ridge(1.0).fit(X, table.y).solver_ == "cholesky"


def test_columns_in_strange_units_cost_nothing() -> None:
    table = made(200, 6)
    units = np.array([1e-9, 1.0, 1e9, 1e3, 1.0, 1e-6])
    plain = Ridge(0.0).fit(table.X, table.y)
    model = Ridge(0.0).fit(table.X * units, table.y)
    assert model.solver_ == "cholesky"
    np.testing.assert_allclose(model.coef_ * units, plain.coef_, rtol=1e-9, atol=1e-11)


def test_wide_sparse_tables_are_solved_by_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.linear._least_solve.MOST_PRODUCTS", 5)
    table = made(zeros=0.6)
    model = Ridge(2.0).fit(table.sparse, table.y, table.weight)
    assert model.solver_ == "sparse_cg"
    assert model.n_iter_[0] > 1
    np.testing.assert_allclose(model.coef_, closed_form(table, 2.0, table.weight), atol=1e-8)


@given(st.integers(0, 10**6), st.floats(0.01, 100.0))
def test_weights_and_penalty_may_be_scaled_together(seed: int, scale: float) -> None:
    table = made(30, 4, seed=seed)
    one = Ridge(1.5).fit(table.X, table.y, table.weight)
    other = Ridge(1.5 * scale).fit(table.X, table.y, scale * table.weight)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-8, atol=1e-10)


@given(st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    table = made(50, 5, seed=seed)
    order = np.random.default_rng(seed).permutation(50)
    one, other = Ridge().fit(table.X, table.y), Ridge().fit(table.X[order], table.y[order])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-10, atol=1e-12)


def test_gradient_of_the_objective_is_zero() -> None:
    table = made(400, 25)
    model = Ridge(3.0).fit(table.X, table.y, table.weight)
    residual = table.weight * (table.y - model.predict(table.X))
    assert abs(residual.sum()) < 1e-8
    assert np.abs(table.X.T @ residual - 3.0 * model.coef_).max() < 1e-8


def test_ridge_is_independent_of_n_jobs() -> None:
    for shape in ((5000, 40), (60, 300)):
        table = made(*shape)
        one, two = (Ridge(n_jobs=n).fit(table.X, table.y) for n in (1, 2))
        assert one.coef_.tobytes() == two.coef_.tobytes()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("weighted", [True, False])
def test_ridge_path_equals_single_fits(name: str, weighted: bool) -> None:
    table = TABLES[name]
    family = Family("ridge", Ridge(), [*PENALTIES, {"alpha": 1.0, "fit_intercept": False}])
    weight = table.weight if weighted else None
    assert_path_equals_single_fits(family, table.X, table.y, weight=weight, rtol=0, atol=0)


def test_ridge_path_on_a_wide_table_equals_single_fits() -> None:
    table = made(60, 100)
    family = Family("ridge", Ridge(), [*PENALTIES, {"solver": "svd"}, {"positive": True}])
    assert_path_equals_single_fits(family, table.X, table.y, rtol=0, atol=0)


def test_ridge_path_makes_the_products_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return moments(*args, **kwargs)

    monkeypatch.setattr("assay.linear._least_problem.moments", counted)
    table = made(100, 5)
    path, rows = Ridge.assay_path, np.arange(100)
    found = fits_along(path)(
        Ridge(), None, table.X, table.y, None, rows[:60], [rows[60:80], rows[80:]], PENALTIES
    )
    assert len(list(found)) == len(PENALTIES)
    assert len(calls) == 1
    assert path.n_fits(PENALTIES) == 1
    assert path.n_fits([{"alpha": 1.0, "fit_intercept": f} for f in (True, False)]) == 2


def test_a_bad_candidate_is_refused_in_its_turn() -> None:
    table, rows = made(50, 3), np.arange(50)
    found = fits_along(Ridge.assay_path)(
        Ridge(), None, table.X, table.y, None, rows[:40], [rows[40:]], [{"alpha": 1}, {"alpha": -1}]
    )
    next(found)
    with pytest.raises(ParameterError, match="alpha"):
        next(found)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": -1.0}, "alpha must be a finite number >= 0; got -1.0"),
        ({"alpha": np.nan}, "alpha must be a finite number >= 0; got nan"),
        ({"alpha": [1.0, -2.0]}, "alpha must be a finite number >= 0, or one for each target"),
        ({"alpha": "much"}, "alpha must be a finite number >= 0; got 'much'"),
        ({"solver": "cholesk"}, "did you mean 'cholesky'"),
        ({"solver": "svd", "positive": True}, "solver must be 'auto'"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1 or None; got 0"),
        ({"random_state": "seed"}, "random_state must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_bad_parameters_are_refused(settings: dict[str, Any], message: str) -> None:
    table = made(10, 2)
    with pytest.raises(ParameterError, match=message):
        Ridge(**settings).fit(table.X, table.y)


def test_penalties_must_be_as_many_as_targets() -> None:
    table = made(10, 2)
    with pytest.raises(ParameterError, match="one for each of 1 targets; got 2"):
        Ridge([1.0, 2.0]).fit(table.X, table.y)


def test_missing_values_are_refused() -> None:
    with pytest.raises(DataError, match="NaN"):
        Ridge().fit([[np.nan], [1.0]], [1.0, 2.0])
