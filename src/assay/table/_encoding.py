"""Bytes of a text file -> UTF-8: by byte-order mark, by trial, and finally by a guess."""

from __future__ import annotations

import codecs
import re

import charset_normalizer
import numpy as np

from assay.base import DataError, ParameterError
from assay.table._raw import Notes

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins alike
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

#: Encodings tried for a text that is not UTF-8. A longer list makes worse guesses.
_GUESSES = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "koi8_r",
    "cp932", "euc_jp", "gb18030", "big5", "euc_kr",
]  # fmt: skip
#: A few accented letters cannot separate these: the most common one is taken and reported.
_LATIN = ("cp1250", "cp1254")

#: A guess with a larger share of improbable characters is rejected.
_DOUBT = 0.1

_HIGH_LINE = re.compile(rb"[^\n]*[\x80-\xff][^\n]*\n?")
_SAMPLE = 1 << 16


def to_utf8(data: bytes, encoding: str | None, source: str, notes: Notes) -> bytes:
    """Return the text as UTF-8 bytes without a byte-order mark.

    Parameters
    ----------
    data : bytes
        The file.
    encoding : str or None
        Name of the encoding; None = detect it.
    source : str
        File name, for messages.
    notes : Notes
        Receives the encoding when it is not UTF-8.

    Returns
    -------
    bytes
        `data` itself (not a copy) when it is plain UTF-8.

    Raises
    ------
    DataError
        When the file is binary, holds NUL, or cannot be decoded; names the line.
    """
    for mark, marked in _MARKS:
        if data.startswith(mark) and (encoding is None or _same_codec(encoding, marked)):
            return _decoded(data[len(mark) :], marked, source, "by its byte-order mark")
    if encoding is not None:
        return _decoded(data, _known(encoding), source, "as requested")
    wide = _wide_encoding(data)
    if wide is not None:
        notes.add(f"encoding {wide}, guessed from zero bytes; change it with the option encoding")
        return _decoded(data, wide, source, "guessed from its zero bytes")
    _refuse_binary(data, source)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        name = _guess(data, error, source)
        notes.add(f"encoding {name}, guessed (not UTF-8); change it with the option encoding")
        return _decoded(data, name, source, "guessed")
    return data


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise ParameterError(
            f"encoding must be the name of a text encoding such as 'utf-8', 'cp1252' or "
            f"'shift_jis'; got {encoding!r}"
        ) from None


def _same_codec(encoding: str, marked: str) -> bool:
    # "utf-16" and "utf-8-sig" leave the rest to the mark.
    plain = _known(encoding).removesuffix("-sig")
    return plain == marked or marked.startswith(f"{plain}-")


def _decoded(data: bytes, encoding: str, source: str, how: str) -> bytes:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = len(data[: error.start].decode(encoding, "replace").splitlines()) or 1
        raise DataError(
            f"{source}, line {line}: byte 0x{data[error.start]:02x} is not valid {encoding} "
            f"({how}); save the file as UTF-8 or give the right encoding"
        ) from None
    utf8 = data if encoding == "utf-8" else text.encode("utf-8")
    _refuse_binary(utf8, source)
    return utf8


def _wide_encoding(data: bytes) -> str | None:
    """UTF-16 without a mark: ASCII characters leave zeros in every second place."""
    head = np.frombuffer(data[: _SAMPLE & ~1], dtype=np.uint8)
    if head.size < 4 or head.size % 2 or len(data) % 2:
        return None
    even, odd = (head[0::2] == 0).mean(), (head[1::2] == 0).mean()
    if odd > 0.4 and even < 0.1:
        return "utf-16-le"
    if even > 0.4 and odd < 0.1:
        return "utf-16-be"
    return None


def _refuse_binary(data: bytes, source: str) -> None:
    head = np.frombuffer(data[:_SAMPLE], dtype=np.uint8)
    control = (head < 32) & ~np.isin(head, (9, 10, 12, 13, 27))
    if control.mean() > 0.02 if head.size else False:
        raise DataError(
            f"{source} is a binary file of an unknown kind, not a table; give CSV, Parquet, "
            "Arrow, NDJSON or Excel"
        )
    zero = data.find(b"\0")
    if zero >= 0:
        line = data.count(b"\n", 0, zero) + 1
        raise DataError(
            f"{source}, line {line}: a NUL character at byte {zero}; the file is damaged or not "
            "text. Remove the NUL characters or get the file again"
        )


def _guess(data: bytes, error: UnicodeDecodeError, source: str) -> str:
    line = data.count(b"\n", 0, error.start) + 1
    if _is_damaged_utf8(data):
        raise DataError(
            f"{source}, line {line}: byte 0x{data[error.start]:02x} is not valid UTF-8, though "
            "the rest of the file is; repair the line or give the encoding"
        )
    sample = b"".join(_high_lines(data))
    best = charset_normalizer.from_bytes(sample, cp_isolation=_GUESSES).best()
    names = ["cp1252"] if best is None or best.chaos > _DOUBT else [best.encoding]
    if names[0] in _LATIN:
        names.insert(0, "cp1252")
    for name in names:
        if _decodes(data, name):
            return name
    raise DataError(
        f"{source}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8 and the encoding "
        "could not be guessed; save the file as UTF-8 or give the encoding"
    )


def _is_damaged_utf8(data: bytes) -> bool:
    """Return whether most characters beyond ASCII are valid UTF-8, unlike random bytes."""
    sample = b"".join(_high_lines(data))
    text = sample.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    right = sum(1 for character in text if character > "\x7f") - wrong
    return right > wrong


def _high_lines(data: bytes) -> list[bytes]:
    lines, size = [], 0
    for match in _HIGH_LINE.finditer(data):
        lines.append(match.group()[:_SAMPLE])
        size += len(lines[-1])
        if size >= _SAMPLE:
            break
    return lines


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
