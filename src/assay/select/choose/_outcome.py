"""What a search found: plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.evaluate import CostMatrix, Interval, Metric
from assay.multiclass import ProbabilityMap
from assay.select.choose._ladder import Rung
from assay.select.choose._score import ScoreTable
from assay.select.plan import PlanSummary
from assay.select.run import Family


@dataclass(frozen=True)
class Chosen:
    """The chosen candidate; `score` is its plain cross-validated score, which is optimistic."""

    family: Family
    index: int
    params: Mapping[str, Any]
    score: float


@dataclass(frozen=True)
class Member:
    """A candidate in a stack and its weight."""

    family: Family
    index: int
    params: Mapping[str, Any]
    weight: float


@dataclass(frozen=True)
class Stack:
    """A weighted mean of candidates, the largest weight first.

    `score` is its score on the inner blocks with weights learned without the block, `single` that
    of the best single candidate; both in natural sign.
    """

    members: tuple[Member, ...]
    score: float
    single: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """Calibration of the chosen model.

    `method` is "sigmoid", "isotonic", "temperature" or "threshold"; None if none of them was better
    than no calibration. `learned` maps probabilities, `threshold` decides between two classes.
    `scores` has the inner score of each method, "none" included, in natural sign.
    """

    method: str | None
    learned: ProbabilityMap | None
    threshold: float | None
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Gap:
    """Score on the training rows and on new rows: how much the model overfits.

    `gap` is positive where training rows score better.
    """

    train: float
    test: float
    gap: float


@dataclass(frozen=True)
class NestedRow:
    """One outer block: what was chosen without it, and the score on it.

    `outer` is None where the metric is undefined on the block.
    """

    repeat: int
    block: int
    rows: int
    family: str
    params: Mapping[str, Any]
    inner: float
    outer: float | None


@dataclass(frozen=True)
class LeaderboardRow:
    """Plain cross-validated score of a candidate: mean and standard deviation over blocks.

    `rank` and the numbers are None for a candidate that failed; `failed` gives the reason.
    """

    rank: int | None
    family: str
    params: Mapping[str, Any]
    score: float | None
    sd: float | None
    size: float | None
    failed: str | None = None


@dataclass(frozen=True)
class Baseline:
    """The baseline and its score on the same blocks."""

    name: str
    score: Interval


@dataclass(frozen=True)
class Work:
    """Fits behind the result, the final one included, and those of a naive search."""

    fits: int
    naive_fits: int
    units: int


@dataclass(frozen=True, eq=False)
class OuterPredictions:
    """Out-of-fold predictions of the nested choices, one entry per row and repeat.

    `label`, `probability` and `decision` for classes, `value` for numbers; None where no chosen
    model gives it, NaN in the blocks whose chosen model does not.
    """

    repeat: NDArray[np.int64]
    row: NDArray[np.int64]
    block: NDArray[np.int64]
    label: NDArray[np.int64] | None
    probability: NDArray[np.float64] | None
    decision: NDArray[np.float64] | None
    value: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything a search found.

    Parameters
    ----------
    task : str
        "binary", "multiclass", "regression" or "rank".
    metric : Metric
        What was scored; all scores below are in its natural sign.
    score : Interval
        The nested score of a model built this way.
    baseline : Baseline
        The baseline on the same blocks.
    gain : Interval
        Score over baseline, positive is better.
    quick : Interval or None
        Bootstrap bias-corrected score of the choice.
    chosen : Chosen
        The final choice.
    nested : tuple of NestedRow
        The outer blocks.
    leaderboard : tuple of LeaderboardRow
        All candidates, best first, failed ones last.
    outer : OuterPredictions
        Out-of-fold predictions for diagnostics.
    work : Work
        Fits counted.
    plan : PlanSummary
        How rows were split.
    notes : tuple of str
        What the user should know.
    seed : int
        The seed.
    cost : CostMatrix or None
        The costs by which decisions were made, if any.
    table : ScoreTable or None
        Scores of all candidates on all blocks, greater is better.
    stack : Stack or None
        The members and weights, if the final choice is a stack; `chosen` is then the member of
        largest weight.
    calibration : Calibration or None
        Calibration and threshold of the final choice; None if none was tried.
    ladder : tuple of Rung
        The best candidate of each family from simple to complex, the baseline first, each
        compared with the best.
    prefer : {"best", "simplest"}
        The rule for the final choice and every outer choice.
    n_classes : int or None
        Number of classes; None for numbers.
    positive : int
        Code of the positive class of two.
    plain : Interval or None
        The mean of the outer blocks, before the correction of `score` for their smaller training
        sets.
    scores : mapping of str to Interval
        The nested score by every usual metric of the task.
    how : str
        How `score` follows from `plain`, in words.
    """

    task: str
    metric: Metric
    score: Interval
    baseline: Baseline
    gain: Interval
    quick: Interval | None
    chosen: Chosen
    nested: tuple[NestedRow, ...]
    leaderboard: tuple[LeaderboardRow, ...]
    outer: OuterPredictions
    work: Work
    plan: PlanSummary
    notes: tuple[str, ...]
    seed: int
    cost: CostMatrix | None = None
    table: ScoreTable | None = None
    stack: Stack | None = None
    calibration: Calibration | None = None
    ladder: tuple[Rung, ...] = ()
    prefer: str = "best"
    n_classes: int | None = None
    positive: int = 1
    plain: Interval | None = None
    scores: Mapping[str, Interval] = field(default_factory=dict)
    how: str = ""
