"""Decision lists: the pseudo-code as the oracle, exact failure, and tolerance of noise."""

from __future__ import annotations

import copy
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from assay.base import DataError, ParameterError, same
from assay.datasets import load_restaurant, load_titanic
from assay.tree import DecisionListClassifier

TABLE = load_restaurant()
X, Y = TABLE.drop("WillWait"), TABLE["WillWait"]


def learn(rows: NDArray[Any], y: NDArray[Any], max_literals: int) -> list[Any] | None:
    """DECISION-LIST-LEARNING over ``column = level``; a rule is (size, rows taken, class)."""
    literals = [(j, v) for j in range(rows.shape[1]) for v in np.unique(rows[:, j])]
    left, found = np.ones(len(y), dtype=bool), list[Any]()
    while left.any():
        if len(set(y[left])) == 1:
            return [*found, (0, int(left.sum()), int(y[left][0]))]
        for size in range(1, max_literals + 1):
            best = None
            for test in combinations(literals, size):
                hit = left & np.all([rows[:, j] == v for j, v in test], axis=0)
                wider = best is None or hit.sum() > best.sum()
                if hit.any() and len(set(y[hit])) == 1 and wider:
                    best = hit
            if best is not None:
                found.append((size, int(best.sum()), int(y[best][0])))
                left &= ~best
                break
        else:
            return None
    return found


def as_rules(model: DecisionListClassifier) -> list[Any]:
    sizes = [*np.diff(model.rule_start_), 0]
    answers = model.classes_[model.rule_value_.argmax(axis=1)]
    return [
        (int(size), int(weight), int(answer))
        for size, weight, answer in zip(sizes, model.rule_weight_, answers, strict=True)
    ]


@given(seed=st.integers(0, 10_000), n=st.integers(5, 25), d=st.integers(2, 4), k=st.integers(1, 4))
def test_list_is_the_one_of_the_pseudo_code(seed: int, n: int, d: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    rows, y = rng.integers(3, size=(n, d)), rng.integers(2, size=n)
    expected = learn(rows, y, k)
    model = DecisionListClassifier(max_literals=k, categorical_features=list(range(d)))
    if expected is None:
        with pytest.raises(DataError, match="no test of up to"):
            model.fit(rows, y)
    else:
        assert as_rules(model.fit(rows, y)) == expected
        assert np.array_equal(model.predict(rows), y)


@pytest.mark.parametrize("max_literals", [1, 2, 3])
def test_restaurant_is_fitted_exactly(max_literals: int) -> None:
    model = DecisionListClassifier(max_literals=max_literals).fit(X, Y)
    assert model.score(X, Y) == 1.0
    assert model.rules_.startswith("if Patrons = Some then Yes\n")


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_numbers_are_fitted_exactly_and_generalise(load: Any) -> None:
    rows, y = load(return_X_y=True)
    model = DecisionListClassifier().fit(rows[::2], y[::2])
    assert model.score(rows[::2], y[::2]) == 1.0
    assert model.score(rows[1::2], y[1::2]) > 0.9


def test_interval_needs_two_literals() -> None:
    rows = np.arange(9.0)[:, None]
    y = ["out"] * 3 + ["in"] * 3 + ["out"] * 3
    assert DecisionListClassifier().fit(rows, y).rules_.splitlines() == [
        "if x0 <= 2.5 then out",
        "else if x0 <= 5.5 then in",
        "else out",
    ]


def test_smaller_tests_come_first() -> None:
    rows = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 0]] * 3)
    model = DecisionListClassifier(categorical_features=[0, 1, 2])
    model.fit(rows, (rows[:, 0] & rows[:, 1]) | rows[:, 2])
    assert model.rules_.startswith("if x2 = 1 then 1\n")


def test_xor_fails_with_one_literal_and_not_with_two() -> None:
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    y = rows[:, 0] ^ rows[:, 1]
    with pytest.raises(DataError) as error:
        DecisionListClassifier(max_literals=1, categorical_features=[0, 1]).fit(rows, y)
    assert str(error.value) == (
        "no test of up to 1 literal(s) matches rows of one class only among the 4 rows that remain "
        "(rows 0, 1, 2, 3); a larger max_literals may find one, min_precision < 1 tolerates noise"
    )
    model = DecisionListClassifier(max_literals=2, categorical_features=[0, 1]).fit(rows, y)
    assert model.score(rows, y) == 1.0


def test_contradicting_rows_are_named() -> None:
    noisy = pl.concat([X, X[5:6]])
    with pytest.raises(DataError) as error:
        DecisionListClassifier().fit(noisy, [*Y, "No"])
    assert str(error.value).endswith(
        "rows 5 and 12 are equal but of classes 'Yes' and 'No': min_precision < 1 tolerates noise"
    )


def test_contradicting_rows_are_numbered_as_the_user_has_them() -> None:
    weight = [0.0, 0.0, 1.0, 1.0]
    with pytest.raises(DataError, match=r"rows 2 and 3 are equal but of classes 0 and 1"):
        DecisionListClassifier().fit([[1], [2], [3], [3]], [0, 1, 0, 1], sample_weight=weight)


def test_noise_is_tolerated_when_asked() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 3))
    truth = (rows[:, 0] > 0.3).astype(int)
    y = np.where(rng.random(500) < 0.1, 1 - truth, truth)
    model = DecisionListClassifier(min_precision=0.8, min_cover=10, significance=0.01)
    assert model.fit(rows, y).score(rows, truth) > 0.92
    assert len(model.rule_start_) < 20


@given(seed=st.integers(0, 10_000), k=st.integers(1, 3))
def test_tolerant_rule_has_the_largest_laplace_accuracy(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    rows, y = rng.integers(2, size=(30, 3)), rng.integers(3, size=30)
    literals = [(j, v) for j in range(3) for v in (0, 1)]

    def laplace(hit: NDArray[np.bool_]) -> float:
        counts = np.bincount(y[hit], minlength=3)
        allowed = counts.sum() >= 2 and counts.max() >= 0.5 * counts.sum()
        return float((counts.max() + 1) / (counts.sum() + 3)) if allowed else -1.0

    found = [
        (round(laplace(np.all([rows[:, j] == v for j, v in test], axis=0)), 9), -size)
        for size in range(1, k + 1)
        for test in combinations(literals, size)
    ]
    everything = np.bincount(y, minlength=3)
    default = (everything.max() + 1) / (everything.sum() + 3)
    model = DecisionListClassifier(
        max_literals=k, min_precision=0.5, min_cover=2, categorical_features=[0, 1, 2]
    ).fit(rows, y)
    if max(found)[0] <= default + 1e-9:
        assert len(model.rule_weight_) == 1
    else:
        taken = model.rule_value_[0] * model.rule_weight_[0]
        first = float((taken.max() + 1) / (taken.sum() + 3))
        assert first == pytest.approx(max(found)[0], abs=1e-8)
        assert model.rule_start_[1] == -max(found)[1]


def test_rules_keep_their_promises() -> None:
    rows, y = load_wine(return_X_y=True)
    model = DecisionListClassifier(min_precision=0.8, min_cover=7).fit(rows, y)
    assert (model.rule_value_[:-1].max(axis=1) >= 0.8 - 1e-9).all()
    assert (model.rule_weight_[:-1] >= 7 - 1e-9).all()
    rule = model.apply(rows)
    for r in range(len(model.rule_weight_)):
        assert np.count_nonzero(rule == r) == model.rule_weight_[r]
        shares = np.bincount(y[rule == r], minlength=3) / model.rule_weight_[r]
        np.testing.assert_allclose(shares, model.rule_value_[r])


def test_missing_values_are_a_condition() -> None:
    cabin = pl.DataFrame({"Cabin": ["A", None, "B", None, "A", None], "z": [1, 2, 1, 2, 2, 1]})
    y = ["yes", "no", "yes", "no", "yes", "no"]
    model = DecisionListClassifier().fit(cabin, y)
    assert model.rules_ == "if Cabin is missing then no\nelse yes"
    assert model.score(cabin, y) == 1.0


def test_unseen_level_satisfies_no_condition() -> None:
    model = DecisionListClassifier(negation=True, categorical_features=[0])
    model.fit([["a"], ["b"], ["c"]], [0, 1, 1])
    assert model.rules_ == "if x0 != a then 1\nelse 0"
    assert model.predict([["z"], ["b"]]).tolist() == [0, 1]


def test_titanic_is_learnt_with_its_gaps() -> None:
    table = load_titanic()
    columns = ["Pclass", "Sex", "Age", "SibSp", "Parch", "Fare", "Embarked"]
    model = DecisionListClassifier(min_precision=0.75, min_cover=10, significance=0.05)
    model.fit(table[columns][:600], table["Survived"][:600])
    assert model.score(table[columns][600:], table["Survived"][600:]) > 0.76


@given(seed=st.integers(0, 10_000), precision=st.sampled_from([1.0, 0.7]))
def test_weights_are_duplicated_rows(seed: int, precision: float) -> None:
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.integers(3, size=(25, 2)), rng.permutation(25)]).astype(float)
    y, weight = rng.integers(2, size=25), rng.integers(1, 4, size=25)
    model = DecisionListClassifier(min_precision=precision, categorical_features=[0, 1])
    weighted = model.fit(rows, y, sample_weight=weight)
    answer, rules = weighted.predict_proba(rows), weighted.rules_
    repeated = np.repeat(np.arange(25), weight)
    doubled = model.fit(rows[repeated], y[repeated])
    assert doubled.rules_ == rules
    np.testing.assert_allclose(answer, doubled.predict_proba(rows))


@given(seed=st.integers(0, 10_000))
def test_row_order_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, y = rng.integers(4, size=(40, 3)).astype(float), rng.integers(3, size=40)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    order = rng.permutation(40)
    model = DecisionListClassifier(min_precision=0.6, categorical_features=[0])
    rules = model.fit(rows, y).rules_
    assert model.fit(rows[order], y[order]).rules_ == rules


def test_wildly_unequal_weights_come_to_an_end() -> None:
    rng = np.random.default_rng(0)
    rows, y = rng.integers(3, size=(60, 4)), rng.integers(2, size=60)
    weight = 10.0 ** rng.uniform(-15, 15, size=60)
    model = DecisionListClassifier(min_precision=0.6, categorical_features=[0, 1, 2, 3])
    assert np.isfinite(model.fit(rows, y, sample_weight=weight).rule_value_).all()


def test_one_class_is_the_default() -> None:
    model = DecisionListClassifier().fit(X, ["Yes"] * 12)
    assert model.rules_ == "Yes"
    assert model.predict_proba(X).tolist() == [[1.0]] * 12


def test_constant_column_offers_no_test() -> None:
    with pytest.raises(DataError, match="rows 0 and 1 are equal but of classes"):
        DecisionListClassifier().fit([[1.0], [1.0]], ["a", "b"])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_literals": 0}, "max_literals must be an integer >= 1; got 0"),
        ({"min_precision": 1.1}, "min_precision must be a number in (0, 1]; got 1.1"),
        ({"min_cover": 0}, "min_cover must be a finite number >= 1; got 0"),
        ({"significance": 0.0}, "significance must be a number in (0, 1) or None; got 0.0"),
        ({"negation": 1}, "negation must be True or False; got 1"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        DecisionListClassifier(**params).fit(X, Y)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("name", "index", "value"),
    [
        ("rule_start_", 0, 1),
        ("rule_start_", -1, 99),
        ("rule_start_", 1, 0),
        ("literal_feature_", 0, 10),
        ("literal_kind_", 0, 5),
        ("literal_kind_", 0, 2),
        ("literal_value_", 0, 9.0),
        ("literal_value_", 0, np.inf),
        ("rule_value_", 0, 0.9),
        ("rule_weight_", 0, -1.0),
    ],
)
def test_damaged_rules_are_refused(name: str, index: Any, value: Any) -> None:
    model = DecisionListClassifier().fit(X, Y)
    state: dict[str, Any] = copy.deepcopy(model.state())
    assert same(model, DecisionListClassifier.from_state({}, state))
    state[name][index] = value
    with pytest.raises(DataError, match="the model is damaged"):
        DecisionListClassifier.from_state({}, state)
