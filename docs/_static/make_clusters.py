"""Draw spectral.svg (rings by k-means and by spectral clustering) and dendrogram.svg."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import make_circles

from assay.cluster import AgglomerativeClustering, KMeans, SpectralClustering

COLOURS = ("#3b7dd8", "#e07b39")
SIDE = 300
TOWNS = {
    "Ulm": (48.4, 10.0),
    "Augsburg": (48.4, 10.9),
    "Kiel": (54.3, 10.1),
    "Husum": (54.5, 9.1),
    "Trier": (49.8, 6.6),
}


def panel(title: str, X: np.ndarray, labels: np.ndarray, left: int) -> str:
    """Return one half of the picture."""
    place = (X * [1, -1] + 1.2) / 2.4 * SIDE
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[label]}" fill-opacity="0.8"/>'
        for (x, y), label in zip(place, labels.tolist(), strict=True)
    )
    return (
        f'<g transform="translate({left} 24)"><text x="{SIDE / 2}" y="-6" text-anchor="middle" '
        f'fill="#767676">{title}</text><rect width="{SIDE}" height="{SIDE}" fill="none" '
        f'stroke="#c0c0c0"/>{dots}</g>'
    )


def main() -> None:
    """Write both pictures beside this file."""
    folder = Path(__file__).parent
    X, _ = make_circles(300, factor=0.4, noise=0.04, random_state=0)
    halves = KMeans(2, random_state=0).fit(X).labels_
    spectral = SpectralClustering(2, sigma=0.2, random_state=0).fit(X)
    width = 2 * SIDE + 30
    (folder / "spectral.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {SIDE + 28}" '
        f'width="{width}" height="{SIDE + 28}" font-family="sans-serif" font-size="14">'
        f"{panel('k-means', X, halves, 2)}"
        f"{panel('spectral clustering', X, spectral.labels_, SIDE + 26)}</svg>\n",
        encoding="utf-8",
    )
    tree = AgglomerativeClustering(2, linkage="average").fit(list(TOWNS.values()))
    picture = tree.dendrogram("svg", labels=list(TOWNS))
    # Grey stands on light and on dark pages.
    (folder / "dendrogram.svg").write_text(
        picture.replace('fill="currentColor"', 'fill="#767676"'), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
