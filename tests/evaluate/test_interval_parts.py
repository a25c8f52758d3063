"""Intervals from variances with degrees of freedom, and the metrics told beside the main one."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, norm
from scipy.stats import t as student
from sklearn.metrics import recall_score

from assay.base import ParameterError, Predicted
from assay.evaluate import corrected_t, get_metric, interval_of_parts, panel


def test_one_part_is_students_interval() -> None:
    found = interval_of_parts(3.0, [(0.25, 7)])
    half = 0.5 * student.ppf(0.975, 7)
    assert (found.low, found.high) == pytest.approx((3 - half, 3 + half))


def test_corrected_t_is_the_interval_of_one_part() -> None:
    scores, ratio = [0.8, 0.7, 0.9, 0.85, 0.75], 0.25
    variance = float((1 / 5 + ratio) * np.var(scores, ddof=1))
    one, other = interval_of_parts(0.8, [(variance, 4)]), corrected_t(scores, ratio)
    assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_equal_parts_of_equal_freedom_have_twice_the_freedom() -> None:
    found = interval_of_parts(0.0, [(0.5, 6), (0.5, 6)])
    assert found.high == pytest.approx(student.ppf(0.975, 12))


def test_rows_of_a_unit_that_differ_count_each_and_without_variance_as_one_unit() -> None:
    s, n, units = 0.8, 500, 100
    share = partial(interval_of_parts, low=0.0, high=1.0)
    independent = share(s, [(s * (1 - s) / n, 1e9)], units=units, rows=n)
    assert independent == share(s, [(s * (1 - s) / n, 1e9)], units=n)
    alike = share(s, [(s * (1 - s) / units, 1e9)], units=units, rows=n)
    wider = (alike.high - alike.low) / (independent.high - independent.low)
    assert wider == pytest.approx(np.sqrt(n / units), rel=0.03)  # Wilson pulls it in a little
    perfect = share(1.0, [(0.0, units - 1)], units=units, rows=n)
    assert perfect == share(1.0, [(0.0, units - 1)], units=units)


def test_a_share_of_many_rows_gets_wilsons_interval() -> None:
    n, s = 200, 0.9
    found = interval_of_parts(s, [(s * (1 - s) / n, 1e9)], low=0.0, high=1.0, units=n)
    z = norm.ppf(0.975)
    centre = (s + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(s * (1 - s) / n + z**2 / (4 * n**2))
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half), rel=1e-6)


def test_cube_roots_of_distances_from_the_only_bound_are_symmetric() -> None:
    error = interval_of_parts(2.0, [(0.3, 20)], low=0.5)
    low, value, high = (np.cbrt(each - 0.5) for each in (error.low, 2.0, error.high))
    assert high - value == pytest.approx(value - low)
    half = student.ppf(0.975, 20) * np.sqrt(0.3)
    assert high - value == pytest.approx(half / (3 * value**2))  # the derivative of the root


def test_a_mean_of_squares_is_held_more_often_than_by_a_symmetric_interval() -> None:
    # Closed form: the mean of m squared errors of variance 1 is chi-squared over m.
    m = 12
    seen = chi2.ppf(np.linspace(0.0005, 0.9995, 1000), m) / m
    found = [interval_of_parts(s, [(2 * s**2 / m, 1e9)], low=0.0) for s in seen]
    held = np.mean([each.low <= 1 <= each.high for each in found])
    half = norm.ppf(0.975) * np.sqrt(2 / m)
    symmetric = np.mean([s * (1 - half) <= 1 <= s * (1 + half) for s in seen])
    assert symmetric < 0.88
    assert held > 0.915


@given(st.floats(-50, 1), st.floats(0, 10), st.floats(1, 100))
def test_a_score_below_one_mirrors_an_error_above_zero(
    value: float, variance: float, freedom: float
) -> None:
    score = interval_of_parts(value, [(variance, freedom)], high=1.0)
    error = interval_of_parts(1 - value, [(variance, freedom)], low=0.0)
    assert (1 - score.high, 1 - score.low) == pytest.approx((error.low, error.high), abs=1e-9)
    assert score.low <= value <= score.high <= 1


@pytest.mark.parametrize("distance", [0.0, 1e-300, 1e-9, 1e-3])
def test_an_estimate_at_its_bound_has_a_finite_interval(distance: float) -> None:
    # What is added for size can carry a score to its bound, where a root would know no measure.
    half = student.ppf(0.975, 10) * 0.1
    found = interval_of_parts(1 - distance, [(0.01, 10)], high=1.0)
    assert found.high == pytest.approx(1.0, abs=1e-15)
    assert found.low == pytest.approx(1 - distance - half * 7 / 3)


@given(
    st.floats(0, 1),
    st.floats(0, 0.1),
    st.floats(0, 0.1),
    st.integers(2, 1000),
)
def test_a_share_stays_inside_and_holds_its_value(
    value: float, first: float, second: float, units: int
) -> None:
    found = interval_of_parts(
        value, [(first, units - 1), (second, 4)], low=0.0, high=1.0, units=units
    )
    assert 0 <= found.low <= value <= found.high <= 1


@given(st.floats(1e-6, 10), st.floats(1e-6, 10), st.sampled_from([None, -1.0]))
def test_more_variance_never_makes_it_narrower(
    first: float, second: float, low: float | None
) -> None:
    one = interval_of_parts(0.0, [(first, 50), (second, 4)], low=low)
    more = interval_of_parts(0.0, [(first, 50), (2 * second, 4)], low=low)
    assert more.high >= one.high
    assert more.low <= one.low


@pytest.mark.parametrize("parts", [[], [(-1.0, 3)], [(1.0, 0)], [(float("nan"), 3)]])
def test_parts_that_are_none_are_refused(parts: list[tuple[float, float]]) -> None:
    with pytest.raises(ParameterError, match="parts must be variances with degrees of freedom"):
        interval_of_parts(0.0, parts)


def test_level_is_checked() -> None:
    with pytest.raises(ParameterError, match=r"level must be in \(0, 1\), got 1"):
        interval_of_parts(0.0, [(1.0, 3)], level=1)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression", "rank"])
def test_the_usual_metric_of_a_task_is_in_its_panel(task: str) -> None:
    names = [metric.name for metric in panel(task)]
    assert get_metric(None, task).name in names
    assert len(set(names)) == len(names)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30))
def test_specificity_is_the_recall_of_the_negative_class(pairs: list[tuple[int, int]]) -> None:
    y, label = np.array(pairs, dtype=np.int64).T
    metric = next(each for each in panel("binary") if each.name == "specificity")
    expected = recall_score(y, label, pos_label=0, zero_division=0)
    assert metric.score(y, Predicted(label=label)) == pytest.approx(expected)


def test_no_mistake_is_limited_by_the_rows_whatever_variance_is_found_elsewhere() -> None:
    perfect = interval_of_parts(1.0, [(0.01, 4)], low=0.0, high=1.0, units=60)
    assert perfect.low == pytest.approx(0.886, abs=0.001)  # t of 4 degrees of freedom
    assert perfect.high == 1.0
