"""The memory limit: amounts are read, and no more workers run than fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from assay.base import ParameterError
from assay.select import Family
from assay.select.run import _memory as memory_module
from assay.select.run._memory import available_memory, bytes_of, workers_within
from tests.select.asked import search


@pytest.mark.parametrize(
    ("given", "amount"),
    [("4GB", 4e9), ("500 MB", 5e8), ("1.5g", 1.5e9), ("2GiB", 2e9), (1e9, 1e9), ("1000", 1000.0)],
)
def test_amounts_are_read(given: float | str, amount: float) -> None:
    assert bytes_of(given) == amount


@pytest.mark.parametrize("wrong", ["", "much", "-4GB", 0, "4 GHz", True, float("nan")])
def test_amounts_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="memory must be a positive amount such as '500MB'"):
        bytes_of(wrong)


def test_workers_fit_into_the_memory_but_one_always_runs() -> None:
    counts = [workers_within(8, limit, 1e8, [], 1000) for limit in (1e6, 1e9, 2e9, 4e9, 1e12)]
    assert counts[0] == 1
    assert counts == sorted(counts)
    assert counts[-1] == 8


def test_family_that_holds_a_square_matrix_counts_for_it() -> None:
    square = Family("kernel", GaussianNB(), memory=lambda rows: 8.0 * rows**2)
    assert workers_within(4, 2e9, 1e6, [square], 10_000) == 2
    assert workers_within(4, 2e9, 1e6, [Family("bayes", GaussianNB())], 10_000) == 4


def test_where_the_system_does_not_say_all_workers_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_module, "available_memory", lambda: None)
    assert workers_within(7, None, 1e15, [], 10) == 7


def test_available_memory_is_a_sane_amount() -> None:
    found = available_memory()
    assert found is None or found > 1e6


def test_memory_has_no_effect_on_the_result() -> None:
    X, y = make_classification(120, 4, random_state=0)
    families = [Family("bayes", GaussianNB(), [{"var_smoothing": s} for s in (1e-9, 0.1)])]
    small = search(X, y, families, task="binary", n_jobs=2, memory="1MB")
    large = search(X, y, families, task="binary", n_jobs=2, memory="100GB")
    assert small.leaderboard == large.leaderboard
    assert np.isfinite(small.score.value)
    assert small.score == large.score
