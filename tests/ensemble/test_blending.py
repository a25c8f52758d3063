"""Blending: the final model learns from one held-out part, and from nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

from assay import store
from assay.base import DataError, ParameterError, same
from assay.ensemble import BlendingClassifier, BlendingRegressor
from assay.ensemble._blending import held_out_rows
from assay.neighbors import KNeighborsClassifier
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.ensemble.learners import ByHeart, NotesWeights

IRIS, SPECIES = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
MEMBERS: list[tuple[str, Any]] = [("bayes", GaussianNB()), ("near", KNeighborsClassifier(7))]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = X @ [1.0, -2.0, 0.0] + np.abs(X[:, 2]) + 0.1 * RNG.normal(size=90)
VALUES: list[tuple[str, Any]] = [
    ("line", LinearRegression()),
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
]


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("passthrough", [False, True])
def test_blending_regressor_is_as_by_hand(refit: bool, passthrough: bool) -> None:
    model = BlendingRegressor(
        VALUES, Ridge(), refit=refit, passthrough=passthrough, random_state=0
    ).fit(X, Y)
    held = model.held_out_
    assert held.sum() == 9
    fitted = [clone(member).fit(X[~held], Y[~held]) for _, member in VALUES]
    said = np.column_stack([member.predict(X[held]) for member in fitted])
    final = Ridge().fit(np.hstack([said, X[held]]) if passthrough else said, Y[held])
    if refit:
        fitted = [clone(member).fit(X, Y) for _, member in VALUES]
    below = np.column_stack([member.predict(X) for member in fitted])
    expected = final.predict(np.hstack([below, X]) if passthrough else below)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-12)


def test_blending_classifier_is_as_by_hand() -> None:
    model = BlendingClassifier(MEMBERS, GaussianNB(), holdout=0.2, random_state=0).fit(IRIS, WORDS)
    held = model.held_out_
    assert [int(held[code == SPECIES].sum()) for code in range(3)] == [10, 10, 10]
    fitted = [clone(member).fit(IRIS[~held], SPECIES[~held]) for _, member in MEMBERS]
    said = np.hstack([member.predict_proba(IRIS) for member in fitted])
    final = GaussianNB().fit(said[held], SPECIES[held])
    np.testing.assert_allclose(model.predict_proba(IRIS), final.predict_proba(said))
    assert model.predict(IRIS).tolist() == model.classes_[final.predict(said)].tolist()
    assert list(model.named_estimators_) == ["bayes", "near"]


def test_learning_by_heart_gives_no_optimism() -> None:
    rng = np.random.default_rng(3)
    rows, labels = rng.normal(size=(400, 2)), rng.integers(0, 2, size=400)
    model = BlendingClassifier([("heart", ByHeart())], random_state=0).fit(rows, labels)
    assert abs(model.final_estimator_.coef_[0, 0]) < 1e-9  # all held-out rows looked the same
    twice, same_labels = np.vstack([rows, rows]), np.tile(labels, 2)
    apart = BlendingClassifier([("heart", ByHeart())], random_state=0).fit(twice, same_labels)
    assert apart.final_estimator_.coef_[0, 0] > 1.0
    together = apart.fit(twice, same_labels, groups="duplicates")
    assert abs(together.final_estimator_.coef_[0, 0]) < 1e-9


@given(
    st.lists(st.integers(0, 2), min_size=6, max_size=60),
    st.floats(0.05, 0.95),
    st.integers(0, 2**31 - 2),
)
def test_held_out_part_has_its_share_of_every_class(
    labels: list[int], share: float, seed: int
) -> None:
    codes = np.array(labels)
    held = held_out_rows(share, codes, None, seed)
    for code in set(labels):
        own = held[codes == code]
        if len(own) > 1:
            assert 1 <= own.sum() <= len(own) - 1
            assert abs(own.sum() - share * len(own)) <= 1


@given(st.lists(st.integers(0, 5), min_size=4, max_size=40), st.integers(0, 2**31 - 2))
def test_held_out_part_never_divides_a_group(labels: list[int], seed: int) -> None:
    groups = np.unique(labels, return_inverse=True)[1]
    if groups.max() == 0:
        return
    held = held_out_rows(0.3, np.zeros(len(groups), dtype=np.int64), groups, seed)
    assert 0 < held.sum() < len(held)
    assert all(len(set(held[groups == group])) == 1 for group in set(groups))


def test_weights_go_to_members_and_final() -> None:
    weight = np.linspace(0.5, 2.0, 90)
    model = BlendingRegressor([("a", NotesWeights())], NotesWeights(), random_state=0)
    model.fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(model.estimators_[0].weight_, weight[~model.held_out_])
    np.testing.assert_array_equal(model.final_estimator_.weight_, weight[model.held_out_])


def test_random_state_decides_the_rows_held_out() -> None:
    one, two = (BlendingClassifier(MEMBERS, random_state=1).fit(IRIS, WORDS) for _ in range(2))
    assert same(one, two)
    other = BlendingClassifier(MEMBERS, random_state=2).fit(IRIS, WORDS)
    assert not np.array_equal(one.held_out_, other.held_out_)


def test_nominal_values_reach_members_that_take_them() -> None:
    frame = pd.DataFrame({"size": IRIS[:, 0], "kind": np.where(SPECIES == 0, "round", "long")})
    members = [("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    model = BlendingClassifier(members, random_state=0).fit(frame, WORDS)
    assert model.score(frame, WORDS) > 0.6


def test_blend_comes_back_from_a_file(tmp_path: Any) -> None:
    model = BlendingClassifier(MEMBERS, random_state=0, refit=True).fit(IRIS, WORDS)
    store.save(tmp_path / "m.assay", {}, {"model": model})
    again = store.load(tmp_path / "m.assay")[1]["model"]
    assert same(model, again)
    assert again.predict_proba(IRIS).tolist() == model.predict_proba(IRIS).tolist()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"holdout": 0}, "holdout must be a number in (0, 1); got 0"),
        ({"holdout": 1.0}, "holdout must be a number in (0, 1); got 1.0"),
        ({"holdout": 15}, "holdout must be a number in (0, 1); got 15"),
        ({"refit": "yes"}, "refit must be True or False; got 'yes'"),
        ({"bayes": Ridge()}, "estimators 'bayes' must be a classifier; got Ridge()"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        BlendingClassifier(MEMBERS).set_params(**params).fit(IRIS, WORDS)
    assert str(caught.value) == message


def test_class_with_one_row_is_named() -> None:
    labels = np.append(WORDS[:100], "rare")
    with pytest.raises(DataError) as caught:
        BlendingClassifier(MEMBERS).fit(IRIS[:101], labels)
    assert str(caught.value) == (
        "the held-out rows have no row of class 'rare'; blending needs at least 2 rows "
        "(or groups) of each class; use stacking for fewer"
    )


def test_one_row_is_too_few() -> None:
    with pytest.raises(DataError, match=r"blending needs at least 2 rows .*; got n_samples=1"):
        BlendingRegressor(VALUES).fit(X[:1], Y[:1])


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("held_out_", np.zeros(149, dtype=bool), "shape"),
        ("held_out_", np.zeros(150), "wrong type"),
        ("n_samples_fit_", None, "n_samples_fit_ is None and must be an integer >= 0"),
        ("final_estimator_", LogisticRegression(), "is not fitted"),
    ],
)
def test_damaged_blends_are_refused(name: str, value: Any, words: str) -> None:
    model = BlendingClassifier(MEMBERS, random_state=0).fit(IRIS, WORDS)
    with pytest.raises(DataError, match=words):
        BlendingClassifier.from_state(model.get_params(deep=False), {**model.state(), name: value})
