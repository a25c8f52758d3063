"""The multiway tree: the pseudo-code written out as the oracle, and what holds for any table."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier

from assay.base import DataError, ParameterError, same
from assay.datasets import load_restaurant, load_titanic
from assay.theory import information_gain
from assay.tree import ID3Classifier

TABLE = load_restaurant()
X, Y = TABLE.drop("WillWait"), TABLE["WillWait"]


def contingency(values: NDArray[Any], y: NDArray[Any], n_levels: int) -> NDArray[np.int64]:
    return np.array([[np.sum((values == v) & (y == c)) for c in (0, 1)] for v in range(n_levels)])


def learn(rows: NDArray[Any], y: NDArray[Any], attributes: list[int], parent: Any, n: int) -> Any:
    """LEARN-DECISION-TREE, read from the page; a tree is a class or (attribute, [subtree, ...])."""
    if not len(y):
        return int(np.bincount(parent, minlength=2).argmax())
    if len(set(y)) == 1:
        return int(y[0])
    attributes = [a for a in attributes if len(set(rows[:, a])) > 1]
    if not attributes:
        return int(np.bincount(y, minlength=2).argmax())
    gains = [round(information_gain(contingency(rows[:, a], y, n)), 9) for a in attributes]
    best = attributes[gains.index(max(gains))]
    rest = [a for a in attributes if a != best]
    return best, [
        learn(rows[rows[:, best] == v], y[rows[:, best] == v], rest, y, n) for v in range(n)
    ]


def as_nested(model: ID3Classifier, node: int = 0) -> Any:
    first, last = model.node_child_start_[node : node + 2]
    if first == last:
        return int(model.node_value_[node].argmax())
    return int(model.node_feature_[node]), [as_nested(model, child) for child in range(first, last)]


def nominal(n_columns: int) -> ID3Classifier:
    return ID3Classifier(categorical_features=list(range(n_columns)))


@given(seed=st.integers(0, 10_000), n=st.integers(8, 60), d=st.integers(1, 5))
def test_tree_is_the_one_of_the_pseudo_code(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.vstack([np.repeat(np.arange(3)[:, None], d, axis=1), rng.integers(3, size=(n, d))])
    y = np.append([0, 1, 0], rng.integers(2, size=n))
    model = nominal(d).fit(rows, y)
    assert as_nested(model) == learn(rows, y, list(range(d)), y, 3)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_numeric_columns_give_the_binary_entropy_tree(load: Any) -> None:
    rows, y = load(return_X_y=True)
    rows = rows + np.random.default_rng(0).uniform(0, 1e-6, rows.shape)  # no tied cuts
    ours = ID3Classifier(max_depth=2).fit(rows, y)
    theirs = DecisionTreeClassifier(criterion="entropy", max_depth=2, random_state=0).fit(rows, y)
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=1e-12)


def test_consistent_rows_are_fitted_exactly() -> None:
    assert ID3Classifier().fit(X, Y).score(X, Y) == 1.0
    assert ID3Classifier(criterion="gain_ratio").fit(X, Y).score(X, Y) == 1.0


def test_gain_ratio_spurns_the_row_number() -> None:
    table = X.with_columns(pl.Series("Number", [str(i) for i in range(12)]))
    table = table.select("Number", *X.columns)
    by_gain = ID3Classifier().fit(table, Y)
    by_ratio = ID3Classifier(criterion="gain_ratio").fit(table, Y)
    assert by_gain.to_text().startswith("Number?")
    assert by_ratio.to_text().startswith("Patrons?")


@pytest.mark.parametrize(
    ("grouping", "expected"),
    [
        (None, "Zip?\n├── 1: no\n├── 2: yes\n├── 3: no\n├── 4: no\n└── 5: no"),
        ("top_vs_rest", "Zip?\n├── 2: yes\n└── other: no"),
        (
            "ordered",
            "Zip?\n├── up to 2: Zip?\n│   ├── up to 1: no\n│   └── after 1: yes\n└── after 2: no",
        ),
        ("ignore", "no"),
    ],
)
def test_many_valued_columns_are_grouped_as_asked(grouping: Any, expected: str) -> None:
    zips = pl.DataFrame({"Zip": ["1", "2", "3", "4", "5", "2", "3"]})
    y = ["no", "yes", "no", "no", "no", "yes", "no"]
    model = ID3Classifier(grouping=grouping, max_levels=4).fit(zips, y)
    assert model.to_text() == expected
    if grouping != "ignore":
        assert model.predict(zips).tolist() == y


def test_grouping_leaves_small_columns_alone() -> None:
    plain = ID3Classifier().fit(X, Y)
    grouped = ID3Classifier(grouping="top_vs_rest", max_levels=4).fit(X, Y)
    assert plain.to_text() == grouped.to_text()


def test_xor_survives_pruning_because_it_comes_after_growing() -> None:
    rows = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 10, axis=0)
    y = rows[:, 0] ^ rows[:, 1]
    model = ID3Classifier(prune="chi2", categorical_features=[0, 1]).fit(rows, y)
    assert information_gain([[10, 10], [10, 10]]) == 0  # of the root's split
    assert model.get_n_leaves() == 4
    assert model.score(rows, y) == 1.0


def test_noise_is_pruned_to_the_root() -> None:
    rng = np.random.default_rng(3)
    rows, y = rng.integers(2, size=(200, 4)), rng.integers(2, size=200)
    model = ID3Classifier(prune="chi2", significance=1e-4, categorical_features=[0, 1, 2, 3])
    assert model.fit(rows, y).get_n_leaves() == 1
    np.testing.assert_allclose(model.predict_proba(rows[:1])[0, 1], y.mean())


def test_missing_value_goes_down_all_branches_with_their_shares() -> None:
    model = ID3Classifier(max_depth=1).fit(X, Y)
    row = X.head(1).with_columns(Patrons=pl.lit(None, dtype=pl.String))
    np.testing.assert_allclose(model.predict_proba(row), [[4 / 12 + 2 / 12, 4 / 12 + 2 / 12]])


def test_unseen_level_is_like_a_missing_one() -> None:
    model = ID3Classifier().fit(X, Y)
    unseen = X.with_columns(Patrons=pl.lit("Closed"))
    missing = X.with_columns(Patrons=pl.lit(None, dtype=pl.String))
    assert np.array_equal(model.predict_proba(unseen), model.predict_proba(missing))


def test_missing_training_value_counts_in_every_branch_by_its_share() -> None:
    rows = np.array([[0.0], [0.0], [1.0], [np.nan]])
    model = nominal(1).fit(rows, ["a", "a", "b", "b"])
    np.testing.assert_allclose(model.node_weight_, [4, 2 + 2 / 3, 1 + 1 / 3])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[2 / (2 + 2 / 3), 1 / 4]])


def test_empty_branch_answers_with_the_plurality_of_its_parent() -> None:
    rows = [[0, 0], [0, 0], [0, 1], [1, 2], [1, 2]]
    model = nominal(2).fit(rows, ["a", "a", "b", "b", "b"])
    shares = model.predict_proba([[0, 2]])
    assert shares.tolist() in ([[0.0, 1.0]], [[2 / 3, 1 / 3]])
    forced = nominal(2).fit([[0, 0], [0, 0], [0, 1], [1, 2], [2, 2]], ["a", "a", "b", "a", "b"])
    assert forced.score([[0, 0], [0, 1], [1, 2], [2, 2]], ["a", "b", "a", "b"]) == 1.0


def test_contradicting_rows_answer_with_their_shares() -> None:
    model = nominal(1).fit([[0], [0], [0], [1]], ["a", "a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba([[0]]), [[2 / 3, 1 / 3]])


@given(seed=st.integers(0, 10_000), prune=st.sampled_from([None, "chi2"]))
def test_weights_are_duplicated_rows(seed: int, prune: Any) -> None:
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.integers(3, size=(30, 2)), rng.normal(size=30).round(1)])
    rows[rng.random(rows.shape) < 0.1] = np.nan
    y, weight = rng.integers(3, size=30), rng.integers(0, 4, size=30)
    model = ID3Classifier(prune=prune, categorical_features=[0, 1], significance=0.3)
    levels = np.flatnonzero(weight > 0)
    weighted = model.fit(rows[levels], y[levels], sample_weight=weight[levels]).predict_proba(rows)
    repeated = np.repeat(np.arange(30), weight)
    doubled = model.fit(rows[repeated], y[repeated]).predict_proba(rows)
    np.testing.assert_allclose(weighted, doubled, atol=1e-9)


@given(seed=st.integers(0, 10_000))
def test_shares_sum_to_one_and_row_order_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.integers(4, size=(40, 2)), rng.normal(size=(40, 2)).round(1)])
    rows[rng.random(rows.shape) < 0.2] = np.nan
    y, order = rng.integers(2, size=40), rng.permutation(40)
    model = ID3Classifier(categorical_features=[0, 1], criterion="gain_ratio")
    shares = model.fit(rows, y).predict_proba(rows)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    shuffled = model.fit(rows[order], y[order]).predict_proba(rows)
    np.testing.assert_allclose(shuffled, shares, atol=1e-9)


def test_titanic_with_missing_values_is_learnt() -> None:
    table = load_titanic()
    columns = ["Pclass", "Sex", "Age", "SibSp", "Parch", "Fare", "Embarked"]
    model = ID3Classifier(prune="chi2", criterion="gain_ratio")
    model.fit(table[columns][:600], table["Survived"][:600])
    assert model.score(table[columns][600:], table["Survived"][600:]) > 0.76


def test_depth_is_limited() -> None:
    assert ID3Classifier(max_depth=2).fit(X, Y).get_depth() == 2
    assert ID3Classifier(min_samples_split=5).fit(X, Y).get_depth() == 2
    assert ID3Classifier().fit(X, Y).get_depth() == 4


def test_one_class_is_one_leaf() -> None:
    model = ID3Classifier().fit(X, ["Yes"] * 12)
    assert model.get_n_leaves() == 1
    assert model.to_text() == "Yes"


def test_numbers_are_told_in_the_text() -> None:
    assert (
        ID3Classifier().fit([[1.0], [2.0]], [0, 1]).to_text() == "x0?\n├── <= 1.5: 0\n└── > 1.5: 1"
    )


def test_huge_numbers_are_cut_between() -> None:
    big = np.finfo(np.float64).max
    model = ID3Classifier().fit([[-big], [big]], [0, 1])
    assert model.predict([[-big], [big]]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"criterion": "xyz"}, "criterion must be 'gain' or 'gain_ratio'; got 'xyz'"),
        ({"max_depth": 0}, "max_depth must be an integer >= 1 or None; got 0"),
        ({"significance": 1.0}, "significance must be a number in (0, 1); got 1.0"),
        ({"prune": "chi"}, "prune must be None or 'chi2'; got 'chi'; did you mean 'chi2'?"),
        ({"max_levels": 0}, "max_levels must be an integer >= 1; got 0"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        ID3Classifier(**params).fit(X, Y)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("name", "index", "value"),
    [
        ("node_child_start_", 0, 0),
        ("node_child_start_", 1, 3),
        ("node_feature_", 0, 10),
        ("node_feature_", 0, -1),
        ("node_feature_", 0, 0),
        ("node_kind_", 0, 2),
        ("node_kind_", 0, 9),
        ("node_threshold_", 0, np.nan),
        ("node_value_", 0, 0.9),
        ("node_weight_", slice(1, 4), 0.0),
    ],
)
def test_damaged_nodes_are_refused(name: str, index: Any, value: Any) -> None:
    model = ID3Classifier().fit(X, Y)
    state: dict[str, Any] = copy.deepcopy(model.state())
    assert same(model, ID3Classifier.from_state({}, state))
    state[name][index] = value
    with pytest.raises(DataError, match="the model is damaged"):
        ID3Classifier.from_state({}, state)
