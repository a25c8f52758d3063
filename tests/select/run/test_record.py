"""Units as bytes: what comes out is what went in, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.base import Fitted, Predicted
from assay.select.run._record import Entry, decode, encode

FIELDS = ("label", "probability", "decision", "value")


def same(left: Entry, right: Entry) -> bool:
    if (left.failed, left.notes) != (right.failed, right.notes):
        return False
    if left.fitted is None or right.fitted is None:
        return left.fitted is right.fitted
    if left.fitted.size != right.fitted.size:
        return False
    pairs = zip(left.fitted.predictions, right.fitted.predictions, strict=True)
    return all(equal_bits(getattr(a, f), getattr(b, f)) for a, b in pairs for f in FIELDS)


def equal_bits(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    return bool(left.dtype == right.dtype and left.shape == right.shape
                and left.tobytes() == right.tobytes())  # fmt: skip


def classified(
    random: np.random.Generator, lengths: list[int], k: int, kind: str, order: str
) -> Fitted:
    parts = []
    for n in lengths:
        raw = random.random((n, k)) + 1e-3
        probability = np.array(raw / raw.sum(axis=1, keepdims=True), order=order)  # type: ignore[call-overload]
        if kind == "complement" and k == 2:
            probability[:, 0] = 1 - probability[:, 1]
        label = probability.argmax(axis=1)
        if kind == "odd labels":
            label = random.integers(0, k, n)
        decision = random.normal(size=n if k == 2 else (n, k))
        parts.append(
            Predicted(
                label,
                None if kind == "labels only" else probability,
                decision if kind == "odd labels" else None,
            )
        )
    return Fitted(parts, float(random.integers(1, 99)))


@given(
    seed=st.integers(0, 10_000),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    k=st.sampled_from([2, 3, 200]),
    kinds=st.lists(
        st.sampled_from(["plain", "complement", "odd labels", "labels only", "failed"]),
        min_size=1,
        max_size=6,
    ),
    order=st.sampled_from(["C", "F"]),
)
def test_classification_units_survive_the_ledger(
    seed: int, lengths: list[int], k: int, kinds: list[str], order: str
) -> None:
    random = np.random.default_rng(seed)
    entries = [
        Entry(None, "it broke: ü", ("a note",))
        if kind == "failed"
        else Entry(classified(random, lengths, k, kind, order), None, ())
        for kind in kinds
    ]
    back = decode(encode(entries, lengths))
    assert len(back) == len(entries)
    assert all(same(left, right) for left, right in zip(entries, back, strict=True))


@given(seed=st.integers(0, 100), n=st.integers(1, 20))
def test_regression_units_survive_the_ledger(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    entries = [Entry(Fitted([Predicted(value=random.normal(size=n))], 2.5)), Entry(None, "no")]
    back = decode(encode(entries, [n]))
    assert all(same(left, right) for left, right in zip(entries, back, strict=True))


def test_equal_units_have_equal_bytes() -> None:
    def made() -> bytes:
        random = np.random.default_rng(0)
        return encode([Entry(classified(random, [5, 6], 2, "complement", "C"))] * 3, [5, 6])

    assert made() == made()


@pytest.mark.parametrize(("kind", "per_row"), [("complement", 8), ("plain", 16)])
def test_what_can_be_restored_is_not_stored(kind: str, per_row: int) -> None:
    random = np.random.default_rng(0)
    small, large = (
        len(encode([Entry(classified(random, [n], 2, kind, "C"))], [n])) for n in (1000, 3000)
    )
    assert (large - small) / 2000 == pytest.approx(per_row, abs=0.1)
