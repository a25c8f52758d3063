"""The path of a radius: every candidate from one search, with the bits of one fit per candidate."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from assay.base import DataError, ParameterError
from assay.neighbors import RadiusNeighborsClassifier, RadiusNeighborsRegressor
from assay.neighbors import _index as search
from assay.select import Family, assert_path_equals_single_fits
from tests.along import fits_along
from tests.neighbors.test_path import along_path, closeness, unit

CLASSIFIER = RadiusNeighborsClassifier(outlier_label="most_frequent")
REGRESSOR = RadiusNeighborsRegressor()
WEIGHTS = ("uniform", "distance", "gaussian", "epanechnikov", "triangular", closeness)
CANDIDATES: list[dict[str, Any]] = [
    {"radius": radius, "weights": weights, "p": p}
    for radius, weights, p in product((0.5, 2.0, 1.0, 3.5), WEIGHTS, (1, 2))
]
TABLES = [(load_iris, CLASSIFIER), (load_wine, CLASSIFIER), (load_diabetes, REGRESSOR)]


def scaled(load: Callable[..., Any]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def assert_as_alone(estimator: Any, X: Any, y: Any, candidates: list[dict[str, Any]]) -> None:
    train, tests = unit(X)
    found = along_path(estimator, X, y, candidates)
    assert len(found) == len(candidates)
    for fitted, candidate in zip(found, candidates, strict=True):
        model = clone(estimator).set_params(**candidate).fit(X[train], y[train])
        neighbours = 0
        for said, test in zip(fitted.predictions, tests, strict=True):
            neighbours += sum(map(len, model.radius_neighbors(X[test], return_distance=False)))
            if is_classifier(model):
                assert np.array_equal(np.asarray(said.label), model.predict(X[test]))
                assert np.array_equal(np.asarray(said.probability), model.predict_proba(X[test]))
            else:
                assert np.array_equal(
                    np.asarray(said.value), model.predict(X[test]), equal_nan=True
                )
        rows = sum(map(len, tests))
        assert fitted.size == len(train) * rows / max(neighbours, 1)


@pytest.mark.filterwarnings("ignore:.*no training row within radius")
@pytest.mark.parametrize(("load", "estimator"), TABLES)
def test_path_equals_one_fit_per_candidate(load: Callable[..., Any], estimator: Any) -> None:
    X, y = scaled(load)
    assert_as_alone(estimator, X, y, CANDIDATES)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_rows_at_a_radius_belong_to_it_exactly_where_they_do_alone(metric: str) -> None:
    # The root of a square may be smaller than the number: then the row is outside, by one bit.
    X = np.random.default_rng(0).normal(size=(100, 3))
    y = np.random.default_rng(1).integers(0, 3, len(X))
    train, tests = unit(X)
    model = clone(CLASSIFIER).set_params(radius=9.0, metric=metric).fit(X[train], y[train])
    distances = np.concatenate(model.radius_neighbors(X[tests[0]][:4])[0])
    candidates = [{"radius": float(radius), "metric": metric} for radius in distances]
    assert_as_alone(CLASSIFIER, X, y, candidates)


def test_path_takes_metrics_trees_and_functions() -> None:
    X, y = scaled(load_iris)

    def largest(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
        return float(np.abs(a - b).max())

    more: list[dict[str, Any]] = [
        {},
        {"metric": "chebyshev"},
        {"metric": "mahalanobis"},
        {"metric": largest},
        {"metric": "mixed", "categorical_features": [3]},
        {"metric": "mixed", "categorical_features": [2]},
        {"algorithm": "kd_tree", "leaf_size": 3},
    ]
    candidates = [{"radius": r, **each} for r, each in product((0.7, 1.6), more)]
    assert_as_alone(CLASSIFIER, X, y, candidates)
    assert RadiusNeighborsClassifier.assay_path.n_fits(candidates) == len(more)


def test_path_in_small_chunks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_CHUNK", 1000)
    assert_as_alone(CLASSIFIER, *scaled(load_iris), CANDIDATES)


def test_path_searches_once_for_each_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    radii: list[float] = []
    reach = search.Index.reach

    def counted(self: Any, queries: Any, radius: float, n_threads: int) -> Any:
        radii.append(radius)
        return reach(self, queries, radius, n_threads)

    monkeypatch.setattr(search.Index, "reach", counted)
    along_path(CLASSIFIER, *scaled(load_iris), CANDIDATES)
    assert radii == [3.5, 3.5]
    assert RadiusNeighborsClassifier.assay_path.n_fits(CANDIDATES) == 2


def test_path_keeps_the_law_of_the_house() -> None:
    X, y = load_wine(return_X_y=True)
    family = Family("radius", CLASSIFIER, CANDIDATES, StandardScaler())
    assert_path_equals_single_fits(family, X, y, n_splits=2, rtol=0.0, atol=0.0)


def test_classes_absent_from_the_training_rows_have_probability_zero() -> None:
    X, y = np.arange(10.0)[:, None], np.array([0, 1, 1, 1, 1, 1, 3, 3, 3, 3])
    rows = np.arange(1, 10)
    (fitted,) = fits_along(RadiusNeighborsClassifier.assay_path)(
        CLASSIFIER, None, X, y, None, rows, [np.array([0]), rows], [{"radius": 3.0}]
    )
    assert fitted.predictions[0].probability is not None
    assert fitted.predictions[0].probability.tolist() == [[0.0, 1.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("candidate", "kind", "message"),
    [
        ({"radius": -1.0}, ParameterError, "radius must be"),
        ({"weights": "near"}, ParameterError, "weights must be"),
        ({"radius": 0.0}, DataError, "row 0 of X has no training row within radius 0.0"),
    ],
)
def test_path_refuses_in_its_turn_what_a_fit_would_refuse(
    candidate: dict[str, Any], kind: type[Exception], message: str
) -> None:
    X, y = scaled(load_iris)
    train, tests = unit(X)
    steps = fits_along(RadiusNeighborsClassifier.assay_path)(
        RadiusNeighborsClassifier(), None, X, y, None, train, tests, [{"radius": 9.0}, candidate]
    )
    assert next(steps).predictions[0].label is not None
    with pytest.raises(kind, match=message):
        next(steps)


def test_model_of_a_candidate_is_the_template_with_its_parameters() -> None:
    X, y = scaled(load_iris)
    model = RadiusNeighborsClassifier.assay_path.model(CLASSIFIER, {"radius": 2.0}).fit(X, y)
    assert model.digest() == clone(CLASSIFIER).set_params(radius=2.0).fit(X, y).digest()
