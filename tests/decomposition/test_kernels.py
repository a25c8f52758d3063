"""The border of the native kernels: what they would read or write out of bounds is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay._core import decomposition as kernels

X = np.zeros((4, 3))
CODES = np.array([0, 1, 0, 1], dtype=np.int64)
NONE, ALL = np.empty(0), np.empty(0, dtype=np.int64)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shift": np.zeros(2)}, "shift needs one entry per column"),
        ({"axes": np.zeros((2, 4))}, "X and axes differ in n_features"),
        ({"out": np.zeros((4, 1))}, "out needs a row per row of X"),
        ({"n_threads": 0}, "n_threads must be at least 1"),
    ],
)
def test_projection_refuses_arrays_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    arguments = {"X": X, "shift": np.zeros(3), "axes": np.zeros((2, 3)), "out": np.zeros((4, 2))}
    with pytest.raises(ValueError, match=message):
        kernels.project(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"codes": CODES[:3]}, "codes needs one entry per row"),
        ({"codes": CODES - 1}, "a code is out of range"),
        ({"codes": CODES + 1}, "a code is out of range"),
        ({"codes": CODES * 0}, "a class has no row"),
        ({"weights": np.ones(3)}, "weights needs no entry or one per row"),
        ({"total": np.zeros(3)}, "total needs one entry per class"),
        ({"mean": np.zeros((2, 4))}, "mean needs a column per column"),
        ({"n_threads": 0}, "n_threads must be at least 1"),
    ],
)
def test_class_means_refuse_arrays_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    arguments = {
        "X": X,
        "codes": CODES,
        "weights": NONE,
        "total": np.zeros(2),
        "mean": np.zeros((2, 3)),
    }
    with pytest.raises(ValueError, match=message):
        kernels.class_means(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": np.array([4])}, "a row number is out of range"),
        ({"rows": np.array([-1])}, "a row number is out of range"),
        ({"codes": CODES + 1}, "a code is out of range"),
        ({"weights": np.ones(5)}, "weights needs no entry or one per row"),
        ({"mean": np.zeros((2, 2))}, "mean needs a column per column"),
        ({"out": np.zeros((3, 2))}, "out needs a row and a column per column"),
        ({"n_threads": 0}, "n_threads must be at least 1"),
    ],
)
def test_class_scatter_refuses_arrays_that_do_not_fit(
    changes: dict[str, Any], message: str
) -> None:
    arguments = {
        "X": X,
        "rows": ALL,
        "codes": CODES,
        "weights": NONE,
        "mean": np.zeros((2, 3)),
        "out": np.zeros((3, 3)),
    }
    with pytest.raises(ValueError, match=message):
        kernels.class_scatter(**{**arguments, **changes})
