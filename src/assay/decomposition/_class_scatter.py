"""Means and scatter of classes: all that linear discriminant analysis needs from a table."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._core import decomposition as kernels

Matrix = NDArray[np.float64]
Codes = NDArray[np.int64]
_NONE = np.empty(0)
_ALL = np.empty(0, dtype=np.int64)


class Sums(NamedTuple):
    """Weight and mean of each class, and the scatter within classes."""

    totals: Matrix
    means: Matrix
    within: Matrix


def class_sums(
    X: NDArray[Any], codes: Codes, weight: Matrix | None, n_classes: int, n_threads: int
) -> Sums:
    """Return the sums of a table, in two passes without a copy.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    codes : ndarray of int64 of shape (n_samples,)
        Their classes; each occurs.
    weight : ndarray of shape (n_samples,) or None
        Their weights.
    n_classes : int
        Number of classes.
    n_threads : int
        Threads; the result does not depend on it.

    Returns
    -------
    Sums
    """
    given = _NONE if weight is None else weight
    totals, means = np.empty(n_classes), np.empty((n_classes, X.shape[1]))
    kernels.class_means(X, codes, given, totals, means, n_threads)
    return Sums(totals, means, scatter(X, _ALL, codes, weight, means, n_threads))


def scatter(
    X: NDArray[Any], rows: Codes, codes: Codes, weight: Matrix | None, means: Matrix, n_threads: int
) -> Matrix:
    """Return the scatter of the given rows (None: all) about the means of their classes."""
    out = np.empty((X.shape[1], X.shape[1]))
    given = _NONE if weight is None else weight
    kernels.class_scatter(X, rows, codes, given, np.ascontiguousarray(means), out, n_threads)
    return out


class Classes:
    """A table with classes, and the sums that several fits on it can share, computed on first use.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    codes : ndarray of int64 of shape (n_samples,)
        Their classes; each occurs.
    weight : ndarray of shape (n_samples,) or None
        Their weights, all positive.
    n_classes : int
        Number of classes.
    n_threads : int
        Threads; the result does not depend on it.
    sums : Sums, optional
        The class sums, if already known.
    """

    def __init__(
        self,
        X: NDArray[Any],
        codes: Codes,
        weight: Matrix | None,
        n_classes: int,
        n_threads: int,
        sums: Sums | None = None,
    ) -> None:
        self.X, self.codes, self.weight, self.n_threads = X, codes, weight, n_threads
        self.sums = sums or class_sums(X, codes, weight, n_classes, n_threads)
        self._automatic: dict[bytes, Matrix] = {}

    @property
    def total(self) -> float:
        """Sum of all weights."""
        return float(self.sums.totals.sum())

    @property
    def shares(self) -> Matrix:
        """Each class's share of the weight."""
        return self.sums.totals / self.total

    @cached_property
    def centre(self) -> Matrix:
        """Mean of all rows."""
        return self.shares @ self.sums.means

    @cached_property
    def overall(self) -> Matrix:
        """Covariance of all rows, within and between classes together."""
        apart = self.sums.means - self.centre
        return (self.sums.within / self.total) + (apart.T * self.shares) @ apart

    def within(self, priors: Matrix, shrinkage: float | str | None) -> Matrix:
        """Return the covariance within classes, weighted by the priors, with shrinkage."""
        if shrinkage == "auto":
            key = priors.tobytes()
            if key not in self._automatic:
                self._automatic[key] = self._within_automatic(priors)
            return self._automatic[key]
        return shrunken(self._within(priors), shrinkage)

    def total_covariance(self, shrinkage: float | str | None) -> Matrix:
        """Return the covariance of all rows, with shrinkage."""
        if shrinkage == "auto":
            return self._overall_automatic
        return shrunken(self.overall, shrinkage)

    def centred(self) -> Matrix:
        """Return the rows minus the means of their classes, times the roots of their weights."""
        rows = self.X - self.sums.means[self.codes]
        if self.weight is not None:
            rows *= np.sqrt(self.weight)[:, None]
        return rows

    def _within(self, priors: Matrix) -> Matrix:
        if np.array_equal(priors, self.shares):
            return self.sums.within / self.total
        # Other priors reweight the rows of each class.
        scale = (priors / self.sums.totals)[self.codes]
        weight = scale if self.weight is None else scale * self.weight
        return scatter(self.X, _ALL, self.codes, weight, self.sums.means, self.n_threads)

    def _within_automatic(self, priors: Matrix) -> Matrix:
        order = np.argsort(self.codes, kind="stable")
        ends = np.cumsum(np.bincount(self.codes))[:-1]
        found = np.zeros_like(self.sums.within)
        for k, rows in enumerate(np.split(order, ends)):
            products = scatter(
                self.X, rows, self.codes, self.weight, self.sums.means, self.n_threads
            )
            found += priors[k] * self._ledoit_wolf(products, rows, self.sums.means[k])
        return found

    @cached_property
    def _overall_automatic(self) -> Matrix:
        everyone = np.arange(len(self.X))
        return self._ledoit_wolf(self.overall * self.total, everyone, self.centre)

    def _ledoit_wolf(self, products: Matrix, rows: Codes, mean: Matrix) -> Matrix:
        weight = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        return ledoit_wolf(self.X, rows, weight, mean, products)


def shrunken(covariance: Matrix, shrinkage: float | str | None) -> Matrix:
    """Return (1 - s) C + s t I, with t the mean of C's diagonal."""
    if shrinkage is None:
        return covariance
    share = float(shrinkage)
    found = (1 - share) * covariance
    found.flat[:: len(found) + 1] += share * np.trace(covariance) / len(covariance)
    return found


def ledoit_wolf(
    X: NDArray[Any], rows: Codes, weight: Matrix, mean: Matrix, products: Matrix
) -> Matrix:
    r"""Return the covariance of rows, with the shrinkage of least expected error.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The table.
    rows : ndarray of int64
        The rows to use.
    weight : ndarray of shape (len(rows),)
        Their weights.
    mean : ndarray of shape (n_features,)
        Their mean.
    products : ndarray of shape (n_features, n_features)
        Their scatter about it.

    Returns
    -------
    ndarray of shape (n_features, n_features)

    Notes
    -----
    Columns are scaled to unit variance first. With R their correlations and z a scaled row,

    .. math:: s = \frac{\frac{1}{n} \left(\frac{1}{n} \sum_i \|z_i\|^4 - \|R\|^2\right)}
              {\|R - \mu I\|^2}, \qquad \mu = \frac{1}{d}\,\mathrm{tr}\,R

    (at most 1), and the covariance is that of (1 - s) R + s μ I. Ledoit and Wolf, A
    well-conditioned estimator for large-dimensional covariance matrices (2004). O(nd) beyond the
    products.
    """
    total, d = float(weight.sum()), len(mean)
    scale = np.sqrt(np.diagonal(products) / total)
    scale[scale == 0] = 1.0
    correlation = products / total / np.outer(scale, scale)
    level = float(np.trace(correlation)) / d
    square = float(np.sum(correlation**2))
    fourth = 0.0
    for first in range(0, len(rows), 2048):
        part = slice(first, first + 2048)
        length = np.sum(((X[rows[part]] - mean) / scale) ** 2, axis=1)
        fourth += float(np.sum(weight[part] * length**2))
    apart = square - d * level**2  # |R - level I|^2
    error = min((fourth / total - square) / total, apart)
    share = 0.0 if d == 1 or error <= 0 else error / apart
    return np.asarray(shrunken(correlation, share) * np.outer(scale, scale))
