"""Find the start and the number of cells of each record of a delimited text.

Exact for every text whose quotes follow RFC 4180: a quote opens a cell only at its beginning and
closes it only at its end, and a quote inside is written twice. Then a byte is inside quotes if and
only if an odd number of quotes stands before it, so records and cells are counted by a few passes
over the bytes, without a parser. Texts with other quotes are detected (`irregular`) and left to
a slower reader.

Cost    O(bytes), about 0.5 s per 100 MB; extra memory 16 bytes per record and one block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 22
_QUOTE, _NEWLINE, _RETURN = 34, 10, 13
_BLANKS = (9, 11, 12, 32)


@dataclass(frozen=True)
class Scan:
    """The records of a text.

    Parameters
    ----------
    starts, ends : ndarray of int64
        Bytes of each record, without its line end.
    widths : ndarray of int64
        Cells in each record; a blank line has 1.
    irregular : int or None
        Position of the first quote that RFC 4180 does not allow there.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    widths: NDArray[np.int64]
    irregular: int | None


def scan(data: bytes, delimiter: str) -> Scan:
    r"""Find the records of a text and the number of cells in each.

    Parameters
    ----------
    data : bytes
        UTF-8 text whose lines end in ``\n`` or ``\r\n``.
    delimiter : str
        One ASCII character.

    Returns
    -------
    Scan

    Examples
    --------
    >>> scan(b'a,b\n"1,\n2",3\n', ",").widths.tolist()
    [2, 2]
    """
    stream = np.frombuffer(data, dtype=np.uint8)
    comma = ord(delimiter)
    quoted = b'"' in data
    inside, n_commas = 0, 0
    line_ends: list[NDArray[np.int64]] = []
    commas_before: list[NDArray[np.int64]] = []
    irregular: int | None = None
    for begin in range(0, len(stream), _BLOCK):
        block = stream[begin : begin + _BLOCK]
        is_end, is_comma = block == _NEWLINE, block == comma
        if quoted:
            is_quote = block == _QUOTE
            parity = ((np.cumsum(is_quote, dtype=np.uint8) + inside) & 1).astype(np.uint8)
            if irregular is None:
                irregular = _first_irregular(stream, begin, is_quote, parity, comma)
            outside = parity == 0
            is_end &= outside
            is_comma &= outside
            inside = int(parity[-1])
        ends = np.flatnonzero(is_end)
        commas = np.flatnonzero(is_comma)
        line_ends.append(ends + begin)
        commas_before.append(np.searchsorted(commas, ends) + n_commas)
        n_commas += len(commas)
    if inside and irregular is None:
        irregular = data.rfind(b'"')
    ends = np.concatenate([*line_ends, np.empty(0, np.int64)]).astype(np.int64)
    before = np.concatenate([*commas_before, np.empty(0, np.int64)]).astype(np.int64)
    if len(data) and (not len(ends) or ends[-1] != len(data) - 1):
        ends = np.append(ends, len(data))
        before = np.append(before, n_commas)
    starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)[: len(ends)]
    widths = np.diff(before, prepend=0) + 1
    if b"\r" in data and len(ends):
        last = stream[np.maximum(ends - 1, 0)]
        ends = ends - ((last == _RETURN) & (ends > starts))
    return Scan(starts, ends, widths, irregular)


def blank_records(data: bytes, found: Scan) -> NDArray[np.bool_]:
    """Return which records consist of blanks only."""
    blank: NDArray[np.bool_] = found.starts == found.ends
    if not len(data):
        return blank
    first = np.frombuffer(data, dtype=np.uint8)[np.minimum(found.starts, len(data) - 1)]
    for record in np.flatnonzero((found.widths == 1) & ~blank & np.isin(first, _BLANKS)):
        blank[record] = not data[found.starts[record] : found.ends[record]].strip()
    return blank


def line_numbers(data: bytes, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the line of the text, from 1, in which each record begins."""
    if b'"' not in data or not len(starts):
        return np.arange(1, len(starts) + 1)
    stream = np.frombuffer(data, dtype=np.uint8)
    lines: NDArray[np.int64] = np.searchsorted(np.flatnonzero(stream == _NEWLINE), starts) + 1
    return lines


def unify_line_ends(data: bytes) -> bytes:
    r"""Turn single ``\r`` outside quotes into ``\n``; ``\r\n`` stays (readers know it)."""
    n_returns = data.count(b"\r")
    if n_returns == data.count(b"\r\n"):
        return data
    stream = np.frombuffer(data, dtype=np.uint8).copy()
    alone = stream == _RETURN
    alone[:-1] &= stream[1:] != _NEWLINE
    if b'"' in data:
        alone &= np.cumsum(stream == _QUOTE, dtype=np.uint8) & 1 == 0
    stream[alone] = _NEWLINE
    return stream.tobytes()


def _first_irregular(
    stream: NDArray[np.uint8],
    begin: int,
    is_quote: NDArray[np.bool_],
    parity: NDArray[np.uint8],
    comma: int,
) -> int | None:
    where = np.flatnonzero(is_quote)
    if not len(where):
        return None
    opening = parity[where] == 1
    where = where + begin
    before = stream[np.maximum(where - 1, 0)]
    after = stream[np.minimum(where + 1, len(stream) - 1)]
    # A doubled quote reads as "closed, then opened again": each makes the other legal.
    opens = (where == 0) | np.isin(before, (comma, _NEWLINE, _QUOTE))
    closes = (where == len(stream) - 1) | np.isin(after, (comma, _NEWLINE, _RETURN, _QUOTE))
    wrong = where[np.where(opening, ~opens, ~closes)]
    return int(wrong[0]) if len(wrong) else None
