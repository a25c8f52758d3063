"""The SMO engine: libsvm's optimum, certificates, and what no setting may change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, SVR

from assay._core import cpu
from assay.base import DataError, ParameterError
from assay.svm.engine import Kernel, Solution, decide, solve

Matrix = NDArray[np.float64]

KERNELS = [
    Kernel("linear"),
    Kernel("rbf", gamma=0.05),
    Kernel("poly", gamma=0.1, coef0=1.0, degree=3),
    Kernel("sigmoid", gamma=0.01, coef0=-0.1),
]


def two_classes(n: int = 600, seed: int = 0) -> tuple[Matrix, Matrix]:
    X, y = make_classification(n, 12, n_informative=6, flip_y=0.1, random_state=seed)
    return X, 2.0 * y - 1.0


def classifier(X: Any, y: Matrix, kernel: Kernel, C: Any = 1.0, **settings: Any) -> Solution:
    return solve(X, kernel, y, -np.ones(len(y)), C, **settings)


def objective(gram: Matrix, y: Matrix, alpha: Matrix) -> float:
    weight = y * alpha
    return float(0.5 * weight @ gram @ weight - alpha.sum())


def libsvm(X: Matrix, y: Matrix, kernel: Kernel, C: float, tol: float) -> tuple[Matrix, Any]:
    model = SVC(
        C=C,
        kernel=kernel.kind,
        gamma=kernel.gamma,
        coef0=kernel.coef0,
        degree=int(kernel.degree),
        tol=tol,
    ).fit(X, y)
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return alpha, model


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.kind)
def test_kernel_matrix_matches_scikit_learn(kernel: Kernel) -> None:
    X, _ = two_classes(70)
    constants = {"gamma": kernel.gamma, "coef0": kernel.coef0, "degree": kernel.degree}
    expected = pairwise_kernels(X, X[:20], kernel.kind, filter_params=True, **constants)
    np.testing.assert_allclose(kernel.matrix(X, X[:20]), expected, rtol=1e-11, atol=1e-13)
    found = kernel.matrix(sparse.csr_matrix(X), sparse.csr_matrix(X[:20]))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("kernel", KERNELS[:3], ids=lambda k: k.kind)
def test_objective_is_not_above_libsvm(kernel: Kernel, C: float) -> None:
    X, y = two_classes()
    gram = kernel.matrix(X)
    for tol in (1e-3, 1e-6):
        alpha, model = libsvm(X, y, kernel, C, tol)
        found = classifier(X, y, kernel, C, tol=tol)
        theirs = objective(gram, y, alpha)
        assert found.stop_reason == "converged"
        assert found.kkt_residual <= tol
        assert objective(gram, y, found.alpha) <= theirs + 1e-6 * abs(theirs)
        assert found.objective == pytest.approx(objective(gram, y, found.alpha), rel=1e-6)
    assert found.bias == pytest.approx(model.intercept_[0], abs=1e-3)
    decision = found.decision + found.bias
    np.testing.assert_allclose(decision, model.decision_function(X), atol=2e-3)


def test_regression_matches_libsvm_with_two_variables_per_row() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, n, C, epsilon = X * 20, len(X), 10.0, 0.1
    kernel = Kernel("rbf", gamma=0.1)
    model = SVR(C=C, gamma=0.1, epsilon=epsilon, tol=1e-6).fit(X, y)
    found = solve(
        X,
        kernel,
        np.repeat([1.0, -1.0], n),
        np.concatenate([epsilon - y, epsilon + y]),
        C,
        row_of=np.tile(np.arange(n), 2),
        tol=1e-6,
    )
    assert found.stop_reason == "converged"
    assert found.bias == pytest.approx(model.intercept_[0], rel=1e-6)
    np.testing.assert_allclose(found.decision + found.bias, model.predict(X), rtol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_small_programs_match_a_general_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, delta = 7, 0.4
    X, signs = rng.normal(size=(n, 2)), np.array([1.0, -1, 1, -1, 1, -1, 1])
    cost, upper = rng.normal(size=n), rng.uniform(0.3, 2, size=n)
    kernel = Kernel("rbf", gamma=0.7)
    Q = kernel.matrix(X) * np.outer(signs, signs)
    peer = minimize(
        lambda a: 0.5 * a @ Q @ a + cost @ a,
        np.full(n, 0.1),
        jac=lambda a: Q @ a + cost,
        method="SLSQP",
        bounds=[(0, u) for u in upper],
        constraints={"type": "eq", "fun": lambda a: signs @ a - delta, "jac": lambda _: signs},
        options={"ftol": 1e-13, "maxiter": 500},
    )
    found = solve(X, kernel, signs, cost, upper, delta=delta, tol=1e-9)
    assert found.stop_reason == "converged"
    assert signs @ found.alpha == pytest.approx(delta, abs=1e-12)
    assert np.all((found.alpha >= 0) & (found.alpha <= upper))
    assert found.objective <= peer.fun + 1e-8
    np.testing.assert_allclose(found.alpha, peer.x, atol=1e-4)


def test_three_points_have_the_maximal_margin() -> None:
    X, y = np.array([[0.0, 0.0], [2.0, 0.0], [3.0, 5.0]]), np.array([-1.0, 1.0, 1.0])
    found = classifier(X, y, Kernel("linear"), np.inf, tol=1e-9)
    np.testing.assert_allclose((y * found.alpha) @ X, [1.0, 0.0], atol=1e-9)
    assert found.bias == pytest.approx(-1.0)
    assert found.objective == pytest.approx(-0.5)
    assert found.duality_gap == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.kind)
def test_threads_cache_and_cpu_level_change_no_bit(kernel: Kernel) -> None:
    X, y = two_classes(900)
    first = classifier(X, y, kernel, block=128)
    settings: list[dict[str, Any]] = [{"n_threads": 2}, {"cache_mb": 0.05}, {"cache_mb": 0}]
    for setting in settings:
        again = classifier(X, y, kernel, block=128, **setting)
        assert np.array_equal(again.alpha, first.alpha)
        assert (again.bias, again.objective) == (first.bias, first.objective)
    level = cpu.level()
    try:
        cpu.limit("baseline")
        assert np.array_equal(classifier(X, y, kernel, block=128).alpha, first.alpha)
    finally:
        cpu.limit(level)


@pytest.mark.parametrize("C", [1.0, 300.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.kind)
def test_a_slice_of_a_shared_matrix_changes_no_bit(kernel: Kernel, C: float) -> None:
    X, y = two_classes()
    shared = kernel.matrix(X, n_threads=2, dtype=np.float32)
    train = np.arange(1, 600, 3)
    known = shared[np.ix_(train, train)]
    assert np.array_equal(known, kernel.matrix(X[train], dtype=np.float32))
    plain = classifier(X[train], y[train], kernel, C)
    exact = kernel.matrix(X)[np.ix_(train, train)]
    for more in ({"values": known}, {"exact": exact}, {"values": known, "exact": exact}):
        given = classifier(X[train], y[train], kernel, C, **more)
        assert np.array_equal(plain.alpha, given.alpha)
        assert plain.bias == given.bias
        assert plain.duality_gap == given.duality_gap


def test_rows_in_any_form_give_one_solution() -> None:
    X, y = two_classes()
    X[np.abs(X) < 0.5] = 0.0
    kernel = KERNELS[1]
    first = classifier(X, y, kernel, tol=1e-8)
    gram = kernel.matrix(X)
    forms: list[tuple[Any, Kernel]] = [
        (np.asfortranarray(X), kernel),
        (sparse.csr_matrix(X), kernel),
        (sparse.csc_matrix(X), kernel),
        (gram, Kernel("precomputed")),
    ]
    for rows, used in forms:
        found = classifier(rows, y, used, tol=1e-8)
        np.testing.assert_allclose(found.alpha, first.alpha, atol=1e-5)
        assert found.objective == pytest.approx(first.objective, rel=1e-9)


@given(seed=st.integers(0, 10_000), C=st.sampled_from([0.05, 1.0, 100.0]))
def test_the_certificate_holds_for_any_table(seed: int, C: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    kernel = Kernel("rbf", gamma=float(rng.uniform(0.05, 3)))
    loose = classifier(X, y, kernel, C, tol=0.5, block=8)
    tight = classifier(X, y, kernel, C, tol=1e-7, block=8)
    assert tight.kkt_residual <= 1e-7
    assert loose.objective >= tight.objective - 1e-9 * abs(tight.objective)
    assert loose.dual_objective <= tight.objective + 1e-9 * abs(tight.objective)
    assert y @ tight.alpha == pytest.approx(0.0, abs=1e-9 * C)


@given(seed=st.integers(0, 10_000))
def test_row_order_and_labels_do_not_matter(seed: int) -> None:
    X, y = two_classes(80, seed % 7)
    order = np.random.default_rng(seed).permutation(80)
    first = classifier(X, y, KERNELS[1], tol=1e-8)
    shuffled = classifier(X[order], y[order], KERNELS[1], tol=1e-8)
    swapped = classifier(X, -y, KERNELS[1], tol=1e-8)
    np.testing.assert_allclose(shuffled.alpha, first.alpha[order], atol=1e-5)
    np.testing.assert_allclose(swapped.alpha, first.alpha, atol=1e-5)
    assert swapped.bias == pytest.approx(-first.bias, abs=1e-6)


@pytest.mark.parametrize("C", [1.0, 10.0])
def test_shrinking_and_starts_end_at_the_same_optimum(C: float) -> None:
    X, y = two_classes(1200)
    kernel = KERNELS[1]
    plain = classifier(X, y, kernel, C, shrinking=False)
    shrunk = classifier(X, y, kernel, C, block=64)
    other = classifier(X, y, kernel, C / 2)
    warm = classifier(X, y, kernel, C, start=other.alpha * 2)
    for found in (shrunk, warm):
        assert found.stop_reason == "converged"
        assert found.kkt_residual <= 1e-3
        assert found.objective == pytest.approx(plain.objective, rel=1e-6)
    assert classifier(X, y, kernel, C, start=plain.alpha).n_iter == 0


def test_a_hard_margin_tells_separable_from_inseparable() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), 2.0 * y - 1.0
    found = classifier(X, y, Kernel("linear"), np.inf)  # separable, as a linear program shows
    assert found.stop_reason == "converged"
    margin = y * (found.decision + found.bias)
    assert margin.min() == pytest.approx(1.0, abs=1e-2)
    assert classifier(X[:, :3], y, Kernel("linear"), np.inf).stop_reason == "inseparable"
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    xor = np.array([-1.0, 1.0, 1.0, -1.0])
    assert classifier(corners, xor, Kernel("linear"), np.inf).stop_reason == "inseparable"
    assert classifier(corners, xor, Kernel("rbf"), np.inf).stop_reason == "converged"
    twice = np.array([[0.0], [0.0], [3.0]])
    found = classifier(twice, np.array([1.0, -1.0, 1.0]), Kernel("rbf"), np.inf)
    assert found.stop_reason == "inseparable"


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize(("gamma", "coef0"), [(1.0, 1.0), (1e-6, 0.0)])
def test_polynomials_of_unscaled_columns_end_with_a_certificate(
    C: float, gamma: float, coef0: float
) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    kernel = Kernel("poly", gamma=gamma, coef0=coef0, degree=4)
    found = classifier(X, 2.0 * y - 1.0, kernel, C)
    assert found.stop_reason == "converged"
    assert found.used_float64
    assert found.certified
    assert found.kkt_residual <= 1e-3
    assert found.objective < 0


def test_an_indefinite_kernel_ends() -> None:
    X, y = two_classes()
    for gamma in (0.1, 1.0, 10.0):
        found = classifier(X, y, Kernel("sigmoid", gamma=gamma, coef0=1.0), 10.0)
        assert found.stop_reason in ("converged", "stalled")
        assert np.all((found.alpha >= 0) & (found.alpha <= 10))


def test_max_iter_stops_and_says_so() -> None:
    X, y = two_classes()
    found = classifier(X, y, KERNELS[1], max_iter=5)
    assert (found.stop_reason, found.n_iter) == ("max_iter", 5)
    assert found.kkt_residual > 1e-3


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.kind)
def test_decide_is_the_weighted_sum_and_rows_are_independent(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    X, vectors, coef = rng.normal(size=(300, 5)), rng.normal(size=(40, 5)), rng.normal(size=(40, 3))
    bias = np.array([0.5, -1.0, 2.0])
    values = decide(kernel, X, vectors, coef, bias, n_threads=2)
    np.testing.assert_allclose(values, kernel.matrix(X, vectors) @ coef + bias, rtol=1e-11)
    assert np.array_equal(decide(kernel, X[7:9], vectors, coef, bias), values[7:9])
    narrow = decide(kernel, X.astype(np.float32), vectors.astype(np.float32), coef, bias)
    largest = np.abs(kernel.matrix(X, vectors)).max()
    assert np.abs(narrow - values).max() <= 5e-6 * largest * np.abs(coef).sum(axis=0).max()
    mixed = decide(kernel, sparse.csr_matrix(X), vectors, coef, bias)
    np.testing.assert_allclose(mixed, values, rtol=1e-12)


def test_a_precomputed_matrix_decides_by_its_columns() -> None:
    gram = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = decide(Kernel("precomputed"), gram, gram, np.array([[1.0], [-1.0]]), 0.5)
    assert found.tolist() == [[-0.5], [-0.5]]


def test_one_row_and_constant_rows_have_a_solution() -> None:
    alone = classifier(np.ones((1, 2)), np.ones(1), Kernel("rbf"))
    assert (alone.alpha.tolist(), alone.stop_reason) == ([0.0], "converged")
    X, y = np.ones((6, 2)), np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    same = classifier(X, y, Kernel("rbf"))
    assert same.stop_reason == "converged"
    assert same.objective == pytest.approx(-6.0)


def test_bad_arguments_are_named() -> None:
    X, y = two_classes(20)
    with pytest.raises(ParameterError, match=r"degree must be an integer >= 0; got 2\.5"):
        Kernel("poly", degree=2.5)
    with pytest.raises(ParameterError, match="gamma must be finite, got inf"):
        Kernel("rbf", gamma=np.inf)
    with pytest.raises(ParameterError, match="kind must be"):
        Kernel("cosine")
    with pytest.raises(ParameterError, match=r"signs must be -1 or \+1"):
        classifier(X, y * 2, Kernel("linear"))
    with pytest.raises(ParameterError, match="delta must be between"):
        classifier(X, y, Kernel("linear"), delta=1e9)
    with pytest.raises(DataError, match=r"Gram matrix must be dense and square"):
        classifier(X, y, Kernel("precomputed"))
    with pytest.raises(DataError, match="values must be a float32 matrix"):
        classifier(X, y, Kernel("linear"), values=np.eye(3, dtype=np.float32))
    with pytest.raises(DataError, match="exact must be a float64 matrix"):
        classifier(X, y, Kernel("linear"), exact=np.eye(3))
    with pytest.raises(DataError, match="X has 12 columns, the vectors have 3"):
        decide(Kernel("linear"), X, X[:, :3], np.ones((20, 1)))
