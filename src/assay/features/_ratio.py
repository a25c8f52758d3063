"""The number of rows of each class after resampling, from `ratio`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError, ParameterError, did_you_mean

Integers = NDArray[np.int64]


def check_ratio(ratio: Any) -> None:
    """Raise unless `ratio` is a number in (0, 1] or a dict from classes to numbers of rows."""
    if isinstance(ratio, Mapping):
        if len(ratio) and all(_is_number(n, Integral) and n >= 1 for n in ratio.values()):
            return
    elif _is_number(ratio, Real) and 0 < ratio <= 1:
        return
    raise ParameterError(
        "ratio must be a number in (0, 1], or a dict from classes to numbers of rows >= 1; "
        f"got {ratio!r}"
    )


def counts_below(ratio: Any, classes: NDArray[Any], counts: Integers) -> Integers:
    """Return how many rows of each class remain when larger classes are cut."""
    if isinstance(ratio, Mapping):
        return _listed(ratio, classes, counts, at_most=True)
    # Slightly more, so that 30 rows at ratio 0.1 give 300 and not 299 by rounding.
    most = math.floor(counts.min() / ratio * (1 + 1e-12))
    return np.asarray(np.minimum(counts, most))


def counts_above(ratio: Any, classes: NDArray[Any], counts: Integers) -> Integers:
    """Return how many rows each class has after smaller classes grow."""
    if isinstance(ratio, Mapping):
        return _listed(ratio, classes, counts, at_most=False)
    return np.asarray(np.maximum(counts, round(counts.max() * ratio)))


def _is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def check_classes(classes: NDArray[Any]) -> None:
    """Raise if the target has one class only."""
    if len(classes) < 2:
        raise DataError(f"y has one class only, {classes[0].item()!r}; there is nothing to balance")


def _listed(
    ratio: Mapping[Any, int], classes: NDArray[Any], counts: Integers, *, at_most: bool
) -> Integers:
    labels = classes.tolist()
    wanted = counts.copy()
    for label, count in ratio.items():
        if label not in labels:
            hint = did_you_mean(label, labels) if isinstance(label, str) else ""
            raise ParameterError(
                f"ratio names class {label!r}, which y does not have; its classes are "
                f"{', '.join(map(repr, labels))}{hint}"
            )
        at = labels.index(label)
        if (count > counts[at]) if at_most else (count < counts[at]):
            bound = "at most" if at_most else "at least"
            raise ParameterError(
                f"ratio must leave class {label!r} {bound} the {counts[at]} rows that it has; "
                f"got {count}"
            )
        wanted[at] = count
    return wanted
