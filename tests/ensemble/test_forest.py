"""Random forests: scikit-learn's quality, and what holds for any table."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier as PeerClassifier
from sklearn.ensemble import RandomForestRegressor as PeerRegressor
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import train_test_split

from assay.base import DataError, ParameterError, StateError, same
from assay.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor
from assay.tree.engine import bootstrap_counts

FORESTS = [
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
]


def table(
    seed: int, n: int = 80, n_classes: int = 3
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Numeric and nominal columns with missing values; classes and values that follow them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    X[:, 2] = rng.integers(5, size=n)
    X[:, 3] = rng.integers(40, size=n)
    strength = X[:, 0] + (X[:, 2] == 3) - (X[:, 3] % 7 == 2) + rng.normal(scale=0.3, size=n)
    X[rng.random(X.shape) < 0.1] = np.nan
    edges = np.quantile(strength, np.linspace(0, 1, n_classes + 1)[1:-1])
    return X, np.digitize(strength, edges), strength


def target(cls: Any, labels: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    return labels if "Classifier" in cls.__name__ else values


@pytest.mark.parametrize("load", [load_digits, load_breast_cancer, load_wine])
def test_classifier_is_as_good_as_scikit_learn(load: Any) -> None:
    X, y = load(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    ours = RandomForestClassifier(random_state=0).fit(X_train, y_train).score(X_test, y_test)
    theirs = PeerClassifier(random_state=0).fit(X_train, y_train).score(X_test, y_test)
    assert ours >= theirs - 0.025


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_regressor_is_as_good_as_scikit_learn(criterion: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    settings: dict[str, Any] = {"criterion": criterion, "min_samples_leaf": 3, "random_state": 0}
    ours = RandomForestRegressor(**settings).fit(X_train, y_train).score(X_test, y_test)
    theirs = PeerRegressor(**settings).fit(X_train, y_train).score(X_test, y_test)
    assert ours >= theirs - 0.03


def test_one_tree_without_chance_is_a_decision_tree() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(1, max_features=None, bootstrap=False).fit(X[::2], y[::2])
    tree = DecisionTreeClassifier().fit(X[::2], y[::2])
    assert np.array_equal(forest.predict_proba(X), tree.predict_proba(X))
    X, y = load_diabetes(return_X_y=True)
    regression = RandomForestRegressor(1, bootstrap=False, max_bins=65535).fit(X[::2], y[::2])
    single = DecisionTreeRegressor().fit(X[::2], y[::2])
    assert np.array_equal(regression.predict(X), single.predict(X))


def test_forest_is_the_mean_of_trees_on_bootstrap_samples() -> None:
    X, y = load_wine(return_X_y=True)
    X = X[:, [0, 1, 9]]  # each column has few values (own bins), and no two splits tie
    settings: dict[str, Any] = {"max_depth": 3, "min_samples_leaf": 10}
    forest = RandomForestClassifier(7, max_features=None, random_state=3, **settings).fit(X, y)
    mean = np.zeros((len(X), 3))
    for t in range(7):
        counts = bootstrap_counts(forest.seed_, t, len(X)).astype(np.float64)
        tree = DecisionTreeClassifier(max_bins=255, **settings).fit(X, y, sample_weight=counts)
        alone = forest.tree(t).predict_proba(X)
        assert np.array_equal(alone, tree.predict_proba(X))
        mean += alone
    np.testing.assert_allclose(forest.predict_proba(X), mean / 7, rtol=1e-12)


def test_importances_agree_with_scikit_learn() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    ours = RandomForestClassifier(300, random_state=0).fit(X, y).feature_importances_
    theirs = PeerClassifier(300, random_state=0).fit(X, y).feature_importances_
    assert abs(ours.sum() - 1) < 1e-12
    assert np.abs(ours - theirs).max() < 0.04
    assert np.corrcoef(ours, theirs)[0, 1] > 0.95


def test_ties_between_columns_are_broken_at_random() -> None:
    """Three copies of a column share the splits; otherwise all trees would ask the first."""
    X, y = load_diabetes(return_X_y=True)
    X = np.repeat(X[:, [2]], 3, axis=1)
    for forest in (
        RandomForestRegressor(30, random_state=0).fit(X, y),
        RandomForestClassifier(30, random_state=0).fit(X, y > 140),
    ):
        assert forest.feature_importances_.min() > 0.2


@pytest.mark.parametrize("combine", ["mean", "vote", "product"])
def test_combinations_follow_their_formulas(combine: str) -> None:
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(
        9, combine=combine, max_depth=2, min_samples_leaf=10, random_state=0
    ).fit(X, y)
    each = np.stack([forest.tree(t).set_params(combine="mean").predict_proba(X) for t in range(9)])
    if combine == "mean":
        expected = each.mean(axis=0)
    elif combine == "vote":
        expected = np.eye(3)[each.argmax(axis=2)].mean(axis=0)
    else:
        logs = np.log(np.maximum(each, np.finfo(float).tiny)).mean(axis=0)
        expected = np.exp(logs - logs.max(axis=1, keepdims=True))
        expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(forest.predict_proba(X), expected, rtol=1e-9, atol=1e-300)


def test_product_does_not_underflow_with_many_trees() -> None:
    X, y = load_digits(return_X_y=True)
    forest = RandomForestClassifier(200, combine="product", max_depth=3, random_state=0)
    shares = forest.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert forest.score(X, y) > 0.8


def test_oob_score_is_near_the_held_out_score() -> None:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    forest = RandomForestClassifier(200, oob_score=True, random_state=0).fit(X_train, y_train)
    assert abs(forest.oob_score_ - forest.score(X_test, y_test)) < 0.02
    assert forest.oob_score_ < forest.score(X_train, y_train)


def test_oob_answers_leave_out_the_trees_that_saw_the_row() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
    sums, counts = np.zeros((len(X), 3)), np.zeros(len(X))
    for t in range(30):
        out = bootstrap_counts(forest.seed_, t, len(X)) == 0
        sums[out] += forest.tree(t).predict_proba(X[out])
        counts += out
    np.testing.assert_allclose(forest.oob_decision_function_, sums / counts[:, None])
    labels = forest.classes_[forest.oob_decision_function_.argmax(axis=1)]
    assert forest.oob_score_ == (labels == y).mean()


def test_oob_score_may_be_any_function() -> None:
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(50, oob_score=balanced_accuracy_score, random_state=0)
    plain = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    answers = plain.oob_decision_function_.argmax(axis=1)
    assert forest.fit(X, y).oob_score_ == balanced_accuracy_score(y, answers)
    with pytest.raises(StateError, match="oob_score is the function balanced_accuracy_score"):
        forest.state()


def test_regression_has_oob_predictions_for_each_output() -> None:
    X, y = load_diabetes(return_X_y=True)
    both = np.column_stack([y, -2 * y])
    forest = RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, both)
    assert forest.oob_prediction_.shape == both.shape
    assert forest.oob_score_ == r2_score(both, forest.oob_prediction_)
    assert 0.3 < forest.oob_score_ < 0.6
    np.testing.assert_allclose(forest.predict(X)[:, 1], -2 * forest.predict(X)[:, 0], rtol=1e-9)


def test_rows_that_every_tree_saw_are_told() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="rows are in every bootstrap sample"):
        forest = RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, y)
    seen = np.isnan(forest.oob_decision_function_).all(axis=1)
    assert 0 < seen.sum() < len(X)
    assert np.isfinite(forest.oob_score_)


def test_number_of_trees_is_chosen_by_the_oob_error() -> None:
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier("oob", random_state=0).fit(X, y)
    assert 100 <= forest.n_estimators_ <= 1000
    assert forest.n_estimators_ % 25 == 0
    fixed = RandomForestClassifier(forest.n_estimators_, random_state=0).fit(X, y)
    assert np.array_equal(forest.predict_proba(X), fixed.predict_proba(X))
    assert np.array_equal(forest.feature_importances_, fixed.feature_importances_)
    strict = RandomForestClassifier("oob", random_state=0, oob_tol=1.0).fit(X, y)
    assert strict.n_estimators_ == 100  # the least that the rule can end with


@pytest.mark.parametrize("cls", FORESTS)
def test_forest_is_independent_of_n_jobs(cls: Any) -> None:
    X, labels, values = table(0, 300)
    y = target(cls, labels, values)
    settings: dict[str, Any] = {"categorical_features": [2, 3], "random_state": 5}
    if cls in FORESTS[:2]:
        settings["oob_score"] = True
    one, two = (cls(40, n_jobs=n_jobs, **settings).fit(X, y) for n_jobs in (1, 2))
    assert same(one, two)
    assert np.array_equal(one.predict(X), two.predict(X))


@pytest.mark.parametrize("cls", FORESTS)
def test_first_trees_do_not_depend_on_their_number(cls: Any) -> None:
    X, labels, values = table(1)
    y = target(cls, labels, values)
    short, long = (cls(n, random_state=0).fit(X, y) for n in (5, 20))
    end = short.tree_start_[-1]
    assert np.array_equal(short.tree_start_, long.tree_start_[:6])
    assert np.array_equal(short.node_threshold_, long.node_threshold_[:end])
    assert np.array_equal(short.node_slot_, long.node_slot_[:end])


@pytest.mark.parametrize("cls", FORESTS)
def test_warm_start_goes_on_as_if_never_stopped(cls: Any) -> None:
    X, labels, values = table(2)
    y = target(cls, labels, values)
    settings: dict[str, Any] = {"warm_start": True, "categorical_features": [2, 3]}
    whole = cls(30, random_state=1, **settings).fit(X, y)
    stages = cls(7, random_state=1, **settings).fit(X, y).set_params(n_estimators=30).fit(X, y)
    assert same(whole, stages)


@pytest.mark.parametrize("cls", FORESTS)
def test_callback_hears_of_every_tenth_tree_and_changes_nothing(cls: Any) -> None:
    X, labels, values = table(3)
    y = target(cls, labels, values)
    heard: list[tuple[int, int]] = []

    def listen(done: int, wanted: int) -> None:
        heard.append((done, wanted))

    told = cls(25, random_state=0).fit(X, y, callback=listen)
    assert heard == [(10, 25), (20, 25), (25, 25)]
    assert same(told, cls(25, random_state=0).fit(X, y))
    ended = cls(25, random_state=0).fit(X, y, callback=lambda done, _: done >= 20)
    assert ended.n_estimators_ == 20


def test_verbose_prints_the_number_of_trees(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    RandomForestClassifier(10, verbose=1, random_state=0).fit(X, y)
    assert capsys.readouterr().out == "RandomForestClassifier: 10 of 10 trees\n"


@given(seed=st.integers(0, 1000))
def test_rows_of_weight_zero_are_absent_rows(seed: int) -> None:
    X, labels, values = table(seed, 40)
    weight = np.random.default_rng(seed).integers(1, 4, size=40).astype(float)
    weight[::3] = 0
    kept = weight > 0
    for cls in FORESTS:
        y = target(cls, labels, values)
        weighted = cls(5, random_state=0).fit(X, y, weight)
        without = cls(5, random_state=0).fit(X[kept], y[kept], weight[kept])
        if "Classifier" not in cls.__name__ or np.array_equal(without.classes_, weighted.classes_):
            assert np.array_equal(weighted.predict(X), without.predict(X))


@given(seed=st.integers(0, 1000), factor=st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_scale_of_the_weights_does_not_matter(seed: int, factor: float) -> None:
    X, labels, values = table(seed, 40)  # powers of two: sums keep their last bits, ties stay ties
    for cls in FORESTS:
        y = target(cls, labels, values)
        one = cls(5, random_state=0).fit(X, y, np.ones(40))
        two = cls(5, random_state=0).fit(X, y, np.full(40, factor))
        assert np.array_equal(one.node_feature_, two.node_feature_)
        np.testing.assert_allclose(two.leaf_value_, one.leaf_value_, rtol=1e-9, atol=1e-12)


def test_weights_are_copies_on_average() -> None:
    """A bootstrap of weighted rows is not one of copies, but the forests agree."""
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 4, size=len(X))
    weighted = RandomForestClassifier(300, min_samples_leaf=10, random_state=0)
    copied = RandomForestClassifier(300, min_samples_leaf=20, random_state=1)
    one = weighted.fit(X, y, weight).predict_proba(X)
    two = copied.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).predict_proba(X)
    assert np.abs(one - two).mean() < 0.02


@given(seed=st.integers(0, 1000), n_classes=st.integers(1, 4))
def test_any_table_gives_shares_that_sum_to_one(seed: int, n_classes: int) -> None:
    X, y, _ = table(seed, 30, n_classes)
    for combine in ("mean", "vote", "product"):
        forest = RandomForestClassifier(
            6, combine=combine, categorical_features=[2, 3], random_state=seed, max_bins=8
        ).fit(X, y)
        queries = np.where(np.random.default_rng(seed).random(X.shape) < 0.2, np.nan, X)
        queries[:, 2] = np.nan_to_num(queries[:, 2], nan=99)  # a level that fit has not seen
        shares = forest.predict_proba(queries)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-9)
        assert (shares >= 0).all()


@given(seed=st.integers(0, 1000))
def test_predictions_lie_between_the_targets(seed: int) -> None:
    X, _, y = table(seed, 40)
    for cls in (RandomForestRegressor, ExtraTreesRegressor):
        predicted = cls(5, categorical_features=[2, 3], random_state=seed).fit(X, y).predict(X)
        assert (predicted >= y.min() - 1e-9).all()
        assert (predicted <= y.max() + 1e-9).all()


@given(seed=st.integers(0, 1000))
def test_any_rising_change_of_a_column_changes_nothing(seed: int) -> None:
    X, y, _ = table(seed, 40)
    stretched = X.copy()
    stretched[:, 0] = np.exp(X[:, 0]) + X[:, 0] ** 3
    one, two = (RandomForestClassifier(5, random_state=0).fit(part, y) for part in (X, stretched))
    # Thresholds half way between values move, and with them rows that a tree has not seen.
    assert np.array_equal(one.node_left_, two.node_left_)
    assert np.array_equal(one.node_feature_, two.node_feature_)
    assert np.array_equal(one.leaf_value_, two.leaf_value_)


@given(seed=st.integers(0, 1000))
def test_relabelling_permutes_the_shares(seed: int) -> None:
    X, y, _ = table(seed, 40, 2)
    one = RandomForestClassifier(5, random_state=0).fit(X, y).predict_proba(X)
    two = RandomForestClassifier(5, random_state=0).fit(X, 1 - y).predict_proba(X)
    np.testing.assert_allclose(one, two[:, ::-1], rtol=1e-12)


def test_nominal_columns_of_a_frame_are_taken_as_they_are() -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "black"], size=300)
    size = rng.normal(size=300)
    y = np.isin(colour, ["red", "black"]) ^ (size > 1)
    frame = pl.DataFrame({"colour": colour, "size": size})
    forest = RandomForestClassifier(50, random_state=0).fit(frame, y)
    assert forest.score(frame, y) > 0.98
    strange = pl.DataFrame({"colour": ["violet", None], "size": [0.0, None]})
    assert np.isfinite(forest.predict_proba(strange)).all()


def test_balanced_weights_help_the_rare_class() -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.05).astype(int)
    X = rng.normal(size=(2000, 3)) + 1.2 * y[:, None]
    settings: dict[str, Any] = {"min_samples_leaf": 20, "random_state": 0}
    plain = RandomForestClassifier(50, **settings).fit(X, y)
    for given_weight in ("balanced", "balanced_subsample", {0: 1.0, 1: 19.0}):
        weighted = RandomForestClassifier(50, class_weight=given_weight, **settings).fit(X, y)
        recall, before = (model.predict(X)[y == 1].mean() for model in (weighted, plain))
        assert recall > before + 0.3


def test_balanced_subsample_does_not_depend_on_n_jobs() -> None:
    X, y, _ = table(4, 100)
    settings: dict[str, Any] = {"class_weight": "balanced_subsample", "random_state": 0}
    one, two = (RandomForestClassifier(12, n_jobs=n, **settings).fit(X, y) for n in (1, 2))
    assert same(one, two)


def test_balanced_subsample_weights_each_sample_by_itself() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[:110], y[:110]
    forest = RandomForestClassifier(
        3, class_weight="balanced_subsample", max_features=None, max_depth=1, random_state=0
    ).fit(X, y)
    for t in range(3):
        counts = bootstrap_counts(forest.seed_, t, len(X)).astype(np.float64)
        sizes = np.bincount(y, weights=counts, minlength=3)
        weight = counts * (counts.sum() / (3 * sizes))[y]
        tree = DecisionTreeClassifier(max_depth=1, max_bins=255).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(forest.tree(t).predict_proba(X), tree.predict_proba(X))


@pytest.mark.parametrize("cls", FORESTS)
def test_pruning_is_that_of_single_trees(cls: Any) -> None:
    X, labels, values = table(5, 200)
    y = target(cls, labels, values)
    alpha = 0.02 if "Classifier" in cls.__name__ else 0.05
    full, pruned = (
        cls(8, ccp_alpha=a, random_state=0, categorical_features=[2, 3]).fit(X, y)
        for a in (0.0, alpha)
    )
    assert pruned.tree_start_[-1] < full.tree_start_[-1] / 2
    assert np.isfinite(pruned.predict(X)).all()
    pruned._check_state()
    assert abs(pruned.feature_importances_.sum() - 1) < 1e-12


def test_pruned_forest_of_one_tree_is_the_pruned_tree() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for alpha in (0.001, 0.01, 0.1):
        forest = RandomForestClassifier(
            1, ccp_alpha=alpha, bootstrap=False, max_features=None, max_bins=65535
        ).fit(X, y)
        tree = DecisionTreeClassifier(ccp_alpha=alpha).fit(X, y)
        assert forest.tree_start_.tolist() == [0, tree.tree_.node_count]
        assert np.array_equal(forest.predict_proba(X), tree.predict_proba(X))
        np.testing.assert_allclose(forest.feature_importances_, tree.feature_importances_)


def test_monotone_forest_never_falls() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = X[:, 0] + np.sin(9 * X[:, 1]) + rng.normal(scale=0.5, size=400)
    forest = RandomForestRegressor(20, monotonic_cst=[1, 0], random_state=0).fit(X, y)
    line = np.column_stack([np.linspace(0, 1, 200), np.full(200, 0.4)])
    assert (np.diff(forest.predict(line)) >= -1e-12).all()


def test_apply_and_decision_path_name_the_same_leaves() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(6, random_state=0).fit(X, y)
    leaves = forest.apply(X)
    indicator, start = forest.decision_path(X)
    assert leaves.shape == (150, 6)
    assert start.tolist() == forest.tree_start_.tolist()
    nodes = start[:-1] + leaves
    assert (forest.node_left_[nodes] == 0).all()
    for t in range(6):
        assert np.asarray(indicator[np.arange(150), nodes[:, t]]).all()
    values = forest.leaf_value_[forest.node_slot_[nodes]].mean(axis=1)
    np.testing.assert_allclose(values, forest.predict_proba(X))


def test_share_of_rows_in_a_bag_is_that_of_the_bootstrap() -> None:
    shares = [(bootstrap_counts(7, t, 1000) > 0).mean() for t in range(100)]
    assert abs(np.mean(shares) - (1 - (1 - 1 / 1000) ** 1000)) < 0.005


@pytest.mark.parametrize("cls", FORESTS)
def test_one_row_and_a_constant_table_are_enough(cls: Any) -> None:
    y = ["a"] if "Classifier" in cls.__name__ else [2.5]
    assert cls(3).fit([[1.0]], y).predict([[9.0]]).tolist() == y
    flat = cls(3, random_state=0).fit(np.zeros((9, 2)), y * 9)
    assert flat.predict([[1.0, 2.0]]).tolist() == y
    assert flat.feature_importances_.tolist() == [0.0, 0.0]


def test_column_without_values_is_never_asked() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.full(len(X), np.nan)])
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    assert 4 not in forest.node_feature_
    assert forest.score(X, y) > 0.95


def test_state_that_is_damaged_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="in every bootstrap sample"):
        forest.fit(X, y)
    state = forest.state()
    damages: dict[str, Any] = {
        "node_left_": np.zeros_like(state["node_left_"]) + 1,
        "node_feature_": np.full_like(state["node_feature_"], 4),
        "node_slot_": np.full_like(state["node_slot_"], 10**6),
        "node_threshold_": np.full_like(state["node_threshold_"], np.nan),
        "importance_sum_": np.full(4, -1.0),
        "seed_": -1,
        "n_samples_": 0,
        "n_draws_": "150",
        "oob_score_": None,
        "oob_decision_function_": np.zeros((150, 2)),
    }
    for name, value in damages.items():
        with pytest.raises(DataError, match="the model is damaged"):
            RandomForestClassifier.from_state(forest.get_params(), {**state, name: value})


MESSAGES = [
    ({"n_estimators": 0}, "n_estimators must be an integer >= 1 or 'oob'; got 0"),
    ({"max_depth": 0}, "max_depth must be an integer >= 1 or None; got 0"),
    ({"max_bins": 70000}, "max_bins must be an integer in [2, 65535]; got 70000"),
    ({"max_bins": 1}, "max_bins must be an integer in [2, 65535]; got 1"),
    (
        {"min_samples_split": 1},
        "min_samples_split must be an integer >= 2 or a number in (0, 1]; got 1",
    ),
    (
        {"min_samples_leaf": 0.7},
        "min_samples_leaf must be an integer >= 1 or a number in (0, 0.5]; got 0.7",
    ),
    (
        {"max_features": 1.5},
        "max_features must be an integer >= 1 or a number in (0, 1] or 'sqrt' or 'log2' or None; "
        "got 1.5",
    ),
    ({"max_samples": 151}, "max_samples must be at most the number of rows (150); got 151"),
    (
        {"bootstrap": False, "max_samples": 0.5},
        "max_samples must be None when bootstrap=False, since every tree then sees all rows; "
        "got 0.5",
    ),
    (
        {"bootstrap": False, "oob_score": True},
        "oob_score must be False when bootstrap=False, since no row is out of bag; got True",
    ),
    (
        {"bootstrap": False, "n_estimators": "oob"},
        "n_estimators='oob' needs bootstrap=True: no row is out of bag",
    ),
    ({"combine": "mode"}, "combine must be 'mean', 'vote' or 'product'; got 'mode'"),
    (
        {"criterion": "ginny"},
        "criterion must be 'gini', 'entropy', 'log_loss' or 'error'; got 'ginny'; "
        "did you mean 'gini'?",
    ),
    (
        {"monotonic_cst": [1, 0, 0]},
        "monotonic_cst must be None or 4 numbers -1, 0 or 1, one per column; got [1, 0, 0]",
    ),
    (
        {"random_state": -1},
        "random_state must be None, an integer in [0, 2**32) or a RandomState; got -1",
    ),
    ({"ccp_alpha": -1.0}, "ccp_alpha must be a finite number >= 0; got -1.0"),
]


@pytest.mark.parametrize(("params", "message"), MESSAGES, ids=[str(p) for p, _ in MESSAGES])
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError) as caught:
        RandomForestClassifier(**params).fit(X, y)
    assert str(caught.value) == message


def test_wrong_data_is_told() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(
        DataError, match=r"sample_weight must be finite and not negative; got -1\.0"
    ):
        RandomForestClassifier().fit(X, y, -np.ones(150))
    with pytest.raises(DataError, match="sample_weight is zero in every row"):
        RandomForestClassifier().fit(X, y, np.zeros(150))
    with pytest.raises(DataError, match="class_weight is zero in every row"):
        RandomForestClassifier(class_weight={0: 0, 1: 0, 2: 0}).fit(X, y)
    with pytest.raises(DataError, match="criterion='poisson' needs targets that are not negative"):
        RandomForestRegressor(criterion="poisson").fit(X, y - 1.0)
    with pytest.raises(DataError, match="infinity"):
        RandomForestClassifier().fit(np.where(X > 7, np.inf, X), y)
    forest = RandomForestClassifier(3).fit(X, y)
    with pytest.raises(DataError, match="X has 3 features, but RandomForestClassifier is expect"):
        forest.predict(X[:, :3])
    with pytest.raises(ParameterError, match="callback must be None or a function; got 3"):
        forest.fit(X, y, callback=3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"i must be an integer in \[0, 2\]; got 3"):
        forest.tree(3)


def test_warm_start_refuses_another_table() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, y)
    for rows, labels in ((X[:100], y[:100]), (X, y + 1)):
        with pytest.raises(DataError, match="warm_start continues on the table of the first fit"):
            RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, y).set_params(
                n_estimators=9
            ).fit(rows, labels)
    with pytest.raises(ParameterError, match="n_estimators must be at least the 5 trees"):
        forest.set_params(n_estimators=3).fit(X, y)
