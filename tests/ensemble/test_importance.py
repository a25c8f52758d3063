"""Out-of-bag permutation importance: the definition, and no bias for many values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.datasets import load_diabetes, load_iris

from assay.base import DataError, ParameterError
from assay.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    permutation_importance_oob,
)
from assay.tree.engine import bootstrap_counts


def noisy_table(seed: int, n: int = 200) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """One column that matters, one of noise with as many values as rows, one of two values."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.integers(2, size=n), rng.normal(size=n), rng.integers(2, size=n)]
    ).astype(float)
    y = np.where(rng.random(n) < 0.85, X[:, 0], 1 - X[:, 0]).astype(np.int64)
    return X, y


def test_importance_follows_its_definition() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(8, random_state=0).fit(X, y)
    found = permutation_importance_oob(forest, X, y)
    ratios = []
    for t in range(8):
        counts = bootstrap_counts(forest.seed_, t, len(X))
        out = np.flatnonzero(counts == 0)
        ratios.append(len(out) / (len(X) - len(out)))
        tree = forest.tree(t)
        whole = tree.score(X[out], y[out])
        for j in range(4):
            rng = np.random.default_rng((forest.seed_, t, j))
            shuffled = X[out].copy()
            shuffled[:, j] = shuffled[rng.permutation(len(out)), j]
            expected = whole - tree.score(shuffled, y[out])
            assert found.by_tree[t, j] == pytest.approx(expected, abs=1e-12)
    spread = found.by_tree.std(axis=0, ddof=1) * np.sqrt(1 / 8 + np.mean(ratios))
    np.testing.assert_allclose(found.mean, found.by_tree.mean(axis=0))
    np.testing.assert_allclose(found.high - found.mean, student.ppf(0.975, 7) * spread)
    np.testing.assert_allclose(found.mean - found.low, found.high - found.mean)


def test_noise_with_many_values_has_impurity_but_no_oob_importance() -> None:
    X, y = noisy_table(0)
    forest = RandomForestClassifier(200, random_state=0, max_features=None).fit(X, y)
    assert forest.feature_importances_[1] > 0.15  # the impurity is fooled
    found = permutation_importance_oob(forest, X, y)
    assert found.low[0] > 0.1
    assert found.low[1] <= 0 <= found.high[1]
    assert found.low[2] <= 0 <= found.high[2]


def test_intervals_of_noise_contain_zero_as_often_as_they_promise() -> None:
    held = 0
    means = []
    for seed in range(60):
        X, y = noisy_table(seed, 100)
        forest = RandomForestClassifier(30, random_state=seed, max_features=None).fit(X, y)
        found = permutation_importance_oob(forest, X, y, confidence=0.9)
        held += int(found.low[1] <= 0 <= found.high[1])
        means.append(found.mean[1])
    assert held >= 0.9 * 60 - 3
    # No bias: the mean over tables is zero within its own standard error.
    assert abs(np.mean(means)) < 3 * np.std(means) / np.sqrt(60)


def test_regression_importance_is_a_loss_of_r2() -> None:
    X, y = load_diabetes(return_X_y=True)
    rng = np.random.default_rng(0)
    X = np.column_stack([X[:, [2, 8]], rng.normal(size=len(X))])
    forest = RandomForestRegressor(100, random_state=0, min_samples_leaf=5).fit(X, y)
    found = permutation_importance_oob(forest, X, y)
    assert (found.low[:2] > 0.1).all()
    assert found.low[2] <= 0 <= found.high[2]
    both = np.column_stack([y, y])
    twice = RandomForestRegressor(20, random_state=0).fit(X, both)
    once = RandomForestRegressor(20, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        permutation_importance_oob(twice, X, both).mean,
        permutation_importance_oob(once, X, y).mean,
        rtol=1e-6,
        atol=1e-9,
    )


def test_importance_is_independent_of_n_jobs() -> None:
    X, y = noisy_table(1)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    one, two = (permutation_importance_oob(forest, X, y, n_jobs=n) for n in (1, 2))
    assert np.array_equal(one.by_tree, two.by_tree)
    assert np.array_equal(one.low, two.low)


def test_rows_of_weight_zero_are_left_out() -> None:
    X, y = noisy_table(2)
    weight = np.ones(len(X))
    weight[::4] = 0
    kept = weight > 0
    weighted = RandomForestClassifier(20, random_state=0).fit(X, y, weight)
    without = RandomForestClassifier(20, random_state=0).fit(X[kept], y[kept])
    one = permutation_importance_oob(weighted, X, y, weight)
    two = permutation_importance_oob(without, X[kept], y[kept])
    assert np.array_equal(one.by_tree, two.by_tree)


def test_text_labels_and_nominal_columns_are_taken() -> None:
    X, y = noisy_table(3)
    names = np.array(["no", "yes"])[y]
    forest = RandomForestClassifier(30, random_state=0, categorical_features=[0, 2]).fit(X, names)
    found = permutation_importance_oob(forest, X, names)
    assert found.mean[0] > 0.1


WRONG: list[tuple[Any, type[Exception], str]] = [
    ({"confidence": 1.0}, ParameterError, r"confidence must be a number in \(0, 1\); got 1.0"),
    ({"forest": BaggingClassifier()}, ParameterError, "forest must be a fitted forest of assay"),
    (
        {"forest": ExtraTreesClassifier(3).fit(*noisy_table(0))},
        ParameterError,
        "forest was fitted with bootstrap=False, so no row is out of bag",
    ),
    ({"y": np.arange(200) % 3}, DataError, "y has a label that the forest was not fitted on"),
    ({"X": np.zeros((9, 3)), "y": [0] * 9}, DataError, "the forest was fitted on 200 rows; got 9"),
    ({"y": [0, 1]}, DataError, "X has 200 rows but y has 2"),
]


@pytest.mark.parametrize(("changed", "error", "message"), WRONG)
def test_wrong_input_is_told(changed: Any, error: type[Exception], message: str) -> None:
    X, y = noisy_table(0)
    given = {"forest": RandomForestClassifier(5, random_state=0).fit(X, y), "X": X, "y": y}
    with pytest.raises(error, match=message):
        permutation_importance_oob(**{**given, **changed})


def test_a_single_tree_has_no_spread() -> None:
    X, y = noisy_table(0)
    with pytest.raises(DataError, match="fewer than two trees have out-of-bag rows"):
        permutation_importance_oob(RandomForestClassifier(1, random_state=0).fit(X, y), X, y)
