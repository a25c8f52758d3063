"""One binary problem per pair of classes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from assay.base import DataError, ParameterError, same
from assay.multiclass import AllVsAllClassifier
from assay.multiclass._coupling import coupled
from assay.tree import DecisionTreeClassifier
from tests.multiclass.learners import Silent, blobs


def tally(votes: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """The documents' count: score_i += y, score_j -= y with y = F_ij(x), positive for class i."""
    scores = np.zeros((len(votes), n_classes))
    for row, answers in enumerate(votes):
        for y, (i, j) in zip(answers, combinations(range(n_classes), 2), strict=True):
            scores[row, i] += y
            scores[row, j] -= y
    return scores


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("base", [LogisticRegression(), LinearSVC(random_state=0)])
def test_majority_is_scikit_learns_one_vs_one(base: Any, n_classes: int) -> None:
    X, y = blobs(n_classes)
    ours, theirs = AllVsAllClassifier(base).fit(X, y), OneVsOneClassifier(base).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("vote", ["majority", "weighted"])
def test_scores_are_the_literal_count(vote: str) -> None:
    X, y = blobs(4)
    model = AllVsAllClassifier(LogisticRegression(), vote=vote).fit(X, y)
    answers = -np.column_stack([m.decision_function(X) for m in model.estimators_])
    scores = tally(np.sign(answers) if vote == "majority" else answers, 4)
    found = model.decision_function(X)
    if vote == "majority":
        assert np.abs(found - scores).max() < 1 / 3
        clear = np.sort(scores, axis=1)[:, -1] > np.sort(scores, axis=1)[:, -2]
        expected = model.classes_[scores.argmax(axis=1)]
        assert clear.any()
        np.testing.assert_array_equal(model.predict(X)[clear], expected[clear])
    else:
        np.testing.assert_allclose(found, scores, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])


def test_each_pair_sees_its_own_rows_only() -> None:
    X, y = blobs(4)
    model = AllVsAllClassifier(GaussianNB()).fit(X, y)
    assert len(model.estimators_) == 6
    for member, (i, j) in zip(model.estimators_, combinations(range(4), 2), strict=True):
        rows = np.isin(y, model.classes_[[i, j]])
        alone = GaussianNB().fit(X[rows], (y[rows] == model.classes_[j]).astype(int))
        np.testing.assert_array_equal(member.predict_proba(X), alone.predict_proba(X))


def test_tied_majority_goes_to_the_larger_confidence_then_to_the_first() -> None:
    X, y = blobs(3)
    model = AllVsAllClassifier(LogisticRegression()).fit(X, y)
    ring = np.array([[0.5, -0.9, 2.0]])  # 1 beats 0, 0 beats 2, 2 beats 1
    model._confidences = lambda X: ring  # type: ignore[method-assign]
    sums = -tally(ring, 3)[0]
    assert sorted(np.round(model.decision_function(X[:1])[0])) == [0, 0, 0]
    assert model.predict(X[:1]).tolist() == [model.classes_[sums.argmax()]]
    model._confidences = lambda X: np.array([[1.0, -1.0, 1.0]])  # type: ignore[method-assign]
    assert model.predict(X[:1]).tolist() == ["ant"]


def test_learner_without_scores_votes_by_label() -> None:
    X, y = blobs(4)
    model = AllVsAllClassifier(Silent()).fit(X, y)
    answers = 1.0 - 2.0 * np.column_stack([m.predict(X) for m in model.estimators_])
    expected = model.classes_[tally(answers, 4).argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X), expected)


@given(
    arrays.arrays(np.float64, st.integers(2, 7), elements=st.floats(0.01, 1)),
)
def test_coupling_finds_probabilities_that_explain_the_pairs(weights: NDArray[np.float64]) -> None:
    p = weights / weights.sum()
    pairs = [p[i] / (p[i] + p[j]) for i, j in combinations(range(len(p)), 2)]
    np.testing.assert_allclose(coupled(np.array([pairs]), len(p))[0], p, rtol=1e-6)


@given(arrays.arrays(np.float64, 6, elements=st.floats(0.05, 0.95)))
def test_coupling_is_the_least_squares_of_the_paper(pairs: NDArray[np.float64]) -> None:
    r = np.zeros((4, 4))
    above = np.triu_indices(4, 1)
    r[above], r[above[::-1]] = pairs, 1 - pairs

    def loss(p: NDArray[np.float64]) -> float:
        return float((np.triu(r.T * p[:, None] - r * p[None, :], 1) ** 2).sum())

    found = coupled(pairs[None], 4)[0]
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    peer = minimize(
        loss,
        np.full(4, 0.25),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-14},
    )
    assert loss(found) <= loss(np.asarray(peer.x)) + 1e-9


def test_probabilities_are_finite_for_certain_pairs() -> None:
    certain = np.array(np.meshgrid(*[[0.0, 1.0]] * 6)).reshape(6, -1).T
    shares = coupled(certain, 4)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    winner = np.argmax(tally(2 * certain - 1, 4), axis=1)
    clear = np.sort(tally(2 * certain - 1, 4), axis=1)
    one = clear[:, -1] == 3  # one class beats all others
    np.testing.assert_array_equal(shares[one].argmax(axis=1), winner[one])


def test_rows_do_not_depend_on_their_neighbours() -> None:
    X, y = blobs(5)
    model = AllVsAllClassifier(DecisionTreeClassifier(max_depth=3)).fit(X, y)
    alone = np.vstack([model.predict_proba(X[at : at + 1]) for at in range(10)])
    np.testing.assert_array_equal(alone, model.predict_proba(X)[:10])


def test_all_vs_all_is_independent_of_n_jobs() -> None:
    X, y = blobs(5)
    tree = DecisionTreeClassifier(max_features=1, random_state=3)
    one, two = (AllVsAllClassifier(tree, n_jobs=n).fit(X, y) for n in (1, 2))
    assert same(one, two)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_wrong_vote_is_named() -> None:
    with pytest.raises(ParameterError) as error:
        AllVsAllClassifier(GaussianNB(), vote="weigthed").fit([[0.0], [1.0]], [0, 1])
    assert str(error.value) == (
        "vote must be 'majority' or 'weighted'; got 'weigthed'; did you mean 'weighted'?"
    )


def test_missing_pair_is_a_damaged_model() -> None:
    X, y = blobs(4)
    model = AllVsAllClassifier(GaussianNB()).fit(X, y)
    state = {**model.state(), "estimators_": model.estimators_[:5]}
    with pytest.raises(DataError, match="holds 5 models, not 6"):
        AllVsAllClassifier.from_state(model.get_params(deep=False), state)
