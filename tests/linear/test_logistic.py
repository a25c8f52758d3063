"""Logistic regression: scikit-learn and SciPy as oracles, invariances, optimality, errors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.preprocessing import StandardScaler

from assay._core import cpu
from assay.base import DataError, ParameterError
from assay.linear import LogisticRegression

Table = tuple[NDArray[np.float64], NDArray[np.int64]]


def scaled(load: Any) -> Table:
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


TABLES = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}
PENALTIES = [(1.0, 0.0), (0.05, 0.0), (1.0, 1.0), (0.1, 1.0), (1.0, 0.5), (30.0, 0.3)]


def loss(model: Any, X: Any, y: NDArray[Any], weight: NDArray[np.float64] | None = None) -> float:
    scores = X @ model.coef_.T + model.intercept_
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    codes = np.searchsorted(model.classes_, y)
    each = logsumexp(scores, axis=1) - scores[np.arange(len(scores)), codes]
    return float((each * (1.0 if weight is None else weight)).sum())


def objective(
    model: Any, X: Any, y: NDArray[Any], C: float, ratio: float, weight: Any = None
) -> float:
    norms = ratio * np.abs(model.coef_).sum() + (1 - ratio) / 2 * (model.coef_**2).sum()
    return float(norms + C * loss(model, X, y, weight))


def best_by_scipy(X: NDArray[np.float64], y: NDArray[Any], C: float, ratio: float) -> float:
    """The minimum by L-BFGS-B: w = u - v with u, v >= 0 turns the L1 norm into a sum."""
    K, p = len(np.unique(y)), X.shape[1]
    K = 1 if K == 2 else K
    size = K * p

    def value(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        u, v, b = flat[:size], flat[size : 2 * size], flat[2 * size :]
        W = (u - v).reshape(K, p)
        F = X @ W.T + b
        F = np.column_stack([np.zeros(len(F)), F]) if K == 1 else F
        top = logsumexp(F, axis=1)
        R = np.exp(F - top[:, None])
        each = top - F[np.arange(len(F)), y]
        R[np.arange(len(F)), y] -= 1
        R = R[:, -K:]
        total = C * each.sum() + ratio * (u + v).sum() + (1 - ratio) / 2 * (W**2).sum()
        slope = (C * R.T @ X + (1 - ratio) * W).ravel()
        return float(total), np.concatenate([slope + ratio, ratio - slope, C * R.sum(axis=0)])

    bounds = [(0, None)] * (2 * size) + [(None, None)] * K
    found = minimize(
        value,
        np.zeros(2 * size + K),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-9},
    )
    return float(found.fun)


# --- oracles


@pytest.mark.parametrize("name", TABLES)
def test_logistic_has_the_coefficients_of_scikit_learn(name: str) -> None:
    X, y = scaled(TABLES[name])
    ours = LogisticRegression(C=0.5).fit(X, y)
    peer = Peer(C=0.5, solver="newton-cholesky", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-7)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-7)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-8)
    assert (ours.predict(X) == peer.predict(X)).all()


@pytest.mark.parametrize(("C", "ratio"), PENALTIES)
@pytest.mark.parametrize("name", ["iris", "cancer"])
def test_logistic_objective_is_not_above_scipys(name: str, C: float, ratio: float) -> None:
    X, y = scaled(TABLES[name])
    best = best_by_scipy(X, y, C, ratio)
    for table in (X, sparse.csr_matrix(X)):
        model = LogisticRegression(C=C, l1_ratio=ratio).fit(table, y)
        reached = objective(model, X, y, C, ratio)
        assert reached <= best * (1 + 1e-9)
        assert reached >= best * (1 - 1e-4)  # and SciPy was near


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_logistic_objective_is_not_above_liblinears(ratio: float) -> None:
    X, y = scaled(load_breast_cancer)
    ours = LogisticRegression(C=0.3, l1_ratio=ratio, fit_intercept=False).fit(X, y)
    peer = Peer(C=0.3, l1_ratio=ratio, solver="liblinear", tol=1e-8, fit_intercept=False).fit(X, y)
    assert objective(ours, X, y, 0.3, ratio) <= objective(peer, X, y, 0.3, ratio) * (1 + 1e-9)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)


def test_logistic_without_penalty_is_maximum_likelihood() -> None:
    X, y = make_classification(300, 4, n_informative=3, n_redundant=0, flip_y=0.3, random_state=0)
    ours = LogisticRegression(C=np.inf).fit(X, y)
    p = ours.predict_proba(X)[:, 1]
    np.testing.assert_allclose(X.T @ (p - y), 0, atol=1e-9)  # B25: the gradient X'(sigma - t)
    assert p.mean() == pytest.approx(y.mean(), abs=1e-12)


def test_logistic_log_odds_are_linear() -> None:
    X, y = scaled(load_breast_cancer)
    model = LogisticRegression().fit(X, y)
    p = model.predict_log_proba(X)
    np.testing.assert_allclose(p[:, 1] - p[:, 0], X @ model.coef_[0] + model.intercept_, atol=1e-9)
    X, y = scaled(load_iris)
    model = LogisticRegression().fit(X, y)
    p = model.predict_log_proba(X)
    odds = (X @ (model.coef_[2] - model.coef_[0])) + model.intercept_[2] - model.intercept_[0]
    np.testing.assert_allclose(p[:, 2] - p[:, 0], odds, atol=1e-10)


def test_old_and_new_ways_to_name_a_penalty_agree() -> None:
    X, y = scaled(load_iris)
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"penalty": "l2", "l1_ratio": 0.7}, {}),
        ({"penalty": "l2", "l1_ratio": None}, {"penalty": "deprecated"}),
        ({"penalty": "l1"}, {"l1_ratio": 1.0}),
        ({"penalty": "elasticnet", "l1_ratio": 0.4}, {"l1_ratio": 0.4}),
    ]
    for old, new in pairs:
        a, b = (LogisticRegression(**each).fit(X, y) for each in (old, new))
        assert np.array_equal(a.coef_, b.coef_)
    X, y = make_classification(200, 3, n_redundant=0, flip_y=0.4, random_state=1)
    a, b = LogisticRegression(penalty=None).fit(X, y), LogisticRegression(C=np.inf).fit(X, y)
    assert np.array_equal(a.coef_, b.coef_)


# --- invariance


@pytest.mark.parametrize("ratio", [0.0, 1.0])
@pytest.mark.parametrize("name", ["iris", "cancer"])
def test_every_solver_and_layout_finds_the_same(name: str, ratio: float) -> None:
    X, y = scaled(TABLES[name])
    base = LogisticRegression(l1_ratio=ratio).fit(X, y).predict_proba(X)
    tables = [X, np.asfortranarray(X), sparse.csr_matrix(X), sparse.csc_matrix(X)]
    tables.append(sparse.csr_array(X))
    for solver in ("newton-cholesky", "newton-cg", "lbfgs", "liblinear", "sag", "saga"):
        model = LogisticRegression(l1_ratio=ratio, solver=solver)
        for table in tables:
            np.testing.assert_allclose(model.fit(table, y).predict_proba(X), base, atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([2, 3]))
def test_weights_are_copies_and_order_does_not_matter(seed: int, ratio: float, K: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    y = rng.integers(0, K, 60)
    y[:K] = np.arange(K)
    weight = rng.integers(0, 4, 60).astype(float)
    weight[:K] = 1
    model = LogisticRegression(l1_ratio=ratio, C=0.7)
    weighted = model.fit(X, y, weight).predict_proba(X)
    rows = rng.permutation(np.repeat(np.arange(60), weight.astype(int)))
    copied = clone(model).fit(X[rows], y[rows]).predict_proba(X)
    np.testing.assert_allclose(weighted, copied, atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.floats(-6, 6), st.floats(-6, 6))
def test_shifted_columns_change_the_intercept_only(seed: int, shift: float, power: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    y[:2] = 0, 1
    a = LogisticRegression().fit(X, y)
    b = LogisticRegression().fit(X + shift * 100, y)
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-8)
    # A column times s with the penalty's C divided by s^2 has the coefficients divided by s.
    s = 10.0**power
    c = LogisticRegression(C=1 / s**2).fit(X * s, y)
    np.testing.assert_allclose(a.coef_, c.coef_ * s, atol=1e-8)


def test_labels_may_be_anything_and_keep_their_order() -> None:
    X, y = scaled(load_iris)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LogisticRegression().fit(X, names)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert np.array_equal(model.coef_, LogisticRegression().fit(X, y).coef_)
    assert (model.predict(X) == names).mean() > 0.95


def test_threads_and_cpu_level_do_not_change_a_bit() -> None:
    X, y = make_classification(9000, 12, n_classes=3, n_informative=6, random_state=0)
    for table in (X, sparse.csr_matrix(X)):
        for ratio in (0.0, 1.0):
            model = LogisticRegression(l1_ratio=ratio)
            one = model.fit(table, y).coef_
            assert np.array_equal(one, clone(model).set_params(n_jobs=2).fit(table, y).coef_)
    level = cpu.level()
    one = LogisticRegression().fit(X, y).coef_
    try:
        for cap in ("baseline", "avx2"):
            cpu.limit(cap)
            assert np.array_equal(one, LogisticRegression().fit(X, y).coef_)
    finally:
        cpu.limit(None)
    assert cpu.level() == level


def test_float32_rows_are_taken_as_they_are() -> None:
    X, y = scaled(load_breast_cancer)
    X32 = X.astype(np.float32)
    a, b = (LogisticRegression().fit(table, y) for table in (X32, X32.astype(np.float64)))
    assert np.array_equal(a.coef_, b.coef_)
    np.testing.assert_allclose(a.predict_proba(X32), b.predict_proba(X32), atol=1e-12)
    s = LogisticRegression().fit(sparse.csr_matrix(X32), y)
    np.testing.assert_allclose(a.coef_, s.coef_, atol=1e-9)


def test_warm_start_ends_at_the_same_solution() -> None:
    X, y = scaled(load_iris)
    for ratio in (0.0, 1.0):
        cold = LogisticRegression(C=3.0, l1_ratio=ratio).fit(X, y)
        warm = LogisticRegression(C=0.01, l1_ratio=ratio, warm_start=True).fit(X, y)
        warm.set_params(C=3.0).fit(X, y)
        np.testing.assert_allclose(warm.predict_proba(X), cold.predict_proba(X), atol=1e-10)
        warm.fit(X, y)
        assert warm.n_iter_[0] <= 2
        warm.fit(X[:, :2], y)  # another table: the old coefficients do not fit, and are left
        assert warm.coef_.shape == (3, 2)


def test_class_weights_multiply_sample_weights() -> None:
    X, y = scaled(load_iris)
    weight = np.linspace(0.5, 2, len(y))
    by_dict = LogisticRegression(class_weight={0: 3.0}).fit(X, y, weight)
    by_rows = LogisticRegression().fit(X, y, weight * np.where(y == 0, 3.0, 1.0))
    np.testing.assert_allclose(by_dict.coef_, by_rows.coef_, atol=1e-10)
    keep = np.concatenate([np.arange(50), np.arange(50, 150, 3)])
    ours = LogisticRegression(class_weight="balanced").fit(X[keep], y[keep])
    peer = Peer(class_weight="balanced", solver="newton-cholesky", tol=1e-11)
    np.testing.assert_allclose(ours.coef_, peer.fit(X[keep], y[keep]).coef_, atol=1e-7)


# --- optimality


@pytest.mark.parametrize(("C", "ratio"), PENALTIES)
@pytest.mark.parametrize("name", TABLES)
def test_solution_meets_the_conditions_of_optimality(name: str, C: float, ratio: float) -> None:
    X, y = scaled(TABLES[name])
    model = LogisticRegression(C=C, l1_ratio=ratio).fit(X, y)
    P = model.predict_proba(X)
    P[np.arange(len(y)), y] -= 1
    R = P[:, -len(model.coef_) :]
    gradient = C * R.T @ X + (1 - ratio) * model.coef_
    zero = model.coef_ == 0
    assert (np.abs(gradient[zero]) <= ratio + 1e-8).all()
    np.testing.assert_allclose(gradient[~zero], -ratio * np.sign(model.coef_[~zero]), atol=1e-8)
    np.testing.assert_allclose(R.sum(axis=0), 0, atol=1e-9)
    assert model.stop_reason_ == "converged"
    assert model.gradient_norm_ < 1e-10
    if ratio:
        assert model.duality_gap_ is not None
        assert 0 <= model.duality_gap_ < 1e-12


def test_gradient_agrees_with_finite_differences() -> None:
    X, y = make_classification(80, 3, n_redundant=0, random_state=2)
    rng = np.random.default_rng(0)
    for _ in range(5):
        w, b = rng.normal(size=3), rng.normal()  # B25: Gaussian random start

        def value(w: NDArray[np.float64], b: float) -> float:
            f = X @ w + b
            return float(np.logaddexp(0, np.where(y == 1, -f, f)).sum())

        residual = 1 / (1 + np.exp(-(X @ w + b))) - y
        for j in range(3):
            step = np.eye(3)[j] * 1e-6
            slope = (value(w + step, b) - value(w - step, b)) / 2e-6
            assert slope == pytest.approx(X[:, j] @ residual, rel=1e-6, abs=1e-6)


# --- edges


def test_columns_of_very_different_size_are_no_trouble() -> None:
    X, y = load_wine(return_X_y=True)
    X = X * 10.0 ** np.linspace(-6, 6, X.shape[1]) + 1e6 * (np.arange(X.shape[1]) == 4)
    for C in (1.0, 1e4):
        model = LogisticRegression(C=C).fit(X, y)
        assert model.stop_reason_ == "converged"
        assert np.isfinite(model.coef_).all()
    assert model.score(X, y) == 1


def test_collinear_constant_and_one_hot_columns_are_no_trouble() -> None:
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 4, 300)
    x = rng.normal(size=300)
    X = np.column_stack([np.eye(4)[levels], x, 2 * x, np.ones(300), np.zeros(300)])
    y = ((levels == 1) | (x + rng.normal(size=300) > 1)).astype(int) + (levels == 3)
    for C, ratio in [(1.0, 0.0), (1e8, 0.0), (1.0, 1.0), (np.inf, 0.0)]:
        for table in (X, sparse.csr_matrix(X)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # one level may be pure
                model = LogisticRegression(C=C, l1_ratio=ratio).fit(table, y)
            assert np.isfinite(model.coef_).all()
            assert model.stop_reason_ in ("converged", "separated")


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n", [40, 200])
def test_many_more_columns_than_rows_have_the_solution_of_the_sparse_route(
    n: int, n_classes: int, intercept: bool
) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 300))
    X[:, 200:] = X[:, :100]  # copies of columns
    X[n - 10 :] = X[:10]  # and of rows
    y, weight = rng.integers(0, n_classes, n), rng.uniform(0.1, 3, n)
    # Of 200 rows and C = 1e3 the sparse route leaves a gradient of 2e-12, too much to be an oracle.
    for C in (1e-3, 1.0, 1e3 if n == 40 else 10.0):
        dense, by_column = (
            LogisticRegression(C=C, fit_intercept=intercept).fit(table, y, weight)
            for table in (X, sparse.csr_matrix(X))
        )
        scale = np.abs(by_column.coef_).max()
        np.testing.assert_allclose(dense.coef_, by_column.coef_, rtol=0, atol=1e-8 * scale)
        # Of three classes, a constant for all changes nothing.
        one, other = (
            m.intercept_ - (n_classes > 2) * m.intercept_.mean() for m in (dense, by_column)
        )
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)
        excess = dense.predict_proba(X)
        excess[np.arange(n), y] -= 1
        excess = (excess * weight[:, None])[:, -len(dense.coef_) :]
        gradient = (excess.T @ X + dense.coef_ / C) / weight.sum()
        largest = max(np.abs(gradient).max(), intercept * np.abs(excess.sum(0)).max() / n)
        assert dense.gradient_norm_ < 1e-11
        assert dense.gradient_norm_ >= largest / 2
        assert dense.stop_reason_ == "converged"


def test_many_columns_warm_start_ends_where_a_cold_one_does() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 200)), rng.integers(0, 2, 30)
    cold = LogisticRegression().fit(X, y)
    warm = LogisticRegression(C=0.5, warm_start=True).fit(X, y).set_params(C=1.0).fit(X, y)
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=0, atol=1e-10)
    again = warm.fit(X, y)
    assert again.n_iter_ <= 1


def test_many_columns_and_too_few_steps_are_warned_of() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 200)), rng.integers(0, 2, 30)
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=1 steps"):
        model = LogisticRegression(C=1e4, max_iter=1).fit(X, y)
    assert model.stop_reason_ == "max_iter"
    assert model.gradient_norm_ > 1e-4


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2000))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    for ratio in (0.0, 1.0, 0.5):
        model = LogisticRegression(l1_ratio=ratio).fit(X, y)
        assert model.stop_reason_ == "converged"
        assert model.gradient_norm_ < 1e-9
        assert model.score(X, y) == 1
    assert np.count_nonzero(LogisticRegression(l1_ratio=1).fit(X, y).coef_) < 30


def test_sparse_text_like_table_with_many_columns() -> None:
    rng = np.random.default_rng(0)
    X = sparse.random(400, 3000, 0.01, format="csr", random_state=0)
    y = (np.asarray(X[:, :1500].sum(axis=1)).ravel() + rng.normal(size=400) > 8).astype(int)
    for ratio in (0.0, 1.0):
        model = LogisticRegression(C=10, l1_ratio=ratio).fit(X, y)
        assert model.stop_reason_ == "converged"
        P = model.predict_proba(X)[:, 1] - y
        gradient = 10 * (X.T @ P) + (1 - ratio) * model.coef_[0]
        zero = model.coef_[0] == 0
        assert (np.abs(gradient[zero]) <= ratio + 1e-7).all()
        assert np.abs(gradient[~zero] + ratio * np.sign(model.coef_[0][~zero])).max() < 1e-7


def test_certain_rows_keep_finite_logarithms() -> None:
    model = LogisticRegression(C=1e6).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    logs = model.predict_log_proba([[1e4], [-1e4]])
    assert np.isfinite(logs).all()
    assert logs.min() < -1e4


def test_sparsify_and_densify_do_not_change_predictions() -> None:
    X, y = scaled(load_iris)
    model = LogisticRegression(l1_ratio=1.0, C=0.2).fit(X, y)
    before = model.predict_proba(X)
    assert sparse.issparse(model.sparsify().coef_)
    for table in (X, sparse.csr_matrix(X)):
        np.testing.assert_allclose(model.predict_proba(table), before, atol=1e-13)
    assert isinstance(model.densify().coef_, np.ndarray)
    assert np.array_equal(model.densify().predict_proba(X), before)


def test_separated_classes_without_penalty_warn_and_stop() -> None:
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    with pytest.warns(ConvergenceWarning, match="the classes are separated"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.stop_reason_ == "separated"
    assert np.isfinite(model.coef_).all()
    assert model.score(X, y) == 1
    X, y = scaled(load_iris)
    with pytest.warns(ConvergenceWarning, match="the classes are separated"):
        LogisticRegression(penalty=None).fit(X, y)


def test_partly_separated_classes_warn_too() -> None:
    X = np.array([[0.0], [0.0], [1.0], [1.0]] * 10)  # x = 1 means class 1 for sure
    y = np.array([0, 1, 1, 1] * 10)
    with pytest.warns(ConvergenceWarning, match="or in some direction"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.predict_proba([[0.0]])[0, 1] == pytest.approx(0.5, abs=1e-6)


def test_no_penalty_in_high_dimension_warns() -> None:
    rng = np.random.default_rng(0)
    with pytest.warns() as caught:
        LogisticRegression(C=np.inf).fit(rng.normal(size=(10, 20)), [0, 1] * 5)
    messages = [str(each.message) for each in caught]
    assert any("20 columns for 10 rows" in each for each in messages)
    assert any("separated" in each for each in messages)


def test_too_few_steps_warn_with_the_remedy() -> None:
    X, y = scaled(load_iris)
    with pytest.warns(ConvergenceWarning, match="max_iter=2 steps .*Raise max_iter"):
        model = LogisticRegression(max_iter=2).fit(X, y)
    assert model.stop_reason_ == "max_iter"
    assert model.n_iter_.tolist() == [2]


# --- errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C must be a number > 0; got 0"),
        ({"C": -1.0}, "C must be a number > 0; got -1.0"),
        ({"C": np.nan}, "C must be a number > 0; got nan"),
        ({"l1_ratio": 1.5}, "l1_ratio must be a number in [0, 1] or None; got 1.5"),
        ({"l1_ratio": -0.1}, "l1_ratio must be a number in [0, 1] or None; got -0.1"),
        ({"penalty": "l3"}, "penalty must be 'auto', 'l1', 'l2', 'elasticnet', None or 'depr"),
        ({"penalty": "elasticnet", "l1_ratio": None}, "penalty='elasticnet' needs l1_ratio"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1; got 0"),
        ({"tol": 0.0}, "tol must be a finite number > 0; got 0.0"),
        ({"solver": "lbfg"}, "got 'lbfg'; did you mean 'lbfgs'?"),
        ({"class_weight": {7: 1.0}}, "class_weight must name classes of y; got 7"),
        ({"class_weight": {0: -1.0}}, "class_weight must hold finite numbers > 0"),
        ({"class_weight": "even"}, "class_weight must be 'balanced' or None; got 'even'"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        LogisticRegression(**params).fit([[0.0], [1.0]], [0, 1])
    assert message in str(error.value)


def test_one_class_is_refused() -> None:
    with pytest.raises(DataError, match="needs at least 2 classes in y; got one class"):
        LogisticRegression().fit([[0.0], [1.0]], ["a", "a"])


def test_a_class_without_weight_is_refused() -> None:
    with pytest.raises(DataError, match="all rows of class 1 have weight 0"):
        LogisticRegression().fit([[0.0], [1.0]], [0, 1], [1.0, 0.0])


@pytest.mark.parametrize("sparse_too", [False, True])
def test_missing_values_are_refused(sparse_too: bool) -> None:
    X: Any = np.array([[0.0], [np.nan]])
    with pytest.raises(DataError, match="NaN"):
        LogisticRegression().fit(sparse.csr_matrix(X) if sparse_too else X, [0, 1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coef_", np.zeros((2, 4))),
        ("coef_", np.full((3, 4), np.nan)),
        ("intercept_", np.zeros(2)),
        ("classes_", np.array([0])),
        ("n_iter_", np.array([-1])),
        ("stop_reason_", "bored"),
        ("gradient_norm_", "small"),
    ],
)
def test_a_damaged_state_is_refused(name: str, value: Any) -> None:
    X, y = scaled(load_iris)
    state = {**LogisticRegression().fit(X, y).state(), name: value}
    with pytest.raises(DataError, match="the model is damaged"):
        LogisticRegression.from_state({}, state)
