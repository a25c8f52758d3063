"""The law of the house: all smoothings from one summary, folds by taking sums apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from assay.bayes import NaiveBayesClassifier
from assay.bayes._summary import Summary
from assay.select import Family, assert_path_equals_single_fits
from tests.along import fits_along
from tests.bayes.test_naive_bayes import NOMINAL, mixed, with_gaps

SMOOTHINGS = [{"var_smoothing": value} for value in (1e-9, 1e-6, 1e-3)]


def family(candidates: list[dict[str, Any]], **params: Any) -> Family:
    return Family("bayes", NaiveBayesClassifier(**params), candidates)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
def test_path_equals_single_fits_on_numbers(load: Any) -> None:
    X, y = load(return_X_y=True)
    assert_path_equals_single_fits(family(SMOOTHINGS), X, y.astype(np.int64))


@pytest.mark.parametrize("weighted", [False, True])
def test_path_equals_single_fits_on_mixed_columns_with_gaps(weighted: bool) -> None:
    X, y = mixed(150)
    X = with_gaps(X)
    candidates: list[dict[str, Any]] = [
        {"alpha": alpha, "numeric": numeric, "bandwidth": width}
        for alpha in (0.1, 1.0)
        for numeric, width in (("gaussian", "scott"), ("kde", "scott"), ("kde", 0.5))
    ]
    weight = np.random.default_rng(0).random(len(y)) if weighted else None
    assert_path_equals_single_fits(
        family(candidates, **NOMINAL), X, y.astype(np.int64), weight=weight
    )


def test_path_equals_single_fits_when_classes_and_levels_are_rare() -> None:
    X, y = mixed(60)
    X[0, 2], y[:2] = 9.0, 3  # a level and a class that some training sets lack
    candidates = [{"alpha": alpha} for alpha in (0.5, 2.0)]
    assert_path_equals_single_fits(
        family(candidates, **NOMINAL), X, y.astype(np.int64), n_splits=10
    )


def test_path_equals_single_fits_far_from_zero() -> None:
    X, y = load_iris(return_X_y=True)
    assert_path_equals_single_fits(family(SMOOTHINGS), X + 1e7, y.astype(np.int64))


def test_path_equals_single_fits_with_an_outlier_that_dwarfs_the_rest() -> None:
    X, y = load_iris(return_X_y=True)
    X = X.copy()
    X[3] = 1e16
    assert_path_equals_single_fits(family(SMOOTHINGS), X, y.astype(np.int64), n_splits=10)


def test_path_makes_one_summary_of_the_table_and_none_of_the_training_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = load_iris(return_X_y=True)
    sizes: list[int] = []
    real = Summary.of

    def counted(rows: Any, *args: Any, **kwargs: Any) -> Any:
        sizes.append(len(rows))
        return real(rows, *args, **kwargs)

    monkeypatch.setattr(Summary, "of", counted)
    path, template = NaiveBayesClassifier.assay_path, NaiveBayesClassifier()
    shared = path.share(X, SMOOTHINGS)
    blocks = np.array_split(np.random.default_rng(0).permutation(150), 5)
    for held in ((0, 1), (0, 2), (3, 4)):
        train = np.concatenate([blocks[b] for b in range(5) if b not in held])
        tests = [blocks[b] for b in held]
        found = list(fits_along(path)(template, shared, X, y, None, train, tests, SMOOTHINGS))
        assert len(found) == 3
    assert sizes == [150, 60, 60, 60]
    assert path.n_fits(SMOOTHINGS) == 1


def test_a_wrong_candidate_raises_in_its_turn() -> None:
    X, y = load_iris(return_X_y=True)
    path = NaiveBayesClassifier.assay_path
    candidates = [{"alpha": 1.0}, {"alpha": -1.0}]
    rows = np.arange(150)
    steps = fits_along(path)(
        NaiveBayesClassifier(),
        path.share(X, candidates),
        X,
        y,
        None,
        rows[30:],
        [rows[:30]],
        candidates,
    )
    assert next(steps).predictions[0].label is not None
    with pytest.raises(ValueError, match="alpha must be"):
        next(steps)
