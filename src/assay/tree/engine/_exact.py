"""Grow one tree on raw numeric columns: no bins, and four bytes per value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._core import tree as kernels
from assay.tree.engine._bins import MAX_BINS_8, SAMPLE, values_in_sample
from assay.tree.engine._grow import CRITERIA, NO_LIMIT, Grown, GrowOptions, arrays_as_grown


@dataclass(frozen=True)
class Columns:
    """A table of numeric columns without missing values, read in place.

    Parameters
    ----------
    X : ndarray of float64 or float32 of shape (n_samples, n_features)
        C order, all finite.
    """

    X: NDArray[Any]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.X)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def nominal(self) -> NDArray[np.uint8]:
        """All false: no column is nominal."""
        return np.zeros(self.n_features, dtype=np.uint8)

    @property
    def has_missing(self) -> NDArray[np.uint8]:
        """All false: no value is missing."""
        return np.zeros(self.n_features, dtype=np.uint8)

    @property
    def n_levels(self) -> NDArray[np.int32]:
        """All zero: no column has categories."""
        return np.zeros(self.n_features, dtype=np.int32)

    @staticmethod
    def suit(X: NDArray[Any], n_levels: NDArray[np.int32]) -> bool:
        """Return whether a table is better grown without bins.

        That is so if each column has more values in a sample of rows than fit in a byte: codes
        would then take two bytes, plus a table of bin edges. A column of few values is better
        binned.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The table.
        n_levels : ndarray of int32 of shape (n_features,)
            Number of categories of each nominal column, 0 = numeric.
        """
        if len(X) < 2 * SAMPLE or n_levels.any() or (values_in_sample(X) <= MAX_BINS_8).any():
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(X.sum(dtype=np.float64)))


def can_grow_exact(options: GrowOptions) -> bool:
    """Return whether `grow_exact` supports the options."""
    signs = options.monotonic_cst
    return (
        options.splitter == "best"
        and options.criterion != "absolute_error"
        and options.max_leaf_nodes is None
        and (signs is None or not np.any(signs))
        and options.n_trees == 1
        and options.bootstrap == 0
        and options.with_stats
    )


def grow_exact(
    columns: Columns,
    target: NDArray[Any],
    weight: NDArray[np.float64] | None,
    options: GrowOptions,
    n_threads: int = 1,
) -> Grown:
    """Grow one tree, the same as `grow` with one bin per value.

    Parameters
    ----------
    columns : Columns
        The table.
    target : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Class codes, or real values.
    weight : ndarray of float64 of shape (n_samples,), optional
        Positive weights of the rows; all 1 if absent.
    options : GrowOptions
        Limits of the tree; must pass `can_grow_exact`, with all columns tried.
    n_threads : int, default=1
        Threads; the result does not depend on it.
    """
    options.check(columns)
    is_classes = options.task == "classification"
    labels, values = np.empty(0, dtype=np.int32), np.empty((0, 1))
    if is_classes:
        labels = np.ascontiguousarray(target, dtype=np.int32)
    else:
        values = np.ascontiguousarray(target, dtype=np.float64).reshape(columns.n_samples, -1)
    criterion = options.criterion or ("gini" if is_classes else "squared_error")
    arrays = kernels.grow_exact(
        columns.X,
        labels,
        values,
        np.empty(0) if weight is None else np.ascontiguousarray(weight, dtype=np.float64),
        criterion=CRITERIA[options.task][criterion],
        n_classes=options.n_classes if is_classes else 0,
        max_depth=NO_LIMIT if options.max_depth is None else min(options.max_depth, NO_LIMIT),
        min_samples_split=options.min_samples_split,
        min_samples_leaf=options.min_samples_leaf,
        min_weight_fraction_leaf=float(options.min_weight_fraction_leaf),
        min_impurity_decrease=float(options.min_impurity_decrease),
        n_threads=n_threads,
    )
    return arrays_as_grown(arrays, columns.n_levels)
