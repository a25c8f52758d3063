"""Weights of a mean of models: SciPy as the oracle, and what they may never be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from assay.base import DataError, ParameterError
from assay.ensemble import convex_weights

Floats = NDArray[np.float64]


def loss_of(
    weights: Floats, outputs: Floats, target: Floats | None, share: Floats, ridge: float
) -> float:
    """The objective, written down directly."""
    away = float(((weights - 1 / len(weights)) ** 2).sum())
    if target is None:
        shares = np.maximum(outputs, 1e-6) @ weights
        return float(-(share * np.log(shares)).sum() + ridge / 2 * away)
    errors = (outputs @ weights - target) ** 2
    return float((share * errors).sum() / 2 + ridge / 2 * away)


def by_scipy(outputs: Floats, target: Floats | None, share: Floats, ridge: float) -> float:
    count = outputs.shape[1]
    found = minimize(
        loss_of,
        np.full(count, 1 / count),
        args=(outputs, target, share, ridge),
        method="SLSQP",
        bounds=[(0.0, 1.0)] * count,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return float(found.fun)


@given(seed=st.integers(0, 10_000), ridge=st.sampled_from([0.0, 0.01, 1.0]), log=st.booleans())
def test_convex_weights_reach_the_optimum_of_scipy(seed: int, ridge: float, log: bool) -> None:
    random = np.random.default_rng(seed)
    n, count = int(random.integers(3, 80)), int(random.integers(2, 8))
    outputs = random.normal(size=(n, count))
    if seed % 3 == 0:
        outputs[:, 1] = outputs[:, 0]  # two models that say the same
    share = random.uniform(0.1, 1.0, size=n)
    target: Any = None
    if log:
        outputs = 1 / (1 + np.exp(-outputs))
    else:
        target = outputs @ random.dirichlet(np.ones(count)) + random.normal(size=n)
    weights = convex_weights(
        outputs, target, loss="log" if log else "squared", sample_weight=share, ridge=ridge
    )
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    best = by_scipy(outputs, target, share / share.sum(), ridge)
    assert loss_of(weights, outputs, target, share / share.sum(), ridge) <= best + 1e-9


@given(seed=st.integers(0, 10_000), log=st.booleans())
def test_convex_weights_follow_the_order_of_the_models(seed: int, log: bool) -> None:
    random = np.random.default_rng(seed)
    outputs = random.uniform(0.05, 0.95, size=(40, 4))
    target = None if log else random.uniform(size=40)
    loss = "log" if log else "squared"
    order = random.permutation(4)
    plain = convex_weights(outputs, target, loss=loss, ridge=0.1)
    np.testing.assert_allclose(
        convex_weights(outputs[:, order], target, loss=loss, ridge=0.1), plain[order], atol=1e-7
    )


def test_rows_twice_are_rows_of_weight_two() -> None:
    random = np.random.default_rng(0)
    outputs, target = random.normal(size=(30, 3)), random.normal(size=30)
    twice = np.repeat(np.arange(30), np.where(np.arange(30) < 10, 2, 1))
    np.testing.assert_allclose(
        convex_weights(outputs, target, sample_weight=np.where(np.arange(30) < 10, 2.0, 1.0)),
        convex_weights(outputs[twice], target[twice]),
        atol=1e-9,
    )


def test_one_model_has_all_the_weight() -> None:
    assert convex_weights([[0.2], [0.3]], loss="log").tolist() == [1.0]


def test_equal_models_share_equally() -> None:
    outputs = np.repeat(np.linspace(0.1, 0.9, 9)[:, None], 3, axis=1)
    np.testing.assert_allclose(convex_weights(outputs, loss="log", ridge=0.1), 1 / 3, atol=1e-9)


def test_a_share_of_zero_does_not_bar_a_good_model() -> None:
    shares = np.column_stack([np.r_[np.full(99, 0.9), 0.0], np.full(100, 0.5)])
    assert convex_weights(shares, loss="log")[0] > 0.8


def test_convex_weights_refuse_what_they_cannot_use() -> None:
    with pytest.raises(DataError, match=r"outputs must be finite"):
        convex_weights([[np.nan, 1.0]], [1.0])
    with pytest.raises(DataError, match=r"target is needed for loss='squared'"):
        convex_weights([[1.0, 2.0]])
    with pytest.raises(DataError, match=r"sample_weight must have one value per row"):
        convex_weights([[1.0, 2.0]], [1.0], sample_weight=[0.0])
    with pytest.raises(DataError, match=r"outputs must have at least one row and one column"):
        convex_weights(np.empty((0, 2)), [])
    with pytest.raises(DataError, match=r"target must have shape \(1,\); got \(2,\)"):
        convex_weights([[1.0, 2.0]], [1.0, 2.0])
    with pytest.raises(ParameterError, match=r"loss must be"):
        convex_weights([[1.0, 2.0]], [1.0], loss="hinge")
