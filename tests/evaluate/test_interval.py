"""Student's intervals: corrected for overlap, for what comes next, and from batches."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.base import ParameterError
from assay.evaluate import batch_t, corrected_t, next_t

SCORES = [0.81, 0.86, 0.79, 0.9, 0.84, 0.83]


def test_corrected_t_matches_the_formula_of_nadeau_and_bengio() -> None:
    interval = corrected_t(SCORES, 0.25, level=0.9)
    j = len(SCORES)
    half = stats.t.ppf(0.95, j - 1) * math.sqrt((1 / j + 0.25) * np.var(SCORES, ddof=1))
    assert interval.value == pytest.approx(np.mean(SCORES), abs=1e-15)
    assert interval.low == pytest.approx(np.mean(SCORES) - half, abs=1e-12)
    assert interval.high == pytest.approx(np.mean(SCORES) + half, abs=1e-12)
    assert interval.level == 0.9


def test_corrected_t_without_overlap_is_students_interval() -> None:
    interval = corrected_t(SCORES, 0.0)
    low, high = stats.t.interval(
        0.95, len(SCORES) - 1, loc=np.mean(SCORES), scale=stats.sem(SCORES)
    )
    assert interval.low == pytest.approx(low, abs=1e-12)
    assert interval.high == pytest.approx(high, abs=1e-12)


def test_next_t_is_the_prediction_interval_of_one_more_normal_score() -> None:
    interval = next_t(SCORES, level=0.9)
    half = stats.t.ppf(0.95, 5) * math.sqrt((1 + 1 / 6) * np.var(SCORES, ddof=1))
    assert interval.value == pytest.approx(np.mean(SCORES), abs=1e-15)
    assert interval.high - interval.value == pytest.approx(half, abs=1e-12)
    draws = np.random.default_rng(0).normal(size=(4000, 7))
    held = [abs(d[6] - d[:6].mean()) <= next_t(d[:6]).high - d[:6].mean() for d in draws]
    assert np.mean(held) == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / 4000))


def test_next_t_needs_two_scores_and_stays_in_range() -> None:
    with pytest.raises(ParameterError, match="next_t needs at least 2 scores, got 1"):
        next_t([0.5])
    interval = next_t([0.2, 0.9], low=0.0, high=1.0)
    assert (interval.low, interval.high) == (0.0, 1.0)


def test_batch_t_matches_the_formula() -> None:
    interval = batch_t(0.85, SCORES)
    half = stats.t.ppf(0.975, len(SCORES) - 1) * stats.sem(SCORES)
    assert interval.value == 0.85
    assert interval.low == pytest.approx(0.85 - half, abs=1e-12)
    assert interval.high == pytest.approx(0.85 + half, abs=1e-12)


@given(
    scores=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30),
    ratio=st.floats(0, 2),
    level=st.floats(0.5, 0.999),
)
def test_interval_contains_its_value_and_grows_with_overlap(
    scores: list[float], ratio: float, level: float
) -> None:
    plain = corrected_t(scores, ratio, level=level)
    assert plain.low <= plain.value <= plain.high
    wider = corrected_t(scores, ratio + 1, level=level)
    assert wider.low <= plain.low
    assert wider.high >= plain.high
    clipped = corrected_t(scores, ratio, level=level, low=0.0, high=1.0)
    assert clipped.low <= clipped.value <= clipped.high
    assert clipped.low >= min(0.0, clipped.value)
    assert clipped.high <= max(1.0, clipped.value)


def test_equal_scores_have_an_interval_of_no_width() -> None:
    interval = corrected_t([0.5, 0.5, 0.5], 0.25)
    assert interval.low == interval.value == interval.high == 0.5


def test_every_repeat_costs_a_degree_of_freedom() -> None:
    scores = np.array([*SCORES, *reversed(SCORES)])
    once, twice = corrected_t(scores, 0.25), corrected_t(scores, 0.25, repeats=2)
    n = len(scores)
    widened = stats.t.ppf(0.975, n - 2) / stats.t.ppf(0.975, n - 1)
    assert twice.high - twice.low == pytest.approx(widened * (once.high - once.low), rel=1e-12)


@pytest.mark.parametrize("repeats", [0, 3])
def test_corrected_t_rejects_repeats_that_leave_nothing(repeats: int) -> None:
    with pytest.raises(ParameterError, match=rf"repeats must be in \[1, 3\) .* got {repeats}"):
        corrected_t([0.5, 0.6, 0.7], 0.25, repeats=repeats)


def test_corrected_t_rejects_one_score() -> None:
    with pytest.raises(ParameterError, match="at least 2 scores, got 1"):
        corrected_t([0.5], 0.25)


@pytest.mark.parametrize("level", [0.0, 1.0, float("nan")])
def test_corrected_t_rejects_a_level_outside_0_1(level: float) -> None:
    with pytest.raises(ParameterError, match=r"level must be in \(0, 1\)"):
        corrected_t(SCORES, 0.25, level=level)


def test_corrected_t_rejects_a_negative_ratio() -> None:
    with pytest.raises(ParameterError, match="ratio must be at least 0, got -1"):
        corrected_t(SCORES, -1)
