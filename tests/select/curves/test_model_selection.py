"""MODEL-SELECTION: the loop of the book, written out, gives the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier as TheirTree

from assay.base import DataError, ParameterError
from assay.select import model_selection
from assay.tree import DecisionTreeClassifier

CANCER = load_breast_cancer(return_X_y=True)


def by_the_book(X: Any, y: Any, k: int, sizes: Any) -> tuple[int, list[float], float, int]:
    """Best size, validation errors, test error and number of sizes tried."""
    cut = len(y) - round(0.2 * len(y))
    train_X, train_y = X[:cut], y[:cut]
    n = len(train_y)
    errors: list[list[float]] = []
    for size in sizes:
        row = []
        for i in range(1, k + 1):
            valid = np.arange((i - 1) * n // k, i * n // k)
            rest = np.setdiff1d(np.arange(n), valid)
            h = TheirTree(max_depth=size, random_state=0).fit(train_X[rest], train_y[rest])
            row.append(float(np.mean(h.predict(train_X[valid]) != train_y[valid])))
        errors.append(row)
        means = np.round([np.mean(each) for each in errors], 12)
        if len(errors) > 1:
            d = np.array(row) - np.array(errors[int(np.argmin(means[:-1]))])
            spread = np.sqrt((1 / k + 1 / (k - 1)) * d.var(ddof=1))
            if spread > 0 and d.mean() / spread > student.ppf(0.95, k - 1):
                break
    best = sizes[int(np.argmin(means))]
    h = TheirTree(max_depth=best, random_state=0).fit(train_X, train_y)
    test_error = float(np.mean(h.predict(X[cut:]) != y[cut:]))
    return best, [float(np.mean(each)) for each in errors], test_error, len(errors)


def test_contiguous_slices_are_the_loop_of_the_book() -> None:
    X, y = CANCER
    noisy = y.copy()
    flipped = np.random.default_rng(0).random(len(y)) < 0.25
    noisy[flipped] = 1 - noisy[flipped]
    sizes = range(1, 13)
    found = model_selection(
        TheirTree(random_state=0), "max_depth", X, noisy, 7, sizes=sizes, shuffle=False
    )
    best, errors, test_error, tried = by_the_book(X, noisy, 7, sizes)
    assert (found.size, len(found.sizes)) == (best, tried)
    # Slices of 65 and of 66 rows: their ratio to the rest is not quite one sixth.
    np.testing.assert_allclose([band.value for band in found.validation], errors)
    assert found.error == pytest.approx(test_error)
    h, error = found
    assert h is found.estimator
    assert error == found.error
    assert found.interval.low <= error <= found.interval.high


def test_growth_ends_where_the_validation_error_rises() -> None:
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, 120)
    y = x**2 - 0.5 * x + random.normal(scale=0.1, size=120)
    model = make_pipeline(PolynomialFeatures(), LinearRegression())
    found = model_selection(
        model, "polynomialfeatures__degree", x[:, None], y, max_size=30, rounds=3
    )
    assert found.stopped == "the validation error rose significantly"
    assert 2 <= found.size <= 5
    assert len(found.sizes) < 30
    assert found.metric == "mean_squared_error"
    assert found.training[-1].value < found.training[1].value
    assert 0.005 < found.error < 0.02


def test_growth_ends_where_more_size_changes_nothing() -> None:
    X, y = CANCER
    found = model_selection(DecisionTreeClassifier(), "max_depth", X, y, significance=1e-9, seed=3)
    assert found.stopped == "more size changed nothing"
    assert len(found.sizes) < 40
    assert found.training[-1].value == 0


def test_test_part_has_no_part_in_the_choice() -> None:
    X, y = CANCER
    before = model_selection(DecisionTreeClassifier(), "max_depth", X, y, shuffle=False)
    changed = y.copy()
    changed[455:] = 1 - y[455:]
    after = model_selection(DecisionTreeClassifier(), "max_depth", X, changed, shuffle=False)
    assert after.size == before.size
    np.testing.assert_array_equal(after.validation_errors, before.validation_errors)
    assert after.error == pytest.approx(1 - before.error)


def test_labels_of_the_user_come_back() -> None:
    X, y = CANCER
    words = np.array(["bad", "good"])[y]
    found = model_selection(DecisionTreeClassifier(), "max_depth", X, words, 5)
    assert set(found.estimator.predict(X)) == {"bad", "good"}
    chart = found.chart()
    assert {row["rows"] for row in chart["data"]["values"]} == {"validation", "training"}


def test_sizes_of_the_user_may_be_anything_in_order() -> None:
    X, y = load_diabetes(return_X_y=True)
    found = model_selection(KNeighborsRegressor(), "n_neighbors", X, y, 5, sizes=[100, 30, 10, 3])
    assert found.size in (30, 10)
    assert found.sizes[: len(found.sizes)] == (100, 30, 10, 3)[: len(found.sizes)]


def test_mistakes_are_named() -> None:
    with pytest.raises(ParameterError, match="k must be"):
        model_selection(TheirTree(), "max_depth", CANCER[0], CANCER[1], k=1)
    with pytest.raises(DataError, match="max_depth = 0 has no error: InvalidParameterError"):
        model_selection(TheirTree(), "max_depth", *CANCER, sizes=[1, 0])
