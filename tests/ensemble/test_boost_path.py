"""The path of gradient boosting: every number of rounds from the longest run."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, make_classification

from assay.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from assay.select import Family, assert_path_equals_single_fits

LENGTHS = [{"n_estimators": n} for n in (1, 5, 12)]


def test_path_of_the_classifier_equals_single_fits() -> None:
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(min_samples_leaf=3, subsample=0.8)
    candidates = [*LENGTHS, {"n_estimators": 4, "max_depth": 2}, {"max_depth": 2}]
    family = Family("boosting", model.set_params(n_estimators=6), candidates)
    assert_path_equals_single_fits(family, X, y, n_splits=2, rtol=0, atol=0)


def test_path_of_two_classes_with_weights_equals_single_fits() -> None:
    X, y = make_classification(300, 5, random_state=0)
    X[::6, 1] = np.nan
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=300)
    family = Family("boosting", GradientBoostingClassifier(class_weight="balanced"), LENGTHS)
    assert_path_equals_single_fits(family, X, y, weight=weight, n_splits=2, rtol=0, atol=0)


@pytest.mark.parametrize("early_stopping", [True, False])
def test_path_of_the_regressor_equals_single_fits(early_stopping: bool) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(
        early_stopping=early_stopping, n_iter_no_change=2, learning_rate=0.5
    )
    candidates = [{"n_estimators": n} for n in (2, 30, 8)]
    family = Family("boosting", model, candidates)
    assert_path_equals_single_fits(family, X, y, n_splits=2, rtol=0, atol=0)


def test_path_with_nominal_columns_equals_single_fits() -> None:
    X, y = load_diabetes(return_X_y=True)
    X[:, 1] = np.round(X[:, 1] * 100)
    family = Family("boosting", GradientBoostingRegressor(categorical_features=[1]), LENGTHS)
    assert_path_equals_single_fits(family, X, y, n_splits=1, rtol=0, atol=0)


def test_path_counts_one_fit_for_all_lengths() -> None:
    path = GradientBoostingClassifier.assay_path
    assert path.n_fits(LENGTHS) == 1
    assert path.n_fits([*LENGTHS, {"max_depth": 3}, {"max_depth": 3, "n_estimators": 4}]) == 2
