"""Quicksort by preference: exact with an oracle, O(m log m), deterministic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.base import DataError, ParameterError
from assay.ranking import omega_loss, preference_sort
from assay.ranking._seed import row_priorities


def recursive(items: list[int], wins: NDArray[Any], priority: NDArray[Any]) -> list[int]:
    """Quicksort as textbooks have it, with the same pivots."""
    if len(items) < 2:
        return items
    pivot = min(items, key=lambda item: int(priority[item]))
    rest = [item for item in items if item != pivot]
    ahead = [item for item in rest if wins[item, pivot]]
    behind = [item for item in rest if not wins[item, pivot]]
    return [*recursive(ahead, wins, priority), pivot, *recursive(behind, wins, priority)]


@given(values=st.lists(st.integers(-5, 5), min_size=1, max_size=60), seed=st.integers(0, 99))
def test_sort_with_an_oracle_is_exact(values: list[int], seed: int) -> None:
    value = np.array(values)
    found = preference_sort(len(values), lambda a, b: value[a] - value[b], random_state=seed)
    assert found.order.tolist() == np.argsort(-value, kind="stable").tolist()


@given(qid=st.lists(st.integers(0, 4), min_size=1, max_size=60), seed=st.integers(0, 99))
def test_sort_with_an_oracle_is_exact_inside_each_query(qid: list[int], seed: int) -> None:
    value = np.random.default_rng(seed).normal(size=len(qid))
    found = preference_sort(len(qid), lambda a, b: value[a] - value[b], qid=qid, random_state=seed)
    assert found.order.tolist() == np.lexsort((-value, np.array(qid))).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_sort_by_circular_preferences_matches_the_recursion(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 40))
    wins = np.triu(random.random((n, n)) < 0.5, 1)
    wins |= np.tril(~wins.T, -1)  # a tournament: one of two wins
    priority = np.random.default_rng(
        np.random.RandomState(seed).randint(np.iinfo(np.int32).max)
    ).permutation(n)
    found = preference_sort(n, lambda a, b: 2.0 * wins[a, b] - 1, random_state=seed)
    assert found.order.tolist() == recursive(list(range(n)), wins, priority)


def test_number_of_comparisons_is_that_of_quicksort() -> None:
    n, counts = 2000, []
    for seed in range(10):
        value = np.random.default_rng(seed).normal(size=n)
        asked: list[int] = []

        def prefer(a: Any, b: Any, value: Any = value, asked: Any = asked) -> Any:
            asked.append(len(a))
            return value[a] - value[b]

        found = preference_sort(n, prefer, random_state=seed)
        assert found.n_comparisons == sum(asked)
        assert found.n_levels == len(asked) < 60
        counts.append(found.n_comparisons)
    # Expected: 2 (n + 1) H_n - 4 n, standard deviation 0.65 n.
    expected = 2 * (n + 1) * (1 / np.arange(1, n + 1)).sum() - 4 * n
    assert abs(np.mean(counts) - expected) < 4 * 0.65 * n / np.sqrt(10)


def test_a_query_is_sorted_alike_in_any_company() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(90, 3))
    alone, together = row_priorities(rows[:30], 5), row_priorities(rows, 5)
    assert np.array_equal(alone, together[:30])


def test_row_priorities_follow_values_and_seed_only() -> None:
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]])
    found = row_priorities(rows, 3)
    assert found[0] == found[1] != found[2]
    assert np.array_equal(row_priorities(rows[::-1].astype(np.float32), 3), found[::-1])
    assert not np.array_equal(row_priorities(rows, 4), found)


def test_mean_loss_of_the_sort_is_at_most_twice_that_of_the_preference() -> None:
    random = np.random.default_rng(0)
    n, preferred, sorted_ = 30, [], []
    truth = np.arange(n)[::-1].astype(float)
    for seed in range(100):
        wrong = np.triu(random.random((n, n)) < 0.2, 1)
        wrong |= wrong.T
        wins = (truth[:, None] > truth[None, :]) ^ wrong
        signs = 2.0 * wins - 1
        found = preference_sort(n, lambda a, b: signs[a, b], random_state=seed)  # noqa: B023
        position = np.empty(n)
        position[found.order] = np.arange(n)
        sorted_.append(omega_loss(truth, -position))
        preferred.append(np.triu(wrong, 1).sum())
    assert np.mean(sorted_) < 2 * np.mean(preferred)


def test_sort_of_one_item_compares_nothing() -> None:
    found = preference_sort(1, lambda a, b: a * 0.0)
    assert (found.order.tolist(), found.n_comparisons, found.n_levels) == ([0], 0, 0)


def test_sort_refuses_what_is_no_preference() -> None:
    with pytest.raises(DataError, match=r"prefer must return one number per pair, shape \(2,\)"):
        preference_sort(3, lambda a, b: np.zeros(7))
    with pytest.raises(DataError, match="none of them NaN"):
        preference_sort(3, lambda a, b: a * np.nan)
    with pytest.raises(ParameterError, match="n_items must be an integer >= 1; got 0"):
        preference_sort(0, lambda a, b: a)
    with pytest.raises(ParameterError, match="random_state must be None, an integer"):
        preference_sort(3, lambda a, b: a, random_state=-1)
