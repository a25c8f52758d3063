"""The printed number: score, baseline and gain with their intervals."""

from __future__ import annotations

from assay.select.estimate._bbc import bootstrap_choice
from assay.select.estimate._estimate import estimate, intervals, recentred

__all__ = [
    "bootstrap_choice",
    "estimate",
    "intervals",
    "recentred",
]
