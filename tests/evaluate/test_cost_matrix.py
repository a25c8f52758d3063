"""Cost matrices, in every form that a user may write them in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.base import ParameterError
from assay.evaluate import CostMatrix

CLASSES = ["ham", "news", "spam"]
EXPECTED = [[0, 1, 10], [1, 0, 2.5], [1, 1, 0]]
FORMS = (
    "cost must be a matrix (rows: truth, columns: prediction), a mapping such as {('spam', "
    "'ham'): 10}, or texts such as 'spam,ham=10'; "
)


@pytest.mark.parametrize(
    "cost",
    [
        EXPECTED,
        np.array(EXPECTED),
        {("ham", "spam"): 10, ("news", "spam"): 2.5},
        {(np.str_("ham"), "spam"): np.int64(10), ("news", "spam"): 2.5},
        "ham,spam=10;news,spam=2.5",
        ["ham,spam=10", "news,spam=2.5"],
        ("ham, spam = 1e1", " news ,spam=2.5; "),
        CostMatrix(tuple(CLASSES), np.array(EXPECTED)),
    ],
)
def test_all_forms_are_the_same_matrix(cost: Any) -> None:
    matrix = CostMatrix.of(cost, CLASSES)
    assert matrix.classes == tuple(CLASSES)
    assert matrix.values.tolist() == EXPECTED
    assert matrix.values.dtype == np.float64


def test_classes_may_be_numbers() -> None:
    assert CostMatrix.of({(1, 0): 5}, np.array([0, 1])).values.tolist() == [[0, 1], [5, 0]]
    assert CostMatrix.of("1,0=5", [0, 1]).values.tolist() == [[0, 1], [5, 0]]


def test_labels_may_hold_commas_and_equal_signs() -> None:
    classes = ["a,b", "c", "x=1"]
    assert CostMatrix.of("a,b,c=7", classes).values[0, 1] == 7
    assert CostMatrix.of("c,x=1=7", classes).values[1, 2] == 7


def test_right_answers_may_cost_something_too() -> None:
    matrix = CostMatrix.of({("a", "a"): -2, ("b", "a"): 3}, ["a", "b"])
    assert matrix.values.tolist() == [[-2, 1], [3, 0]]


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ({}, "every mistake costs 1"),
        ("ham,spam=10", "ham as spam: 10; every other mistake: 1"),
        (5 * (1 - np.eye(2)), "ham as spam: 5; spam as ham: 5"),
    ],
)
def test_words_tell_what_differs(cost: Any, words: str) -> None:
    assert str(CostMatrix.of(cost, ["ham", "spam"])) == words


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (
            "ham,spm=10",
            "cost names the class 'spm', which is not there; the classes are 'ham', 'news', "
            "'spam'; did you mean 'spam'?",
        ),
        (
            "ham=10",
            "cost as text is truth,prediction=number, for example spam,ham=10; got 'ham=10'",
        ),
        (
            "ham,spam=ten",
            "cost as text is truth,prediction=number, for example spam,ham=10; got 'ham,spam=ten'",
        ),
        ("ham,spam=inf", "cost must hold finite numbers only; got a value that is not"),
        (["ham,spam=1", "ham,spam=2"], "cost names the pair 'ham', 'spam' twice"),
        ({"ham": 3}, f"{FORMS}got the key 'ham'"),
        (3, f"{FORMS}a matrix needs shape (3, 3) for the classes 'ham', 'news', 'spam'; got 3"),
        (
            np.eye(2),
            f"{FORMS}a matrix needs shape (3, 3) for the classes 'ham', 'news', 'spam'; "
            "got shape (2, 2)",
        ),
        ([["x"]], f"{FORMS}got [['x']]"),
        (
            {("ham", "spam"): -1},
            "cost must not be lower for a wrong answer than for the right one; 'ham' predicted as "
            "'spam' costs -1, as itself 0",
        ),
        (
            CostMatrix(("a", "b"), np.eye(2)),
            "cost must be a matrix of the classes 'ham', 'news', 'spam'; got one of 'a', 'b'",
        ),
    ],
)
def test_wrong_costs_are_named(cost: Any, message: str) -> None:
    with pytest.raises(ParameterError) as error:
        CostMatrix.of(cost, CLASSES)
    assert str(error.value) == message


def test_text_that_can_be_read_in_two_ways_is_refused() -> None:
    with pytest.raises(ParameterError) as error:
        CostMatrix.of("a,a,a=3", ["a", "a,a"])
    assert str(error.value) == "cost 'a,a,a=3' can be read in 2 ways; use a mapping"
