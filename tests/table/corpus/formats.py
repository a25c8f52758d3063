"""Parquet, Arrow, JSON and Excel."""

from __future__ import annotations

import datetime as dt
import io
import struct
from collections.abc import Sequence
from typing import Any

import polars as pl
import xlsxwriter

from tests.table.corpus.cases import AB, PLAIN, Bad, Case, Good

BIG = "9" * 25
JAN5 = dt.datetime(2024, 1, 5)

FRAME = pl.DataFrame(AB)


def _parquet(frame: pl.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()


def _arrow(frame: pl.DataFrame, *, stream: bool = False) -> bytes:
    target = io.BytesIO()
    if stream:
        frame.write_ipc_stream(target)
    else:
        frame.write_ipc(target)
    return target.getvalue()


def workbook(*sheets: Sequence[Sequence[Any]], first_row: int = 0) -> bytes:
    """Return an .xlsx file; every sheet is a list of rows."""
    stream = io.BytesIO()
    book = xlsxwriter.Workbook(stream, {"in_memory": True})
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    for number, rows in enumerate(sheets, start=1):
        sheet = book.add_worksheet(f"sheet {number}")
        for i, row in enumerate(rows, start=first_row):
            for j, value in enumerate(row):
                if isinstance(value, dt.datetime):
                    sheet.write_datetime(i, j, value, day)
                elif value is not None:
                    sheet.write(i, j, value)
    book.close()
    return stream.getvalue()


_TYPED = pl.DataFrame(
    {
        "small": pl.Series([1, 2], dtype=pl.Int8),
        "unsigned": pl.Series([1, 2**63], dtype=pl.UInt64),
        "single": pl.Series([0.5, float("nan")], dtype=pl.Float32),
        "decimal": pl.Series(["1.25", "2.5"]).cast(pl.Decimal(38, 2)),
        "day": [dt.date(2024, 1, 5), None],
        "zoned": pl.Series([JAN5, None]).dt.replace_time_zone("Europe/Berlin"),
        "fine": pl.Series([JAN5, None], dtype=pl.Datetime("ns")),
        "level": pl.Series(["007", "NA"], dtype=pl.Categorical),
        "list": [[1, 2], None],
        "record": [{"x": 1}, {"x": 2}],
        "bytes": [b"\x01", b"\xff"],
        "clock": [dt.time(1, 0), dt.time(0, 0, 30)],
        "span": [dt.timedelta(minutes=1), dt.timedelta(0)],
        "nothing": [None, None],
        "text": ["1", "NA"],
    }
)
_TYPED_READ: dict[str, Sequence[Any]] = {
    "small": [1, 2],
    "unsigned": ["1", str(2**63)],
    "single": [0.5, None],
    "decimal": [1.25, 2.5],
    "day": [JAN5, None],
    "zoned": [dt.datetime(2024, 1, 4, 23), None],
    "fine": [JAN5, None],
    "level": ["007", "NA"],
    "list": ["[1, 2]", None],
    "record": ['{"x": 1}', '{"x": 2}'],
    "bytes": ["01", "ff"],
    "clock": [3600.0, 30.0],
    "span": [60.0, 0.0],
    "nothing": [None, None],
    "text": [1, None],
}
_PQ, _IPC = _parquet(FRAME), _arrow(FRAME)
_HEAD = struct.pack("<I", 2**31)

FORMATS = [
    Case("parquet", "t.parquet", _PQ, Good(AB, quiet=True)),
    Case("parquet under another name", "t.csv", _PQ, Good(AB, quiet=True)),
    Case(
        "parquet of many types",
        "t.parquet",
        _parquet(_TYPED),
        Good(_TYPED_READ, notes=["converted to UTC", "kept as text", "in seconds"]),
    ),
    Case("parquet cut short", "t.parquet", _PQ[:-20], Bad(["t.parquet", "cut short"])),
    Case(
        "parquet with a wrong footer",
        "t.parquet",
        _PQ[:-8] + _HEAD + b"PAR1",
        Bad(["damaged Parquet"]),
    ),
    Case(
        "parquet with damaged metadata",
        "t.parquet",
        _PQ[:-60] + b"\xff" * 52 + _PQ[-8:],
        Bad(["damaged Parquet"]),
    ),
    Case(
        "parquet without rows", "t.parquet", _parquet(FRAME.clear()), Bad(["columns but no rows"])
    ),
    Case("parquet without columns", "t.parquet", _parquet(pl.DataFrame()), Bad(["no columns"])),
    Case(
        "text named parquet",
        "t.parquet",
        PLAIN.encode(),
        Good(AB, notes=["named .parquet but holds text"]),
    ),
    Case("arrow file", "t.arrow", _IPC, Good(AB, quiet=True)),
    Case("arrow of many types", "t.arrow", _arrow(_TYPED), Good(_TYPED_READ)),
    Case("feather name", "t.feather", _IPC, Good(AB, quiet=True)),
    Case("arrow stream", "t.arrows", _arrow(FRAME, stream=True), Good(AB, quiet=True)),
    Case("arrow cut short", "t.arrow", _IPC[: len(_IPC) // 2], Bad(["t.arrow", "damaged Arrow"])),
    Case(
        "arrow stream cut short",
        "t.arrows",
        _arrow(FRAME, stream=True)[:20],
        Bad(["damaged Arrow"]),
    ),
    Case(
        "feather version 1", "t.feather", b"FEA1" + b"\0" * 20, Bad(["Feather file of version 1"])
    ),
    Case("ndjson", "t.ndjson", b'{"a":1,"b":"x"}\n{"a":3,"b":"y"}\n', Good(AB, quiet=True)),
    Case("ndjson under another name", "t.csv", b'{"a":1,"b":"x"}\n{"a":3,"b":"y"}', Good(AB)),
    Case(
        "ndjson with a mark", "t.jsonl", b'\xef\xbb\xbf{"a":1,"b":"x"}\n{"a":3,"b":"y"}\n', Good(AB)
    ),
    Case(
        "ndjson in utf16",
        "t.jsonl",
        '\ufeff{"a":1,"b":"x"}\n{"a":3,"b":"y"}\n'.encode("utf-16-le"),
        Good(AB),
    ),
    Case("json array", "t.json", b'[{"a":1,"b":"x"},\n {"a":3,"b":"y"}]', Good(AB)),
    Case(
        "ndjson with mixed keys",
        "t.jsonl",
        b'{"a":1}\n\n{"b":2,"a":null}\n',
        Good({"a": [1, None], "b": [None, 2]}, blank=1, notes=["'b' (1 of 2)"]),
    ),
    Case(
        "ndjson with mixed types",
        "t.jsonl",
        b'{"a":1}\n{"a":"x"}\n{"a":true}\n',
        Good({"a": ["1", "x", "true"]}),
    ),
    Case("ndjson numbers as text", "t.jsonl", b'{"a":1}\n{"a":"2.5"}\n', Good({"a": [1.0, 2.5]})),
    Case(
        "ndjson with huge integers",
        "t.jsonl",
        f'{{"a":{BIG}}}\n{{"a":1}}\n'.encode(),
        Good({"a": [BIG, "1"]}),
    ),
    Case(
        "ndjson with nested values",
        "t.jsonl",
        b'{"a":[1,2],"b":{"x":1}}\n{"a":null,"b":2}\n',
        Good({"a": ["[1, 2]", None], "b": ['{"x": 1}', "2"]}),
    ),
    Case(
        "ndjson with a broken line",
        "t.jsonl",
        b'{"a":1}\n{"a":\n',
        Bad(["t.jsonl, line 2", "invalid JSON"]),
    ),
    Case(
        "ndjson with a number as row",
        "t.jsonl",
        b'{"a":1}\n5\n',
        Bad(["line 2: not a JSON object"]),
    ),
    Case(
        "ndjson with a key twice",
        "t.jsonl",
        b'{"a":1,"a":2}\n',
        Bad(["line 1: the key 'a' appears twice"]),
    ),
    Case("json array of numbers", "t.json", b"[1, 2]", Bad(["item 1 of the array"])),
    Case("json array, empty", "t.json", b"[]", Bad(["no columns"])),
    Case(
        "json over many lines",
        "t.json",
        b'{\n "a": 1\n}\n',
        Bad(["t.json, line 1", "one complete object per line"]),
    ),
    Case("json nested deeply", "t.json", b"[" * 100_000, Bad(["t.json"])),
    Case("csv named json", "t.json", PLAIN.encode(), Bad(["t.json, line 1", "invalid JSON"])),
    Case("excel", "t.xlsx", workbook([["a", "b"], [1, "x"], [3, "y"]]), Good(AB, quiet=True)),
    Case("excel under another name", "t.bin", workbook([["a", "b"], [1, "x"], [3, "y"]]), Good(AB)),
    Case(
        "excel with empty rows",
        "t.xlsx",
        workbook([["a", "b"], [1, "x"], [], [3, "y"]], first_row=2),
        Good(AB, blank=3),
    ),
    Case(
        "excel with dates",
        "t.xlsx",
        workbook([["a", "b"], [JAN5, 1], [JAN5, 2.5]]),
        Good({"a": [JAN5, JAN5], "b": [1.0, 2.5]}),
    ),
    Case(
        "excel with large numbers",
        "t.xlsx",
        workbook([["a", "b"], [1e300, True], [2e20, False]]),
        Good({"a": [1e300, 2e20], "b": [True, False]}),
    ),
    Case(
        "excel with markers",
        "t.xlsx",
        workbook([["a", "b"], ["NA", 1], [2, 2]]),
        Good({"a": [None, 2], "b": [1, 2]}),
    ),
    Case(
        "excel with a name twice",
        "t.xlsx",
        workbook([["a", "a"], [1, 2]]),
        Bad(["sheet 'sheet 1', line 1", "'a' appears twice"]),
    ),
    Case(
        "excel, second sheet",
        "t.xlsx",
        workbook([["x"], [0]], [["a", "b"], [1, "x"], [3, "y"]]),
        Good(AB),
        {"sheet": "sheet 2"},
    ),
    Case(
        "excel, sheet by number",
        "t.xlsx",
        workbook([["x"], [0]], [["a", "b"], [1, "x"], [3, "y"]]),
        Good(AB),
        {"sheet": 1},
    ),
    Case(
        "excel, two sheets",
        "t.xlsx",
        workbook([["a", "b"], [1, "x"], [3, "y"]], [["x"], [0]]),
        Good(AB, notes=["sheet 'sheet 1' was read"]),
    ),
    Case(
        "excel, no such sheet",
        "t.xlsx",
        workbook([["a"], [1]]),
        Bad(["no sheet 'sheet 7'", "did you mean 'sheet 1'"]),
        {"sheet": "sheet 7"},
    ),
    Case("excel, empty sheet", "t.xlsx", workbook([]), Bad(["sheet 'sheet 1'", "is empty"])),
    Case("excel, header only", "t.xlsx", workbook([["a", "b"]]), Bad(["has a header but no rows"])),
    Case("excel cut short", "t.xlsx", workbook([["a"], [1]])[:-300], Bad(["t.xlsx", "damaged"])),
    Case(
        "old excel, damaged",
        "t.xls",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600,
        Bad(["t.xls", "damaged"]),
    ),
]
