"""The number: the nested score as it was measured, the baseline and the gain, with intervals.

The score is that of the outer predictions themselves: whoever counts them finds the same number.
It is made by models that were trained on (K-1)/K of the rows, so it errs to the low side where more
rows help; `docs/explanation/honesty.rst` has the interval and how often it holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from assay.base import DataError, Predicted, Task
from assay.evaluate import Interval, Metric, RowMean, interval_of_parts, panel
from assay.select.choose import (
    LeaveTwoOut,
    OuterResult,
    trivial_prediction,
)
from assay.select.estimate._effective_sample_size import effective_sample_size
from assay.select.estimate._estimate_blocks import by_blocks
from assay.select.estimate._pooled import balanced_groups, groups_of_rows, measure
from assay.select.estimate._resampled_score import ResampledScore
from assay.select.plan import Question, RowPartitions

# Leaving out a whole block changes fits and choices more than a new sample of the same size would:
# the jackknife over blocks is two to three times too large. With the choices kept as they are it is
# smaller, so more of it is taken. Measured, see docs/explanation/honesty.rst.
_BLOCK_SHARE = {"classes": 0.3, "numbers": 0.4, "kept": 0.5}
# Better than the baseline in this many blocks or more is not chance: one in 32 at most.
_BLOCKS_THAT_CONVINCE = 5
# What more rows may add is mentioned from this part of the metric's range on.
_WORTH_SAYING = 0.005
# A baseline with a smaller part of the score's variance stands still: an area of 0.5, an R² of 0.
_STILL = 0.01


@dataclass(frozen=True)
class Estimate:
    """The printed numbers.

    Parameters
    ----------
    score, baseline : Interval
        Of the choice and of the baseline, in natural sign.
    gain : Interval
        Score over baseline, positive is better.
    plain : Interval
        The mean over the outer blocks, with the corrected resampled t.
    scores : mapping of str to Interval
        The same for every usual metric of the task, in natural sign.
    text : str
        How the score was measured, in words.
    """

    score: Interval
    baseline: Interval
    gain: Interval
    plain: Interval
    scores: Mapping[str, Interval] = field(default_factory=dict)
    text: str = ""


def estimate(
    question: Question,
    blocks: RowPartitions,
    results: Sequence[OuterResult],
    smaller: LeaveTwoOut | None = None,
) -> Estimate:
    r"""Estimate the score of a model built this way on this many rows.

    Parameters
    ----------
    question : Question
        The metric and the truth.
    blocks : RowPartitions
        The partitions: which rows belong together, whether blocks are balanced by target or follow
        each other in time (then the intervals are for the next block, but for the gain, which is a
        mean over time).
    results : sequence of OuterResult
        The outer choices and their predictions.
    smaller : LeaveTwoOut, optional
        The choices made without one more block, see `leave_two_out_choices`.

    Returns
    -------
    Estimate
        The score, the baseline, the gain and all usual metrics.

    Notes
    -----
    The score is the metric of the predictions of all outer blocks and repeats together;
    metrics of order (areas under curves) are averaged over blocks, because scores of two models
    need not have one scale.

    Its variance has two parts. The rows that score: a jackknife over rows (or clusters), with
    degrees of freedom by its kurtosis. The rows that train and choose: 0.3 times a jackknife over
    blocks, where block k is left out of training, choosing and scoring alike (the fits without
    pairs of blocks give it), less what the rows that score explain of it, with 0.8 (K-1) degrees of
    freedom for each partition. For numeric targets (0.4 times), and where a stack or a calibration
    was not learned again (0.5 times), nothing is subtracted, and it has K-1. They are added as
    Welch and Satterthwaite do (`interval_of_parts`, which knows the bounds of a metric), and the
    interval of a share rests on no more rows than `effective_sample_size` returns.

    Blocks that are balanced by a numeric target vary less than samples do, because far-out rows are
    dealt evenly. So the second part is multiplied by the jackknife over rows divided by its
    jackknife over fresh balanced blocks, where that is greater than 1, at most by 4.

    A gain is at most what the range of the metric leaves above the baseline. Where the choice beats
    the baseline in each of five blocks or more, the interval of the gain is above zero: by chance
    alone that has a probability of at most one in 32.

    Without `smaller`, with two outer blocks or more: mean and corrected resampled t; in time a
    prediction interval (`next_t`). With one block: batches of its rows.
    """
    found = _score_baseline_gain(question, blocks, results, smaller)
    scores: dict[str, Interval] = {}
    for metric in panel(question.task):
        if metric.name == question.metric.name:
            scores[metric.name] = found.score
            continue
        other = replace(question, metric=metric)
        again = [_scored(other, each) for each in results]
        try:
            more = _score_baseline_gain(other, blocks, again, smaller)
            scores[metric.name] = more.score
        except DataError:  # not defined for these models or rows
            continue
    if question.metric.name not in scores:
        scores = {question.metric.name: found.score, **scores}
    return replace(found, scores=scores)


def intervals(
    question: Question, blocks: RowPartitions, results: Sequence[OuterResult]
) -> tuple[Interval, Interval, Interval]:
    """Return score, baseline (both in natural sign) and gain with their intervals.

    From the outer blocks alone, for searches that have no fits without pairs of blocks.
    """
    return by_blocks(question, blocks, results)


def _scored(question: Question, each: OuterResult) -> OuterResult:
    trivial = trivial_prediction(question, each.train, len(each.rows))
    score, baseline = (question.score(each.rows, said)[0] for said in (each.predicted, trivial))
    return replace(each, score=score, baseline=baseline)


def _score_baseline_gain(
    question: Question,
    blocks: RowPartitions,
    results: Sequence[OuterResult],
    smaller: LeaveTwoOut | None,
) -> Estimate:
    score, baseline, gain = by_blocks(question, blocks, results)
    found = Estimate(score, baseline, gain, score, text="the mean over the outer blocks")
    if smaller is not None:
        found = _from_all_rows(question, blocks, results, smaller, found) or found
    elif blocks.plan.kind == "forward":
        text = f"{found.text}; the interval is for the next period, as long as a block"
        found = replace(_together(question, results, found), text=text)
    return replace(found, gain=_within_range(question, results, found))


def _from_all_rows(
    question: Question,
    blocks: RowPartitions,
    results: Sequence[OuterResult],
    smaller: LeaveTwoOut,
    plain: Estimate,
) -> Estimate | None:
    """Return the scores of all outer predictions; None where they cannot be computed."""
    metric, n = question.metric, len(question.y)
    group, clusters = groups_of_rows(question, blocks), blocks.clusters
    again = None
    if blocks.is_balanced and question.task is Task.REGRESSION:
        count = len({each.outer.block for each in results})
        again = balanced_groups(question, blocks, count)
    # Choices that were not made again vary too little for anything to be subtracted, and numbers
    # have far-out rows, which few rows that score do not show.
    kind = "numbers" if question.n_classes is None else "classes"
    kind = kind if smaller.chosen_again else "kept"
    share, once = _BLOCK_SHARE[kind], kind == "classes"
    chosen = ResampledScore(
        question, results, lambda each: each.predicted, smaller.said.__getitem__, group, again
    )
    rows = {(each.repeat, each.outer.block): each.rows for each in results}

    def guess(key: tuple[int, int, int]) -> Predicted:
        repeat, block, other = key
        train = np.concatenate(
            [mine for (r, b), mine in rows.items() if r == repeat and b not in (block, other)]
        )
        return trivial_prediction(question, np.sort(train), len(rows[repeat, block]))

    trivial = ResampledScore(
        question,
        results,
        lambda each: trivial_prediction(question, each.train, len(each.rows)),
        guess,
        group,
        again,
    )
    behind = effective_sample_size(question)
    units = behind if clusters is None else math.ceil((int(clusters.max()) + 1) * behind / n)
    if not np.isfinite([chosen.value, trivial.value, *chosen.without_block.ravel()]).all():
        return None
    sign = 1.0 if metric.greater_is_better else -1.0
    low, high = metric.low, metric.high
    parts, still = chosen.parts(share, once=once), trivial.parts(share, once=once)
    value, base = sign * chosen.value, sign * trivial.value
    score = interval_of_parts(value, parts, low=low, high=high, units=units, rows=behind)
    baseline = interval_of_parts(base, still, low=low, high=high)
    if sum(each for each, _ in still) > _STILL * sum(each for each, _ in parts):
        span = None if low is None or high is None else high - low
        gain = interval_of_parts(
            sign * (value - base),
            chosen.parts(share, trivial, once=once),
            low=None if span is None else -span,
            high=span,
        )
    else:  # a baseline that hardly varies: both intervals must agree
        ends = sorted(sign * (end - base) for end in (score.low, score.high))
        gain = Interval(sign * (value - base), ends[0], ends[1], score.level)
    text = _how(metric, value, sign * chosen.growth, chosen.n_blocks)
    return Estimate(score, baseline, gain, plain.plain, text=text)


def _how(metric: Metric, value: float, growth: float, n_blocks: int) -> str:
    """Describe the measurement, and what training on all rows may add."""
    text = (
        f"measured on predictions for all rows, by models trained on {n_blocks - 1} of "
        f"{n_blocks} blocks"
    )
    if metric.low is None or metric.high is None:
        return text
    better = float(np.clip(value + growth, metric.low, metric.high)) - value
    if not metric.greater_is_better:
        better = -better
    span = metric.high - metric.low
    if better < _WORTH_SAYING * span:
        return text
    return f"{text}; trained on all rows, the score is probably about {better:.2f} better"


def _together(question: Question, results: Sequence[OuterResult], found: Estimate) -> Estimate:
    """Move both intervals to the scores of all outer predictions, where these are means over rows.

    Blocks of unequal size would otherwise give a mean that no count of predictions confirms. Other
    metrics stay those of a period as long as a block.
    """
    metric = question.metric
    if not isinstance(metric.formula, RowMean):
        return found
    sign = 1.0 if metric.greater_is_better else -1.0
    trivial = [trivial_prediction(question, each.train, len(each.rows)) for each in results]
    value, base = (
        sign * float(measure(question, pieces)[0])
        for pieces in (
            [(each.rows, each.predicted) for each in results],
            [(each.rows, guess) for each, guess in zip(results, trivial, strict=True)],
        )
    )
    if not np.isfinite([value, base]).all():
        return found
    return replace(
        found,
        score=recentred(found.score, value, metric),
        baseline=recentred(found.baseline, base, metric),
        gain=recentred(found.gain, sign * (value - base), None),
    )


def recentred(interval: Interval, value: float, metric: Metric | None) -> Interval:
    """Return the interval moved to a value, within the range of the metric."""
    by = value - interval.value
    low, high = interval.low + by, interval.high + by
    if metric is not None:
        low = low if metric.low is None else max(low, metric.low)
        high = high if metric.high is None else min(high, metric.high)
    return Interval(value, min(low, value), max(high, value), interval.level)


def _within_range(question: Question, results: Sequence[OuterResult], found: Estimate) -> Interval:
    """Return the gain within the range that the metric leaves; above zero if no block denies it."""
    metric, gain, base = question.metric, found.gain, found.baseline.value
    ends = [
        None if end is None else (end - base if metric.greater_is_better else base - end)
        for end in (metric.low, metric.high)
    ]
    least, most = ends if metric.greater_is_better else ends[::-1]
    low = gain.low if least is None else max(gain.low, least)
    high = gain.high if most is None else min(gain.high, most)
    leads = np.array([each.score - each.baseline for each in results])
    leads = leads[np.isfinite(leads)]
    if low <= 0 and len(leads) >= _BLOCKS_THAT_CONVINCE and (leads > 0).all():
        low = float(leads.min()) / len(leads)
    return Interval(gain.value, min(low, gain.value), max(high, gain.value), gain.level)
