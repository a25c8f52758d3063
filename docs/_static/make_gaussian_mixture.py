"""Draw gaussian_mixture.svg: three long groups, found by k-means and by a Gaussian mixture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.cluster import GaussianMixture, KMeans

COLOURS = ("#3b7dd8", "#e07b39", "#4a9c5d")
SIDE, UNIT = 320, 22


def rows() -> np.ndarray:
    """Return three groups that are longer than they are apart."""
    rng = np.random.default_rng(3)
    slope = np.array([[3.0, 2.4], [2.4, 2.2]])
    parts = [rng.multivariate_normal(mean, slope, 90) for mean in ((-2, 2), (0, 0), (2, -2))]
    return np.concatenate(parts)


def at(point: np.ndarray) -> tuple[float, float]:
    """Place a row on its panel."""
    return round(SIDE / 2 + UNIT * point[0], 1), round(SIDE / 2 - UNIT * point[1], 1)


def panel(title: str, X: np.ndarray, labels: np.ndarray, shapes: str, left: int) -> str:
    """Return one half of the picture."""
    order = np.argsort([X[labels == k, 0].mean() for k in range(3)])
    colour = {int(k): COLOURS[place] for place, k in enumerate(order)}
    dots = "".join(
        '<circle cx="{}" cy="{}" r="3" fill="{}" fill-opacity="0.75"/>'.format(*at(row), colour[k])
        for row, k in zip(X, labels.tolist(), strict=True)
    )
    return (
        f'<g transform="translate({left} 24)"><text x="{SIDE / 2}" y="-6" text-anchor="middle" '
        f'fill="#767676">{title}</text><rect width="{SIDE}" height="{SIDE}" fill="none" '
        f'stroke="#c0c0c0"/>{dots}{shapes}</g>'
    )


def ellipses(model: GaussianMixture) -> str:
    """Return the lines of one and two standard deviations of each component."""
    parts = []
    for mean, covariance in zip(model.means_, model.covariances_, strict=True):
        variances, axes = np.linalg.eigh(covariance)
        angle = -np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
        x, y = at(mean)
        for times in (1, 2):
            a, b = times * UNIT * np.sqrt(variances[::-1])
            parts.append(
                f'<ellipse cx="{x}" cy="{y}" rx="{a:.1f}" ry="{b:.1f}" fill="none" '
                f'stroke="#767676" transform="rotate({angle:.1f} {x} {y})"/>'
            )
    return "".join(parts)


def picture() -> str:
    """Return the whole picture."""
    X = rows()
    centres = KMeans(3, random_state=0).fit(X)
    mixture = GaussianMixture(3, n_init=10, init_params="random_from_data", random_state=0).fit(X)
    style = 'text-anchor="middle" dy="7" font-size="22" fill="#767676"'
    crosses = "".join(
        '<text x="{}" y="{}" {}>×</text>'.format(*at(centre), style)
        for centre in centres.cluster_centers_
    )
    left = panel("KMeans(3)", X, centres.labels_, crosses, 10)
    right = panel("GaussianMixture(3)", X, mixture.labels_, ellipses(mixture), SIDE + 30)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * SIDE + 40} {SIDE + 34}" '
        f'font-family="sans-serif" font-size="13">{left}{right}</svg>\n'
    )


if __name__ == "__main__":
    Path(__file__).with_name("gaussian_mixture.svg").write_text(picture(), encoding="utf-8")
