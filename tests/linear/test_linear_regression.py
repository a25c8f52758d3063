"""Ordinary least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls
from scipy.sparse import csr_matrix
from sklearn import linear_model as peers

from assay.base import DataError, ParameterError
from assay.linear import LinearRegression
from assay.linear._least_problem import Problem
from assay.linear._least_solve import solve

from .least_tables import made


def spoilt(gap: float) -> tuple[Any, Any]:
    """A table with two columns that differ by `gap` only."""
    table = made(200, 6)
    X = table.X.copy()
    X[:, 5] = X[:, 0] + gap * X[:, 5]
    return X, table.y


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("layout", ["dense", "float32", "sparse", "fortran"])
def test_linear_regression_is_that_of_scikit_learn(
    fit_intercept: bool, weighted: bool, layout: str
) -> None:
    table = made(zeros=0.5 if layout == "sparse" else 0.0)
    X: Any = {
        "dense": table.X,
        "float32": table.X.astype(np.float32),
        "sparse": table.sparse,
        "fortran": np.asfortranarray(table.X),
    }[layout]
    weight = table.weight if weighted else None
    exact = X.astype(np.float64) if layout == "float32" else table.X
    ours = LinearRegression(fit_intercept=fit_intercept).fit(X, table.y, weight)
    peer = peers.LinearRegression(fit_intercept=fit_intercept).fit(exact, table.y, weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.predict(X), peer.predict(exact), rtol=1e-9)
    assert ours.rank_ == peer.rank_
    np.testing.assert_allclose(ours.singular_, peer.singular_, rtol=1e-8)
    assert ours.solver_ == "cholesky"


def test_linear_regression_fits_every_target_on_its_own() -> None:
    table = made()
    Y = np.column_stack([table.y, table.y**2, table.X[:, 0]])
    together = LinearRegression().fit(table.X, Y)
    assert together.coef_.shape == (3, 15)
    assert together.intercept_.shape == (3,)  # type: ignore[union-attr]
    for t in range(3):
        alone = LinearRegression().fit(table.X, Y[:, t])
        np.testing.assert_allclose(together.coef_[t], alone.coef_, atol=1e-10)
        np.testing.assert_allclose(together.predict(table.X)[:, t], alone.predict(table.X))


@pytest.mark.parametrize("gap", [1e-3, 1e-4, 1e-6, 1e-9, 0.0])
def test_nearly_dependent_columns_cost_no_digits_that_can_be_saved(gap: float) -> None:
    X, y = spoilt(gap)
    model = LinearRegression().fit(X, y)
    assert model.solver_ == ("cholesky" if gap > 1e-5 else "svd")
    assert model.rank_ == (6 if gap > 0 else 5)
    centred = X - X.mean(axis=0)
    expected = np.linalg.lstsq(centred, y - y.mean(), rcond=1e-14)[0]
    fit = y.mean() + centred @ expected  # of coefficients of size 1 / gap
    np.testing.assert_allclose(model.predict(X), fit, atol=1e-8 if gap > 1e-7 else 1e-6)
    # A backward stable solution of columns this near to each other has no more digits.
    lost = 1e-14 / gap if gap else 1e-12
    np.testing.assert_allclose(model.coef_, expected, rtol=0, atol=lost * np.abs(expected).max())


@pytest.mark.parametrize("power", [8, 12, 15])
def test_digits_that_products_lose_are_regained_from_residuals(power: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(-8, 9, size=(200, 6)).astype(np.float64)
    X[:, 5] = X[:, 0] + X[:, 5] * 2.0**-power
    weights = np.array([1.0, -2.0, 3.0, 0.0, 1.0, 5.0])
    model = LinearRegression().fit(X, X @ weights)  # without rounding: small integers
    assert model.solver_ == "cholesky"
    np.testing.assert_allclose(model.coef_, weights, rtol=0, atol=1e-11)


def test_more_columns_than_rows_gives_the_solution_of_least_length() -> None:
    table = made(10, 30)
    model = LinearRegression().fit(table.X, table.y)
    centred = table.X - table.X.mean(axis=0)
    expected = np.linalg.pinv(centred) @ (table.y - table.y.mean())
    np.testing.assert_allclose(model.coef_, expected, atol=1e-10)
    np.testing.assert_allclose(model.predict(table.X), table.y, atol=1e-9)
    assert model.rank_ == 9
    assert model.singular_.shape == (10,)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_positive_weights_are_those_of_non_negative_least_squares(fit_intercept: bool) -> None:
    table = made()
    model = LinearRegression(positive=True, fit_intercept=fit_intercept).fit(table.X, table.y)
    shift = table.X.mean(axis=0) if fit_intercept else np.zeros(15)
    goal = table.y - (table.y.mean() if fit_intercept else 0.0)
    np.testing.assert_allclose(model.coef_, nnls(table.X - shift, goal)[0], atol=1e-9)
    assert (model.coef_ >= 0).all()
    assert not hasattr(model, "rank_")


def test_large_sparse_tables_are_solved_by_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.linear._linear_regression.MOST_DENSE", 10)
    monkeypatch.setattr("assay.linear._linear_regression.MOST_PRODUCTS", 5)
    table = made(zeros=0.5)
    direct = LinearRegression().fit(table.X, table.y)
    model = LinearRegression().fit(table.sparse, table.y)
    assert model.solver_ == "lsqr"
    np.testing.assert_allclose(model.coef_, direct.coef_, atol=1e-7)


@given(st.integers(0, 10**6), st.floats(-1e3, 1e3), st.floats(0.01, 100.0))
def test_prediction_follows_shift_and_scale_of_columns_and_target(
    seed: int, shift: float, scale: float
) -> None:
    table = made(40, 3, seed=seed)
    model = LinearRegression().fit(table.X, table.y)
    moved = LinearRegression().fit(scale * table.X + shift, 2 * table.y + shift)
    expected = 2 * model.predict(table.X) + shift
    np.testing.assert_allclose(
        moved.predict(scale * table.X + shift), expected, atol=1e-7 * (1 + abs(shift))
    )


@given(st.integers(0, 10**6))
def test_a_row_given_twice_is_a_row_of_weight_two(seed: int) -> None:
    table = made(30, 4, seed=seed)
    twice = np.concatenate([np.arange(30), np.arange(10)])
    weight = np.where(np.arange(30) < 10, 2.0, 1.0)
    repeated = LinearRegression().fit(table.X[twice], table.y[twice])
    weighted = LinearRegression().fit(table.X, table.y, weight)
    np.testing.assert_allclose(repeated.coef_, weighted.coef_, rtol=1e-8, atol=1e-9)


def test_residuals_are_orthogonal_to_columns_and_constant() -> None:
    table = made(500, 20)
    model = LinearRegression().fit(table.X, table.y)
    residual = table.y - model.predict(table.X)
    assert abs(residual.sum()) < 1e-10 * np.abs(table.y).sum()
    assert np.abs(table.X.T @ residual).max() < 1e-9


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_constant_column_gets_no_weight(offset: float) -> None:
    table = made(50, 3)
    X = np.column_stack([table.X, np.full(50, 0.1 + offset)])
    model = LinearRegression().fit(X, table.y)
    assert model.coef_[3] == 0
    assert model.rank_ == 3
    np.testing.assert_allclose(model.coef_[:3], LinearRegression().fit(table.X, table.y).coef_)


def test_columns_far_from_zero_keep_their_digits() -> None:
    table = made(300, 3)
    model = LinearRegression().fit(table.X + 1e7, table.y)
    expected = LinearRegression().fit(table.X, table.y).coef_
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-7)


def test_one_row_predicts_its_own_target() -> None:
    model = LinearRegression().fit([[3.0, 4.0]], [7.0])
    assert model.coef_.tolist() == [0.0, 0.0]
    assert model.predict([[0.0, 0.0]]).tolist() == [7.0]


def test_linear_regression_is_independent_of_n_jobs() -> None:
    table = made(5000, 30)
    one, two = (LinearRegression(n_jobs=n).fit(table.X, table.y, table.weight) for n in (1, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert one.predict(table.X).tobytes() == two.predict(table.X).tobytes()


def test_a_row_is_predicted_alike_alone_and_among_others() -> None:
    table = made(300, 33)
    model = LinearRegression().fit(table.X, table.y)
    alone = np.concatenate([model.predict(row[None]) for row in table.X])
    assert alone.tobytes() == model.predict(table.X).tobytes()


def test_rank_deficient_sparse_table_has_the_dense_solution() -> None:
    X, y = spoilt(0.0)
    sparse = LinearRegression().fit(csr_matrix(X), y)
    assert sparse.solver_ == "svd"
    np.testing.assert_allclose(sparse.coef_, LinearRegression().fit(X, y).coef_, atol=1e-10)


def test_routes_agree_on_a_good_table() -> None:
    table = made()
    problem = Problem(table.X, table.y[:, None], table.weight, True)
    found = [
        solve(problem, np.array([0.7]), solver=solver).coef
        for solver in ("cholesky", "svd", "sparse_cg", "lsqr")
    ]
    for other in found[1:]:
        np.testing.assert_allclose(found[0], other, atol=1e-7)


def test_bad_parameters_are_refused() -> None:
    table = made(10, 2)
    with pytest.raises(ParameterError, match="fit_intercept must be True or False; got 'yes'"):
        LinearRegression(fit_intercept="yes").fit(table.X, table.y)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="tol must be a number >= 0; got -1"):
        LinearRegression(tol=-1).fit(table.X, table.y)


def test_bad_data_are_refused() -> None:
    table = made(10, 2)
    with pytest.raises(DataError, match="NaN"):
        LinearRegression().fit([[np.nan], [1.0]], [1.0, 2.0])
    with pytest.raises(DataError, match="X has 10 rows but y has 9"):
        LinearRegression().fit(table.X, table.y[:9])
    with pytest.raises(DataError, match="sample_weight must be finite and not negative"):
        LinearRegression().fit(table.X, table.y, np.full(10, -1.0))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coef_", np.array([np.nan] * 15)),
        ("coef_", np.zeros(14)),
        ("intercept_", np.inf),
        ("rank_", 99),
        ("singular_", -np.ones(15)),
        ("solver_", None),
    ],
)
def test_damaged_state_is_refused(name: str, value: Any) -> None:
    table = made()
    state = LinearRegression().fit(table.X, table.y).state()
    with pytest.raises(DataError, match="damaged"):
        LinearRegression.from_state({}, {**state, name: value})
