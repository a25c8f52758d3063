r"""Kernels: weights K(d) that decrease with the distance d, from 1 at d = 0 to 0, for a width w.

.. math:: \text{quadratic}\quad K(d) = \max\Bigl(0, 1 - \Bigl(\frac{2|d|}{w}\Bigr)^2\Bigr)

The other kernels also reach 0 at d = w/2 (the Gaussian has standard deviation w/4), so that a width
means the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _quadratic(u: Array) -> Array:
    return np.maximum(0.0, 1 - u * u)


def _tricube(u: Array) -> Array:
    base = np.maximum(0.0, 1 - u * u * u)
    return base * base * base


def _triangular(u: Array) -> Array:
    return np.maximum(0.0, 1 - u)


def _uniform(u: Array) -> Array:
    return (u <= 1).astype(np.float64)


def _gaussian(u: Array) -> Array:
    return np.exp(-2 * np.minimum(u, 1e3) ** 2)  # type: ignore[no-any-return]


_PROFILES: dict[str, Callable[[Array], Array]] = {
    "quadratic": _quadratic,
    "epanechnikov": _quadratic,
    "tricube": _tricube,
    "triangular": _triangular,
    "uniform": _uniform,
    "gaussian": _gaussian,
}
KERNELS = tuple(_PROFILES)


def kernel_weights(kernel: str, distance: Array, width: float | Array) -> Array:
    """Return K(d) for a kernel of `KERNELS`.

    Examples
    --------
    >>> kernel_weights("quadratic", np.array([0.0, 2.5, 4.0, 5.0]), 10.0).round(12).tolist()
    [1.0, 0.75, 0.36, 0.0]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = 2 * np.abs(distance) / width
    return _PROFILES[kernel](np.where(np.isnan(u), 0.0, u))  # 0 / 0: the row itself
