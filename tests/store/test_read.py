from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from assay.base import DataError
from assay.store import _read, inspect, load
from assay.store._frame import HEADER_LIMIT

from .conftest import FITTED, Opened

READERS = pytest.mark.parametrize("read", [load, inspect])


class _Canary:
    def __reduce__(self) -> Any:
        return os.system, ("touch canary",)


def _zip_bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.pkl", b"\0" * 10**6)
    return buffer.getvalue()


def _header(length: int, body: bytes) -> bytes:
    return struct.pack("<Q", length) + body


FOREIGN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "it is empty"),
    "one byte": (b"{", "its first bytes are wrong"),
    "pickle": (pickle.dumps(_Canary()), "it looks like a Python pickle"),
    "old pickle": (pickle.dumps(_Canary(), protocol=0), "its first bytes are wrong"),
    "zip": (_zip_bomb(), "it looks like a zip archive"),
    "program": (b"\x7fELF" + bytes(60), "it looks like a program"),
    "gzip": (b"\x1f\x8b" + bytes(60), "it looks like a gzip archive"),
    "table": (b"a,b,c\n1,2,3\n4,5,6\n", "its first bytes are wrong"),
    "page": (b"<!DOCTYPE html><html></html>", "it looks like a web page"),
    "zeros": (bytes(1000), "its first bytes are wrong"),
    "huge length": (_header(2**63, b"{" + bytes(99)), "its header would take more than 32 MB"),
    "large length": (_header(HEADER_LIMIT + 1, b"{" + bytes(99)), "its header would take more"),
    "deep": (_header(10**6, b'{"a":' * 200_000), "its header is not that of a model file"),
    "deep list": (_header(10**6, b"{" + b"[" * 10**6), "its header is not that of a model file"),
    "wide number": (_header(10**5, b'{"a":' + b"9" * 10**5), "its header is not that of a model"),
    "json": (_header(16, b"{}".ljust(16)), "its header is not that of a model file"),
}


@READERS
@pytest.mark.parametrize("kind", sorted(FOREIGN))
def test_other_files_are_refused(kind: str, read: Any, tmp_path: Path) -> None:
    content, why = FOREIGN[kind]
    path = tmp_path / "x.assay"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: not an Assay model file: {why}")
    assert message.endswith("; give a file that `assay fit` or Study.save wrote")
    assert not Path("canary").exists()


@READERS
def test_random_files_are_refused(read: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    path = tmp_path / "x.assay"
    for size in (8, 16, 17, 100, 5000):
        for start in (b"", struct.pack("<Q", 8), struct.pack("<Q", max(size - 8, 0)) + b"{"):
            path.write_bytes((start + random.bytes(size))[:size])
            with pytest.raises(DataError):
                read(path)


@READERS
def test_other_safetensors_file_is_refused(read: Any, tmp_path: Path) -> None:
    save_file({"weight": np.zeros((2, 2))}, tmp_path / "x.assay", {"format": "pt"})
    with pytest.raises(DataError, match="not an Assay model file: its header is not that of a mod"):
        read(tmp_path / "x.assay")


@READERS
def test_missing_file_and_folder_are_named(read: Any, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        read(tmp_path / "x.assay")
    path = tmp_path / "x.assay"
    assert str(caught.value) == f"cannot read the model file {path}: no such file or directory"
    with pytest.raises(DataError, match="it is a folder"):
        read(tmp_path)


@READERS
def test_device_and_pipe_are_refused_at_once(read: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(DataError, match="it is a device or a pipe"):
            read(path)


def test_model_larger_than_memory_is_refused_before_reading(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_read, "_memory", lambda: 10)
    with pytest.raises(DataError, match="more than the memory of this machine"):
        load(small)


@READERS
def test_file_cut_at_any_byte_is_refused(small: Path, read: Any) -> None:
    whole = small.read_bytes()
    for size in range(len(whole)):
        small.write_bytes(whole[:size])
        with pytest.raises(DataError):
            read(small)
    small.write_bytes(whole + b"\0")
    with pytest.raises(DataError, match="there is more after its end"):
        read(small)


def test_every_flipped_bit_is_noticed(small: Path) -> None:
    whole = small.read_bytes()
    random = np.random.default_rng(0)
    for position in random.choice(len(whole) * 8, size=400, replace=False).tolist():
        damaged = bytearray(whole)
        damaged[position // 8] ^= 1 << position % 8
        small.write_bytes(damaged)
        with pytest.raises(DataError, match=str(small)):
            load(small)


def test_two_arrays_exchanged_are_noticed(tmp_path: Path, small: Path) -> None:
    opened = Opened(small)
    opened.arrays["model/coef_"] = opened.arrays["model/coef_"].T.copy()
    with pytest.raises(DataError, match="coef_ has shape"):
        load(opened.write(small))


def test_array_of_no_part_is_noticed(small: Path) -> None:
    for name in ("model/extra_", "other/coef_", "encoder/coef_", "model/coef_/x", "model"):
        opened = Opened(small)
        opened.arrays[name] = np.zeros(3)
        with pytest.raises(DataError, match=r"belongs to nothing|has an unknown form"):
            load(opened.write(small))


def test_examples_are_small_enough_to_be_cut_everywhere(small: Path) -> None:
    assert small.stat().st_size < 2000
    assert FITTED
