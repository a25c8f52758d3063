"""Class sums for training sets that leave out blocks of rows, by subtraction.

The sums of all rows and of each block are computed once, on first use; those of a training set are
the difference. Where the difference is small, or its scatter nearly singular, precision would be
lost; then None is returned and the rows themselves are summed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from assay.decomposition._class_scatter import Matrix, Sums, class_sums
from assay.decomposition._exact_blas import one_blas_thread

Rows = NDArray[np.integer[Any]]
#: Minimum fraction of the weight of each class and of the scatter of each column that must remain.
LEFT = 0.1
#: Minimum eigenvalue of the correlations within classes, as a fraction of the largest.
SOUND = 1e-4


class BlockSums:
    """The sums of a table and of blocks of its rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    """

    def __init__(self, X: NDArray[Any]) -> None:
        known = X.dtype in (np.float32, np.float64)
        self.X = np.ascontiguousarray(X, dtype=X.dtype if known else np.float64)
        self._lock = threading.Lock()
        self._known: dict[bytes, Sums] = {}
        self._of: tuple[Any, Any] | None = None

    def without(
        self,
        y: NDArray[Any],
        weight: Matrix | None,
        train: Rows,
        tests: Sequence[Rows],
        n_threads: int,
    ) -> Sums | None:
        """Return the sums of the training rows, or None where they must be summed from the rows.

        Parameters
        ----------
        y : ndarray of int of shape (n_samples,)
            Class codes of all rows.
        weight : ndarray of shape (n_samples,) or None
            Weights of all rows.
        train : ndarray of int
            The training rows.
        tests : sequence of ndarray of int
            The blocks that are left out.
        n_threads : int
            Threads; the result does not depend on it.

        Returns
        -------
        Sums or None
        """
        if not _divides(len(self.X), train, tests):
            return None
        n_classes = int(y.max()) + 1
        with self._lock:
            if self._of is None or not _same((y, weight), self._of):
                self._known, self._of = {}, (y, weight)
            whole = self._sums(None, y, weight, n_classes, n_threads)
            parts = [self._sums(test, y, weight, n_classes, n_threads) for test in tests]
        present = np.bincount(y[train], minlength=n_classes) > 0
        return _difference(whole, _together(parts), present)

    def _sums(
        self,
        rows: Rows | None,
        y: NDArray[Any],
        weight: Matrix | None,
        n_classes: int,
        n_threads: int,
    ) -> Sums:
        key = b"" if rows is None else np.asarray(rows, dtype=np.int64).tobytes()
        if key not in self._known:
            chosen: Any = slice(None) if rows is None else rows
            present, codes = np.unique(y[chosen], return_inverse=True)
            given = None if weight is None else weight[chosen]
            table = self.X if rows is None else self.X[rows]
            found = class_sums(
                table, codes.astype(np.int64, copy=False), given, len(present), n_threads
            )
            totals, means = np.zeros(n_classes), np.zeros((n_classes, self.X.shape[1]))
            totals[present], means[present] = found.totals, found.means
            self._known[key] = Sums(totals, means, found.within)
        return self._known[key]


def _same(now: tuple[Any, Any], before: tuple[Any, Any]) -> bool:
    """Return whether targets and weights are those of the stored sums."""
    return all(
        a is b or (a is not None and b is not None and np.array_equal(a, b))
        for a, b in zip(now, before, strict=True)
    )


def _divides(n_rows: int, train: Rows, tests: Sequence[Rows]) -> bool:
    """Return whether training and test rows together are all rows, each once."""
    every = np.concatenate([train, *tests])
    return len(every) == n_rows and bool((np.bincount(every, minlength=n_rows) == 1).all())


def _together(parts: Sequence[Sums]) -> Sums:
    """Return the sums of blocks that have no row in common."""
    found = parts[0]
    for part in parts[1:]:
        totals = found.totals + part.totals
        share = np.divide(part.totals, totals, out=np.zeros_like(totals), where=totals > 0)
        gap = part.means - found.means
        means = found.means + share[:, None] * gap
        within = found.within + part.within + _between(found.totals * share, gap)
        found = Sums(totals, means, within)
    return found


def _difference(whole: Sums, part: Sums, present: NDArray[np.bool_]) -> Sums | None:
    """Return the sums of the rows that are not in the part."""
    totals = whole.totals - part.totals
    if not present.all() or (totals < LEFT * whole.totals).any():
        return None
    means = whole.means + (part.totals / totals)[:, None] * (whole.means - part.means)
    share = part.totals * (totals / whole.totals)
    within = whole.within - part.within - _between(share, means - part.means)
    left, before = np.diagonal(within), np.diagonal(whole.within)
    if (left <= LEFT * before).any():
        return None
    scale = np.sqrt(left)
    with one_blas_thread():
        values = linalg.eigvalsh(within / np.outer(scale, scale), check_finite=False)
    if values[0] < SOUND * values[-1]:
        return None
    return Sums(totals, means, within)


def _between(weights: Matrix, gaps: Matrix) -> Matrix:
    return (gaps.T * weights) @ gaps
