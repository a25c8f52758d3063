"""The slack budget: the definition itself, by another solver, on small tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.datasets import load_iris

from assay.base import DataError, ParameterError
from assay.svm import SVC

X_IRIS, y_IRIS = (part[50:] for part in load_iris(return_X_y=True))


def small(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    y = np.arange(14) % 2
    return rng.normal(size=(14, 2)) + 2 * y[:, None], y


def widest_margin(X: Any, y: Any, budget: float) -> float:
    """max M s.t. |beta| = 1, y f >= M (1 - xi), xi >= 0, sum xi <= budget: by SLSQP."""
    signs = np.where(y == 1, 1.0, -1.0)
    n, d = X.shape

    def split(v: Any) -> tuple[Any, Any, Any]:
        return v[:d], v[d], v[d + 1 :]

    # In w = beta / M the objective |w|^2 / 2 is convex and the constraints are linear.
    limits = [
        {"type": "ineq", "fun": lambda v: signs * (X @ v[:d] + v[d]) - 1 + v[d + 1 :]},
        {"type": "ineq", "fun": lambda v: budget - v[d + 1 :].sum()},
    ]
    start = SVC(kernel="linear", C=1.0).fit(X, y)
    f = start.decision_function(X)
    begin = np.concatenate([start.coef_[0], start.intercept_, np.maximum(0, 1 - signs * f)])
    bounds = [(None, None)] * (d + 1) + [(0, None)] * n
    found = minimize(
        lambda v: v[:d] @ v[:d] / 2,
        begin,
        jac=lambda v: np.concatenate([v[:d], np.zeros(n + 1)]),
        constraints=limits,
        bounds=bounds,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert found.success
    return float(1 / np.linalg.norm(split(found.x)[0]))


@pytest.mark.parametrize("budget", [3.0, 5.0, 8.0, 11.0])
@pytest.mark.parametrize("seed", [1, 2])
def test_margin_is_the_widest_within_the_budget(seed: int, budget: float) -> None:
    X, y = small(seed)
    model = SVC(kernel="linear", slack_budget=budget).fit(X, y)
    assert model.slack_.sum() == pytest.approx(budget, rel=2e-6)
    assert model.margin_[0] == pytest.approx(widest_margin(X, y, budget), rel=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_large_budget_gives_a_wide_margin(kernel: str) -> None:
    budgets = [10.0, 20.0, 40.0, 80.0]
    models = [SVC(kernel=kernel, slack_budget=B).fit(X_IRIS, y_IRIS) for B in budgets]
    margins = [model.margin_[0] for model in models]
    prices = [model.C_[0] for model in models]
    assert margins == sorted(margins)
    assert prices == sorted(prices, reverse=True)


def test_budget_and_its_price_are_one_machine() -> None:
    model = SVC(slack_budget=25.0, gamma=0.5).fit(X_IRIS, y_IRIS)
    priced = SVC(C=model.C_[0], gamma=0.5, tol=1e-7).fit(X_IRIS, y_IRIS)
    np.testing.assert_allclose(
        model.decision_function(X_IRIS), priced.decision_function(X_IRIS), atol=1e-3
    )


def test_no_budget_is_a_hard_margin() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    none, hard = SVC(slack_budget=0.0).fit(X, y), SVC(C=np.inf).fit(X, y)
    assert np.array_equal(none.decision_function(X), hard.decision_function(X))


def test_every_pair_has_the_budget() -> None:
    X, y = load_iris(return_X_y=True)
    model = SVC(slack_budget=20.0).fit(X, y)
    start = np.concatenate([[0], np.cumsum(model.n_support_)])
    sums = [
        model.slack_[j - 1, start[i] : start[i + 1]].sum()
        + model.slack_[i, start[j] : start[j + 1]].sum()
        for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    np.testing.assert_allclose(sums, 20.0, rtol=1e-5)


def test_weights_count_in_the_budget() -> None:
    X, y = small(3)
    model = SVC(kernel="linear", slack_budget=10.0).fit(X, y, np.full(14, 2.0))
    half = SVC(kernel="linear", slack_budget=5.0).fit(X, y)
    assert model.margin_[0] == pytest.approx(half.margin_[0], rel=1e-4)


def test_budget_that_frees_every_row_is_refused() -> None:
    X, y = small(0)
    with pytest.raises(ParameterError) as caught:
        SVC(slack_budget=14.0).fit(X, y)
    assert str(caught.value) == (
        "slack_budget must be below twice the weight of the smaller class, 14, or the margin is "
        "unbounded; got 14.0"
    )


def test_budget_below_the_least_possible_slack_is_refused() -> None:
    with pytest.raises(DataError) as caught:
        SVC(kernel="linear", slack_budget=0.5).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert str(caught.value) == (
        "the classes cannot be separated within slack_budget=0.5 by this kernel: the total slack "
        "is still 2 at C=1000; raise the budget or take another kernel"
    )


def test_negative_budget_is_refused() -> None:
    with pytest.raises(ParameterError, match="slack_budget must be a finite number >= 0 or None"):
        SVC(slack_budget=-1.0).fit(X_IRIS, y_IRIS)
