r"""The mixed (Gower) distance of numeric, ordinal and nominal columns, and the Hamming distance.

.. math:: d(a, b) = \frac{\sum_j w_j \delta_j(a, b)\, t_j(a, b)}{\sum_j w_j \delta_j(a, b)}

:math:`\delta_j` is 1 where both rows have a value in column j, else 0 (Gower 1971): a missing value
is skipped, and the weights of the other columns are rescaled. The term :math:`t_j` of a column is

- numeric: :math:`|a_j - b_j|` divided by the range of the column in the training rows (0 for a
  constant column); larger than 1 for a row outside that range;
- ordinal: the same for ranks, 0..L-1 among the distinct training values; a new value has the rank
  half-way between its neighbours;
- nominal: 0 for equal categories, else 1; or :math:`1 - f_j(a_j, b_j)` with a table of
  similarities.

Rows without a common known column have distance 1. With only nominal columns this is the Hamming
distance, the share of columns that differ. It is not a metric (missing values break the triangle
inequality), and the search does not need one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import ParameterError, did_you_mean
from assay.neighbors._metric import MetricPlan, column_weights

#: Kinds of columns, with their numbers in the engine.
NUMERIC, NOMINAL, TABLE = 0, 1, 2


@dataclass(frozen=True)
class MixedSpace:
    """Rows as codes: numeric columns in weighted units of their range, nominal ones as codes.

    Attributes
    ----------
    kinds : ndarray of int64 of shape (n_columns,)
        0 numeric, 1 nominal, 2 nominal with a table.
    weights : ndarray of float64 of shape (n_columns,)
        The weight of each column.
    tables, starts, sizes : ndarray
        The tables one after another, each (L + 1) x (L + 1) of weighted dissimilarities with unseen
        categories last; the start of each column's table; and its size L + 1 (0 = none).
    """

    kinds: NDArray[np.int64]
    weights: NDArray[np.float64]
    tables: NDArray[np.float64]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    low: NDArray[np.float64]
    factor: NDArray[np.float64]
    ranks: Mapping[int, NDArray[np.float64]]

    def rows(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return numeric and ordinal columns in weighted units of their range."""
        out = np.array(X, dtype=np.float64, order="C")
        for j in np.flatnonzero(self.kinds == NUMERIC).tolist():
            column = out[:, j]
            if j in self.ranks:
                column = _ranked(column, self.ranks[j])
            out[:, j] = (column - self.low[j]) * self.factor[j]
        return out

    def outward(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the distances unchanged."""
        return distance

    def inward(self, radius: float) -> float:
        """Return the radius unchanged."""
        return radius


def mixed_space(
    plan: MetricPlan,
    rows: NDArray[Any],
    nominal: NDArray[np.int64],
    level_counts: Sequence[int],
    names: Sequence[str] | None,
) -> MixedSpace:
    """Return the space of a distance between codes, with ranges and ranks from the training rows.

    `nominal` are the nominal columns, ascending, and `level_counts` their numbers of categories.
    """
    width = rows.shape[1]
    weights = column_weights(plan.params.get("w", np.ones(width)), width)
    kinds = np.full(width, NUMERIC, dtype=np.int64)
    kinds[nominal] = NOMINAL
    ordinal = _columns("ordinal", plan.params.get("ordinal", ()), width, names)
    for j in ordinal:
        if kinds[j] != NUMERIC:
            raise ParameterError(
                f"metric_params['ordinal'] names column {j}, which is nominal; an ordinal column "
                "must hold numbers, whose order is used"
            )
    counts = dict(zip(nominal.tolist(), level_counts, strict=True))
    given = plan.params.get("similarity", {})
    if not isinstance(given, Mapping):
        raise ParameterError(
            "metric_params['similarity'] must map columns to matrices of similarities"
        )
    starts, sizes = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    tables: list[NDArray[np.float64]] = []
    for column, matrix in given.items():
        j = _columns("similarity", [column], width, names)[0]
        if j not in counts:
            raise ParameterError(
                f"metric_params['similarity'] names column {j}, which is not nominal"
            )
        kinds[j] = TABLE
        starts[j] = sum(table.size for table in tables)
        sizes[j] = counts[j] + 1
        tables.append(_dissimilarities(j, matrix, counts[j]) * weights[j])
    ranks = {j: np.unique(rows[~np.isnan(rows[:, j]), j]).astype(np.float64) for j in ordinal}
    low, factor = _ranges(rows, kinds, weights, ranks)
    flat = np.concatenate([table.ravel() for table in tables]) if tables else np.zeros(1)
    return MixedSpace(kinds, weights, flat, starts, sizes, low, factor, ranks)


def _ranges(
    rows: NDArray[Any],
    kinds: NDArray[np.int64],
    weights: NDArray[np.float64],
    ranks: Mapping[int, NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, factor = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for j in np.flatnonzero(kinds == NUMERIC).tolist():
        column = rows[:, j].astype(np.float64)
        if j in ranks:
            column = _ranked(column, ranks[j])
        present = column[~np.isnan(column)]
        if present.size:
            low[j], high = present.min(), present.max()
            # Halve first: the range of huge numbers may overflow.
            spread = high / 2 - low[j] / 2
            factor[j] = weights[j] / spread / 2 if spread > 0 else 0.0
    return low, factor


def _ranked(column: NDArray[np.float64], distinct: NDArray[np.float64]) -> NDArray[np.float64]:
    left = np.searchsorted(distinct, column, side="left")
    right = np.searchsorted(distinct, column, side="right")
    return np.where(np.isnan(column), np.nan, (left + right - 1) / 2)


def _columns(what: str, given: Iterable[Any], width: int, names: Sequence[str] | None) -> list[int]:
    """Return columns, given by number or name, as numbers."""
    found = []
    for column in given:
        if isinstance(column, str) and names is None and column.isdecimal():
            column = int(column)  # the keys in a model file are strings
        if isinstance(column, str):
            if names is None or column not in names:
                hint = "" if names is None else did_you_mean(column, names)
                raise ParameterError(
                    f"metric_params[{what!r}] names column {column!r}, which X does not have{hint}"
                )
            found.append(list(names).index(column))
        elif isinstance(column, (int, np.integer)) and 0 <= column < width:
            found.append(int(column))
        else:
            raise ParameterError(
                f"metric_params[{what!r}] must name columns, or number them in [0, {width - 1}]; "
                f"got {column!r}"
            )
    return found


def _dissimilarities(j: int, matrix: Any, count: int) -> NDArray[np.float64]:
    """Return 1 - f with one more row and column for categories unseen in fit."""
    similar = np.asarray(matrix, dtype=np.float64)
    if similar.shape != (count, count):
        raise ParameterError(
            f"metric_params['similarity'] of column {j} must have one row and column per category, "
            f"shape ({count}, {count}); got shape {similar.shape}"
        )
    if not ((similar >= 0) & (similar <= 1)).all():
        raise ParameterError(
            f"metric_params['similarity'] of column {j} must hold numbers from 0 to 1"
        )
    out = np.ones((count + 1, count + 1))
    out[:count, :count] = 1 - similar
    return out
