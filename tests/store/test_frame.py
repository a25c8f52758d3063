from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from assay.store._frame import (
    DTYPES,
    NAMES,
    Frame,
    FrameError,
    NotAFrame,
    Tensor,
    build,
    canonical,
    in_order,
    parse,
    split,
)

ARRAYS: dict[str, np.ndarray[Any, Any]] = {
    "model/a_": np.arange(6.0).reshape(2, 3),
    "model/b_": np.array([True, False, True]),
    "model/c_": np.array(2.5, dtype=np.float32),
    "model/d_": np.empty((0, 4)),
    "encoder/e_": np.array([[1], [-1]], dtype=np.int16),
}
TENSORS = {name: Tensor(NAMES[array.dtype], array.shape) for name, array in ARRAYS.items()}
BLOB = b"".join(ARRAYS[name].tobytes() for name, _ in in_order(TENSORS))

shapes = st.lists(st.integers(0, 5), max_size=4).map(tuple)
tensors = st.dictionaries(st.text(), st.builds(Tensor, st.sampled_from(sorted(DTYPES)), shapes))


def test_safetensors_library_reads_the_same(tmp_path: Path) -> None:
    header, digest = build("any text", TENSORS)
    path = tmp_path / "x.assay"
    path.write_bytes(struct.pack("<Q", len(header)) + header + BLOB)

    read = load_file(path)
    assert read.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert read[name].dtype == array.dtype
        np.testing.assert_array_equal(read[name], array)
    with safetensors.safe_open(path, framework="numpy") as file:
        assert file.metadata() == {"assay": "any text", "sha256": digest}


@given(text=st.text(), tensors=tensors)
def test_parse_is_the_reverse_of_build(text: str, tensors: dict[str, Tensor]) -> None:
    tensors.pop("__metadata__", None)
    header, digest = build(text, tensors)
    assert parse(header) == Frame(text, digest, tensors)
    assert len(header) % 8 == 0


@given(tensors=tensors)
def test_every_array_is_aligned_to_its_type(tensors: dict[str, Tensor]) -> None:
    start = 0
    for _, tensor in in_order(tensors):
        assert start % DTYPES[tensor.dtype].itemsize == 0
        start += tensor.n_bytes


def test_split_gives_back_the_arrays() -> None:
    found = split(np.frombuffer(BLOB, dtype=np.uint8), TENSORS)
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_order_of_arrays_and_keys_does_not_matter() -> None:
    assert build("t", TENSORS) == build("t", dict(reversed(TENSORS.items())))


def _edited(edit: Any) -> bytes:
    entries = json.loads(build("t", TENSORS)[0])
    edit(entries)
    return canonical(entries).encode().ljust(8)


@pytest.mark.parametrize(
    "edit",
    [
        lambda e: e["model/a_"].update(data_offsets=[8, 56]),
        lambda e: e["model/a_"].update(dtype="I64"),
        lambda e: e["model/a_"].update(shape=[3, 2]),
        lambda e: e["model/a_"].update(more=1),
        lambda e: e["__metadata__"].update(more="x"),
        lambda e: e["__metadata__"].update(assay="u"),
        lambda e: e.pop("model/b_"),
        lambda e: e.update({"model/z_": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}),
    ],
)
def test_parse_refuses_any_edit_of_the_header(edit: Any) -> None:
    with pytest.raises(FrameError):
        parse(_edited(edit))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'{"__metadata__"', b'{ "__metadata__"'),
        (b'"dtype":"F64"', b'"dtype":"F64","dtype":"F64"'),
        (b"[2,3]", b"[2.0,3]"),
        (b"[2,3]", b"[2,3e0]"),
        (b'"model/b_"', b'"model/\\u0062_"'),
        (b"}}", b"}}\t"),
        (b"[0,48]", b"[-0,48]"),
    ],
)
def test_parse_refuses_another_spelling_of_the_same_header(old: bytes, new: bytes) -> None:
    header, _ = build("t", TENSORS)
    assert old in header
    with pytest.raises(FrameError):
        parse(header.replace(old, new, 1))


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F64", "shape": [-1], "data_offsets": [0, 0]},
        {"dtype": "F64", "shape": [True], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [2**60], "data_offsets": [0, 2**63]},
        {"dtype": "F64", "shape": [0, 2**60], "data_offsets": [0, 0]},
        {"dtype": "F64", "shape": [1] * 9, "data_offsets": [0, 8]},
        {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]},
        {"dtype": ["F64"], "shape": [1], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": 3, "data_offsets": [0, 8]},
        {"shape": [1]},
        [],
        None,
    ],
)
def test_parse_refuses_impossible_arrays(entry: Any) -> None:
    text = canonical({"__metadata__": {"assay": "t", "sha256": "0"}, "a": entry})
    with pytest.raises(NotAFrame):
        parse(text.encode())


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"__metadata__":{}}',
        b'{"__metadata__":[]}',
        b'{"__metadata__":{"assay":1,"sha256":"x"}}',
        b'{"__metadata__":{"assay":"x"}}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 10_000,
        b'{"__metadata__":{"assay":"\xff"}}',
    ],
)
def test_parse_refuses_other_json(header: bytes) -> None:
    with pytest.raises(NotAFrame):
        parse(header)


def test_split_refuses_booleans_that_are_neither_0_nor_1() -> None:
    blob = np.array([0, 1, 2], dtype=np.uint8)
    with pytest.raises(FrameError, match="boolean"):
        split(blob, {"a": Tensor("BOOL", (3,))})
