"""Metrics, their intervals, and scoring of stored predictions."""

from __future__ import annotations

from assay.evaluate._formulas import Formula, RowMean
from assay.evaluate._interval import Interval, batch_t, corrected_t
from assay.evaluate._metric import Metric, get_metric
from assay.evaluate._replay import replay

__all__ = [
    "Formula",
    "Interval",
    "Metric",
    "RowMean",
    "batch_t",
    "corrected_t",
    "get_metric",
    "replay",
]
