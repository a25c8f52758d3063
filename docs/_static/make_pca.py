"""Draw pca.svg: ten rows, their two principal axes, and the way back from one axis."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.decomposition import PCA

DATA = np.array(
    [
        [2.5, 2.4],
        [0.5, 0.7],
        [2.2, 2.9],
        [1.9, 2.2],
        [3.1, 3.0],
        [2.3, 2.7],
        [2.0, 1.6],
        [1.0, 1.1],
        [1.5, 1.6],
        [1.1, 0.9],
    ]
)
INK, BLUE, ORANGE, GREY = "#767676", "#3b7dd8", "#e07b39", "#9a9a9a"
SIDE, UNIT = 360, 96


def at(point: np.ndarray) -> tuple[float, float]:
    """Place a row on the page: the mean of the table is its centre."""
    x, y = (point - DATA.mean(axis=0)) * UNIT
    return round(SIDE / 2 + x, 1), round(SIDE / 2 - y, 1)


def picture() -> str:
    """Return the whole picture."""
    model = PCA().fit(DATA)
    first = model.truncated(1)
    back = first.inverse_transform(first.transform(DATA))
    parts = []
    for number, (axis, variance) in enumerate(
        zip(model.components_, model.explained_variance_, strict=True), start=1
    ):
        reach = 1.7 * np.sqrt(variance) * axis
        (x1, y1), (x2, y2) = at(model.mean_ - reach), at(model.mean_ + reach)
        share = f"{model.explained_variance_ratio_[number - 1]:.1%}"
        dx, dy = (-118, 2) if number == 1 else (10, 14)
        parts.append(
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{BLUE}" stroke-width="2"/>'
            f'<text x="{x2 + dx}" y="{y2 + dy}" fill="{BLUE}">axis {number}: {share}</text>'
        )
    for row, near in zip(DATA, back, strict=True):
        (x1, y1), (x2, y2) = at(row), at(near)
        parts.append(
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{GREY}" stroke-dasharray="3"/>'
            f'<circle cx="{x2}" cy="{y2}" r="3.5" fill="none" stroke="{ORANGE}"/>'
            f'<circle cx="{x1}" cy="{y1}" r="4" fill="{INK}"/>'
        )
    legend = (
        f'<circle cx="20" cy="336" r="4" fill="{INK}"/>'
        f'<text x="30" y="340" fill="{INK}">row</text>'
        f'<circle cx="72" cy="336" r="3.5" fill="none" stroke="{ORANGE}"/>'
        f'<text x="82" y="340" fill="{INK}">back from axis 1</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}" width="{SIDE}" '
        f'height="{SIDE}" font-family="system-ui, sans-serif" font-size="12">'
        + "".join(parts)
        + legend
        + "</svg>\n"
    )


if __name__ == "__main__":
    Path(__file__).with_name("pca.svg").write_text(picture(), encoding="utf-8")
