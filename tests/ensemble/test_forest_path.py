"""The path of forests: every number of trees from the longest one, with the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from assay.base import ParameterError
from assay.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from assay.ensemble import _forest_path as path_module
from assay.ensemble._forest_grow import grown_forest
from assay.select import Family, assert_path_equals_single_fits
from assay.select.run._path import count_fits
from tests.along import fits_along

NUMBERS = [{"n_estimators": n} for n in (1, 2, 5, 10, 20)]
FORESTS = [
    (RandomForestClassifier, load_iris),
    (ExtraTreesClassifier, load_wine),
    (RandomForestRegressor, load_diabetes),
    (ExtraTreesRegressor, load_diabetes),
]


def data(load: Any) -> tuple[Any, Any]:
    X, y = load(return_X_y=True)
    return X, (y.astype(np.float64) if load is load_diabetes else y.astype(np.int64))


@pytest.mark.parametrize(("cls", "load"), FORESTS)
def test_path_equals_one_fit_per_candidate(cls: Any, load: Any) -> None:
    X, y = data(load)
    candidates = [*NUMBERS[::-1], {"max_depth": 3, "n_estimators": 7}, {"max_depth": 3}]
    family = Family("forest", cls(n_estimators=8), candidates)
    assert_path_equals_single_fits(family, X, y, n_splits=2, rtol=0.0, atol=0.0)


def test_ways_to_combine_share_one_forest() -> None:
    X, y = data(load_breast_cancer)
    candidates: list[dict[str, Any]] = [
        {"n_estimators": n, "combine": combine}
        for n in (3, 15)
        for combine in ("mean", "vote", "product")
    ]
    template = RandomForestClassifier(min_samples_leaf=5)
    family = Family("forest", template, candidates)
    assert_path_equals_single_fits(family, X, y, n_splits=1, rtol=0.0, atol=0.0)
    assert count_fits(template, candidates) == 1


def test_weights_missing_values_and_float32_go_along() -> None:
    X, y = data(load_wine)
    rng = np.random.default_rng(0)
    X = np.where(rng.random(X.shape) < 0.1, np.nan, X).astype(np.float32)
    weight = rng.integers(0, 3, size=len(X)).astype(np.float64)
    family = Family("forest", RandomForestClassifier(), NUMBERS)
    assert_path_equals_single_fits(family, X, y, weight=weight, n_splits=2, rtol=0.0, atol=0.0)


def test_nominal_columns_are_coded_by_each_training_set() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(12, size=120), rng.normal(size=120)])
    y = (X[:, 0] % 3 == 0).astype(np.int64)
    template = RandomForestClassifier(categorical_features=[0])
    family = Family("forest", template, NUMBERS)
    assert_path_equals_single_fits(family, X, y, rtol=0.0, atol=0.0)


def test_columns_with_many_values_are_binned_by_each_training_set() -> None:
    X, y = data(load_diabetes)
    family = Family("forest", RandomForestRegressor(max_bins=16), NUMBERS)
    assert_path_equals_single_fits(family, X, y, rtol=0.0, atol=0.0)


def test_candidate_that_asks_the_oob_error_is_fitted_alone() -> None:
    X, y = data(load_iris)
    candidates: list[dict[str, Any]] = [{"n_estimators": "oob", "oob_tol": 1.0}, *NUMBERS]
    family = Family("forest", RandomForestClassifier(), candidates)
    assert_path_equals_single_fits(family, X, y, n_splits=1, rtol=0.0, atol=0.0)
    assert count_fits(RandomForestClassifier(), candidates) == 2


def test_classes_absent_from_the_training_rows_have_probability_zero() -> None:
    X, y = np.arange(12.0)[:, None], np.array([0, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3])
    path = RandomForestClassifier.assay_path
    rows = np.arange(1, 12)
    (fitted,) = fits_along(path)(
        RandomForestClassifier(5, random_state=0),
        path.share(X, [{}]),
        X,
        y,
        None,
        rows,
        [np.array([0]), rows],
        [{}],
    )
    first, second = fitted.predictions
    assert first.label is not None
    assert first.probability is not None
    assert second.label is not None
    assert first.label.tolist() == [1]
    assert first.probability[:, [0, 2]].tolist() == [[0.0, 0.0]]
    assert len(second.label) == 11


def test_path_grows_one_forest_for_all_numbers_of_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(load_iris)
    grown: list[int] = []
    real = grown_forest

    def counted(training: Any, n_trees: int, callback: Any) -> Any:
        grown.append(n_trees)
        return real(training, n_trees, callback)

    monkeypatch.setattr(path_module, "grown_forest", counted)
    template = RandomForestClassifier(random_state=0)
    candidates = [*NUMBERS, *({**each, "max_depth": 2} for each in NUMBERS)]
    path = RandomForestClassifier.assay_path
    half = np.arange(0, 150, 2)
    shared = path.share(X, candidates)
    found = list(fits_along(path)(template, shared, X, y, None, half, [half + 1], candidates))
    assert grown == [20, 20]
    assert count_fits(template, candidates) == 2
    assert [each.size for each in found] == sorted(each.size for each in found[:5]) + sorted(
        each.size for each in found[5:]
    )


def test_senseless_candidates_fail_in_their_turn() -> None:
    X, y = data(load_iris)
    path = RandomForestClassifier.assay_path
    half = np.arange(0, 150, 2)
    candidates: list[dict[str, Any]] = [{"n_estimators": 3}, {"n_estimators": 0}]
    steps = fits_along(path)(
        RandomForestClassifier(random_state=0), None, X, y, None, half, [half + 1], candidates
    )
    assert next(steps).size > 0
    with pytest.raises(ParameterError, match="n_estimators must be an integer >= 1 or 'oob'; got"):
        next(steps)


def test_model_of_a_candidate_is_the_template_with_its_parameters() -> None:
    X, y = data(load_iris)
    template = RandomForestClassifier(random_state=0)
    model = RandomForestClassifier.assay_path.model(template, {"n_estimators": 4}).fit(X, y)
    assert model.n_estimators_ == 4
