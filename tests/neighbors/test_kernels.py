"""Kernels: a worked example, and what all of them have in common."""

from __future__ import annotations

import numpy as np
import pytest

from assay.neighbors._kernels import KERNELS, kernel_weights


def test_quadratic_kernel_has_the_golden_values() -> None:
    found = kernel_weights("quadratic", np.array([0.0, 2.5, 4.0, 5.0]), 10.0)
    np.testing.assert_allclose(found, [1.0, 0.75, 0.36, 0.0], rtol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_fall_from_one_and_ignore_the_sign(kernel: str) -> None:
    d = np.linspace(0, 10, 101)
    weights = kernel_weights(kernel, d, 10.0)
    assert weights[0] == 1.0
    assert (np.diff(weights) <= 0).all()
    assert (weights >= 0).all()
    assert np.array_equal(weights, kernel_weights(kernel, -d, 10.0))
    if kernel != "gaussian":
        assert not weights[d > 5].any()


@pytest.mark.parametrize("kernel", KERNELS)
def test_width_zero_leaves_the_row_itself(kernel: str) -> None:
    assert kernel_weights(kernel, np.array([0.0, 1.0]), 0.0).tolist() == [1.0, 0.0]
