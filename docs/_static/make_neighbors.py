"""Draw docs/_static/neighbors.svg: cells of one neighbour, and the boxes of a k-d tree."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.neighbors import KNeighborsClassifier

SIDE, GAP, STEPS = 300, 30, 100
COLOURS = ("#4477aa", "#ee7733")
PALE = ("#dbe5f1", "#fbe3d3")


def boxes(rows: NDArray[np.float64], leaf: int) -> list[tuple[NDArray[np.float64], ...]]:
    """Cut in the middle of the widest column, as the engine does; return the leaves' boxes."""
    if len(rows) <= leaf:
        return [(rows.min(axis=0), rows.max(axis=0))]
    column = int(np.ptp(rows, axis=0).argmax())
    order = rows[:, column].argsort(kind="stable")
    half = len(rows) // 2
    return boxes(rows[order[:half]], leaf) + boxes(rows[order[half:]], leaf)


def main() -> None:
    """Write the picture beside this script."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(0.03, 0.97, size=(64, 2))
    labels = (rows[:, 1] > 0.5 + 0.25 * np.sin(5 * rows[:, 0])).astype(int)
    model = KNeighborsClassifier(1).fit(rows, labels)
    step = SIDE / STEPS
    middle = (np.arange(STEPS) + 0.5) / STEPS
    width = 2 * SIDE + GAP
    parts = [f'<rect width="{width}" height="{SIDE}" fill="#ffffff"/>']
    for y in middle:
        told = model.predict(np.column_stack([middle, np.full(STEPS, y)]))
        edges = [0, *(np.flatnonzero(np.diff(told)) + 1).tolist(), STEPS]
        for begin, end in pairwise(edges):
            parts.append(
                f'<rect x="{begin * step:.0f}" y="{y * SIDE - step / 2:.0f}" '
                f'width="{(end - begin) * step:.0f}" height="{step:.0f}" '
                f'fill="{PALE[told[begin]]}"/>'
            )
    left = SIDE + GAP
    parts.append(
        f'<rect x="{left}" y="0" width="{SIDE}" height="{SIDE}" fill="none" stroke="#bbbbbb"/>'
    )
    for low, high in boxes(rows, 4):
        (x, y), (w, h) = low * SIDE, (high - low) * SIDE
        parts.append(
            f'<rect x="{left + x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" '
            f'fill="#eeeeee" stroke="#777777"/>'
        )
    for shift in (0, left):
        for (x, y), label in zip(rows, labels, strict=True):
            parts.append(
                f'<circle cx="{shift + x * SIDE:.1f}" cy="{y * SIDE:.1f}" r="3.5" '
                f'fill="{COLOURS[label]}"/>'
            )
    size = f'width="{width}" height="{SIDE}" viewBox="0 0 {width} {SIDE}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>' + "".join(parts) + "</svg>\n"
    Path(__file__).with_name("neighbors.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
