"""What the ledger says: scores, the choice, stacks, calibration, the final fit."""

from __future__ import annotations

from assay.select.choose._choose import OuterResult, nested_choice, outer_predictions, outer_result
from assay.select.choose._decide import Chooser, Decision
from assay.select.choose._evidence import Evidence
from assay.select.choose._ladder import Rung
from assay.select.choose._leave_two_out import LeaveTwoOut, leave_two_out_choices
from assay.select.choose._model_spec import ChoiceRules, ModelSpec
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
from assay.select.choose._refit import Refitted, refit
from assay.select.choose._score import ScoreTable
from assay.select.choose._significance import correlated_t
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
    "LeaveTwoOut",
    "Member",
    "ModelSpec",
    "NestedRow",
    "Outcome",
    "OuterPredictions",
    "OuterResult",
    "PlanRun",
    "Refitted",
    "Rung",
    "ScoreTable",
    "Stack",
    "Work",
    "baseline_name",
    "correlated_t",
    "leave_two_out_choices",
    "nested_choice",
    "outer_predictions",
    "outer_result",
    "refit",
    "run_plan",
    "trivial_prediction",
]
