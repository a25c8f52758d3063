"""Stages of a cascade: boosted on the rows passed so far, thresholds from validation rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError
from assay.ensemble._adaboost_rounds import Boosting, boost_stumps
from assay.tree._growth import Training
from assay.tree.engine import Bins, Nodes, Ranks


@dataclass(frozen=True)
class CascadePlan:
    """Target rates and settings; the parameters of `CascadeClassifier`."""

    n_stages: int
    detection_rate: float
    false_alarm_rate: float
    target_false_alarm: float
    max_stumps: int
    learning_rate: float
    validation_fraction: float
    max_bins: int
    seed: int
    n_threads: int


@dataclass(frozen=True)
class Stages:
    """A grown cascade; slots 2 t and 2 t + 1 of the values belong to stump t."""

    nodes: Nodes
    start: NDArray[np.int64]
    threshold: NDArray[np.float64]
    detection: NDArray[np.float64]
    false_alarm: NDArray[np.float64]
    whole_detection: float
    whole_false_alarm: float


@dataclass(frozen=True)
class _Stage:
    nodes: Nodes
    threshold: float
    detection: float
    false_alarm: float


def grow_stages(
    rows: NDArray[Any],
    is_positive: NDArray[np.bool_],
    weight: NDArray[np.float64],
    n_levels: NDArray[np.int32],
    plan: CascadePlan,
) -> Stages:
    """Grow stage after stage.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
        The table, nominal columns as codes.
    is_positive : ndarray of bool of shape (n_samples,)
        Whether each row is of the class to detect.
    weight : ndarray of float64 of shape (n_samples,)
        Positive weights.
    n_levels : ndarray of int32 of shape (n_features,)
        Number of categories of each column; 0 = numeric.
    plan : CascadePlan
        Target rates and settings.
    """
    ranks = Ranks.build(rows, n_levels, plan.n_threads)
    held = _held_out(is_positive, plan)
    positive, negative = (np.flatnonzero(~held & each) for each in (is_positive, ~is_positive))
    found, missed = (np.flatnonzero(held & each) for each in (is_positive, ~is_positive))
    all_found, all_missed = weight[found].sum(), weight[missed].sum()
    stages: list[_Stage] = []
    while True:
        target = np.repeat([1, 0], [len(positive), len(negative)])
        index = np.concatenate([positive, negative])
        training = Training(target, _balanced(weight[index], target), 2, n_levels, rows[index])
        bins = Bins.from_ranks(ranks, index, plan.max_bins, plan.n_threads, training.weight)
        stage = _grow_stage(bins, training, (rows, weight, found, missed), len(stages), plan)
        stages.append(stage)
        # Every stage is boosted on all positives and on the negatives that passed so far.
        found, missed, negative = (
            part[_scores(stage.nodes, rows[part], plan) >= stage.threshold]
            for part in (found, missed, negative)
        )
        share = weight[missed].sum() / all_missed
        enough = share <= plan.target_false_alarm or not len(negative) or not len(found)
        if len(stages) == plan.n_stages or enough:
            detected = weight[found].sum() / all_found
            return _joined(stages, float(detected), float(share))


def _held_out(is_positive: NDArray[np.bool_], plan: CascadePlan) -> NDArray[np.bool_]:
    """Draw the validation rows: a fraction of each class, at least one row and not all."""
    rng = np.random.RandomState(plan.seed)
    held = np.zeros(len(is_positive), dtype=bool)
    for members in (np.flatnonzero(is_positive), np.flatnonzero(~is_positive)):
        n = round(plan.validation_fraction * len(members))
        held[rng.permutation(members)[: min(max(n, 1), len(members) - 1)]] = True
    return held


def _balanced(weight: NDArray[np.float64], target: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give both classes half of the weight, however rare one is."""
    mass = np.bincount(target, weight, minlength=2)
    shares: NDArray[np.float64] = weight / (2 * mass[target])
    return shares


def _grow_stage(
    bins: Bins,
    training: Training,
    validation: tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]],
    number: int,
    plan: CascadePlan,
) -> _Stage:
    """Boost, then take the fewest stumps that reach both rates on the validation rows."""
    rows, weight, found, missed = validation
    boosting = Boosting(
        plan.max_stumps, plan.learning_rate, plan.n_threads, np.random.RandomState(plan.seed)
    )
    rounds = boost_stumps(bins, training, "gini", boosting)
    assert rounds.nodes is not None
    values = np.column_stack([-rounds.alphas, rounds.alphas]).reshape(-1, 1)
    nodes = replace(rounds.nodes, leaf_value=values)
    sums = np.zeros(len(found)), np.zeros(len(missed))
    least = 1.0
    for t in range(nodes.n_trees):
        for total, part in zip(sums, (found, missed), strict=True):
            total += _scores(nodes.part(t, t + 1), rows[part], plan)
        threshold = _threshold(sums[0], weight[found], plan.detection_rate)
        rates = [
            float(weight[part][total >= threshold].sum() / max(weight[part].sum(), 1e-300))
            for total, part in zip(sums, (found, missed), strict=True)
        ]
        least = min(least, rates[1])
        if rates[1] <= plan.false_alarm_rate:
            kept = replace(nodes.first(t + 1), leaf_value=values[: 2 * (t + 1)])
            return _Stage(kept, threshold, *rates)
    raise DataError(
        f"stage {number + 1} passes {least:.1%} of the negatives at a detection rate of "
        f"{plan.detection_rate:g} with {nodes.n_trees} stumps, more than "
        f"false_alarm_rate={plan.false_alarm_rate:g}: raise it or max_stumps={plan.max_stumps}, "
        f"lower detection_rate, or reduce n_stages={plan.n_stages}"
    )


def _scores(nodes: Nodes, rows: NDArray[Any], plan: CascadePlan) -> NDArray[np.float64]:
    return nodes.predict(rows, plan.n_threads, "sum")[:, 0]


def _threshold(score: NDArray[np.float64], weight: NDArray[np.float64], rate: float) -> float:
    """Return the largest threshold that at least the given share of the rows reach."""
    order = np.argsort(score, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(weight[order])[:-1]])  # weight before each row
    allowed = (1 - rate) * weight.sum() * (1 + 1e-12)
    return float(score[order[np.flatnonzero(below <= allowed)[-1]]])


def _joined(stages: list[_Stage], detection: float, false_alarm: float) -> Stages:
    parts: list[Nodes] = []
    n_trees = n_words = 0
    for stage in stages:
        nodes = stage.nodes
        is_leaf = nodes.node_left == 0
        slot = nodes.node_slot + np.where(is_leaf, 2 * n_trees, 0)
        slot[~is_leaf & (nodes.node_slot >= 0)] += n_words
        parts.append(replace(nodes, node_slot=slot.astype(np.int32)))
        n_trees += nodes.n_trees
        n_words += len(nodes.level_words)
    sizes = np.concatenate([np.diff(part.tree_start) for part in parts])
    names = ("node_left", "node_feature", "node_threshold", "node_missing_left", "node_slot")
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in (*names, "level_words", "leaf_value")
    }
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    counts = [stage.nodes.n_trees for stage in stages]
    return Stages(
        nodes=replace(parts[0], tree_start=start, **arrays),
        start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        threshold=np.array([stage.threshold for stage in stages]),
        detection=np.array([stage.detection for stage in stages]),
        false_alarm=np.array([stage.false_alarm for stage in stages]),
        whole_detection=detection,
        whole_false_alarm=false_alarm,
    )
