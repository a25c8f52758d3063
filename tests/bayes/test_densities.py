"""Kernel densities per class, against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from assay.bayes._densities import Densities


def sample(n: int = 120) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    return rng.normal(size=n), rng.integers(0, 2, n).astype(np.int32), rng.random(n) + 0.1


@pytest.mark.parametrize("rule", ["scott", "silverman", 0.4])
@pytest.mark.parametrize("weighted", [False, True])
def test_densities_equal_scipy(rule: str | float, weighted: bool) -> None:
    x, y, w = sample()
    kept = Densities.of(x[:, None], y, w if weighted else None, 2)
    widths = kept.bandwidths(rule, 0.0)
    asked = np.linspace(-4.0, 4.0, 23)
    found = kept.log_density(0, asked, widths)
    for c in (0, 1):
        mine = y == c
        peer = gaussian_kde(x[mine], rule, weights=w[mine] if weighted else None)
        np.testing.assert_allclose(found[:, c], np.log(peer(asked)), rtol=1e-10, atol=1e-12)


def test_values_in_two_batches_are_values_in_one() -> None:
    x, y, w = sample()
    x = x.round(1)  # ties
    rows = np.column_stack([x, -x])
    whole = Densities.of(rows, y, w, 2)
    parts = Densities.of(rows[:50], y[:50], w[:50], 2).plus(
        Densities.of(rows[50:], y[50:], w[50:], 2)
    )
    assert np.array_equal(whole.points, parts.points)
    assert np.array_equal(whole.offsets, parts.offsets)
    np.testing.assert_allclose(whole.weights, parts.weights, rtol=1e-14)
    np.testing.assert_allclose(whole.squares, parts.squares, rtol=1e-14)


def test_far_values_keep_their_order() -> None:
    kept = Densities.of(np.array([[0.0], [1.0]]), np.array([0, 1], dtype=np.int32), None, 2)
    widths = np.full((1, 2), 0.01)
    found = kept.log_density(0, np.array([1e4, np.nan]), widths)
    assert found[0, 1] > found[0, 0] > -np.inf
    assert found[1].tolist() == [0.0, 0.0]


def test_a_class_without_values_has_the_density_of_all() -> None:
    x = np.array([[0.0], [2.0], [np.nan]])
    kept = Densities.of(x, np.array([0, 0, 1], dtype=np.int32), None, 2)
    widths = kept.bandwidths(1.0, 0.0)
    found = kept.log_density(0, np.array([0.5]), widths)
    assert found[0, 0] == found[0, 1]
