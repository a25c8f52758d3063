"""Nominal columns: found by dtype, name, number or mask, and coded the same from any source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.base import DataError, Levels, ParameterError, as_frame, nominal_columns
from tests.base.estimators import Coded

COLUMNS = {"size": [1.5, None, 3.0], "color": ["red", None, "blue"], "hot": [True, False, None]}
CODED = [[1.5, 1, 1], [np.nan, np.nan, 0], [3, 0, np.nan]]
FRAMES = [
    pd.DataFrame(COLUMNS),
    pd.DataFrame(COLUMNS).astype({"color": "category", "hot": "boolean"}),
    pl.DataFrame(COLUMNS),
    pl.DataFrame(COLUMNS).cast({"color": pl.Categorical}),
    pl.DataFrame(COLUMNS).cast({"color": pl.Enum(["red", "green", "blue"])}),
    pa.table(COLUMNS),
]


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__module__)
def test_any_library_gives_the_same_codes(frame: Any) -> None:
    model = Coded().fit(frame)
    assert np.array_equal(model.transform(frame), CODED, equal_nan=True)
    assert model.categorical_features_.tolist() == [1]
    assert model.levels_.tolist() == ["blue", "red"]


@pytest.mark.parametrize(
    "categorical_features", ["from_dtype", ["color"], [1], [False, True, False], (1, 1)]
)
def test_columns_are_named_in_any_way(categorical_features: Any) -> None:
    frame = as_frame(FRAMES[2])
    assert nominal_columns(categorical_features, 3, frame).tolist() == [1]


@pytest.mark.parametrize("categorical_features", [None, [], [False, False, False]])
def test_no_column_may_be_nominal(categorical_features: Any) -> None:
    assert nominal_columns(categorical_features, 3, as_frame(FRAMES[2])).size == 0
    assert nominal_columns("from_dtype", 3, None).size == 0


def test_arrays_of_objects_mix_text_and_numbers() -> None:
    rows = np.array([["b", 1.0, 2], ["a", 2.0, 10], ["b", None, 10]], dtype=object)
    model = Coded(categorical_features=[0, 2]).fit(rows)
    expected = np.array([[1, 1, 0], [0, 2, 1], [1, np.nan, 1]])
    assert np.array_equal(model.transform(rows), expected, equal_nan=True)
    assert model.levels_.tolist() == ["a", "b", "2", "10"]
    assert model.level_offsets_.tolist() == [0, 2, 4]


def test_numbers_are_levels_whatever_their_type() -> None:
    model = Coded(categorical_features=[0]).fit(np.array([[3.0], [1.0], [0.5]]))
    assert model.levels_.tolist() == ["0.5", "1", "3"]
    assert model.transform(np.array([[1], [3]], dtype=np.int8)).tolist() == [[1.0], [2.0]]


@given(
    st.lists(
        st.sampled_from([0.0, -0.0, 1.0, 2.0, 7.0, 65535.0, 65536.0, 2.5, -3.0, np.nan]),
        min_size=1,
    ),
    st.sampled_from([np.float64, np.float32]),
)
def test_numbers_are_coded_in_their_order(values: list[float], kind: Any) -> None:
    column = np.array(values, dtype=kind)
    levels = Levels.learn([column])
    known = np.unique(column[~np.isnan(column)])
    assert [float(name) for name in levels.of(0)] == known.tolist()
    expected = np.where(np.isnan(column), np.nan, np.searchsorted(known, column))
    np.testing.assert_array_equal(levels.codes(0, column), expected)


def test_unseen_levels_get_the_code_after_the_last() -> None:
    model = Coded().fit(pl.DataFrame({"color": ["red", "blue"]}))
    assert model.transform(pl.DataFrame({"color": ["green", "red"]})).tolist() == [[2.0], [1.0]]


def test_restored_model_codes_the_same() -> None:
    model = Coded().fit(FRAMES[2])
    restored = Coded.from_state(model.get_params(), model.state())
    assert np.array_equal(restored.transform(FRAMES[2]), CODED, equal_nan=True)


@given(
    st.lists(st.text(max_size=5).filter(lambda text: "\0" not in text), min_size=1), st.randoms()
)
def test_codes_do_not_depend_on_row_order(values: list[str], random: Any) -> None:
    shuffled = random.sample(values, len(values))
    one, two = (Levels.learn([np.array(column, dtype=object)]) for column in (values, shuffled))
    assert one.names.tolist() == two.names.tolist() == sorted(set(values))
    codes = one.codes(0, np.array(values, dtype=object))
    assert [one.of(0)[int(code)] for code in codes] == values


@pytest.mark.parametrize(
    ("categorical_features", "message"),
    [
        ("color", "categorical_features must be 'from_dtype', None, or an array of column names, "),
        (["colour"], "categorical_features names column 'colour', which X does not have"),
        ([3], "categorical_features as column numbers must be in [0, 2]; got 3"),
        ([-1], "categorical_features as column numbers must be in [0, 2]; got -1"),
        ([True], "categorical_features as booleans needs one per column (3); got 1"),
        ([0.5], "categorical_features must be 'from_dtype', None, or an array of column names, "),
        (3, "categorical_features must be 'from_dtype', None, or an array of column names, "),
    ],
)
def test_wrong_columns_are_named(categorical_features: Any, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Coded(categorical_features=categorical_features).fit(FRAMES[2])
    assert str(caught.value).startswith(message)


def test_names_need_a_dataframe() -> None:
    with pytest.raises(ParameterError, match=r"X is an array without names; give column numbers"):
        nominal_columns(["a"], 1, None)


def test_level_that_ends_in_nul_is_refused() -> None:
    with pytest.raises(DataError, match="NUL"):
        Levels.learn([np.array(["a", "a\0"], dtype=object)])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("level_offsets_", np.array([0, 3])),
        ("level_offsets_", np.array([1, 2])),
        ("levels_", np.array(["blue"])),
        ("levels_", np.array([1.0, 2.0])),
        ("categorical_features_", np.array([3])),
        ("categorical_features_", np.array([1, 1])),
    ],
)
def test_damaged_levels_are_refused(name: str, value: Any) -> None:
    model = Coded().fit(FRAMES[2])
    with pytest.raises(DataError, match="the model is damaged"):
        Coded.from_state(model.get_params(), {**model.state(), name: value})


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, 7.0, 65535.0, np.nan]), min_size=1),
    st.lists(st.sampled_from([0.0, 1.0, 3.0, 7.0, 65535.0, 0.5, -1.0, np.nan]), min_size=1),
)
def test_codes_of_whole_numbers_and_of_others_are_those_of_their_text(
    learned: list[float], asked: list[float]
) -> None:
    levels = Levels.learn([np.array(learned)])
    known = levels.of(0).tolist()
    assert known == [f"{value:g}" for value in sorted({each for each in learned if each == each})]
    expected = [
        np.nan if each != each else known.index(f"{each:g}") if f"{each:g}" in known else len(known)
        for each in asked
    ]
    np.testing.assert_array_equal(levels.codes(0, np.array(asked)), expected)


NUMBERS = [0.0, 1.0, 2.0, 7.0, 65535.0, 65536.0, 0.5, -1.0, np.nan, np.inf]


@given(
    st.lists(st.tuples(*[st.sampled_from(NUMBERS[:-1])] * 3), min_size=1),
    st.lists(st.tuples(*[st.sampled_from(NUMBERS)] * 3), min_size=1),
    st.sampled_from("CF"),
)
def test_a_matrix_of_level_numbers_is_coded_like_its_columns(
    learned: list[tuple[float, ...]], asked: list[tuple[float, ...]], order: Any
) -> None:
    train, rows = np.array(learned), np.array(asked)
    rows[:, 1] = 0.25  # no level: stays as it is
    levels = Levels.learn([train[:, 0], train[:, 2]])
    expected = rows.copy()
    for c, j in enumerate((0, 2)):
        expected[:, j] = levels.codes(c, rows[:, j])
    given_rows = np.array(rows, order=order)
    coded = Coded(categorical_features=[0, 2]).fit(train).transform(given_rows)
    np.testing.assert_array_equal(coded, expected)
    np.testing.assert_array_equal(given_rows, rows)  # the caller's table is not touched


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble, np.int8])
def test_every_kind_of_number_is_coded(kind: Any) -> None:
    train = np.array([[3, 1], [5, 2], [3, 9]], dtype=kind)
    coded = Coded(categorical_features=[0]).fit(train).transform(train)
    assert coded.tolist() == [[0, 1], [1, 2], [0, 9]]
