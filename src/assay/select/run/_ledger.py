"""The ledger: finished units by key, in memory or in a file that survives a kill."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from assay.select.run._ledger_file import LedgerFile


class Ledger:
    """A key-value store for units of work.

    Parameters
    ----------
    path : path-like or None, default=None
        File to create or to continue; None keeps the units in memory.

    Raises
    ------
    DataError
        If the file is damaged or is not a ledger.
    OSError
        If the file cannot be opened or written, or the disk is full.

    Notes
    -----
    A stored unit is never replaced. In a file it survives a kill at any moment and is verified when
    it is read; see `LedgerFile`.

    Examples
    --------
    >>> with Ledger() as ledger:
    ...     ledger.put("key", b"bytes")
    ...     ledger.get("key"), ledger.get("other")
    (b'bytes', None)
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._units = _Memory() if self.path is None else LedgerFile(self.path)

    def get(self, key: str) -> bytes | None:
        """Return the bytes of a finished unit, or None."""
        return self._units.get(key)

    def put(self, key: str, payload: bytes) -> None:
        """Store a finished unit; an existing one is kept."""
        self._units.put(key, payload)

    def present(self, keys: Iterable[str]) -> set[str]:
        """Return those of `keys` that are finished."""
        return self._units.present(keys)

    def __len__(self) -> int:
        return len(self._units)

    def close(self) -> None:
        """Close the file; what was committed stays. Units in memory are gone."""
        self._units.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Memory:
    """Units in the memory of one process."""

    def __init__(self) -> None:
        self._payload: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self._payload.get(key)

    def put(self, key: str, payload: bytes) -> None:
        self._payload.setdefault(key, payload)

    def present(self, keys: Iterable[str]) -> set[str]:
        return self._payload.keys() & set(keys)

    def __len__(self) -> int:
        return len(self._payload)

    def close(self) -> None:
        self._payload.clear()
