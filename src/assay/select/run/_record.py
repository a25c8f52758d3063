"""Results of a unit as bytes: safetensors, so that reading them cannot run code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from assay.base import Fitted, Predicted


@dataclass(frozen=True)
class Entry:
    """Result of one candidate in a unit.

    Parameters
    ----------
    fitted : Fitted or None
        Predictions and size; None if the fit failed.
    failed : str or None
        Why it failed.
    notes : tuple of str
        Warnings of the fit.
    """

    fitted: Fitted | None
    failed: str | None = None
    notes: tuple[str, ...] = ()


_FIELDS = ("label", "probability", "decision", "value")


def encode(entries: Sequence[Entry], lengths: Sequence[int]) -> bytes:
    """Return the bytes of a finished unit.

    Parameters
    ----------
    entries : sequence of Entry
        One per candidate, in order.
    lengths : sequence of int
        Rows of each test block.

    Notes
    -----
    Candidates are stacked, so a unit is at most five arrays. What can be restored bit by bit is
    left out: labels that are the argmax of the probabilities, and the first of two probabilities
    when it is one minus the second.
    """
    info: dict[str, Any] = {"lengths": [int(n) for n in lengths], "entries": [], "lean": []}
    stacks: dict[str, list[NDArray[Any]]] = {field: [] for field in _FIELDS}
    for entry in entries:
        has = ""
        if entry.fitted is not None:
            for field in _FIELDS:
                parts = [getattr(each, field) for each in entry.fitted.predictions]
                if parts[0] is not None:
                    stacks[field].append(np.concatenate(parts))
                    has += field[0]
        size = None if entry.fitted is None else float(entry.fitted.size)
        info["entries"].append([has, size, entry.failed, list(entry.notes)])
    arrays = {field: np.stack(stack) for field, stack in stacks.items() if stack}
    if "label" in arrays:
        _slim(arrays, info)
    arrays["info"] = np.frombuffer(json.dumps(info).encode(), dtype=np.uint8)
    # safetensors ignores strides.
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def decode(data: bytes) -> list[Entry]:
    """Return the entries that `encode` was given."""
    arrays = load(data)
    info = json.loads(arrays.pop("info").tobytes())
    if "half" in info["lean"]:
        second = arrays["probability"]
        arrays["probability"] = np.stack([1 - second, second], axis=2)
    if "argmax" in info["lean"]:
        arrays["label"] = arrays["probability"].argmax(axis=2)
    elif "label" in arrays:
        arrays["label"] = arrays["label"].astype(np.int64)
    ends = np.cumsum(info["lengths"])
    taken = dict.fromkeys(_FIELDS, 0)
    entries = []
    for has, size, failed, notes in info["entries"]:
        fitted = None
        if size is not None:
            mine: dict[str, NDArray[Any]] = {}
            for field in _FIELDS:
                if field[0] in has:
                    mine[field] = arrays[field][taken[field]]
                    taken[field] += 1
            predictions = [
                Predicted(**{field: array[end - n : end] for field, array in mine.items()})
                for end, n in zip(ends, info["lengths"], strict=True)
            ]
            fitted = Fitted(predictions, size)
        entries.append(Entry(fitted, failed, tuple(notes)))
    return entries


def _slim(arrays: dict[str, NDArray[Any]], info: dict[str, Any]) -> None:
    label, probability = arrays["label"], arrays.get("probability")
    if probability is not None and probability.shape[:2] == label.shape:
        if np.array_equal(label, probability.argmax(axis=2)):
            del arrays["label"]
            info["lean"].append("argmax")
        if probability.shape[2] == 2 and np.array_equal(
            probability[:, :, 0], 1 - probability[:, :, 1]
        ):
            arrays["probability"] = probability[:, :, 1]
            info["lean"].append("half")
    if "label" in arrays:
        top = int(label.max(initial=0))
        arrays["label"] = label.astype(np.int8 if top < 128 else np.int32)
