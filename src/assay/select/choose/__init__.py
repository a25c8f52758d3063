"""What the ledger says: scores, the choice, stacks, calibration, the final fit."""

from __future__ import annotations

from assay.select.choose._choose import OuterResult, nested_choice, outer_predictions, outer_result
from assay.select.choose._decide import Chooser, Decision
from assay.select.choose._evidence import Evidence
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
from assay.select.choose._recipe import ChoiceRules, Recipe
from assay.select.choose._refit import Refitted, refit
from assay.select.choose._score import ScoreTable
from assay.select.choose._significance import correlated_t
from assay.select.choose._smaller import Smaller, smaller_choices
from assay.select.choose._stages import PlanRun, run_plan
from assay.select.choose._trivial import baseline_name, trivial_prediction

__all__ = [
    "Baseline",
    "Calibration",
    "ChoiceRules",
    "Chooser",
    "Chosen",
    "Decision",
    "Evidence",
    "Gap",
    "LeaderboardRow",
    "Member",
    "NestedRow",
    "Outcome",
    "OuterPredictions",
    "OuterResult",
    "PlanRun",
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
    "outer_result",
    "refit",
    "run_plan",
    "smaller_choices",
    "trivial_prediction",
]
