"""Rows of queries are found whatever their names and order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.base import DataError
from assay.evaluate import Queries


@given(names=st.lists(st.integers(-3, 3), min_size=1, max_size=40))
def test_queries_hold_every_row_once(names: list[int]) -> None:
    queries = Queries.of(names, len(names))
    assert sorted(queries.order.tolist()) == list(range(len(names)))
    for query, label in enumerate(queries.labels):
        assert queries.rows(query).tolist() == [r for r, name in enumerate(names) if name == label]


@given(
    values=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=30),
)
def test_positions_count_the_better_items(values: list[tuple[int, int]]) -> None:
    qid, y = np.array(values).T
    expected = [1 + int(((qid == q) & (y > level)).sum()) for q, level in values]
    assert Queries.of(qid, len(qid)).positions(y).tolist() == expected


def test_no_queries_are_one_query() -> None:
    queries = Queries.of(None, 3)
    assert len(queries) == 1
    assert queries.rows(0).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "qid",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"], dtype=object),
        pd.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"]),
        np.array([1.5, 0.5, 1.5]),
        np.array([2, "1", 2], dtype=object),
        np.array(["2020-01-02", "2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
    ],
)
def test_queries_may_be_named_by_anything_sortable(qid: Any) -> None:
    assert Queries.of(qid, 3).codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "qid", [[1.0, np.nan, 2.0], np.array(["a", None, "b"], dtype=object), pl.Series([1, None, 2])]
)
def test_a_missing_query_is_refused(qid: Any) -> None:
    with pytest.raises(DataError, match="qid is missing in row 1; each row needs a query"):
        Queries.of(qid, 3)


def test_a_wrong_number_of_queries_is_refused() -> None:
    with pytest.raises(DataError, match=r"one query per row, shape \(3,\); got \(2,\)"):
        Queries.of([1, 2], 3)
