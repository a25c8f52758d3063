from __future__ import annotations

import datetime as dt
import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay.base import DataError
from assay.table import Schema, Target, prepare, read

DAY = dt.datetime(2024, 1, 5)
FRAME = pl.DataFrame(
    {
        "size": [1.5, 2.0, None, 4.0],
        "town": ["Ulm", "Bonn", None, "Ulm"],
        "code": [3, 5, 3, None],
        "good": [True, False, None, True],
        "when": [DAY, None, DAY + dt.timedelta(days=3), DAY],
        "y": ["a", "b", "a", "b"],
    }
)
SCHEMA = prepare(read(FRAME), "y", kinds={"code": "nominal", "y": "nominal"}).schema
NAMES = [feature.name for feature in SCHEMA.features]


def row(**values: Any) -> dict[str, float]:
    """Return one new row as features, other columns empty."""
    empty = {name: [None] for name in ("size", "town", "code", "good", "when")}
    frame = pl.DataFrame(empty | {name: [value] for name, value in values.items()})
    return dict(zip(NAMES, SCHEMA.matrix(frame)[0].tolist(), strict=True))


def test_matrix_of_the_training_table_is_its_matrix() -> None:
    data = prepare(read(FRAME), "y", kinds={"code": "nominal"})
    np.testing.assert_array_equal(SCHEMA.matrix(FRAME), data.X)


@pytest.mark.parametrize(
    ("column", "value", "feature", "expected"),
    [
        ("size", 7, "size", 7.0),
        ("size", "7.5", "size", 7.5),
        ("size", "7,5", "size", 7.5),
        ("size", " NA ", "size", None),
        ("size", "-", "size", None),
        ("size", float("inf"), "size", None),
        ("size", True, "size", 1.0),
        ("town", "Bonn", "town", 0.0),
        ("town", " Bonn ", "town", 0.0),
        ("town", "Köln", "town", 2.0),
        ("town", "?", "town", None),
        ("town", "-", "town", 2.0),
        ("town", 5, "town", 2.0),
        ("code", 5, "code", 1.0),
        ("code", 5.0, "code", 1.0),
        ("code", "5", "code", 1.0),
        ("code", "5.0", "code", 1.0),
        ("code", 4, "code", 2.0),
        ("code", "x", "code", 2.0),
        ("code", "NA", "code", None),
        ("good", True, "good", 1.0),
        ("good", "False", "good", 0.0),
        ("good", 1, "good", 1.0),
        ("good", "perhaps", "good", None),
        ("when", DAY, "when.day", 5.0),
        ("when", dt.date(2024, 1, 7), "when.day", 7.0),
        ("when", "2024-01-09", "when.day", 9.0),
        ("when", "9 Jan 2024", "when.day", 9.0),
        ("when", "NA", "when.day", None),
    ],
)
def test_new_values_of_any_type_are_read_as_in_training(
    column: str, value: object, feature: str, expected: float | None
) -> None:
    found = row(**{column: value})[feature]
    assert found == expected if expected is not None else found != found


def test_known_level_is_no_missing_marker() -> None:
    frame = pl.DataFrame(
        {"t": pl.Series(["NA", "x", "NA", "None"], dtype=pl.Categorical), "y": ["a", "b"] * 2}
    )
    data = prepare(read(frame), "y")
    assert data.schema.features[0].levels == ("NA", "None", "x")
    assert data.X[:, 0].tolist() == [0.0, 2.0, 0.0, 1.0]


def test_schema_survives_json() -> None:
    again = Schema.from_dict(json.loads(json.dumps(SCHEMA.to_dict(), allow_nan=False)))
    assert again == SCHEMA
    np.testing.assert_array_equal(again.matrix(FRAME), SCHEMA.matrix(FRAME))


def test_target_survives_json() -> None:
    for target in (
        prepare(read(FRAME), "y").target,
        prepare(read(FRAME), "size").target,
        prepare(read(FRAME), "town").target,
    ):
        assert Target.from_dict(json.loads(json.dumps(target.to_dict()))) == target


# --- errors ---


def test_missing_column_names_the_nearest() -> None:
    with pytest.raises(DataError, match=r"has no column 'size', .*; did you mean 'Size'"):
        SCHEMA.matrix(FRAME.rename({"size": "Size"}))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("size", "big", "the table, row 1, column 'size': 'big' is not a number; correct it"),
        ("size", DAY, "column 'size': numbers are needed, but it holds dates"),
        ("when", "soon", "the table, row 1, column 'when': 'soon' is not a date"),
        ("when", "2024-02-30", "'2024-02-30' is not a date"),
        ("when", 5, "column 'when': dates are needed, but it holds numbers"),
        ("when", True, "column 'when': dates are needed, but it holds truth values"),
    ],
)
def test_value_of_the_wrong_sort_is_named(column: str, value: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        row(**{column: value})


def damaged(**changes: Any) -> dict[str, Any]:
    data = json.loads(json.dumps(SCHEMA.to_dict()))
    data["columns"][1].update(changes)
    return dict(data)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"columns": [], "missing": []},
        {"columns": 5, "missing": []},
        {"columns": SCHEMA.to_dict()["columns"], "missing": [1]},
        {"columns": SCHEMA.to_dict()["columns"][:1] * 2, "missing": []},
        damaged(kind="colour"),
        damaged(role="king"),
        damaged(storage="heap"),
        damaged(style="%"),
        damaged(name=5),
        damaged(levels="ab"),
        damaged(levels=["a", "a"]),
        damaged(levels=[]),
        damaged(parts=["century"]),
        damaged(more=1),
    ],
)
def test_damaged_schema_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="the schema is damaged"):
        Schema.from_dict(data)


GOOD_TARGET: dict[str, Any] = {
    "name": "y", "task": "binary", "classes": ["a", "b"], "positive": 1, "kind": "nominal",
    "storage": "text",
}  # fmt: skip


@pytest.mark.parametrize(
    "values",
    [["b", "a"], ["no", "yes"], [1, 0], [2.5, 0.5], [True, False], [10, 9, 2], ["10", "x", "2"]],
    ids=str,
)
def test_decoded_classes_are_the_values_of_the_table(values: list[Any]) -> None:
    frame = pl.DataFrame({"x": [0.5, 1.5, 2.5, 4.0] * 6, "y": (values * 24)[:24]})
    data = prepare(read(frame), "y", task="classification")
    decoded = data.target.decode(data.y)
    assert decoded.tolist() == frame["y"].to_list()
    assert Target.from_dict(data.target.to_dict()).decode(data.y).dtype == decoded.dtype


@pytest.mark.parametrize(
    "change",
    [
        {"name": 5},
        {"task": "ranking"},
        {"classes": None},
        {"classes": ["a"]},
        {"classes": ["a", "a"]},
        {"classes": ["a", "b", "c"]},
        {"classes": [1, 2]},
        {"positive": 2},
        {"positive": True},
        {"task": "multiclass"},
        {"kind": "colour"},
        {"storage": "heap"},
        {"storage": "number"},
        {"more": 1},
    ],
    ids=str,
)
def test_damaged_target_is_refused(change: dict[str, Any]) -> None:
    assert Target.from_dict(GOOD_TARGET).positive == 1
    with pytest.raises(DataError, match="the target is damaged"):
        Target.from_dict(GOOD_TARGET | change)
