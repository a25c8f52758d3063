from __future__ import annotations

import math
from pathlib import Path

import pytest

from assay.base import DataError
from assay.table import RawTable, read
from tests.table.corpus import CORPUS, Bad, Case, Good


def same(got: list[object], expected: list[object]) -> bool:
    return len(got) == len(expected) and all(
        type(a) is type(b) and (a == b or (isinstance(a, float) and math.isnan(a)))
        for a, b in zip(got, expected, strict=True)
    )


def check_good(table: RawTable, expected: Good) -> None:
    if expected.columns is not None:
        assert table.frame.columns == list(expected.columns)
        for name, values in expected.columns.items():
            assert same(table.frame[name].to_list(), list(values)), table.frame[name].to_list()
    if expected.shape is not None:
        assert table.frame.shape == expected.shape
    for name, dtype in expected.types.items():
        assert table.frame[name].dtype == dtype
    assert table.blank == expected.blank
    assert table.rows == table.frame.height + expected.blank
    told = "\n".join(table.notes)
    for fragment in expected.notes:
        assert fragment in told
    if expected.quiet:
        assert told == ""


def test_corpus_is_large_and_its_names_are_distinct() -> None:
    assert len(CORPUS) >= 60
    assert len({case.name for case in CORPUS}) == len(CORPUS)


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_file_gets_its_verdict(case: Case, tmp_path: Path) -> None:
    file = tmp_path / case.file
    file.write_bytes(case.data)
    if isinstance(case.verdict, Bad):
        with pytest.raises(DataError) as caught:
            read(file, **case.options)
        message = str(caught.value)
        assert "\n" not in message
        assert message.startswith(case.file)
        for fragment in case.verdict.says:
            assert fragment in message
    else:
        check_good(read(file, **case.options), case.verdict)
