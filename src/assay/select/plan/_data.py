"""The rows, the target and the weights of one search: what a fit may see."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.select.plan._canonical import array_digest, digest


@dataclass(frozen=True, eq=False)
class Data:
    """Rows and what is to be predicted from them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Coded matrix.
    y : ndarray of shape (n_samples,)
        Class codes (int64) or numbers (float64).
    weight : ndarray of shape (n_samples,), optional
        Row weights.
    n_classes : int, optional
        None for numbers.
    source : str, optional
        Digest of where the rows came from; part of every key.
    queries : ndarray of int64 of shape (n_samples,), optional
        Query of each row, of a ranking.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None = None
    n_classes: int | None = None
    source: str | None = None
    queries: NDArray[np.int64] | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all values and of the NumPy version, which may change computed numbers."""
        weight = None if self.weight is None else array_digest(self.weight)
        arrays = [array_digest(self.X), array_digest(self.y), weight]
        if self.queries is not None:
            arrays.append(array_digest(self.queries))
        return digest([self.source, self.n_classes, np.__version__, *arrays])
