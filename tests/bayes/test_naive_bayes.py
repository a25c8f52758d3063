"""Naive Bayes against scikit-learn, SciPy and the formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import gaussian_kde, norm
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from assay.base import DataError, ParameterError, same
from assay.bayes import NaiveBayesClassifier

Array = NDArray[Any]


def mixed(n: int = 200, seed: int = 0) -> tuple[Array, Array]:
    """Return two numeric columns, two columns of levels 0..3, and classes that depend on them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    levels = (y[:, None] + rng.integers(0, 3, (n, 2))) % 4
    return np.column_stack([rng.normal(size=(n, 2)) + y[:, None], levels]), y


def with_gaps(X: Array, share: float = 0.2, seed: int = 5) -> Array:
    holes = np.random.default_rng(seed).random(X.shape) < share
    return np.where(holes, np.nan, X)


NOMINAL: dict[str, Any] = {"categorical_features": [2, 3]}


# Oracles


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
@pytest.mark.parametrize("var_smoothing", [1e-9, 1e-3])
def test_gaussian_columns_equal_scikit_learn(load: Any, var_smoothing: float) -> None:
    X, y = load(return_X_y=True)
    ours = NaiveBayesClassifier(var_smoothing=var_smoothing).fit(X, y)
    peer = GaussianNB(var_smoothing=var_smoothing).fit(X, y)
    np.testing.assert_allclose(ours.theta_, peer.theta_, rtol=1e-12)
    np.testing.assert_allclose(ours.var_, peer.var_, rtol=1e-11)
    np.testing.assert_allclose(ours.class_prior_, peer.class_prior_, rtol=1e-15)
    assert ours.epsilon_ == pytest.approx(peer.epsilon_, rel=1e-12)
    # Where a pixel is constant in a class, exponents reach 1e9 and keep that many digits less.
    joint = peer.predict_joint_log_proba(X)
    scale = np.abs(joint).max()
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), joint, rtol=1e-9, atol=1e-13 * scale
    )
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=0, atol=1e-10)
    assert (ours.predict(X) == peer.predict(X)).all()


def test_gaussian_columns_with_weights_and_priors_equal_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y))
    priors = [0.2, 0.3, 0.5]
    ours = NaiveBayesClassifier(priors=priors, var_smoothing=0.0).fit(X, y, weight)
    peer = GaussianNB(priors=priors, var_smoothing=0.0).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_nominal_columns_equal_scikit_learn(alpha: float, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (300, 6)), rng.integers(0, 3, 300)
    weight = rng.random(300) if weighted else None
    ours = NaiveBayesClassifier(alpha=alpha, categorical_features=np.arange(6)).fit(X, y, weight)
    peer = CategoricalNB(alpha=alpha).fit(X, y, weight)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), peer.predict_joint_log_proba(X), atol=1e-11
    )
    np.testing.assert_allclose(ours.predict_log_proba(X), peer.predict_log_proba(X), atol=1e-10)


def test_mixed_columns_are_the_product_of_their_parts() -> None:
    X, y = mixed()
    model = NaiveBayesClassifier(
        numeric=["gaussian", "kde", "kde", "kde"], var_smoothing=0, **NOMINAL
    )
    joint = model.fit(X, y).predict_joint_log_proba(X)
    for c in range(3):
        mine = X[y == c]
        said = np.log((y == c).mean())
        said = said + norm(mine[:, 0].mean(), mine[:, 0].std()).logpdf(X[:, 0])
        said = said + np.log(gaussian_kde(mine[:, 1])(X[:, 1]))
        for j in (2, 3):
            counts = np.array([(mine[:, j] == level).sum() for level in range(4)])
            said = said + np.log((counts + 1) / (counts.sum() + 4))[X[:, j].astype(int)]
        np.testing.assert_allclose(joint[:, c], said, rtol=1e-10)
    assert model.gaussian_features_.tolist() == [0]
    assert model.kde_features_.tolist() == [1]


def test_missing_values_add_nothing() -> None:
    X, y = mixed(300)
    X = with_gaps(X)
    model = NaiveBayesClassifier(var_smoothing=0, **NOMINAL).fit(X, y)
    joint = model.predict_joint_log_proba(X)
    for c in range(3):
        said = np.full(len(X), np.log((y == c).mean()))
        for j in range(4):
            own = X[y == c, j]
            own, known = own[~np.isnan(own)], ~np.isnan(X[:, j])
            if j < 2:
                said[known] += norm(own.mean(), own.std()).logpdf(X[known, j])
            else:
                counts = np.array([(own == level).sum() for level in range(4)])
                share = np.log((counts + 1) / (counts.sum() + 4))
                said[known] += share[X[known, j].astype(int)]
        np.testing.assert_allclose(joint[:, c], said, rtol=1e-10)


def test_dataframes_bring_their_nominal_columns() -> None:
    X, y = mixed()
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2].astype(str), "d": X[:, 3]})
    frame["d"] = frame["d"].map({0: "w", 1: "x", 2: "y", 3: "z"}).astype("category")
    named = NaiveBayesClassifier().fit(frame, y)
    plain = NaiveBayesClassifier(**NOMINAL).fit(X, y)
    assert named.categorical_features_.tolist() == [2, 3]
    np.testing.assert_allclose(named.predict_proba(frame), plain.predict_proba(X), rtol=1e-12)


# Invariances


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), kind=st.sampled_from(["gaussian", "kde"]))
def test_weights_are_repeated_rows(seed: int, kind: str) -> None:
    X, y = mixed(60, seed)
    X = with_gaps(X, 0.1, seed)
    times = np.random.default_rng(seed).integers(0, 3, 60)
    times[:9] = 1
    y[:9] = np.repeat([0, 1, 2], 3)
    X[:9] = np.nan_to_num(X[:9])
    model = NaiveBayesClassifier(numeric=kind, bandwidth=0.5, var_smoothing=1e-3, **NOMINAL)
    weighted = model.fit(X, y, times.astype(float)).predict_proba(X)
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict_proba(X)
    # A kernel density divides by n - 1 in both, but n is the weight in one, and rows in the other.
    tolerance = 1e-9 if kind == "gaussian" else 0.2
    np.testing.assert_allclose(weighted, repeated, atol=tolerance)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), cut=st.integers(1, 99), kind=st.sampled_from(["gaussian", "kde"]))
def test_batches_are_one_fit(seed: int, cut: int, kind: str) -> None:
    X, y = mixed(100, seed)
    X = with_gaps(X, 0.1, seed)
    model = NaiveBayesClassifier(numeric=kind, **NOMINAL)
    parts = NaiveBayesClassifier(numeric=kind, **NOMINAL)
    parts.partial_fit(X[:cut], y[:cut], classes=[0, 1, 2]).partial_fit(X[cut:], y[cut:])
    whole = model.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(parts.predict_proba(X), whole, rtol=1e-9, atol=1e-12)


def test_order_of_rows_and_columns_does_not_matter() -> None:
    X, y = mixed()
    order, columns = np.random.default_rng(0).permutation(len(X)), [3, 1, 0, 2]
    one = NaiveBayesClassifier(**NOMINAL).fit(X, y)
    two = NaiveBayesClassifier(categorical_features=[0, 3]).fit(X[order][:, columns], y[order])
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X[:, columns]), rtol=1e-10)


def test_scale_and_shift_of_a_column_do_not_matter_without_smoothing() -> None:
    X, y = load_iris(return_X_y=True)
    for kind in ("gaussian", "kde"):
        model = NaiveBayesClassifier(numeric=kind, var_smoothing=0.0)
        one = model.fit(X, y).predict_proba(X)
        two = model.fit(X * 1000 - 7, y).predict_proba(X * 1000 - 7)
        np.testing.assert_allclose(one, two, atol=1e-9)


def test_model_is_independent_of_n_jobs() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 5)), rng.integers(0, 3, 20_000)
    one, two = (NaiveBayesClassifier(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert same(one, two)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_float32_and_column_order_are_read() -> None:
    X, y = load_iris(return_X_y=True)
    plain = NaiveBayesClassifier().fit(X, y)
    assert same(plain, NaiveBayesClassifier().fit(np.asfortranarray(X), y))
    narrow = NaiveBayesClassifier().fit(X.astype(np.float32), y)
    np.testing.assert_allclose(narrow.theta_, plain.theta_, rtol=1e-6)
    assert narrow.predict_proba(X.astype(np.float32)).dtype == np.float64


# Batches


def test_levels_that_come_later_are_learned() -> None:
    first = pd.DataFrame({"colour": ["red", "blue"], "size": [1.0, 2.0]})
    later = pd.DataFrame({"colour": ["green", "red"], "size": [3.0, 4.0]})
    model = NaiveBayesClassifier().partial_fit(first, ["a", "b"], classes=["a", "b"])
    model.partial_fit(later, ["b", "a"])
    whole = NaiveBayesClassifier().fit(pd.concat([first, later]), ["a", "b", "b", "a"])
    assert sorted(model.levels_.tolist()) == ["blue", "green", "red"]
    np.testing.assert_allclose(model.predict_proba(later), whole.predict_proba(later), rtol=1e-12)


def test_batches_need_their_classes_first() -> None:
    X, y = mixed()
    with pytest.raises(ParameterError, match="classes must be given in the first call"):
        NaiveBayesClassifier().partial_fit(X, y)
    model = NaiveBayesClassifier().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ParameterError, match="classes must be those of the first call"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(DataError, match=r"y has the class .*7.*not among the classes"):
        model.partial_fit(X, np.full(len(X), 7))
    with pytest.raises(ParameterError, match="numeric must stay as it was"):
        model.set_params(numeric="kde").partial_fit(X, y)


def test_a_class_that_never_came_has_probability_zero() -> None:
    X, y = load_iris(return_X_y=True)
    model = NaiveBayesClassifier().partial_fit(X, y, classes=[0, 1, 2, 3])
    assert (model.predict_proba(X)[:, 3] == 0).all()
    assert (model.predict(X) == GaussianNB().fit(X, y).predict(X)).all()


# Edges


def test_a_class_without_values_in_a_column_takes_those_of_all() -> None:
    X = np.array([[0.0, 1.0], [1.0, 2.0], [0.5, np.nan], [1.5, np.nan]])
    model = NaiveBayesClassifier().fit(X, [0, 0, 1, 1])
    assert model.theta_[1, 1] == 1.5
    assert model.var_[1, 1] == pytest.approx(0.25)
    model = NaiveBayesClassifier(categorical_features=[1]).fit(X, [0, 0, 1, 1])
    assert np.exp(model.level_log_prob_[1]).tolist() == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("kind", ["gaussian", "kde"])
def test_a_column_without_values_says_nothing(kind: str) -> None:
    X, y = load_iris(return_X_y=True)
    gone = np.column_stack([X, np.full(len(X), np.nan)])
    model = NaiveBayesClassifier(numeric=kind)
    expected = model.fit(X, y).predict_proba(X)
    later = np.column_stack([X, np.ones(len(X))])
    assert np.array_equal(model.fit(gone, y).predict_proba(later), expected)
    nominal = NaiveBayesClassifier(numeric=kind, categorical_features=[4]).fit(gone, y)
    assert np.array_equal(nominal.predict_proba(later), expected)


def test_constant_columns_say_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    model = NaiveBayesClassifier()
    expected = model.fit(X, y).predict_proba(X)
    extra = np.column_stack([X, np.full(len(X), 3.0)])
    np.testing.assert_allclose(model.fit(extra, y).predict_proba(extra), expected, atol=1e-12)
    only = np.full((4, 1), 3.0)
    model.fit(only, [0, 0, 0, 1])
    np.testing.assert_allclose(model.predict_proba(only), [[0.75, 0.25]] * 4)


@pytest.mark.parametrize("kind", ["gaussian", "kde"])
def test_a_column_that_is_constant_in_a_class_needs_smoothing(kind: str) -> None:
    X, y = [[1.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    with pytest.raises(DataError, match=r"column 0 of X is constant in class .*'a'.*var_smoothing"):
        NaiveBayesClassifier(numeric=kind, var_smoothing=0.0).fit(X, y)
    assert NaiveBayesClassifier(numeric=kind).fit(X, y).predict([[1.0], [2.5]]).tolist() == [
        "a",
        "b",
    ]


def test_one_class_is_always_predicted() -> None:
    X, _ = mixed()
    model = NaiveBayesClassifier(**NOMINAL).fit(X, np.full(len(X), "only"))
    assert set(model.predict(X)) == {"only"}
    assert np.array_equal(model.predict_proba(X), np.ones((len(X), 1)))


def test_an_unseen_level_says_nothing() -> None:
    X, y = mixed()
    model = NaiveBayesClassifier(**NOMINAL).fit(X, y)
    strange, missing = X[:5].copy(), X[:5].copy()
    strange[:, 2], missing[:, 2] = 99, np.nan
    assert np.array_equal(model.predict_proba(strange), model.predict_proba(missing))


def test_without_smoothing_unseen_pairs_are_impossible() -> None:
    X = [["a", "x"], ["b", "y"]]
    model = NaiveBayesClassifier(alpha=0.0, categorical_features=[0, 1], priors=[0.3, 0.7])
    model.fit(np.array(X, dtype=object), [0, 1])
    asked = np.array([["a", "x"], ["a", None], ["a", "y"]], dtype=object)
    found = model.predict_proba(asked)
    np.testing.assert_allclose(found, [[1.0, 0.0], [1.0, 0.0], [0.3, 0.7]], atol=1e-15)
    assert model.predict_log_proba(asked)[0, 1] == -np.inf


def test_rows_far_from_everything_have_finite_probabilities() -> None:
    X, y = load_iris(return_X_y=True)
    for kind in ("gaussian", "kde"):
        model = NaiveBayesClassifier(numeric=kind).fit(X, y)
        assert np.isfinite(model.predict_proba([[1e8, -1e8, 1e8, 0.0]])).all()


# Errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"numeric": "gauss"}, "numeric must be 'gaussian', 'kde' or one of them per column"),
        ({"numeric": ["kde"]}, r"one of them per column \(4\); got 1"),
        ({"alpha": -1.0}, "alpha must be"),
        ({"var_smoothing": np.inf}, "var_smoothing must be"),
        ({"bandwidth": 0.0}, "bandwidth must be"),
        ({"bandwidth": "scot"}, "bandwidth must be"),
        ({"priors": [0.5, 0.5]}, r"priors must hold one number per class \(3\); got 2"),
        ({"priors": [0.5, 0.5, 0.5]}, "priors must not be negative and sum to 1"),
        ({"categorical_features": [4]}, "categorical_features"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    X, y = mixed()
    with pytest.raises(ParameterError, match=message):
        NaiveBayesClassifier(**params).fit(X, y)


def test_squares_that_overflow_are_refused() -> None:
    with pytest.raises(DataError, match="squares overflow; scale the columns"):
        NaiveBayesClassifier().fit([[1e200], [1.0]], [0, 1])


def test_a_hostile_state_is_refused() -> None:
    X, y = mixed()
    model = NaiveBayesClassifier(numeric=["gaussian", "kde", "kde", "kde"], **NOMINAL).fit(X, y)
    state = model.state()
    hostile: dict[str, Any] = {
        "gaussian_features_": np.array([1]),
        "kde_features_": np.array([9]),
        "theta_": np.full((3, 1), np.inf),
        "var_": np.zeros((3, 1)),
        "class_prior_": np.array([-1.0, 1.0, 1.0]),
        "kde_offsets_": np.array([0, 10**9, 5, 7]),
        "kde_bandwidths_": np.zeros((1, 3)),
        "level_offsets_": np.array([0, 9, 8]),
        "level_log_prob_": np.ones((3, 8)),
        "epsilon_": "small",
        "sums_": state["sums_"][:, :2],  # type: ignore[index, call-overload]
    }
    for name, value in hostile.items():
        with pytest.raises(DataError, match="damaged"):
            NaiveBayesClassifier.from_state(model.get_params(deep=False), {**state, name: value})
