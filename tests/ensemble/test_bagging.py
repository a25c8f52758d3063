"""Bagging: what the members get, how they are combined, and scikit-learn's quality."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import BaggingClassifier as PeerClassifier
from sklearn.ensemble import BaggingRegressor as PeerRegressor
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier as PeerNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from assay.base import DataError, ParameterError, same
from assay.ensemble import BaggingClassifier, BaggingRegressor
from assay.neighbors import KNeighborsClassifier, KNeighborsRegressor
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor


@pytest.mark.parametrize("load", [load_digits, load_breast_cancer])
def test_classifier_is_as_good_as_scikit_learn(load: Any) -> None:
    X, y = load(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    settings: dict[str, Any] = {"n_estimators": 30, "random_state": 0}
    ours = BaggingClassifier(**settings).fit(X_train, y_train).score(X_test, y_test)
    theirs = PeerClassifier(**settings).fit(X_train, y_train).score(X_test, y_test)
    assert ours >= theirs - 0.03


def test_regressor_is_as_good_as_scikit_learn() -> None:
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    settings: dict[str, Any] = {"n_estimators": 50, "random_state": 0}
    ours = BaggingRegressor(**settings).fit(X_train, y_train).score(X_test, y_test)
    theirs = PeerRegressor(**settings).fit(X_train, y_train).score(X_test, y_test)
    assert ours >= theirs - 0.05


@pytest.mark.parametrize("member", [DecisionTreeClassifier(), PeerNeighbors(3)])
def test_members_are_fits_on_the_rows_and_columns_drawn(member: Any) -> None:
    X, y = load_wine(return_X_y=True)
    bag = BaggingClassifier(
        member, 6, max_samples=0.5, max_features=0.6, bootstrap_features=True, random_state=0
    ).fit(X, y)
    total = np.zeros((len(X), 3))
    parts = zip(bag.estimators_, bag.estimators_samples_, bag.estimators_features_, strict=True)
    for fitted, rows, columns in parts:
        assert len(rows) == 89
        assert len(columns) == 8
        alone = type(member)(**fitted.get_params()).fit(X[rows][:, columns], y[rows])
        shares = fitted.predict_proba(X[:, columns])
        np.testing.assert_allclose(shares, alone.predict_proba(X[:, columns]), atol=1e-9)
        total += shares
    np.testing.assert_allclose(bag.predict_proba(X), total / 6)


def test_all_rows_once_and_all_columns_give_the_member_itself() -> None:
    X, y = load_iris(return_X_y=True)
    bag = BaggingClassifier(n_estimators=3, bootstrap=False).fit(X[::2], y[::2])
    tree = DecisionTreeClassifier().fit(X[::2], y[::2])
    assert np.array_equal(bag.predict_proba(X), tree.predict_proba(X))


@pytest.mark.parametrize("combine", ["mean", "vote", "confidence", "product"])
def test_combinations_follow_their_formulas(combine: str) -> None:
    X, y = load_wine(return_X_y=True)
    bag = BaggingClassifier(
        DecisionTreeClassifier(max_depth=2, min_samples_leaf=8), 7, combine=combine, random_state=0
    ).fit(X, y)
    each = np.stack([member.predict_proba(X) for member in bag.estimators_])
    best = np.eye(3)[each.argmax(axis=2)]
    if combine == "product":
        sums = np.exp(np.log(np.maximum(each, np.finfo(float).tiny)).mean(axis=0))
    else:
        part = {"mean": each, "vote": best, "confidence": best * each}[combine]
        sums = part.sum(axis=0)
    np.testing.assert_allclose(bag.predict_proba(X), sums / sums.sum(axis=1, keepdims=True))


def test_confidence_lets_one_sure_member_outvote_two_unsure_ones() -> None:
    X = np.array([[0.0], [1.0]])
    bag = BaggingClassifier(GaussianNB(), 3, random_state=0).fit(
        np.repeat(X, 9, axis=0), [0, 1] * 9
    )

    class Says:
        def __init__(self, share: float) -> None:
            self.classes_, self.share = np.array([0, 1]), share

        def predict_proba(self, rows: Any) -> Any:
            return np.tile([1 - self.share, self.share], (len(rows), 1))

    bag.estimators_ = [Says(0.95), Says(0.45), Says(0.45)]
    assert bag.set_params(combine="vote").predict(X).tolist() == [0, 0]
    shares = bag.set_params(combine="confidence").predict_proba(X[:1])
    np.testing.assert_allclose(shares, [[1.1 / 2.05, 0.95 / 2.05]])


def test_members_without_probabilities_vote() -> None:
    X, y = load_wine(return_X_y=True)
    bag = BaggingClassifier(make_pipeline(StandardScaler(), RidgeClassifier()), 11, random_state=0)
    shares = bag.fit(X, y).predict_proba(X)
    assert set(np.unique((shares * 11).round(9))) <= set(range(12))
    assert bag.score(X, y) > 0.95


def test_oob_score_is_near_the_held_out_score() -> None:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    bag = BaggingClassifier(n_estimators=60, oob_score=True, random_state=0).fit(X_train, y_train)
    assert abs(bag.oob_score_ - bag.score(X_test, y_test)) < 0.03
    seen = np.zeros(len(X_train), dtype=int)
    total = np.zeros((len(X_train), 10))
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(X_train)), rows)
        total[out] += member.predict_proba(X_train[out])
        seen[out] += 1
    np.testing.assert_allclose(bag.oob_decision_function_, total / seen[:, None])


def test_regression_with_several_outputs_has_oob_predictions() -> None:
    X, y = load_diabetes(return_X_y=True)
    both = np.column_stack([y, -y])
    bag = BaggingRegressor(n_estimators=40, oob_score=True, random_state=0).fit(X, both)
    assert bag.oob_prediction_.shape == both.shape
    assert 0.2 < bag.oob_score_ < 0.6
    assert bag.predict(X).shape == both.shape


def test_rows_that_every_member_saw_are_told() -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(UserWarning, match="have no out-of-bag prediction"):
        bag = BaggingRegressor(n_estimators=2, oob_score=True, random_state=0).fit(X, y)
    assert np.isnan(bag.oob_prediction_).any()
    assert np.isfinite(bag.oob_score_)


@pytest.mark.parametrize(
    "bag",
    [
        BaggingClassifier(n_estimators=7, oob_score=False),
        BaggingClassifier(KNeighborsClassifier(3), 7, max_features=0.5, combine="product"),
        BaggingClassifier(LogisticRegression(C=0.1, max_iter=2000), 4),
        BaggingRegressor(n_estimators=7),
        BaggingRegressor(KNeighborsRegressor(3), 7, bootstrap=False, max_samples=0.4),
    ],
    ids=repr,
)
def test_bag_is_independent_of_n_jobs(bag: Any) -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    one, two = (
        type(bag)(**{**bag.get_params(deep=False), "n_jobs": n, "random_state": 0}).fit(X, y)
        for n in (1, 2)
    )
    assert np.array_equal(one.predict(X), two.predict(X))
    assert np.array_equal(one.member_seeds_, two.member_seeds_)
    if not isinstance(bag.estimator, LogisticRegression):
        assert same(one, two)


def test_weights_are_chances_with_replacement() -> None:
    X = np.arange(10.0)[:, None]
    y = np.arange(10) % 2
    weight = np.where(np.arange(10) < 3, 1.0, 0.0)
    weight[0] = 8.0
    bag = BaggingClassifier(n_estimators=200, random_state=0).fit(X, y, weight)
    drawn = np.bincount(np.concatenate(bag.estimators_samples_), minlength=10) / 2000
    np.testing.assert_allclose(drawn, weight / 10, atol=0.03)
    assert drawn[3:].sum() == 0


@given(seed=st.integers(0, 1000))
def test_weights_without_replacement_are_handed_on(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    weight = rng.uniform(0.1, 3, size=30)
    bag = BaggingRegressor(n_estimators=2, bootstrap=False, random_state=0).fit(X, y, weight)
    tree = DecisionTreeRegressor().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(bag.predict(X), tree.predict(X), rtol=1e-9)


def test_nominal_and_missing_columns_reach_the_trees() -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "black"], size=200).astype(object)
    size = rng.normal(size=200)
    y = np.where(np.isin(colour, ["red", "black"]), "warm", "cold")
    colour[::17], size[::11] = None, np.nan
    frame = pl.DataFrame({"size": size, "colour": colour.tolist()})
    bag = BaggingClassifier(n_estimators=10, random_state=0).fit(frame, y)
    assert bag.score(frame, y) > 0.95
    strange = pl.DataFrame({"size": [None, 1.0], "colour": ["violet", None]})
    assert set(bag.predict(strange)) <= {"cold", "warm"}
    with pytest.raises(DataError, match="X has nominal columns, but GaussianNB takes numbers only"):
        BaggingClassifier(GaussianNB()).fit(frame, y)


def test_member_that_lacks_a_class_says_nothing_of_it() -> None:
    X, y = np.arange(20.0)[:, None], np.array([0] * 18 + [1, 2])
    bag = BaggingClassifier(PeerNeighbors(1), 5, max_samples=3, random_state=0).fit(X, y)
    assert any(len(member.classes_) < 3 for member in bag.estimators_)
    shares = bag.predict_proba(X)
    assert shares.shape == (20, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_bagging_lowers_the_variance_of_trees() -> None:
    """Half the rows of a table each time: bagged trees move less than single ones."""
    X, y = load_diabetes(return_X_y=True)
    rng = np.random.default_rng(0)
    said: dict[str, list[Any]] = {"tree": [], "bag": []}
    for _ in range(8):
        rows = rng.permutation(len(X))[:200]
        said["tree"].append(DecisionTreeRegressor().fit(X[rows], y[rows]).predict(X))
        bag = BaggingRegressor(n_estimators=20, random_state=0).fit(X[rows], y[rows])
        said["bag"].append(bag.predict(X))
    spread = {name: np.var(values, axis=0).mean() for name, values in said.items()}
    assert spread["bag"] < spread["tree"] / 2


def test_state_that_is_damaged_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    bag = BaggingClassifier(n_estimators=3, max_features=0.5, random_state=0).fit(X, y)
    state: dict[str, Any] = bag.state()
    damages: dict[str, Any] = {
        "estimators_": state["estimators_"][:2],
        "member_features_": np.array([[0, 4], [0, 1], [0, 1]]),
        "member_seeds_": np.array([-1, 0, 1]),
        "n_samples_": 0,
        "draw_weight_": np.ones(3),
        "classes_": np.array([0, 1]),
    }
    for name, value in damages.items():
        with pytest.raises(DataError, match="the model is damaged"):
            BaggingClassifier.from_state(bag.get_params(deep=False), {**state, name: value})


MESSAGES = [
    ({"estimator": KNeighborsRegressor()}, "estimator must be None or a classifier; got KNeigh"),
    ({"estimator": GaussianNB}, "estimator must be None or a classifier; got <class"),
    ({"n_estimators": 0}, "n_estimators must be an integer >= 1; got 0"),
    (
        {"max_samples": 0.0},
        r"max_samples must be an integer >= 1 or a number in \(0, 1\] or None; got 0.0",
    ),
    ({"max_samples": 200}, r"max_samples must be at most the number of rows \(150\); got 200"),
    ({"max_features": 5}, r"max_features must be at most the number of columns \(4\); got 5"),
    ({"combine": "mode"}, "combine must be 'mean', 'vote', 'confidence' or 'product'; got 'mode'"),
    ({"bootstrap": False, "oob_score": True}, "oob_score must be False when bootstrap=False"),
    ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0; got 0"),
]


@pytest.mark.parametrize(("params", "message"), MESSAGES, ids=[str(p) for p, _ in MESSAGES])
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match=message):
        BaggingClassifier(**params).fit(X, y)


def test_weights_that_nobody_could_use_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="sample_weight cannot be used: KNeighborsClassifier takes"):
        BaggingClassifier(PeerNeighbors(), bootstrap=False).fit(X, y, np.ones(150))
