"""NestedSearch takes what GridSearchCV takes: frames with text, sparse rows, several metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, PredefinedSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from assay.base import DataError, ParameterError
from assay.linear import LogisticRegression
from assay.neighbors import KNeighborsClassifier
from assay.select import NestedSearch
from assay.select.searches._given_rows import GivenRows, table_digest
from assay.tree import DecisionTreeClassifier

X, Y = load_wine(return_X_y=True)
BLOCK = np.random.default_rng(0).permutation(np.arange(len(Y)) % 4)
CV = PredefinedSplit(BLOCK)


def frame() -> pd.DataFrame:
    """Four columns of numbers and one of text."""
    made = pd.DataFrame(X[:, :4], columns=list("abcd"))
    made["kind"] = np.where(X[:, 4] > 100, "high", np.where(X[:, 4] > 90, "middle", "low"))
    return made


def naive(estimator: Any, grid: Any, table: Any, scoring: Any = None) -> tuple[Any, Any]:
    """Outer scores and choices of ``cross_validate(GridSearchCV)`` on the same blocks."""
    found = cross_validate(
        GridSearchCV(clone(estimator), grid, cv=LeaveOneGroupOut(), scoring=scoring),
        table,
        Y,
        groups=BLOCK,
        params={"groups": BLOCK},
        cv=LeaveOneGroupOut(),
        scoring=scoring,
        return_estimator=True,
    )
    return found["test_score"], [each.best_params_ for each in found["estimator"]]


by_name = make_pipeline(
    ColumnTransformer(
        [("numbers", StandardScaler(), list("abcd")), ("text", OneHotEncoder(), ["kind"])]
    ),
    KNeighborsClassifier(),
)
NEIGHBORS = {"kneighborsclassifier__n_neighbors": [1, 5, 9, 15]}


def test_a_frame_with_text_gives_the_choices_of_a_naive_nested_search() -> None:
    found = NestedSearch(by_name, NEIGHBORS, cv=CV).fit(frame(), Y)
    scores, params = naive(by_name, NEIGHBORS, frame())
    np.testing.assert_allclose(found.outer_scores_, scores, rtol=0, atol=1e-9)
    assert found.outer_params_ == params
    assert found.n_features_in_ == 5
    assert found.predict(frame()).shape == Y.shape
    assert found.outcome_.work.fits < 12  # one search for all numbers of neighbours


def test_a_polars_frame_gives_the_same_numbers_as_a_pandas_frame() -> None:
    one = NestedSearch(by_name, NEIGHBORS, cv=CV).fit(frame(), Y)
    other = NestedSearch(by_name, NEIGHBORS, cv=CV).fit(pl.from_pandas(frame()), Y)
    np.testing.assert_array_equal(one.inner_scores_, other.inner_scores_)
    np.testing.assert_array_equal(one.outer_scores_, other.outer_scores_)


def test_steps_that_are_part_of_the_grid_work_on_frames() -> None:
    grid = {**NEIGHBORS, "columntransformer__numbers__with_mean": [True, False]}
    found = NestedSearch(by_name, grid, cv=CV).fit(frame(), Y)
    scores, params = naive(by_name, grid, frame())
    np.testing.assert_allclose(found.outer_scores_, scores, rtol=0, atol=1e-9)
    assert found.outer_params_ == params


def test_an_estimator_that_reads_nominal_columns_itself_gets_the_frame() -> None:
    table = frame().astype({"kind": "category"})
    tree = DecisionTreeClassifier(random_state=0)
    found = NestedSearch(tree, {"max_depth": [1, 2, 4]}, cv=CV).fit(table, Y)
    scores, params = naive(tree, {"max_depth": [1, 2, 4]}, table)
    np.testing.assert_allclose(found.outer_scores_, scores, rtol=0, atol=1e-9)
    assert found.outer_params_ == params


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (LogisticRegression(), "C"),
        (make_pipeline(MaxAbsScaler(), LogisticRegression()), "logisticregression__C"),
    ],
)
def test_sparse_rows_stay_sparse_and_give_the_choices_of_a_naive_nested_search(
    estimator: Any, name: str
) -> None:
    table = sparse.csr_matrix(np.where(np.median(X, axis=0) < X, X, 0.0) / X.max(axis=0))
    found = NestedSearch(estimator, {name: [0.01, 1.0, 100.0]}, cv=CV).fit(table, Y)
    scores, params = naive(estimator, {name: [0.01, 1.0, 100.0]}, table)
    np.testing.assert_allclose(found.outer_scores_, scores, rtol=0, atol=1e-9)
    assert found.outer_params_ == params


def test_a_frame_of_numbers_is_a_matrix_and_shares_work() -> None:
    found = NestedSearch(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=CV).fit(
        pd.DataFrame(X), Y
    )
    plain = NestedSearch(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=CV).fit(X, Y)
    np.testing.assert_array_equal(found.inner_scores_, plain.inner_scores_)
    assert found.outcome_.work == plain.outcome_.work


def test_inner_scores_and_results_are_those_of_grid_searches() -> None:
    model, grid = KNeighborsClassifier(), {"n_neighbors": [1, 5, 9], "p": [1, 2]}
    found = NestedSearch(model, grid, cv=CV).fit(X, Y)
    for block in range(4):
        mine = block != BLOCK
        theirs = GridSearchCV(model, grid, cv=LeaveOneGroupOut()).fit(
            X[mine], Y[mine], groups=BLOCK[mine]
        )
        np.testing.assert_allclose(
            found.inner_scores_[block], theirs.cv_results_["mean_test_score"], atol=1e-12
        )
    results = found.cv_results_
    assert results["params"] == theirs.cv_results_["params"]
    assert results.keys() >= {"param_p", "split11_test_score", "std_test_score"}
    np.testing.assert_allclose(results["mean_test_score"], found.inner_scores_.mean(axis=0))
    assert results["rank_test_score"][np.argmax(results["mean_test_score"])] == 1
    assert found.n_splits_ == 4


def test_several_metrics_judge_the_choices_of_one() -> None:
    scoring = ["accuracy", "balanced_accuracy", "neg_log_loss"]
    found = NestedSearch(
        KNeighborsClassifier(), {"n_neighbors": [3, 15]}, cv=CV, scoring=scoring, refit="accuracy"
    ).fit(X, Y)
    for block, params in enumerate(found.outer_params_):
        test = block == BLOCK
        model = KNeighborsClassifier(**params).fit(X[~test], Y[~test])
        answers = model.predict(X[test])
        wanted = {
            "accuracy": accuracy_score(Y[test], answers),
            "balanced_accuracy": balanced_accuracy_score(Y[test], answers),
            "neg_log_loss": -log_loss(Y[test], model.predict_proba(X[test])),
        }
        for name, score in wanted.items():
            assert found.outer_metrics_[name][block] == pytest.approx(score, abs=1e-9)
    np.testing.assert_array_equal(found.outer_metrics_["accuracy"], found.outer_scores_)


def test_several_metrics_without_one_that_chooses_are_refused() -> None:
    search = NestedSearch(KNeighborsClassifier(), scoring=["accuracy", "roc_auc_ovr"])
    message = "refit must name the metric that chooses, one of accuracy, roc_auc_ovr; got True"
    with pytest.raises(ParameterError, match=message):
        search.fit(X, Y)


def test_a_candidate_that_fails_takes_no_part_or_stops_the_search() -> None:
    grid = {"n_neighbors": [3, 10_000]}
    found = NestedSearch(KNeighborsClassifier(), grid, cv=CV).fit(X, Y)
    assert np.isnan(found.cv_results_["mean_test_score"]).tolist() == [False, True]
    assert found.cv_results_["rank_test_score"].tolist() == [1, 2]
    with pytest.raises(DataError, match=r"candidate \{'n_neighbors': 10000\} could not be fitted"):
        NestedSearch(KNeighborsClassifier(), grid, cv=CV, error_score="raise").fit(X, Y)
    with pytest.raises(ParameterError, match="error_score must be nan or 'raise'; got 0"):
        NestedSearch(KNeighborsClassifier(), grid, cv=CV, error_score=0).fit(X, Y)


def test_weights_reach_models_behind_given_rows() -> None:
    table, weight = frame(), np.where(Y == 0, 5.0, 1.0)
    numbers = make_pipeline(
        ColumnTransformer([("numbers", StandardScaler(), list("abcd"))]), TheirRidge()
    )
    search = NestedSearch(numbers, {"ridge__alpha": [1.0]}, cv=CV)
    found = search.fit(table, X[:, 5], sample_weight=weight)
    test = BLOCK == 0
    model = clone(numbers).set_params(ridge__alpha=1.0)
    model.fit(table[~test], X[~test, 5], ridge__sample_weight=weight[~test])
    wanted = model.score(table[test], X[test, 5], sample_weight=weight[test])
    assert found.outer_scores_[0] == pytest.approx(wanted, abs=1e-9)


def test_tables_are_told_apart_by_values_names_and_types() -> None:
    table = frame()
    others = [
        table.rename(columns={"a": "e"}),
        table.assign(kind=table["kind"].replace("low", "bottom")),
        table.assign(a=table["a"] + 1e-12),
        table.iloc[:-1],
        table.astype({"a": np.float32}),
    ]
    digests = {table_digest(each) for each in [table, *others]}
    assert len(digests) == 6
    assert table_digest(table.copy()) == table_digest(table)
    assert clone(given := GivenRows(table)) is given
