from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.table import _scan as module
from assay.table._scan import blank_records, line_numbers, scan, unify_line_ends

CELLS = st.text(st.sampled_from('ab",\n\r \u00e9'), max_size=5)


def written(records: list[list[str]], comma: str, line_end: str) -> bytes:
    stream = io.StringIO()
    # Minimal quoting leaves a lone carriage return bare, which would end a line.
    returns = any("\r" in cell for record in records for cell in record)
    dialect: dict[str, Any] = {"quoting": csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL}
    writer = csv.writer(stream, delimiter=comma, lineterminator=line_end, **dialect)
    writer.writerows(records)
    return stream.getvalue().encode()


@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=8),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(3, 9),
)
def test_records_are_those_of_the_csv_module(
    records: list[list[str]], comma: str, line_end: str, block: int
) -> None:
    data = written(records, comma, line_end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)  # so that blocks end within cells and quotes
        found = scan(data, comma)
    assert found.irregular is None
    assert found.widths.tolist() == [len(record) for record in records]
    pieces = [data[a:b].decode() for a, b in zip(found.starts, found.ends, strict=True)]
    again = [next(csv.reader(io.StringIO(p, newline=""), delimiter=comma), [""]) for p in pieces]
    assert again == records
    lines = [data.count(b"\n", 0, start) + 1 for start in found.starts]
    assert line_numbers(data, found.starts).tolist() == lines


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('a,b"c\n', 3),
        ('a,"b"c\n', 4),
        ('a, "b"\n', 3),
        ('a,"b\n', 2),
        ('a,""b""\n', 3),
        ('a,"b""\n', 5),
    ],
)
def test_irregular_quotes_are_found(text: str, place: int) -> None:
    assert scan(text.encode(), ",").irregular == place


def test_blank_records_hold_nothing_but_blanks() -> None:
    data = b"a,b\n\n \t\n,\nx\n"
    assert blank_records(data, scan(data, ",")).tolist() == [False, True, True, False, False]


def test_empty_text_has_no_records() -> None:
    found = scan(b"", ",")
    assert len(found.starts) == len(found.widths) == 0
    assert len(blank_records(b"", found)) == 0


def test_line_ends_inside_quotes_stay() -> None:
    assert unify_line_ends(b'a\rb\r\n"c\rd"\r') == b'a\nb\r\n"c\rd"\n'
    same = b"a\r\nb\r\n"
    assert unify_line_ends(same) is same


def test_scan_of_many_records_is_exact() -> None:
    widths = np.random.default_rng(0).integers(1, 6, 5000)
    data = b"".join(b",".join([b"1"] * int(width)) + b"\n" for width in widths)
    assert np.array_equal(scan(data, ",").widths, widths)
