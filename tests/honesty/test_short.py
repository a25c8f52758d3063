"""A short run of the simulation, with bounds that a broken number or interval does not pass."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.honesty.contestants import assay_search, grid_search
from tests.honesty.draws import one_comparison, one_draw
from tests.honesty.worlds import WORLDS

DRAWS, N = 20, 50
CELLS = ("noise auc", "signal", "numbers")


@cache
def drawn(name: str) -> dict[str, Any]:
    rows = [
        one_draw(WORLDS[name], N, draw, lambda w, r, seed: assay_search(w, r, seed, repeats=1))
        for draw in range(DRAWS)
    ]
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def covered(shrunk: float = 1.0) -> float:
    """Return the share of intervals, made narrower by a factor, that hold the mean truth."""
    hits = []
    for name in CELLS:
        cell = drawn(name)
        middle, half = (cell["low"] + cell["high"]) / 2, shrunk * (cell["high"] - cell["low"]) / 2
        hits += list(np.abs(cell["true"].mean() - middle) <= half)
    return float(np.mean(hits))


@pytest.mark.parametrize("name", CELLS)
def test_printed_minus_true_is_zero_on_average(name: str) -> None:
    error = drawn(name)["printed"] - drawn(name)["true"]
    assert abs(error.mean()) < 4 * error.std(ddof=1) / np.sqrt(DRAWS)
    assert error.std() < 0.3


def test_intervals_hold_the_truth() -> None:
    assert covered() >= 0.88


def test_the_bound_on_coverage_catches_an_interval_that_is_half_as_wide() -> None:
    assert covered(0.5) < 0.88


def test_noise_is_called_noise() -> None:
    assert (drawn("noise auc")["gain_low"] > 0).sum() <= 3


def test_signal_is_called_signal() -> None:
    assert (drawn("numbers")["gain_low"] > 0).sum() >= DRAWS / 3


def test_the_plain_best_score_is_caught_on_noise() -> None:
    rows = [one_draw(WORLDS["noise auc"], N, draw, grid_search) for draw in range(5)]
    error = np.array([row["printed"] - row["true"] for row in rows])
    assert error.mean() > 0.03


def test_two_equal_pipelines_are_not_told_apart() -> None:
    assert sum(one_comparison(N, draw)["alarm"] for draw in range(10)) <= 3
