"""Boosting on the restaurant table, and the weight of a learner, against worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.ensemble import AdaBoostClassifier

#: Values of each attribute: Alternate, Bar, Fri/Sat, Hungry, Patrons (None, Some, Full), Price,
#: Raining, Reservation, Type, WaitEstimate (0-10, 10-30, 30-60, >60).
N_VALUES = (2, 2, 2, 2, 3, 3, 2, 2, 4, 4)
ALT, BAR, FRI, HUNGRY, PATRONS, RAIN, RESERVED, WAIT = 0, 1, 2, 3, 4, 6, 7, 9


def restaurant(seed: int, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Draw guests at random; whether they wait is what the true tree of AIMA says."""
    random = np.random.default_rng(seed)
    X = np.column_stack([random.integers(0, k, n) for k in N_VALUES])
    at_length = np.where(
        X[:, ALT] == 0,
        (X[:, RESERVED] == 1) | (X[:, BAR] == 1),
        X[:, FRI] == 1,
    )
    shortly = (X[:, HUNGRY] == 0) | (X[:, ALT] == 0) | (X[:, RAIN] == 1)
    if_full = np.select(
        [X[:, WAIT] == 0, X[:, WAIT] == 1, X[:, WAIT] == 2], [True, shortly, at_length], False
    )
    y = np.select([X[:, PATRONS] == 0, X[:, PATRONS] == 1], [False, True], if_full)
    return X.astype(float), y


@pytest.mark.parametrize(
    ("formulation", "say"), [("discrete", 0.8473), ("aima", 0.4236), ("symmetric", 0.4236)]
)
def test_say_of_a_learner_with_error_three_tenths(formulation: str, say: float) -> None:
    X = np.repeat([0.0, 1.0], 10)[:, None]
    y = np.repeat([0, 1], 10)
    y[[0, 1, 2, 10, 11, 12]] ^= 1
    model = AdaBoostClassifier(n_estimators=1, formulation=formulation).fit(X, y)
    assert model.estimator_errors_.tolist() == pytest.approx([0.3])
    assert model.estimator_weights_.tolist() == pytest.approx([say], abs=5e-5)


def test_boosting_the_restaurant_is_in_the_band_of_the_book() -> None:
    stump, five, train, many = [], [], [], []
    X_test, y_test = restaurant(0, 4000)
    for seed in range(1, 21):
        X, y = restaurant(seed, 100)
        model = AdaBoostClassifier(n_estimators=137, categorical_features=range(10)).fit(X, y)
        scores = list(model.staged_score(X_test, y_test))
        learned = list(model.staged_score(X, y))
        stump.append(scores[0])
        five.append(scores[min(5, len(scores)) - 1])
        train.append(learned[min(20, len(learned)) - 1])
        many.append(scores[-1])
    # The book does not say how often each value occurs; here all are equally likely.
    assert 0.75 <= np.mean(stump) <= 0.90  # the book: about 80 %
    assert 0.90 <= np.mean(five) <= 0.96  # about 93 %
    assert np.mean(train) >= 0.98  # 100 % of the training rows
    assert 0.93 <= np.mean(many) <= 1.0  # 98 %
