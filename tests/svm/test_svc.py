"""`SVC`: libsvm's decisions, the facts of the theory as certificates, and clear refusals."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as Peer

from assay.base import DataError, ParameterError, StateError, same
from assay.svm import SVC
from tests.svm.reference import smo

TABLES = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}
KERNELS: list[dict[str, Any]] = [
    {"kernel": "linear"},
    {"kernel": "rbf"},
    {"kernel": "rbf", "C": 50.0},
    {"kernel": "poly", "coef0": 1.0},
    {"kernel": "poly", "degree": 2, "gamma": 0.1},
    {"kernel": "sigmoid", "gamma": 0.01},
]


def table(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, y = TABLES[name](return_X_y=True)
    return StandardScaler().fit_transform(X), y


def two_classes(
    seed: int, n: int = 40, shift: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(n) % 2
    return rng.normal(size=(n, 3)) + shift * y[:, None], y


@pytest.mark.parametrize("params", KERNELS, ids=str)
@pytest.mark.parametrize("name", TABLES)
def test_decisions_are_those_of_libsvm(name: str, params: dict[str, Any]) -> None:
    X, y = table(name)
    ours, theirs = SVC(tol=1e-8, **params).fit(X, y), Peer(tol=1e-8, **params).fit(X, y)
    expected = theirs.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), expected, rtol=1e-5, atol=1e-5)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-5)
    assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0]
    assert ours.n_support_.shape == theirs.n_support_.shape
    if params["kernel"] == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("params", KERNELS, ids=str)
@pytest.mark.parametrize("name", TABLES)
def test_decisions_are_near_libsvms_at_the_usual_tolerance(
    name: str, params: dict[str, Any]
) -> None:
    X, y = table(name)
    ours = SVC(decision_function_shape="ovo", **params).fit(X, y)
    theirs = Peer(decision_function_shape="ovo", tol=1e-8, **params).fit(X, y)
    expected = theirs.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), expected, atol=2e-2)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.995


@pytest.mark.parametrize("params", KERNELS[:5], ids=str)
def test_objective_is_not_above_libsvms(params: dict[str, Any]) -> None:
    X, y = table("breast_cancer")
    signs = np.where(y == 1, 1.0, -1.0)
    C = params.get("C", 1.0)

    def primal(model: Any) -> float:
        gram = model._engine_kernel().matrix(X, model.support_vectors_)
        inner = model._engine_kernel().matrix(model.support_vectors_)
        coef = model.dual_coef_[0]
        hinge = np.maximum(0, 1 - signs * (gram @ coef + model.intercept_[0]))
        return float(coef @ inner @ coef / 2 + C * hinge.sum())

    ours, theirs = SVC(tol=1e-8, **params).fit(X, y), Peer(tol=1e-8, **params).fit(X, y)
    twin = SVC(**params).fit(X, y)
    twin.support_, twin.vectors_ = theirs.support_, theirs.support_vectors_
    twin.dual_coef_, twin.intercept_ = theirs.dual_coef_, theirs.intercept_
    assert primal(ours) <= primal(twin) * (1 + 1e-6)
    assert ours.duality_gap_[0] <= 1e-6 * primal(ours)


def test_dual_is_that_of_the_plain_solver() -> None:
    X, y = two_classes(0, 60)
    signs = np.where(y == 1, 1.0, -1.0)
    gram = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    oracle = smo(gram, signs, -np.ones(60), np.full(60, 2.0))
    model = SVC(gamma=0.5, C=2.0, tol=1e-10).fit(X, y)
    alpha = np.zeros(60)
    alpha[model.support_] = model.dual_coef_[0] * signs[model.support_]
    np.testing.assert_allclose(alpha, oracle.alpha, atol=1e-7)
    assert model.intercept_[0] == pytest.approx(oracle.bias, abs=1e-8)


@pytest.mark.parametrize(("shape", "break_ties"), [("ovr", False), ("ovr", True), ("ovo", False)])
def test_ties_and_shapes_are_as_in_scikit_learn(shape: str, break_ties: bool) -> None:
    X, y = table("iris")
    params: dict[str, Any] = {
        "decision_function_shape": shape,
        "break_ties": break_ties,
        "gamma": 30.0,
    }
    ours, theirs = SVC(tol=1e-8, **params).fit(X, y), Peer(tol=1e-8, **params).fit(X, y)
    far = np.random.default_rng(0).normal(scale=3.0, size=(200, 4))
    np.testing.assert_allclose(
        ours.decision_function(far), theirs.decision_function(far), atol=1e-5
    )
    assert (ours.predict(far) == theirs.predict(far)).mean() > 0.99


def test_weights_are_those_of_libsvm() -> None:
    X, y = table("wine")
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=len(y))
    for class_weight in (None, {0: 2.0, 2: 0.5}):
        params: dict[str, Any] = {"gamma": 0.05, "tol": 1e-8, "class_weight": class_weight}
        ours = SVC(**params).fit(X, y, weight)
        theirs = Peer(**params).fit(X, y, weight)
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), atol=1e-5
        )
        np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
    balanced, same_here = (cls(class_weight="balanced").fit(X, y) for cls in (SVC, Peer))
    np.testing.assert_allclose(balanced.class_weight_, same_here.class_weight_)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("kind", [csr_matrix, csr_array])
def test_sparse_rows_give_the_dense_model(kernel: str, kind: Any) -> None:
    X, y = table("iris")
    X = np.where(np.abs(X) < 0.6, 0.0, X)
    dense = SVC(kernel=kernel, tol=1e-6).fit(X, y)
    thin = SVC(kernel=kernel, tol=1e-6).fit(kind(X), y)
    expected = dense.decision_function(X)
    for model, rows in ((thin, kind(X)), (thin, X), (dense, kind(X))):
        np.testing.assert_allclose(model.decision_function(rows), expected, atol=1e-4)
    assert (
        abs(len(thin.support_) - len(dense.support_)) <= 3
    )  # several optima have other dual points
    assert np.array_equal(thin.support_vectors_.toarray(), X[thin.support_])
    if kernel == "linear":
        np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-4)
    restored = SVC.from_state(thin.get_params(), thin.state())
    assert np.array_equal(restored.decision_function(X), thin.decision_function(X))


@pytest.mark.parametrize("name", TABLES)
def test_one_against_the_rest_is_one_machine_per_class(name: str) -> None:
    X, y = table(name)
    model = SVC(multi_class="ovr", tol=1e-8).fit(X, y)
    decisions = model.decision_function(X)
    if len(model.classes_) == 2:
        assert same(SVC().fit(X, y), SVC(multi_class="ovo").fit(X, y)), (
            "two classes are one problem either way"
        )
        return
    for k in range(len(model.classes_)):
        alone = Peer(tol=1e-8).fit(X, y == k)
        np.testing.assert_allclose(decisions[:, k], alone.decision_function(X), atol=1e-5)
    assert np.array_equal(model.predict(X), decisions.argmax(axis=1))
    assert model.dual_coef_.shape == (len(model.classes_), len(model.support_))


# ---- the facts of the theory ----


@given(seed=st.integers(0, 1000), C=st.sampled_from([0.1, 1.0, 10.0]))
@example(seed=142, C=1.0)  # Newton steps with a kernel of rank two: they once left sum b = 0
def test_solution_keeps_the_conditions_of_karush_kuhn_and_tucker(seed: int, C: float) -> None:
    X, y = two_classes(seed)
    model = SVC(C=C, kernel="linear", tol=1e-9).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.dual_coef_[0] * signs[model.support_]
    # Dual feasibility.
    assert (alpha >= 0).all()
    assert (alpha <= C).all()
    assert abs(signs @ alpha) < 1e-9 * C * len(y)
    # w is a sum over support vectors, and nothing else is needed to predict.
    w = (signs * alpha) @ X
    np.testing.assert_allclose(model.coef_[0], w, atol=1e-12)
    f = X @ w + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-9)
    # The margin is 1 / |w|.
    assert model.margin_[0] == pytest.approx(1 / np.linalg.norm(w), rel=1e-9)
    # The slack is the hinge loss; rows that are no support vectors have none.
    hinge = np.maximum(0.0, 1 - signs * f)
    slack = np.zeros(len(y))
    slack[model.support_] = model.slack_[0]
    np.testing.assert_allclose(slack, hinge, atol=1e-7)
    # Complementarity: free support vectors are on the margin, those beyond it pay C each.
    free = (alpha > 0) & (alpha < C)
    np.testing.assert_allclose(signs[free] * f[free], 1.0, atol=1e-7)
    assert (alpha[hinge > 1e-6] == C).all()
    # Each free support vector gives the threshold; it is their mean.
    if free.any():
        each = signs[free] - X[free] @ w
        np.testing.assert_allclose(each, model.intercept_[0], atol=1e-7)
        assert model.intercept_[0] == pytest.approx(each.mean(), abs=1e-9)
    # Certificates.
    primal = w @ w / 2 + C * hinge.sum()
    dual = alpha.sum() - w @ w / 2
    assert primal - dual <= 1e-5 * max(primal, 1.0)
    assert model.duality_gap_[0] == pytest.approx(primal - dual, abs=1e-6 * max(primal, 1.0))
    assert 0 <= model.kkt_residual_[0] <= 1e-9
    assert model.stop_reason_ == "converged"


@pytest.mark.parametrize("how", ["ovo", "ovr"])
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_every_problem_of_many_classes_has_margin_slack_and_certificate(
    name: str, how: str
) -> None:
    X, y = table(name)
    model = SVC(kernel="linear", C=2.0, multi_class=how, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(model.margin_, 1 / np.linalg.norm(model.coef_, axis=1), rtol=1e-5)
    decisions = X @ model.coef_.T + model.intercept_
    pairs = [(0, 1), (0, 2), (1, 2)] if how == "ovo" else [(0, None), (1, None), (2, None)]
    slack = 0.0
    for number, (i, j) in enumerate(pairs):
        rows = (y == i) | (y == j) | (j is None)
        signs = np.where(y[rows] == i, 1.0, -1.0)
        hinge = np.maximum(0, 1 - signs * decisions[rows, number])
        primal = np.sum(model.coef_[number] ** 2) / 2 + 2.0 * hinge.sum()
        assert -1e-9 <= model.duality_gap_[number] <= 1e-4 * primal
        slack += hinge.sum()
    assert model.slack_.sum() == pytest.approx(slack, rel=1e-4)
    assert (model.kkt_residual_ <= 1e-7).all()


@given(seed=st.integers(0, 1000), kernel=st.sampled_from(["linear", "rbf"]))
def test_hard_margin_keeps_every_row_outside(seed: int, kernel: str) -> None:
    X, y = two_classes(seed, shift=20.0)
    model = SVC(C=math.inf, kernel=kernel, tol=1e-8).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    f = model.decision_function(X)
    assert (signs * f >= 1 - 1e-7).all()
    assert not model.slack_.any() or model.slack_.max() < 1e-7
    if kernel == "linear":
        distance = f / np.linalg.norm(model.coef_)
        assert np.min(signs * distance) == pytest.approx(model.margin_[0], rel=1e-6)


def test_signed_distance_does_not_depend_on_the_scale() -> None:
    X, y = two_classes(3, shift=6.0)
    one = SVC(C=math.inf, kernel="linear", tol=1e-10).fit(X, y)
    big = SVC(C=math.inf, kernel="linear", tol=1e-10).fit(100 * X, y)
    near, far = (
        model.decision_function(rows) * model.margin_[0]
        for model, rows in ((one, X), (big, 100 * X))
    )
    np.testing.assert_allclose(far, 100 * near, rtol=1e-6)
    assert big.margin_[0] == pytest.approx(100 * one.margin_[0], rel=1e-6)


def test_small_c_gives_a_wide_margin() -> None:
    X, y = two_classes(4)
    margins = [SVC(C=C, kernel="linear").fit(X, y).margin_[0] for C in (0.01, 0.1, 1.0, 10.0)]
    assert margins == sorted(margins, reverse=True)


def test_rows_that_are_no_support_vectors_do_not_matter() -> None:
    X, y = table("breast_cancer")
    whole = SVC(gamma=0.03, tol=1e-9).fit(X, y)
    few = SVC(gamma=0.03, tol=1e-9).fit(X[whole.support_], y[whole.support_])
    np.testing.assert_allclose(few.decision_function(X), whole.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("degree", [2, 3])
def test_polynomial_features_and_polynomial_kernel_are_one_machine(degree: int) -> None:
    X, y = two_classes(5, 60)
    X = X[:, :2]
    a, b = X.T
    root = math.sqrt
    if degree == 2:
        features = [np.ones(60), a * a, b * b, root(2) * a * b, root(2) * a, root(2) * b]
    else:
        features = [np.ones(60), a**3, b**3, root(3) * a, root(3) * b, root(3) * a * a]
        features += [root(3) * b * b, root(3) * a * a * b, root(3) * a * b * b, root(6) * a * b]
    expanded = np.column_stack(features)
    linear = SVC(kernel="linear", tol=1e-9).fit(expanded, y)
    poly = SVC(kernel="poly", degree=degree, gamma=1.0, coef0=1.0, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(
        poly.decision_function(X), linear.decision_function(expanded), atol=1e-6
    )


@pytest.mark.parametrize(("convention", "factor"), [("2sigma2", 2.0), ("sigma2", 1.0)])
def test_sigma_is_gamma_in_either_convention(convention: str, factor: float) -> None:
    X, y = table("iris")
    wide = SVC(sigma=1.7, sigma_convention=convention).fit(X, y)
    gamma = SVC(gamma=1 / (factor * 1.7**2)).fit(X, y)
    assert wide.gamma_ == gamma.gamma_
    assert np.array_equal(wide.decision_function(X), gamma.decision_function(X))


@given(seed=st.integers(0, 1000), kernel=st.sampled_from(["linear", "rbf"]))
def test_weights_are_repetitions(seed: int, kernel: str) -> None:
    X, y = two_classes(seed)
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, size=len(y))
    counts[:4] = 1
    y[:2], y[2:4] = 0, 1
    repeated = SVC(kernel=kernel, tol=1e-10, class_weight="balanced")
    repeated.fit(X.repeat(counts, axis=0), y.repeat(counts))
    weighted = SVC(kernel=kernel, tol=1e-10, class_weight="balanced").fit(X, y, counts)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6, atol=1e-6
    )
    assert (counts[weighted.support_] > 0).all()


def test_order_of_rows_and_names_of_classes_do_not_matter() -> None:
    X, y = table("iris")
    order = np.random.default_rng(0).permutation(len(y))
    one = SVC(tol=1e-9).fit(X, y)
    two = SVC(tol=1e-9).fit(X[order], np.array(["x", "y", "z"])[y[order]])
    np.testing.assert_allclose(two.decision_function(X), one.decision_function(X), atol=1e-6)
    assert np.array_equal(two.predict(X), np.array(["x", "y", "z"])[one.predict(X)])


# ---- how it is computed ----


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
@pytest.mark.parametrize("params", [{}, {"multi_class": "ovr"}, {"slack_budget": 30.0}], ids=str)
def test_threads_change_no_bit(name: str, params: dict[str, Any]) -> None:
    X, y = table(name)
    one, two = (SVC(n_jobs=n_jobs, **params).fit(X, y) for n_jobs in (1, 2))
    assert same(one, two)
    assert np.array_equal(one.decision_function(X), two.decision_function(X))


def test_layout_and_precision_of_the_table_do_not_matter() -> None:
    X, y = table("iris")
    expected = SVC(gamma=0.25).fit(X, y).decision_function(X)
    columns = SVC(gamma=0.25).fit(np.asfortranarray(X), y)
    assert np.array_equal(columns.decision_function(np.asfortranarray(X)), expected)
    small = SVC(gamma=0.25).fit(X.astype(np.float32), y)
    assert small.support_vectors_.dtype == np.float32
    found = small.decision_function(X.astype(np.float32))
    np.testing.assert_allclose(found, expected, atol=5e-3)


@pytest.mark.parametrize("params", [{}, {"multi_class": "ovr"}], ids=str)
def test_warm_start_reaches_the_same_optimum_in_fewer_steps(params: dict[str, Any]) -> None:
    X, y = table("wine")
    cold = SVC(C=10.0, tol=1e-8, **params).fit(X, y)
    warm = SVC(C=5.0, tol=1e-8, warm_start=True, **params).fit(X, y)
    warm.set_params(C=10.0).fit(X, y)
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-5)
    again = warm.fit(X, y)
    assert again.n_iter_.sum() <= cold.n_iter_.sum() / 2


def test_precomputed_matrix_is_the_kernel_it_holds() -> None:
    X, y = table("iris")
    gram = np.exp(-0.25 * ((X[:, None] - X) ** 2).sum(axis=2))
    named, given_matrix = SVC(gamma=0.25, tol=1e-9), SVC(kernel="precomputed", tol=1e-9)
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    named.fit(X[train], y[train])
    given_matrix.fit(gram[np.ix_(train, train)], y[train])
    np.testing.assert_allclose(
        given_matrix.decision_function(gram[np.ix_(test, train)]),
        named.decision_function(X[test]),
        atol=1e-7,
    )
    restored = SVC.from_state(given_matrix.get_params(), given_matrix.state())
    assert same(restored, given_matrix)


def test_function_of_tables_is_a_kernel() -> None:
    X, y = table("iris")
    calls = []

    def mine(A: Any, B: Any) -> Any:
        calls.append((len(A), len(B)))
        return (A @ B.T + 1) ** 2

    model = SVC(kernel=mine, tol=1e-9).fit(X, y)
    poly = SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), poly.decision_function(X), rtol=1e-5, atol=1e-5
    )
    # Predictions ask about support vectors only.
    assert calls == [(150, 150), (150, len(model.support_))]
    with pytest.raises(StateError, match="parameter kernel is the function mine: code cannot"):
        model.state()


def bigrams(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for pair in map("".join, pairwise(text)):
        found[pair] = found.get(pair, 0) + 1
    return found


def shared_bigrams(a: str, b: str) -> int:
    left, right = bigrams(a), bigrams(b)
    return sum(count * right.get(pair, 0) for pair, count in left.items())


TEXTS = ["banana", "bandana", "ananas", "pepper", "peppers", "papper", "cabana", "apper"]
FRUIT = [1, 1, 1, 0, 0, 0, 1, 0]


def test_function_of_items_is_a_kernel() -> None:
    def of_lists(left: list[str], right: list[str]) -> Any:
        return np.array([[shared_bigrams(a, b) for b in right] for a in left])

    by_items = SVC(kernel=shared_bigrams, C=10.0).fit(TEXTS, FRUIT)
    by_lists = SVC(kernel=of_lists, C=10.0).fit(np.array(TEXTS), FRUIT)
    assert by_items.predict(["bananas", "peppery"]).tolist() == [1, 0]
    assert np.array_equal(by_items.decision_function(TEXTS), by_lists.decision_function(TEXTS))
    assert by_items.support_vectors_ == [TEXTS[i] for i in by_items.support_]
    assert by_items.shape_fit_ == (8,)


def test_graphs_are_items_too() -> None:
    def common_edges(a: frozenset[Any], b: frozenset[Any]) -> int:
        return len(a & b)

    graphs = [frozenset({(0, 1), (1, 2)}), frozenset({(0, 1)}), frozenset({(2, 3)}), frozenset()]
    model = SVC(kernel=common_edges, C=10.0).fit(graphs, ["path", "path", "other", "other"])
    assert model.predict([frozenset({(0, 1), (5, 6)})]).tolist() == ["path"]


def test_no_probability_is_offered() -> None:
    assert not hasattr(SVC(), "predict_proba")


# ---- edges ----


def test_class_of_weight_zero_is_no_class() -> None:
    X, y = table("iris")
    weight = (y != 1).astype(float)
    model = SVC().fit(X, y, weight)
    assert model.classes_.tolist() == [0, 2]
    alone = SVC().fit(X[y != 1], y[y != 1])
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-2)


def test_equal_rows_have_no_margin_to_speak_of() -> None:
    model = SVC(kernel="linear").fit(np.zeros((4, 2)), [0, 0, 0, 1])
    assert model.margin_.tolist() == [math.inf]
    assert model.predict([[0.0, 0.0]]).tolist() == [0]
    assert SVC.from_state(model.get_params(), model.state()).margin_.tolist() == [math.inf]


def test_verbose_prints_the_certificate(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = table("iris")
    SVC(verbose=True).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("[SVC] problem 0: ")


def test_early_stop_is_told() -> None:
    X, y = table("breast_cancer")
    with pytest.warns(ConvergenceWarning, match=r"SVC did not converge \(max_iter, .*tol=0.001"):
        model = SVC(max_iter=3).fit(X, y)
    assert model.stop_reason_ == "max_iter"
    assert model.fit_status_ == 1


# ---- errors ----


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0.0}, "C must be a number > 0; got 0.0"),
        ({"C": -1}, "C must be a number > 0; got -1"),
        ({"gamma": 0.0}, "gamma must be a finite number > 0, 'scale' or 'auto'; got 0.0"),
        ({"gamma": -2}, "gamma must be a finite number > 0, 'scale' or 'auto'; got -2"),
        ({"gamma": "scal"}, "gamma must be a finite number > 0, 'scale' or 'auto'; got 'scal'"),
        ({"degree": 0}, "degree must be an integer >= 1; got 0"),
        ({"degree": 0.5}, "degree must be an integer >= 1; got 0.5"),
        ({"sigma": 0}, "sigma must be a finite number > 0 or None; got 0"),
        (
            {"kernel": "rbv"},
            "kernel must be 'linear', 'poly', 'rbf', 'sigmoid' or 'precomputed'; got 'rbv'; did "
            "you mean 'rbf'?",
        ),
        (
            {"sigma": 1.0, "kernel": "poly"},
            "sigma is the width of kernel='rbf'; got kernel='poly'",
        ),
        (
            {"sigma": 1.0, "gamma": 2.0},
            "gamma and sigma say the same thing; give one of them (got gamma=2.0 and sigma=1.0)",
        ),
        (
            {"slack_budget": 3.0, "C": 2.0},
            "C penalises slack and slack_budget bounds its sum; set only one of them (got C=2.0 "
            "and slack_budget=3.0)",
        ),
        (
            {"break_ties": True, "decision_function_shape": "ovo"},
            "break_ties must be False when decision_function_shape is 'ovo'; got True",
        ),
        (
            {"multi_class": "ovr", "decision_function_shape": "ovo"},
            "decision_function_shape must be 'ovr' when multi_class is 'ovr': there are no pairs; "
            "got 'ovo'",
        ),
        (
            {"class_weight": {7: 1.0}},
            "class_weight has 7, which is not a class; the classes are [0, 1]",
        ),
        (
            {"class_weight": {0: -1.0}},
            "class_weight[0] must be a finite number > 0; got -1.0",
        ),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(params: dict[str, Any], message: str) -> None:
    X, y = two_classes(0)
    with pytest.raises(ParameterError) as caught:
        SVC(**params).fit(X, y)
    assert str(caught.value) == message


def test_classes_that_cannot_be_separated_are_reported() -> None:
    with pytest.raises(DataError) as caught:
        SVC(C=math.inf, kernel="linear").fit([[0.0], [1.0], [2.0]], ["a", "b", "a"])
    assert str(caught.value) == (
        "class 'b' and class 'a' cannot be separated by this kernel: C=inf allows no slack; use "
        "a finite C, or a more flexible kernel"
    )


def test_one_class_is_refused() -> None:
    with pytest.raises(DataError) as caught:
        SVC().fit([[0.0], [1.0]], ["only", "only"])
    assert str(caught.value) == (
        "SVC needs rows of at least two classes; y holds one class only, 'only'"
    )


def test_missing_values_are_refused() -> None:
    with pytest.raises(DataError, match="X contains NaN in row 1, column 0"):
        SVC().fit([[0.0], [np.nan]], [0, 1])


@pytest.mark.parametrize(
    ("gram", "message"),
    [
        (
            np.ones((2, 3)),
            "the Gram matrix must be square, one row and one column for each of the training "
            "rows; got shape (2, 3)",
        ),
        (
            np.array([[1.0, 0.5], [0.25, 1.0]]),
            "the Gram matrix is not a kernel: it is not symmetric: K[0, 1] = 0.5 but "
            "K[1, 0] = 0.25",
        ),
        (
            np.array([[1.0, 2.0], [2.0, 1.0]]),
            "the Gram matrix is not a kernel: it is not positive semidefinite: its smallest "
            "eigenvalue is -1 (the largest is 3); rows 0 and 1 have K[0, 1]^2 = 4 > K[0, 0] "
            "K[1, 1] = 1. check_kernel=False fits anyway, without guarantee of an optimum",
        ),
        (
            csr_matrix(np.eye(2)),
            "X is sparse: a precomputed kernel matrix must be dense (call X.toarray())",
        ),
    ],
    ids=["square", "symmetric", "positive", "sparse"],
)
def test_matrices_that_are_no_kernel_are_refused(gram: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        SVC(kernel="precomputed").fit(gram, [0, 1])
    assert str(caught.value) == message


def test_indefinite_matrix_is_fitted_when_asked() -> None:
    gram = np.array([[1.0, 2.0], [2.0, 1.0]])
    model = SVC(kernel="precomputed", check_kernel=False).fit(gram, [0, 1])
    assert np.isfinite(model.dual_coef_).all()


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            lambda A, B: A @ B.T[:, :-1],
            "the kernel <lambda> must return an array of shape (40, 40), one value for each pair; "
            "got shape (40, 39)",
        ),
        (
            lambda A, B: np.full((len(A), len(B)), np.nan),
            "the kernel <lambda> returned nan for rows 0 and 0",
        ),
        (
            lambda A, B: "many",
            "the kernel <lambda> must return numbers; got 'many'",
        ),
    ],
    ids=["shape", "nan", "text"],
)
def test_functions_that_are_no_kernel_are_refused(kernel: Any, message: str) -> None:
    X, y = two_classes(0)
    with pytest.raises(DataError) as caught:
        SVC(kernel=kernel).fit(X, y)
    assert str(caught.value) == message


def test_damaged_state_is_refused() -> None:
    X, y = table("iris")
    model = SVC().fit(X, y)
    params, state = model.get_params(), model.state()
    wrong = {
        "support_": np.full_like(model.support_, 150),
        "n_support_": model.n_support_ + 1,
        "dual_coef_": np.full_like(model.dual_coef_, np.nan),
        "gamma_": -1.0,
        "margin_": -model.margin_,
        "fit_status_": 7,
        "n_samples_fit_": 0,
        "vectors_": model.vectors_[:, :-1],
    }
    for name, value in wrong.items():
        with pytest.raises(DataError, match="the model is damaged"):
            SVC.from_state(params, {**state, name: value})
    with pytest.raises(DataError, match="the model is damaged: C must be a number > 0"):
        SVC.from_state({**params, "C": -1.0}, state)


def test_damaged_sparse_state_is_refused() -> None:
    X, y = table("iris")
    model = SVC().fit(csr_matrix(X), y)
    params, state = model.get_params(), model.state()
    order = model.vectors_indices_.copy()
    order[:2] = order[1::-1]
    wrong = {
        "vectors_indices_": [order, np.full_like(order, 4), np.full_like(order, -1)],
        "vectors_indptr_": [model.vectors_indptr_[::-1].copy(), model.vectors_indptr_ + 1],
    }
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(DataError, match="the model is damaged"):
                SVC.from_state(params, {**state, name: value})
