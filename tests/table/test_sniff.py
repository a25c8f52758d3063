from __future__ import annotations

import csv

import pytest

from assay.table._sniff import sniff_delimiter


@pytest.mark.parametrize(
    ("text", "suffix", "delimiter"),
    [
        ("a,b\n1,2\n", ".csv", ","),
        ("a;b\n1,5;2,5\n1,7;2,9\n", ".csv", ";"),
        ("a\tb, c\n1\t2, 3\n", ".tsv", "\t"),
        ("a|b\n1|x, y\n2|z\n", ".csv", "|"),
        ("time,n\n12:30:01,1\n12:31:02,2\n", ".csv", ","),
        ("full name\nAda Lovelace\nAlan Turing\n", ".csv", ","),
        ("x y z\n1 2 3\n4 5 6\n", ".txt", " "),
        ('"a;b","c"\n"1;2","3"\n', ".csv", ","),
        ("word\none\ntwo\n", ".csv", ","),
        ("a,b,c\n1,2,3\n1,2\n1,2,3\n", ".csv", ","),
        ("a;b\n", ".csv", ";"),
    ],
)
def test_delimiter_is_the_one_that_makes_rows_agree(text: str, suffix: str, delimiter: str) -> None:
    assert sniff_delimiter(text.encode(), suffix) == delimiter


def test_long_lines_are_sampled_whole() -> None:
    header = ";".join(f"name{j}" for j in range(20_000))
    rows = ";".join(["1,5"] * 20_000)
    assert sniff_delimiter(f"{header}\n{rows}\n{rows}\n".encode(), ".csv") == ";"


def test_limit_of_the_csv_module_is_put_back() -> None:
    before = csv.field_size_limit()
    sniff_delimiter(b"a,b\n1,2\n", ".csv")
    assert csv.field_size_limit() == before
