"""Curves: the scores of scikit-learn's, shared fits, bands by the formula."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import PredefinedSplit, cross_val_predict, validation_curve
from sklearn.neighbors import KNeighborsClassifier as TheirNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TheirTree

from assay.base import DataError, ParameterError, Task
from assay.bayes import NaiveBayesClassifier
from assay.decomposition import LinearDiscriminantAnalysis
from assay.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from assay.linear import ElasticNet, LogisticRegression, Ridge
from assay.neighbors import KNeighborsClassifier
from assay.select import complexity_curve, learning_curve, make_blocks
from assay.select.curves._learning import balanced_order
from assay.svm import SVC
from assay.tree import DecisionTreeClassifier

CANCER = load_breast_cancer(return_X_y=True)
WINE = load_wine(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)

CASES = [
    (KNeighborsClassifier(), "n_neighbors", [1, 3, 9], WINE, "accuracy"),
    (DecisionTreeClassifier(), "max_depth", [1, 3, None], CANCER, "roc_auc"),
    (RandomForestClassifier(9, random_state=0), "n_estimators", [2, 9], WINE, "neg_log_loss"),
    (GradientBoostingClassifier(), "n_estimators", [2, 6], CANCER, "neg_log_loss"),
    (AdaBoostClassifier(), "n_estimators", [2, 6], CANCER, "accuracy"),
    (NaiveBayesClassifier(), "var_smoothing", [1e-9, 1e-2], WINE, "neg_log_loss"),
    (
        make_pipeline(StandardScaler(), LogisticRegression()),
        "logisticregression__C",
        [0.01, 1.0],
        WINE,
        "neg_log_loss",
    ),
    (make_pipeline(StandardScaler(), SVC()), "svc__C", [0.1, 10.0], WINE, "accuracy"),
    (
        LinearDiscriminantAnalysis(solver="lsqr"),
        "shrinkage",
        [0.1, 0.9],
        WINE,
        "neg_log_loss",
    ),
    (Ridge(), "alpha", [0.01, 1.0], DIABETES, "r2"),
    (ElasticNet(), "alpha", [0.01, 1.0], DIABETES, "neg_mean_absolute_error"),
    (
        make_pipeline(StandardScaler(), TheirNeighbors()),
        "standardscaler__with_mean",
        [True, False],
        WINE,
        "accuracy",
    ),
]


@pytest.mark.parametrize(
    ("estimator", "parameter", "values", "data", "scoring"),
    CASES,
    ids=[type(case[0]).__name__ + " " + case[1] for case in CASES],
)
def test_complexity_curve_is_that_of_scikit_learn(
    estimator: Any, parameter: str, values: list[Any], data: Any, scoring: str
) -> None:
    X, y = data
    task = "regression" if y.dtype.kind == "f" else "binary" if y.max() < 2 else "multiclass"
    curve = complexity_curve(
        estimator, parameter, values, X, y, scoring=scoring, n_blocks=3, seed=2
    )
    folds = PredefinedSplit(make_blocks(y, 3, task=task, seed=2))
    train, test = validation_curve(
        estimator, X, y, param_name=parameter, param_range=values, cv=folds, scoring=scoring
    )
    sign = 1.0 if curve.greater_is_better else -1.0
    np.testing.assert_allclose(sign * curve.test_scores, test, rtol=0, atol=1e-8)
    np.testing.assert_allclose(sign * curve.train_scores, train, rtol=0, atol=1e-8)


def test_a_path_is_fitted_once_per_block_for_all_values() -> None:
    X, y = CANCER
    depths = list(range(1, 9))
    assert complexity_curve(DecisionTreeClassifier(), "max_depth", depths, X, y).fits == 5
    assert complexity_curve(TheirTree(), "max_depth", depths, X, y).fits == 5 * 8


def test_bands_are_corrected_resampled_t() -> None:
    X, y = CANCER
    curve = complexity_curve(
        KNeighborsClassifier(), "n_neighbors", [5], X, y, n_blocks=4, repeats=3, scoring="roc_auc"
    )
    scores = curve.test_scores[0]
    assert scores.shape == (12,)
    half = student.ppf(0.975, 11) * np.sqrt((1 / 12 + 1 / 3) * scores.var(ddof=1))
    band = curve.test[0]
    assert band.value == pytest.approx(scores.mean())
    assert band.high - band.value == pytest.approx(half, rel=0.01)


def test_rates_over_a_parameter_are_those_of_the_confusion_matrix() -> None:
    X, y = CANCER
    curve = complexity_curve(TheirTree(random_state=0), "max_depth", [1, 4], X, y, n_blocks=4)
    folds = PredefinedSplit(make_blocks(y, 4, task="binary"))
    assert curve.rates is not None
    for rates, depth in zip(curve.rates, (1, 4), strict=True):
        said = cross_val_predict(TheirTree(max_depth=depth, random_state=0), X, y, cv=folds)
        parts = [confusion_matrix(y[test], said[test]).ravel() for _, test in folds.split()]
        fpr = np.mean([fp / (fp + tn) for tn, fp, _, _ in parts])
        tpr = np.mean([tp / (tp + fn) for _, _, fn, tp in parts])
        np.testing.assert_allclose(rates, [fpr, tpr])
    points = curve.roc_chart()["data"]["values"]
    assert [point["value"] for point in points] == ["1", "4"]


def test_learning_curve_fits_beginnings_of_the_training_sets() -> None:
    X, y = CANCER
    curve = learning_curve(NaiveBayesClassifier(), X, y, sizes=[12, 40, 1.0], n_blocks=4, seed=1)
    assert curve.values == (12, 40, 569 - 143)
    assert curve.test_scores.shape == (3, 4)
    whole = complexity_curve(
        NaiveBayesClassifier(), "var_smoothing", [1e-9], X, y, n_blocks=4, seed=1
    )
    # A block of 142 rows leaves one row more than the smallest training set.
    np.testing.assert_allclose(curve.test_scores[-1], whole.test_scores[0], atol=0.02)
    assert curve.fits == 12
    # Few rows are learned by heart, and tell less about others.
    gaps = [a.value - b.value for a, b in zip(curve.train, curve.test, strict=True)]
    assert gaps[0] > gaps[-1]


def test_small_training_sets_hold_the_classes_in_proportion() -> None:
    y = np.repeat([0, 1, 2], [100, 40, 10])
    order = balanced_order(np.arange(150), y, Task.MULTICLASS, 0, 0, 0)
    assert sorted(order.tolist()) == list(range(150))
    for count in (15, 30, 75):
        shares = np.bincount(y[order[:count]], minlength=3)
        np.testing.assert_allclose(shares, count * np.array([10, 4, 1]) / 15, atol=1)


def test_curves_do_not_depend_on_workers() -> None:
    X, y = WINE
    one, two = (
        learning_curve(DecisionTreeClassifier(), X, y, n_blocks=3, n_jobs=jobs) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.test_scores, two.test_scores)
    assert one.values[-1] == 118


def test_groups_are_never_on_both_sides() -> None:
    X, y = WINE
    groups = np.arange(len(y)) // 2
    twins = X.copy()
    twins[1::2] = X[::2]
    labels = y.copy()
    labels[1::2] = np.roll(y[::2], 30)
    curve = complexity_curve(
        KNeighborsClassifier(), "n_neighbors", [1], twins, labels, groups=groups, n_blocks=3
    )
    assert curve.test[0].value < 0.8


def test_charts_are_plain_json_with_both_lines() -> None:
    X, y = WINE
    curve = complexity_curve(DecisionTreeClassifier(), "max_depth", [1, 2, None], X, y, n_blocks=3)
    chart = json.loads(json.dumps(curve.chart()))
    assert {row["rows"] for row in chart["data"]["values"]} == {"test", "training"}
    assert chart["encoding"]["x"]["type"] == "ordinal"
    assert curve.best in (2, None)
    learned = learning_curve(DecisionTreeClassifier(), X, y, n_blocks=3, sizes=[0.1, 0.5])
    assert json.loads(json.dumps(learned.chart()))["encoding"]["x"]["title"] == "training rows"
    with pytest.raises(DataError, match="an ROC needs two classes"):
        curve.roc_chart()


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (
            lambda: complexity_curve(TheirTree(), "max_depth", [], *WINE),
            ParameterError,
            "values must hold at least one value; got none",
        ),
        (
            lambda: complexity_curve(TheirTree(), "depth", [1], *WINE),
            ParameterError,
            "'depth' is not a parameter of DecisionTreeClassifier",
        ),
        (
            lambda: complexity_curve(TheirTree(), "max_depth", [1, -3], *WINE),
            DataError,
            "max_depth = -3 has no score on two blocks: InvalidParameterError",
        ),
        (
            lambda: learning_curve(TheirTree(), *WINE, sizes=[1000]),
            ParameterError,
            "sizes must be between 2 and 142 rows, the smallest training set; got 1000",
        ),
        (
            lambda: learning_curve(TheirTree(), *WINE, sizes=[]),
            ParameterError,
            "sizes must hold at least one size; got none",
        ),
    ],
)
def test_mistakes_are_named(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        make()
