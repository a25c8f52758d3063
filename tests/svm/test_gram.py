"""Functions as kernels: of tables, of lists, of items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from assay.base import DataError
from assay.svm._gram import gram_of_function, is_items


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (["a", "b"], True),
        (np.array(["a", "b"]), True),
        (np.array([["a"], ["b"]]), True),
        (np.array([object(), object()]), True),
        ([[1, 2], [3]], True),
        ([("a", 1), ("b", 2)], True),
        ([{1}, {2}], True),
        ([[1, 2], [3, 4]], False),
        (np.ones((2, 2)), False),
        (csr_matrix(np.ones((2, 2))), False),
        (pd.DataFrame({"a": [1.0]}), False),
    ],
)
def test_items_are_told_from_rows_of_numbers(X: Any, expected: bool) -> None:
    assert is_items(X) is expected


def test_function_of_items_is_asked_for_every_pair() -> None:
    asked = []

    def kernel(a: str, b: str) -> float:
        if not isinstance(a, str):
            raise TypeError("one text at a time")
        asked.append((a, b))
        return float(len(a) * len(b))

    found = gram_of_function(kernel, ["a", "bb"], ["ccc"])
    assert found.tolist() == [[3.0], [6.0]]
    assert asked[1:] == [("a", "ccc"), ("bb", "ccc")]


def test_sparse_values_are_taken() -> None:
    rows = np.eye(3)
    found = gram_of_function(lambda A, B: csr_matrix(A @ B.T), rows, rows)
    assert np.array_equal(found, np.eye(3))


def test_error_inside_a_function_is_not_hidden() -> None:
    def broken(a: Any, b: Any) -> float:
        raise KeyError("missing table")

    with pytest.raises(KeyError, match="missing table"):
        gram_of_function(broken, ["a"], ["b"])
    with pytest.raises(KeyError, match="missing table"):
        gram_of_function(broken, np.ones((2, 2)), np.ones((2, 2)))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            lambda a, b: [1.0, 2.0],
            "the kernel <lambda> must return an array of shape (3, 3), one value for each pair; "
            "got shape (2,)",
        ),
        (
            lambda a, b: float("inf"),
            "the kernel <lambda> returned inf for rows 0 and 0",
        ),
    ],
    ids=["shape", "infinite"],
)
def test_wrong_values_of_items_are_refused(kernel: Any, message: str) -> None:
    items = ["a", "b", "c"]
    with pytest.raises(DataError) as caught:
        gram_of_function(kernel, items, items)
    assert str(caught.value) == message
