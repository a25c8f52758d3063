"""What the ledger says: scores, the choice, stacks, calibration, the final fit."""

from __future__ import annotations

from assay.select.choose._choose import Judged, nested_choice, outer_predictions
from assay.select.choose._decide import Chooser, Decision
from assay.select.choose._ladder import Rung
from assay.select.choose._outcome import (
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
from assay.select.choose._recipe import Options, Recipe
from assay.select.choose._refit import Refitted, refit
from assay.select.choose._score import Judge, ScoreTable, predictions, score_table
from assay.select.choose._significance import correlated_t
from assay.select.choose._smaller import Smaller, smaller_choices
from assay.select.choose._stages import Ran, run_plan
from assay.select.choose._trivial import baseline_name, trivial_prediction

__all__ = [
    "Baseline",
    "Calibration",
    "Chooser",
    "Chosen",
    "Decision",
    "Gap",
    "Judge",
    "Judged",
    "LeaderboardRow",
    "Member",
    "NestedRow",
    "Options",
    "Outcome",
    "OuterPredictions",
    "Ran",
    "Recipe",
    "Refitted",
    "Rung",
    "ScoreTable",
    "Smaller",
    "Stack",
    "Work",
    "baseline_name",
    "correlated_t",
    "nested_choice",
    "outer_predictions",
    "predictions",
    "refit",
    "run_plan",
    "score_table",
    "smaller_choices",
    "trivial_prediction",
]
