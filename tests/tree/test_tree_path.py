"""The path: every depth and price from one tree, equal to one fit per candidate."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from assay.base import ParameterError
from assay.select import Family, assert_path_equals_single_fits
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor
from assay.tree import _path as path_module
from assay.tree._growth import grow_tree
from tests.along import fits_along

DEPTHS = (1, 2, 3, 4, 6, 9, None)
GRID: list[dict[str, Any]] = [
    {"max_depth": depth, "ccp_alpha": alpha}
    for depth, alpha in product(DEPTHS, (0.0, 0.001, 0.01, 0.05, 0.3))
]
TABLES = [
    (load_iris, DecisionTreeClassifier()),
    (load_wine, DecisionTreeClassifier(criterion="entropy", entropy_base="e")),
    (load_breast_cancer, DecisionTreeClassifier(max_features="sqrt", splitter="random")),
    (load_breast_cancer, DecisionTreeClassifier(class_weight="balanced")),
    (load_diabetes, DecisionTreeRegressor(min_samples_leaf=3)),
]


@pytest.mark.parametrize(("load", "estimator"), TABLES)
def test_path_keeps_the_law_of_the_house(load: Any, estimator: Any) -> None:
    X, y = load(return_X_y=True)
    scale = 1.0 if y.dtype.kind in "iu" else 3000.0
    candidates = [{**each, "ccp_alpha": each["ccp_alpha"] * scale} for each in GRID]
    family = Family("tree", estimator, candidates)
    assert_path_equals_single_fits(family, X, y, n_splits=1, rtol=0.0, atol=0.0)


def test_path_mixes_prunings_limits_and_weights() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    weight = np.random.default_rng(1).integers(0, 3, size=len(X)).astype(float)
    candidates: list[dict[str, Any]] = [
        {"prune": "chi2", "max_depth": 4},
        {"prune": "chi2", "significance": 0.001},
        {"prune": "pessimistic", "confidence": 0.1},
        {"prune": "pessimistic", "max_depth": 3},
        {"prune": "cost_complexity", "max_depth": 5},
        {"prune": "reduced_error", "max_depth": 5},
        {"ccp_alpha": "cv", "n_folds": 3},
        {"missing": "fractional", "max_depth": 3},
        {"max_leaf_nodes": 9, "max_depth": 3},
        {"max_leaf_nodes": 9},
        {"max_leaf_nodes": 6, "ccp_alpha": 0.01},
        {"min_samples_leaf": 10, "max_depth": 2},
        {"min_samples_leaf": 10},
        {"max_bins": 16},
    ]
    family = Family("tree", DecisionTreeClassifier(), candidates)
    assert_path_equals_single_fits(family, X, y, weight=weight, n_splits=1, rtol=0.0, atol=0.0)


def test_path_takes_nominal_columns() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 9, size=200), rng.normal(size=200)])
    y = ((X[:, 0] % 3 == 0) ^ (X[:, 1] > 0)).astype(int)
    family = Family("tree", DecisionTreeClassifier(categorical_features=[0]), GRID)
    assert_path_equals_single_fits(family, X, y, n_splits=1, rtol=0.0, atol=0.0)


def test_path_grows_once_for_each_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(*args: Any) -> Any:
        calls.append(1)
        return grow_tree(*args)

    monkeypatch.setattr(path_module, "grow_tree", counted)
    X, y = load_iris(return_X_y=True)
    candidates = [{**each, "criterion": name} for each in GRID for name in ("gini", "entropy")]
    path = DecisionTreeClassifier.assay_path
    shared = path.share(X, candidates)
    rows = np.arange(len(X))
    train, tests = rows[rows % 3 > 0], [rows[rows % 3 == 0]]
    fits = fits_along(path)(
        DecisionTreeClassifier(random_state=0), shared, X, y, None, train, tests, candidates
    )
    assert len(list(fits)) == 70
    assert len(calls) == path.n_fits(candidates) == 2
    assert path.n_fits([*candidates, {"prune": "reduced_error"}, {"ccp_alpha": "cv"}]) == 4


def test_size_is_the_number_of_nodes() -> None:
    X, y = load_iris(return_X_y=True)
    path = DecisionTreeClassifier.assay_path
    rows = np.arange(len(X))
    template = DecisionTreeClassifier(random_state=0)
    fits = fits_along(path)(template, path.share(X, GRID), X, y, None, rows, [rows], GRID)
    for candidate, fitted in zip(GRID, fits, strict=True):
        model = clone(template).set_params(**candidate).fit(X, y)
        assert fitted.size == model.tree_.node_count, candidate


def test_classes_absent_from_the_training_rows_have_probability_zero() -> None:
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 1, 1, 2, 2, 3, 3])
    path = DecisionTreeClassifier.assay_path
    train = np.array([0, 1, 4, 5, 6, 7])
    (fitted,) = fits_along(path)(
        DecisionTreeClassifier(), path.share(X, [{}]), X, y, None, train, [np.array([2, 3])], [{}]
    )
    (predicted,) = fitted.predictions
    assert predicted.probability is not None
    assert predicted.label is not None
    assert predicted.probability[:, 1].tolist() == [0.0, 0.0]
    assert set(predicted.label.tolist()) <= {0, 2, 3}


def test_model_of_a_candidate_is_the_template_with_its_parameters() -> None:
    X, y = load_iris(return_X_y=True)
    path = DecisionTreeClassifier.assay_path
    template = DecisionTreeClassifier(random_state=3)
    weight = np.linspace(1, 2, len(X))
    model = path.model(template, {"max_depth": 2}).fit(X, y, weight)
    assert (
        model.digest()
        == DecisionTreeClassifier(random_state=3, max_depth=2).fit(X, y, weight).digest()
    )


@pytest.mark.parametrize(
    ("candidate", "message"),
    [
        ({"max_depth": 0}, "max_depth must be an integer >= 1 or None; got 0"),
        (
            {"max_deep": 2},
            "DecisionTreeClassifier has no parameter 'max_deep'; did you mean 'max_depth'?",
        ),
    ],
)
def test_path_refuses_in_its_turn_what_a_fit_would_refuse(
    candidate: dict[str, Any], message: str
) -> None:
    X, y = load_iris(return_X_y=True)
    path = DecisionTreeClassifier.assay_path
    rows = np.arange(len(X))
    candidates = [{"max_depth": 2}, candidate]
    steps = fits_along(path)(
        DecisionTreeClassifier(), path.share(X, []), X, y, None, rows, [rows], candidates
    )
    assert next(steps).size == 5
    with pytest.raises(ParameterError) as caught:
        next(steps)
    assert str(caught.value) == message
