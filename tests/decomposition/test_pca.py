"""Principal component analysis: routes, counts, whitening, back-projection, likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import decomposition as peers
from sklearn.datasets import load_digits, load_iris, load_wine

from assay.base import DataError, ParameterError, same
from assay.decomposition import PCA

from .tables import correlated

ATTRIBUTES = (
    "mean_",
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "noise_variance_",
)


def assert_same_model(got: Any, expected: Any, tol: float = 1e-9) -> None:
    assert got.n_components_ == expected.n_components_
    for name in ATTRIBUTES:
        left, right = getattr(got, name), getattr(expected, name)
        np.testing.assert_allclose(left, right, rtol=tol, atol=tol, err_msg=name)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"n_components": 3},
        {"n_components": 0},
        {"n_components": 0.9},
        {"n_components": "mle"},
        {"svd_solver": "full"},
        {"svd_solver": "covariance_eigh", "n_components": 2},
        {"svd_solver": "arpack", "n_components": 3, "random_state": 0},
        {"svd_solver": "arpack", "random_state": 0},
        {"svd_solver": "randomized", "n_components": 3, "random_state": 0},
        {"svd_solver": "randomized", "n_components": 3, "random_state": 0, "iterated_power": 2},
        {
            "svd_solver": "randomized",
            "n_components": 2,
            "random_state": 0,
            "power_iteration_normalizer": "QR",
        },
    ],
    ids=str,
)
@pytest.mark.parametrize("table", [load_iris, load_wine], ids=["iris", "wine"])
def test_pca_matches_scikit_learn(settings: dict[str, Any], table: Any) -> None:
    X, _ = table(return_X_y=True)
    X = (X - 1) / X.std(axis=0)
    if "arpack" in settings.values() and "n_components" not in settings:
        settings = {**settings, "n_components": X.shape[1] - 1}
    got, expected = PCA(**settings).fit(X), peers.PCA(**settings).fit(X)
    assert_same_model(got, expected)
    np.testing.assert_allclose(got.transform(X), expected.transform(X), atol=1e-9)


@pytest.mark.parametrize("solver", ["full", "arpack", "randomized"])
def test_pca_matches_scikit_learn_with_more_columns_than_rows(solver: str) -> None:
    X = correlated(30, 80)
    got = PCA(5, svd_solver=solver, random_state=1).fit(X)
    expected = peers.PCA(5, svd_solver=solver, random_state=1).fit(X)
    assert_same_model(got, expected, tol=1e-7)
    whole = PCA(svd_solver="full").fit(X)
    assert whole.n_components_ == 30
    np.testing.assert_allclose(whole.inverse_transform(whole.transform(X)), X, atol=1e-10)


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh"])
def test_pca_is_the_eigendecomposition_of_the_covariance(solver: str, ddof: int) -> None:
    X = correlated(200, 6)
    model = PCA(svd_solver=solver, ddof=ddof).fit(X)
    C = np.cov(X.T, ddof=ddof)
    rebuilt = (model.components_.T * model.explained_variance_) @ model.components_
    np.testing.assert_allclose(rebuilt, C, atol=1e-12)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(6), atol=1e-13)
    np.testing.assert_allclose(model.get_covariance(), C, atol=1e-12)
    assert (np.diff(model.explained_variance_) <= 0).all()


def test_back_projection_leaves_the_variances_that_were_dropped() -> None:
    X = correlated(150, 7)
    values = PCA().fit(X).explained_variance_
    for k in range(8):
        model = PCA(k).fit(X)
        error = np.sum((model.inverse_transform(model.transform(X)) - X) ** 2)
        assert error == pytest.approx(149 * values[k:].sum(), rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("solver", ["auto", "full", "arpack", "randomized"])
def test_whitening_gives_unit_covariance_and_is_undone(solver: str) -> None:
    X = correlated(120, 5)
    model = PCA(4, whiten=True, svd_solver=solver, random_state=0).fit(X)
    np.testing.assert_allclose(np.cov(model.transform(X).T), np.eye(4), atol=1e-9)
    plain = PCA(4, svd_solver=solver, random_state=0).fit(X)
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(X)),
        plain.inverse_transform(plain.transform(X)),
        atol=1e-10,
    )
    # The covariance of a model does not depend on how its scores are scaled.
    np.testing.assert_allclose(model.get_covariance(), plain.get_covariance(), atol=1e-12)


@pytest.mark.parametrize("k", [0, 1, 3, 6])
def test_likelihood_and_precision_match_scikit_learn(k: int) -> None:
    X = correlated(100, 6)
    got, expected = PCA(k).fit(X), peers.PCA(k).fit(X)
    np.testing.assert_allclose(got.score_samples(X), expected.score_samples(X), rtol=1e-9)
    assert got.score(X) == pytest.approx(expected.score(X), rel=1e-10)
    np.testing.assert_allclose(got.get_precision(), expected.get_precision(), atol=1e-9)
    np.testing.assert_allclose(got.get_precision() @ got.get_covariance(), np.eye(6), atol=1e-10)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 0.95, 0.999])
def test_share_of_variance_takes_the_fewest_components_that_reach_it(share: float) -> None:
    X = correlated(80, 8)
    reached = np.cumsum(PCA().fit(X).explained_variance_ratio_)
    k = PCA(share).fit(X).n_components_
    assert reached[k - 1] >= share
    assert k == 1 or reached[k - 2] < share


def test_share_that_is_met_exactly_needs_no_further_component() -> None:
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert PCA(0.5).fit(X).n_components_ == 1


def test_truncated_models_are_those_of_single_fits() -> None:
    X = correlated(90, 6)
    whole = PCA().fit(X)
    for k in range(7):
        part, alone = whole.truncated(k), PCA(k).fit(X)
        assert_same_model(part, alone, tol=1e-12)
        np.testing.assert_array_equal(part.transform(X), alone.transform(X))
        assert same(PCA.from_state(part.get_params(), part.state()), part)
    twice = whole.truncated(5).truncated(2)
    assert twice.noise_variance_ == pytest.approx(PCA(2).fit(X).noise_variance_, rel=1e-12)


@pytest.mark.parametrize("solver", ["auto", "covariance_eigh", "arpack"])
@pytest.mark.parametrize("layout", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_tables_give_the_model_of_the_dense_one(solver: str, layout: Any) -> None:
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((300, 20)) < 0.2, rng.normal(1, 1, (300, 20)), 0.0)
    table = layout(dense)
    got = PCA(4, svd_solver=solver, random_state=0).fit(table)
    expected = PCA(4).fit(dense)
    assert_same_model(got, expected, tol=1e-9)
    np.testing.assert_allclose(got.transform(table), expected.transform(dense), atol=1e-10)
    np.testing.assert_allclose(got.score(table), expected.score(dense), rtol=1e-9)


def test_auto_takes_the_route_that_fits_the_shape() -> None:
    assert PCA(2).fit(correlated(60, 5)).solver_ == "covariance_eigh"
    assert PCA(2).fit(correlated(20, 50)).solver_ == "full"
    wide = np.random.default_rng(0).normal(size=(100, 600))
    assert PCA(2, random_state=0).fit(wide).solver_ == "randomized"
    assert PCA(0.5).fit(wide).solver_ == "full"
    assert PCA(90).fit(wide).solver_ == "full"
    many = sparse.random(60, 1200, density=0.05, random_state=0, format="csr")
    assert PCA(2, random_state=0).fit(many).solver_ == "arpack"
    assert PCA(2).fit(many[:, :900]).solver_ == "covariance_eigh"


def test_auto_leaves_products_of_columns_where_they_lose_digits() -> None:
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    places = np.linalg.qr(rng.normal(size=(500, 4)))[0]
    places = np.linalg.qr(places - places.mean(axis=0))[0]
    singular = np.array([1e4, 1.0, 1e-2, 1e-4])
    X = (places * singular) @ axes.T
    squared = PCA(svd_solver="covariance_eigh").fit(X)
    assert abs(squared.singular_values_[-1] / 1e-4 - 1) > 1e-3
    model = PCA().fit(X)
    assert model.solver_ == "full"
    np.testing.assert_allclose(model.singular_values_, singular, rtol=1e-7)
    assert PCA(2).fit(X).solver_ == "covariance_eigh"


def test_a_large_mean_costs_no_digits() -> None:
    X = np.round(correlated(300, 4, shift=0.0), 3)
    near, far = PCA().fit(X), PCA().fit(X + 2.0**30)
    np.testing.assert_allclose(far.explained_variance_, near.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(far.transform(X + 2.0**30), near.transform(X), atol=1e-6)


@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 8))
def test_rows_in_another_order_give_the_same_model(seed: int, n: int, d: int) -> None:
    X = correlated(n, d, seed)
    order = np.random.default_rng(seed).permutation(n)
    k = min(n - 1, d)
    assert_same_model(PCA(k).fit(X), PCA(k).fit(X[order]), tol=1e-6)


@given(st.integers(0, 10_000), st.floats(-1e3, 1e3), st.floats(0.01, 100.0))
def test_shift_and_scale_of_the_table_move_mean_and_variance_only(
    seed: int, shift: float, scale: float
) -> None:
    X = correlated(40, 4, seed)
    a, b = PCA().fit(X), PCA().fit(scale * X + shift)
    np.testing.assert_allclose(b.components_, a.components_, atol=1e-6)
    np.testing.assert_allclose(b.explained_variance_, scale**2 * a.explained_variance_, rtol=1e-7)
    np.testing.assert_allclose(b.mean_, scale * a.mean_ + shift, rtol=1e-9, atol=1e-9)


@given(st.integers(0, 10_000))
def test_rotations_of_the_table_leave_the_variances_alone(seed: int) -> None:
    X = correlated(50, 5, seed)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(5, 5)))[0]
    np.testing.assert_allclose(
        PCA().fit(X @ turn).explained_variance_, PCA().fit(X).explained_variance_, rtol=1e-9
    )


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "arpack", "randomized"])
def test_the_number_of_threads_changes_no_bit(solver: str) -> None:
    X = correlated(5000, 12)
    one, two = (
        PCA(5, svd_solver=solver, random_state=0, n_jobs=n_jobs).fit(X) for n_jobs in (1, 2)
    )
    assert same(one, two)
    assert one.transform(X).tobytes() == two.transform(X).tobytes()


def test_layout_and_type_of_the_table_do_not_matter() -> None:
    X = correlated(100, 5).astype(np.float32)
    model = PCA(3).fit(X.astype(np.float64))
    for table in (X, np.asfortranarray(X)):
        other = PCA(3).fit(table)
        assert_same_model(other, model, tol=1e-12)
        assert other.transform(table).dtype == np.float32
        assert other.inverse_transform(other.transform(table)).dtype == np.float32
    assert model.transform(X.astype(np.float64)).dtype == np.float64


def test_signs_do_not_depend_on_the_route() -> None:
    X, _ = load_digits(return_X_y=True)
    a = PCA(8).fit(X)
    for solver in ("full", "arpack", "randomized"):
        b = PCA(8, svd_solver=solver, random_state=0, iterated_power=20).fit(X)
        np.testing.assert_allclose(b.components_, a.components_, atol=1e-6)
    top = np.abs(a.components_).argmax(axis=1)
    assert (a.components_[np.arange(8), top] > 0).all()


def test_constant_columns_have_no_part_in_any_direction() -> None:
    X = np.column_stack([correlated(50, 3), np.full(50, 0.1)])
    model = PCA(3).fit(X)
    np.testing.assert_array_equal(model.components_[:, 3], 0.0)
    assert model.mean_[3] == 0.1
    np.testing.assert_array_equal(PCA().fit(X).explained_variance_[3] < 1e-25, True)


@pytest.mark.parametrize("solver", ["auto", "covariance_eigh", "full"])
def test_columns_that_repeat_others_leave_no_negative_variance(solver: str) -> None:
    X = correlated(60, 3)
    twins = np.column_stack([X, X @ np.ones((3, 5)), 2 * X])
    model = PCA(svd_solver=solver).fit(twins)
    assert (model.explained_variance_ >= 0).all()
    assert np.isfinite(model.singular_values_).all()
    assert (model.explained_variance_[3:] < 1e-12 * model.explained_variance_[0]).all()
    np.testing.assert_allclose(model.inverse_transform(model.transform(twins)), twins, atol=1e-9)


def test_a_table_that_does_not_vary_has_no_variance() -> None:
    model = PCA().fit(np.full((5, 3), 2.0))
    np.testing.assert_array_equal(model.explained_variance_, 0.0)
    np.testing.assert_array_equal(model.explained_variance_ratio_, 0.0)
    np.testing.assert_array_equal(model.transform(np.full((1, 3), 2.0)), 0.0)
    assert PCA(0.9).fit(np.full((5, 3), 2.0)).n_components_ == 1


def test_random_projection_finds_what_there_is() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 700)) + rng.normal(size=700)
    model = PCA(3, random_state=0).fit(X)
    assert model.solver_ == "randomized"
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-9)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 6}, r"n_components=6 must be between 0 and min\(.*\)=5"),
        ({"n_components": -1}, "n_components must be an integer >= 0; got -1"),
        ({"n_components": 1.5}, r"n_components must be a number in \(0, 1\); got 1.5"),
        ({"n_components": "most"}, "n_components must be 'mle'; got 'most'"),
        ({"svd_solver": "eigen"}, "svd_solver must be 'auto', 'full', .*; got 'eigen'"),
        ({"ddof": 2}, r"ddof must be an integer in \[0, 1\]; got 2"),
        (
            {"svd_solver": "arpack", "n_components": 5},
            "n_components must be an integer from 1 to 4 with svd_solver='arpack'; got 5",
        ),
        (
            {"svd_solver": "randomized", "n_components": 0.5},
            "n_components must be an integer from 1 to 5 with svd_solver='randomized'; got 0.5",
        ),
    ],
)
def test_wrong_parameters_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        PCA(**settings).fit(correlated(20, 5))


def test_minka_needs_more_rows_than_columns() -> None:
    with pytest.raises(ParameterError, match="only supported if n_samples >= n_features"):
        PCA("mle").fit(correlated(4, 6))


def test_unusable_tables_are_refused() -> None:
    with pytest.raises(DataError, match="PCA needs at least 2 rows"):
        PCA().fit([[1.0, 2.0]])
    with pytest.raises(DataError, match="a sparse X needs svd_solver"):
        PCA(svd_solver="full").fit(sparse.eye(4, format="csr"))
    model = PCA(2).fit(correlated(10, 4))
    with pytest.raises(DataError, match="X has 3 columns, the model has 2 components"):
        model.inverse_transform(np.zeros((1, 3)))
    with pytest.raises(ParameterError, match=r"n_components must be an integer in \[0, 2\]"):
        model.truncated(3)


def test_a_singular_model_has_no_likelihood() -> None:
    X = correlated(5, 8)
    with pytest.raises(DataError, match="the covariance of the model is singular"):
        PCA().fit(X).score(X)
    with pytest.raises(DataError, match="the covariance of the model is singular"):
        PCA().fit(X).get_precision()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("components_", np.full((2, 4), np.nan)),
        ("explained_variance_", np.array([1.0, -1.0])),
        ("n_components_", 3),
        ("n_components_", True),
        ("noise_variance_", float("inf")),
        ("solver_", 3),
        ("factor_", np.zeros((9, 4))),
    ],
)
def test_hostile_states_are_refused(name: str, value: Any) -> None:
    model = PCA(2).fit(correlated(10, 4))
    with pytest.raises(DataError, match="the model is damaged"):
        PCA.from_state(model.get_params(), {**model.state(), name: value})
