"""Rules: they say what the tree says, in fewer words."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris

from assay.base import ParameterError
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor, rules


def holds(condition: Any, row: NDArray[Any], levels: Any) -> bool:
    """Whether one condition is true of a row of numbers and level codes."""
    value = row[condition.column]
    if np.isnan(value):
        return bool(condition.takes_missing)
    if condition.levels is not None:
        return levels[condition.column][int(value)] in condition.levels
    return bool(condition.low < value <= condition.high)


def all_hold(conditions: Any, row: NDArray[Any], levels: Any) -> bool:
    return all(holds(condition, row, levels) for condition in conditions)


def mixed(seed: int, missing: float) -> tuple[NDArray[Any], NDArray[Any], Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(80, 4)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    y = (np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) > 4).astype(int)
    y[rng.random(80) < 0.1] = 2
    return X, y, {1: [str(k) for k in range(5)], 3: [str(k) for k in range(5)]}


@given(seed=st.integers(0, 2**31), missing=st.sampled_from([0.0, 0.2]))
def test_exactly_one_rule_holds_and_it_is_that_of_the_leaf(seed: int, missing: float) -> None:
    X, y, levels = mixed(seed, missing)
    model = DecisionTreeClassifier(categorical_features=[1, 3]).fit(X, y)
    found = rules(model)
    assert len(found) == model.get_n_leaves()
    for row, leaf, label in zip(X, model.apply(X), model.predict(X), strict=True):
        true = [rule for rule in found if all_hold(rule.conditions, row, levels)]
        assert [rule.leaf for rule in true] == [leaf]
        assert true[0].answer == label
    assert sum(rule.n_samples for rule in found) == len(X)


@given(seed=st.integers(0, 2**31), missing=st.sampled_from([0.0, 0.2]))
def test_dnf_says_the_class_for_the_same_rows_as_the_tree(seed: int, missing: float) -> None:
    X, y, levels = mixed(seed, missing)
    model = DecisionTreeClassifier(categorical_features=[1, 3], max_depth=5).fit(X, y)
    found = rules(model)
    rng = np.random.default_rng(seed + 1)
    fresh = rng.integers(-1, 6, size=(200, 4)) + rng.choice([0.0, 0.5], size=(200, 4))
    fresh[:, [1, 3]] = rng.integers(0, 5, size=(200, 2))
    if missing:
        fresh[rng.random(fresh.shape) < 0.1] = np.nan
    rows = np.concatenate([X, fresh])
    predicted = model.predict(rows)
    n_conditions = sum(len(rule.conditions) for rule in found)
    n_terms = 0
    for label in model.classes_:
        dnf = found.dnf(label)
        said = np.array([any(all_hold(term, row, levels) for term in dnf.terms) for row in rows])
        np.testing.assert_array_equal(said, predicted == label)
        n_terms += sum(len(term) for term in dnf.terms)
    assert n_terms <= n_conditions


def test_dnf_drops_what_is_not_needed() -> None:
    # y = a and b, grown as a tree that asks a first: "not a" or "not b" needs no more words.
    X = np.array([[a, b, 0.0] for a in (0, 1) for b in (0, 1)])
    model = DecisionTreeClassifier().fit(X, ["n", "n", "n", "y"])
    found = rules(model, feature_names=["a", "b", "c"])
    assert str(found.dnf("n")) == "(a <= 0.5) or (b <= 0.5)"
    assert str(found.dnf("y")) == "a > 0.5 and b > 0.5"


def test_sibling_leaves_of_equal_class_are_one_term() -> None:
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    assert len(rules(model)) == 5
    assert [len(rules(model).dnf(label).terms) for label in (0, 1, 2)] == [1, 1, 2]


def test_conditions_on_one_column_are_merged() -> None:
    X = np.arange(8.0)[:, None]
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1, 0, 0, 1, 1])
    for rule in rules(model, feature_names=["size"]):
        assert len(rule.conditions) == 1
    texts = [str(rule.conditions[0]) for rule in rules(model, feature_names=["size"])]
    assert texts == ["size <= 1.5", "1.5 < size <= 3.5", "3.5 < size <= 5.5", "size > 5.5"]


def test_names_of_columns_levels_and_classes_are_used() -> None:
    frame = pl.DataFrame(
        {"colour": ["red", "blue", "green", "red", None, "blue"], "size": [1, 2, 3, 4, 5, 6]}
    )
    y = ["warm", "cold", "cold", "warm", "warm", "cold"]
    found = rules(DecisionTreeClassifier(max_depth=1).fit(frame, y))
    assert sorted(map(str, found)) == [
        "IF (colour = red or missing) THEN warm (3 rows, 100 %)",
        "IF colour in {blue, green} THEN cold (3 rows, 100 %)",
    ]
    assert found.rules[0].shares == (1.0, 0.0)
    assert str(found.dnf("warm")) == "(colour = red or missing)"


def test_every_term_of_a_dnf_stands_in_one_pair_of_brackets() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [np.nan, 1]])
    found = rules(DecisionTreeClassifier().fit(X, [0, 1, 1, 1, 1]), feature_names=["a", "b"])
    assert str(found.dnf(1)) == "(b > 0.5) or (a > 0.5 or missing)"


def test_rules_of_a_regression_tell_values() -> None:
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [[1.0, 10.0], [2.0, 20.0]])
    assert str(rules(model)) == "IF x0 <= 0.5 THEN 1, 10 (1 row)\nIF x0 > 0.5 THEN 2, 20 (1 row)"
    assert rules(model).rules[0].answer == (1.0, 10.0)
    with pytest.raises(ParameterError, match="dnf needs a tree that predicts classes"):
        rules(model).dnf(1)


def test_tree_of_one_leaf_is_one_rule() -> None:
    found = rules(DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "a"]))
    assert str(found) == "ALWAYS a (2 rows, 100 %)"
    assert str(found.dnf("a")) == "always"


def test_class_that_is_never_said_has_no_terms() -> None:
    model = DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0], [1.0], [1.0]], [0, 1, 1, 2])
    assert str(rules(model).dnf(2)) == "never"


def test_large_trees_are_simplified_in_time() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.2, 1 - y, y)
    model = DecisionTreeClassifier().fit(X, y)
    assert model.get_n_leaves() > 80
    assert 0 < len(rules(model).dnf(1).terms) <= model.get_n_leaves()


def test_wrong_labels_and_names_are_refused() -> None:
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(ParameterError) as caught:
        rules(model).dnf("c")
    assert str(caught.value) == "label must be one of ['a', 'b']; got 'c'"
    with pytest.raises(ParameterError) as caught:
        rules(model, feature_names=["x", "y"])
    assert str(caught.value) == "feature_names needs one name per column (1); got 2"
