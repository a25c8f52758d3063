"""Finished units in one SQLite file, each stored completely or not at all."""

from __future__ import annotations

import errno
import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.base import DataError

# "Assy": recognises a ledger, so that no other SQLite file is touched.
_APPLICATION = 0x41737379
# Raise it when old units could no longer be read correctly; older ledgers are refused.
_FORMAT = 1
_BUSY_SECONDS = 60.0


class LedgerFile:
    """The units of a ledger that is a file.

    Parameters
    ----------
    path : Path
        File to create or to continue.

    Notes
    -----
    SQLite in WAL mode: a unit is one row, inserted in its own transaction, with the SHA-256 of its
    bytes beside it. Several processes may use one file.
    """

    def __init__(self, path: Path) -> None:
        self._name = f"ledger {path}"
        _check_place(path)
        with self._translated():
            self._connection = sqlite3.connect(
                path,
                timeout=_BUSY_SECONDS,
                isolation_level=None,  # every statement is its own transaction
            )
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def get(self, key: str) -> bytes | None:
        """Return the bytes of a finished unit, or None."""
        with self._translated():
            row = self._connection.execute(
                "SELECT payload, digest FROM unit WHERE key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        payload, digest = row
        if not isinstance(payload, bytes) or hashlib.sha256(payload).digest() != digest:
            raise DataError(f"{self._name} is damaged (unit {key}); delete the file and run again")
        return payload

    def put(self, key: str, payload: bytes) -> None:
        """Store a finished unit; an existing one is kept."""
        with self._translated():
            self._connection.execute(
                "INSERT OR IGNORE INTO unit (key, payload, digest) VALUES (?, ?, ?)",
                (key, payload, hashlib.sha256(payload).digest()),
            )

    def present(self, keys: Iterable[str]) -> set[str]:
        """Return those of `keys` that are finished."""
        with self._translated():
            there = {key for (key,) in self._connection.execute("SELECT key FROM unit")}
        return there.intersection(keys)

    def __len__(self) -> int:
        with self._translated():
            return int(self._connection.execute("SELECT count(*) FROM unit").fetchone()[0])

    def close(self) -> None:
        """Close the file; what was committed stays."""
        with self._translated():
            self._connection.close()

    def _prepare(self) -> None:
        with self._translated():
            run = self._connection.execute
            # One transaction, one moment: another process may be creating the ledger just now.
            run("BEGIN")
            (tables,) = run("SELECT count(*) FROM sqlite_master").fetchone()
            (application,) = run("PRAGMA application_id").fetchone()
            (version,) = run("PRAGMA user_version").fetchone()
            run("COMMIT")
        if application != _APPLICATION and (application or version or tables):
            raise DataError(f"{self._name} is an SQLite file but not a ledger; name another file")
        if application == _APPLICATION and version != _FORMAT:
            raise DataError(
                f"{self._name} has format {version}, this version of assay reads {_FORMAT}; "
                "delete the file or name another one"
            )
        with self._translated():
            run("PRAGMA journal_mode = WAL")
            # In WAL mode this loses nothing when the process dies, and a power cut can cost only
            # the last units, never the file.
            run("PRAGMA synchronous = NORMAL")
            if application == _APPLICATION:
                return
            # All or nothing; of several processes, the first one creates it.
            run("BEGIN IMMEDIATE")
            run(
                "CREATE TABLE IF NOT EXISTS unit "
                "(key TEXT PRIMARY KEY, payload BLOB NOT NULL, digest BLOB NOT NULL)"
            )
            run(f"PRAGMA application_id = {_APPLICATION}")
            run(f"PRAGMA user_version = {_FORMAT}")
            run("COMMIT")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate SQLite's errors into messages for the user."""
        try:
            yield
        except sqlite3.ProgrammingError:
            raise  # used after close: a mistake in the program
        except sqlite3.OperationalError as error:
            raise self._os_error(error) from error
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"{self._name} is damaged or not a ledger ({error}); "
                "delete the file or name another one"
            ) from error

    def _os_error(self, error: sqlite3.OperationalError) -> OSError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        number = {
            sqlite3.SQLITE_FULL: errno.ENOSPC,
            sqlite3.SQLITE_READONLY: errno.EACCES,
            sqlite3.SQLITE_CANTOPEN: errno.EACCES,
            sqlite3.SQLITE_PERM: errno.EACCES,
            sqlite3.SQLITE_BUSY: errno.EBUSY,
            sqlite3.SQLITE_LOCKED: errno.EBUSY,
        }.get(code, errno.EIO)
        advice = "free some space and run again" if number == errno.ENOSPC else "run again"
        return OSError(number, f"{self._name}: {error}; finished units are kept: {advice}")


def _check_place(path: Path) -> None:
    # SQLite reports only "unable to open database file" for all of these.
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "ledger is a directory", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such directory for the ledger", str(path.parent))
