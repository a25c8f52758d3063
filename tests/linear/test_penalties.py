"""Penalties by name have the values of their formulas."""

from __future__ import annotations

import numpy as np
import pytest

from assay.linear._penalties import Penalty

W = np.array([1.5, -2.0, 0.0, 0.25])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (None, 0.0),
        ("l1", 0.3 * 3.75),
        ("l2", 0.15 * (W @ W)),
        ("elasticnet", 0.3 * (0.2 * 3.75 + 0.4 * (W @ W))),
        ("lp", 0.1 * (np.abs(W) ** 3).sum()),
        ("norm", 0.3 * (np.abs(W) ** 3).sum() ** (1 / 3)),
    ],
)
def test_penalties_have_the_values_of_their_formulas(name: str | None, expected: float) -> None:
    assert Penalty.of(name, 0.3, 0.2, 3.0).value(W) == pytest.approx(expected, rel=1e-14)
