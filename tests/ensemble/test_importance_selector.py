"""Selection by out-of-bag importance: its intervals, planted columns, nominal values, files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from assay.base import DataError, ParameterError, same
from assay.ensemble import (
    ImportanceSelector,
    RandomForestClassifier,
    RandomForestRegressor,
    permutation_importance_oob,
)
from assay.select import NestedSearch
from assay.store import load, save


def planted() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X = np.random.default_rng(0).normal(size=(250, 8))
    return X, (X[:, 1] + X[:, 4] > 0).astype(np.int64)


def test_columns_whose_interval_lies_above_zero_are_kept() -> None:
    X, y = planted()
    forest = RandomForestClassifier(50, random_state=0)
    found = permutation_importance_oob(forest.fit(X, y), X, y, confidence=0.8)
    model = ImportanceSelector(forest, confidence=0.8).fit(X, y)
    assert np.array_equal(model.feature_importances_, found.mean)
    assert np.array_equal(model.low_, found.low)
    assert np.array_equal(model.support_, found.low > 0)
    assert model.get_support(indices=True).tolist() == [1, 4]


def test_number_targets_get_a_forest_of_their_own() -> None:
    X, _ = planted()
    model = ImportanceSelector(random_state=0).fit(X, X[:, 3] - X[:, 6])
    assert model.get_support(indices=True).tolist() == [3, 6]


def test_as_many_columns_as_asked_for_are_kept_by_their_mean() -> None:
    X, y = planted()
    model = ImportanceSelector(n_features_to_select=0.5, random_state=0).fit(X, y)
    best = np.argsort(-model.feature_importances_)[:4]
    assert set(model.get_support(indices=True).tolist()) == set(best.tolist())


def test_on_noise_the_fewest_columns_are_kept() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(100, 6)), random.integers(0, 2, size=100)
    model = ImportanceSelector(min_features=2, random_state=0).fit(X, y)
    assert (model.low_ > 0).sum() == 0
    assert model.support_.sum() == 2


def test_nominal_and_missing_values_are_taken_as_they_are() -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=200), "b": random.choice(list("xyz"), 200)})
    frame.loc[::5, "a"] = np.nan
    model = ImportanceSelector(random_state=0).fit(frame, frame["b"] == "x")
    assert model.transform(frame).columns.tolist() == ["b"]


def test_threads_change_no_bit_and_files_hold_it(tmp_path: Path) -> None:
    X, y = planted()
    model = ImportanceSelector(random_state=0).fit(X, y)
    assert same(model, ImportanceSelector(random_state=0, n_jobs=2).fit(X, y))
    save(tmp_path / "model.assay", {}, {"model": model})
    assert same(model, load(tmp_path / "model.assay")[1]["model"])


def test_it_acts_inside_the_fold_of_a_nested_search() -> None:
    random = np.random.default_rng(1)
    X, y = random.normal(size=(80, 200)), np.arange(80) % 2
    forest = RandomForestClassifier(30)
    chosen = ImportanceSelector(forest, n_features_to_select=5, random_state=0)
    nested = NestedSearch(make_pipeline(chosen, GaussianNB()), cv=3).fit(X, y)
    assert nested.score_.value < 0.65
    # Chosen on all rows, the same columns look as if they predicted the noise.
    leaked = NestedSearch(GaussianNB(), cv=3).fit(chosen.fit_transform(X, y), y)
    assert leaked.score_.value > 0.65


def test_importance_selector_rejects_what_is_no_forest() -> None:
    X, y = planted()
    with pytest.raises(ParameterError, match="estimator must be None or a forest"):
        ImportanceSelector(GaussianNB()).fit(X, y)
    with pytest.raises(ParameterError, match="bootstrap=False"):
        ImportanceSelector(RandomForestRegressor(bootstrap=False)).fit(X, X[:, 0])
    with pytest.raises(DataError, match="n_samples = 1"):
        ImportanceSelector().fit(X[:1], y[:1])
