"""Any number of labels per row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MultiLabelBinarizer

from assay.base import DataError, same
from assay.multiclass import MultilabelClassifier
from assay.multiclass._label_sets import label_matrix
from assay.tree import DecisionTreeClassifier

ALLOWED = (
    "y must be a matrix of 0 and 1 with one column per label, one set of labels per row, or one "
    "label per row; got "
)


def rows() -> tuple[Any, Any]:
    X, Y = make_multilabel_classification(150, 6, n_classes=5, random_state=0)
    return X, Y


@pytest.mark.parametrize("base", [LogisticRegression(), GaussianNB()])
def test_labels_are_independent_binary_problems(base: Any) -> None:
    X, Y = rows()
    model, peer = MultilabelClassifier(base).fit(X, Y), OneVsRestClassifier(base).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), peer.predict_proba(X))
    assert model.score(X, Y) == accuracy_score(Y, peer.predict(X))


def test_sets_matrix_sparse_and_frame_give_the_same_model() -> None:
    X, Y = rows()
    sets = [set(np.flatnonzero(row).tolist()) for row in Y]
    model = MultilabelClassifier(GaussianNB())
    expected = model.fit(X, Y).predict(X)
    given: list[Any] = [sets, sp.csr_array(Y), Y.tolist(), Y.astype(bool), Y.astype(float)]
    given += [pd.DataFrame(Y), [tuple(each) for each in sets], pd.Series(sets)]
    for form in given:
        np.testing.assert_array_equal(model.fit(X, form).predict(X), expected)
        assert model.score(X, form) == model.score(X, Y)


def test_predicted_sets_are_the_names_in_the_matrix() -> None:
    X, Y = rows()
    names = np.array(["a", "b", "c", "d", "e"])
    sets = [list(names[row == 1]) for row in Y]
    model = MultilabelClassifier(GaussianNB()).fit(X, sets)
    assert model.classes_.tolist() == names.tolist()
    said = [tuple(names[row == 1].tolist()) for row in model.predict(X)]
    assert model.predict_sets(X) == said
    assert () in said
    assert max(map(len, said)) > 1


@given(st.lists(st.sets(st.sampled_from("abcdef")), min_size=1).filter(any))
def test_label_matrix_matches_the_binarizer(sets: list[set[str]]) -> None:
    peer = MultiLabelBinarizer()
    classes, matrix = label_matrix(sets)
    np.testing.assert_array_equal(matrix, peer.fit_transform(sets))
    assert classes.tolist() == list(peer.classes_)


def test_label_that_never_varies_is_predicted_as_it_was() -> None:
    X, Y = rows()
    Y[:, 1], Y[:, 3] = 1, 0
    model = MultilabelClassifier(GaussianNB()).fit(X, Y)
    assert model.constant_.tolist() == [-1, 1, -1, 0, -1]
    assert len(model.estimators_) == 3
    said, shares = model.predict(X), model.predict_proba(X)
    assert (said[:, 1] == 1).all()
    assert (said[:, 3] == 0).all()
    assert (shares[:, 1] == 1).all()
    assert (shares[:, 3] == 0).all()
    restored = MultilabelClassifier.from_state(model.get_params(deep=False), model.state())
    np.testing.assert_array_equal(restored.predict(X), said)


def test_label_of_rows_without_weight_is_one_that_none_has() -> None:
    X, Y = rows()
    Y[:, 0] = 0
    Y[:10, 0] = 1
    weight = np.r_[np.zeros(10), np.ones(140)]
    model = MultilabelClassifier(GaussianNB()).fit(X, Y, sample_weight=weight)
    assert model.constant_.tolist() == [0, -1, -1, -1, -1]


def test_one_label_per_row_is_a_set_of_one() -> None:
    X, y = [[0.0], [1.0], [5.0], [6.0]], ["low", "low", "top", "top"]
    model = MultilabelClassifier(DecisionTreeClassifier()).fit(X, y)
    assert model.predict_sets([[0.5], [7.0]]) == [("low",), ("top",)]


def test_multilabel_is_independent_of_n_jobs() -> None:
    X, Y = rows()
    tree = DecisionTreeClassifier(max_features=1, random_state=0)
    assert same(*(MultilabelClassifier(tree, n_jobs=n).fit(X, Y) for n in (1, 2)))


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (sp.csr_array([[0, 2], [1, 0]]), f"{ALLOWED}2 in row 0, column 1"),
        (np.zeros((2, 0)), f"{ALLOWED}shape (2, 0) of float64"),
        ([[], []], "y has no label in any row; at least one is needed"),
        (
            [[1, 0], [1, 0]],
            "y has no label that some but not all rows have (one class only); at least one is "
            "needed",
        ),
        ([["a"]], "X has 2 rows but y has 1; each row needs one target (inconsistent numbers of "
         "samples)"),
        (None, "MultilabelClassifier requires y to be passed, but the target y is None"),
    ],
)  # fmt: skip
def test_wrong_labels_are_named(Y: Any, message: str) -> None:
    with pytest.raises(DataError) as error:
        MultilabelClassifier(GaussianNB()).fit([[0.0], [1.0]], Y)
    assert str(error.value) == message


def test_score_refuses_labels_that_fit_has_not_seen() -> None:
    model = MultilabelClassifier(GaussianNB()).fit([[0.0], [1.0]], [["a"], []])
    with pytest.raises(DataError) as error:
        model.score([[0.0]], [["b"]])
    assert str(error.value) == "y has the label 'b' in row 0, which was not seen in fit"
