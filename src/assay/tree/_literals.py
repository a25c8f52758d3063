"""Literals: conditions on one column, from which rules are built."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EQUAL, NOT_EQUAL, AT_MOST, ABOVE, MISSING = range(5)

_SIGNS = {EQUAL: "=", NOT_EQUAL: "!=", AT_MOST: "<=", ABOVE: ">"}


@dataclass(frozen=True)
class Literals:
    """Literals in flat arrays; a missing value or an unseen category only satisfies `MISSING`.

    Parameters
    ----------
    feature, kind, value : ndarray of shape (n_literals,)
        Column, kind of condition, and its category code or number.
    """

    feature: NDArray[np.int32]
    kind: NDArray[np.uint8]
    value: NDArray[np.float64]

    @classmethod
    def of(cls, triples: list[tuple[int, int, float]]) -> Literals:
        """Build literals from (feature, kind, value) triples."""
        feature, kind, value = zip(*triples, strict=True) if triples else ((), (), ())
        return cls(
            np.array(feature, dtype=np.int32),
            np.array(kind, dtype=np.uint8),
            np.array(value, dtype=np.float64),
        )

    @classmethod
    def listed(
        cls,
        X: NDArray[np.float64],
        weight: NDArray[np.float64],
        n_levels: NDArray[np.int32],
        max_thresholds: int,
        negation: bool,
    ) -> Literals:
        """Use every category, and at most `max_thresholds` quantiles of a numeric column."""
        triples: list[tuple[int, int, float]] = []
        for j, n in enumerate(n_levels.tolist()):
            if n:
                kinds = (EQUAL, NOT_EQUAL) if negation and n > 2 else (EQUAL,)
                triples += [(j, kind, float(level)) for kind in kinds for level in range(n)]
            else:
                cuts = _cuts(X[:, j], weight, max_thresholds)
                triples += [(j, kind, cut) for kind in (AT_MOST, ABOVE) for cut in cuts]
            if np.isnan(X[:, j]).any():
                triples.append((j, MISSING, 0.0))
        return cls.of(triples)

    def __len__(self) -> int:
        return len(self.feature)

    def triple(self, index: int) -> tuple[int, int, float]:
        """Return one literal as (feature, kind, value)."""
        return int(self.feature[index]), int(self.kind[index]), float(self.value[index])

    def matches(self, X: NDArray[np.float64], n_levels: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which rows satisfy each literal: shape (n_literals, n_rows)."""
        answer = np.empty((len(self), len(X)), dtype=bool)
        for i in range(len(self)):
            feature, kind, value = self.triple(i)
            answer[i] = satisfies(X[:, feature], kind, value, int(n_levels[feature]))
        return answer


def satisfies(x: NDArray[np.float64], kind: int, value: float, n_levels: int) -> NDArray[np.bool_]:
    """Return which values satisfy a literal; category codes from `n_levels` on are unseen."""
    answer: NDArray[np.bool_]
    if kind == EQUAL:
        answer = x == value
    elif kind == NOT_EQUAL:
        answer = (x != value) & (x < n_levels)
    elif kind == AT_MOST:
        answer = x <= value
    elif kind == ABOVE:
        answer = x > value
    else:
        answer = np.isnan(x)
    return answer


def literal_text(name: str, kind: int, value: float, levels: list[str]) -> str:
    """Return a literal as readable text."""
    if kind == MISSING:
        return f"{name} is missing"
    return f"{name} {_SIGNS[kind]} {levels[int(value)] if levels else format(value, '.6g')}"


def halfway(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a threshold t between two neighbouring numbers: low <= t < high."""
    middle = low / 2 + high / 2
    return np.where((middle >= low) & (middle < high), middle, low)


def _cuts(x: NDArray[np.float64], weight: NDArray[np.float64], max_thresholds: int) -> list[float]:
    known = ~np.isnan(x)
    values, inverse = np.unique(x[known], return_inverse=True)
    if len(values) < 2:
        return []
    chosen = np.arange(len(values) - 1)
    if len(chosen) > max_thresholds:
        below = np.cumsum(np.bincount(inverse, weight[known]))
        quantiles = below[-1] * np.arange(1, max_thresholds + 1) / (max_thresholds + 1)
        chosen = np.unique(np.minimum(np.searchsorted(below, quantiles), len(values) - 2))
    return halfway(values[chosen], values[chosen + 1]).tolist()  # type: ignore[no-any-return]
