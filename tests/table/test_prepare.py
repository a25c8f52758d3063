from __future__ import annotations

import datetime as dt
import io
import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay.base import DataError, ParameterError
from assay.table import Dataset, Kind, RowAccount, prepare, read

DAYS = [dt.datetime(2024, 1, 31) + dt.timedelta(days=k, hours=6 * k) for k in range(8)]
TABLE: dict[str, list[Any]] = {
    "id": list(range(8)),
    "size": [1.5, 2.5, None, 4.0, float("inf"), 6.0, 7.0, 8.0],
    "town": ["Ulm", "Bonn", "Ulm", None, "Köln", "Bonn", "Ulm", "Ulm"],
    "sold": ["yes", "no", "no", "yes", None, "no", "yes", "no"],
    "when": DAYS,
    "same": ["x"] * 8,
    "good": [True, False, None, True, True, False, True, False],
}


def made(**changes: Any) -> pl.DataFrame:
    return pl.DataFrame(TABLE | changes)


def prepared(target: str = "sold", frame: pl.DataFrame | None = None, **options: Any) -> Dataset:
    return prepare(read(made() if frame is None else frame), target, **options)


def column(data: Dataset, name: str) -> list[float]:
    names = [feature.name for feature in data.schema.features]
    values: list[float] = data.X[:, names.index(name)].tolist()
    return values


# --- the matrix ---


def test_matrix_holds_numbers_codes_and_parts() -> None:
    data = prepared()
    names = [feature.name for feature in data.schema.features]
    parts = ["when.month", "when.day", "when.weekday", "when.hour", "when.elapsed"]
    assert names == ["id", "size", "town", *parts, "good"]  # the year does not vary
    assert column(data, "size") == pytest.approx(
        [1.5, 2.5, np.nan, 4.0, 6.0, 7.0, 8.0], nan_ok=True
    )
    assert column(data, "town") == pytest.approx([2, 0, 2, np.nan, 0, 2, 2], nan_ok=True)
    assert column(data, "good") == pytest.approx([1, 0, np.nan, 1, 0, 1, 0], nan_ok=True)
    assert column(data, "when.month") == [1, 2, 2, 2, 2, 2, 2]
    assert column(data, "when.hour") == [0, 6, 12, 18, 6, 12, 18]
    days = [
        (day - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1) for day in DAYS if day != DAYS[4]
    ]
    assert column(data, "when.elapsed") == days
    kinds = [(feature.kind, feature.levels) for feature in data.schema.features]
    assert kinds[2] == ("nominal", ("Bonn", "Köln", "Ulm"))
    assert kinds[-1] == ("ordinal", ("false", "true"))
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous


def test_every_row_is_accounted_for() -> None:
    rows = ["a,1,1,5,0", "", ",1,1,6,1", "a,,1,6,1", "b,1,,6,1", "b,1,2,7,NA", "", "b,1,2,6,1"]
    text = "\n".join(["g,w,t,x,y", *rows, "b,2,3,5,0"])
    data = prepare(read(io.BytesIO(text.encode())), "y", group="g", weights="w", time="t")
    assert data.account == RowAccount(
        9,
        3,
        (
            ("blank line", 2),
            ("target missing", 1),
            ("group missing", 1),
            ("time missing", 1),
            ("weight missing", 1),
        ),
    )
    assert data.X.tolist() == [[5.0], [6.0], [5.0]]
    assert data.y.tolist() == [0, 1, 0]
    assert data.groups is not None
    assert data.groups.tolist() == [0, 1, 1]
    assert data.weight is not None
    assert data.weight.tolist() == [1.0, 1.0, 2.0]
    assert data.time is not None
    assert data.time.tolist() == [1.0, 2.0, 3.0]


def test_account_that_does_not_add_up_cannot_exist() -> None:
    with pytest.raises(AssertionError, match="10 rows read are not 8 used"):
        RowAccount(10, 8, (("blank line", 1),))


def test_new_rows_give_the_same_numbers_one_by_one() -> None:
    data = prepared()
    used = made().filter(pl.col("sold").is_not_null())
    shuffled = used.select(reversed(used.columns)).with_columns(extra=1)
    rows = [data.schema.matrix(shuffled[k]) for k in range(used.height)]
    np.testing.assert_array_equal(np.vstack(rows), data.X)


# --- the target ---


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        (["b", "a", "b"] * 4, "binary", ("a", "b")),
        (["c", "a", "b"] * 4, "multiclass", ("a", "b", "c")),
        ([True, False, True] * 4, "binary", ("false", "true")),
        (["No", "YES", "No"] * 4, "binary", ("No", "YES")),
        (["on", "off", "on"] * 4, "binary", ("off", "on")),
        ([0, 1, 0] * 4, "binary", ("0", "1")),
        ([0.0, 1.0, 0.0] * 4, "binary", ("0", "1")),
        ([1, 2, 10] * 5, "multiclass", ("1", "2", "10")),
        ([1, 2, 3] * 4, "regression", None),
        (list(range(11)) * 20, "regression", None),
        ([0.5, 1.0, 0.5] * 4, "regression", None),
    ],
)
def test_task_follows_from_the_target(
    values: list[Any], task: str, classes: tuple[str, ...] | None
) -> None:
    frame = pl.DataFrame({"x": np.random.default_rng(0).normal(size=len(values)), "y": values})
    target = prepare(read(frame), "y").target
    assert (target.task, target.classes) == (task, classes)


def test_task_can_be_overruled() -> None:
    frame = pl.DataFrame({"x": [0.5, 1.5, 0.1] * 10, "y": [1, 2, 3] * 10})
    raw = read(frame)
    assert prepare(raw, "y").target.task == "multiclass"
    assert prepare(raw, "y", task="regression").target.task == "regression"
    assert prepare(raw, "y", kinds={"y": "numeric"}).target.task == "regression"
    floats = read(frame.with_columns(pl.col("y") + 0.5))
    assert prepare(floats, "y", task="classification").target.classes == ("1.5", "2.5", "3.5")
    assert prepare(floats, "y", kinds={"y": "nominal"}).target.task == "multiclass"


def test_codes_are_positions_among_the_classes() -> None:
    data = prepared("town")
    assert data.target.classes == ("Bonn", "Köln", "Ulm")
    assert data.y.tolist() == [2, 0, 2, 1, 0, 2, 2]
    assert data.y.dtype == np.int64


@pytest.mark.parametrize(("positive", "code"), [(None, 1), ("yes", 1), ("no", 0)])
def test_positive_class_is_the_second_or_the_one_named(positive: str | None, code: int) -> None:
    assert prepared(positive=positive).target.positive == code


def test_target_called_like_an_internal_column_works() -> None:
    for name in ("level", "count", "rows", "literal", "index"):
        data = prepare(read(made().rename({"sold": name})), name)
        assert data.target.name == name


def test_infinite_targets_are_dropped_and_counted() -> None:
    data = prepared("size")
    assert data.account.dropped == (("target missing", 1), ("target infinite", 1))
    assert data.y.tolist() == [1.5, 2.5, 4.0, 6.0, 7.0, 8.0]


# --- kinds, roles, notes ---


def test_set_aside_columns_are_told() -> None:
    names = [f"person {k}" for k in range(60)]
    frame = pl.DataFrame(
        {"name": names, "n": range(60), "x": [k % 7 for k in range(60)], "y": ["a", "b"] * 30}
    )
    data = prepare(read(frame.with_columns(same=1, gone=pl.lit(None))), "y")
    told = "\n".join(data.notes)
    assert "set aside, identifier: 'name' (a different text in every row), 'n' (consec" in told
    assert "set aside, has the same value in every row: 'same'" in told
    assert "set aside, all values are missing: 'gone'" in told
    roles = {column.name: (column.role, bool(column.reason)) for column in data.schema.columns}
    assert roles == {
        "name": ("dropped", True),
        "n": ("dropped", True),
        "x": ("feature", False),
        "y": ("target", False),
        "same": ("dropped", True),
        "gone": ("dropped", True),
    }


def test_kinds_can_be_overruled() -> None:
    data = prepared(kinds={"id": "nominal", "size": "ordinal", "town": "identifier"})
    features = {feature.name: feature for feature in data.schema.features}
    assert features["id"].levels == tuple("01234567")
    assert features["size"].kind == "ordinal"
    assert features["size"].levels[:3] == ("1.5", "2.5", "4")
    assert "town" not in features


def test_order_of_levels_can_be_given() -> None:
    frame = pl.DataFrame({"s": ["low", "high", "mid", "low"], "y": ["a", "b", "a", "b"]})
    data = prepare(read(frame), "y", kinds={"s": "ordinal:low<mid<high<top"})
    assert data.X[:, 0].tolist() == [0.0, 2.0, 1.0, 0.0]
    assert data.schema.features[0].levels == ("low", "mid", "high", "top")


def test_compact_dates_are_dates_on_request() -> None:
    frame = pl.DataFrame({"d": [20240105, 20240206, None], "y": ["a", "b", "a"]})
    data = prepare(read(frame), "y", kinds={"d": "datetime"})
    names = [feature.name for feature in data.schema.features]
    assert data.X[:2, names.index("d.month")].tolist() == [1.0, 2.0]


def test_text_becomes_numbers_on_request() -> None:
    raw = read(io.BytesIO(b"zip,y\n01234,a\n90210,b\n"))
    assert prepare(raw, "y").schema.features[0].kind == "nominal"
    assert prepare(raw, "y", kinds={"zip": "numeric"}).X.tolist() == [[1234.0], [90210.0]]


def test_roles_are_no_features() -> None:
    data = prepared(group="town", time="when", weights="id", drop=["same"])
    assert [feature.name for feature in data.schema.features] == ["size", "good"]
    assert data.time is not None
    assert np.all(np.diff(data.time) > 0)
    roles = {column.name: column.role for column in data.schema.columns}
    assert roles["town"] == "group"
    assert roles["when"] == "time"
    assert roles["id"] == "weights"
    assert roles["same"] == "dropped"


@pytest.mark.parametrize("values", [[True, False] * 4, ["b", "a"] * 4, [2.5, -1.0] * 4, [7, 3] * 4])
def test_groups_of_any_type_get_codes(values: list[Any]) -> None:
    data = prepared(frame=made(town=values), group="town")
    assert data.groups is not None
    assert set(data.groups.tolist()) == {0, 1}
    assert data.groups.dtype == np.int64


def test_overview_is_json_and_covers_every_column() -> None:
    data = prepared(drop=["same"])
    again = json.loads(json.dumps(data.overview, allow_nan=False))
    assert [entry["name"] for entry in again] == list(TABLE)
    by_name = {entry["name"]: entry for entry in again}
    assert by_name["size"]["missing"] == 1
    assert by_name["size"]["distinct"] == 7
    assert by_name["town"]["top"][0] == {"level": "Ulm", "count": 4}
    assert by_name["good"]["top"][0] == {"level": "true", "count": 4}
    assert (by_name["sold"]["role"], by_name["sold"]["kind"]) == ("target", "boolean")
    assert by_name["same"]["reason"] == "on request"
    assert by_name["when"]["min"].startswith("2024-01-31")


# --- errors ---


@pytest.mark.parametrize(
    ("target", "options", "error", "message"),
    [
        ("solt", {}, DataError, r"has no column 'solt' \(target\); did you mean 'sold'\?"),
        ("zzz", {}, DataError, "has no column 'zzz' .target.; it has 'id', 'size', 'town', 'sold'"),
        ("sold", {"drop": ["towm"]}, DataError, "'towm' .dropped.; did you mean 'town'"),
        ("sold", {"group": "towm"}, DataError, "'towm' .group.; did you mean 'town'"),
        ("sold", {"kinds": {"towm": "nominal"}}, DataError, "'towm' .kind.; did you mean"),
        ("sold", {"kinds": {"town": "nominl"}}, ParameterError, "kind of 'town' must be .*nominal"),
        (
            "sold",
            {"kinds": {"town": "numeric"}},
            DataError,
            "row 1, column 'town': 'Ulm' is not a n",
        ),
        ("sold", {"kinds": {"town": "datetime"}}, DataError, "column 'town': 'Ulm' is not a date"),
        ("sold", {"kinds": {"when": "numeric"}}, DataError, "'when': numbers are needed, but it"),
        ("sold", {"kinds": {"town": "boolean"}}, DataError, "a boolean has two values, this has 3"),
        ("sold", {"kinds": {"town": "ordinal:Ulm<Bonn"}}, ParameterError, "'Köln' is not in it"),
        ("sold", {"drop": ["sold"]}, ParameterError, "cannot be both target and dropped"),
        ("sold", {"positive": "maybe"}, DataError, "no class 'maybe'; it has 'no' and 'yes'"),
        ("town", {"positive": "Ulm"}, ParameterError, "positive is for two classes"),
        ("size", {"positive": "1"}, ParameterError, "positive names a class"),
        ("sold", {"task": "clasification"}, ParameterError, "did you mean 'classification'"),
        ("town", {"task": "binary"}, DataError, "needs two classes, but the target 'town' has 3"),
        ("town", {"task": "regression"}, DataError, "column 'town': 'Ulm' is not a number"),
        ("same", {}, DataError, "the target 'same' has only one class, 'x'"),
        ("when", {}, DataError, "holds dates, which cannot be predicted"),
        ("sold", {"weights": "town"}, DataError, "column 'town': 'Ulm' is not a number"),
        ("sold", {"weights": "size"}, DataError, "negative or infinite"),
        ("sold", {"time": "town"}, DataError, "column 'town': 'Ulm' is not a date"),
    ],
)
def test_what_cannot_be_done_is_said(
    target: str, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    frame = made(sold=["yes", "no", "no", "yes", "no", "no", "yes", "no"])
    with pytest.raises(error, match=message):
        prepared(target, frame, **options)


def test_targets_without_information_are_refused() -> None:
    gone = made(sold=pl.Series([None] * 8, dtype=pl.String))
    with pytest.raises(DataError, match="the target 'sold' is missing in all 8 rows"):
        prepared(frame=gone)
    with pytest.raises(DataError, match="the target 'y' is 3 in every row"):
        prepared("y", made(y=[3.0] * 8), task="regression")
    many = pl.DataFrame({"y": [f"n{k}" for k in range(30)], "x": [k % 4 for k in range(30)]})
    with pytest.raises(DataError, match="has 30 classes in 30 rows; it looks like an identifier"):
        prepare(read(many), "y")


def test_table_without_features_is_refused() -> None:
    with pytest.raises(DataError, match=r"no column is left to learn from .*'same' .has the same"):
        prepared(frame=pl.DataFrame({"same": ["x"] * 4, "sold": ["yes", "no"] * 2}))


def test_errors_name_the_line_of_the_file() -> None:
    raw = read(io.BytesIO(b"a,w,y\n1,1,u\n\nx,1,\n2,-1,v\n3,1,u\noops,1,v\n"))
    with pytest.raises(DataError, match="<file>, line 7, column 'a': 'oops' is not a number"):
        prepare(raw, "y", kinds={"a": "numeric"})
    with pytest.raises(DataError, match="<file>, line 5, column 'w': the weight -1 is negative"):
        prepare(raw, "y", weights="w")


def test_rare_classes_are_kept_and_told() -> None:
    frame = pl.DataFrame({"x": range(21), "y": ["a"] * 10 + ["b"] * 10 + ["c"]})
    data = prepare(read(frame.with_columns(pl.col("x") * 1.5)), "y")
    assert data.account.used == 21
    assert "classes with fewer than 5 rows (kept): 'c' (1)" in data.notes


def test_target_kind_is_reported() -> None:
    assert prepared().target.kind == Kind.BOOLEAN
    assert prepared("town").target.kind == Kind.NOMINAL
    assert prepared("size").target.kind == Kind.NUMERIC
