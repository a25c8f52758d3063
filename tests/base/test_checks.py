"""Parameter checks: what passes, and the exact words when something does not."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import joblib
import numpy as np
import pytest

from assay.base import (
    DataError,
    ParameterError,
    check_interval,
    check_n_jobs,
    check_option,
    check_weight,
)

INF = math.inf


@pytest.mark.parametrize(
    ("value", "low", "high", "settings"),
    [
        (1, 1, INF, {"integer": True}),
        (np.int32(3), 1, 5, {"integer": True}),
        (10**400, 1, INF, {"integer": True}),
        (0.0, 0, 1, {}),
        (1, 0, 1, {}),
        (Fraction(1, 2), 0, 1, {}),
        (np.float32(0.5), 0, 1, {"open_low": True, "open_high": True}),
        (INF, 1, INF, {}),
        ("sqrt", 1, INF, {"integer": True, "options": ["sqrt"]}),
        (None, 1, INF, {"options": [None]}),
    ],
)
def test_interval_accepts_numbers_inside_and_options(
    value: object, low: float, high: float, settings: dict[str, Any]
) -> None:
    check_interval("x", value, low, high, **settings)


@pytest.mark.parametrize(
    ("value", "low", "high", "settings", "allowed"),
    [
        (0, 1, INF, {"integer": True, "options": ["sqrt"]}, "an integer >= 1 or 'sqrt'"),
        (1.0, 1, INF, {"integer": True}, "an integer >= 1"),
        (True, 0, 1, {}, "a number in [0, 1]"),
        (math.nan, 0, INF, {}, "a number >= 0"),
        (math.nan, -INF, INF, {}, "a number"),
        (INF, 0, INF, {"open_high": True}, "a finite number >= 0"),
        (INF, -INF, INF, {"open_low": True, "open_high": True}, "a finite number"),
        (0, 0, 1, {"open_low": True}, "a number in (0, 1]"),
        (1, 0, 1, {"open_high": True}, "a number in [0, 1)"),
        (5, -INF, 3, {"integer": True}, "an integer <= 3"),
        (3, -INF, 3, {"open_high": True}, "a number < 3"),
        (0, 0, INF, {"open_low": True}, "a number > 0"),
        ("2", 1, 3, {"integer": True, "options": ["auto", None]}, None),
        ([1], 1, 3, {}, "a number in [1, 3]"),
    ],
)
def test_interval_says_what_is_allowed_and_what_came(
    value: object, low: float, high: float, settings: dict[str, Any], allowed: str | None
) -> None:
    allowed = allowed or "an integer in [1, 3], 'auto' or None"
    with pytest.raises(ParameterError) as caught:
        check_interval("x", value, low, high, **settings)
    assert str(caught.value) == f"x must be {allowed}; got {value!r}"


def test_interval_rejects_an_array_without_asking_its_truth() -> None:
    with pytest.raises(ParameterError, match=r"^x must be a number >= 0 or 'auto'; got array"):
        check_interval("x", np.arange(3), 0, options=["auto"])


def test_option_suggests_the_nearest() -> None:
    with pytest.raises(ParameterError) as caught:
        check_option("weights", "distanse", ["uniform", "distance", None])
    assert str(caught.value) == (
        "weights must be 'uniform', 'distance' or None; got 'distanse'; did you mean 'distance'?"
    )


def test_option_keeps_true_and_one_apart() -> None:
    check_option("copy", True, [True, False])
    with pytest.raises(ParameterError, match=r"^copy must be True or False; got 1$"):
        check_option("copy", 1, [True, False])


def test_n_jobs_counts_down_from_all_cores() -> None:
    cores = joblib.cpu_count()
    assert check_n_jobs(None) == 1
    assert check_n_jobs(7) == 7
    assert check_n_jobs(-1) == cores
    assert check_n_jobs(-2) == max(1, cores - 1)
    assert check_n_jobs(-1000) == 1


@pytest.mark.parametrize("n_jobs", [0, True, 1.5, "all"])
def test_n_jobs_rejects_what_is_no_number_of_threads(n_jobs: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        check_n_jobs(n_jobs)
    assert str(caught.value) == f"n_jobs must be None or an integer other than 0; got {n_jobs!r}"


def test_weight_is_a_copy_in_float64() -> None:
    given = np.array([1.0, 0.0])
    weight = check_weight(given, np.zeros((2, 1)))
    assert weight is not None
    assert weight is not given
    assert weight.dtype == np.float64
    assert check_weight(None, [[0]]) is None


def test_weight_as_a_number_means_equal_weights() -> None:
    weight = check_weight(2, [[0], [1]])
    assert weight is not None
    assert weight.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (
            [1, 2, 3],
            "sample_weight must hold one number per row, shape (2,); got shape (3,)",
        ),
        (
            [[1], [2]],
            "sample_weight must hold one number per row, shape (2,); got shape (2, 1)",
        ),
        ([1, -2], "sample_weight must be finite and not negative; got -2.0 in row 1"),
        ([math.nan, 1], "sample_weight must be finite and not negative; got nan in row 0"),
        ([0, 0], "sample_weight is zero in every row: no row is left to learn from"),
        (["a", "b"], "sample_weight must hold numbers only"),
    ],
)
def test_weight_says_what_is_wrong(weight: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        check_weight(weight, [[0], [1]])
    assert str(caught.value) == message
