"""Polynomial kernels are inner products of feature maps: worked examples."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.svm.engine import Kernel

numbers = st.floats(-10, 10, allow_subnormal=False)
pairs = st.tuples(numbers, numbers)


def inhomogeneous(x: tuple[float, float]) -> NDArray[np.float64]:
    """The map of (1 + x.z)^2: 1, x1^2, sqrt2 x1 x2, x2^2, sqrt2 x1, sqrt2 x2."""
    a, b = x
    root = math.sqrt(2)
    return np.array([1, a * a, root * a * b, b * b, root * a, root * b])


def homogeneous(x: tuple[float, float]) -> NDArray[np.float64]:
    """The map of (x.z)^2: x1^2, x2^2, sqrt2 x1 x2."""
    a, b = x
    return np.array([a * a, b * b, math.sqrt(2) * a * b])


@given(x=pairs, z=pairs)
def test_inhomogeneous_kernel_is_its_feature_map(
    x: tuple[float, float], z: tuple[float, float]
) -> None:
    kernel = Kernel("poly", gamma=1.0, coef0=1.0, degree=2)
    value = kernel.matrix(np.array([x]), np.array([z]))[0, 0]
    np.testing.assert_allclose(value, inhomogeneous(x) @ inhomogeneous(z), rtol=1e-12, atol=1e-9)


@given(x=pairs, z=pairs)
def test_homogeneous_kernel_is_its_feature_map(
    x: tuple[float, float], z: tuple[float, float]
) -> None:
    kernel = Kernel("poly", gamma=1.0, coef0=0.0, degree=2)
    value = kernel.matrix(np.array([x]), np.array([z]))[0, 0]
    np.testing.assert_allclose(value, homogeneous(x) @ homogeneous(z), rtol=1e-12, atol=1e-9)
