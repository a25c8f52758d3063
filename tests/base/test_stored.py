"""Rules for fitted attributes: what fits is taken, and what does not is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from assay.base import Classifier, DataError, Estimator, ParameterError, check_interval
from assay.base.stored import (
    Array,
    Count,
    Integers,
    Models,
    Number,
    Offsets,
    OneOf,
    Plain,
    Rule,
    Sizes,
    check_stored,
    declared,
    each,
    ensure,
)

X = np.arange(12.0).reshape(6, 2)
MODEL = Ridge().fit(X, X[:, 0])
BINARY = LogisticRegression().fit(X, [0, 0, 0, 1, 1, 1])
SIGNS = LogisticRegression().fit(X, [-1, -1, -1, 1, 1, 1])


def made(**attributes: Any) -> Any:
    return SimpleNamespace(n_features_in_=2, **attributes)


def damage(rule: Rule, *value: Any, **attributes: Any) -> str:
    """Return what the rule finds wrong with one attribute of a model; "" if nothing."""
    model = made(**attributes, **dict.fromkeys(["part_"][: len(value)], *value))
    try:
        check_stored(model, declared(part_=rule), classes=3)
    except DataError as error:
        message = str(error)
    else:
        return ""
    start = "the model is damaged: SimpleNamespace.part_"
    assert message.startswith(start)
    return message.removeprefix(start)


@pytest.mark.parametrize(
    ("shape", "lengths", "fits"),
    [
        ("3", (3,), True),
        ("3", (2,), False),
        ("features", (2,), True),
        ("features", (3,), False),
        ("classes, features", (3, 2), True),
        ("classes, features", (3, 2, 1), False),
        ("problems", (3,), True),
        ("n_iter_+1", (5,), True),
        ("n_iter_+1", (4,), False),
        ("2*leaves-1, leaves", (7, 4), True),
        ("2*leaves-1, leaves", (7, 3), False),
        ("2*leaves", (7,), False),
        ("leaves+1", (0,), False),
        ("rows | rows, outputs", (9,), True),
        ("rows | rows, outputs", (9, 2), True),
        ("rows | rows, outputs", (), False),
        ("| rows", (), True),
        ("rows, rows", (4, 4), True),
        ("rows, rows", (4, 5), False),
        ("one?, rows", (4,), True),
        ("one?, rows", (1, 4), False),
        ("classes?, rows", (3, 4), True),
        ("classes?, rows", (4,), False),
    ],
)
def test_shapes_are_compared_by_name(shape: str, lengths: tuple[int, ...], fits: bool) -> None:
    assert Sizes(made(n_iter_=4), classes=3, one=1).fit(shape, lengths) is fits


def test_length_with_two_unknown_names_is_a_mistake_of_the_rule() -> None:
    with pytest.raises(ValueError, match=r"of the lengths in 'a\*b', more than one is unknown"):
        Sizes(made()).fit("a*b", (6,))


@pytest.mark.parametrize(("classes", "problems"), [(1, 1), (2, 1), (3, 3)])
def test_two_classes_are_one_problem(classes: int, problems: int) -> None:
    assert Sizes(made(), classes=classes).length("problems") == problems
    assert Sizes(made()).length("problems") == 1


def test_shape_that_does_not_fit_teaches_no_length() -> None:
    sizes = Sizes(made())
    assert sizes.fit("rows, 2 | rows", (5,))
    assert not sizes.fit("rows", (6,))
    assert not sizes.fit("width, 3", (4, 4))
    assert sizes.fit("width", (7,))


@pytest.mark.parametrize("value", [None, -1, 2.0, True, "2", np.array([2])])
def test_length_in_an_attribute_must_be_a_count(value: Any) -> None:
    with pytest.raises(DataError, match=r"SimpleNamespace\.n_iter_ is missing or not a number"):
        check_stored(made(n_iter_=value, part_=np.zeros(2)), declared(part_=Array("n_iter_")))


@pytest.mark.parametrize(
    ("rule", "value", "words"),
    [
        (Array("features"), np.zeros(2), ""),
        (Array("features"), np.zeros(3), " has shape (3,), not (2,)"),
        (Array("rows, features"), np.zeros(3), " has shape (3,), not (rows, 2)"),
        (Array(""), 1.5, ""),
        (Array(""), np.zeros(1), " has shape (1,), not a number"),
        (Array(""), np.array(1.5), " is missing or of the wrong type"),
        (Array("2"), [0.0, 1.0], " is missing or of the wrong type"),
        (Array("2"), np.zeros(2, dtype=int), " is missing or of the wrong type"),
        (Array("2"), np.array([0.0, np.nan]), " has values that are not finite"),
        (Array("2"), np.array([0.0, np.inf]), " has values that are not finite"),
        (Array("2", finite=False), np.array([np.nan, np.inf]), ""),
        (Array("2", 0, finite=False), np.array([0.0, np.nan]), " has values below 0"),
        (Array("2", 0, 1), np.array([0.0, 1.0]), ""),
        (Array("2", 0, 1), np.array([0.0, 1.1]), " has values outside [0, 1]"),
        (Array("2", high=1), np.array([0.0, 1.1]), " has values above 1"),
        (Array("2", above=0), np.array([0.0, 1.0]), " has values that are not > 0"),
        (Array("2", dtype=np.float64), np.zeros(2, np.float32), " is of float32, not float64"),
        (Array("rows", filled=True), np.zeros(0), " is empty"),
        (Array("rows", ascending=True), np.array([1.0, 1.0]), " is not ascending"),
        (Array("rows", kinds="U", ascending=True), np.array(["a", "b"]), ""),
        (Integers("rows", 0, "features-1"), np.array([0, 1]), ""),
        (Integers("rows", 0, "features-1"), np.array([0, 2]), " has values outside [0, 1]"),
        (Integers(""), 3, ""),
        (Integers(""), True, " is missing or of the wrong type"),
        (Number(), 1.0, ""),
        (Number(), 1, " is 1 and must be a finite number"),
        (Number(), float("nan"), " is nan and must be a finite number"),
        (Number(0), float("inf"), " is inf and must be a finite number >= 0"),
        (Number(0, 1), 1.5, " is 1.5 and must be a finite number in [0, 1]"),
        (Number(above=0), 0.0, " is 0.0 and must be a finite number > 0"),
        (Count(), 0, ""),
        (Count(), -1, " is -1 and must be an integer >= 0"),
        (Count(), True, " is True and must be an integer >= 0"),
        (Count(), 1.0, " is 1.0 and must be an integer >= 0"),
        (Count(1, "features"), 3, " is 3 and must be an integer in [1, 2]"),
        (OneOf(("a", None)), None, ""),
        (OneOf((0, 1)), True, " is True and must be one of 0, 1"),
        (OneOf(("a", "b")), "c", " is 'c' and must be one of a, b"),
        (Plain(str), "x", ""),
        (Plain(float), 1, " is missing or of the wrong type"),
        (Plain((float, type(None))), None, ""),
        (Models("1"), [MODEL], ""),
        (Models(), MODEL, " is missing or not a list of models"),
        (Models(), [], " holds 0 models, not at least 1"),
        (Models("features"), [MODEL], " holds 1 models, not 2"),
        (Models(), [MODEL, Ridge()], "[1] is not fitted"),
        (Models(features="5"), [MODEL], "[0] has 2 columns, not 5"),
        (Models(methods=("transform",)), [MODEL], "[0] has no method transform"),
        (Models(single=True), MODEL, ""),
        (Models(single=True), [MODEL], " is missing or not a model"),
        (Models(single=True), Ridge(), " is not fitted"),
        (Models(classes=(0, 1)), [BINARY], ""),
        (Models(classes=(0, 1)), [SIGNS], "[0] does not have the classes 0 and 1"),
        (Models(classes="some"), [BINARY], ""),
        (Models(classes="some"), [SIGNS], "[0] has classes of its own"),
        (Models(classes="all"), [BINARY], "[0] has classes of its own"),
        (Models(classes="some"), [MODEL], "[0] has classes of its own"),
    ],
)
def test_value_that_breaks_its_rule_is_named(rule: Rule, value: Any, words: str) -> None:
    assert damage(rule, value) == words


@pytest.mark.parametrize(
    "rule",
    [
        *(Array("rows"), Integers("rows"), Number(), Count(), OneOf((None,)), Plain(type(None))),
        *(Models(), Models(single=True)),
    ],
)
def test_missing_attribute_is_refused_unless_optional(rule: Rule) -> None:
    assert "missing" in damage(rule)
    optional = type(rule)(**{**vars(rule), "optional": True})
    assert damage(optional) == ""


@pytest.mark.parametrize(
    ("offsets", "words"),
    [
        ([0, 2, 5], ""),
        ([0, 0, 5], ""),
        ([0, 5], " has shape (2,), not (3,)"),
        ([1, 2, 5], " does not divide data_"),
        ([0, 2, 4], " does not divide data_"),
        ([0, 6, 5], " has values outside [0, 5]"),
        ([0, 5, 4], " does not divide data_"),
    ],
)
def test_offsets_divide_an_array(offsets: list[int], words: str) -> None:
    assert damage(Offsets("features", "data_"), np.array(offsets), data_=np.zeros(5)) == words


def test_offsets_can_ask_for_parts_that_are_not_empty() -> None:
    rule = Offsets("parts", "data_", least=1)
    assert damage(rule, np.array([0, 0, 5]), data_=np.zeros(5)) == " does not divide data_"
    assert damage(rule, np.array([], dtype=int), data_=np.zeros(0)) != ""


def test_offsets_of_small_unsigned_steps_do_not_wrap() -> None:
    assert damage(Offsets("2", "data_"), np.array([0, 100, 50], np.int8), data_=np.zeros(50)) != ""


@pytest.mark.parametrize("when", ["flag", lambda model: model.flag])
def test_rule_applies_only_when_its_condition_holds(when: Any) -> None:
    assert damage(Count(when=when), -1, flag=False) == ""
    assert damage(Count(when=when), -1, flag=True) != ""


def test_same_rule_is_declared_for_several_attributes() -> None:
    assert each("a_ b_", Count()) == {"a_": Count(), "b_": Count()}


def test_ensure_names_the_damage() -> None:
    ensure(np.True_, "x_ is wrong")
    with pytest.raises(DataError, match=r"^the model is damaged: x_ is wrong$"):
        ensure(np.False_, "x_ is wrong")


class Outer(Estimator):
    """A base with a rule and a relation."""

    stored = declared(low_=Number(0), size_=Count())

    def __init__(self, *, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def _check_more(self) -> None:
        ensure(self.low_ <= 5, "low_ is above 5")
        check_interval("alpha", self.alpha, 0)


class Inner(Outer, Classifier):
    """Narrows one rule of its base and adds a relation."""

    stored = declared(size_=Count(0, "classes"))

    def _check_more(self) -> None:
        ensure(self.low_ != 3, "low_ is 3")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ""),
        ({"low_": -1.0}, "Inner.low_ is -1.0 and must be a finite number >= 0"),
        ({"low_": 6.0}, "low_ is above 5"),
        ({"low_": 3.0}, "low_ is 3"),
        ({"size_": 3}, r"Inner.size_ is 3 and must be an integer in \[0, 2\]"),
        ({"classes_": np.array([1, 0])}, "Inner.classes_ is not ascending"),
        ({"n_features_in_": 2**31}, "Inner.n_features_in_ is 2147483648 and must be an integer in"),
    ],
)
def test_rules_and_relations_of_bases_are_kept(change: dict[str, Any], words: str) -> None:
    state: dict[str, Any] = {
        **{"low_": 1.0, "size_": 2, "n_features_in_": 4},
        "classes_": np.array([0, 1]),
        **change,
    }
    if not words:
        assert Inner.from_state({}, state).size_ == 2
        return
    with pytest.raises(DataError, match=f"^the model is damaged: {words}"):
        Inner.from_state({}, state)


def test_wrong_parameter_in_a_restored_model_is_damage() -> None:
    state: dict[str, Any] = {"low_": 1.0, "size_": 2, "n_features_in_": 4}
    with pytest.raises(DataError, match=r"^the model is damaged: alpha must be"):
        Outer.from_state({"alpha": -1}, state)
    with pytest.raises(ParameterError):
        check_interval("alpha", -1, 0)
