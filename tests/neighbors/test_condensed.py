"""Condensed neighbours: Hart's rule against a literal loop, and what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from assay.base import DataError, ParameterError
from assay.neighbors import CondensedNeighborsClassifier, KNeighborsClassifier


def literal(
    X: NDArray[np.float64], y: NDArray[np.int64], order: NDArray[np.int64], stop_early: bool
) -> list[int]:
    """The rule, word by word."""
    chosen = [int(order[0])]
    changed = True
    while changed:
        changed = False
        for i in order.tolist():
            if stop_early and len(set(y[chosen])) == len(set(y)):
                return chosen
            distance = cdist(X[i : i + 1], X[chosen], "sqeuclidean")[0]
            if i not in chosen and y[chosen[int(distance.argmin())]] != y[i]:
                chosen.append(i)
                changed = True
    return chosen


@pytest.mark.parametrize("rule", ["hart", "all_classes"])
@pytest.mark.parametrize("seed", range(4))
def test_prototypes_are_those_of_the_literal_rule(rule: str, seed: int) -> None:
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = CondensedNeighborsClassifier(rule=rule, random_state=seed).fit(X, y)
    order = np.random.RandomState(seed).permutation(len(X))
    wanted = literal(X, y, order, rule == "all_classes")
    assert model.prototype_indices_.tolist() == wanted
    assert np.array_equal(model.prototypes_, X[wanted])


@given(seed=st.integers(0, 500))
def test_among_equally_near_prototypes_the_first_added_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, size=(25, 2)).astype(float), rng.integers(3, size=25)
    model = CondensedNeighborsClassifier(random_state=seed).fit(X, y)
    order = np.random.RandomState(seed).permutation(25)
    assert model.prototype_indices_.tolist() == literal(X, y, order, False)


def test_hart_rule_classifies_every_training_row_with_few_prototypes() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = CondensedNeighborsClassifier(random_state=0).fit(X, y)
    assert (model.predict(X) == y).all()
    assert model.training_error_ == 0.0
    assert len(model.prototypes_) < len(X) / 4


def test_literal_stop_leaves_errors_and_reports_them() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = CondensedNeighborsClassifier(rule="all_classes", random_state=0).fit(X, y)
    assert len(model.prototypes_) == 2
    assert model.training_error_ == (model.predict(X) != y).mean()
    assert model.training_error_ > 0


@given(seed=st.integers(0, 500), n=st.integers(1, 40))
def test_prediction_is_that_of_one_neighbour_among_the_prototypes(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.integers(3, size=n)
    model = CondensedNeighborsClassifier(random_state=seed).fit(X, y)
    peer = KNeighborsClassifier(1).fit(model.prototypes_, model.codes_)
    queries = rng.normal(size=(10, 2))
    assert np.array_equal(model.predict(queries), model.classes_[peer.predict(queries)])
    assert model.training_error_ == 0


def test_equal_rows_of_two_classes_count_as_errors() -> None:
    model = CondensedNeighborsClassifier(random_state=0).fit([[0.0]] * 4, [0, 1, 0, 1])
    assert model.training_error_ == 0.5


def test_one_class_needs_one_prototype() -> None:
    model = CondensedNeighborsClassifier(random_state=0).fit([[0.0], [5.0]], ["a", "a"])
    assert len(model.prototypes_) == 1
    assert model.predict([[9.0]]).tolist() == ["a"]


def test_threads_change_no_byte() -> None:
    X, y = load_iris(return_X_y=True)
    one = CondensedNeighborsClassifier(random_state=0).fit(X, y)
    two = CondensedNeighborsClassifier(random_state=0, n_jobs=2).fit(X, y)
    assert one.digest() == two.digest()
    assert np.array_equal(one.predict(X), two.predict(X))


def test_a_wrong_rule_is_refused() -> None:
    with pytest.raises(ParameterError, match="rule must be 'hart' or 'all_classes'; got 'heart'"):
        CondensedNeighborsClassifier(rule="heart").fit([[0.0], [1.0]], [0, 1])


def test_a_hostile_state_is_refused() -> None:
    model = CondensedNeighborsClassifier(random_state=0).fit([[0.0], [1.0]], [0, 1])
    state = model.state()
    for name, value in [("codes_", np.array([0, 9])), ("training_error_", 3.0), ("n_passes_", 0)]:
        with pytest.raises(DataError, match="damaged"):
            CondensedNeighborsClassifier.from_state(model.get_params(), {**state, name: value})
