"""Sums of powers per class and column, precise enough to subtract subsets of rows.

Each sum is a pair high + low of doubles (106 bits). So the sums of a training set can be computed
as those of the whole table minus those of the rows held out, and a variance from the sum of
squares, without the loss of precision that both would have in plain doubles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._core import cluster as kernels

Array = NDArray[np.float64]

#: Squared deviations below this share of the sum of squares, per row, are rounding errors.
ROUNDING = 2.0**-102

#: Larger sums would overflow when they are squared or split into halves.
LARGEST = 1e140


@dataclass(frozen=True)
class Sums:
    """Weight of the values, their sum and the sum of their squares, per class and column.

    Parameters
    ----------
    parts : ndarray of float64 of shape (5, n_classes, n_columns)
        Weight; sum, high and low part; sum of squares, high and low part.
    """

    parts: Array

    @classmethod
    def of(
        cls,
        rows: NDArray[Any],
        codes: NDArray[np.int32],
        weight: Array | None,
        n_classes: int,
        n_threads: int = 1,
    ) -> Sums:
        """Sum over rows; a missing value adds nothing.

        Examples
        --------
        >>> rows = np.array([[1.0, 5.0], [3.0, np.nan]])
        >>> Sums.of(rows, np.zeros(2, dtype=np.int32), None, 1).mean.tolist()
        [[2.0, 5.0]]
        """
        parts = np.zeros((5, n_classes * rows.shape[1]))
        if len(rows):
            none = np.empty(0)
            kernels.class_sums(
                rows, codes, none if weight is None else weight, n_classes, parts, n_threads
            )
        return cls(parts.reshape(5, n_classes, -1))

    def plus(self, other: Sums, sign: float = 1.0) -> Sums:
        """Return the sums over both sets of rows; with sign -1, over the rows not in `other`."""
        mine, theirs = self.parts, sign * other.parts
        parts = np.empty_like(mine)
        parts[0] = mine[0] + theirs[0]
        for at in (1, 3):
            parts[at], parts[at + 1] = _add((mine[at], mine[at + 1]), (theirs[at], theirs[at + 1]))
        return Sums(parts)

    def columns(self, chosen: NDArray[np.int64]) -> Sums:
        """Return the sums of some columns."""
        return Sums(np.ascontiguousarray(self.parts[:, :, chosen]))

    def classes(self, chosen: NDArray[Any]) -> Sums:
        """Return the sums of some classes."""
        return Sums(np.ascontiguousarray(self.parts[:, chosen]))

    def pooled(self) -> Sums:
        """Return the sums over all classes."""
        whole = Sums(self.parts[:, :1])
        for c in range(1, self.parts.shape[1]):
            whole = whole.plus(Sums(self.parts[:, c : c + 1]))
        return whole

    @property
    def sound(self) -> bool:
        """Whether all sums are far enough from overflow."""
        return bool((np.abs(self.parts) < LARGEST).all())

    @property
    def count(self) -> Array:
        """Total weight of the values."""
        return np.asarray(self.parts[0])

    @property
    def mean(self) -> Array:
        """Mean of the values; 0 if there is none."""
        return np.asarray((self.parts[1] + self.parts[2]) / self._weights())

    @property
    def variance(self) -> Array:
        """Variance of the values (divided by their weight); 0 if there is none."""
        return np.asarray(self.deviations() / self._weights())

    def deviations(self) -> Array:
        """Return the sums of squared deviations from the mean."""
        count = self._weights()
        one, two = (self.parts[1], self.parts[2]), (self.parts[3], self.parts[4])
        square, error = _product(one[0], one[0])
        error = error + 2.0 * (one[0] * one[1])
        ratio = square / count
        back, lost = _product(ratio, count)
        rest = (((square - back) - lost) + error) / count
        high, low = _add(two, (-ratio, -rest))
        found = high + low
        return np.where(found > ROUNDING * (count + 2.0) * np.abs(two[0]), found, 0.0)

    def _weights(self) -> Array:
        return np.where(self.count > 0, self.count, 1.0)


def _add(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    total = a[0] + b[0]
    part = total - a[0]
    error = (a[0] - (total - part)) + (b[0] - part)
    low = error + (a[1] + b[1])
    high = total + low
    return high, low - (high - total)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a b as a rounded product and its error (Dekker)."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(a: Array) -> tuple[Array, Array]:
    wide = a * 134217729.0
    high = wide - (wide - a)
    return high, a - high
