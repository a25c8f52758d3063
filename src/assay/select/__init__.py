"""Honest selection: blocks, units, the ledger, nested choice. Generic: knows no model by name."""

from __future__ import annotations

from assay._public import publish
from assay.select._adaptive import AdaptiveSearch, Price
from assay.select._blocks import make_blocks
from assay.select._compare import Comparison, compare
from assay.select._curves import complexity_curve
from assay.select._curves_learning import learning_curve
from assay.select._curves_result import Curve
from assay.select._deadline import Deadline, seconds_of
from assay.select._duplicates import duplicate_ids
from assay.select._equality import assert_path_equals_single_fits
from assay.select._family import Family
from assay.select._ladder import Rung
from assay.select._ledger import Ledger
from assay.select._model_selection import SizeSelection, model_selection
from assay.select._nested_search import NestedSearch
from assay.select._outcome import (
    Baseline,
    Calibration,
    Chosen,
    Gap,
    LeaderboardRow,
    Member,
    NestedRow,
    Outcome,
    OuterPredictions,
    Stack,
    Work,
)
from assay.select._path import DefaultPath, Path, queries_for
from assay.select._plan import (
    Outer,
    Plan,
    PlanSummary,
    Split,
    blocks_in_time,
    forward,
    holdout,
    pair_out,
)
from assay.select._refit import Refitted, refit
from assay.select._search import search
from assay.select._set_aside import set_aside
from assay.select._sobol import draws, sobol, sobol_family
from assay.select._space import grid
from assay.select._space_dimensions import Choice, Integer, Real

__all__ = [
    "AdaptiveSearch",
    "Baseline",
    "Calibration",
    "Choice",
    "Chosen",
    "Comparison",
    "Curve",
    "Deadline",
    "DefaultPath",
    "Family",
    "Gap",
    "Integer",
    "LeaderboardRow",
    "Ledger",
    "Member",
    "NestedRow",
    "NestedSearch",
    "Outcome",
    "Outer",
    "OuterPredictions",
    "Path",
    "Plan",
    "PlanSummary",
    "Price",
    "Real",
    "Refitted",
    "Rung",
    "SizeSelection",
    "Split",
    "Stack",
    "Work",
    "assert_path_equals_single_fits",
    "blocks_in_time",
    "compare",
    "complexity_curve",
    "draws",
    "duplicate_ids",
    "forward",
    "grid",
    "holdout",
    "learning_curve",
    "make_blocks",
    "model_selection",
    "pair_out",
    "queries_for",
    "refit",
    "search",
    "seconds_of",
    "set_aside",
    "sobol",
    "sobol_family",
]

publish(__name__)
