"""Honest selection: blocks, units, the ledger, nested choice. Generic: knows no model by name."""

from __future__ import annotations

from assay.select._blocks import make_blocks
from assay.select._compare import Comparison, compare
from assay.select._duplicates import duplicate_ids
from assay.select._equality import assert_path_equals_single_fits
from assay.select._family import Family
from assay.select._ledger import Ledger
from assay.select._nested_search import NestedSearch
from assay.select._outcome import (
    Baseline,
    Chosen,
    LeaderboardRow,
    NestedRow,
    Outcome,
    OuterPredictions,
    PlanSummary,
    Work,
)
from assay.select._path import DefaultPath, Path, queries_for
from assay.select._plan import Outer, Plan, Split, forward, holdout, pair_out
from assay.select._refit import Refitted, refit
from assay.select._search import search

__all__ = [
    "Baseline",
    "Chosen",
    "Comparison",
    "DefaultPath",
    "Family",
    "LeaderboardRow",
    "Ledger",
    "NestedRow",
    "NestedSearch",
    "Outcome",
    "Outer",
    "OuterPredictions",
    "Path",
    "Plan",
    "PlanSummary",
    "Refitted",
    "Split",
    "Work",
    "assert_path_equals_single_fits",
    "compare",
    "duplicate_ids",
    "forward",
    "holdout",
    "make_blocks",
    "pair_out",
    "queries_for",
    "refit",
    "search",
]
