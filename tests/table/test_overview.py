from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.table._columns import Column
from assay.table._kinds import Kind, facts_of
from assay.table._overview import histogram, overview_of

pl = pytest.importorskip("polars")


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50))
def test_numbers_are_those_of_numpy(values: list[float]) -> None:
    column = pl.Series("x", values)
    found = overview_of(Column("x", Kind.NUMERIC, "number", "feature"), column, facts_of(column))
    quarters = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
    got = [found[key] for key in ("min", "q1", "median", "q3", "max")]
    np.testing.assert_allclose(got, quarters, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found["mean"], np.mean(values), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found["sd"], np.std(values, ddof=1), rtol=1e-6, atol=1e-6)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
def test_histogram_counts_every_value_once(values: list[float]) -> None:
    found = histogram(np.sort(np.array(values)))
    if found is None:
        return  # no 20 different edges between two neighbouring floats
    assert sum(found["counts"]) == len(values)
    assert len(found["edges"]) == len(found["counts"]) + 1 <= 21
    if len(found["counts"]) > 1:
        expected, _ = np.histogram(values, bins=found["edges"])
        assert found["counts"] == expected.tolist()


def test_few_integers_get_a_bar_each() -> None:
    found = histogram(np.array([1.0, 1.0, 2.0, 4.0]))
    assert found == {"edges": [0.5, 1.5, 2.5, 3.5, 4.5], "counts": [2, 1, 0, 1]}


def test_range_beyond_float64_has_no_histogram() -> None:
    assert histogram(np.array([-1.7e308, 1.7e308])) is None
