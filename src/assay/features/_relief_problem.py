"""One scoring by Relief: rows in order of class, targets, weights, and the kernel call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import type_of_target

from assay._core import features as kernels
from assay.base import DataError, as_vector, check_weight, class_codes, real_values
from assay.features._relief_table import Floats, Integers, ReliefTable


@dataclass(frozen=True)
class Problem:
    """Checked training data in order of class.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Numeric values and category codes; without rows of weight 0.
    nominal : ndarray of int64
        Which columns are nominal.
    codes : ndarray of int64 of shape (n_rows,)
        Class codes, ascending; all 0 in a regression.
    target : ndarray of float64 of shape (n_rows,) or None
        Targets of a regression, between 0 and 1.
    weight : ndarray of float64 of shape (n_rows,)
        Weights of the rows.
    """

    rows: NDArray[np.floating]
    nominal: Integers
    codes: Integers
    target: Floats | None
    weight: Floats

    @classmethod
    def of(
        cls,
        rows: NDArray[np.floating],
        y: Any,
        sample_weight: ArrayLike | None,
        task: str,
        nominal: Integers,
    ) -> Problem:
        """Check targets and weights and put the rows in order."""
        weight = check_weight(sample_weight, rows)
        codes, target = _targets(y, task)
        if len(codes) != len(rows):
            raise DataError(
                f"X has {len(rows)} rows but y has {len(codes)}; each row needs one target "
                "(inconsistent numbers of samples)"
            )
        used = np.arange(len(rows)) if weight is None else np.flatnonzero(weight)
        order = used[np.argsort(codes[used], kind="stable")]
        _check_targets(codes[order], None if target is None else target[order])
        if (np.diff(order) != 1).any() or len(order) < len(rows):
            rows = rows[order]
        return cls(
            rows,
            nominal,
            np.unique(codes[order], return_inverse=True)[1].astype(np.int64),
            None if target is None else _scaled(target[order]),
            np.ones(len(order)) if weight is None else weight[order],
        )

    def scores(
        self, columns: Integers, queries: Integers, k: int, sigma: float, n_threads: int
    ) -> Floats:
        """Return the scores of some columns, with distances in these columns only."""
        table = ReliefTable.of(self.rows, self.nominal, self.codes, columns)
        found = np.empty(len(columns))
        described = (
            table.complete,
            table.n_numeric,
            table.gaps,
            table.n_numeric_gaps,
            table.expected,
            table.class_start,
        )
        settings = (self.weight, queries, k, sigma, found, n_threads)
        if self.target is None:
            kernels.relief_classes(*described, *settings)
        else:
            kernels.relief_numbers(*described, self.target, *settings)
        scores = np.empty(len(columns))
        scores[np.searchsorted(columns, table.columns)] = found
        return scores


def _targets(y: Any, task: str) -> tuple[Integers, Floats | None]:
    """Return class codes, and the numbers if it is a regression."""
    values = as_vector(y)
    if task == "auto":
        continuous = type_of_target(values, input_name="y").startswith("continuous")
        task = "regression" if continuous else "classification"
    if task == "classification":
        return class_codes(values)[1], None
    numbers = real_values(values)
    return np.zeros(len(numbers), dtype=np.int64), numbers


def _check_targets(codes: Integers, target: Floats | None) -> None:
    if target is None and codes[0] == codes[-1]:
        raise DataError("y has one class only; Relief needs at least two classes")
    if target is not None and target.min() == target.max():
        raise DataError(
            f"y has one value only, {target[0]:g} (n_samples = {len(target)}); Relief "
            "needs a target that varies"
        )


def _scaled(target: Floats) -> Floats:
    low, high = target.min() / 2, target.max() / 2  # halves: the range could overflow float64
    return np.asarray((target / 2 - low) / (high - low))
