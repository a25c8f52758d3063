"""`KernelLogisticRegression`: logistic regression in disguise, with a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import logsumexp
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.preprocessing import StandardScaler

from assay.base import DataError, ParameterError, same
from assay.svm import KernelLogisticRegression

TABLES = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}


def table(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, y = TABLES[name](return_X_y=True)
    return StandardScaler().fit_transform(X), y


def small(seed: int, n_classes: int = 3) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(24) % n_classes
    return rng.normal(size=(24, 2)) + y[:, None], y


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", TABLES)
def test_linear_kernel_is_logistic_regression(name: str, C: float) -> None:
    X, y = table(name)
    ours = KernelLogisticRegression(kernel="linear", C=C).fit(X, y)
    theirs = Peer(C=C, tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)


def test_one_against_the_rest_is_one_regression_per_class() -> None:
    X, y = table("iris")
    model = KernelLogisticRegression(kernel="linear", multi_class="ovr").fit(X, y)
    for k in range(3):
        alone = Peer(tol=1e-10, max_iter=100_000).fit(X, y == k)
        found = model.decision_function(X)[:, k]
        np.testing.assert_allclose(found, alone.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
@pytest.mark.parametrize("C", [0.5, 20.0])
def test_objective_is_not_above_that_of_another_solver(C: float, multi_class: str) -> None:
    X, y = small(0, 3 if multi_class == "multinomial" else 2)
    k = 3 if multi_class == "multinomial" else 1
    model = KernelLogisticRegression(C=C, gamma=0.5, multi_class=multi_class).fit(X, y)
    gram = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))

    def objective(v: NDArray[np.float64]) -> float:
        coef, bias = v[:-k].reshape(24, k), v[-k:]
        f = gram @ coef + bias
        if k == 1:
            loss = np.logaddexp(0, np.where(y == 1, -f[:, 0], f[:, 0]))
        else:
            loss = logsumexp(f, axis=1) - f[np.arange(24), y]
        return float((coef * (gram @ coef)).sum() / 2 + C * loss.sum())

    def slope(v: NDArray[np.float64]) -> NDArray[np.float64]:
        coef, bias = v[:-k].reshape(24, k), v[-k:]
        f = gram @ coef + bias
        if k == 1:
            miss = C * (1 / (1 + np.exp(-f)) - (y == 1)[:, None])
        else:
            miss = C * (np.exp(f - logsumexp(f, axis=1)[:, None]) - np.eye(3)[y])
        return np.concatenate([(gram @ (coef + miss)).ravel(), miss.sum(axis=0)])

    here = np.concatenate([model.dual_coef_.T.ravel(), model.intercept_])
    found = minimize(objective, np.zeros_like(here), jac=slope, method="L-BFGS-B")
    assert objective(here) <= found.fun + 1e-6 * abs(found.fun)
    nearby = here + 1e-3 * np.random.default_rng(1).normal(size=(20, len(here)))
    assert all(objective(point) >= objective(here) for point in nearby)
    assert 0 <= model.duality_gap_ <= 1e-9 * objective(here)
    assert model.gradient_norm_ <= 1e-8
    assert model.stop_reason_ == "converged"


@given(seed=st.integers(0, 1000), multi_class=st.sampled_from(["multinomial", "ovr"]))
def test_dual_variables_are_what_the_probabilities_miss(seed: int, multi_class: str) -> None:
    X, y = small(seed)
    model = KernelLogisticRegression(C=3.0, multi_class=multi_class).fit(X, y)
    truth = (y[:, None] == np.arange(3)).astype(float)
    scores = model.decision_function(X)
    if multi_class == "multinomial":
        probability = model.predict_proba(X)
    else:
        probability = 1 / (1 + np.exp(-scores))
    np.testing.assert_allclose(model.dual_coef_.T, 3.0 * (truth - probability), atol=1e-7)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1), 0.0, atol=1e-7)


@given(seed=st.integers(0, 1000), n_classes=st.integers(2, 3))
def test_weights_are_repetitions(seed: int, n_classes: int) -> None:
    X, y = small(seed, n_classes)
    counts = np.random.default_rng(seed).integers(0, 3, size=24)
    counts[: 2 * n_classes] = 1
    y[: 2 * n_classes] = np.arange(2 * n_classes) % n_classes
    settings: dict[str, Any] = {"class_weight": "balanced", "C": 2.0}
    repeated = KernelLogisticRegression(**settings)
    repeated.fit(X.repeat(counts, axis=0), y.repeat(counts))
    weighted = KernelLogisticRegression(**settings).fit(X, y, counts)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_large_c_converges() -> None:
    X, y = table("breast_cancer")
    model = KernelLogisticRegression(C=1e6).fit(X, y)
    assert model.stop_reason_ == "converged"
    assert model.score(X, y) == 1.0


def test_sparse_precomputed_function_and_items() -> None:
    X, y = table("iris")
    expected = KernelLogisticRegression(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    answers = expected.predict_proba(X)
    thin = KernelLogisticRegression(kernel="poly", degree=2, gamma=1.0, coef0=1.0)
    thin.fit(csr_matrix(X), y)
    np.testing.assert_allclose(thin.predict_proba(csr_matrix(X)), answers, atol=1e-7)
    assert same(KernelLogisticRegression.from_state(thin.get_params(), thin.state()), thin)
    gram = (X @ X.T + 1) ** 2
    given_matrix = KernelLogisticRegression(kernel="precomputed").fit(gram, y)
    np.testing.assert_allclose(given_matrix.predict_proba(gram), answers, atol=1e-7)
    mine = KernelLogisticRegression(kernel=lambda A, B: (A @ B.T + 1) ** 2).fit(X, y)
    np.testing.assert_allclose(mine.predict_proba(X), answers, atol=1e-7)
    texts = ["aa", "ab", "xx", "xy"]
    words = KernelLogisticRegression(kernel=lambda a, b: len(set(a) & set(b)), C=10.0)
    assert words.fit(texts, [0, 0, 1, 1]).predict(["a", "x"]).tolist() == [0, 1]


def test_too_few_steps_are_told() -> None:
    X, y = table("iris")
    with pytest.warns(ConvergenceWarning, match=r"did not converge \(max_iter, 2 steps\)"):
        model = KernelLogisticRegression(max_iter=2).fit(X, y)
    assert model.stop_reason_ == "max_iter"


def test_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.svm._kernel_logistic._MOST_ROWS", 100)
    X, y = table("iris")
    with pytest.raises(DataError) as caught:
        KernelLogisticRegression().fit(X, y)
    assert str(caught.value) == (
        "KernelLogisticRegression factorises a matrix of n x n numbers and takes at most 100 "
        "rows; got 150. For more, use make_pipeline(Nystroem(n_components=1000), "
        "LogisticRegression())"
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": np.inf}, "C must be a finite number > 0; got inf"),
        ({"tol": 0}, "tol must be a finite number > 0; got 0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1; got 0"),
        ({"multi_class": "ovo"}, "multi_class must be 'multinomial' or 'ovr'; got 'ovo'"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(params: dict[str, Any], message: str) -> None:
    X, y = small(0)
    with pytest.raises(ParameterError) as caught:
        KernelLogisticRegression(**params).fit(X, y)
    assert str(caught.value).startswith(message)


def test_one_class_is_refused() -> None:
    with pytest.raises(DataError) as caught:
        KernelLogisticRegression().fit([[0.0], [1.0]], [3, 3])
    assert str(caught.value) == (
        "KernelLogisticRegression needs rows of at least two classes; y holds one class only, 3"
    )


def test_damaged_state_is_refused() -> None:
    X, y = small(0)
    model = KernelLogisticRegression().fit(X, y)
    wrong = {
        "dual_coef_": model.dual_coef_[:, :-1],
        "gradient_norm_": "small",
        "stop_reason_": 3,
        "n_iter_": np.array([-1]),
    }
    for name, value in wrong.items():
        with pytest.raises(DataError, match="the model is damaged"):
            KernelLogisticRegression.from_state(model.get_params(), {**model.state(), name: value})
