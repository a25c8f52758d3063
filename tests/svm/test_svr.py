"""`SVR`: libsvm's values, the optimality conditions of the tube, and clear refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR as Peer

from assay.base import DataError, ParameterError, same
from assay.svm import SVR
from tests.svm.reference import smo


def diabetes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X), (y - y.mean()) / y.std()


def line(seed: int, n: int = 30) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X @ [1.0, -2.0] + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"C": 10.0, "epsilon": 0.3},
        {"kernel": "linear"},
        {"kernel": "poly", "coef0": 1.0, "degree": 2},
        {"epsilon": 0.0, "C": 0.5},
    ],
    ids=str,
)
def test_values_are_those_of_libsvm(params: dict[str, Any]) -> None:
    X, y = diabetes()
    ours, theirs = SVR(tol=1e-7, **params).fit(X, y), Peer(tol=1e-7, **params).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    usual = SVR(**params).fit(X, y)
    np.testing.assert_allclose(usual.predict(X), theirs.predict(X), atol=1e-2)
    if params.get("kernel") == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def test_dual_is_that_of_the_plain_solver() -> None:
    X, y = line(0)
    gram = np.tile(np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)), (2, 2))
    signs = np.repeat([1.0, -1.0], 30)
    linear = np.concatenate([0.1 - y, 0.1 + y])
    oracle = smo(gram, signs, linear, np.full(60, 2.0))
    model = SVR(gamma=0.5, C=2.0, tol=1e-10).fit(X, y)
    beta = np.zeros(30)
    beta[model.support_] = model.dual_coef_[0]
    np.testing.assert_allclose(beta, oracle.alpha[:30] - oracle.alpha[30:], atol=1e-7)
    assert model.intercept_[0] == pytest.approx(oracle.bias, abs=1e-8)


@given(seed=st.integers(0, 1000), epsilon=st.sampled_from([0.0, 0.1, 0.5]))
@example(seed=284, epsilon=0.0)  # Newton steps with a kernel of rank two: they once left sum b = 0
def test_solution_keeps_the_conditions_of_karush_kuhn_and_tucker(seed: int, epsilon: float) -> None:
    X, y = line(seed)
    model = SVR(kernel="linear", C=2.0, epsilon=epsilon, tol=1e-8).fit(X, y)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    assert np.abs(beta).max() <= 2.0
    assert abs(beta.sum()) < 1e-9
    np.testing.assert_allclose(model.coef_[0], beta @ X, atol=1e-12)
    assert model.margin_[0] == pytest.approx(1 / np.linalg.norm(model.coef_), rel=1e-9)
    error = y - model.predict(X)
    slack = np.zeros(len(y))
    slack[model.support_] = model.slack_[0]
    np.testing.assert_allclose(slack, np.maximum(0, np.abs(error) - epsilon), atol=1e-6)
    free = (beta != 0) & (np.abs(beta) < 2.0)
    if epsilon > 0:
        np.testing.assert_allclose(error[free], np.sign(beta[free]) * epsilon, atol=1e-6)
    primal = np.sum(model.coef_**2) / 2 + 2.0 * slack.sum()
    dual = beta @ y - epsilon * np.abs(beta).sum() - np.sum(model.coef_**2) / 2
    assert model.duality_gap_[0] == pytest.approx(primal - dual, abs=1e-5)
    assert primal - dual < 1e-5 * max(primal, 1.0)


def test_targets_inside_the_tube_need_no_support_vectors() -> None:
    model = SVR(epsilon=1.0).fit([[0.0], [1.0], [2.0]], [0.5, 0.2, 0.9])
    assert len(model.support_) == 0
    assert model.margin_.tolist() == [math.inf]
    values = model.predict([[0.0], [9.0]])
    assert values[0] == values[1]
    assert (np.abs(np.array([0.5, 0.2, 0.9]) - values[0]) <= 1.0 + 1e-9).all()
    assert same(SVR.from_state(model.get_params(), model.state()), model)


@given(seed=st.integers(0, 1000))
def test_weights_are_repetitions(seed: int) -> None:
    X, y = line(seed)
    counts = np.random.default_rng(seed).integers(0, 4, size=len(y))
    counts[0] = 1
    repeated = SVR(tol=1e-10).fit(X.repeat(counts, axis=0), y.repeat(counts))
    weighted = SVR(tol=1e-10).fit(X, y, counts)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6, atol=1e-6)


def test_shifted_targets_shift_the_values() -> None:
    X, y = diabetes()
    here = SVR(tol=1e-8).fit(X, y).predict(X)
    there = SVR(tol=1e-8).fit(X, y + 100.0).predict(X)
    np.testing.assert_allclose(there, here + 100.0, atol=1e-5)


def test_sparse_precomputed_and_function_give_the_same() -> None:
    X, y = diabetes()
    expected = SVR(kernel="poly", gamma=1.0, coef0=1.0, degree=2, C=0.01, tol=1e-8).fit(X, y)
    values = expected.predict(X)
    thin = SVR(kernel="poly", gamma=1.0, coef0=1.0, degree=2, C=0.01, tol=1e-8)
    thin.fit(csr_matrix(X), y)
    np.testing.assert_allclose(thin.predict(csr_matrix(X)), values, atol=1e-5)
    gram = (X @ X.T + 1) ** 2
    given_matrix = SVR(kernel="precomputed", C=0.01, tol=1e-8).fit(gram, y)
    np.testing.assert_allclose(given_matrix.predict(gram), values, atol=1e-5)
    mine = SVR(kernel=lambda A, B: (A @ B.T + 1) ** 2, C=0.01, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(mine.predict(X), values, atol=1e-5)


def test_threads_change_no_bit() -> None:
    X, y = diabetes()
    assert same(SVR(n_jobs=1).fit(X, y), SVR(n_jobs=2).fit(X, y))


def test_warm_start_reaches_the_same_optimum_in_fewer_steps() -> None:
    X, y = diabetes()
    cold = SVR(C=2.0, tol=1e-7).fit(X, y)
    warm = SVR(C=1.0, tol=1e-7, warm_start=True).fit(X, y).set_params(C=2.0).fit(X, y)
    np.testing.assert_allclose(warm.predict(X), cold.predict(X), atol=1e-5)
    assert warm.fit(X, y).n_iter_ <= cold.n_iter_ / 2


def test_no_error_beyond_epsilon_with_an_infinite_price() -> None:
    X, y = line(1)
    model = SVR(C=math.inf, gamma=2.0, epsilon=0.1, tol=1e-8).fit(X, y)
    assert np.abs(y - model.predict(X)).max() <= 0.1 + 1e-6


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C must be a number > 0; got 0"),
        ({"epsilon": -0.1}, "epsilon must be a finite number >= 0; got -0.1"),
        ({"gamma": 0}, "gamma must be a finite number > 0, 'scale' or 'auto'; got 0"),
        ({"tol": 0}, "tol must be a finite number > 0; got 0"),
        ({"max_iter": -2}, "max_iter must be an integer >= -1; got -2"),
        ({"check_kernel": None}, "check_kernel must be True or False; got None"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(params: dict[str, Any], message: str) -> None:
    X, y = line(0)
    with pytest.raises(ParameterError) as caught:
        SVR(**params).fit(X, y)
    assert str(caught.value) == message


def test_damaged_state_is_refused() -> None:
    X, y = line(0)
    model = SVR().fit(X, y)
    params, state = model.get_params(), model.state()
    wrong = {
        "n_support_": model.n_support_ + 1,
        "intercept_": np.array([np.inf]),
        "n_iter_": -1,
        "slack_": -1 - model.slack_,
    }
    for name, value in wrong.items():
        with pytest.raises(DataError, match="the model is damaged"):
            SVR.from_state(params, {**state, name: value})
