"""Diversity: every number equals its textbook formula, pair by pair."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.naive_bayes import GaussianNB

from assay.base import DataError, ParameterError
from assay.ensemble import RandomForestClassifier, StackingClassifier, diversity
from assay.neighbors import KNeighborsClassifier

IRIS, SPECIES = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 3, 200)
SAID = np.where(RNG.random((200, 5)) < [0.2, 0.3, 0.5, 0.9, 0.4], RNG.integers(0, 3, (200, 5)), 0)
SAID = np.where(RNG.random((200, 5)) < 0.5, SAID, TRUTH[:, None])

tables = st.integers(2, 4).flatmap(
    lambda m: st.lists(st.lists(st.integers(0, 2), min_size=m, max_size=m), min_size=2, max_size=40)
)


@given(tables)
def test_chi_square_matches_scipy(rows: list[list[int]]) -> None:
    said = np.array(rows)
    found = diversity(said)
    for i in range(said.shape[1]):
        for j in range(said.shape[1]):
            counts = pd.crosstab(said[:, i], said[:, j]).to_numpy()
            expected = chi2_contingency(counts, correction=False)
            assert found.freedom[i, j] == expected.dof
            np.testing.assert_allclose(found.statistic[i, j], expected.statistic, atol=1e-9)
            np.testing.assert_allclose(found.p_value[i, j], expected.pvalue, atol=1e-12)
            assert found.dependent[i, j] == (found.p_value[i, j] < 0.05)


@given(tables)
def test_kappa_and_disagreement_match_their_formulas(rows: list[list[int]]) -> None:
    said = np.array(rows)
    found = diversity(said)
    for i in range(said.shape[1]):
        for j in range(said.shape[1]):
            differ = (said[:, i] != said[:, j]).mean()
            np.testing.assert_allclose(found.disagreement[i, j], differ, atol=1e-12)
            if len(set(said[:, i]) | set(said[:, j])) > 1:
                kappa = cohen_kappa_score(said[:, i], said[:, j])
                np.testing.assert_allclose(found.kappa[i, j], kappa, atol=1e-12)
            else:
                assert np.isnan(found.kappa[i, j])


def test_q_statistic_matches_its_formula() -> None:
    found = diversity(SAID, y=TRUTH)
    right = TRUTH[:, None] == SAID
    assert found.q_statistic is not None
    for i in range(5):
        for j in range(5):
            a, b = right[:, i], right[:, j]
            both, none = (a & b).sum(), (~a & ~b).sum()
            first, second = (a & ~b).sum(), (~a & b).sum()
            expected = (both * none - first * second) / (both * none + first * second)
            np.testing.assert_allclose(found.q_statistic[i, j], expected)


def test_errors_can_be_compared_instead_of_predictions() -> None:
    found = diversity(SAID, y=TRUTH, of="errors")
    right = TRUTH[:, None] == SAID
    counts = pd.crosstab(right[:, 0], right[:, 2]).to_numpy()
    expected = chi2_contingency(counts, correction=False)
    np.testing.assert_allclose(found.statistic[0, 2], expected.statistic)
    assert (found.freedom == 1).all()


def test_independent_members_are_called_dependent_at_the_rate_alpha() -> None:
    said = np.random.default_rng(0).integers(0, 3, size=(500, 60))
    found = diversity(said, alpha=0.05)
    assert abs(found.share_dependent - 0.05) < 0.02
    assert abs(found.mean_disagreement - 2 / 3) < 0.01
    assert np.diag(found.dependent).all()


def test_errors_of_good_members_are_independent_though_their_labels_are_not() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 2000)
    said = np.where(rng.random((2000, 8)) < 0.1, (truth[:, None] + 1) % 3, truth[:, None])
    labels, errors = diversity(said), diversity(said, y=truth, of="errors")
    assert labels.share_dependent == 1.0
    assert errors.share_dependent < 0.25
    assert errors.q_statistic is not None
    assert np.abs(errors.q_statistic[~np.eye(8, dtype=bool)]).max() < 0.5


def test_constant_member_depends_on_nobody() -> None:
    found = diversity(np.column_stack([np.zeros(50, dtype=int), np.arange(50) % 2]))
    assert found.freedom[0, 1] == 0
    assert found.p_value[0, 1] == 1.0
    assert found.cramer_v[0, 1] == 0.0
    assert np.isnan(found.kappa[0, 0])


def test_row_order_changes_nothing() -> None:
    order = np.random.default_rng(2).permutation(len(SAID))
    one, two = diversity(SAID, y=TRUTH), diversity(SAID[order], y=TRUTH[order])
    np.testing.assert_array_equal(one.statistic, two.statistic)
    np.testing.assert_array_equal(one.q_statistic, two.q_statistic)


# ------------------------------------------------------------------ what members may be


def test_list_of_models_equals_their_predictions() -> None:
    models = [
        ("bayes", GaussianNB().fit(IRIS, WORDS)),
        ("near", KNeighborsClassifier(1).fit(IRIS[::3], WORDS[::3])),
    ]
    found = diversity(models, IRIS, WORDS)
    said = np.column_stack([model.predict(IRIS) for _, model in models])
    expected = diversity(said, y=WORDS, names=["bayes", "near"])
    np.testing.assert_array_equal(found.statistic, expected.statistic)
    np.testing.assert_array_equal(found.q_statistic, expected.q_statistic)
    assert found.names.tolist() == expected.names.tolist()
    unnamed = diversity([model for _, model in models], IRIS)
    assert unnamed.names.tolist() == ["0", "1"]


@pytest.mark.parametrize("labels", [SPECIES, WORDS])
def test_fitted_ensemble_gives_its_members(labels: Any) -> None:
    members = [("bayes", GaussianNB()), ("near", KNeighborsClassifier(3))]
    stack = StackingClassifier(members, random_state=0).fit(IRIS, labels)
    found = diversity(stack, IRIS, labels)
    assert found.names.tolist() == ["bayes", "near"]
    said = [labels_of.predict(IRIS) for labels_of in stack.estimators_]
    right = np.column_stack(said) == SPECIES[:, None]
    assert found.q_statistic is not None
    a, b = right.T
    both, none, first, second = (a & b), (~a & ~b), (a & ~b), (~a & b)
    same, other = both.sum() * none.sum(), first.sum() * second.sum()
    np.testing.assert_allclose(found.q_statistic[0, 1], (same - other) / (same + other))
    bag = BaggingClassifier(n_estimators=4, random_state=0).fit(IRIS, labels)
    assert diversity(bag, IRIS, labels).disagreement.shape == (4, 4)


@pytest.mark.parametrize("labels", [SPECIES, WORDS, SPECIES + 1])
def test_forest_gives_its_trees(labels: Any) -> None:
    forest = RandomForestClassifier(6, max_depth=2, random_state=0).fit(IRIS[::2], labels[::2])
    found = diversity(forest, IRIS[1::2], labels[1::2])
    said = [forest.tree(number).predict(IRIS[1::2]) for number in range(6)]
    expected = diversity(np.column_stack(said), y=labels[1::2])
    np.testing.assert_array_equal(found.disagreement, expected.disagreement)
    np.testing.assert_array_equal(found.q_statistic, expected.q_statistic)
    assert found.mean_disagreement > 0


def test_dataframe_of_predictions_gives_the_names() -> None:
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": ["x", "x", "y"]})
    found = diversity(frame)
    assert found.names.tolist() == ["a", "b"]
    np.testing.assert_allclose(found.disagreement[0, 1], 2 / 3)


# ------------------------------------------------------------------ the picture


@pytest.mark.parametrize("measure", ["cramer_v", "p_value", "disagreement", "kappa", "q_statistic"])
def test_chart_is_plain_and_can_be_drawn(measure: str) -> None:
    spec = diversity(SAID, y=TRUTH, names=["a", "b", "a", "d", "constant"]).chart(measure)
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    values = spec["data"]["values"]
    assert len(values) == 25
    assert {cell["row"] for cell in values} == {"a", "b", "a (2)", "d", "constant"}
    assert vl_convert.vegalite_to_png(spec)[:4] == b"\x89PNG"


def test_chart_leaves_undefined_values_out() -> None:
    constant = np.zeros((20, 2), dtype=int)
    spec = diversity(constant).chart("kappa")
    assert [cell["value"] for cell in spec["data"]["values"]] == [None] * 4
    assert vl_convert.vegalite_to_png(spec)[:4] == b"\x89PNG"


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("given_arguments", "message"),
    [
        ({"alpha": 0}, "alpha must be a number in (0, 1); got 0"),
        ({"of": "labels"}, "of must be 'predictions' or 'errors'; got 'labels'"),
        ({"of": "errors"}, "of='errors' needs the true labels y; got None"),
        ({"names": ["a"]}, "names must hold one name per member, 5; got 1"),
        ({"X": IRIS}, "X must be None when members are predictions; got a table"),
    ],
)
def test_wrong_parameters_are_named(given_arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        diversity(SAID, **given_arguments)
    assert str(caught.value) == message


def test_wrong_data_are_named() -> None:
    with pytest.raises(ParameterError, match="X must be the rows to predict"):
        diversity([GaussianNB().fit(IRIS, WORDS)])
    with pytest.raises(DataError, match=r"members must be classifiers; got LinearRegression\(\)"):
        diversity([LinearRegression().fit(IRIS, SPECIES)], IRIS)
    with pytest.raises(DataError, match="X has 200 rows but y has 3"):
        diversity(SAID, y=[0, 1, 2])
    with pytest.raises(DataError, match=r"members must be predictions .*; got shape \(3,\)"):
        diversity(np.zeros(3))
    with pytest.raises(DataError, match="continuous"):
        diversity(np.random.default_rng(0).normal(size=(9, 2)))
    with pytest.raises(ParameterError, match="measure 'q_statistic' needs the true labels y"):
        diversity(SAID).chart("q_statistic")
    with pytest.raises(ParameterError, match="measure must be 'cramer_v', "):
        diversity(SAID).chart("x")
