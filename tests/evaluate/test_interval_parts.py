"""Intervals from variances with degrees of freedom, and the metrics told beside the main one."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
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


@given(st.floats(1e-6, 10), st.floats(1e-6, 10))
def test_more_variance_never_makes_it_narrower(first: float, second: float) -> None:
    one = interval_of_parts(0.0, [(first, 50), (second, 4)])
    more = interval_of_parts(0.0, [(first, 50), (2 * second, 4)])
    assert more.high >= one.high


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
