"""Gradient boosting: closed forms, peers, invariances, edges, messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    make_classification,
    make_regression,
)
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from assay.base import DataError, ParameterError, same
from assay.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

REGRESSION_LOSSES = ["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma"]
X_REG, Y_REG = make_regression(300, 5, noise=5.0, random_state=0)
Y_POSITIVE = np.exp(Y_REG / 100)
X_TWO, Y_TWO = make_classification(400, 6, random_state=0)
X_FOUR, Y_FOUR = make_classification(500, 8, n_informative=6, n_classes=4, random_state=1)


def few_leaves(**params: Any) -> GradientBoostingRegressor:
    return GradientBoostingRegressor(**{"min_samples_leaf": 1, "n_estimators": 1, **params})


# ---- oracle -------------------------------------------------------------------------------------


def test_one_full_tree_at_rate_one_is_a_regression_tree() -> None:
    model = few_leaves(learning_rate=1.0, max_leaf_nodes=None, l2_regularization=0.0)
    rows = X_REG[:200]  # fewer distinct values than bins: exact splits
    model.fit(rows, Y_REG[:200])
    tree = DecisionTreeRegressor(random_state=0).fit(rows, Y_REG[:200])
    np.testing.assert_allclose(model.predict(rows), tree.predict(rows), rtol=1e-9)
    np.testing.assert_allclose(model.predict(rows), Y_REG[:200], rtol=1e-9)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_one_shallow_tree_is_a_regression_tree(depth: int) -> None:
    rows, values = X_REG[:150], Y_REG[:150]
    model = few_leaves(
        learning_rate=1.0, max_depth=depth, max_leaf_nodes=None, l2_regularization=0.0
    ).fit(rows, values)
    tree = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(rows, values)
    np.testing.assert_allclose(model.predict(rows), tree.predict(rows), rtol=1e-9)
    np.testing.assert_allclose(model.predict(X_REG), tree.predict(X_REG), rtol=1e-9)


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.0, 3.0), (40.0, 2.0)])
def test_leaves_have_the_closed_form(l1: float, l2: float) -> None:
    model = few_leaves(
        learning_rate=0.5, max_leaf_nodes=6, l1_regularization=l1, l2_regularization=l2
    ).fit(X_REG, Y_REG)
    leaf = model.apply(X_REG)[:, 0]
    score = model.predict(X_REG) - Y_REG.mean()
    for node in np.unique(leaf):
        gradient = (Y_REG.mean() - Y_REG[leaf == node]).sum()
        size = max(abs(gradient) - l1, 0.0)
        expected = -0.5 * np.sign(gradient) * size / ((leaf == node).sum() + l2)
        np.testing.assert_allclose(score[leaf == node], expected, rtol=1e-9)


def test_logistic_leaves_have_the_closed_form() -> None:
    model = GradientBoostingClassifier(n_estimators=1, learning_rate=0.3, l2_regularization=2.0)
    model.fit(X_TWO, Y_TWO)
    leaf = model.apply(X_TWO)[:, 0]
    p = Y_TWO.mean()
    score = model.decision_function(X_TWO) - np.log(p / (1 - p))
    for node in np.unique(leaf):
        rows = leaf == node
        expected = 0.3 * (Y_TWO[rows] - p).sum() / (rows.sum() * p * (1 - p) + 2.0)
        np.testing.assert_allclose(score[rows], expected, rtol=1e-9)
        assert rows.sum() >= 20


def test_leaves_of_the_absolute_loss_are_medians() -> None:
    model = few_leaves(loss="absolute_error", learning_rate=1.0, max_leaf_nodes=5)
    model.fit(X_REG, Y_REG)
    leaf = model.apply(X_REG)[:, 0]
    for node in np.unique(leaf):
        expected = np.median(Y_REG[leaf == node])
        np.testing.assert_allclose(model.predict(X_REG)[leaf == node], expected, rtol=1e-12)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.8])
def test_leaves_of_the_quantile_loss_are_quantiles(q: float) -> None:
    model = few_leaves(loss="quantile", quantile=q, learning_rate=1.0, max_leaf_nodes=4)
    model.fit(X_REG, Y_REG)
    leaf = model.apply(X_REG)[:, 0]
    for node in np.unique(leaf):
        expected = np.quantile(Y_REG[leaf == node], q, method="averaged_inverted_cdf")
        np.testing.assert_allclose(model.predict(X_REG)[leaf == node], expected, rtol=1e-9)


def test_quantile_predictions_cover_their_share() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3000, 1))
    y = X[:, 0] + rng.normal(scale=0.2, size=3000)
    high = GradientBoostingRegressor(loss="quantile", quantile=0.9).fit(X, y)
    assert abs((y <= high.predict(X)).mean() - 0.9) < 0.02


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_the_start_is_the_best_constant(loss: str) -> None:
    model = few_leaves(loss=loss, quantile=0.3, learning_rate=1e-9).fit(X_REG, Y_POSITIVE)
    constant = model.predict(X_REG[:1])[0]
    best = {
        "absolute_error": np.median(Y_POSITIVE),
        "huber": np.median(Y_POSITIVE),
        "quantile": np.quantile(Y_POSITIVE, 0.3, method="averaged_inverted_cdf"),
    }.get(loss, Y_POSITIVE.mean())
    np.testing.assert_allclose(constant, best, rtol=1e-6)


def test_quality_is_that_of_scikit_learn() -> None:
    tables = [
        (load_breast_cancer(return_X_y=True), GradientBoostingClassifier, 0.015),
        (
            tuple(part[:600] for part in load_digits(return_X_y=True)),
            GradientBoostingClassifier,
            0.02,
        ),
        (load_diabetes(return_X_y=True), GradientBoostingRegressor, 0.03),
    ]
    for (X, y), cls, slack in tables:
        peer = {
            GradientBoostingClassifier: HistGradientBoostingClassifier,
            GradientBoostingRegressor: HistGradientBoostingRegressor,
        }[cls]
        ours = cross_val_score(cls(n_estimators=25), X, y, cv=2).mean()
        with threadpool_limits(1):  # OpenMP on a busy machine waits for itself
            theirs = cross_val_score(peer(max_iter=25), X, y, cv=2).mean()
        assert ours > theirs - slack


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma"])
def test_training_loss_is_that_of_scikit_learn(loss: str) -> None:
    X, y = make_regression(600, 5, noise=5.0, random_state=3)
    y = np.exp(y / 150)
    if loss == "gamma":
        y += 0.1
    params: dict[str, Any] = {"loss": loss, "early_stopping": False}
    ours = GradientBoostingRegressor(n_estimators=30, l2_regularization=0.0, **params).fit(X, y)
    with threadpool_limits(1):
        theirs = HistGradientBoostingRegressor(max_iter=30, **params).fit(X, y)
    error, peer_error = (((m.predict(X) - y) ** 2).mean() for m in (ours, theirs))
    assert error < 1.1 * peer_error


# ---- invariance ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=10, random_state=0),
        GradientBoostingClassifier(
            n_estimators=10, subsample=0.6, max_features=0.5, random_state=0
        ),
    ],
    ids=["all", "sampled"],
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_threads_change_no_bit(model: GradientBoostingClassifier, n_classes: int) -> None:
    X, y = make_classification(9000, 7, n_informative=5, n_classes=n_classes, random_state=0)
    X[::7, 2] = np.nan
    one = model.set_params(n_jobs=1).fit(X, y).digest()
    two = model.set_params(n_jobs=2).fit(X, y).digest()
    assert one == two


def test_scores_of_training_rows_are_those_the_run_ended_with() -> None:
    X = X_FOUR.copy()
    X[::5, 1] = np.nan
    model = GradientBoostingClassifier(n_estimators=15, subsample=0.7).fit(X, Y_FOUR)
    shares = model.predict_proba(X)
    loss = -np.log(shares[np.arange(len(X)), Y_FOUR]).mean()
    np.testing.assert_allclose(model.train_score_[-1], loss, rtol=1e-10)


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_integer_weights_are_repeated_rows(loss: str) -> None:
    # Gradients are rounded to a common unit, which may decide a near tie; the leaf values come
    # from float64 sums, so where the splits agree only the order of additions differs.
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, size=len(X_REG)).astype(np.float64)
    params: dict[str, Any] = {"loss": loss, "min_samples_leaf": 1, "n_estimators": 10}
    weighted = GradientBoostingRegressor(**params).fit(X_REG, Y_POSITIVE, weight)
    rows = np.repeat(np.arange(len(X_REG)), weight.astype(int))
    repeated = GradientBoostingRegressor(**params).fit(X_REG[rows], Y_POSITIVE[rows])
    np.testing.assert_allclose(weighted.predict(X_REG), repeated.predict(X_REG), rtol=1e-7)


def test_class_weights_are_sample_weights() -> None:
    params: dict[str, Any] = {"n_estimators": 10, "random_state": 0}
    by_class = GradientBoostingClassifier(class_weight={0: 1.0, 1: 3.0}, **params)
    by_class.fit(X_TWO, Y_TWO)
    by_row = GradientBoostingClassifier(**params).fit(X_TWO, Y_TWO, 1.0 + 2.0 * Y_TWO)
    np.testing.assert_array_equal(by_class.predict_proba(X_TWO), by_row.predict_proba(X_TWO))
    balanced = GradientBoostingClassifier(class_weight="balanced", **params).fit(X_TWO, Y_TWO)
    assert np.isclose(balanced.start_[0], 0.0)


@given(scale=st.integers(-8, 8), shift=st.integers(-100, 100))
def test_columns_may_be_scaled_and_shifted(scale: int, shift: int) -> None:
    model = GradientBoostingRegressor(n_estimators=3)
    plain = model.fit(X_REG, Y_REG).predict(X_REG)
    moved = X_REG * 2.0**scale + shift
    np.testing.assert_allclose(model.fit(moved, Y_REG).predict(moved), plain, rtol=1e-9)


@given(seed=st.integers(0, 1000))
def test_nominal_and_missing_columns_work_at_random(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 80))
    X = rng.normal(size=(n, 3))
    X[:, 0] = rng.integers(0, 6, size=n)
    X[rng.random((n, 3)) < 0.2] = np.nan
    y = rng.normal(size=n)
    model = GradientBoostingRegressor(
        n_estimators=5, min_samples_leaf=2, categorical_features=[0]
    ).fit(X, y)
    assert (np.diff(model.train_score_) <= 1e-12).all()
    np.testing.assert_allclose(
        ((model.predict(X) - y) ** 2).mean() / 2, model.train_score_[-1], rtol=1e-9
    )


def test_renamed_levels_give_the_same_answers() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 12, size=600)
    y = rng.normal(size=12)[codes] + rng.normal(scale=0.1, size=600)
    model = GradientBoostingRegressor(n_estimators=20, categorical_features=[0])
    plain = model.fit(codes[:, None].astype(float), y).predict(codes[:, None].astype(float))
    other = rng.permutation(12)[codes][:, None].astype(float)
    np.testing.assert_allclose(model.fit(other, y).predict(other), plain, rtol=1e-9)


def test_a_column_of_levels_beats_its_codes_as_numbers() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 40, size=4000)
    y = rng.normal(size=40)[codes] + rng.normal(scale=0.1, size=4000)
    X = codes[:, None].astype(float)
    errors = [
        GradientBoostingRegressor(
            n_estimators=1, learning_rate=1.0, max_leaf_nodes=2, categorical_features=columns
        )
        .fit(X, y)
        .train_score_[-1]
        for columns in ([0], None)
    ]
    assert errors[0] < 0.8 * errors[1]


def test_one_hot_columns_give_the_same_model_as_when_they_are_not_bundled() -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 6, size=3000)
    hot = np.eye(6)[kind]
    number = rng.normal(size=(3000, 1)).round(1)  # few values: the weight below moves no bin
    y = np.sin(kind) + number[:, 0] + rng.normal(scale=0.1, size=3000)
    model = GradientBoostingRegressor(n_estimators=10)
    bundled = model.fit(np.hstack([hot, number]), y).predict(np.hstack([hot, number]))
    # A one where all of them are one keeps every column in a byte of its own.
    extra = np.vstack([np.hstack([hot, number]), np.ones((1, 7))])
    weight = np.ones(3001)
    weight[-1] = 1e-12
    apart = model.fit(extra, np.append(y, 0.0), weight).predict(np.hstack([hot, number]))
    np.testing.assert_allclose(bundled, apart, atol=1e-6)


# ---- optimality ---------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", REGRESSION_LOSSES[:2] + REGRESSION_LOSSES[3:])
def test_training_loss_falls_in_every_round(loss: str) -> None:
    model = GradientBoostingRegressor(loss=loss, learning_rate=0.05, n_estimators=50)
    model.fit(X_REG, Y_POSITIVE)
    assert (np.diff(model.train_score_) < 0).all()


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_training_loss_of_two_classes_falls_in_every_round(loss: str) -> None:
    model = GradientBoostingClassifier(loss=loss, learning_rate=0.05).fit(X_TWO, Y_TWO)
    assert (np.diff(model.train_score_) < 0).all()
    assert model.score(X_TWO, Y_TWO) > 0.95


def test_monotone_constraints_hold_everywhere() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1000, 3))
    y = X[:, 0] + np.sin(6 * X[:, 0]) - X[:, 1] + X[:, 2] + rng.normal(scale=0.3, size=1000)
    grid = np.linspace(-1, 1, 60)
    losses = ("squared_error", "absolute_error", "huber")
    for loss in losses:
        model = GradientBoostingRegressor(loss=loss, monotonic_cst=[1, -1, 0]).fit(X, y)
        for row in X[:20]:
            rows = np.tile(row, (60, 1))
            rows[:, 0] = grid
            assert (np.diff(model.predict(rows)) >= 0).all()
            rows = np.tile(row, (60, 1))
            rows[:, 1] = grid
            assert (np.diff(model.predict(rows)) <= 0).all()
    free = GradientBoostingRegressor().fit(X, y)
    rows = np.tile(X[0], (60, 1))
    rows[:, 0] = grid
    assert (np.diff(free.predict(rows)) < 0).any()


def test_monotone_constraints_of_a_classifier_hold() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(800, 2))
    y = (X[:, 0] + np.sin(8 * X[:, 0]) + rng.normal(scale=0.5, size=800) > 0).astype(int)
    model = GradientBoostingClassifier(monotonic_cst=[1, 0]).fit(X, y)
    rows = np.column_stack([np.linspace(-1, 1, 100), np.zeros(100)])
    assert (np.diff(model.predict_proba(rows)[:, 1]) >= 0).all()


# ---- stages, prefixes, stopping -----------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_prefix_is_the_model_of_a_shorter_run(n_classes: int) -> None:
    X, y = make_classification(400, 8, n_informative=6, n_classes=n_classes, random_state=0)
    params: dict[str, Any] = {"subsample": 0.7, "max_features": 5, "random_state": 3}
    long = GradientBoostingClassifier(n_estimators=20, **params).fit(X, y)
    short = GradientBoostingClassifier(n_estimators=7, **params).fit(X, y)
    cut = long.prefix(7)
    np.testing.assert_array_equal(cut.decision_function(X), short.decision_function(X))
    np.testing.assert_array_equal(cut.train_score_, short.train_score_)
    cut.feature_gain_ = short.feature_gain_
    assert same(cut, short)


def test_stages_are_prefixes() -> None:
    model = GradientBoostingClassifier(n_estimators=6).fit(X_FOUR, Y_FOUR)
    stages = zip(
        model.staged_predict(X_FOUR),
        model.staged_predict_proba(X_FOUR),
        model.staged_decision_function(X_FOUR),
        strict=True,
    )
    for n, (labels, shares, scores) in enumerate(stages, start=1):
        cut = model.prefix(n)
        np.testing.assert_array_equal(labels, cut.predict(X_FOUR))
        np.testing.assert_array_equal(shares, cut.predict_proba(X_FOUR))
        np.testing.assert_array_equal(scores, cut.decision_function(X_FOUR))
    regression = GradientBoostingRegressor(n_estimators=6).fit(X_REG, Y_REG)
    assert len(list(regression.staged_predict(X_REG))) == 6


def test_early_stopping_ends_when_held_back_rows_gain_nothing() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 5)), rng.normal(size=500)  # nothing to learn
    model = GradientBoostingRegressor(
        n_estimators=500, early_stopping=True, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    assert model.n_iter_ < 50
    assert len(model.validation_score_) == model.n_iter_
    again = GradientBoostingRegressor(
        n_estimators=500, early_stopping=True, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    assert same(model, again)
    by_training = model.set_params(validation_fraction=None, tol=0.05, n_estimators=100).fit(X, y)
    assert len(by_training.validation_score_) == 0
    assert by_training.n_iter_ < 100


def test_loss_of_held_back_rows_is_what_the_model_says_about_them() -> None:
    X = X_FOUR.copy()
    X[::4, 0] = np.nan
    model = GradientBoostingClassifier(
        n_estimators=8, early_stopping=True, validation_fraction=0.25, random_state=0
    ).fit(X, Y_FOUR)
    whole = -np.log(model.predict_proba(X)[np.arange(len(X)), Y_FOUR]).mean()
    mixed = 0.75 * model.train_score_[-1] + 0.25 * model.validation_score_[-1]
    np.testing.assert_allclose(mixed, whole, rtol=2e-3)


def test_callback_sees_every_round_and_may_end_the_run() -> None:
    seen: list[tuple[int, float]] = []

    def callback(round_: int, train: float, held: float | None) -> bool:
        assert held is None
        seen.append((round_, train))
        return round_ < 4

    model = GradientBoostingRegressor(n_estimators=50).fit(X_REG, Y_REG, callback=callback)
    assert model.n_iter_ == 5
    assert [loss for _, loss in seen] == model.train_score_.tolist()


def test_verbose_prints_the_loss(capsys: pytest.CaptureFixture[str]) -> None:
    GradientBoostingRegressor(n_estimators=4, verbose=2).fit(X_REG, Y_REG)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["round 2", "round 4"]


def test_verbose_prints_the_validation_loss(capsys: pytest.CaptureFixture[str]) -> None:
    model = GradientBoostingRegressor(n_estimators=2, verbose=2, early_stopping=True)
    model.fit(X_REG, Y_REG)
    train, validation = model.train_score_[1], model.validation_score_[1]
    expected = f"round 2: training loss {train:.6g}, validation loss {validation:.6g}\n"
    assert capsys.readouterr().out == expected


# ---- edges --------------------------------------------------------------------------------------


def test_missing_values_learn_their_side() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    X[:100, 0] = np.nan
    y = np.where(np.isnan(X[:, 0]), 5.0, 0.0)
    model = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0, l2_regularization=0.0)
    np.testing.assert_allclose(model.fit(X, y).predict(X), y, atol=1e-9)
    far = np.array([[1e300, 0.0], [-1e300, 0.0], [np.nan, 0.0]])
    np.testing.assert_allclose(model.predict(far), [0.0, 0.0, 5.0], atol=1e-9)


def test_unseen_levels_go_with_missing_values() -> None:
    rng = np.random.default_rng(0)
    words = np.array(["a", "b", "c"])[rng.integers(0, 3, size=300)].astype(object)
    words[:60] = None
    y = np.select([words == "a", words == "b", words == "c"], [1.0, 2.0, 3.0], 9.0)
    X = words[:, None]
    model = GradientBoostingRegressor(
        n_estimators=30, learning_rate=0.5, categorical_features=[0]
    ).fit(X, y)
    seen = model.predict(np.array([["a"], [None], ["new"]], dtype=object))
    assert abs(seen[0] - 1.0) < 0.01
    assert seen[1] == seen[2]


def test_more_levels_than_bins_are_pooled() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 400, size=5000).astype(float)
    y = (codes % 2) + rng.normal(scale=0.1, size=5000)
    model = GradientBoostingRegressor(n_estimators=20, categorical_features=[0])
    assert model.fit(codes[:, None], y).score(codes[:, None], y) > 0.3


def test_constant_columns_and_targets_give_the_start() -> None:
    model = GradientBoostingRegressor(n_estimators=5).fit(np.ones((50, 2)), np.full(50, 3.0))
    np.testing.assert_array_equal(model.predict(np.zeros((2, 2))), [3.0, 3.0])
    assert model.feature_importances_.tolist() == [0.0, 0.0]


def test_rows_of_weight_zero_are_no_rows() -> None:
    weight = (np.arange(len(X_REG)) % 3 > 0).astype(float)
    model = GradientBoostingRegressor(n_estimators=5)
    part = model.fit(X_REG[weight > 0], Y_REG[weight > 0]).predict(X_REG)
    np.testing.assert_allclose(model.fit(X_REG, Y_REG, weight).predict(X_REG), part, rtol=1e-9)


def test_importances_are_shares_of_the_gain() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    model = GradientBoostingRegressor().fit(X, 3 * X[:, 2] + 0.1 * X[:, 0])
    assert model.feature_importances_.argmax() == 2
    assert np.isclose(model.feature_importances_.sum(), 1.0)


def test_large_targets_do_not_overflow() -> None:
    model = GradientBoostingRegressor(n_estimators=20, min_samples_leaf=5)
    big = model.fit(X_REG, Y_REG * 1e100).predict(X_REG)
    np.testing.assert_allclose(big, model.fit(X_REG, Y_REG).predict(X_REG) * 1e100, rtol=1e-6)


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"learning_rate": 0}, "learning_rate must be a number > 0; got 0"),
        ({"n_estimators": 0}, "n_estimators must be an integer >= 1; got 0"),
        ({"max_depth": 0}, "max_depth must be an integer >= 1 or None; got 0"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be an integer >= 2 or None; got 1"),
        ({"max_bins": 256}, "max_bins must be an integer in [2, 255]; got 256"),
        ({"subsample": 0.0}, "subsample must be a number in (0, 1]; got 0.0"),
        (
            {"max_features": 1.5},
            "max_features must be an integer >= 1, a number in (0, 1], 'sqrt', 'log2' or None; "
            "got 1.5",
        ),
        ({"quantile": 1.0}, "quantile must be a number in (0, 1); got 1.0"),
        (
            {"early_stopping": "yes"},
            "early_stopping must be 'auto', True or False; got 'yes'",
        ),
        (
            {"monotonic_cst": [1, 2, 0, 0, 0]},
            "monotonic_cst must be None, one of -1, 0, 1 per column, or a dict from column names "
            "to these; got [1, 2, 0, 0, 0]",
        ),
        (
            {"monotonic_cst": [1, 0, 0, 0, 0], "categorical_features": [0]},
            "monotonic_cst constrains column 0, which is nominal and has no order",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_parameters_are_told(params: dict[str, Any], message: str) -> None:
    X = np.round(X_REG)
    with pytest.raises(ParameterError) as caught:
        GradientBoostingRegressor(**params).fit(X, Y_REG)
    assert str(caught.value) == message


def _set(values: NDArray[np.float64], row: int, value: float) -> NDArray[np.float64]:
    changed = values.copy()
    changed[row] = value
    return changed


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (
            GradientBoostingRegressor(loss="poisson"),
            _set(Y_POSITIVE, 4, -1.0),
            "y must be not negative for loss='poisson'; got -1 in row 4",
        ),
        (
            GradientBoostingRegressor(loss="poisson"),
            np.zeros(300),
            "y is zero in every row: loss='poisson' has no finite score for it",
        ),
        (
            GradientBoostingRegressor(loss="gamma"),
            _set(Y_POSITIVE, 7, 0.0),
            "y must be positive for loss='gamma'; got 0 in row 7",
        ),
        (
            GradientBoostingClassifier(),
            np.full(300, "a"),
            "GradientBoostingClassifier needs at least two classes; y has one class: 'a'",
        ),
        (
            GradientBoostingClassifier(loss="exponential"),
            np.arange(300) % 3,
            "loss='exponential' is for two classes; y has 3",
        ),
        (
            GradientBoostingClassifier(class_weight={7: 1.0}),
            np.arange(300) % 2,
            "class_weight names class 7, which y does not have; got {7: 1.0}",
        ),
        (
            GradientBoostingRegressor(early_stopping=True, validation_fraction=0.001),
            Y_REG,
            "validation_fraction=0.001 of 300 rows leaves no validation row; use a larger fraction "
            "or early_stopping=False",
        ),
    ],
    ids=["negative", "zeros", "zero", "one class", "three classes", "unknown class", "no row"],
)
def test_data_that_do_not_suit_are_told(model: Any, y: NDArray[Any], message: str) -> None:
    with pytest.raises((DataError, ParameterError)) as caught:
        model.fit(X_REG, y)
    assert str(caught.value) == message


def test_infinities_are_told() -> None:
    X = X_REG.copy()
    X[3, 1] = np.inf
    with pytest.raises(DataError, match="infinit"):
        GradientBoostingRegressor().fit(X, Y_REG)


def test_weights_that_are_all_zero_are_told() -> None:
    with pytest.raises(DataError, match="zero in every row"):
        GradientBoostingRegressor().fit(X_REG, Y_REG, np.zeros(300))


def test_a_loss_that_runs_away_is_told() -> None:
    model = GradientBoostingRegressor(loss="poisson", learning_rate=1e4, n_estimators=50)
    with pytest.raises(DataError, match="use a smaller learning_rate"):
        model.fit(X_REG, Y_POSITIVE)


@pytest.mark.parametrize("rounds", [0, 6, 2.5])
def test_prefixes_of_impossible_length_are_told(rounds: Any) -> None:
    model = GradientBoostingRegressor(n_estimators=5).fit(X_REG, Y_REG)
    with pytest.raises(ParameterError, match=r"n_estimators must be an integer in \[1, 5\]"):
        model.prefix(rounds)
