"""One binary problem per class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from assay.base import DataError, ParameterError, same
from assay.multiclass import OneVsAllClassifier
from assay.tree import DecisionTreeClassifier
from tests.multiclass.learners import Column, Silent, blobs


def literal(confidence: NDArray[np.float64]) -> int:
    """The documents' rule: the most confident positive, else the least confident negative."""
    positive = [k for k in range(len(confidence)) if confidence[k] > 0]
    if positive:
        return max(positive, key=lambda k: (confidence[k], -k))
    return min(range(len(confidence)), key=lambda k: (abs(confidence[k]), k))


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("base", [LogisticRegression(), GaussianNB(), LinearSVC(random_state=0)])
def test_one_vs_all_is_scikit_learns_one_vs_rest(base: Any, n_classes: int) -> None:
    X, y = blobs(n_classes)
    ours, theirs = OneVsAllClassifier(base).fit(X, y), OneVsRestClassifier(base).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if hasattr(base, "predict_proba"):
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)
    if hasattr(base, "decision_function"):
        np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))


def test_there_are_as_many_models_as_classes() -> None:
    for n_classes, n_models in ((2, 1), (3, 3), (5, 5)):
        X, y = blobs(n_classes)
        assert len(OneVsAllClassifier(GaussianNB()).fit(X, y).estimators_) == n_models


@given(arrays.arrays(np.float64, (5, 4), elements=st.floats(-3, 3)))
def test_choice_is_the_literal_rule(confidence: NDArray[np.float64]) -> None:
    # Class k has the confidence of column k, whatever the column says.
    model = OneVsAllClassifier(Column()).fit(np.eye(4), np.arange(4))
    expected = [literal(row) for row in confidence]
    assert model.predict(confidence).tolist() == expected


def test_fallback_is_the_least_confident_negative() -> None:
    model = OneVsAllClassifier(Column()).fit(np.eye(3), ["a", "b", "c"])
    assert model.predict([[-5.0, -0.1, -2.0], [-5.0, 0.1, 0.2]]).tolist() == ["b", "c"]


def test_confidence_without_a_decision_function_is_twice_the_probability_less_one() -> None:
    X, y = blobs(3)
    model = OneVsAllClassifier(GaussianNB()).fit(X, y)
    shares = np.column_stack([m.predict_proba(X)[:, 1] for m in model.estimators_])
    np.testing.assert_array_equal(model.decision_function(X), 2 * shares - 1)


def test_learner_without_scores_gives_the_first_class_that_says_yes() -> None:
    X, y = blobs(3)
    model = OneVsAllClassifier(Silent()).fit(X, y)
    said = np.column_stack([m.predict(X) for m in model.estimators_])
    assert model.predict(X).tolist() == model.classes_[said.argmax(axis=1)].tolist()
    assert not hasattr(model, "predict_proba")


def test_probabilities_that_are_all_zero_become_equal() -> None:
    X = np.array([[0.0], [1.0], [2.0], [0.0], [1.0], [2.0], [0.0], [1.0], [2.0]])
    y = np.array([0, 1, 2, 0, 1, 2, 1, 2, 0])
    model = OneVsAllClassifier(KNeighborsClassifier(1)).fit(X, y)
    for member in model.estimators_:
        member.fit(X, np.r_[np.zeros(8), 1].astype(np.int64))
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[1 / 3, 1 / 3, 1 / 3]])


@pytest.mark.parametrize("base", [LogisticRegression(), DecisionTreeClassifier(random_state=0)])
def test_weights_are_repeated_rows(base: Any) -> None:
    X, y = blobs(3)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = OneVsAllClassifier(base).fit(X, y, sample_weight=weight)
    repeated = OneVsAllClassifier(base).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-3
    )


def test_one_vs_all_does_not_depend_on_the_names_of_the_classes() -> None:
    X, y = blobs(4)
    names = {"ant": 3, "bee": 7, "cat": 11, "dog": 20}
    model = OneVsAllClassifier(GaussianNB())
    expected = [names[label] for label in model.fit(X, y).predict(X).tolist()]
    assert model.fit(X, [names[label] for label in y.tolist()]).predict(X).tolist() == expected


def test_one_vs_all_is_independent_of_n_jobs() -> None:
    X, y = blobs(6)
    tree = DecisionTreeClassifier(max_features=1, random_state=3)
    one, two = (OneVsAllClassifier(tree, n_jobs=n).fit(X, y) for n in (1, 2))
    assert same(one, two)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_sparse_rows_reach_a_learner_that_takes_them() -> None:
    X, y = blobs(3)
    model = OneVsAllClassifier(LogisticRegression())
    dense = model.fit(X, y).decision_function(X)
    sparse = model.fit(sp.csr_array(X), y).decision_function(sp.csr_array(X))
    np.testing.assert_allclose(dense, sparse, rtol=1e-4, atol=1e-4)


def test_missing_values_reach_a_learner_that_takes_them() -> None:
    X, y = blobs(3)
    X[::5, 0] = np.nan
    assert OneVsAllClassifier(DecisionTreeClassifier()).fit(X, y).score(X, y) == 1.0


def test_parameters_of_the_member_are_reachable() -> None:
    model = OneVsAllClassifier(LogisticRegression()).set_params(estimator__C=0.1)
    assert model.estimator.C == 0.1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (OneVsAllClassifier(Ridge()), "estimator must be a classifier; got Ridge()"),
        (OneVsAllClassifier(None), "estimator must be a classifier; got None"),
        (
            OneVsAllClassifier(GaussianNB(), n_jobs=0),
            "n_jobs must be None or an integer other than 0; got 0",
        ),
    ],
)
def test_wrong_parameter_is_named(model: OneVsAllClassifier, message: str) -> None:
    with pytest.raises(ParameterError) as error:
        model.fit([[0.0], [1.0]], [0, 1])
    assert str(error.value) == message


def test_one_class_is_refused() -> None:
    with pytest.raises(DataError, match="y has one class only, 'a'; two classes are needed"):
        OneVsAllClassifier(GaussianNB()).fit([[0.0], [1.0]], ["a", "a"])


def test_weights_for_a_learner_without_weights_are_refused() -> None:
    with pytest.raises(DataError) as error:
        OneVsAllClassifier(KNeighborsClassifier()).fit([[0.0], [1.0]], [0, 1], [1, 1])
    expected = "sample_weight cannot be used: the fit of KNeighborsClassifier takes none"
    assert str(error.value) == expected


def test_class_without_weight_is_refused() -> None:
    with pytest.raises(DataError) as error:
        OneVsAllClassifier(GaussianNB()).fit([[0.0], [1.0], [2.0]], ["a", "b", "b"], [0, 1, 1])
    assert str(error.value) == (
        "class 'a' has no row with a positive sample_weight; leave its rows out"
    )


def test_member_of_other_classes_is_a_damaged_model() -> None:
    X, y = blobs(3)
    model = OneVsAllClassifier(GaussianNB()).fit(X, y)
    state = dict(model.state())
    state["estimators_"] = [*model.estimators_[:2], GaussianNB().fit(X, y)]
    with pytest.raises(DataError, match=r"estimators_\[2\] does not have the classes 0 and 1"):
        OneVsAllClassifier.from_state(model.get_params(deep=False), state)
