"""Extra-trees: random thresholds, scikit-learn's quality."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_regression
from sklearn.ensemble import ExtraTreesClassifier as PeerClassifier
from sklearn.ensemble import ExtraTreesRegressor as PeerRegressor
from sklearn.model_selection import train_test_split

from assay.base import ParameterError, same
from assay.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier
from assay.tree.engine import Bins, FineRows


@pytest.mark.parametrize("load", [load_digits, load_breast_cancer])
def test_classifier_is_as_good_as_scikit_learn(load: Any) -> None:
    X, y = load(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    ours = ExtraTreesClassifier(random_state=0).fit(X_train, y_train).score(X_test, y_test)
    theirs = PeerClassifier(random_state=0).fit(X_train, y_train).score(X_test, y_test)
    assert ours >= theirs - 0.025


def test_regressor_is_as_good_as_scikit_learn() -> None:
    X, y = make_regression(600, 8, n_informative=5, noise=5.0, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    ours = ExtraTreesRegressor(random_state=0).fit(X_train, y_train).score(X_test, y_test)
    theirs = PeerRegressor(random_state=0).fit(X_train, y_train).score(X_test, y_test)
    assert ours >= theirs - 0.03


def test_thresholds_are_uniform_between_the_extremes() -> None:
    X = np.concatenate([np.zeros(50), np.linspace(0, 1, 50)])[:, None]
    y = (X[:, 0] > 0.3).astype(int)
    roots = ExtraTreesClassifier(400, max_depth=1, random_state=0).fit(X, y)
    cuts = roots.node_threshold_[roots.tree_start_[:-1]]
    # Uniform on (0, 1) however the rows are spread: quartiles and range say so.
    np.testing.assert_allclose(np.quantile(cuts, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.08)
    assert cuts.min() > 0
    assert cuts.max() < 1


def test_every_tree_sees_all_rows_and_remembers_them() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = ExtraTreesRegressor(5, random_state=0, max_bins=65535).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_share_all_bins_are_told_apart(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 2)).astype(dtype), rng.normal(size=4000)
    model = ExtraTreesRegressor(3, random_state=0, max_bins=16).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=0, atol=1e-12)


def test_columns_that_32_bits_would_blur_keep_their_bins() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([1e12 + rng.normal(size=2000), np.full(2000, 7.0), rng.normal(size=2000)])
    bins = Bins.build(X)
    assert FineRows.build(X, bins).slots.tolist() == [-1, -1, 0]
    X[::3, 2] = np.nan
    assert FineRows.build(X, Bins.build(X)).values.size == 0
    assert (
        ExtraTreesRegressor(5, random_state=0).fit(X, X[:, 0] - 1e12).score(X, X[:, 0] - 1e12)
        > 0.99
    )


def test_bootstrap_gives_an_oob_score() -> None:
    X, y = load_digits(return_X_y=True)
    model = ExtraTreesClassifier(100, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    assert model.oob_score_ > 0.95


@given(seed=st.integers(0, 1000))
def test_copies_of_rows_are_weights(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3)).round(1)
    y = rng.integers(2, size=30)
    copies = rng.integers(0, 4, size=30)
    copies[:2] = 1
    y[:2] = (0, 1)
    repeated = np.repeat(X, copies, axis=0), np.repeat(y, copies)
    weighted = ExtraTreesClassifier(5, random_state=0).fit(X, y, copies)
    copied = ExtraTreesClassifier(5, random_state=0).fit(*repeated)
    assert np.array_equal(weighted.predict_proba(X), copied.predict_proba(X))


@given(seed=st.integers(0, 1000))
def test_any_table_with_nominal_and_missing_columns_is_taken(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    X[:, 1] = rng.integers(6, size=40)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(3, size=40)
    one, two = (
        ExtraTreesClassifier(4, categorical_features=[1], random_state=seed, n_jobs=n).fit(X, y)
        for n in (1, 2)
    )
    assert same(one, two)
    shares = one.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_random_thresholds_make_other_trees_than_the_best() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    extra = ExtraTreesClassifier(10, random_state=0).fit(X, y)
    forest = RandomForestClassifier(10, bootstrap=False, random_state=0).fit(X, y)
    assert extra.tree_start_[-1] > 1.3 * forest.tree_start_[-1]


def test_extra_trees_have_no_oob_score_without_bootstrap() -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ParameterError, match="oob_score must be False when bootstrap=False"):
        ExtraTreesRegressor(oob_score=True).fit(X, y)
