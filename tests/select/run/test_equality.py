"""The harness accepts paths that equal single fits and catches those that do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from assay.base import Answer, Fitted, Path, Predicted, TrainingSet
from assay.select import DefaultPath, Family, assert_path_equals_single_fits
from tests.select.asked import search
from tests.select.spies import outer_scores


class RidgePath(Path[Any]):
    """Every penalty from one eigendecomposition."""

    error = 0.0
    fits = 0

    def group(self, params: Any) -> str:
        return "eigenvalues"

    def run(self, models: Any, training: TrainingSet) -> Any:
        self.fits += 1
        X, y, _ = training.data()
        centre, mean = X.mean(axis=0), y.mean()
        rows = X - centre
        values, vectors = np.linalg.eigh(rows.T @ rows)
        target = vectors.T @ (rows.T @ (y - mean))
        return values, vectors, target, training.test_rows() - centre, mean

    def read(self, run: Any, model: Any) -> Answer:
        values, vectors, target, tests, mean = run
        if model.alpha < 0:
            raise ValueError("alpha must not be negative")
        coef = vectors @ (target / (values + model.alpha)) * (1 + self.error)
        return Answer(Predicted(value=tests @ coef + mean), float(len(coef)))


class FastRidge(Ridge):
    assay_path = RidgePath()


class WrongPath(RidgePath):
    error = 1e-6


class WrongRidge(Ridge):
    assay_path = WrongPath()


class FussyPath(RidgePath):
    """Looks at all candidates before it does any work."""

    def fit_predict(self, *args: Any, **kwargs: Any) -> Iterator[Fitted]:
        if any(candidate["alpha"] < 0 for candidate in args[-1]):
            raise ValueError("alpha must not be negative")
        yield from super().fit_predict(*args, **kwargs)


class FussyRidge(Ridge):
    assay_path = FussyPath()


class ShortPath(RidgePath):
    def fit_predict(self, *args: Any, **kwargs: Any) -> Iterator[Fitted]:
        yield from list(super().fit_predict(*args, **kwargs))[:1]


class ShortRidge(Ridge):
    assay_path = ShortPath()


X, Y = load_diabetes(return_X_y=True)
GRID = [{"alpha": a} for a in (0.01, 0.1, 1.0, 10.0)]


def test_equal_path_passes_with_and_without_encoder() -> None:
    assert_path_equals_single_fits(Family("ridge", FastRidge(), GRID), X, Y)
    assert_path_equals_single_fits(Family("ridge", FastRidge(), GRID, StandardScaler()), X, Y)


def test_unequal_path_is_caught_and_named() -> None:
    with pytest.raises(AssertionError, match=r"wrong, candidate {'alpha': 0.01}.*value differs"):
        assert_path_equals_single_fits(Family("wrong", WrongRidge(), GRID), X, Y)
    assert_path_equals_single_fits(Family("wrong", WrongRidge(), GRID), X, Y, rtol=1e-3)


def test_path_that_ends_early_is_caught() -> None:
    with pytest.raises(RuntimeError, match="the path yielded 1 of 4 candidates"):
        assert_path_equals_single_fits(Family("short", ShortRidge(), GRID), X, Y, n_splits=1)


class TurnedPath(DefaultPath):
    def fit_predict(self, *args: Any, **kwargs: Any) -> Iterator[Fitted]:
        for fitted in super().fit_predict(*args, **kwargs):
            turned = [
                Predicted(2 - np.asarray(each.label), each.probability)
                for each in fitted.predictions
            ]
            yield Fitted(turned, fitted.size)


class Turned(GaussianNB):
    assay_path = TurnedPath()


def test_family_whose_every_fit_fails_proves_nothing() -> None:
    family = Family("ridge", FastRidge(), [{"alpha": -1.0}])
    with pytest.raises(AssertionError, match="ridge: every fit failed, last with"):
        assert_path_equals_single_fits(family, X, Y)


def test_classification_labels_may_differ_at_ties_only() -> None:
    rows, target = load_iris(return_X_y=True)
    assert_path_equals_single_fits(Family("bayes", GaussianNB()), rows, target)
    with pytest.raises(AssertionError, match="labels differ"):
        assert_path_equals_single_fits(Family("turned", Turned()), rows, target)
    # Variances as large as this leave three equal probabilities of every row.
    tied = Family("tied", Turned(), [{"var_smoothing": 1e15}])
    assert_path_equals_single_fits(tied, rows, target)


def test_search_uses_the_path_once_per_training_set() -> None:
    FastRidge.assay_path.fits = 0
    fast = search(X, Y, [Family("fast", FastRidge(), GRID)], task="regression")
    assert FastRidge.assay_path.fits == 10 + 5
    slow = search(X, Y, [Family("slow", Ridge(), GRID)], task="regression")
    assert [row.params for row in fast.leaderboard] == [row.params for row in slow.leaderboard]
    np.testing.assert_allclose(outer_scores(fast), outer_scores(slow), rtol=1e-9)
    assert fast.work.fits == 10 + 5 + 1
    assert slow.work.fits == 40 + 5 + 1


@pytest.mark.parametrize("estimator", [FastRidge(), FussyRidge()])
def test_candidate_that_breaks_the_path_does_not_take_the_others_along(estimator: Any) -> None:
    grid = [{"alpha": 1.0}, {"alpha": -1.0}, {"alpha": 2.0}]
    outcome = search(X, Y, [Family("ridge", estimator, grid)], task="regression")
    assert [row.failed is None for row in outcome.leaderboard] == [True, True, False]
    assert outcome.leaderboard[2].params == {"alpha": -1.0}
    assert "alpha must not be negative" in str(outcome.leaderboard[2].failed)
