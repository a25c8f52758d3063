"""The ledger: complete or not at all, shared safely, and clear about trouble."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.base import DataError
from assay.select import Ledger
from assay.select.run._ledger_file import LedgerFile

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_units_survive_closing(tmp_path: Path) -> None:
    with Ledger(tmp_path / "x.ledger") as ledger:
        ledger.put("a", b"1" * 1000)
        ledger.put("b", b"")
    with Ledger(tmp_path / "x.ledger") as ledger:
        assert ledger.get("a") == b"1" * 1000
        assert ledger.get("b") == b""
        assert ledger.get("c") is None
        assert ledger.present(["a", "c"]) == {"a"}
        assert len(ledger) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.ledger"]


@pytest.mark.parametrize("name", [None, "x.ledger"])
def test_a_finished_unit_is_never_replaced(name: str | None, tmp_path: Path) -> None:
    with Ledger(None if name is None else tmp_path / name) as ledger:
        ledger.put("a", b"first")
        ledger.put("a", b"second")
        assert ledger.get("a") == b"first"
        assert ledger.get("b") is None
        assert ledger.present(["a", "b"]) == {"a"}
        assert len(ledger) == 1


def test_ledger_in_memory_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Ledger() as ledger:
        ledger.put("a", b"1")
    assert list(tmp_path.iterdir()) == []


WRITER = """
import sys
from assay.select import Ledger
with Ledger(sys.argv[1]) as ledger:
    for i in range(300):
        ledger.put(f"{i}", bytes([i % 256]) * 100)
"""


def test_two_processes_can_write_one_ledger(tmp_path: Path) -> None:
    path = tmp_path / "x.ledger"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path)], env=ENVIRONMENT)
        for _ in range(2)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    with Ledger(path) as ledger:
        assert len(ledger) == 300
        assert all(ledger.get(f"{i}") == bytes([i % 256]) * 100 for i in range(300))


def test_many_openings_at_once_agree_on_one_table(tmp_path: Path) -> None:
    def work(i: int) -> int:
        with Ledger(tmp_path / "x.ledger") as ledger:
            ledger.put(f"{i}", b"x")
            return len(ledger)

    with ThreadPoolExecutor(8) as pool:
        assert max(pool.map(work, range(24))) == 24


@pytest.mark.parametrize(
    "content", [b"not a database at all, just text" * 100, b"\x89PNG\r\n" * 500]
)
def test_foreign_file_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"photo\.png is damaged or not a ledger"):
        Ledger(path)
    assert path.read_bytes() == content


def test_other_sqlite_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE precious (x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"mine\.db is an SQLite file but not a ledger"):
        Ledger(path)
    assert path.read_bytes() == before


def test_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.ledger"
    Ledger(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(DataError, match="has format 99, this version of assay reads 1"):
        Ledger(path)


def test_empty_file_becomes_a_ledger(tmp_path: Path) -> None:
    (tmp_path / "x.ledger").touch()
    with Ledger(tmp_path / "x.ledger") as ledger:
        assert len(ledger) == 0


def test_flipped_bit_in_a_unit_is_found(tmp_path: Path) -> None:
    path = tmp_path / "x.ledger"
    with Ledger(path) as ledger:
        ledger.put("a", b"payload-" * 50)
    data = bytearray(path.read_bytes())
    place = data.index(b"payload-") + 3
    data[place] ^= 1
    path.write_bytes(data)
    with Ledger(path) as ledger, pytest.raises(DataError, match=r"x\.ledger is damaged \(unit a\)"):
        ledger.get("a")


def test_damaged_pages_are_told_as_data_errors(tmp_path: Path) -> None:
    path = tmp_path / "x.ledger"
    with Ledger(path) as ledger:
        for i in range(200):
            ledger.put(f"{i}", bytes(500))
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)

    def read() -> None:
        with Ledger(path) as ledger:
            for i in range(200):
                ledger.get(f"{i}")

    with pytest.raises(DataError, match=r"x\.ledger is damaged"):
        read()


def test_places_that_cannot_hold_a_ledger_are_os_errors(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="ledger is a directory"):
        Ledger(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such directory for the ledger"):
        Ledger(tmp_path / "no" / "x.ledger")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere" / "x")
    with pytest.raises(OSError, match="unable to open database file"):
        Ledger(tmp_path / "link")


FILLER = """
import errno, sys
from assay.select import Ledger
ledger = Ledger(sys.argv[1])
try:
    for i in range(1000):
        ledger.put(f"{i}", bytes(10_000))
except OSError as error:
    print(type(error).__name__, error.errno, error)
"""


def test_full_disk_is_an_os_error_and_keeps_what_was_finished(tmp_path: Path) -> None:
    path = tmp_path / "x.ledger"
    done = subprocess.run(
        [sys.executable, "-c", FILLER, str(path)],
        env=ENVIRONMENT, capture_output=True, text=True, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
    )  # fmt: skip
    assert "OSError" in done.stdout
    assert "finished units are kept" in done.stdout
    with Ledger(path) as ledger:
        assert len(ledger) > 5
        assert ledger.get("0") == bytes(10_000)


def test_page_limit_is_reported_as_no_space(tmp_path: Path) -> None:
    with Ledger(tmp_path / "x.ledger") as ledger:
        assert isinstance(ledger._units, LedgerFile)
        ledger._units._connection.execute("PRAGMA max_page_count = 20")
        with pytest.raises(OSError, match="database or disk is full") as caught:
            ledger.put("large", bytes(1_000_000))
        assert caught.value.errno == 28
