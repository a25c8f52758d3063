"""Files that hold nothing, or no table."""

from __future__ import annotations

import io
import zipfile

from tests.table.corpus.cases import Bad, Case, bad, named

NO_TABLE = [
    bad("empty", b"", "t.csv is empty (0 bytes)"),
    bad("blanks only", " \n\n \n", "t.csv is empty: no header and no rows"),
    bad("byte-order mark only", b"\xef\xbb\xbf", "is empty"),
    bad("header only", "a,b\n", "t.csv has a header but no rows"),
    bad("header without newline", "a,b", "t.csv has a header but no rows"),
    bad("header and blank lines", "a,b\n\n\n", "t.csv has a header but no rows"),
    bad("nul inside", b"a,b\n1,x\n" + b"2,yyyyyyyy\n" * 20 + b"2,\0y\n", "line 23", "NUL"),
    bad("binary", bytes(range(256)) * 40, "binary file"),
    bad("zero bytes only", b"\0" * 100, "binary file"),
    named("t.csv.gz", bad("gzip", b"\x1f\x8b\x08" + b"\0" * 20, "gzip archive", "unpack")),
    bad("png", b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "PNG image"),
    bad("pdf", b"%PDF-1.7\n...", "PDF document", "export the table as CSV"),
    bad("program", b"\x7fELF" + b"\0" * 50, "a program"),
    bad("sqlite", b"SQLite format 3\0" + b"\0" * 90, "SQLite database"),
    bad("pickle", b"\x80\x04\x95\x10\0\0\0\0\0\0\0", "a pickle", "Assay opens no pickles"),
    bad("numpy", b"\x93NUMPY\x01\0", "NumPy array file"),
]


def _zip(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


NO_TABLE += [
    Case("zip", "t.zip", _zip(a=b"1"), Bad(["zip archive", "unpack"])),
    Case("damaged zip", "t.xlsx", b"PK\x03\x04 and nothing else", Bad(["t.xlsx", "damaged"])),
]
