"""A comparison says what the differences on the same blocks prove, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from assay.base import DataError, ParameterError
from assay.linear import Ridge
from assay.neighbors import KNeighborsClassifier
from assay.select import compare

X, Y = load_wine(return_X_y=True)
NEAR = KNeighborsClassifier()
SCALED = make_pipeline(StandardScaler(), NEAR)


def test_figures_are_those_of_the_corrected_test() -> None:
    found = compare(SCALED, NEAR, X, Y, n_blocks=5, repeats=3)
    d = found.differences
    assert d.shape == (15,)
    ratio = np.mean([len(Y) / 5 / (len(Y) * 4 / 5)])
    t = d.mean() / np.sqrt((1 / 15 + ratio) * d.var(ddof=1))
    # Blocks of 35 and 36 rows: their ratio to the rest is 1/4 but for the third digit.
    # Three partitions of the same rows: 3 x (5 - 1) degrees of freedom.
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), 12), rel=0.05)
    half = stats.t.ppf(0.975, 12) * d.mean() / t
    assert found.gain.high - found.gain.low == pytest.approx(2 * half, rel=0.003)
    assert found.gain.value == pytest.approx(found.a.value - found.b.value, abs=1e-12)
    assert found.a_better + found.equal + found.b_better == pytest.approx(1.0, abs=1e-12)
    assert found.verdict == "a"


def test_both_orders_tell_the_same() -> None:
    one, other = compare(SCALED, NEAR, X, Y), compare(NEAR, SCALED, X, Y)
    assert np.array_equal(one.differences, -other.differences)
    assert other.verdict == "b"
    assert one.p_value == pytest.approx(other.p_value, abs=1e-12)
    assert one.a_better == pytest.approx(other.b_better, abs=1e-12)


def test_a_loss_is_told_in_its_sign_and_a_gain_as_a_gain() -> None:
    data = load_diabetes(return_X_y=True)
    found = compare(
        LinearRegression(), Ridge(100.0), *data, scoring="neg_mean_squared_error", rope=10.0
    )
    assert 0 < found.a.value < found.b.value
    assert found.gain.value > 0
    assert found.verdict == "a"
    assert found.a_better > 0.95


def test_equal_models_do_not_differ() -> None:
    found = compare(NEAR, KNeighborsClassifier(5), X, Y)
    assert (found.p_value, found.equal, found.verdict) == (1.0, 1.0, "neither")


def test_models_that_guess_are_rarely_told_apart() -> None:
    wrong = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        rows, labels = random.normal(size=(60, 3)), random.integers(0, 2, 60)
        one, other = KNeighborsClassifier(1), KNeighborsClassifier(15)
        wrong += compare(one, other, rows, labels, repeats=2, seed=seed).verdict != "neither"
    # 5 % of 60 is 3; 8 or more has probability 0.01 if the test keeps its level.
    assert wrong < 8


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"b": Ridge()}, ParameterError, "a and b must both be classifiers or both be regressors"),
        ({"rope": -1.0}, ParameterError, "rope must be"),
        ({"repeats": 0}, ParameterError, "repeats must be"),
        ({"n_blocks": 2}, ParameterError, "n_blocks must be"),
        (
            {"b": DummyClassifier(strategy="constant", constant=9)},
            DataError,
            "b has no score on some blocks",
        ),
    ],
)
def test_bad_input_is_named(arguments: dict[str, Any], error: Any, message: str) -> None:
    given: dict[str, Any] = {"a": NEAR, "b": SCALED, **arguments}
    with pytest.raises(error, match=message):
        compare(X=X, y=Y, **given)
