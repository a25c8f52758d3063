"""The path: every candidate from one search, with the bits of one fit per candidate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.preprocessing import StandardScaler

from assay._core import neighbors as kernels
from assay.base import Fitted, ParameterError, Predicted
from assay.neighbors import KNeighborsClassifier, KNeighborsRegressor
from assay.neighbors import _index as search
from assay.select import Family, assert_path_equals_single_fits
from tests.along import fits_along

COUNTS = (1, 2, 3, 5, 7, 9, 13, 17, 25, 35, 51, 71, 89)
TWENTY_SIX = [
    {"n_neighbors": k, "weights": weights}
    for k, weights in product(COUNTS, ("uniform", "distance"))
]
TABLES = [
    (load_iris, KNeighborsClassifier()),
    (load_wine, KNeighborsClassifier()),
    (load_breast_cancer, KNeighborsClassifier()),
    (lambda **kw: tuple(part[:600] for part in load_digits(**kw)), KNeighborsClassifier()),
    (load_diabetes, KNeighborsRegressor()),
]
NAMES = ["iris", "wine", "breast_cancer", "digits", "diabetes"]


def closeness(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """A weighting that looks at how many neighbours there are."""
    return np.exp(-distance / (1 + distance[:, -1:]))


def unit(X: Any, n_blocks: int = 5) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """One unit of the pair-out plan: train without two blocks, test on both."""
    blocks = np.array_split(np.random.default_rng(0).permutation(len(X)), n_blocks)
    return np.concatenate(blocks[2:]), list(blocks[:2])


def along_path(estimator: Any, X: Any, y: Any, candidates: Sequence[Any]) -> list[Fitted]:
    path = type(estimator).assay_path
    train, tests = unit(X)
    shared = path.share(X, candidates)
    return list(fits_along(path)(estimator, shared, X, y, None, train, tests, candidates))


def one_by_one(estimator: Any, X: Any, y: Any, candidates: Sequence[Any]) -> list[Fitted]:
    """The law that a path must keep: fit each candidate alone."""
    train, tests = unit(X)
    found = []
    for candidate in candidates:
        model = clone(estimator).set_params(**candidate).fit(X[train], y[train])
        predictions = [predicted(model, X[test]) for test in tests]
        found.append(Fitted(predictions, size=len(train) / model.n_neighbors_))
    return found


def predicted(model: Any, rows: Any) -> Predicted:
    if is_classifier(model):
        return Predicted(label=model.predict(rows), probability=model.predict_proba(rows))
    return Predicted(value=model.predict(rows))


def assert_equal(path: list[Fitted], single: list[Fitted]) -> None:
    assert len(path) == len(single)
    for a, b in zip(path, single, strict=True):
        assert a.size == b.size
        for p, q in zip(a.predictions, b.predictions, strict=True):
            for field in ("label", "probability", "value"):
                one, two = getattr(p, field), getattr(q, field)
                assert (one is None) == (two is None)
                assert one is None or np.array_equal(one, two), f"{field} differs"


@pytest.mark.parametrize(("load", "estimator"), TABLES, ids=NAMES)
def test_path_equals_one_fit_per_candidate(load: Callable[..., Any], estimator: Any) -> None:
    X, y = load(return_X_y=True)
    candidates = [*TWENTY_SIX, {"n_neighbors": "sqrt"}, {}]
    assert_equal(along_path(estimator, X, y, candidates), one_by_one(estimator, X, y, candidates))


@pytest.mark.parametrize(("load", "estimator"), TABLES, ids=NAMES)
def test_path_takes_any_order_metric_and_function(load: Callable[..., Any], estimator: Any) -> None:
    X, y = load(return_X_y=True)
    candidates: list[dict[str, Any]] = [
        {"n_neighbors": 9, "p": 1},
        {"n_neighbors": 3, "weights": closeness},
        {"n_neighbors": 30, "weights": "distance", "p": 1},
        {"n_neighbors": 3, "weights": "distance", "metric": "chebyshev"},
        {"n_neighbors": 9, "p": 1},
        {"n_neighbors": 20, "weights": closeness},
        {"n_neighbors": 1, "p": 3.0},
        {"weights": "distance"},
    ]
    template = clone(estimator).set_params(n_neighbors=11)
    assert_equal(along_path(template, X, y, candidates), one_by_one(template, X, y, candidates))


def test_path_in_small_chunks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True)
    whole = along_path(KNeighborsClassifier(), X, y, TWENTY_SIX)
    monkeypatch.setattr(search, "_CHUNK", 100)
    assert_equal(along_path(KNeighborsClassifier(), X, y, TWENTY_SIX), whole)


def test_path_takes_float32_and_several_outputs() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, y = X.astype(np.float32), np.column_stack([y, X[:, 0]])
    template = KNeighborsRegressor()
    path, single = (f(template, X, y, TWENTY_SIX) for f in (along_path, one_by_one))
    assert_equal(path, single)


def test_classes_absent_from_the_training_rows_have_probability_zero() -> None:
    X, y = np.arange(10.0)[:, None], np.array([0, 1, 1, 1, 1, 1, 3, 3, 3, 3])
    path = KNeighborsClassifier.assay_path
    rows = np.arange(1, 10)
    (fitted,) = fits_along(path)(
        KNeighborsClassifier(), None, X, y, None, rows, [np.array([0]), rows], [{"n_neighbors": 3}]
    )
    first = fitted.predictions[0]
    assert first.label is not None
    assert first.probability is not None
    assert first.label.tolist() == [1]
    assert first.probability.tolist() == [[0.0, 1.0, 0.0, 0.0]]


@pytest.mark.parametrize(("load", "estimator"), TABLES, ids=NAMES)
def test_path_keeps_the_law_of_the_house(load: Callable[..., Any], estimator: Any) -> None:
    X, y = load(return_X_y=True)
    candidates = [{**candidate, "p": p} for p in (1, 2) for candidate in TWENTY_SIX]
    family = Family("neighbours", estimator, candidates, StandardScaler())
    assert_path_equals_single_fits(family, X, y, n_splits=2, rtol=0.0, atol=0.0)


def test_path_searches_once_for_each_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, float]] = []

    class Counted:
        @staticmethod
        def brute_force(queries: Any, refs: Any, k: int, p: float, *rest: Any) -> None:
            calls.append((k, p))
            kernels.brute_force(queries, refs, k, p, *rest)

    monkeypatch.setattr(search, "kernels", Counted)
    X, y = load_iris(return_X_y=True)
    candidates = [{**candidate, "p": p} for p in (1, 2) for candidate in TWENTY_SIX]
    along_path(KNeighborsClassifier(), X, y, candidates)
    assert calls == [(89, 1.0), (89, 2.0)]
    assert KNeighborsClassifier.assay_path.n_fits(candidates) == len(calls)


def test_model_of_a_candidate_is_the_template_with_its_parameters() -> None:
    X, y = load_iris(return_X_y=True)
    path = KNeighborsClassifier.assay_path
    model = path.model(KNeighborsClassifier(), {"n_neighbors": 7}).fit(X, y)
    assert model.digest() == KNeighborsClassifier(7).fit(X, y).digest()


@pytest.mark.parametrize(
    ("candidate", "message"),
    [
        (
            {"n_neighbors": 200},
            "n_neighbors must be at most the number of training rows (n_samples = 90); got 200",
        ),
        (
            {"n_neighbours": 3},
            "KNeighborsClassifier has no parameter 'n_neighbours'; did you mean 'n_neighbors'?",
        ),
    ],
)
def test_path_refuses_in_its_turn_what_a_fit_would_refuse(
    candidate: dict[str, Any], message: str
) -> None:
    X, y = load_iris(return_X_y=True)
    train, tests = unit(X)
    steps = fits_along(KNeighborsClassifier.assay_path)(
        KNeighborsClassifier(), None, X, y, None, train, tests, [{}, candidate]
    )
    assert_equal([next(steps)], one_by_one(KNeighborsClassifier(), X, y, [{}]))
    with pytest.raises(ParameterError) as caught:
        next(steps)
    assert str(caught.value) == message


def test_path_shares_searches_with_kernels_balance_and_metrics() -> None:
    X, y = load_iris(return_X_y=True)
    weightings = ["uniform", "distance", "gaussian", "epanechnikov", "triangular"]
    candidates: list[dict[str, Any]] = [
        {"n_neighbors": k, "weights": weights, **more}
        for k in (1, 4, 11)
        for weights in weightings
        for more in (
            {},
            {"class_weight": "balanced"},
            {"metric": "cosine"},
            {"metric": "mahalanobis"},
            {"metric_params": {"w": [1.0, 2.0, 3.0, 4.0]}},
            {"metric": "mixed", "categorical_features": [3]},
            {"metric": "mixed", "categorical_features": [2]},
            {"algorithm": "kd_tree", "leaf_size": 3},
        )
    ]
    template = KNeighborsClassifier()
    assert_equal(along_path(template, X, y, candidates), one_by_one(template, X, y, candidates))
    assert KNeighborsClassifier.assay_path.n_fits(candidates) == 7
