"""What a search found: plain records, ready to be shown."""

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
    """The candidate that was chosen; `score` is its plain score, optimistic as every winner's."""

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

    `score` is what it scored on the level-1 blocks with weights learned without the block, `single`
    what the best candidate alone scored there; both in natural sign.
    """

    members: tuple[Member, ...]
    score: float
    single: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """What is done with the probabilities of the choice.

    `method` is "sigmoid", "isotonic", "temperature" or "threshold"; None if nothing was better than
    leaving them. `learned` maps probabilities, `threshold` decides between two classes. `scores`
    has the level-1 score of each way, "none" among them, in natural sign.
    """

    method: str | None
    learned: ProbabilityMap | None
    threshold: float | None
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Gap:
    """Score on the rows a model was fitted on, and on rows it was not: how far it learns by heart.

    `gap` is positive where training rows score better.
    """

    train: float
    test: float
    gap: float


@dataclass(frozen=True)
class NestedRow:
    """One honest question: what was chosen without the block, and how it did on the block.

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
    """Plain score of a candidate: mean and standard deviation over blocks.

    `rank` and the numbers are None for a candidate that failed; `failed` says why.
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
    """The trivial model and its score on the same blocks."""

    name: str
    score: Interval


@dataclass(frozen=True)
class Work:
    """Fits that the result rests on, the final one included, and what a naive search would do."""

    fits: int
    naive_fits: int
    units: int


@dataclass(frozen=True, eq=False)
class OuterPredictions:
    """Honest predictions, one entry per row and repeat that was held out.

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
        The honest score of a model built this way.
    baseline : Baseline
        The trivial model on the same blocks.
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
        Honest predictions for diagnostics.
    work : Work
        Fits counted.
    plan : PlanSummary
        How rows were split.
    notes : tuple of str
        What the user should know.
    seed : int
        The seed.
    cost : CostMatrix or None
        What every decision was made by, if mistakes have costs.
    table : ScoreTable or None
        Scores of all candidates on all blocks, greater is better; what the choices were made from.
    stack : Stack or None
        The members and weights, if the final choice is a stack; `chosen` is then the member of
        largest weight.
    calibration : Calibration or None
        Calibration and threshold of the final choice; None if none was tried.
    ladder : tuple of Rung
        The best candidate of each family from simple to complex, the trivial model first, each
        compared with the best.
    prefer : {"best", "simplest"}
        Which rung the rule takes, here and inside every outer choice.
    n_classes : int or None
        Number of classes; None for numbers.
    positive : int
        Code of the positive class of two.
    plain : Interval or None
        The mean of the outer blocks as it is, before `score` was corrected for their smaller
        training sets.
    scores : mapping of str to Interval
        The honest score by every usual metric of the task, as `score` is by `metric`.
    how : str
        What was done to get from `plain` to `score`, in words.
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
