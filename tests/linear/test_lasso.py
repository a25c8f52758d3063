"""The lasso: exact, certified, and the same along a path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn import linear_model as peers
from sklearn.exceptions import ConvergenceWarning

from assay._core import linear as kernels
from assay.base import DataError, ParameterError
from assay.linear import Lasso
from assay.linear._least_lasso import LassoSettings, lasso_solutions
from assay.select import Family, assert_path_equals_single_fits
from tests.along import fits_along

from .least_tables import Table, alpha_max, bundled, lasso_objective, made, violation

TABLES = bundled()
SHARES = (0.9, 0.5, 0.2, 0.05, 0.01, 0.001)


def peer(table: Table, alpha: float, **settings: Any) -> Any:
    return peers.Lasso(alpha, tol=1e-12, max_iter=100_000, **settings)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("sparse", [True, False])
def test_lasso_is_optimal_and_not_above_scikit_learn(name: str, share: float, sparse: bool) -> None:
    table = TABLES[name]
    alpha = share * alpha_max(table)
    X = table.sparse if sparse else table.X
    model = Lasso(alpha).fit(X, table.y)
    assert model.stop_reason_ == "converged"
    assert violation(table, model, alpha) < 1e-10 * np.abs(table.y).max()
    other = peers.Lasso(alpha, tol=1e-6, max_iter=10_000).fit(table.X, table.y)
    ours = lasso_objective(table, model.coef_, model.intercept_, alpha)
    theirs = lasso_objective(table, other.coef_, other.intercept_, alpha)
    assert ours <= theirs * (1 + 1e-12)
    assert model.dual_gap_ <= 1e-10 * ours
    assert model.duality_gap_ == model.dual_gap_


@pytest.mark.parametrize("settings", [{}, {"positive": True}, {"fit_intercept": False}])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("layout", ["dense", "float32", "sparse", "fortran", "int64"])
def test_lasso_has_the_weights_of_scikit_learn(
    settings: dict[str, Any], weighted: bool, layout: str
) -> None:
    table = made(80, 20, zeros=0.5)
    X: Any = table.X
    if layout == "float32":
        X = table.X.astype(np.float32)
        table = Table(X.astype(np.float64), table.y, table.weight)
    elif layout == "fortran":
        X = np.asfortranarray(table.X)
    elif layout != "dense":
        X = table.sparse
        if layout == "int64":
            X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    weight = table.weight if weighted else None
    alpha = 0.05 * alpha_max(table)
    ours = Lasso(alpha, **settings).fit(X, table.y, weight)
    theirs = peer(table, alpha, **settings).fit(table.X, table.y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(table.X), atol=1e-5)


def test_independent_columns_have_the_closed_form() -> None:
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.normal(size=(40, 6)))[0] * np.sqrt(40)
    y = rng.normal(size=40)
    z = X.T @ y / 40
    model = Lasso(0.1, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.sign(z) * np.maximum(np.abs(z) - 0.1, 0), atol=1e-14)


def test_several_targets_are_fitted_one_by_one() -> None:
    table = made()
    Y = np.column_stack([table.y, table.X[:, 2]])
    model = Lasso(0.2).fit(table.X, Y, table.weight)
    assert model.coef_.shape == (2, 15)
    assert model.sparse_coef_.shape == (2, 15)
    for t in range(2):
        alone = Lasso(0.2).fit(table.X, Y[:, t], table.weight)
        assert model.coef_[t].tobytes() == alone.coef_.tobytes()
        assert model.dual_gap_[t] == alone.dual_gap_  # type: ignore[index]


@given(st.integers(0, 10**6), st.floats(0.001, 1.2), st.booleans(), st.booleans())
def test_solution_does_not_depend_on_the_start(
    seed: int, share: float, wide: bool, positive: bool
) -> None:
    table = made(25 if wide else 60, 60 if wide else 12, seed=seed)
    alpha = share * alpha_max(table)
    cold = Lasso(alpha, positive=positive).fit(table.X, table.y)
    warm = Lasso(0.1 * alpha, positive=positive, warm_start=True).fit(table.X, table.y)
    warm.set_params(alpha=alpha).fit(table.X, table.y)
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-10, atol=1e-11)


@given(st.integers(0, 10**6))
def test_a_row_given_twice_is_a_row_of_weight_two(seed: int) -> None:
    table = made(30, 8, seed=seed)
    twice = np.concatenate([np.arange(30), np.arange(10)])
    weight = np.where(np.arange(30) < 10, 2.0, 1.0)
    repeated = Lasso(0.1).fit(table.X[twice], table.y[twice])
    np.testing.assert_allclose(
        repeated.coef_, Lasso(0.1).fit(table.X, table.y, weight).coef_, rtol=1e-9, atol=1e-11
    )


@given(st.integers(0, 10**6), st.floats(0.01, 100.0))
def test_target_and_penalty_may_be_scaled_together(seed: int, scale: float) -> None:
    table = made(30, 8, seed=seed)
    one = Lasso(0.1).fit(table.X, table.y)
    other = Lasso(0.1 * scale).fit(table.X, table.y * scale)
    np.testing.assert_allclose(other.coef_, scale * one.coef_, rtol=1e-8, atol=1e-10 * scale)


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("share", [0.1, 1e-3, 1e-5])
def test_dependent_columns_lead_to_a_minimum(positive: bool, share: float) -> None:
    table = made(30, 12)
    X = np.column_stack([table.X, table.X, table.X[:, 0] - table.X[:, 1], np.ones(30)])
    wide = Table(X, table.y, table.weight)
    alpha = share * alpha_max(wide)
    model = Lasso(alpha, positive=positive).fit(X, table.y)
    assert model.stop_reason_ == "converged"
    assert model.coef_[-1] == 0
    if not positive:
        assert violation(wide, model, alpha) < 1e-10
    theirs = peers.Lasso(alpha, positive=positive, tol=1e-9, max_iter=100_000).fit(X, table.y)
    ours = lasso_objective(wide, model.coef_, model.intercept_, alpha)
    assert ours <= lasso_objective(wide, theirs.coef_, theirs.intercept_, alpha) * (1 + 1e-9)


def test_many_columns_are_met_by_growing_working_sets() -> None:
    table = made(100, 3000, seed=3)
    alpha = 0.02 * alpha_max(table)
    model = Lasso(alpha).fit(table.X, table.y)
    assert violation(table, model, alpha) < 1e-11
    assert np.count_nonzero(model.coef_) <= 100
    both = Lasso(alpha, n_jobs=2).fit(table.X, table.y)
    assert both.coef_.tobytes() == model.coef_.tobytes()


def test_a_penalty_above_the_largest_correlation_leaves_nothing() -> None:
    table = made()
    model = Lasso(1.01 * alpha_max(table)).fit(table.X, table.y)
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(table.y.mean())
    assert Lasso(0.99 * alpha_max(table)).fit(table.X, table.y).coef_.any()


def test_without_a_penalty_it_is_least_squares() -> None:
    table = made()
    model = Lasso(0.0).fit(table.X, table.y)
    expected = peers.LinearRegression().fit(table.X, table.y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-10)


def test_a_constant_target_has_no_weights() -> None:
    table = made(20, 4)
    model = Lasso(0.1).fit(table.X, np.full(20, 0.3))
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(0.3)
    assert model.stop_reason_ == "converged"


@pytest.mark.parametrize("size", [1e-200, 1e-150, 1e150, 1e200])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_numbers_near_the_end_of_their_range_end_in_a_model_or_an_error(size: float) -> None:
    table = made(20, 4)
    for X, y in ((size * table.X, table.y), (table.X, size * table.y)):
        try:
            model = Lasso(0.1, max_iter=50).fit(X, y)
        except DataError as error:
            assert "too large" in str(error)  # noqa: PT017
        else:
            assert np.isfinite(model.coef_).all()


def test_too_few_sweeps_are_told_with_cause_and_remedy() -> None:
    table = made(60, 40)
    X = table.X @ np.random.default_rng(0).normal(size=(40, 40))
    with pytest.warns(ConvergenceWarning, match="max_iter=1 sweeps with a duality gap of .* raise"):
        model = Lasso(1e-5, max_iter=1, tol=0).fit(X, table.y)
    assert model.stop_reason_ == "max_iter"
    assert model.dual_gap_ > 0


PENALTIES = [{"alpha": alpha} for alpha in (0.3, 30.0, 1.0, 3.0, 0.01, 10.0)]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("weighted", [True, False])
def test_lasso_path_equals_single_fits(name: str, weighted: bool) -> None:
    table = TABLES[name]
    scale = alpha_max(table) / 30
    settings = [{"alpha": each["alpha"] * scale} for each in PENALTIES]
    weight = table.weight if weighted else None
    family = Family("lasso", Lasso(), [*settings, {"alpha": scale, "positive": True}])
    assert_path_equals_single_fits(family, table.X, table.y, weight=weight)


def test_lasso_path_with_dependent_columns_equals_single_fits() -> None:
    table = made(100, 10)
    X = np.column_stack([table.X, table.X])
    family = Family("lasso", Lasso(), [{"alpha": a} for a in (1.0, 0.1, 0.01)])
    assert_path_equals_single_fits(family, X, table.y)


def test_lasso_path_with_many_solutions_takes_those_of_single_fits() -> None:
    # Ties and combinations: here the path finds other solutions than cold starts do.
    rng = np.random.default_rng(38)
    X = rng.integers(-1, 2, size=(8, 20)).astype(np.float64)
    y = X[:, :4].sum(axis=1) + rng.integers(-1, 2, size=8)
    alphas = np.array([0.8, 0.3, 0.1, 0.03])
    along = lasso_solutions(X, y, None, alphas, LassoSettings())
    alone = [lasso_solutions(X, y, None, alphas[k : k + 1], LassoSettings()) for k in range(4)]
    assert np.abs(along.coef[3] - alone[3].coef[0]).max() > 0.1
    assert not along.exact[3]
    queries, rows = rng.normal(size=(5, 20)), np.arange(13)
    found = fits_along(Lasso.assay_path)(
        Lasso(),
        None,
        np.vstack([X, queries]),
        np.concatenate([y, np.zeros(5)]),
        None,
        rows[:8],
        [rows[8:]],
        [{"alpha": alpha} for alpha in alphas],
    )
    for each, single in zip(found, alone, strict=True):
        expected = queries @ single.coef[0] + single.intercept[0]
        value = each.predictions[0].value
        assert value is not None
        np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9)


def test_lasso_path_is_one_call_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return lasso_solutions(*args, **kwargs)

    monkeypatch.setattr("assay.linear._least_lasso_path.lasso_solutions", counted)
    table, rows = made(), np.arange(120)
    path = Lasso.assay_path
    found = fits_along(path)(
        Lasso(), None, table.X, table.y, None, rows[:80], [rows[80:100], rows[100:]], PENALTIES
    )
    sizes = [each.size for each in found]
    assert len(calls) == path.n_fits(PENALTIES) == 1
    assert sizes[1] == 1  # the largest penalty, second in the list
    assert sizes[4] == max(sizes) > 10  # the smallest


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": -1.0}, "alpha must be a finite number >= 0; got -1.0"),
        ({"alpha": np.inf}, "alpha must be a finite number >= 0; got inf"),
        ({"max_iter": 0}, "max_iter must be an integer"),
        ({"tol": -1}, "tol must be a number >= 0; got -1"),
        ({"selection": "cycle"}, "selection must be 'cyclic' or 'random'; got 'cycle'"),
        ({"precompute": "auto"}, "precompute must be True or False"),
        ({"precompute": np.eye(3)}, r"shape \(2, 2\); got shape \(3, 3\)"),
        ({"warm_start": 1}, "warm_start must be True or False; got 1"),
    ],
)
def test_bad_parameters_are_refused(settings: dict[str, Any], message: str) -> None:
    table = made(10, 2)
    with pytest.raises(ParameterError, match=message):
        Lasso(**settings).fit(table.X, table.y)


def test_missing_values_are_refused_dense_and_sparse() -> None:
    X = np.array([[np.nan, 1.0], [1.0, 0.0]])
    for rows in (X, csr_matrix(X)):
        with pytest.raises(DataError, match="NaN"):
            Lasso().fit(rows, [1.0, 2.0])


@pytest.mark.parametrize(
    ("name", "value"),
    [("dual_gap_", np.nan), ("n_iter_", 1.5), ("stop_reason_", "tired"), ("coef_", np.ones(3))],
)
def test_damaged_state_is_refused(name: str, value: Any) -> None:
    table = made(20, 4)
    state = Lasso(0.1).fit(table.X, table.y).state()
    with pytest.raises(DataError, match="damaged"):
        Lasso.from_state({"alpha": 0.1}, {**state, name: value})


def test_the_kernel_refuses_arrays_that_do_not_fit() -> None:
    X, none = np.ones((3, 2)), np.empty(0)
    good: dict[str, Any] = {
        "mean": np.zeros(2),
        "weights": none,
        "y": np.zeros(3),
        "l1": np.ones(1),
        "l2": np.zeros(1),
        "positive": False,
        "tol": 0.1,
        "max_sweeps": 1,
        "coef": np.zeros((1, 2)),
        "gap": np.zeros(1),
        "counts": np.zeros((1, 4), dtype=np.int32),
    }
    kernels.lasso_path(X, **good)
    wrong = {
        "mean": np.zeros(3),
        "weights": np.ones(2),
        "y": np.zeros(2),
        "l1": np.zeros(1),
        "l2": np.zeros(2),
        "max_sweeps": 0,
        "coef": np.zeros((1, 3)),
        "counts": np.zeros((1, 3), dtype=np.int32),
    }
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=name):
            kernels.lasso_path(X, **{**good, name: value})
    csr: dict[str, Any] = {"values": np.ones(1), "offsets": np.array([0, 1, 1, 1], dtype=np.int32)}
    for column in (-1, 2):
        with pytest.raises(ValueError, match="out of range"):
            kernels.sparse_lasso_path(**csr, columns=np.array([column], dtype=np.int32), **good)
