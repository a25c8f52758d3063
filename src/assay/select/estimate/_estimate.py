"""The number: the score of the choice, of the baseline and the gain, with their intervals.

What is promised is the score of a model built this way on this many rows. The outer choices were
made from (K-1)/K of the rows, so their mean is a little too low where more rows help. `estimate`
has the correction and the interval, docs/explanation/honesty.rst what was tried.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError, Predicted, Task
from assay.evaluate import Interval, interval_of_parts, panel
from assay.select.choose import (
    LeaveTwoOut,
    OuterResult,
    trivial_prediction,
)
from assay.select.estimate._effective_sample_size import effective_sample_size
from assay.select.estimate._estimate_blocks import by_blocks
from assay.select.estimate._pooled import balanced_groups, groups_of_rows, is_pooled
from assay.select.estimate._resampled_score import ResampledScore
from assay.select.plan import Question, RowPartitions

# Leaving out a whole block changes fits and choices more than a new sample of the same size would:
# the jackknife over blocks is two to three times too large. With the choices kept as they are it is
# smaller, so more of it is taken. Measured, see docs/explanation/honesty.rst.
_BLOCK_SHARE = {"classes": 0.3, "numbers": 0.4, "kept": 0.5}
# A baseline with a smaller part of the score's variance stands still: an area of 0.5, an R² of 0.
_STILL = 0.01


@dataclass(frozen=True)
class Estimate:
    """What is printed.

    Parameters
    ----------
    score, baseline : Interval
        Of the choice and of the trivial model, in natural sign.
    gain : Interval
        Score over baseline, positive is better.
    plain : Interval
        The mean of the outer blocks as it is, with the corrected resampled t.
    scores : mapping of str to Interval
        The same for every usual metric of the task, in natural sign.
    text : str
        What was done, in words.
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
        The outer choices and their honest predictions.
    smaller : LeaveTwoOut, optional
        The choices made without one more block, see `leave_two_out_choices`.

    Returns
    -------
    Estimate
        The score, the baseline, the gain and all usual metrics.

    Notes
    -----
    Let :math:`s_1` be the score of the outer choices, made from K-1 blocks, and :math:`s_2` that of
    the choices made from K-2 blocks, on the same rows. If a score grows like the logarithm of the
    number of rows, then K blocks give

    .. math:: s = s_1 + g (s_1 - s_2), \qquad g = \frac{\log K - \log(K-1)}{\log(K-1) - \log(K-2)}

    Its variance has three parts. The rows that judge: a jackknife of s over rows (or clusters),
    with degrees of freedom by its kurtosis. The rows that taught and chose: 0.3 times a jackknife
    over blocks of :math:`s_2`, where block k is left out of teaching, choosing and judging alike,
    less what the rows that judge explain of it (as a jackknife of :math:`s_1` says), 0.8 (K-1)
    degrees of freedom for each partition. For numeric targets (0.4 times), and where a stack or a
    calibration was not learned again (0.5 times), nothing is taken out of it, and it has K-1. The
    law of growth: what a straight line would add more, :math:`(1 - g) (s_1 - s_2)`, is one standard
    error, with K-1. The three are added as Welch and Satterthwaite do (`interval_of_parts`, which
    knows the bounds of a metric), and the interval of a share rests on no more rows than
    `effective_sample_size` says.

    Blocks that are balanced by a numeric target vary less than samples do, because far-out rows are
    dealt evenly. So the second part is multiplied by the jackknife of :math:`s_1` over rows divided
    by its jackknife over fresh balanced blocks, where that is greater than 1, at most by 4.

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
    text = "the mean of the outer blocks"
    if blocks.plan.kind == "forward":
        text += "; the interval is for the time that follows, as long as one of them"
    plain = Estimate(score, baseline, gain, score, text=text)
    if smaller is None:
        return plain
    again = None
    if blocks.is_balanced and question.task is Task.REGRESSION:
        count = len({each.outer.block for each in results})
        again = balanced_groups(question, blocks, count)
    return _corrected_estimate(question, blocks, results, smaller, again, plain) or plain


def _corrected_estimate(
    question: Question,
    blocks: RowPartitions,
    results: Sequence[OuterResult],
    smaller: LeaveTwoOut,
    again: NDArray[np.int64] | None,
    plain: Estimate,
) -> Estimate | None:
    """Correct for the rows that the outer choices lacked; None where that cannot be computed."""
    metric, n = question.metric, len(question.y)
    group, clusters = groups_of_rows(question, blocks), blocks.clusters
    # Choices that were not made again vary too little for anything to be taken out of them, and
    # numbers have far-out rows, which few rows that judge do not show.
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
    sign = 1.0 if metric.greater_is_better else -1.0
    low, high = metric.low, metric.high
    span = None if low is None or high is None else high - low
    behind = effective_sample_size(question)
    units = behind if clusters is None else math.ceil((int(clusters.max()) + 1) * behind / n)
    values = chosen.value, trivial.value
    if not np.isfinite([*values, *chosen.without_block.ravel()]).all():
        return None
    natural = [float(np.clip(sign * value, *_limits(metric.low, metric.high))) for value in values]
    difference = sign * (natural[0] - natural[1])
    parts, still = chosen.parts(share, once=once), trivial.parts(share, once=once)
    score = interval_of_parts(natural[0], parts, low=low, high=high, units=units, rows=behind)
    baseline = interval_of_parts(natural[1], still, low=low, high=high)
    if sum(each for each, _ in still) > _STILL * sum(each for each, _ in parts):
        gain = interval_of_parts(
            difference,
            chosen.parts(share, trivial, once=once),
            low=None if span is None else -span,
            high=span,
        )
    else:  # a baseline that hardly varies: both intervals must say the same
        ends = sorted(sign * (end - natural[1]) for end in (score.low, score.high))
        gain = Interval(difference, ends[0], ends[1], score.level)
    k = chosen.n_blocks
    added = score.value - sign * chosen.nested
    together = "" if not is_pooled(metric) else f", {sign * chosen.nested:.4f} on all rows together"
    text = (
        f"the mean of the blocks is {plain.plain.value:.4f}{together}; each choice used {k - 1} "
        f"of {k} blocks, and by the scores of choices from {k - 2}, all rows add {added:+.4f}"
    )
    return Estimate(score, baseline, gain, plain.plain, text=text)


def _limits(low: float | None, high: float | None) -> tuple[float, float]:
    return -np.inf if low is None else low, np.inf if high is None else high
