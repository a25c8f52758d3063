"""NestedSearch is a nested GridSearchCV: same choices, same scores, fewer fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    check_cv,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from assay.base import DataError, ParameterError
from assay.linear import LogisticRegression, Ridge
from assay.neighbors import KNeighborsClassifier
from assay.select import NestedSearch
from assay.tree import DecisionTreeClassifier


def naive(
    estimator: Any, grid: Any, X: Any, y: Any, cv: Any, scoring: Any = None
) -> tuple[list[float], list[dict[str, Any]]]:
    """One GridSearchCV per outer block, whose inner folds are the other blocks."""
    blocks = np.empty(len(y), dtype=int)
    for number, (_, test) in enumerate(check_cv(cv, y, classifier=True).split(X, y)):
        blocks[test] = number
    scores, params = [], []
    for number in range(blocks.max() + 1):
        train, test = blocks != number, blocks == number
        inner = PredefinedSplit(np.unique(blocks[train], return_inverse=True)[1])
        found = GridSearchCV(clone(estimator), grid, cv=inner, scoring=scoring).fit(
            X[train], y[train]
        )
        scores.append(found.score(X[test], y[test]))
        params.append(found.best_params_)
    return scores, params


WINE = load_wine(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize(
    ("estimator", "grid", "data", "scoring"),
    [
        (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9, 15]}, WINE, None),
        (
            make_pipeline(StandardScaler(), KNeighborsClassifier()),
            {"kneighborsclassifier__n_neighbors": [1, 5, 9, 15]},
            WINE,
            "balanced_accuracy",
        ),
        (
            make_pipeline(StandardScaler(), PCA(), SVC()),
            [
                {"svc__C": [0.1, 1.0, 10.0], "pca__n_components": [2, 5]},
                {"svc": [LogisticRegression()], "standardscaler": ["passthrough"]},
            ],
            WINE,
            None,
        ),
        (
            make_pipeline(StandardScaler(), LogisticRegression()),
            {"logisticregression__C": [0.01, 0.1, 1.0]},
            CANCER,
            "roc_auc",
        ),
        (
            DecisionTreeClassifier(random_state=0),
            {"max_depth": [2, 3, 5, None]},
            CANCER,
            "neg_log_loss",
        ),
    ],
    ids=["neighbours", "scaled neighbours", "steps in the grid", "logistic", "tree"],
)
def test_choices_and_scores_are_those_of_a_nested_grid_search(
    estimator: Any, grid: Any, data: Any, scoring: Any
) -> None:
    X, y = data
    cv = StratifiedKFold(4, shuffle=True, random_state=1)
    nested = NestedSearch(estimator, grid, cv=cv, scoring=scoring).fit(X, y)
    scores, params = naive(estimator, grid, X, y, cv, scoring)
    assert [str(each) for each in nested.outer_params_] == [str(each) for each in params]
    sign = 1.0 if nested.outcome_.metric.greater_is_better else -1.0
    np.testing.assert_allclose(sign * nested.outer_scores_, scores, rtol=0, atol=1e-9)
    assert nested.outcome_.work.fits < nested.outcome_.work.naive_fits


@pytest.mark.parametrize(("folds", "seed"), [(5, 10), (9, 9)])
def test_means_that_differ_in_the_last_bit_are_no_ties(folds: int, seed: int) -> None:
    # On noise many candidates have the same hits, in other folds: rounding parts their means.
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(103, 2)), random.integers(0, 2, 103)
    grid = {"n_neighbors": list(range(1, 31))}
    cv = KFold(folds, shuffle=True, random_state=0)
    nested = NestedSearch(KNeighborsClassifier(), grid, cv=cv).fit(X, y)
    rounded = nested.inner_scores_.round(12)
    assert (nested.inner_scores_.argmax(axis=1) != rounded.argmax(axis=1)).any()
    scores, params = naive(KNeighborsClassifier(), grid, X, y, cv)
    assert nested.outer_params_ == params
    np.testing.assert_array_equal(nested.outer_scores_, scores)


def test_regression_of_numbers() -> None:
    X, y = load_diabetes(return_X_y=True)
    grid = {"alpha": [0.01, 0.1, 1.0, 10.0]}
    nested = NestedSearch(Ridge(), grid, cv=KFold(5)).fit(X, y)
    scores, params = naive(TheirRidge(), grid, X, y, KFold(5))
    assert nested.outer_params_ == params
    np.testing.assert_allclose(nested.outer_scores_, scores, rtol=0, atol=1e-9)
    assert nested.outcome_.plain is not None
    np.testing.assert_allclose(nested.outcome_.plain.value, np.mean(scores), rtol=0, atol=1e-9)
    np.testing.assert_allclose(nested.score_.value, np.mean(nested.outer_scores_), atol=1e-12)
    assert nested.score_.low <= nested.score_.value <= nested.score_.high


def test_the_best_model_is_fitted_on_all_rows_with_the_labels_of_the_user() -> None:
    X, y = WINE
    names = np.array(["red", "rosé", "white"])[y]
    nested = NestedSearch(KNeighborsClassifier(), {"n_neighbors": [1, 5]}).fit(X, names)
    alone = KNeighborsClassifier(**nested.best_params_).fit(X, names)
    assert np.array_equal(nested.predict(X), alone.predict(X))
    assert np.array_equal(nested.predict_proba(X), alone.predict_proba(X))
    assert not hasattr(nested, "decision_function")


def test_several_estimators_share_one_choice() -> None:
    X, y = WINE
    nested = NestedSearch(
        {
            "near": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
            "line": (make_pipeline(StandardScaler(), LogisticRegression()), None),
        }
    ).fit(X, y)
    assert nested.best_name_ == "line"
    assert nested.outer_params_ == [{}] * 5
    assert nested.best_estimator_.predict(X).shape == y.shape


def test_weights_reach_fits_and_scores() -> None:
    X, y = WINE
    weight = np.where(y == 0, 1.0, 0.01)
    tree = DecisionTreeClassifier(max_depth=1)
    nested = NestedSearch(tree).fit(X, y, sample_weight=weight)
    alone = clone(tree).fit(X, y, sample_weight=weight)
    assert np.array_equal(nested.predict_proba(X), alone.predict_proba(X))
    assert not np.array_equal(nested.predict_proba(X), clone(tree).fit(X, y).predict_proba(X))
    assert nested.score_.value > 0.9  # the first class counts, and is easy


def test_groups_go_to_the_splitter() -> None:
    X, y = WINE
    groups = np.arange(len(y)) % 7
    nested = NestedSearch(KNeighborsClassifier(), None, cv=GroupKFold(3)).fit(X, y, groups=groups)
    block = nested.outcome_.outer.block[np.argsort(nested.outcome_.outer.row)]
    assert all(len(np.unique(block[groups == group])) == 1 for group in range(7))


def test_a_ledger_keeps_the_work(tmp_path: Path) -> None:
    X, y = WINE
    model = NestedSearch(
        KNeighborsClassifier(), {"n_neighbors": [1, 5]}, ledger=tmp_path / "work.ledger"
    )
    seen: list[str] = []
    first = model.fit(X, y).outer_scores_
    again = clone(model).set_params(progress=lambda *told: seen.append(told[3])).fit(X, y)
    assert np.array_equal(again.outer_scores_, first)
    assert seen.count("found in the ledger") > 0
    assert "KNeighborsClassifier" not in seen


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cv": 2}, "cv must give at least 3 folds for a nested search; got 2"),
        ({"estimator": {}}, "estimator must name at least one estimator; got none"),
        ({"estimator": {"a": SVC()}}, "estimator must map names to pairs"),
        (
            {"estimator": {"a": (SVC(), None)}, "param_grid": {"C": [1.0]}},
            "param_grid belongs to one estimator",
        ),
        (
            {"estimator": {"a": (SVC(), None), "b": (Ridge(), None)}},
            "estimator must hold only classifiers or only regressors",
        ),
    ],
)
def test_bad_parameters_are_named(changes: dict[str, Any], message: str) -> None:
    model = NestedSearch(KNeighborsClassifier()).set_params(**changes)
    with pytest.raises(ParameterError, match=message):
        model.fit(*WINE)


def test_a_splitter_that_is_no_partition_is_refused() -> None:
    with pytest.raises(DataError, match="cv must test every row once; some rows are in two"):
        NestedSearch(KNeighborsClassifier(), cv=ShuffleSplit(3, test_size=0.6)).fit(*WINE)
    with pytest.raises(DataError, match=r"cv must test every row once; \d+ rows are in no"):
        NestedSearch(KNeighborsClassifier(), cv=PredefinedSplit([-1, 0, 1] * 59 + [2])).fit(*WINE)
