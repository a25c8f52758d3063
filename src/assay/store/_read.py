"""Open a model file: sizes first, then the header, then its checksum, then the arrays."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError
from assay.store._frame import HEADER_LIMIT, Frame, FrameError, NotAFrame, parse

_OTHER_FORMATS = (
    (b"\x80", "a Python pickle"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x7fELF", "a program"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"PAR1", "a Parquet table"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x93NUMPY", "a NumPy array file"),
    (b"<", "a web page"),
)


def read_frame(path: str | os.PathLike[str]) -> Frame:
    """Return the header of a model file, verified; the arrays are not read."""
    with _opened(path) as file:
        return _frame(file, os.fspath(path))


def read_all(path: str | os.PathLike[str]) -> tuple[Frame, NDArray[np.uint8]]:
    """Return the header and the bytes of the arrays; only the header is verified here."""
    with _opened(path) as file:
        frame = _frame(file, os.fspath(path))
        if frame.n_bytes > _memory():
            raise DataError(
                f"{os.fspath(path)}: its arrays take {frame.n_bytes / 2**30:.0f} GB, more than "
                f"the memory of this machine; open it on a larger machine"
            )
        blob = np.empty(frame.n_bytes, dtype=np.uint8)
        if file.readinto(blob.data) != frame.n_bytes:  # type: ignore[attr-defined]
            raise damaged(path, "it became shorter while being read")
    return frame, blob


def damaged(path: str | os.PathLike[str], why: str) -> DataError:
    """Return the error for a file whose content has changed."""
    return DataError(
        f"{os.fspath(path)}: damaged model file: {why}; "
        f"restore it from a copy, or fit the model again"
    )


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    # Checked before opening: opening a pipe would wait for its other end.
    try:
        mode = Path(path).stat().st_mode
        if not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
            raise _not_a_model(path, f"it is {what}")
        return Path(path).open("rb")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        explained = type(error)(f"cannot read the model file {os.fspath(path)}: {why}")
        explained.errno = error.errno
        raise explained from error


def _frame(file: BinaryIO, path: str) -> Frame:
    size = os.fstat(file.fileno()).st_size
    start = file.read(16)
    for magic, what in _OTHER_FORMATS:
        # A header length could begin with any byte; the ninth byte decides.
        if start.startswith(magic) and start[8:9] != b"{":
            raise _not_a_model(path, f"it looks like {what}")
    if size < 16 or start[8:9] != b"{":
        raise _not_a_model(path, "it is empty" if size == 0 else "its first bytes are wrong")
    length = int.from_bytes(start[:8], "little")
    if length > HEADER_LIMIT:
        raise _not_a_model(path, f"its header would take more than {HEADER_LIMIT // 2**20} MB")
    if length > size - 8:
        raise damaged(path, "it is cut short")
    file.seek(8)
    try:
        frame = parse(file.read(length))
    except NotAFrame as error:
        raise _not_a_model(path, str(error)) from error
    except FrameError as error:
        raise damaged(path, str(error)) from error
    expected = 8 + length + frame.n_bytes
    if size != expected:
        short = "it is cut short" if size < expected else "there is more after its end"
        raise damaged(path, f"{short} ({size:,} bytes instead of {expected:,})")
    return frame


def _not_a_model(path: str | os.PathLike[str], why: str) -> DataError:
    return DataError(
        f"{os.fspath(path)}: not an Assay model file: {why}; "
        f"give a file that `assay fit` or Study.save wrote"
    )


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
