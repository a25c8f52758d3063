"""Losses: their derivatives, and the 0/1 loss below them."""

from __future__ import annotations

import numpy as np
import pytest

from assay.linear._losses import CURVATURES, LOSSES, REGRESSION_LOSSES, loss_terms

SCORES = np.concatenate([np.linspace(-6.03, 6.01, 40), [-40.0, 40.0]])


def targets(loss: str) -> list[float]:
    return [-1.7, 0.0, 2.2] if loss in REGRESSION_LOSSES else [-1.0, 1.0]


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_pass_finite_differences(loss: str) -> None:
    step = 1e-5
    for target in targets(loss):
        y = np.full_like(SCORES, target)
        _, slope, bend = loss_terms(loss, y, SCORES)
        up, up_slope, _ = loss_terms(loss, y, SCORES + step)
        down, down_slope, _ = loss_terms(loss, y, SCORES - step)
        size = 1 + np.abs(up)
        np.testing.assert_allclose(slope / size, (up - down) / (2 * step) / size, atol=1e-6)
        np.testing.assert_allclose(
            bend / size, (up_slope - down_slope) / (2 * step) / size, atol=1e-6
        )


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "squared_logistic"])
def test_convex_losses_bound_the_zero_one_loss(loss: str) -> None:
    factor = {"logistic": 1 / np.log(2), "squared": 2.0, "huber": 2.0}.get(loss, 1.0)
    for label in (-1.0, 1.0):
        value, _, bend = loss_terms(loss, np.full_like(SCORES, label), SCORES)
        assert (factor * value >= (label * SCORES <= 0) - 1e-12).all()
        assert (bend >= 0).all()


def test_the_squared_logistic_loss_is_not_convex() -> None:
    y = np.ones_like(SCORES)
    assert loss_terms("squared_logistic", y, SCORES)[2].min() < -0.05


def test_the_slope_of_a_logistic_unit_is_that_of_the_book() -> None:
    probability = 1 / (1 + np.exp(-SCORES))
    for label, wanted in ((1.0, 1.0), (-1.0, 0.0)):
        slope = loss_terms("squared_logistic", np.full_like(SCORES, label), SCORES)[1]
        update = (wanted - probability) * probability * (1 - probability)
        np.testing.assert_allclose(-slope, update, atol=1e-15)


@pytest.mark.parametrize("loss", ["squared", "huber", "squared_hinge", "logistic"])
def test_curvatures_are_the_largest_second_derivatives(loss: str) -> None:
    fine = np.linspace(-8, 8, 4001)
    largest = max(loss_terms(loss, np.full_like(fine, y), fine)[2].max() for y in targets(loss))
    assert largest == pytest.approx(CURVATURES[loss], rel=1e-5)
