"""Tables for the tests of projections."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def correlated(n: int, d: int, seed: int = 0, shift: float = 3.0) -> Matrix:
    """Rows with variances that fall from column to column, mixed; far from the origin."""
    rng = np.random.default_rng(seed)
    mixing = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.geomspace(3.0, 0.3, d)
    return rng.normal(size=(n, d)) @ mixing.T + shift


def classes(
    n: int, d: int, n_classes: int, seed: int = 0, apart: float = 1.0
) -> tuple[Matrix, NDArray[np.int64]]:
    """Normal classes of unequal sizes with one covariance."""
    rng = np.random.default_rng(seed)
    shares = np.arange(1, n_classes + 1) / sum(range(1, n_classes + 1))
    y = rng.choice(n_classes, size=n, p=shares)
    y[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    centres = apart * rng.normal(size=(n_classes, d))
    return correlated(n, d, seed + 1) + centres[y], y.astype(np.int64)
