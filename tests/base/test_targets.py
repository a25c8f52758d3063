"""Targets: any label type becomes codes, any number becomes float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from assay.base import DataError, class_codes, real_values

TEXT = ["b", "a", "b"]


@pytest.mark.parametrize(
    "y",
    [
        TEXT,
        np.array(TEXT),
        np.array(TEXT, dtype=object),
        pd.Series(TEXT),
        pd.Series(TEXT, dtype="category"),
        pl.Series(TEXT),
        pl.Series(TEXT, dtype=pl.Categorical),
        pa.array(TEXT),
        pa.chunked_array([TEXT]),
    ],
    ids=lambda y: type(y).__module__,
)
def test_text_from_any_library_becomes_a_unicode_array(y: Any) -> None:
    classes, codes = class_codes(y)
    assert classes.dtype.kind == "U"
    assert classes.tolist() == ["a", "b"]
    assert codes.dtype == np.int64
    assert codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        ([3, 1], "i"),
        ([True, False], "b"),
        ([1.0, 2.0], "f"),
        (pd.Series([3, 1], dtype="Int64"), "i"),
    ],
)
def test_numbers_stay_numbers(y: Any, kind: str) -> None:
    assert class_codes(y)[0].dtype.kind in (kind, "f")


@given(st.lists(st.integers(-5, 5), min_size=1))
def test_codes_and_classes_give_back_the_labels(labels: list[int]) -> None:
    classes, codes = class_codes(labels)
    assert classes[codes].tolist() == labels
    assert classes.tolist() == sorted(set(labels))


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16, np.uint64])
@pytest.mark.parametrize("labels", [[0, 1], [3, 1, 7], [1, 5000], [0, 2**62]])
def test_integers_are_coded_as_sorting_codes_them(labels: list[int], kind: Any) -> None:
    if max(labels) > np.iinfo(kind).max:
        labels = [each % 100 for each in labels]
    y = np.tile(np.array(labels, dtype=kind), 4)
    low = np.iinfo(kind).min
    for values in (y, y + np.array(low, dtype=kind)):  # at the end of the type's range, too
        before = values.copy()
        classes, codes = class_codes(values)
        expected, inverse = np.unique(values, return_inverse=True)
        assert classes.dtype == expected.dtype
        assert codes.dtype == np.int64
        assert classes.tolist() == expected.tolist()
        assert codes.tolist() == inverse.tolist()
        codes[:] = 0
        assert values.tolist() == before.tolist()  # the caller's array is not ours


@pytest.mark.parametrize(
    "y", [["a", None, "b"], pl.Series(["a", None, "b"]), pd.Series(["a", np.nan, "b"])]
)
def test_missing_labels_are_counted(y: Any) -> None:
    if isinstance(y, list):
        y = np.array(y, dtype=object)
    with pytest.raises(DataError, match=r"^y has no label in 1 of 3 rows \(the first is row 1\)"):
        class_codes(y)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0.5, 1.5], "continuous"),
        ([[0, 1], [1, 0]], "1d array"),
        ([1.0, np.nan], "NaN"),
        (np.array(["a", "a\0"], dtype=object), "NUL"),
    ],
)
def test_what_is_no_label_is_refused(y: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        class_codes(y)


def test_a_single_column_is_taken_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning):
        assert class_codes([[1], [2]])[1].tolist() == [0, 1]
    with pytest.warns(DataConversionWarning):
        assert real_values([[1], [2]]).shape == (2,)


@pytest.mark.parametrize(
    "y", [[1, 2], pl.Series([1, 2]), pa.array([1, 2]), np.array([1, 2], dtype=np.float32)]
)
def test_real_values_are_float64(y: Any) -> None:
    values = real_values(y)
    assert values.dtype == np.float64
    assert values.tolist() == [1.0, 2.0]


def test_several_outputs_are_kept_when_allowed() -> None:
    two = [[1, 2], [3, 4]]
    assert real_values(two, multi_output=True).shape == (2, 2)
    assert real_values(pl.DataFrame(two), multi_output=True).shape == (2, 2)
    with pytest.raises(DataError, match="1d array"):
        real_values(two)


@pytest.mark.parametrize("y", [[1.0, np.nan], [np.inf, 1.0], ["a", "b"]])
def test_what_is_no_number_is_refused(y: Any) -> None:
    with pytest.raises(DataError):
        real_values(y)
