from __future__ import annotations

import datetime as dt
import io
import os
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.base import DataError, ParameterError
from assay.table import MISSING_MARKERS, RawTable, prepare, read
from tests.table.corpus.formats import workbook

MOMENT = dt.datetime(2024, 1, 5, 13, 30)
CONTENT: dict[str, list[Any]] = {
    "whole": [1, 2, None, 4],
    "real": [0.1, -2.5, None, 1e300],
    "truth": [True, None, False, True],
    "word": ["a", 'b "quoted", with comma', None, "line\nbreak"],
    "when": [MOMENT, None, MOMENT, MOMENT + dt.timedelta(days=40)],
    "large": [2**60 + 1, 5, 6, 7],
}


def as_csv(frame: pl.DataFrame, **options: Any) -> io.BytesIO:
    stream = io.BytesIO()
    frame.write_csv(stream, **options)
    return io.BytesIO(stream.getvalue())


def as_parquet(frame: pl.DataFrame) -> io.BytesIO:
    stream = io.BytesIO()
    frame.write_parquet(stream)
    return io.BytesIO(stream.getvalue())


def as_ndjson(frame: pl.DataFrame) -> io.BytesIO:
    stream = io.BytesIO()
    frame.write_ndjson(stream)
    return io.BytesIO(stream.getvalue())


def as_ipc(frame: pl.DataFrame) -> io.BytesIO:
    stream = io.BytesIO()
    frame.write_ipc(stream)
    return io.BytesIO(stream.getvalue())


def attempt(data: bytes, **options: Any) -> tuple[RawTable | None, str]:
    """Return the table, or the message of the error."""
    try:
        return read(io.BytesIO(data), **options), ""
    except DataError as error:
        return None, str(error)


# --- the same content, whatever it comes in ---


@pytest.mark.parametrize(
    "convert",
    [
        as_csv,
        lambda frame: as_csv(frame, separator=";"),
        lambda frame: as_csv(frame, separator="\t", quote_style="always"),
        lambda frame: as_csv(frame, null_value="NA", line_terminator="\r\n"),
        as_parquet,
        as_ipc,
        as_ndjson,
        lambda frame: frame,
        lambda frame: frame.lazy(),
        lambda frame: frame.to_arrow(),
        lambda frame: frame.to_pandas(),
        lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
        lambda frame: frame.with_columns(pl.col("word").cast(pl.Categorical)),
    ],
    ids=[
        "csv",
        "semicolon",
        "tab",
        "crlf",
        "parquet",
        "arrow",
        "ndjson",
        "polars",
        "lazy",
        "pyarrow",
        "pandas",
        "arrow-pandas",
        "categorical",
    ],
)
def test_digest_is_the_same_in_every_format(convert: Any) -> None:
    frame = pl.DataFrame(CONTENT)
    expected = read(frame)
    table = read(convert(frame))
    assert table.digest == expected.digest
    assert table.frame.to_dict(as_series=False) == CONTENT


def test_digest_of_excel_is_that_of_csv() -> None:
    rows: list[list[Any]] = [["n", "x", "t"], [1, 0.5, "a"], [2, None, "b"]]
    book = read(io.BytesIO(workbook(rows)))
    plain = read(io.BytesIO(b"n,x,t\n1,0.5,a\n2,,b\n"))
    assert book.digest == plain.digest


@pytest.mark.parametrize(
    "change",
    [
        {"whole": [1, 2, None, 5]},
        {"real": [0.1, -2.5, 0.0, 1e300]},
        {"word": ["a", "b", None, "line\nbreak"]},
        {"truth": [True, None, False, False]},
        {"when": [MOMENT, None, MOMENT, MOMENT]},
        {"large": [2**60, 5, 6, 7]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_digest_sees_every_value(change: dict[str, list[Any]]) -> None:
    assert read(pl.DataFrame(CONTENT | change)).digest != read(pl.DataFrame(CONTENT)).digest


def test_digest_sees_names_and_order_but_not_the_source() -> None:
    frame = pl.DataFrame(CONTENT)
    digest = read(frame).digest
    assert read(frame.rename({"real": "Real"})).digest != digest
    assert read(frame.select(reversed(frame.columns))).digest != digest
    assert read(frame.reverse()).digest != digest
    assert read(frame.with_columns(pl.col("whole").cast(pl.Float64))).digest == digest


def test_digest_has_one_zero_and_one_missing_value() -> None:
    zeros = [[0.0, 0.5, None], [-0.0, 0.5, None], [0.0, 0.5, float("nan")]]
    assert len({read(pl.DataFrame({"a": values})).digest for values in zeros}) == 1


def test_digest_divides_texts_where_cells_divide() -> None:
    pairs = [(["xy", "z"], ["x", "yz"]), (["x", None], [None, "x"])]
    for pair in pairs:
        assert len({read(pl.DataFrame({"a": values})).digest for values in pair}) == 2


WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), include_characters="\n"),
    max_size=6,
).map(lambda text: f"w{text}w")


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
            st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
            st.one_of(st.none(), WORDS),
            st.one_of(st.none(), st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30))),
        ),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from([",", ";", "\t", "|"]),
)
def test_what_was_written_as_csv_is_read_again(rows: list[tuple[Any, ...]], comma: str) -> None:
    types: dict[str, Any] = {"a": pl.Int64, "b": pl.Float64, "c": pl.String, "d": pl.Datetime("us")}
    frame = pl.DataFrame(rows, schema=types, orient="row")
    table = read(as_csv(frame, separator=comma), delimiter=comma)
    assert table.rows == len(rows)
    assert table.digest == read(frame).digest


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_one_line(data: bytes) -> None:
    table, message = attempt(data)
    assert "\n" not in message
    assert table is None or table.rows == table.frame.height + table.blank


@given(st.lists(st.lists(st.sampled_from(["1", "x", '"', ",", "\n", " ", "", '""']), max_size=8)))
def test_every_line_of_a_text_is_a_row_or_blank_or_an_error(parts: list[list[str]]) -> None:
    body = "\n".join("".join(line) for line in parts)
    data = f"a,b\n{body}\n".encode()
    try:
        table = read(io.BytesIO(data), delimiter=",")
    except DataError:
        return
    quoted = sum(
        cell.count("\n") for column in table.frame for cell in column if isinstance(cell, str)
    )
    assert table.rows + 1 + quoted <= data.count(b"\n") + 1
    if b'"' not in data:
        assert table.rows == data.count(b"\n") - 1


# --- sources ---


def test_path_text_and_file_object_give_the_same(tmp_path: Path) -> None:
    file = tmp_path / "some table.csv"
    file.write_text("a,b\n1,x\n")
    with file.open("rb") as opened:
        tables = [read(file), read(str(file)), read(opened), read(io.StringIO("a,b\n1,x\n"))]
    assert len({table.digest for table in tables}) == 1
    assert [table.source for table in tables] == ["some table.csv"] * 3 + ["<file>"]
    assert tables[0].format == "csv"


def test_minus_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"a,b\n1,x\n")

    monkeypatch.setattr(sys, "stdin", Stdin())
    table = read("-")
    assert (table.source, table.frame.rows()) == ("<stdin>", [(1, "x")])


def test_path_with_glob_characters_is_one_file(tmp_path: Path) -> None:
    for name in ("t[1].parquet", "t1.parquet"):
        (tmp_path / name).write_bytes(as_parquet(pl.DataFrame({"a": [name]})).getvalue())
    assert read(tmp_path / "t[1].parquet").frame["a"].to_list() == ["t[1].parquet"]


def test_pandas_columns_of_every_sort_are_taken() -> None:
    frame = pd.DataFrame(
        {
            "object": pd.Series([1, "x", None, 2.5], dtype=object),
            "nullable": pd.array([1, None, 3, 4], dtype="Int64"),
            "truth": pd.array([True, None, False, True], dtype="boolean"),
            "string": pd.array(["a", None, "b", "c"], dtype="string"),
            "category": pd.Categorical(["u", None, "v", "u"]),
            "time": pd.to_datetime(["2024-01-05", None, "2024-01-06", "2024-01-07"]),
            "zoned": pd.to_datetime(["2024-01-05 01:00"] * 4).tz_localize(
                dt.timezone(dt.timedelta(hours=1))
            ),
            "float32": pd.Series([0.5, float("nan"), 1.5, 2.5], dtype="float32"),
            7: [1, 2, 3, 4],
        }
    )
    table = read(frame)
    assert table.frame.to_dict(as_series=False) == {
        "object": ["1", "x", None, "2.5"],
        "nullable": [1, None, 3, 4],
        "truth": [True, None, False, True],
        "string": ["a", None, "b", "c"],
        "category": ["u", None, "v", "u"],
        "time": [dt.datetime(2024, 1, 5), None, dt.datetime(2024, 1, 6), dt.datetime(2024, 1, 7)],
        "zoned": [dt.datetime(2024, 1, 5)] * 4,
        "float32": [0.5, None, 1.5, 2.5],
        "7": [1, 2, 3, 4],
    }


def test_levels_that_are_dates_are_dates() -> None:
    table = read(pl.DataFrame({"d": pl.Series(["2024-01-05", None], dtype=pl.Categorical)}))
    assert table.frame["d"].to_list() == [dt.datetime(2024, 1, 5), None]


def test_file_is_not_changed_by_reading_and_memory_is_not_kept(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2]})
    before = frame.clone()
    read(frame, missing=("1",))
    assert frame.equals(before)


# --- what the rules remember ---


def test_like_reads_text_as_in_training() -> None:
    train = read(io.BytesIO(b"when,code,y\n" + b"13/01/2024,1.50,0\n03/02/2024,x,1\n" * 10))
    schema = prepare(train, "y").schema
    new = io.BytesIO(b"when,code\n03/04/2024,1.50\n")
    alone = read(new).frame
    assert alone["when"][0] == dt.datetime(2024, 3, 4)  # by itself, the month comes first
    new.seek(0)
    table = read(new, like=schema)
    assert table.frame.rows() == [(dt.datetime(2024, 4, 3), "1.50")]
    names = [feature.name for feature in schema.features]
    row = dict(zip(names, schema.matrix(table.frame)[0].tolist(), strict=True))
    assert (row["when.month"], row["when.day"], row["code"]) == (4.0, 3.0, 0.0)


def test_like_keeps_the_missing_markers_of_training() -> None:
    train = read(io.BytesIO(b"a,y\n-999,0\n5,1\n7,0\n"), missing=("-999",))
    schema = prepare(train, "y", task="classification").schema
    for new in (io.BytesIO(b"a\n-999\n5\n"), pl.DataFrame({"a": [-999, 5]})):
        rows = schema.matrix(read(new, like=schema).frame)
        assert rows[1, 0] == 5.0
        assert rows[0, 0] != rows[0, 0]


def test_like_takes_dates_written_otherwise() -> None:
    train = read(io.BytesIO(b"when,y\n" + b"13/01/2024,0\n03/02/2024,1\n" * 10))
    schema = prepare(train, "y").schema
    for text in (b"2024-04-03", b"3 Apr 2024", b"03.04.2024", b"03/04/2024 00:00"):
        table = read(io.BytesIO(b"when\n" + text + b"\n"), like=schema)
        assert table.frame["when"].to_list() == [dt.datetime(2024, 4, 3)]


def test_like_names_the_line_of_a_value_that_does_not_fit() -> None:
    schema = prepare(read(pl.DataFrame({"a": [0.5, 1.5], "y": ["u", "v"]})), "y").schema
    with pytest.raises(DataError, match="<file>, line 3, column 'a': 'x' is not a number"):
        read(io.BytesIO(b"a\n1\nx\n"), like=schema)
    assert read(io.BytesIO(b"a;b\n1,5;2\n"), like=schema, decimal=",").frame["a"].to_list() == [1.5]


def test_own_markers_hold_in_typed_columns_too() -> None:
    frame = pl.DataFrame({"a": [-999, 5], "b": [-999.0, 0.5], "c": ["gone", "x"]})
    table = read(frame, missing=("-999", "gone"))
    assert table.frame.rows() == [(None, None, None), (5, 0.5, "x")]
    assert read(frame).frame.null_count().row(0) == (0, 0, 0)


def test_one_marker_may_be_given_as_text() -> None:
    assert read(io.BytesIO(b"a,b\nx,1\ny,2\n"), missing="x").frame["a"].to_list() == [None, "y"]


def test_default_markers_are_public() -> None:
    assert {"", "NA", "NaN", "null", "?"} <= set(MISSING_MARKERS)


# --- errors ---


def test_missing_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "titanic.csv").write_text("a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"no such file; did you mean 'titanic\.csv'"):
        read(tmp_path / "titanik.csv")
    with pytest.raises(FileNotFoundError, match="nor a folder 'nowhere'"):
        read(tmp_path / "nowhere" / "t.csv")


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder; name a file inside it"):
        read(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_file_without_permission_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a\n1\n")
    file.chmod(0)
    with pytest.raises(PermissionError, match="may not be read"):
        read(file)


def test_permission_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path) -> bytes:
        raise PermissionError

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(PermissionError, match="may not be read by this user; change its perm"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ",,"}, "delimiter must be one ASCII character"),
        ({"delimiter": '"'}, "delimiter must be one ASCII character"),
        ({"decimal": ";"}, r"decimal must be '\.' or ','; got ';'"),
        ({"encoding": "utf-99"}, "encoding must be the name of a text encoding"),
    ],
)
def test_bad_option_is_a_parameter_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        read(io.BytesIO(b"a,b\n1,2\n"), **options)


@pytest.mark.parametrize("source", [5, None, object(), [1, 2]])
def test_wrong_source_is_refused(source: object) -> None:
    with pytest.raises(DataError, match="source must be a path"):
        read(source)


def test_bytes_are_no_source() -> None:
    with pytest.raises(DataError, match=r"wrap its content in io\.BytesIO"):
        read(b"a,b\n1,2\n")


def test_dataframe_errors_name_the_dataframe() -> None:
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    for table, message in [
        (twice, "<dataframe> has duplicate column names"),
        (pl.DataFrame(), "<dataframe> has no columns"),
        (pa.table({"a": pa.array([], pa.int64())}), "<dataframe> has columns but no rows"),
    ]:
        with pytest.raises(DataError, match=message):
            read(table)


def test_lost_row_cannot_pass() -> None:
    with pytest.raises(AssertionError, match="a row was lost"):
        RawTable(pl.DataFrame({"a": [1]}), "t.csv", "csv", 2, "")


def test_damaged_arrow_file_leaves_no_panic_report(capfd: pytest.CaptureFixture[str]) -> None:
    data = bytearray(as_ipc(pl.DataFrame({"a": ["x" * 50] * 100})).getvalue())
    for place in range(200, len(data) - 200, 7):
        damaged = bytes(data[:place]) + b"\xff\xff" + bytes(data[place + 2 :])
        _, message = attempt(damaged)
        assert message == "" or "damaged Arrow file" in message
    assert capfd.readouterr().err == ""
