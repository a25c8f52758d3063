"""The linear support vector machine: its minimum, its certificate, its facts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.svm import LinearSVC as Liblinear

from assay.base import DataError, ParameterError
from assay.linear import GradientDescentClassifier, LinearSVC

Floats = NDArray[np.float64]
KINDS = [("l2", "hinge"), ("l2", "squared_hinge"), ("l1", "squared_hinge"), ("l1", "hinge")]


def table(n: int = 150, d: int = 6, seed: int = 0) -> tuple[Floats, NDArray[np.int64]]:
    X, y = make_classification(
        n, d, n_informative=3, n_redundant=min(1, d - 3), flip_y=0.1, random_state=seed
    )
    return X, y


def tables() -> list[tuple[str, Floats, NDArray[np.int64]]]:
    wide = make_classification(60, 400, n_informative=10, random_state=2)
    text = np.random.default_rng(0).poisson(0.05, (120, 700)).astype(float)
    cancer, iris, wine = (
        load(return_X_y=True) for load in (load_breast_cancer, load_iris, load_wine)
    )
    return [
        ("plain", *table()),
        ("tall", *table(1500, 5, 1)),
        ("wide", *wide),
        ("text", text, (text[:, :40].sum(axis=1) > 2).astype(np.int64)),
        ("cancer", (cancer[0] - cancer[0].mean(0)) / cancer[0].std(0), cancer[1]),
        ("iris", iris[0], (iris[1] == 1).astype(np.int64)),
        ("wine", (wine[0] - wine[0].mean(0)) / wine[0].std(0), (wine[1] == 0).astype(np.int64)),
        ("separable", *make_classification(80, 4, class_sep=4.0, flip_y=0, random_state=0)),
        ("duplicates", np.repeat(table(40)[0], 3, axis=0), np.repeat(table(40)[1], 3)),
        ("one column", table()[0][:, :1], table()[1]),
    ]


def objective(model: Any, X: Any, y: NDArray[np.int64], C: float, penalty: str, loss: str) -> float:
    w, b = model.coef_[0], model.intercept_[0]
    slack = np.maximum(0, 1 - (2 * y - 1) * (X @ w + b))
    size = 0.5 * (w @ w + b * b) if penalty == "l2" else np.abs(w).sum() + abs(b)
    return float(size + C * (slack if loss == "hinge" else slack**2).sum())


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("name", [name for name, _, _ in tables()])
def test_objective_is_never_above_that_of_liblinear(name: str, sparse: bool) -> None:
    _, X, y = next(item for item in tables() if item[0] == name)
    rows = csr_array(X) if sparse else X
    for penalty, loss in KINDS[:3]:
        for C in (0.01, 1.0):
            model = LinearSVC(penalty, loss, C=C, max_iter=100_000).fit(rows, y)
            found = objective(model, rows, y, C, penalty, loss)
            assert found == pytest.approx(model.objective_[0], rel=1e-9)
            assert model.duality_gap_[0] <= 1e-7 * found
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                dual = loss == "hinge"
                peer = Liblinear(penalty, loss, C=C, dual=dual, random_state=0).fit(rows, y)
            assert found <= objective(peer, rows, y, C, penalty, loss) * (1 + 1e-6)


def test_coefficients_match_liblinear() -> None:
    X, y = table(400)
    for penalty, loss in KINDS[:3]:
        ours = LinearSVC(penalty, loss, C=0.1, intercept_scaling=2.0).fit(X, y)
        peer = Liblinear(
            penalty,
            loss,
            C=0.1,
            intercept_scaling=2.0,
            dual=loss == "hinge",
            tol=1e-8,
            max_iter=1_000_000,
        ).fit(X, y)
        np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-5)
        np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=2e-5)


def test_without_intercept_it_is_a_kernel_machine_with_linear_kernel() -> None:
    # With a huge intercept_scaling the intercept is all but free, as in libsvm.
    X, y = table(100)
    ours = LinearSVC(loss="hinge", C=0.5, intercept_scaling=1e3, tol=1e-6).fit(X, y)
    peer = SVC(kernel="linear", C=0.5, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-3)


def test_the_slack_of_the_quadratic_program_is_the_hinge_loss() -> None:
    # libsvm solves the program with slacks; at its solution slack = max(0, 1 - y f).
    X, y = table(120)
    C = 0.7
    model = LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1e-6).fit(X, y)
    signs = 2 * y - 1
    slack = np.maximum(0, 1 - signs * model.decision_function(X))
    w = model.coef_[0]
    # Complementarity: multipliers 0 beyond the margin, C inside, and w = sum a y x.
    inside, beyond = slack > 1e-6, signs * model.decision_function(X) > 1 + 1e-6
    on = ~(inside | beyond)
    fixed = C * (signs[inside] @ X[inside])
    rest, *_ = np.linalg.lstsq((signs[on, None] * X[on]).T, w - fixed, rcond=None)
    assert rest.min() > -1e-4
    assert rest.max() < C + 1e-4
    np.testing.assert_allclose(fixed + (signs[on, None] * X[on]).T @ rest, w, atol=1e-4)
    assert model.objective_[0] == pytest.approx(0.5 * w @ w + C * slack.sum(), rel=1e-9)


def test_the_unconstrained_form_is_the_same_problem() -> None:
    # sum hinge^2 + lambda ||w||^2 with lambda = 1 / (2 C), by plain gradient descent.
    X, y = table(100)
    C = 0.2
    model = LinearSVC(C=C, fit_intercept=False).fit(X, y)
    descent = GradientDescentClassifier(
        "squared_hinge", alpha=1 / (C * len(X)), fit_intercept=False, tol=1e-9
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_, descent.coef_, atol=1e-5)


def test_a_small_c_makes_the_margin_wide() -> None:
    X, y = table()
    widths = [1 / np.linalg.norm(LinearSVC(loss="hinge", C=C).fit(X, y).coef_) for C in (1e-3, 1.0)]
    assert widths[0] > widths[1]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_l1_makes_weights_zero(loss: str) -> None:
    X, y = table(200, 30)
    model = LinearSVC("l1", loss, C=0.05).fit(X, y)
    assert 0 < np.count_nonzero(model.coef_) < 20
    assert model.duality_gap_[0] <= 1e-7 * model.objective_[0]
    assert np.count_nonzero(LinearSVC("l2", loss, C=0.05).fit(X, y).coef_) == 30


@given(st.integers(0, 100), st.sampled_from(KINDS))
@settings(max_examples=12, deadline=None)
def test_weights_are_repeated_rows(seed: int, kind: tuple[str, str]) -> None:
    X, y = table(50, 5, seed)
    weight = np.random.default_rng(seed).integers(0, 4, 50)
    repeated = np.repeat(np.arange(50), weight)
    one = LinearSVC(*kind, C=0.3).fit(X, y, sample_weight=weight)
    two = LinearSVC(*kind, C=0.3).fit(X[repeated], y[repeated])
    assert one.objective_[0] == pytest.approx(two.objective_[0], rel=1e-7)


@given(st.integers(0, 100), st.sampled_from(KINDS[:3]))
@settings(max_examples=12, deadline=None)
def test_swapped_labels_turn_the_line_round(seed: int, kind: tuple[str, str]) -> None:
    X, y = table(60, 4, seed)
    one, two = LinearSVC(*kind, tol=1e-6).fit(X, y), LinearSVC(*kind, tol=1e-6).fit(X, 1 - y)
    np.testing.assert_allclose(one.decision_function(X), -two.decision_function(X), atol=1e-4)


def test_class_weights_and_several_classes_match_liblinear() -> None:
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    for class_weight in (None, "balanced", {0: 1.0, 1: 5.0, 2: 0.5}):
        ours = LinearSVC(class_weight=class_weight).fit(X, y)
        peer = Liblinear(class_weight=class_weight, tol=1e-8, max_iter=100_000).fit(X, y)
        np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
        np.testing.assert_array_equal(ours.predict(X), peer.predict(X))


@pytest.mark.parametrize(("penalty", "loss"), KINDS)
def test_threads_do_not_change_the_model(penalty: str, loss: str) -> None:
    X, y = load_iris(return_X_y=True)
    binary = table(3000 if penalty == "l2" else 300)
    for rows, labels in ((X, y), binary):
        digests = {
            LinearSVC(penalty, loss, random_state=0, n_jobs=n_jobs).fit(rows, labels).digest()
            for n_jobs in (1, 2)
        }
        assert len(digests) == 1


def test_many_columns_and_few_columns_have_the_same_minimum() -> None:
    X, y = table(100, 5)
    padded = np.hstack([X, np.zeros((100, 400))])
    for loss in ("hinge", "squared_hinge"):
        few = LinearSVC(loss=loss, C=0.1, tol=1e-5).fit(X, y)
        many = LinearSVC(loss=loss, C=0.1, tol=1e-5, max_iter=100_000, random_state=0)
        many.fit(padded, y)
        assert many.objective_[0] == pytest.approx(few.objective_[0], rel=1e-8)
        np.testing.assert_allclose(many.coef_[:, :5], few.coef_, atol=1e-4)
        assert (many.coef_[:, 5:] == 0).all()


def test_float32_rows_are_solved_in_float64() -> None:
    X, y = table()
    narrow = X.astype(np.float32)
    one, two = LinearSVC().fit(narrow, y), LinearSVC().fit(narrow.astype(np.float64), y)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_unscaled_columns_end_with_a_certificate() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for loss in ("hinge", "squared_hinge"):
        model = LinearSVC(loss=loss).fit(X, y)
        assert model.stop_reason_ == "converged"
        assert model.duality_gap_[0] <= 1e-8 * model.objective_[0]


def test_a_fit_cut_short_warns_with_its_gap() -> None:
    X, y = table()
    with pytest.warns(ConvergenceWarning, match="max_iter=2 iterations: the duality gap is"):
        LinearSVC(loss="hinge", max_iter=2).fit(X, y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0.0}, "C must be a finite number > 0; got 0.0"),
        ({"C": -1}, "C must be a finite number > 0; got -1"),
        ({"loss": "log"}, "loss must be 'squared_hinge' or 'hinge'; got 'log'"),
        ({"penalty": "l3"}, "penalty must be 'l2' or 'l1'; got 'l3'"),
        ({"tol": 0.0}, "tol must be a finite number > 0; got 0.0"),
        ({"multi_class": "crammer_singer"}, "multi_class must be 'ovr'; got 'crammer_singer'"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        LinearSVC(**params).fit([[0.0], [1.0]], [0, 1])
    assert str(error.value).startswith(message)


def test_wrong_data_is_told() -> None:
    with pytest.raises(DataError, match="one class only"):
        LinearSVC().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(DataError, match="X contains NaN"):
        LinearSVC().fit([[0.0], [np.nan]], [0, 1])
    with pytest.raises(DataError, match="only one class has rows"):
        LinearSVC().fit([[0.0], [1.0]], [0, 1], sample_weight=[1.0, 0.0])
