"""The outer frame of a model file: a safetensors file, one legal byte sequence per content."""

# Layout (all of it a plain safetensors file, readable by any safetensors reader):
#
#     8 bytes   length H of the header, little-endian
#     H bytes   header: JSON, keys sorted, ASCII, spaces only as padding to a multiple of 8 bytes
#                   {"__metadata__": {"assay": <text>, "sha256": <digest>},
#                    <name>: {"data_offsets": [a, b], "dtype": "F64", "shape": [..]}, ...}
#     the rest  the arrays, C order, widest type first and then by name, without gaps
#
# <digest> is the SHA-256 of the header with an empty <digest>, and <text> holds the SHA-256 of the
# arrays. So the digest covers every byte, yet the header is verified without reading the arrays.
#
# A reader builds the header again from the parsed values and compares bytes. That one comparison
# refuses duplicate keys, stray fields, odd escapes, gaps, overlaps, wrong offsets and hidden data.
#
# It is written here and not by the safetensors library, because the library leaves the order of
# the metadata to a hash map and that of the arrays to its version. The tests read with the library.

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

HEADER_LIMIT = 32 * 2**20
"""Longest header in bytes: parsing JSON takes up to 30 times its size, which stays below 1 GB."""

DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "U64": np.dtype("<u8"),
    "F32": np.dtype("<f4"),
    "I32": np.dtype("<i4"),
    "U32": np.dtype("<u4"),
    "I16": np.dtype("<i2"),
    "U16": np.dtype("<u2"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
_MAX_DIMENSIONS = 8


class FrameError(ValueError):
    """The bytes are not a valid frame; the message is the reason."""


class NotAFrame(FrameError):
    """The bytes never were a frame."""


class Tensor(NamedTuple):
    """Type and shape of one array."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def n_bytes(self) -> int:
        """Number of bytes in the file."""
        return prod(self.shape) * DTYPES[self.dtype].itemsize


class Frame(NamedTuple):
    """A parsed header."""

    text: str
    digest: str
    tensors: dict[str, Tensor]

    @property
    def n_bytes(self) -> int:
        """Number of bytes of all arrays together."""
        return sum(tensor.n_bytes for tensor in self.tensors.values())


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, ASCII, finite numbers only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def in_order(tensors: Mapping[str, Tensor]) -> list[tuple[str, Tensor]]:
    """Return the arrays in file order: widest first, so that each is aligned; then by name."""
    return sorted(tensors.items(), key=lambda item: (-DTYPES[item[1].dtype].itemsize, item[0]))


def build(text: str, tensors: Mapping[str, Tensor]) -> tuple[bytes, str]:
    """Return the header bytes and the digest of a file with this text and these arrays."""
    digest = sha256(_header(text, "", tensors)).hexdigest()
    return _header(text, digest, tensors), digest


def parse(header: bytes) -> Frame:
    """Return the parsed header, after checking that its bytes are the canonical ones."""
    try:
        parsed = json.loads(header)
        metadata = parsed.pop("__metadata__")
        text, digest = metadata["assay"], metadata["sha256"]
        tensors = {name: _tensor(entry) for name, entry in parsed.items()}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise NotAFrame("its header is not that of a model file") from error
    if type(text) is not str or type(digest) is not str:
        raise NotAFrame("its header is not that of a model file")
    expected, computed = build(text, tensors)
    if digest != computed:
        raise FrameError("its SHA-256 does not fit its header")
    if header != expected:
        raise FrameError("its header is not in canonical form")
    return Frame(text, digest, tensors)


def split(blob: NDArray[np.uint8], tensors: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """Return the arrays as views into the bytes that follow the header."""
    arrays, start = {}, 0
    for name, tensor in in_order(tensors):
        end = start + tensor.n_bytes
        raw = blob[start:end]
        if tensor.dtype == "BOOL" and raw.size and raw.max() > 1:
            raise FrameError(f"array {name!r} is boolean but holds bytes other than 0 and 1")
        arrays[name] = raw.view(DTYPES[tensor.dtype]).reshape(tensor.shape)
        start = end
    return arrays


def _tensor(entry: dict[str, Any]) -> Tensor:
    dtype, shape = entry["dtype"], tuple(entry["shape"])
    if dtype not in DTYPES or len(shape) > _MAX_DIMENSIONS:
        raise FrameError("unknown array type")
    if any(type(length) is not int or length < 0 for length in shape):
        raise FrameError("impossible array shape")
    if prod(max(length, 1) for length in shape) >= 2**56:  # NumPy refuses these even when empty
        raise FrameError("impossible array shape")
    return Tensor(dtype, shape)


def _header(text: str, digest: str, tensors: Mapping[str, Tensor]) -> bytes:
    entries: dict[str, Any] = {"__metadata__": {"assay": text, "sha256": digest}}
    start = 0
    for name, tensor in in_order(tensors):
        end = start + tensor.n_bytes
        entries[name] = {"data_offsets": [start, end], "dtype": tensor.dtype, "shape": tensor.shape}
        start = end
    body = canonical(entries).encode("ascii")
    return body + b" " * (-len(body) % 8)
