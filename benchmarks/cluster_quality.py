"""How well each clustering finds the shapes that people see: adjusted Rand, with pictures.

    python benchmarks/cluster_quality.py [--picture docs/_static/cluster_quality.svg]

Every method is told the true number of clusters, except DBSCAN, which finds it: once with the eps
of ``assay cluster``, once with the best of 24. Columns are scaled to variance 1. Rows that the
authors call noise are clustered with the others, but not counted.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from assay.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    FuzzyKMeans,
    GaussianMixture,
    KMeans,
    SpectralClustering,
)
from assay.study import usual_distance
from benchmarks.tables import path_of

SHAPES = ("aggregation", "jain", "d31", "x3", "chainlink", "chameleon_t7_10k", "h2mg_64_50")
COLOURS = (
    "#3d7ab8", "#e8862e", "#4d9e4a", "#d9534f", "#5fb3ab", "#a86fa0", "#c9a227", "#8c6d5a",
    "#e58fa3", "#7d8590",
)  # fmt: skip
PANEL, GAP, LEFT, TOP, DOTS = 120, 8, 100, 36, 350

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]


def dbscan(rows: Rows, truth: Labels, *, best: bool) -> Labels:
    """Return the clusters of DBSCAN; with `best`, those of the eps that fits the truth best."""
    least = max(4, min(2 * rows.shape[1], 20))
    usual = usual_distance(rows, least)
    tries = [usual, *(usual * np.geomspace(0.3, 3.0, 23) if best else [])]
    found = [DBSCAN(eps, min_samples=least, n_jobs=-1).fit(rows).labels_ for eps in tries]
    return max(found, key=lambda labels: score(truth, labels))


def score(truth: Labels, labels: Labels) -> float:
    """Return the adjusted Rand index of the rows that belong somewhere."""
    counted = truth > 0
    return float(adjusted_rand_score(truth[counted], labels[counted]))


def fitted(make: Callable[[int], Any]) -> Callable[[Rows, Labels], Labels]:
    """Return a method as a function of the rows and the truth, of which it sees the number only."""

    def labels(rows: Rows, truth: Labels) -> Labels:
        model = make(len(np.unique(truth[truth > 0]))).fit(rows)
        found = getattr(model, "labels_", None)
        return np.asarray(model.predict(rows) if found is None else found)

    return labels


SEED: dict[str, Any] = {"random_state": 0, "n_jobs": -1}
METHODS: dict[str, Callable[[Rows, Labels], Labels]] = {
    "k-means": fitted(lambda k: KMeans(k, n_init=10, **SEED)),
    "fuzzy": fitted(lambda k: FuzzyKMeans(k, **SEED)),
    "mixture": fitted(lambda k: GaussianMixture(k, n_init=5, **SEED)),
    "spectral": fitted(lambda k: SpectralClustering(k, affinity="nearest_neighbors", **SEED)),
    "spectral, 2-way": fitted(
        lambda k: SpectralClustering(k, affinity="nearest_neighbors", cut="recursive", **SEED)
    ),
    "Ward": fitted(lambda k: AgglomerativeClustering(k)),
    "average": fitted(lambda k: AgglomerativeClustering(k, linkage="average")),
    "single": fitted(lambda k: AgglomerativeClustering(k, linkage="single")),
    "DBSCAN, rule": lambda rows, truth: dbscan(rows, truth, best=False),
    "DBSCAN, best": lambda rows, truth: dbscan(rows, truth, best=True),
}


def shape(name: str) -> tuple[Rows, Labels]:
    """Return the scaled rows of a shape and its labels, 0 for noise."""
    frame = pl.read_parquet(path_of(f"cl_{name}"))
    rows = frame.drop("label").to_numpy().astype(np.float64)
    return (rows - rows.mean(axis=0)) / rows.std(axis=0), frame["label"].to_numpy().astype(np.int64)


def panel(rows: Rows, labels: Labels, x: int, y: int, title: str) -> list[str]:
    """Return one picture of the grid: at most `DOTS` rows on their two main axes."""
    if rows.shape[1] > 2:
        centred = rows - rows.mean(axis=0)
        rows = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    span = np.maximum(np.ptp(rows, axis=0), 1e-12)
    keep = np.random.default_rng(0).permutation(len(rows))[:DOTS]
    corner = np.rint((rows[keep] - rows.min(axis=0)) / span * (PANEL - 10) + 5).astype(int)
    # One path of points per colour, places within the panel: the picture stays small.
    paths: dict[str, list[str]] = {}
    for (right, up), label in zip(corner.tolist(), labels[keep].tolist(), strict=True):
        ink = COLOURS[label % 10] if label >= 0 else "#c9c4ba"
        paths.setdefault(ink, []).append(f"M{right} {PANEL - up}h0")
    return [
        f'<g transform="translate({x} {y})">',
        f'<rect width="{PANEL}" height="{PANEL}" fill="#fff" stroke="#e4e0d8"/>',
        *(f'<path d="{"".join(marks)}" stroke="{ink}"/>' for ink, marks in paths.items()),
        f'<text x="{PANEL - 5}" y="14" text-anchor="end" font-size="11" font-weight="600" '
        f'stroke="#fff" stroke-width="3" paint-order="stroke">{title}</text></g>',
    ]


def main() -> None:
    """Print the table, and write the pictures if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, help="SVG file to write")
    asked = parser.parse_args()
    names = ["truth", *METHODS]
    parts = [
        f'<text x="{LEFT + at * (PANEL + GAP) + PANEL / 2}" y="26" text-anchor="middle" '
        f'font-size="12" font-weight="600">{name}</text>'
        for at, name in enumerate(names)
    ]
    print(f"{'shape':<18}{'rows':>7}{'K':>4}  " + "".join(f"{name:>16}" for name in METHODS))
    warnings.simplefilter("ignore")  # graphs in parts, mixtures that do not settle: the score shows
    sums = np.zeros(len(METHODS))
    for line, name in enumerate(SHAPES):
        rows, truth = shape(name)
        y = TOP + line * (PANEL + GAP)
        parts.append(
            f'<text x="{LEFT - 10}" y="{y + PANEL / 2}" text-anchor="end" font-size="13" '
            f">{name.split('_')[0]}</text>"
        )
        parts += panel(rows, truth - 1, LEFT, y, "")
        values, seconds = [], []
        for at, method in enumerate(METHODS.values(), 1):
            start = time.perf_counter()
            labels = method(rows, truth)
            seconds.append(time.perf_counter() - start)
            values.append(score(truth, labels))
            x = LEFT + at * (PANEL + GAP)
            parts += panel(rows, labels, x, y, f"{values[-1]:.2f}")
        sums += values
        k = len(np.unique(truth[truth > 0]))
        cells = "".join(f"{value:>16.3f}" for value in values)
        print(f"{name:<18}{len(rows):>7}{k:>4}  {cells}", flush=True)
        print(f"{'':<18}{'seconds':>11}  " + "".join(f"{value:>16.2f}" for value in seconds))
    print(f"{'mean':<29}  " + "".join(f"{value / len(SHAPES):>16.3f}" for value in sums))
    if asked.picture is not None:
        width = LEFT + len(names) * (PANEL + GAP)
        height = TOP + len(SHAPES) * (PANEL + GAP)
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" fill="#20262e" stroke-width="3" stroke-linecap="round">\n'
            f'<rect width="{width}" height="{height}" fill="#fcfbf8"/>\n'
            f"{chr(10).join(parts)}\n</svg>\n"
        )
        asked.picture.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
