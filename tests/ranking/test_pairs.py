"""Pairs by number are the pairs of a double loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.evaluate import Queries
from assay.evaluate.ranking_costs import cost_of
from assay.ranking._features import both_orders, pair_features
from assay.ranking._pairs import Pairs

ITEMS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=25)


@given(items=ITEMS)
def test_pairs_of_items_are_all_pairs_of_a_query(items: list[tuple[int, int]]) -> None:
    qid = [query for query, _ in items]
    pairs = Pairs.of_items(Queries.of(qid, len(qid)))
    n = len(qid)
    expected = {(b, a) for b in range(n) for a in range(b) if qid[a] == qid[b]}
    found = list(zip(*(part.tolist() for part in pairs.rows(np.arange(len(pairs)))), strict=True))
    assert len(found) == len(set(found)) == len(expected)
    assert set(found) == expected


@given(items=ITEMS, k=st.integers(1, 3))
def test_pairs_of_levels_put_the_better_item_first(items: list[tuple[int, int]], k: int) -> None:
    qid, y = np.array(items).T
    queries = Queries.of(qid, len(qid))
    for cost in (None, cost_of("top_k", k)):
        pairs = Pairs.of_levels(queries, y.astype(float), cost)
        place = queries.positions(y)
        expected = {
            (a, b)
            for a in range(len(qid))
            for b in range(len(qid))
            if qid[a] == qid[b] and y[a] > y[b] and (cost is None or place[a] <= k)
        }
        better, worse = pairs.rows(np.arange(len(pairs)))
        assert set(zip(better.tolist(), worse.tolist(), strict=True)) == expected
        assert len(pairs) == len(expected)


@given(items=ITEMS, size=st.integers(1, 7))
def test_blocks_hold_every_pair_once_and_in_order(items: list[tuple[int, int]], size: int) -> None:
    pairs = Pairs.of_items(Queries.of([query for query, _ in items], len(items)))
    whole = np.stack(pairs.rows(np.arange(len(pairs))))
    parts = [np.stack(block) for block in pairs.blocks(size)]
    assert all(part.shape[1] <= size for part in parts)
    assert np.array_equal(np.hstack([np.empty((2, 0), dtype=np.int64), *parts]), whole)


def test_drawn_pairs_are_different_ones_of_each_query_and_follow_the_seed() -> None:
    random = np.random.default_rng(0)
    qid, y = np.repeat([0, 1, 2], [40, 3, 30]), random.permutation(73).astype(float)
    queries = Queries.of(qid, len(qid))
    pairs = Pairs.of_levels(queries, y, None)
    better, worse = pairs.drawn(queries, 100, seed=1)
    assert np.bincount(qid[better]).tolist() == [100, 3, 100]
    assert (y[better] > y[worse]).all()
    assert (qid[better] == qid[worse]).all()
    assert len(set(zip(better.tolist(), worse.tolist(), strict=True))) == 203
    again, other = pairs.drawn(queries, 100, seed=1), pairs.drawn(queries, 100, seed=2)
    assert np.array_equal(again, (better, worse))
    assert not np.array_equal(other, (better, worse))


def test_a_few_pairs_of_a_huge_query_need_no_table_of_all_pairs() -> None:
    n = 300_000  # 45,000,000,000 pairs
    queries = Queries.of(None, n)
    pairs = Pairs.of_levels(queries, np.arange(n, dtype=float), None)
    assert len(pairs) == n * (n - 1) // 2
    better, worse = pairs.drawn(queries, 10, seed=0)
    assert (better > worse).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_of_a_pair_are_difference_or_greater(dtype: type) -> None:
    rows: NDArray[Any] = np.array([[1, 5, 2], [3, 5, 1]], dtype=dtype)
    there, back = np.array([0]), np.array([1])
    assert pair_features(rows, there, back, "difference").tolist() == [[-2, 0, 1]]
    assert pair_features(rows, there, back, "greater").tolist() == [[0, 0, 1]]
    assert pair_features(rows, back, there, "greater").tolist() == [[1, 0, 0]]
    assert rows.tolist() == [[1, 5, 2], [3, 5, 1]]


@pytest.mark.parametrize("features", ["difference", "greater"])
def test_both_orders_follow_each_other_whatever_the_size_of_a_block(features: str) -> None:
    random = np.random.default_rng(0)
    rows, (first, second) = random.normal(size=(20, 3)), random.integers(0, 20, (2, 50))
    there = pair_features(rows, first, second, features)
    back = pair_features(rows, second, first, features)
    for size in (1, 7, 50, 1000):
        found = both_orders(rows, first, second, features, size)
        assert np.array_equal(found, np.vstack([there, back]))


def test_the_difference_of_huge_numbers_stays_a_number() -> None:
    rows = np.array([[1.7e308], [-1.7e308]])
    found = pair_features(rows, np.array([0, 1]), np.array([1, 0]), "difference")
    assert np.isfinite(found).all()
    assert found[0, 0] > 1e308
