"""Detection of the delimiter."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from assay.base import ParameterError

#: In order of preference at ties.
DELIMITERS = (",", "\t", ";", "|", ":", " ")
_ENOUGH = 1 << 16


@contextmanager
def any_cell_size() -> Iterator[None]:
    """Lift the limit of Python's csv module, 128 kB a cell, and put it back."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def check_delimiter(delimiter: str) -> None:
    """Raise unless the delimiter is one plain ASCII character."""
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise ParameterError(
            "delimiter must be one ASCII character other than a quote or a line end, such as "
            f"',', ';', '|' or a tab; got {delimiter!r}"
        )


def sniff_delimiter(data: bytes, suffix: str) -> str:
    r"""Return the delimiter that gives the first records the most equal widths.

    Parameters
    ----------
    data : bytes
        UTF-8 text.
    suffix : str
        Extension of the file; ``".tsv"`` and ``".tab"`` settle a tie in favour of the tab.

    Returns
    -------
    str
        ``","`` when there is only one column.

    Notes
    -----
    For each delimiter: the most frequent width among the first records, the share of records that
    have it, and whether the header has it. The best share with a matching header wins; then the
    larger width. A blank counts only when some cell after the header is a number, since sentences
    have blanks too.

    Examples
    --------
    >>> sniff_delimiter(b"a;b\n1,5;2,5\n3,5;4,5\n", ".csv")
    ';'
    """
    order = ("\t", *DELIMITERS) if suffix in (".tsv", ".tab") else DELIMITERS
    text = _sample(data)
    scored = []
    with any_cell_size():
        for place, delimiter in enumerate(dict.fromkeys(order)):
            score = _agreement(text, delimiter)
            if score is not None:
                scored.append((*score, -place, delimiter))
    return max(scored)[-1] if scored else ","


def _agreement(text: str, delimiter: str) -> tuple[float, int] | None:
    if delimiter not in text:
        return None
    lines = io.StringIO(text if delimiter != " " else _without_outer_blanks(text), newline="")
    try:
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        records = [record for record in reader if record]
    except csv.Error:
        return None
    if not records:
        return None
    usual, count = Counter(map(len, records)).most_common(1)[0]
    if len(records[0]) > 1 and usual == 1 and len(records) <= 3:
        usual, count = len(records[0]), 1  # a header and little else
    if usual < 2 or (delimiter in ": " and not _has_number(records[1:])):
        return None
    return count / len(records) + 0.5 * (len(records[0]) == usual), usual


def _sample(data: bytes) -> str:
    """Return the first records: 64 kB, but at least three lines of any length."""
    end = _ENOUGH
    while end < len(data) and data.count(b"\n", 0, end) < 3:
        end *= 4
    head = data[:end]
    if end < len(data):
        head = head[: head.rfind(b"\n") + 1] or head
    return head.decode("utf-8", "replace").replace("\r\n", "\n")


def _without_outer_blanks(text: str) -> str:
    return "\n".join(line.strip(" ") for line in text.split("\n"))


def _has_number(records: list[list[str]]) -> bool:
    return any(_is_number(cell) for record in records for cell in record)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True
