"""The format of a file, by its first bytes rather than its name."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePath

from assay.base import DataError

_UNPICKLE = "load it yourself and pass the dataframe; Assay opens no pickles"

#: First bytes of files that are not a readable table, and what to do about each.
_OTHERS: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1f\x8b", "a gzip archive", "unpack it first (gunzip)"),
    (b"BZh", "a bzip2 archive", "unpack it first (bunzip2)"),
    (b"\xfd7zXZ\x00", "an xz archive", "unpack it first (unxz)"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", "unpack it first (zstd -d)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it first"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"\x89PNG", "a PNG image", "give a table"),
    (b"\xff\xd8\xff", "a JPEG image", "give a table"),
    (b"GIF8", "a GIF image", "give a table"),
    (b"\x7fELF", "a program", "give a table"),
    (b"MZ\x90\x00", "a program", "give a table"),
    (b"SQLite format 3\x00", "a SQLite database", "export the table as CSV or Parquet"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "export the table as CSV or Parquet"),
    (b"\x93NUMPY", "a NumPy array file", "load it and pass the array as a dataframe"),
    (b"FEA1", "a Feather file of version 1", "write it again as Feather version 2 or Parquet"),
    (b"PARE", "an encrypted Parquet file", "decrypt it first"),
    (b"\x80\x04\x95", "a pickle", _UNPICKLE),
    (b"\x80\x05\x95", "a pickle", _UNPICKLE),
)

_EXCEL_PARTS = ("xl/workbook.xml", "xl/workbook.bin")


def binary_format(data: bytes, source: str) -> str | None:
    """Return the format of a binary table, or None when the bytes look like text.

    Parameters
    ----------
    data : bytes
        The whole file.
    source : str
        Its name, for messages.

    Returns
    -------
    {'parquet', 'arrow', 'arrow-stream', 'excel'} or None

    Raises
    ------
    DataError
        If the file is known not to be a table.
    """
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith(b"ARROW1"):
        return "arrow"
    if data.startswith(b"\xff\xff\xff\xff") and len(data) > 8:
        return "arrow-stream"
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return "excel"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _inside_zip(data, source)
    for beginning, what, remedy in _OTHERS:
        if data.startswith(beginning):
            raise DataError(f"{source} is {what}, not a table; {remedy}")
    return None


def suffix_of(source: str) -> str:
    """Return the extension of a file name in lower case, with its dot."""
    return PurePath(source).suffix.lower()


def _inside_zip(data: bytes, source: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        raise DataError(
            f"{source} is an Excel workbook or a zip archive that is damaged or cut short; "
            "get the file again"
        ) from None
    if any(name in _EXCEL_PARTS for name in names) or "content.xml" in names:
        return "excel"
    raise DataError(f"{source} is a zip archive, not a table; unpack it first")
