"""Linear discriminant analysis: classifier, axes, criterion, shrinkage, weights."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from sklearn.covariance import LedoitWolf, ShrunkCovariance
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Peer

from assay.base import DataError, ParameterError, same
from assay.decomposition import LinearDiscriminantAnalysis

from .tables import classes

TABLES = [load_iris, load_wine, load_breast_cancer]
NAMES = ["iris", "wine", "breast_cancer"]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"store_covariance": True, "n_components": 1},
    {"solver": "lsqr"},
    {"solver": "lsqr", "shrinkage": 0.3},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "lsqr", "shrinkage": 1.0},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": 0.1},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "lsqr", "covariance_estimator": LedoitWolf()},
    {"solver": "eigen", "covariance_estimator": ShrunkCovariance(shrinkage=0.2)},
]


def assert_close(got: Any, expected: Any, tol: float = 1e-8) -> None:
    """Equal to a share of the largest value."""
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(got, expected, rtol=0, atol=tol * scale)


def assert_same_model(got: Any, expected: Any, X: Any, tol: float = 1e-8) -> None:
    for name in ("coef_", "intercept_", "means_", "priors_"):
        assert_close(getattr(got, name), getattr(expected, name), tol)
    assert_close(got.predict_proba(X), expected.predict_proba(X), tol)
    assert_close(got.decision_function(X), expected.decision_function(X), tol)
    assert (got.predict(X) == expected.predict(X)).all()
    if hasattr(expected, "covariance_"):
        assert_close(got.covariance_, expected.covariance_, tol)
    if hasattr(expected, "scalings_"):
        assert_close(got.explained_variance_ratio_, expected.explained_variance_ratio_, tol)
        ours, theirs = got.transform(X), expected.transform(X)
        signs = np.sign(np.sum((ours - ours.mean(axis=0)) * (theirs - theirs.mean(axis=0)), axis=0))
        assert_close(ours * signs, theirs, 100 * tol)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("table", TABLES, ids=NAMES)
def test_discriminant_matches_scikit_learn(settings: dict[str, Any], table: Any) -> None:
    X, y = table(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    got = LinearDiscriminantAnalysis(**settings).fit(X, y)
    assert_same_model(got, Peer(**settings).fit(X, y), X)


@pytest.mark.parametrize("settings", SETTINGS[2:], ids=str)
def test_priors_weigh_the_covariances_as_in_scikit_learn(settings: dict[str, Any]) -> None:
    X, y = classes(200, 5, 3)
    settings = {**settings, "priors": [0.6, 0.1, 0.3]}
    got = LinearDiscriminantAnalysis(**settings).fit(X, y)
    assert_same_model(got, Peer(**settings).fit(X, y), X)


def test_priors_of_the_default_solver_match_scikit_learn() -> None:
    X, y = classes(200, 5, 3)
    for settings in ({"priors": [0.6, 0.1, 0.3]}, {"priors": (0.2, 0.2, 0.6), "n_components": 1}):
        got = LinearDiscriminantAnalysis(**settings).fit(X, y)
        assert_same_model(got, Peer(**settings).fit(X, y), X)


def test_discriminant_is_bayes_rule_for_normal_classes() -> None:
    X, y = classes(300, 4, 3)
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    density = []
    for k in range(3):
        apart = X - X[y == k].mean(axis=0)
        length = np.sum(apart @ np.linalg.inv(model.covariance_) * apart, axis=1)
        density.append(np.mean(y == k) * np.exp(-0.5 * length))
    posterior = np.column_stack(density)
    posterior /= posterior.sum(axis=1, keepdims=True)
    assert_close(model.predict_proba(X), posterior, 1e-12)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_criterion_is_the_trace_and_the_sum_of_eigenvalues(solver: str, n_classes: int) -> None:
    X, y = classes(250, 6, n_classes)
    model = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    within, between = np.zeros((6, 6)), np.zeros((6, 6))
    for k in range(n_classes):
        own = X[y == k]
        apart = own - own.mean(axis=0)
        within += apart.T @ apart
        gap = own.mean(axis=0) - X.mean(axis=0)
        between += len(own) * np.outer(gap, gap)
    product = np.linalg.solve(within, between)
    assert model.j1_ == pytest.approx(np.trace(product), rel=1e-9)
    values = np.sort(linalg.eigvals(product).real)[::-1]
    assert model.j1_ == pytest.approx(values.sum(), rel=1e-9)
    assert np.count_nonzero(values > 1e-9) <= n_classes - 1
    if solver != "lsqr":
        n_axes = min(n_classes - 1, 6)
        assert model.transform(X).shape == (250, n_axes)
        assert_close(model.explained_variance_ratio_, values[:n_axes] / values.sum(), 1e-9)


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_axes_have_unit_variance_within_and_none_between_each_other(solver: str) -> None:
    X, y = classes(200, 5, 4)
    places = LinearDiscriminantAnalysis(solver=solver).fit_transform(X, y)
    centred = places - np.array([places[y == k].mean(axis=0) for k in range(4)])[y]
    np.testing.assert_allclose(centred.T @ centred / 200, np.eye(3), atol=1e-10)


def test_all_solvers_agree() -> None:
    X, y = classes(150, 4, 3)
    models = [LinearDiscriminantAnalysis(solver=s).fit(X, y) for s in ("svd", "lsqr", "eigen")]
    for model in models[1:]:
        assert_close(model.predict_proba(X), models[0].predict_proba(X), 1e-10)
        assert model.j1_ == pytest.approx(models[0].j1_, rel=1e-10)
    assert_close(np.abs(models[2].scalings_), np.abs(models[0].scalings_), 1e-9)


def test_an_affine_change_of_columns_leaves_the_classifier_alone() -> None:
    X, y = classes(150, 4, 3)
    turn = np.random.default_rng(0).normal(size=(4, 4))
    a = LinearDiscriminantAnalysis().fit(X, y)
    b = LinearDiscriminantAnalysis().fit(X @ turn + 5.0, y)
    assert_close(b.predict_proba(X @ turn + 5.0), a.predict_proba(X), 1e-9)
    assert b.j1_ == pytest.approx(a.j1_, rel=1e-9)


@given(st.integers(0, 10_000))
def test_rows_in_another_order_give_the_same_model(seed: int) -> None:
    X, y = classes(40, 3, 3, seed)
    order = np.random.default_rng(seed).permutation(40)
    a = LinearDiscriminantAnalysis().fit(X, y)
    b = LinearDiscriminantAnalysis().fit(X[order], y[order])
    assert_close(b.coef_, a.coef_, 1e-8)
    assert_close(b.scalings_, a.scalings_, 1e-7)


@pytest.mark.parametrize("settings", [*SETTINGS[:9], {"priors": [0.2, 0.3, 0.5]}], ids=str)
def test_weights_are_repeated_rows(settings: dict[str, Any]) -> None:
    X, y = classes(80, 4, 3)
    weight = np.random.default_rng(0).integers(0, 4, size=80)
    weight[:6] = 1
    weighted = LinearDiscriminantAnalysis(**settings).fit(X, y, sample_weight=weight)
    repeated = LinearDiscriminantAnalysis(**settings).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert_close(weighted.coef_, repeated.coef_, 1e-10)
    assert_close(weighted.intercept_, repeated.intercept_, 1e-10)
    assert weighted.j1_ == pytest.approx(repeated.j1_, rel=1e-10)


def test_a_class_without_weight_is_no_class() -> None:
    X, y = classes(60, 3, 3)
    model = LinearDiscriminantAnalysis().fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]
    alone = LinearDiscriminantAnalysis().fit(X[y != 1], y[y != 1])
    assert_close(model.coef_, alone.coef_, 1e-12)


@pytest.mark.parametrize("settings", SETTINGS[:9], ids=str)
def test_the_number_of_threads_changes_no_bit(settings: dict[str, Any]) -> None:
    X, y = classes(5000, 8, 3)
    one, two = (
        LinearDiscriminantAnalysis(**settings, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2)
    )
    assert same(one, two)
    assert one.predict_proba(X).tobytes() == two.predict_proba(X).tobytes()


def test_layout_and_type_of_the_table_do_not_matter() -> None:
    X, y = classes(100, 4, 3)
    X = X.astype(np.float32)
    model = LinearDiscriminantAnalysis().fit(X.astype(np.float64), y)
    for table in (X, np.asfortranarray(X)):
        other = LinearDiscriminantAnalysis().fit(table, y)
        assert_close(other.coef_, model.coef_, 1e-12)


def test_classes_far_apart_cost_no_digits() -> None:
    X, y = classes(200, 3, 2)
    far = X + 1e6 * y[:, None]
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(far, y)
    near = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert_close(model.covariance_, near.covariance_, 1e-9)


def test_constant_columns_are_ignored() -> None:
    X, y = classes(100, 3, 3)
    wide = np.column_stack([X, np.full(100, 0.1)])
    expected = LinearDiscriminantAnalysis().fit(X, y)
    for solver in ("svd", "lsqr"):
        model = LinearDiscriminantAnalysis(solver=solver).fit(wide, y)
        assert_close(model.predict_proba(wide), expected.predict_proba(X), 1e-10)
        np.testing.assert_allclose(model.coef_[:, 3], 0.0, atol=1e-12)


def test_a_column_that_is_the_class_is_ignored_by_svd() -> None:
    X, y = classes(100, 3, 2)
    wide = np.column_stack([X, y.astype(float)])
    with_it = LinearDiscriminantAnalysis().fit(wide, y)
    assert_same_model(with_it, Peer().fit(wide, y), wide)


@pytest.mark.parametrize("table", ["repeated", "wide", "digits"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"solver": "lsqr", "shrinkage": 0.1}, {"solver": "eigen", "shrinkage": "auto"}],
    ids=str,
)
def test_singular_scatter_is_treated_as_in_scikit_learn(
    table: str, settings: dict[str, Any]
) -> None:
    if table == "repeated":
        X, y = classes(120, 4, 3)
        X = np.column_stack([X, X[:, 0] + X[:, 1]])
    elif table == "wide":
        X, y = classes(30, 60, 3)
    else:
        X, y = (part[:500] for part in load_digits(return_X_y=True))  # constant columns
        X = X + 0.0
    got, expected = LinearDiscriminantAnalysis(**settings).fit(X, y), Peer(**settings).fit(X, y)
    assert_close(got.predict_proba(X), expected.predict_proba(X), 1e-6)
    assert (got.predict(X) == expected.predict(X)).mean() > 0.995


def test_nearly_singular_scatter_takes_singular_values_and_keeps_its_digits() -> None:
    rng = np.random.default_rng(0)
    X, y = classes(300, 3, 3)
    for share in (1e-3, 3e-4):
        twin = X[:, 0] + share * rng.normal(size=300)
        wide = np.column_stack([X, twin])
        got, expected = LinearDiscriminantAnalysis().fit(wide, y), Peer().fit(wide, y)
        assert_close(got.coef_, expected.coef_, 1e-8)


def test_eigen_refuses_a_singular_scatter() -> None:
    X, y = classes(60, 3, 2)
    wide = np.column_stack([X, np.ones(60)])
    with pytest.raises(DataError, match=r"the covariance within classes is singular .* shrinkage"):
        LinearDiscriminantAnalysis(solver="eigen").fit(wide, y)


def test_equal_class_means_leave_the_priors() -> None:
    X = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0], [2.0, 0.0], [-2.0, 0.0]])
    model = LinearDiscriminantAnalysis().fit(X, [0, 0, 1, 1, 1, 1])
    np.testing.assert_allclose(model.predict_proba(X), [[1 / 3, 2 / 3]] * 6)
    assert model.transform(X).shape == (6, 0)
    assert model.explained_variance_ratio_.tolist() == [0.0]
    assert model.j1_ == 0.0


def test_a_class_of_prior_zero_is_never_chosen() -> None:
    X, y = classes(90, 3, 3, apart=3.0)
    model = LinearDiscriminantAnalysis(priors=[0.0, 0.5, 0.5]).fit(X, y)
    assert 0 not in model.predict(X)
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_priors_that_do_not_sum_to_one_are_scaled() -> None:
    X, y = classes(90, 3, 3)
    with pytest.warns(UserWarning, match="The priors do not sum to 1"):
        model = LinearDiscriminantAnalysis(priors=[1, 1, 2]).fit(X, y)
    assert model.priors_.tolist() == [0.25, 0.25, 0.5]


def test_labels_may_be_text() -> None:
    X, y = classes(60, 3, 2)
    names = np.array(["no", "yes"])[y]
    model = LinearDiscriminantAnalysis().fit(X, names)
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X)) <= {"no", "yes"}
    assert model.get_feature_names_out().tolist() == ["lineardiscriminantanalysis0"]


def test_one_class_is_refused() -> None:
    with pytest.raises(DataError, match=re.escape("needs at least 2 classes; y has 1 class, 'a'")):
        LinearDiscriminantAnalysis().fit([[0.0], [1.0], [2.0]], ["a", "a", "a"])


def test_one_row_per_class_is_refused() -> None:
    with pytest.raises(DataError, match="The number of samples must be more than the number of"):
        LinearDiscriminantAnalysis().fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"solver": "qr"}, "solver must be 'svd', 'lsqr' or 'eigen'; got 'qr'"),
        ({"shrinkage": 0.5}, "shrinkage must be None with solver 'svd' .*; got 0.5"),
        ({"solver": "lsqr", "shrinkage": 2}, r"shrinkage must be .*\[0, 1\].*; got 2"),
        ({"n_components": 3}, r"n_components must be at most min\(.*\) = 2; got 3"),
        ({"n_components": 0}, "n_components must be an integer >= 1.*; got 0"),
        ({"priors": [0.5, 0.5]}, r"priors must hold one number for each of 3 classes"),
        ({"priors": [-0.5, 0.5, 1.0]}, "priors must be non-negative"),
        ({"priors": ["a", "b", "c"]}, "priors must hold numbers only"),
        ({"covariance_estimator": LedoitWolf()}, "covariance_estimator must be None with solver"),
        (
            {"covariance_estimator": LedoitWolf(), "solver": "lsqr", "shrinkage": 0.5},
            "covariance_estimator and shrinkage cannot both be set",
        ),
    ],
)
def test_wrong_parameters_are_refused(settings: dict[str, Any], message: str) -> None:
    X, y = classes(60, 4, 3)
    with pytest.raises(ParameterError, match=message):
        LinearDiscriminantAnalysis(**settings).fit(X, y)


def test_axes_are_not_to_be_had_from_lsqr() -> None:
    X, y = classes(60, 4, 3)
    with pytest.raises(NotImplementedError, match="'lsqr' does not compute"):
        LinearDiscriminantAnalysis(solver="lsqr").fit(X, y).transform(X)


def test_no_warning_leaves_a_fit_on_ordinary_tables() -> None:
    X, y = classes(60, 4, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for settings in SETTINGS[:9]:
            LinearDiscriminantAnalysis(**settings).fit(X, y).predict_proba(X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coef_", np.zeros((3, 3))),
        ("coef_", np.full((3, 4), np.inf)),
        ("priors_", np.array([0.5, 0.5, -1.0])),
        ("j1_", float("nan")),
        ("scalings_", np.zeros((3, 2))),
        ("explained_variance_ratio_", np.zeros(5)),
        ("covariance_", np.zeros((2, 2))),
    ],
)
def test_hostile_states_are_refused(name: str, value: Any) -> None:
    X, y = classes(60, 4, 3)
    model = LinearDiscriminantAnalysis().fit(X, y)
    with pytest.raises(DataError, match="the model is damaged"):
        LinearDiscriminantAnalysis.from_state(
            model.get_params(deep=False), {**model.state(), name: value}
        )
