"""Kernel densities of columns, one for each class: stored values, bandwidths, evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._core import cluster as kernels

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Densities:
    """The values of some columns, sorted, per column and class.

    Parameters
    ----------
    points : ndarray of float64
        Distinct values of class 0 in the first column, then of class 1, and so on.
    weights : ndarray of float64
        Weight of each value.
    offsets : ndarray of int64 of shape (n_columns * n_classes + 1,)
        Start of the values of each column and class.
    squares : ndarray of float64 of shape (n_columns, n_classes)
        Sums of squared row weights, for the effective number of rows.
    """

    points: Array
    weights: Array
    offsets: NDArray[np.int64]
    squares: Array

    @classmethod
    def of(
        cls, rows: NDArray[Any], codes: NDArray[np.int32], weight: Array | None, n_classes: int
    ) -> Densities:
        """Collect the values of all columns.

        Examples
        --------
        >>> rows, codes = np.array([[2.0], [1.0], [2.0]]), np.zeros(3, dtype=np.int32)
        >>> kept = Densities.of(rows, codes, None, 1)
        >>> kept.points.tolist(), kept.weights.tolist()
        ([1.0, 2.0], [1.0, 2.0])
        """
        own = np.ones(len(rows)) if weight is None else weight
        cells, squares = [], np.zeros((rows.shape[1], n_classes))
        for j in range(rows.shape[1]):
            column = rows[:, j].astype(np.float64)
            for c in range(n_classes):
                mine = (codes == c) & ~np.isnan(column) & (own > 0)
                cells.append(_merged(column[mine], own[mine]))
                squares[j, c] = (own[mine] ** 2).sum()
        return cls._joined(cells, squares)

    @classmethod
    def _joined(cls, cells: list[tuple[Array, Array]], squares: Array) -> Densities:
        offsets = np.cumsum([0, *(len(points) for points, _ in cells)]).astype(np.int64)
        points = np.concatenate([np.empty(0), *(points for points, _ in cells)])
        weights = np.concatenate([np.empty(0), *(weights for _, weights in cells)])
        return cls(points, weights, offsets, squares)

    def plus(self, other: Densities) -> Densities:
        """Return the values of both sets of rows."""
        cells = []
        for cell in range(len(self.offsets) - 1):
            mine, theirs = self._cell(cell), other._cell(cell)
            both = (np.concatenate(pair) for pair in zip(mine, theirs, strict=True))
            cells.append(_merged(*both))
        return self._joined(cells, self.squares + other.squares)

    def bandwidths(self, rule: str | float, epsilon: float) -> Array:
        """Return the bandwidths, per column and class.

        The square is that of ``factor * deviation``, plus `epsilon`; 0 if there is no value.
        """
        n_columns, n_classes = self.squares.shape
        widths = np.zeros((n_columns, n_classes))
        for j in range(n_columns):
            for c in range(n_classes):
                points, weights, squares = self._density(j, c)
                if not len(points):
                    continue
                total = weights.sum()
                n_eff = total**2 / squares
                mean = (weights * points).sum() / total
                spread = (weights * (points - mean) ** 2).sum()
                unbiased = total - squares / total
                variance = spread / unbiased if unbiased > 0 else 0.0
                widths[j, c] = np.sqrt(_factor(rule, n_eff) ** 2 * variance + epsilon)
        return widths

    def log_density(self, column: int, values: Array, widths: Array, n_threads: int = 1) -> Array:
        """Return the log density of a column for each class; a missing value adds nothing."""
        n_classes = self.squares.shape[1]
        out = np.zeros((len(values), n_classes))
        known = np.flatnonzero(~np.isnan(values))
        for c in range(n_classes):
            points, weights, _ = self._density(column, c)
            if len(points) and len(known):
                width = widths[column, c]
                out[known, c] = _log_sums(values[known], points, weights, width, n_threads)
        return out

    def _cell(self, cell: int) -> tuple[Array, Array]:
        part = slice(self.offsets[cell], self.offsets[cell + 1])
        return self.points[part], self.weights[part]

    def _density(self, column: int, c: int) -> tuple[Array, Array, float]:
        """Return points, weights and squared weights; of all classes if the class has none."""
        n_classes = self.squares.shape[1]
        first = column * n_classes
        points, weights = self._cell(first + c)
        if len(points):
            return points, weights, float(self.squares[column, c])
        part = slice(self.offsets[first], self.offsets[first + n_classes])
        return self.points[part], self.weights[part], float(self.squares[column].sum())


def _merged(points: Array, weights: Array) -> tuple[Array, Array]:
    distinct, inverse = np.unique(points, return_inverse=True)
    total = np.bincount(inverse, weights=weights, minlength=len(distinct))
    return distinct, total.astype(np.float64, copy=False)


def _factor(rule: str | float, n_eff: float) -> float:
    if rule == "scott":
        return float(n_eff ** (-1 / 5))
    if rule == "silverman":
        return float((0.75 * n_eff) ** (-1 / 5))
    return float(rule)


def _log_sums(values: Array, points: Array, weights: Array, width: float, n_threads: int) -> Array:
    """Return the log of the mean kernel around the points, at each value."""
    out = np.empty(len(values))
    kernels.kernel_sums(values, points, weights, float(width), out, n_threads)
    out -= np.log(weights.sum()) + np.log(width) + 0.5 * np.log(2 * np.pi)
    return out
