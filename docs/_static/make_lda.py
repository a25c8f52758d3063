"""Draw lda.svg: two long classes, and what is left of them on one axis of PCA and of LDA."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.decomposition import PCA, LinearDiscriminantAnalysis

INK, COLOURS = "#767676", ("#3b7dd8", "#e07b39")
SIDE, UNIT, BINS = 320, 46, 24


def table() -> tuple[np.ndarray, np.ndarray]:
    """Two classes with a common covariance; their widest direction does not tell them apart."""
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], 70)
    long = rng.normal(size=(140, 2)) * [1.6, 0.35]
    turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
    return long @ turn + np.where(y[:, None] == 0, [-0.45, 0.6], [0.45, -0.6]), y


def scatter(X: np.ndarray, y: np.ndarray, axes: list[tuple[str, np.ndarray]]) -> str:
    """Draw the rows and the axes, in the left half of the page."""
    parts = []
    for (a, b), label in zip(X, y, strict=True):
        x, z = SIDE / 2 + UNIT * a, SIDE / 2 - UNIT * b
        parts.append(f'<circle cx="{x:.1f}" cy="{z:.1f}" r="3" fill="{COLOURS[label]}"/>')
    for name, axis in axes:
        a, b = 3.0 * UNIT * axis / np.linalg.norm(axis)
        parts.append(
            f'<line x1="{SIDE / 2 - a:.1f}" y1="{SIDE / 2 + b:.1f}" x2="{SIDE / 2 + a:.1f}" '
            f'y2="{SIDE / 2 - b:.1f}" stroke="{INK}" stroke-width="2"/>'
            f'<text x="{SIDE / 2 + 1.06 * a - 8:.1f}" y="{SIDE / 2 - 1.06 * b:.1f}" '
            f'fill="{INK}">{name}</text>'
        )
    return "".join(parts)


def counts(name: str, places: np.ndarray, y: np.ndarray, top: float) -> str:
    """Two histograms over each other, in the right half of the page."""
    edges = np.linspace(places.min(), places.max(), BINS + 1)
    width, left = 240 / BINS, SIDE + 40
    parts = [f'<text x="{left}" y="{top - 84}" fill="{INK}">along the axis of {name}</text>']
    for label in (0, 1):
        found = np.histogram(places[y == label], edges)[0]
        for k, count in enumerate(found):
            high = 4.2 * count
            parts.append(
                f'<rect x="{left + k * width:.1f}" y="{top - high:.1f}" width="{width - 1:.1f}" '
                f'height="{high:.1f}" fill="{COLOURS[label]}" fill-opacity="0.6"/>'
            )
    parts.append(f'<line x1="{left}" y1="{top}" x2="{left + 240}" y2="{top}" stroke="{INK}"/>')
    return "".join(parts)


def picture() -> str:
    """Return the whole picture."""
    X, y = table()
    wide, apart = PCA(1).fit(X), LinearDiscriminantAnalysis().fit(X, y)
    axes = [("PCA", wide.components_[0]), ("LDA", apart.scalings_[:, 0])]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * SIDE} {SIDE}" '
        f'width="{2 * SIDE}" height="{SIDE}" font-family="system-ui, sans-serif" font-size="12">'
        + scatter(X, y, axes)
        + counts("PCA", wide.transform(X)[:, 0], y, 130)
        + counts("LDA", apart.transform(X)[:, 0], y, 280)
        + "</svg>\n"
    )


if __name__ == "__main__":
    Path(__file__).with_name("lda.svg").write_text(picture(), encoding="utf-8")
