"""Many classes from problems of two: layout and votes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.svm._classes import (
    by_class,
    gather,
    n_lines,
    n_tasks,
    pair_decisions,
    tasks,
    votes,
    votes_and_confidence,
)


@pytest.mark.parametrize(("n_classes", "how"), [(2, "ovo"), (2, "ovr"), (4, "ovo"), (4, "ovr")])
def test_every_coefficient_has_its_own_place(n_classes: int, how: str) -> None:
    codes = np.random.default_rng(0).permutation(np.arange(20) % n_classes)
    used = np.flatnonzero(np.arange(20) != 7)
    parts = tasks(codes, used, n_classes, how)
    assert len(parts) == n_tasks(n_classes, how)
    shape = (n_lines(n_classes, how), 20)
    values = [np.full(len(part.rows), float(k + 1)) for k, part in enumerate(parts)]
    whole = gather(parts, values, shape)
    assert np.count_nonzero(whole) == sum(len(part.rows) for part in parts)
    assert not whole[:, 7].any()
    for k, part in enumerate(parts):
        assert (whole[part.slots, part.rows] == k + 1).all()
        assert set(codes[part.rows[part.signs > 0]]) == {part.positive}


def test_rows_go_class_by_class() -> None:
    codes = np.array([1, 0, 1, 0])
    assert by_class(np.arange(4), codes).tolist() == [1, 3, 0, 2]


def test_decision_of_a_pair_sums_both_classes() -> None:
    rng = np.random.default_rng(0)
    sums = [rng.normal(size=(5, 2)) for _ in range(3)]
    found = pair_decisions(sums, np.array([10.0, 20.0, 30.0]), 3)
    np.testing.assert_allclose(found[:, 0], sums[0][:, 0] + sums[1][:, 0] + 10)
    np.testing.assert_allclose(found[:, 1], sums[0][:, 1] + sums[2][:, 0] + 20)
    np.testing.assert_allclose(found[:, 2], sums[1][:, 1] + sums[2][:, 1] + 30)


@given(seed=st.integers(0, 1000), n_classes=st.integers(3, 6))
def test_confidence_breaks_ties_and_nothing_else(seed: int, n_classes: int) -> None:
    decisions = np.random.default_rng(seed).normal(size=(10, n_tasks(n_classes, "ovo"))) * 1e3
    count, fine = votes(decisions, n_classes), votes_and_confidence(decisions, n_classes)
    assert (count.sum(axis=1) == n_tasks(n_classes, "ovo")).all()
    assert (np.abs(fine - count) < 1 / 3).all()
    best = fine.argmax(axis=1)
    assert (count[np.arange(10), best] == count.max(axis=1)).all()
