"""What a search found: plain records, ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.evaluate import CostMatrix, Interval, Metric
from assay.select._family import Family


@dataclass(frozen=True)
class Chosen:
    """The candidate that was chosen; `score` is its plain score, optimistic as every winner's."""

    family: Family
    index: int
    params: Mapping[str, Any]
    score: float


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


@dataclass(frozen=True)
class PlanSummary:
    """How the rows were split; `duplicates` counts rows that have an equal one in their block."""

    kind: str
    blocks: int
    repeats: int
    stratified: bool
    grouped: bool
    duplicates: int
    text: str


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
