"""Equal rows are found exactly, and copies are told from chance repeats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

from assay.select import Family, duplicate_ids
from assay.select.plan import _duplicates as module
from assay.select.plan._duplicates import are_copies
from tests.select.asked import search


def brute(X: NDArray[Any]) -> list[int]:
    seen: dict[tuple[Any, ...], int] = {}
    ids = []
    for row in X.tolist():
        key = tuple("nan" if value != value else value + 0.0 for value in row)
        ids.append(seen.setdefault(key, len(seen)))
    return ids


@given(
    rows=st.lists(
        st.lists(st.sampled_from([0.0, -0.0, 1.0, np.nan, np.inf, 1e-300]), min_size=2, max_size=2),
        min_size=1,
        max_size=30,
    )
)
def test_duplicate_ids_match_brute_force(rows: list[list[float]]) -> None:
    X = np.array(rows)
    assert duplicate_ids(X).tolist() == brute(X)
    assert duplicate_ids(X.astype(np.float32)).tolist() == brute(X.astype(np.float32))


def test_colliding_hashes_are_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_mixed", lambda bits: np.zeros(len(bits), dtype=np.uint64))
    X = np.random.default_rng(0).integers(0, 3, (40, 2)).astype(float)
    assert duplicate_ids(X).tolist() == brute(X)


def test_columns_in_another_order_are_another_row() -> None:
    assert duplicate_ids(np.array([[1.0, 2.0], [2.0, 1.0]])).tolist() == [0, 1]


def test_input_is_not_changed() -> None:
    X = np.array([[-0.0, np.nan]])
    duplicate_ids(X)
    assert np.signbit(X[0, 0])


def test_empty_tables_have_ids() -> None:
    assert duplicate_ids(np.zeros((0, 3))).tolist() == []
    assert duplicate_ids(np.zeros((2, 0))).tolist() == [0, 0]


def test_oversampled_rows_are_copies_and_coarse_tables_are_not() -> None:
    random = np.random.default_rng(0)
    fine = random.normal(size=(200, 4))
    doubled = np.vstack([fine, fine])
    assert are_copies(doubled, duplicate_ids(doubled))
    coarse = random.integers(0, 2, (300, 3)).astype(float)
    assert not are_copies(coarse, duplicate_ids(coarse))
    assert not are_copies(fine, duplicate_ids(fine))


def test_search_keeps_copies_in_one_block() -> None:
    random = np.random.default_rng(0)
    X = np.repeat(random.normal(size=(60, 3)), 2, axis=0)
    y = np.repeat(np.arange(60) % 2, 2)
    outcome = search(X, y, [Family("bayes", GaussianNB())], task="binary")
    assert outcome.plan.duplicates == 120
    assert "120 rows are duplicates; they were kept in one block" in outcome.notes
    block = np.empty(120, int)
    block[outcome.outer.row] = outcome.outer.block
    assert (block[::2] == block[1::2]).all()


def test_search_does_not_keep_chance_repeats_together() -> None:
    X = np.random.default_rng(0).integers(0, 2, (200, 3)).astype(float)
    y = (X[:, 0] + np.arange(200) % 3 > 1).astype(int)
    outcome = search(X, y, [Family("bayes", GaussianNB())], task="binary")
    assert outcome.plan.duplicates == 0
    assert "that is expected" in outcome.notes[0]


def test_search_gives_up_on_few_sets_of_copies() -> None:
    random = np.random.default_rng(0)
    X = np.repeat(random.normal(size=(8, 6)), 20, axis=0)
    y = random.integers(0, 2, 160)
    outcome = search(X, y, [Family("bayes", GaussianNB())], task="binary")
    assert outcome.plan.duplicates == 0
    assert "only 8 distinct rows are left" in outcome.notes[0]
