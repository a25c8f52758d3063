"""The table the commands are run on, and how a command ends."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


def rows(n: int = 80, seed: int = 0) -> list[str]:
    """Return lines of a table in which size and color decide what is sold."""
    source = random.Random(seed)
    lines = []
    for at in range(n):
        size, color = source.random(), source.choice("xyz")
        sold = "yes" if size + 0.3 * (color == "x") + 0.2 * source.random() > 0.7 else "no"
        lines.append(f"{at},{size:.4f},{color},{10 * size + source.random():.5f},{sold}")
    return lines


HEADER = "id,size,color,price,sold"
