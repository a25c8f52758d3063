"""Draw neighbors_hashing.svg: the bins of two tables, and the rows that a query examines."""

from __future__ import annotations

from pathlib import Path

import numpy as np

SIDE, REACH = 300, 3.2
INK, NEAR, FAR, QUERY = "#767676", "#3b7dd8", "#b4b4b4", "#d1332e"
QUERIED = np.array([0.55, 0.35])


def rows() -> np.ndarray:
    """Return points of two columns."""
    rng = np.random.default_rng(5)
    return rng.normal(size=(260, 2)) * [1.3, 1.1]


def panel(angle: float, width: float, shift: float, left: int, name: str) -> tuple[str, np.ndarray]:
    """One table of two projections: its borders, and the rows in the bin of the query."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    codes = np.floor(rows() @ turn / width + shift)
    own = np.floor(QUERIED @ turn / width + shift)
    inside = (codes == own).all(axis=1)
    lines = []
    for axis in (0, 1):
        for border in range(-6, 7):
            at, along = turn[:, axis] * (border - shift) * width, turn[:, 1 - axis] * 9
            (a, b), (c, d) = place(at - along, left), place(at + along, left)
            lines.append(f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}"/>')
    dots = "".join(
        dot(row, left, 2.6, NEAR if hit else FAR) for row, hit in zip(rows(), inside, strict=True)
    )
    return (
        f'<svg x="{left}" y="24" width="{SIDE}" height="{SIDE}" viewBox="{left} 24 {SIDE} {SIDE}">'
        f'<g stroke="{INK}" stroke-opacity="0.5">{"".join(lines)}</g>{dots}'
        f"{dot(QUERIED, left, 5, QUERY)}</svg>"
        f'<text x="{left}" y="16" fill="{INK}">{name}</text>',
        inside,
    )


def place(point: np.ndarray, left: int) -> tuple[float, float]:
    """Return where a point lies on the page."""
    scale = SIDE / 2 / REACH
    return left + SIDE / 2 + scale * point[0], 24 + SIDE / 2 - scale * point[1]


def dot(point: np.ndarray, left: int, radius: float, colour: str) -> str:
    """Draw a point."""
    x, y = place(point, left)
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>'


def picture() -> str:
    """Return the three panels."""
    first, one = panel(0.35, 1.5, 0.2, 10, "table 1")
    second, two = panel(1.0, 1.5, 0.65, 330, "table 2")
    both = one.astype(int) + two
    colours = np.array([FAR, "#9dbfec", NEAR])
    dots = "".join(dot(row, 650, 2.6, colours[n]) for row, n in zip(rows(), both, strict=True))
    third = (
        f'<text x="650" y="16" fill="{INK}">union of bins (dark: in both)</text>'
        f"{dots}{dot(QUERIED, 650, 5, QUERY)}"
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 334" '
        f'font-family="sans-serif" font-size="13">{first}{second}{third}</svg>\n'
    )


if __name__ == "__main__":
    Path(__file__).with_name("neighbors_hashing.svg").write_text(picture(), encoding="utf-8")
