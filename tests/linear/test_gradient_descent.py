"""Gradient descent: every loss with every penalty by every method."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_array
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, HuberRegressor, Lasso, LogisticRegression, Ridge

from assay.base import DataError, ParameterError
from assay.linear import (
    GradientDescentClassifier,
    GradientDescentRegressor,
    LinearSVC,
    learning_rate,
)
from assay.linear._losses import LOSSES, REGRESSION_LOSSES, loss_terms
from assay.linear._penalties import PENALTIES, Penalty

Floats = NDArray[np.float64]
SMOOTH = [name for name in LOSSES if name not in ("hinge", "absolute", "squared_logistic")]
ALPHA, P = 0.03, 1.5


def table(n: int = 200, d: int = 6, seed: int = 0, zeros: bool = False) -> tuple[Floats, Floats]:
    X, y = make_classification(n, d, n_informative=4, n_redundant=1, flip_y=0.1, random_state=seed)
    return (np.where(np.abs(X) < 0.5, 0.0, X) if zeros else X), 2.0 * y - 1.0


def objective(loss: str, penalty: str | None, X: Any, y: Floats, w: Floats, b: float) -> float:
    value = loss_terms(loss, y, np.asarray(X @ w + b))[0].mean()
    return float(value + Penalty.of(penalty, ALPHA, 0.5, P).value(w))


def classifier(loss: str, penalty: str | None, **params: Any) -> GradientDescentClassifier:
    return GradientDescentClassifier(loss, penalty=penalty, alpha=ALPHA, p=P, **params)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", SMOOTH)
def test_batch_and_coordinate_reach_the_minimum_of_scipy(loss: str, penalty: str | None) -> None:
    X, y = table()

    def split(v: Floats) -> float:  # w = plus - minus makes the penalty smooth for SciPy
        w = v[:6] - v[6:12]
        kinked = penalty in ("l1", "elasticnet")
        value = loss_terms(loss, y, X @ w + v[12])[0].mean()
        if kinked:
            share = {"l1": 1.0, "elasticnet": 0.5}[str(penalty)]
            return float(value + ALPHA * (share * v[:12].sum() + (1 - share) / 2 * (w @ w)))
        return float(value + Penalty.of(penalty, ALPHA, 0.5, P).value(w))

    bounds = [(0, None)] * 12 + [(None, None)]
    start = np.full(13, 0.1)
    best = minimize(split, start, bounds=bounds, method="L-BFGS-B", options={"maxiter": 3000})
    for method in ("batch", "coordinate"):
        model = classifier(loss, penalty, method=method, random_state=0).fit(X, y)
        found = objective(loss, penalty, X, y, model.coef_[0], model.intercept_[0])
        assert found == pytest.approx(model.loss_history_[-1], rel=1e-12)
        assert found <= best.fun * (1 + 1e-6)
        assert model.stop_reason_ == "converged"


def test_named_combinations_match_scikit_learn() -> None:
    X, y = make_regression(150, 8, noise=5.0, random_state=0)
    y = y / 50
    alpha = 0.05
    pairs: list[tuple[dict[str, Any], Any]] = [
        ({"penalty": "l2"}, Ridge(alpha=alpha * 150)),
        ({"penalty": "l1"}, Lasso(alpha=alpha, tol=1e-10)),
        (
            {"penalty": "elasticnet", "l1_ratio": 0.3},
            ElasticNet(alpha=alpha, l1_ratio=0.3, tol=1e-10),
        ),
        ({"penalty": None}, Ridge(alpha=0)),
    ]
    for params, peer in pairs:
        model = GradientDescentRegressor(alpha=alpha, tol=1e-8, **params).fit(X, y)
        peer.fit(X, y)
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
        np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-4)
    X, labels = table()
    ours = GradientDescentClassifier(alpha=0.1, tol=1e-8).fit(X, labels)
    theirs = LogisticRegression(C=1 / (0.1 * len(X)), tol=1e-10).fit(X, labels)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_huber_resists_what_moves_the_squared_loss() -> None:
    X = np.linspace(-1, 1, 60)[:, None]
    y = 2 * X[:, 0]
    y[:3] += 100
    huber = GradientDescentRegressor("huber", delta=0.1, penalty=None).fit(X, y)
    squared = GradientDescentRegressor(penalty=None).fit(X, y)
    assert abs(huber.coef_[0] - 2) < 0.2 < 5 < abs(squared.coef_[0] - 2)
    assert HuberRegressor(alpha=0).fit(X, y).coef_[0] == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("method", ["batch", "coordinate", "stochastic", "minibatch"])
def test_dense_and_sparse_rows_give_the_same_model(loss: str, method: str) -> None:
    X, y = table(80, zeros=True)
    for penalty in ("l1", "l2"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            models = [
                classifier(loss, penalty, method=method, max_iter=20, random_state=3).fit(rows, y)
                for rows in (X, csr_array(X), X.astype(np.float32).astype(np.float64, order="F"))
            ]
        np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=1e-8)
        np.testing.assert_allclose(models[0].coef_, models[2].coef_, atol=1e-3)


def test_one_stochastic_step_is_the_rule_of_the_documents() -> None:
    # Exponential loss: w += eta y x exp(-y f), b += eta y exp(-y f).
    model = GradientDescentClassifier(
        "exponential", penalty=None, method="stochastic", schedule="constant", eta0=0.1
    )
    X, y = np.array([[2.0, -1.0]]), np.array([1])
    model.partial_fit(X, y, classes=[0, 1])
    np.testing.assert_allclose(model.coef_, [[0.2, -0.1]])
    np.testing.assert_allclose(model.intercept_, [0.1])
    c = 0.1 * np.exp(-(0.4 + 0.1 + 0.1))
    model.partial_fit(X, y)
    np.testing.assert_allclose(model.coef_, [[0.2 + 2 * c, -0.1 - c]])
    np.testing.assert_allclose(model.intercept_, [0.1 + c])


def test_one_step_of_a_logistic_unit_on_squared_loss_is_that_of_the_book() -> None:
    model = GradientDescentClassifier(
        "squared_logistic", penalty=None, method="stochastic", schedule="constant", eta0=1.0
    )
    model.partial_fit([[3.0]], [0], classes=[0, 1])
    h = 0.5
    np.testing.assert_allclose(model.coef_, [[(0 - h) * h * (1 - h) * 3.0]])


@pytest.mark.parametrize("schedule", ["constant", "inverse_time", "slow", "inverse_scaling"])
def test_stochastic_descent_follows_its_schedule(schedule: str) -> None:
    # The score stays at the kink's far side, so each step is exactly eta_t.
    model = GradientDescentClassifier(
        "hinge",
        penalty=None,
        method="stochastic",
        schedule=schedule,
        eta0=1e-3,
        fit_intercept=False,
    )
    for _ in range(5):
        model.partial_fit([[1.0]], [1], classes=[0, 1])
    steps = [learning_rate(schedule, t, eta0=1e-3) for t in range(5)]
    np.testing.assert_allclose(model.coef_, [[sum(steps)]], rtol=1e-12)
    assert model.t_ == 5


@pytest.mark.parametrize("loss", [*SMOOTH, "hinge"])
def test_stochastic_methods_come_near_the_minimum(loss: str) -> None:
    X, y = table(300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = classifier(loss, "l2").fit(X, y).loss_history_.min()
        for method in ("stochastic", "minibatch"):
            model = classifier(loss, "l2", method=method, max_iter=150, batch_size=8)
            model.set_params(random_state=0, average=True).fit(X, y)
            assert model.loss_history_.min() <= 1.05 * best + 1e-3


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_batch_reaches_the_kinked_minimum_of_the_hinge(penalty: str) -> None:
    X, y = table()
    C = 1 / (ALPHA * len(X))
    exact = LinearSVC(penalty, "hinge", C=C, fit_intercept=False).fit(X, y)
    model = classifier("hinge", penalty, fit_intercept=False, max_iter=50_000).fit(X, y)
    assert model.loss_history_.min() <= exact.objective_[0] * ALPHA * (1 + 1e-6)
    assert model.stop_reason_ in ("converged", "no_decrease")
    best = objective("hinge", penalty, X, y, model.coef_[0], 0.0)
    assert best == pytest.approx(model.loss_history_.min(), rel=1e-12)


def test_batch_reaches_the_least_absolute_deviations_of_a_linear_program() -> None:
    X, _ = table()
    n, d = X.shape
    y = X @ np.arange(d) + np.random.default_rng(0).standard_t(2, n)
    rows = np.column_stack([X, np.ones(n)])
    cost = np.concatenate([np.zeros(2 * d + 2), np.ones(n) / n])
    above = np.block([[rows, -rows, -np.eye(n)], [-rows, rows, -np.eye(n)]])
    best = linprog(cost, A_ub=above, b_ub=np.concatenate([y, -y]))
    model = GradientDescentRegressor("absolute", penalty=None, max_iter=50_000).fit(X, y)
    assert np.abs(y - model.predict(X)).mean() <= best.fun * (1 + 1e-6)


def test_scheduled_subgradient_steps_approach_a_kinked_minimum() -> None:
    X, y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = classifier("hinge", "l2", schedule="inverse_scaling", eta0=1.0, max_iter=4000)
        model.set_params(n_iter_no_change=4000).fit(X, y)

    def cost(v: Floats) -> float:
        return objective("hinge", "l2", X, y, v[:6], v[6])

    point = np.append(model.coef_[0], model.intercept_)
    rng = np.random.default_rng(0)
    best = min(
        minimize(cost, point + 0.01 * rng.standard_normal(7), method="Nelder-Mead").fun
        for _ in range(3)
    )
    assert cost(point) <= best * 1.01


def test_l1_makes_weights_zero_and_large_p_makes_them_alike() -> None:
    X, y = make_regression(100, 10, n_informative=3, random_state=1)
    y = y / y.std()
    sparse = GradientDescentRegressor(penalty="l1", alpha=0.2).fit(X, y)
    assert 0 < np.count_nonzero(sparse.coef_) <= 5
    alike = GradientDescentRegressor(penalty="lp", p=8.0, alpha=50.0).fit(X, y)
    plain = GradientDescentRegressor(penalty="l2", alpha=0.5).fit(X, y)
    spread = [np.abs(m.coef_).max() / np.abs(m.coef_).mean() for m in (alike, plain)]
    assert spread[0] < spread[1]


def test_the_literal_norm_is_zero_beyond_its_dual_bound() -> None:
    X, y = table()
    gradient = X.T @ (y - y.mean()) / len(y) / 2
    bound = float(np.linalg.norm(gradient))  # at w = 0 with the best intercept, for q = 2
    for factor, zero in ((1.1, True), (0.9, False)):
        model = GradientDescentClassifier(penalty="norm", alpha=factor * bound, p=2.0).fit(X, y)
        assert bool(np.abs(model.coef_).max() < 1e-6) is zero


def test_the_history_never_rises_and_starts_at_the_start() -> None:
    X, y = table()
    model = GradientDescentClassifier(penalty=None).fit(X, y)
    assert model.loss_history_[0] == pytest.approx(np.log(2))
    assert (np.diff(model.loss_history_) <= 0).all()
    wrong = (y * model.decision_function(X) <= 0).mean()
    assert model.zero_one_history_[-1] == pytest.approx(wrong)
    assert len(model.loss_history_) == model.n_iter_ + 1


@given(st.integers(0, 10_000), st.floats(0.1, 10.0))
@settings(max_examples=15, deadline=None)
def test_scaled_columns_scale_the_weights(seed: int, scale: float) -> None:
    X, y = table(60, 5, seed % 7)
    factors = np.array([scale, 1.0, 1 / scale, 2.0, 1.0])
    plain = GradientDescentClassifier(penalty=None, loss="squared", tol=1e-9).fit(X, y)
    scaled = GradientDescentClassifier(penalty=None, loss="squared", tol=1e-9).fit(X * factors, y)
    np.testing.assert_allclose(scaled.coef_ * factors, plain.coef_, atol=1e-5)


def test_weights_are_repeated_rows() -> None:
    X, y = table(60)
    weight = np.arange(60) % 3
    repeated = np.repeat(np.arange(60), weight)
    for method in ("batch", "coordinate"):
        model = classifier("logistic", "l2", method=method, tol=1e-8, random_state=0)
        one = model.fit(X, y, sample_weight=weight).coef_
        two = model.fit(X[repeated], y[repeated]).coef_
        np.testing.assert_allclose(one, two, atol=1e-6)


def test_class_weights_are_row_weights() -> None:
    X, y = table(60)
    one = GradientDescentClassifier(class_weight={-1.0: 1.0, 1.0: 3.0}, tol=1e-9).fit(X, y)
    two = GradientDescentClassifier(tol=1e-9).fit(X, y, sample_weight=np.where(y > 0, 3.0, 1.0))
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-6)


def test_several_classes_are_one_against_the_others() -> None:
    X, y = make_classification(
        150, 5, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    model = GradientDescentClassifier(alpha=0.01, tol=1e-8).fit(X, y)
    for k in range(3):
        binary = GradientDescentClassifier(alpha=0.01, tol=1e-8).fit(X, y == k)
        np.testing.assert_allclose(model.coef_[k], binary.coef_[0], atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("method", ["batch", "coordinate", "stochastic"])
def test_threads_do_not_change_the_model(method: str) -> None:
    X, y = make_classification(90, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    models = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for n_jobs in (1, 2):
            model = GradientDescentClassifier(method=method, max_iter=20, random_state=0)
            models.append(model.set_params(n_jobs=n_jobs).fit(X, y).digest())
    assert models[0] == models[1]


def test_partial_fit_continues_as_one_run() -> None:
    X, y = table()
    for average in (False, True):
        parts = GradientDescentClassifier(
            method="minibatch", batch_size=200, schedule="slow", eta0=0.5, shuffle=False
        ).set_params(average=average)
        whole = GradientDescentClassifier(**parts.get_params()).set_params(max_iter=4)
        for _ in range(4):
            parts.partial_fit(X, y, classes=[-1.0, 1.0])
        with pytest.warns(ConvergenceWarning):
            whole.fit(X, y)
        np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-12)
        np.testing.assert_allclose(parts.loss_history_, whole.loss_history_, rtol=1e-12)


def test_a_start_exactly_on_a_saddle_is_reported_and_one_beside_it_escapes() -> None:
    # One column, no intercept: the mean loss has a maximum between two basins.
    X = np.array([[1.0], [1.0], [1.0], [8.0]])
    y = np.array([1, 1, 1, 0])

    def slope(w: float) -> float:
        labels = np.array([1.0, 1.0, 1.0, -1.0])
        return float((loss_terms("squared_logistic", labels, X[:, 0] * w)[1] * X[:, 0]).sum())

    grid = np.linspace(-2, 4, 6001)
    slopes = np.array([slope(w) for w in grid])
    at = np.flatnonzero((slopes[:-1] > 0) & (slopes[1:] <= 0))[0]
    low, high = grid[at], grid[at + 1]
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    model = GradientDescentClassifier("squared_logistic", penalty=None, fit_intercept=False)
    with pytest.warns(ConvergenceWarning, match="saddle point"):
        model.fit(X, y, coef_init=[[low]])
    assert model.stop_reason_ == "saddle"
    assert model.curvature_ < 0
    assert model.n_iter_ == 0
    beside = GradientDescentClassifier(**model.get_params())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        beside.fit(X, y, coef_init=[[low + 0.05]])
    assert beside.loss_history_[-1] < model.loss_history_[-1] - 1e-3
    assert beside.stop_reason_ != "saddle"


def test_a_normal_start_is_random_and_reaches_the_same_minimum() -> None:
    X, y = table()
    models = [
        GradientDescentClassifier(init="normal", alpha=0.01, random_state=seed, tol=1e-8).fit(X, y)
        for seed in (0, 1)
    ]
    assert models[0].loss_history_[0] != models[1].loss_history_[0]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=1e-4)


def test_divergence_is_told_and_leaves_finite_weights() -> None:
    X, y = make_regression(50, 3, random_state=0)
    model = GradientDescentRegressor(method="stochastic", schedule="constant", eta0=1e6)
    with pytest.warns(ConvergenceWarning, match="diverged"):
        model.fit(X, y)
    assert model.stop_reason_ == "diverged"
    assert np.isfinite(model.coef_).all()


def test_too_few_iterations_warn_with_the_gradient_reached() -> None:
    X, y = table()
    with pytest.warns(ConvergenceWarning, match="max_iter=2 iterations: the gradient is"):
        GradientDescentClassifier(max_iter=2).fit(X, y)


def test_no_penalty_in_high_dimension_and_perfect_separation_warn() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 30)), np.arange(20) % 2
    with pytest.warns(UserWarning, match="30 columns for 20 rows"):
        GradientDescentClassifier("squared_hinge", penalty=None).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="separated perfectly"):
        GradientDescentClassifier(penalty=None).fit([[0.0], [1.0], [3.0]], [0, 0, 1])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "log"}, "loss must be 'squared'"),
        ({"penalty": "lq"}, "penalty must be None, 'l1'"),
        ({"p": 0.5}, "p must be a finite number >= 1; got 0.5"),
        ({"schedule": "fast"}, "schedule must be 'auto', 'constant'"),
        ({"eta0": 0.0}, "eta0 must be a finite number > 0 or 'auto'; got 0.0"),
        ({"alpha": -1.0}, "alpha must be a finite number >= 0; got -1.0"),
        ({"method": "stochastic", "schedule": "line_search"}, "schedule must not be 'line_search'"),
        ({"average": True}, "average must be False unless method"),
        ({"batch_size": 0}, "batch_size must be an integer >= 1; got 0"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    X, y = table(20)
    with pytest.raises(ParameterError) as error:
        GradientDescentClassifier(**params).fit(X, y)
    assert str(error.value).startswith(message)


def test_margin_losses_are_refused_for_numbers() -> None:
    with pytest.raises(ParameterError, match="loss must be 'squared', 'absolute' or 'huber'"):
        GradientDescentRegressor("hinge").fit([[1.0]], [1.0])
    assert set(REGRESSION_LOSSES) <= set(LOSSES)


def test_wrong_data_is_told() -> None:
    X, y = table(20)
    with pytest.raises(DataError, match="one class only"):
        GradientDescentClassifier().fit(X, np.ones(20))
    with pytest.raises(DataError, match="classes must be passed"):
        GradientDescentClassifier(method="stochastic").partial_fit(X, y)
    model = GradientDescentClassifier().partial_fit(X, y, classes=[-1.0, 1.0])
    with pytest.raises(DataError, match="not one of the classes"):
        model.partial_fit(X, y + 5)
    with pytest.raises(DataError, match=r"coef_init must have shape \(1, 6\)"):
        GradientDescentClassifier().fit(X, y, coef_init=[1.0])
    with pytest.raises(DataError, match="X contains NaN"):
        GradientDescentClassifier().fit(np.full((4, 1), np.nan), [0, 1, 0, 1])
    with pytest.raises(AttributeError, match="predict_proba"):
        _ = GradientDescentClassifier("hinge").fit(X, y).predict_proba
