"""The sign of an axis."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.extmath import svd_flip

from assay.decomposition._signs import with_signs


@given(st.integers(0, 10_000))
def test_signs_are_those_of_scikit_learn(seed: int) -> None:
    axes = np.random.default_rng(seed).normal(size=(3, 5))
    np.testing.assert_array_equal(with_signs(axes), svd_flip(None, axes, u_based_decision=False)[1])


def test_rounding_does_not_choose_between_equal_entries() -> None:
    half = np.sqrt(0.5)
    for axes in ([[half, -half]], [[half, -half - 1e-16]], [[-half, half + 2e-16]]):
        assert with_signs(np.array(axes))[0, 0] > 0


def test_no_axes_stay_none() -> None:
    assert with_signs(np.empty((0, 3))).shape == (0, 3)
