"""Gaussian mixtures against closed forms, scikit-learn and brute-force marginals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import multivariate_normal
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture as Peer

from assay.base import DataError, ParameterError, same
from assay.cluster import GaussianMixture

KINDS = ("full", "tied", "diag", "spherical")
Array = NDArray[np.float64]


def table(n: int = 400, d: int = 3, k: int = 3, spread: float = 2.0, seed: int = 0) -> Array:
    """Return overlapping groups."""
    X, _ = make_blobs(n, d, centers=k, cluster_std=spread, random_state=seed)
    return np.asarray(X)


def with_gaps(X: Array, share: float = 0.25, seed: int = 1) -> Array:
    """Return the rows with values missing at random."""
    holes = np.random.default_rng(seed).random(X.shape) < share
    return np.where(holes, np.nan, X)


def unit_precisions(kind: str, k: int, d: int) -> Array:
    """Return the precisions of round components."""
    full = np.repeat(np.eye(d)[None], k, axis=0)
    shapes = {"full": full, "tied": np.eye(d), "diag": np.ones((k, d)), "spherical": np.ones(k)}
    return shapes[kind]


def full_covariances(model: GaussianMixture) -> Array:
    """Return one covariance matrix per component, whatever the kind."""
    k, d = model.means_.shape
    found = model.covariances_
    if model.covariance_type == "tied":
        return np.repeat(found[None], k, axis=0)
    if model.covariance_type == "diag":
        return np.array([np.diag(variances) for variances in found])
    if model.covariance_type == "spherical":
        return np.array([np.eye(d) * variance for variance in found])
    return np.asarray(found)


def marginal_joint(model: GaussianMixture, X: Array) -> Array:
    """Return log w_k + log N(x_o; mu_o, S_oo), row by row, by SciPy."""
    covariances = full_covariances(model)
    out = np.repeat(np.log(model.weights_)[None], len(X), axis=0)
    for i, row in enumerate(X):
        seen = np.flatnonzero(~np.isnan(row))
        for k, covariance in enumerate(covariances):
            if len(seen):
                part = covariance[np.ix_(seen, seen)]
                out[i, k] += multivariate_normal(model.means_[k, seen], part).logpdf(row[seen])
    return out


def brute_step(model: GaussianMixture, X: Array) -> tuple[Array, Array, Array]:
    """Return weights, means and full covariances after one EM step, by the textbook."""
    joint = marginal_joint(model, X)
    shares = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    k, d = model.means_.shape
    means, covariances = np.zeros((k, d)), np.zeros((k, d, d))
    for c, S in enumerate(full_covariances(model)):
        filled, extra = np.empty_like(X), np.zeros((len(X), d, d))
        for i, row in enumerate(X):
            o, m = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
            slope = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
            filled[i] = row
            filled[i, m] = model.means_[c, m] + slope @ (row[o] - model.means_[c, o])
            extra[i][np.ix_(m, m)] = S[np.ix_(m, m)] - slope @ S[np.ix_(o, m)]
        r = shares[:, c]
        means[c] = r @ filled / r.sum()
        gap = filled - means[c]
        covariances[c] = (
            np.einsum("i,ij,ik->jk", r, gap, gap) + np.tensordot(r, extra, 1)
        ) / r.sum()
    return shares.mean(axis=0), means, covariances


def in_kind(kind: str, weights: Array, covariances: Array) -> Array:
    """Return full covariances as the M step of another kind has them."""
    if kind == "tied":
        return np.tensordot(weights, covariances, 1)
    diagonal = np.diagonal(covariances, axis1=1, axis2=2)
    if kind == "diag":
        return np.asarray(diagonal)
    return np.asarray(diagonal.mean(axis=1)) if kind == "spherical" else covariances


# Oracles


@pytest.mark.parametrize("kind", KINDS)
def test_one_component_is_mean_and_covariance(kind: str) -> None:
    X = table() + 1e6
    model = GaussianMixture(1, covariance_type=kind, reg_covar=0.0).fit(X)
    covariance = np.cov(X.T, bias=True)
    expected = in_kind(kind, np.ones(1), covariance[None])
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(
        model.covariances_, expected.reshape(model.covariances_.shape), rtol=1e-8
    )
    assert model.weights_.tolist() == [1.0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_mixture_equals_scikit_learn_from_the_same_start(kind: str, dtype: type) -> None:
    X: Array = table(300, 5, 4).astype(dtype)
    settings: dict[str, Any] = {
        "n_components": 4,
        "covariance_type": kind,
        "weights_init": np.full(4, 0.25),
        "means_init": X[:4].astype(np.float64),
        "precisions_init": unit_precisions(kind, 4, 5),
        "tol": 1e-4,
        "max_iter": 100,
    }
    ours, peer = GaussianMixture(**settings).fit(X), Peer(**settings).fit(X.astype(np.float64))
    assert ours.n_iter_ == peer.n_iter_
    assert ours.lower_bound_ == pytest.approx(peer.lower_bound_, rel=1e-9)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        mine, theirs = getattr(ours, name), getattr(peer, name)
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-8, err_msg=name)
    for name in ("predict_proba", "score_samples"):
        mine, theirs = getattr(ours, name)(X), getattr(peer, name)(X.astype(np.float64))
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-7, err_msg=name)
    assert (ours.predict(X) == peer.predict(X.astype(np.float64))).all()
    assert ours.bic(X) == pytest.approx(peer.bic(X.astype(np.float64)), rel=1e-8)
    assert ours.aic(X) == pytest.approx(peer.aic(X.astype(np.float64)), rel=1e-8)
    assert ours.score(X) == pytest.approx(peer.score(X.astype(np.float64)), rel=1e-8)


@pytest.mark.parametrize("init", ["kmeans", "random"])
def test_mixture_starts_where_scikit_learn_starts(init: str) -> None:
    X = table(600, 4, 3, spread=1.0)
    ours = GaussianMixture(3, init_params=init, max_iter=0, random_state=3).fit(X)
    peer = Peer(3, init_params=init, max_iter=0, random_state=3).fit(X)
    np.testing.assert_allclose(ours.means_, peer.means_, rtol=1e-9)
    np.testing.assert_allclose(ours.covariances_, peer.covariances_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random_from_data"])
def test_mixture_finds_groups_that_are_apart(init: str) -> None:
    X, y = make_blobs(500, 3, centers=4, cluster_std=0.5, random_state=2)
    model = GaussianMixture(4, init_params=init, n_init=5, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.99


@pytest.mark.parametrize("kind", KINDS)
def test_density_of_rows_with_gaps_is_the_marginal(kind: str) -> None:
    X = table(200, 4)
    model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    holed = with_gaps(X[:60], 0.4)
    holed[0] = np.nan  # nothing is known: the prior
    joint = marginal_joint(model, holed)
    norm = np.logaddexp.reduce(joint, axis=1)
    np.testing.assert_allclose(model.score_samples(holed), norm, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        model.predict_proba(holed), np.exp(joint - norm[:, None]), rtol=1e-9, atol=1e-14
    )
    assert (model.predict(holed) == joint.argmax(axis=1)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_step_with_gaps_is_the_textbook_step(kind: str) -> None:
    X = with_gaps(table(150, 4), 0.3)
    begin = GaussianMixture(2, covariance_type=kind, reg_covar=0.0, max_iter=0, random_state=0)
    begin.fit(X)
    weights, means, covariances = brute_step(begin, X)
    with pytest.warns(ConvergenceWarning):
        model = GaussianMixture(
            2,
            covariance_type=kind,
            reg_covar=0.0,
            max_iter=1,
            weights_init=begin.weights_,
            means_init=begin.means_,
            precisions_init=begin.precisions_,
        ).fit(X)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-9)
    np.testing.assert_allclose(model.means_, means, rtol=1e-8, atol=1e-9)
    expected = in_kind(kind, weights, covariances)
    np.testing.assert_allclose(model.covariances_, expected, rtol=1e-7, atol=1e-9)
    joint = marginal_joint(begin, X)
    assert model.lower_bound_ == pytest.approx(np.logaddexp.reduce(joint, axis=1).mean(), rel=1e-9)


def test_gaps_in_one_gaussian_give_the_maximum_likelihood_of_the_marginals() -> None:
    X = with_gaps(table(300, 3, 1), 0.3)
    model = GaussianMixture(1, reg_covar=0.0, tol=1e-12, max_iter=500).fit(X)

    def likelihood(means: Array, covariance: Array) -> float:
        total = 0.0
        for row in X:
            o = np.flatnonzero(~np.isnan(row))
            if len(o):
                part = multivariate_normal(means[o], covariance[np.ix_(o, o)])
                total += float(part.logpdf(row[o]))
        return total

    best = likelihood(model.means_[0], model.covariances_[0])
    assert best / len(X) == pytest.approx(model.lower_bound_, rel=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(10):  # no direction leads upward
        tilt = rng.normal(size=(3, 3)) * 0.02
        covariance = model.covariances_[0] + tilt + tilt.T
        assert likelihood(model.means_[0] + rng.normal(size=3) * 0.02, covariance) < best


# Invariants


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(KINDS),
    k=st.integers(1, 4),
    d=st.integers(1, 6),
    gaps=st.booleans(),
    reg_covar=st.sampled_from([0.0, 1e-6, 0.1]),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_likelihood_never_falls(
    seed: int, kind: str, k: int, d: int, gaps: bool, reg_covar: float
) -> None:
    X = np.random.default_rng(seed).normal(size=(120, d)) @ np.diag(np.arange(1.0, d + 1))
    if gaps:
        X = with_gaps(X, 0.2, seed)
    model = GaussianMixture(
        k, covariance_type=kind, reg_covar=reg_covar, tol=0.0, max_iter=40, random_state=seed
    ).fit(X)
    assert (np.diff(model.lower_bounds_) > 0).all()
    assert model.lower_bound_ == model.lower_bounds_[-1]
    final = model.score(X)
    if reg_covar == 0:
        assert final >= model.lower_bound_ - 1e-9 * abs(model.lower_bound_)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert model.weights_.sum() == pytest.approx(1.0)


def test_without_regularisation_even_the_unchecked_steps_never_fall() -> None:
    X = table(300, 3, 3)
    bounds = []
    for steps in range(1, 25):
        with pytest.warns(ConvergenceWarning):
            model = GaussianMixture(
                3, reg_covar=0.0, tol=0.0, max_iter=steps, init_params="random", random_state=1
            ).fit(X)
        bounds.append(model.score(X))
    assert (np.diff(bounds) > -1e-12).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gaps", [False, True])
def test_mixture_is_independent_of_n_jobs(kind: str, gaps: bool) -> None:
    X = table(5000, 4)
    X = with_gaps(X) if gaps else X
    one, two = (
        GaussianMixture(3, covariance_type=kind, n_init=2, random_state=0, n_jobs=jobs).fit(X)
        for jobs in (1, 2)
    )
    assert same(one, two)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000))
def test_order_of_rows_changes_rounding_only(seed: int) -> None:
    X = with_gaps(table(200, 3), 0.1)
    order = np.random.default_rng(seed).permutation(len(X))
    settings: dict[str, Any] = {
        "n_components": 2,
        "weights_init": [0.5, 0.5],
        "means_init": np.nan_to_num(X[:2]),
        "precisions_init": unit_precisions("full", 2, 3) / 10,
        "max_iter": 5,
        "tol": 10.0,
    }
    one, two = GaussianMixture(**settings).fit(X), GaussianMixture(**settings).fit(X[order])
    np.testing.assert_allclose(one.means_, two.means_, rtol=1e-9, atol=1e-10)
    assert (one.labels_[order] == two.labels_).all()


def test_a_shift_of_the_table_shifts_the_means() -> None:
    X = table(300, 3)
    one = GaussianMixture(3, random_state=0).fit(X)
    two = GaussianMixture(3, random_state=0).fit(X + 1e5)
    np.testing.assert_allclose(one.means_ + 1e5, two.means_, rtol=1e-9)
    np.testing.assert_allclose(one.covariances_, two.covariances_, rtol=1e-4)


def test_arrays_in_column_order_and_float32_are_read() -> None:
    X = table(100)
    plain = GaussianMixture(2, random_state=0).fit(X)
    assert same(plain, GaussianMixture(2, random_state=0).fit(np.asfortranarray(X)))
    narrow = GaussianMixture(2, random_state=0).fit(X.astype(np.float32))
    np.testing.assert_allclose(narrow.means_, plain.means_, rtol=1e-4)
    assert narrow.means_.dtype == np.float64


# Behaviour


def test_restarts_keep_the_best() -> None:
    X = table(300, 2, 6, spread=0.7, seed=4)
    singles = []
    rng = np.random.RandomState(0)
    for _ in range(6):
        singles.append(
            GaussianMixture(6, init_params="random_from_data", random_state=rng).fit(X).lower_bound_
        )
    many = GaussianMixture(6, init_params="random_from_data", n_init=6, random_state=0).fit(X)
    assert many.lower_bound_ == max(singles) > min(singles)


def test_warm_start_goes_on_where_it_stopped() -> None:
    X = table(500, 3)
    model = GaussianMixture(3, max_iter=2, warm_start=True, random_state=0)
    bounds = []
    for _ in range(4):
        with pytest.warns(ConvergenceWarning):
            model.set_params(tol=0.0).fit(X)
        bounds.append(model.lower_bound_)
    with pytest.warns(ConvergenceWarning):
        straight = GaussianMixture(3, max_iter=8, tol=0.0, random_state=0).fit(X)
    assert np.array_equal(model.means_, straight.means_)
    assert (np.diff(bounds) > 0).all()
    model.set_params(n_components=2)
    with pytest.raises(ParameterError, match="warm_start=True continues from the last fit"):
        model.fit(X)


def test_bic_chooses_the_number_of_components() -> None:
    X, _ = make_blobs(600, 2, centers=[[0, 0], [5, 5], [0, 6]], random_state=0)
    for rows in (X, with_gaps(X, 0.15)):
        found = [
            GaussianMixture(k, n_init=3, random_state=0).fit(rows).bic(rows) for k in range(1, 6)
        ]
        assert int(np.argmin(found)) + 1 == 3


def test_criteria_count_the_free_parameters() -> None:
    X = table(100, 3)
    for kind, q in {
        "full": 2 * 6 + 6 + 1,
        "tied": 6 + 7,
        "diag": 6 + 7,
        "spherical": 2 + 7,
    }.items():
        model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
        assert model.aic(X) == pytest.approx(-200 * model.score(X) + 2 * q)
        assert model.bic(X) == pytest.approx(-200 * model.score(X) + q * np.log(100))


@pytest.mark.parametrize("kind", KINDS)
def test_samples_follow_the_mixture(kind: str) -> None:
    model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(table(400, 2, 2))
    X, y = model.sample(20_000)
    assert X.shape == (20_000, 2)
    np.testing.assert_allclose(np.bincount(y) / len(y), model.weights_, atol=0.02)
    for k, covariance in enumerate(full_covariances(model)):
        np.testing.assert_allclose(X[y == k].mean(axis=0), model.means_[k], atol=0.15)
        np.testing.assert_allclose(np.cov(X[y == k].T), covariance, rtol=0.1, atol=0.15)


def test_verbose_tells_starts_and_steps(capsys: pytest.CaptureFixture[str]) -> None:
    X = table(100)
    with pytest.warns(ConvergenceWarning):
        GaussianMixture(2, verbose=2, verbose_interval=1, max_iter=2, random_state=0, tol=0).fit(X)
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "Initialization 0"
    assert told[2].startswith("  Iteration 2\t gain ")


# Edges


def test_a_component_on_equal_rows_is_held_by_reg_covar() -> None:
    X = np.vstack([np.zeros((20, 2)), table(200, 2, 1) + 20])
    model = GaussianMixture(2, random_state=0).fit(X)
    at = int(model.predict([[0.0, 0.0]])[0])
    np.testing.assert_allclose(model.covariances_[at], 1e-6 * np.eye(2), rtol=1e-6, atol=1e-12)
    with pytest.raises(
        DataError, match=r"component \d has a singular covariance.*reg_covar \(it is 0\)"
    ):
        GaussianMixture(2, reg_covar=0.0, random_state=0).fit(X)


@pytest.mark.parametrize("kind", KINDS)
def test_constant_and_dependent_columns(kind: str) -> None:
    X = table(100, 2)
    X = np.column_stack([X, X[:, 0], np.full(100, 7.0)])
    model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    assert np.isfinite(model.score(X))
    if kind != "spherical":
        with pytest.raises(DataError, match="singular covariance"):
            GaussianMixture(2, covariance_type=kind, reg_covar=0.0, random_state=0).fit(X)


def test_the_common_covariance_is_named_when_it_is_singular() -> None:
    X = np.column_stack([table(50, 1), np.ones(50)])
    with pytest.raises(DataError, match="the common covariance has a singular covariance"):
        GaussianMixture(2, covariance_type="tied", reg_covar=0.0, random_state=0).fit(X)


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "random_from_data"])
def test_more_components_than_distinct_rows(init: str) -> None:
    X = np.repeat([[0.0, 0.0], [5.0, 5.0]], 10, axis=0)
    model = GaussianMixture(4, init_params=init, random_state=0).fit(X)
    assert np.isfinite(model.means_).all()
    assert model.weights_.sum() == pytest.approx(1.0)
    assert np.isfinite(model.score_samples([[0.0, 0.0], [5.0, 5.0], [2.0, 2.0]])).all()


def test_a_component_without_rows_keeps_its_place_with_weight_zero() -> None:
    X = table(100, 2, 1)
    model = GaussianMixture(
        2,
        weights_init=[0.5, 0.5],
        means_init=[X.mean(axis=0), [1e5, 1e5]],
        precisions_init=unit_precisions("full", 2, 2),
        tol=1e-3,
    ).fit(X)
    assert model.weights_.tolist() == [1.0, 0.0]
    assert model.means_[1].tolist() == [1e5, 1e5]
    assert model.covariances_[1].tolist() == np.eye(2).tolist()
    assert (model.predict(X) == 0).all()
    assert np.array_equal(model.predict_proba(X)[:, 1], np.zeros(100))
    assert (model.sample(50)[1] == 0).all()


def test_one_row_and_one_column_are_enough() -> None:
    model = GaussianMixture().fit([[3.0]])
    assert model.means_.tolist() == [[3.0]]
    assert model.covariances_.ravel() == pytest.approx([1e-6])


def test_far_rows_have_finite_answers() -> None:
    model = GaussianMixture(2, random_state=0).fit(table(100, 2, 2))
    far = np.array([[1e200, -1e200], [1e150, 0.0]])
    assert np.isfinite(model.score_samples(far)).all()
    np.testing.assert_allclose(model.predict_proba(far).sum(axis=1), 1.0)


def test_a_table_of_many_patterns_is_fitted() -> None:
    X = with_gaps(table(400, 8), 0.5)
    model = GaussianMixture(2, random_state=0, reg_covar=1e-3, tol=1e-2).fit(X)
    assert model.labels_.shape == (400,)
    assert (model.labels_ == model.predict(X)).all()


# Errors


def test_a_column_without_values_is_refused() -> None:
    X = table(50)
    X[:, 1] = np.nan
    with pytest.raises(DataError, match=r"column 1 of X has no value in any row \(all NaN\)"):
        GaussianMixture(2).fit(X)


def test_more_components_than_rows_are_refused() -> None:
    with pytest.raises(
        ParameterError,
        match=r"n_components must be at most the number of rows \(3 samples\); got 4",
    ):
        GaussianMixture(4).fit(table(3))


def test_infinite_values_are_refused() -> None:
    X = table(10)
    X[3, 1] = np.inf
    with pytest.raises(DataError, match="inf"):
        GaussianMixture().fit(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"weights_init": [0.5, 0.6]}, "weights_init must not be negative and sum to 1"),
        ({"weights_init": [1.0]}, r"weights_init must be .* of shape \(2,\); got shape \(1,\)"),
        ({"means_init": [[1.0, 2.0]]}, r"means_init must be .* of shape \(2, 3\)"),
        ({"means_init": "far"}, "means_init must be None or numbers"),
        ({"precisions_init": -np.ones((2, 3)), "covariance_type": "diag"}, "must be positive"),
        ({"precisions_init": np.ones((2, 3, 3))}, "symmetric, positive definite"),
        ({"covariance_type": "ful"}, "did you mean 'full'"),
        ({"reg_covar": -1.0}, "reg_covar must be"),
        ({"init_params": "kmean"}, "did you mean 'kmeans'"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        GaussianMixture(**{"n_components": 2, **params}).fit(table(50))


def test_a_fit_that_ran_out_of_steps_says_so() -> None:
    with pytest.warns(
        ConvergenceWarning, match="did not converge in max_iter=2 iterations: the last gain"
    ):
        model = GaussianMixture(3, max_iter=2, tol=1e-12, random_state=0).fit(table())
    assert (model.converged_, model.stop_reason_) == (False, "max_iter")


def damage(model: GaussianMixture, **changes: Any) -> None:
    GaussianMixture.from_state(model.get_params(deep=False), {**model.state(), **changes})


def test_a_hostile_state_is_refused() -> None:
    model = GaussianMixture(2, random_state=0).fit(table(50))
    damage(model)
    hostile: dict[str, Any] = {
        "weights_": np.array([0.9, 0.9]),
        "means_": np.full((2, 3), np.nan),
        "covariances_": -model.covariances_,
        "precisions_cholesky_": 2 * model.precisions_cholesky_,
        "labels_": np.full(50, 7, dtype=np.int32),
        "n_iter_": 10**12,
        "lower_bound_": "high",
        "stop_reason_": "magic",
        "converged_": 1,
        "n_samples_fit_": -1,
    }
    for name, value in hostile.items():
        with pytest.raises(DataError, match="damaged"):
            damage(model, **{name: value})
    lopsided = model.covariances_.copy()
    lopsided[0, 0, 1] += 1.0
    with pytest.raises(DataError, match="not symmetric"):
        damage(model, covariances_=lopsided)
