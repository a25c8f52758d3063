"""Draw kmeans.svg: round, elliptic and fuzzy clusters of the same rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.cluster import FuzzyKMeans, KMeans

COLOURS = np.array([[59, 125, 216], [224, 123, 57], [74, 156, 93]])
SIDE, UNIT, GAP = 260, 13, 20


def rows() -> np.ndarray:
    """Return two long groups side by side, and a round one."""
    rng = np.random.default_rng(1)
    long = rng.normal(size=(160, 2)) * [3.2, 0.35]
    long[80:] += [0, 2.8]
    return np.concatenate([long - [0, 4.2], rng.normal(size=(60, 2)) * 0.9 + [1.0, 5.0]])


def panel(title: str, X: np.ndarray, shares: np.ndarray, centres: np.ndarray, place: int) -> str:
    """Return one third of the picture; `shares` mix the colours of the clusters."""
    order = np.argsort(centres[:, 1])
    mixed = (shares[:, order] @ COLOURS).round().astype(int)
    at = np.c_[SIDE / 2 + UNIT * X[:, 0], SIDE / 2 - UNIT * X[:, 1]].round(1)
    dots = "".join(
        f'<circle cx="{x}" cy="{y}" r="3" fill="rgb({r},{g},{b})" fill-opacity="0.8"/>'
        for (x, y), (r, g, b) in zip(at.tolist(), mixed.tolist(), strict=True)
    )
    crosses = "".join(
        f'<path d="M{SIDE / 2 + UNIT * x - 5:.1f} {SIDE / 2 - UNIT * y:.1f}h10m-5 -5v10" '
        f'stroke="{colour}" stroke-width="{width}"/>'
        for x, y in centres.tolist()
        for colour, width in (("#ffffff", 5), ("#202020", 2))
    )
    return (
        f'<g transform="translate({place * (SIDE + GAP) + 1} 24)">'
        f'<text x="{SIDE / 2}" y="-7" text-anchor="middle" fill="#767676">{title}</text>'
        f'<rect width="{SIDE}" height="{SIDE}" fill="none" stroke="#c0c0c0"/>{dots}{crosses}</g>'
    )


def picture() -> str:
    """Return the whole picture."""
    X = rows()
    hard = {
        "KMeans": KMeans(3, n_init=10, random_state=0).fit(X),
        "KMeans, metric='mahalanobis'": KMeans(
            3, metric="mahalanobis", n_init=10, random_state=0
        ).fit(X),
    }
    parts = [
        panel(title, X, np.eye(3)[model.labels_], model.cluster_centers_, place)
        for place, (title, model) in enumerate(hard.items())
    ]
    fuzzy = FuzzyKMeans(3, n_init=10, random_state=0).fit(X)
    parts.append(panel("FuzzyKMeans", X, fuzzy.predict_proba(X), fuzzy.cluster_centers_, 2))
    width = 3 * SIDE + 2 * GAP + 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {SIDE + 26}" '
        f'font-family="sans-serif" font-size="13">{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    Path(__file__).with_name("kmeans.svg").write_text(picture(), encoding="utf-8")
