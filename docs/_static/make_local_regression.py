"""Draw local_regression.svg: four ways to draw a curve through the same points."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.neighbors import (
    KNeighborsRegressor,
    LocalLinearRegressor,
    LocallyWeightedRegressor,
    PiecewiseLinearRegressor,
)

WIDTH, HEIGHT, GAP = 300, 190, 26
INK, LINE, POINT = "#767676", "#3b7dd8", "#e07b39"


def points() -> tuple[np.ndarray, np.ndarray]:
    """Draw noisy points of a wave."""
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(0, 14, size=22))
    return x, 4 + 2.2 * np.sin(x / 2.2) + 0.15 * x + rng.normal(0, 0.8, size=22)


def panel(name: str, model: object, left: int, top: int) -> str:
    """Draw the points and the curve of one model."""
    x, y = points()
    grid = np.linspace(0, 14, 281)
    curve = model.fit(x[:, None], y).predict(grid[:, None])  # type: ignore[attr-defined]

    def place(a: np.ndarray, b: np.ndarray) -> list[str]:
        across = left + a / 14 * WIDTH
        down = top + HEIGHT - (np.clip(b, -1, 11) + 1) / 12 * HEIGHT
        return [f"{u:.1f},{v:.1f}" for u, v in zip(across, down, strict=True)]

    dots = "".join(
        '<circle cx="{}" cy="{}" r="3"/>'.format(*each.split(",")) for each in place(x, y)
    )
    return (
        f'<text x="{left}" y="{top - 6}" fill="{INK}">{name}</text>'
        f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" '
        f'stroke="{INK}" stroke-opacity="0.4"/>'
        f'<polyline points="{" ".join(place(grid, curve))}" fill="none" stroke="{LINE}" '
        f'stroke-width="1.8"/><g fill="{POINT}">{dots}</g>'
    )


def picture() -> str:
    """Return the four panels."""
    models = [
        ("connect the dots", PiecewiseLinearRegressor()),
        ("mean of 3 neighbours", KNeighborsRegressor(3)),
        ("line through 3 neighbours", LocalLinearRegressor(3)),
        ("locally weighted, quadratic kernel, w = 5", LocallyWeightedRegressor(width=5.0)),
    ]
    panels = [
        panel(name, model, GAP + (i % 2) * (WIDTH + GAP), 30 + (i // 2) * (HEIGHT + 34))
        for i, (name, model) in enumerate(models)
    ]
    size = f"0 0 {2 * WIDTH + 3 * GAP} {2 * HEIGHT + 80}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif" '
        f'font-size="13">{"".join(panels)}</svg>\n'
    )


if __name__ == "__main__":
    Path(__file__).with_name("local_regression.svg").write_text(picture(), encoding="utf-8")
