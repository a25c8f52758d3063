"""A summary of each column, enough for the report to draw it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.table._columns import Column
from assay.table._kinds import Facts
from assay.table._values import level_text

_BINS = 20
_TOP = 10


def overview_of(column: Column, values: pl.Series, facts: Facts) -> dict[str, Any]:
    """Return one column as JSON-safe numbers.

    Parameters
    ----------
    column : Column
        Name, kind and role.
    values : polars.Series
        All rows that were read.
    facts : Facts
        Its counts.

    Returns
    -------
    dict
        ``name, kind, used, role, reason, missing, distinct``; for numbers also ``min, q1, median,
        q3, max, mean, sd`` and ``histogram`` (``edges``, ``counts``); for categories ``top``
        (``level`` and ``count`` of at most ten); for dates ``min`` and ``max`` as text.
    """
    found: dict[str, Any] = {
        "name": column.name,
        "kind": str(column.kind),
        "used": column.used,
        "role": column.role,
        "reason": column.reason,
        "missing": facts.missing,
        "distinct": facts.distinct,
    }
    if len(facts.ordered):
        found.update(_numbers(facts.ordered.astype(np.float64)))
    elif isinstance(values.dtype, pl.Datetime) and facts.present:
        found.update(min=str(values.min()), max=str(values.max()))
    elif facts.counts is not None:
        top = facts.counts.head(_TOP)
        levels = level_text(top["level"], column.storage).to_list()
        found["top"] = [
            {"level": level, "count": count}
            for level, count in zip(levels, top["count"].to_list(), strict=True)
        ]
    return found


def histogram(ordered: NDArray[np.float64]) -> dict[str, list[float]] | None:
    """Return edges and counts of at most 20 equal bins of sorted values; None without a range."""
    low, high = float(ordered[0]), float(ordered[-1])
    if not math.isfinite(high - low):
        return None
    if low == high:
        return {"edges": [low, high], "counts": [len(ordered)]}
    edges = np.linspace(low, high, _BINS + 1)
    if (ordered == np.floor(ordered)).all() and high - low < _BINS:
        edges = np.arange(low - 0.5, high + 1.0)  # one bar per integer
    if not (np.diff(edges) > 0).all():
        return None
    inner = np.searchsorted(ordered, edges[1:-1], side="left")
    counts = np.diff(inner, prepend=0, append=len(ordered))
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _numbers(ordered: NDArray[np.float64]) -> dict[str, Any]:
    quarters = [_quantile(ordered, share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(ordered.mean())
        sd = float(ordered.std(ddof=1)) if len(ordered) > 1 else 0.0
    keys = ("min", "q1", "median", "q3", "max", "mean", "sd")
    found: dict[str, Any] = {
        key: value if math.isfinite(value) else None
        for key, value in zip(keys, (*quarters, mean, sd), strict=True)
    }
    found["histogram"] = histogram(ordered)
    return found


def _quantile(ordered: NDArray[np.float64], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    low = float(ordered[below])
    if place == below:
        return low
    rest = place - below
    return low * (1.0 - rest) + float(ordered[below + 1]) * rest
