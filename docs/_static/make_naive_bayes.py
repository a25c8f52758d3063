"""Draw naive_bayes.svg: one column, two classes, as Gaussian and as kernel densities."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.bayes import NaiveBayesClassifier

COLOURS = ("#3b7dd8", "#e07b39")
WIDE, HIGH = 320, 190


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Return two classes with two humps each, by turns."""
    rng = np.random.default_rng(0)
    humps = [rng.normal(middle, 0.5, 60) for middle in (-3.0, 1.0, -1.0, 3.0)]
    return np.concatenate(humps)[:, None], np.repeat([0, 1], 120)


def panel(numeric: str, left: int) -> str:
    """Return one half of the picture: joint densities, and where the first class wins."""
    X, y = rows()
    model = NaiveBayesClassifier(numeric=numeric).fit(X, y)
    asked = np.linspace(-6, 6, 241)
    joint = np.exp(model.predict_joint_log_proba(asked[:, None]))
    across = WIDE * (asked + 6) / 12
    parts = []
    for c, colour in enumerate(COLOURS):
        up = HIGH - 20 - 1150 * joint[:, c]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, up, strict=True))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts += [
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{HIGH - 16 + 7 * c}" y2="{HIGH - 10 + 7 * c}" '
            f'stroke="{colour}" stroke-opacity="0.6"/>'
            for x in WIDE * (X[y == c, 0] + 6) / 12
        ]
    right = f"{model.score(X, y):.0%} of the rows right"
    return (
        f'<g transform="translate({left} 24)"><text x="{WIDE / 2}" y="-6" text-anchor="middle" '
        f'fill="#767676">numeric="{numeric}": {right}</text><rect width="{WIDE}" height="{HIGH}" '
        f'fill="none" stroke="#c0c0c0"/>{"".join(parts)}</g>'
    )


def picture() -> str:
    """Return the whole picture."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDE + 40} {HIGH + 34}" '
        f'font-family="sans-serif" font-size="13">{panel("gaussian", 10)}'
        f"{panel('kde', WIDE + 30)}</svg>\n"
    )


if __name__ == "__main__":
    Path(__file__).with_name("naive_bayes.svg").write_text(picture(), encoding="utf-8")
