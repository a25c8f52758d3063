"""Which method of clustering, with which settings, by simple rules."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from assay.base import DataError
from assay.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    FuzzyKMeans,
    GaussianMixture,
    KMeans,
    SpectralClustering,
)
from assay.neighbors import NearestNeighbors

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]

#: In the order of preference among equally stable ones; the first two can place new rows.
COMPARED = ("kmeans", "mixture", "agglomerative", "spectral")
METHODS = ("auto", *COMPARED, "fuzzy", "dbscan")
NAMES = {
    "kmeans": "k-means",
    "mixture": "Gaussian mixture",
    "agglomerative": "agglomerative clustering (Ward)",
    "spectral": "spectral clustering",
    "fuzzy": "fuzzy k-means",
    "dbscan": "DBSCAN",
}
#: Those whose estimators predict.
ASSIGN = frozenset({"kmeans", "mixture", "fuzzy"})
#: Those that give a share for every cluster.
SHARES = frozenset({"mixture", "fuzzy"})
#: Largest tables: the tree holds all distances, the graph has to be solved.
LIMITS = {"agglomerative": 20_000, "spectral": 20_000}
#: For the comparison, where each is fitted several times.
_COMPARE_LIMITS = {"agglomerative": 4_000, "spectral": 4_000}
_HALVES = 5
_CLOSE = 0.02


@dataclass(frozen=True)
class Compared:
    """One method in the comparison.

    Parameters
    ----------
    method : str
        Which.
    stability : float or None
        How far the groups of random halves of the rows agree with those of all rows: mean adjusted
        Rand index, 1 = the same groups. None if it was not compared.
    reason : str
        Why not, if so.
    """

    method: str
    stability: float | None
    reason: str = ""


def make(
    method: str, n_clusters: int, rows: Rows, *, seed: int, n_jobs: int | None, **given: Any
) -> Any:
    """Return an estimator that is not fitted yet.

    Parameters
    ----------
    method : str
        One of `METHODS` besides 'auto'.
    n_clusters : int
        Ignored by 'dbscan'.
    rows : ndarray
        The encoded rows; their number decides on settings.
    seed : int
        Of random starts.
    n_jobs : int or None
        Threads.
    **given
        eps and min_samples of 'dbscan', each None for the rule.

    Raises
    ------
    DataError
        If the table is too large for the method.
    """
    n_rows, n_columns = rows.shape
    if n_rows > LIMITS.get(method, n_rows):
        raise DataError(
            f"{NAMES[method]} takes up to {LIMITS[method]:,} rows, and the table has {n_rows:,}; "
            "choose kmeans, mixture or dbscan, or a sample of the rows"
        )
    seeded: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    if method == "kmeans":
        return KMeans(n_clusters, n_init=10, **seeded)
    if method == "fuzzy":
        return FuzzyKMeans(n_clusters, **seeded)
    if method == "mixture":
        kind = "full" if rich_enough(rows, n_clusters) else "diag"
        return GaussianMixture(n_clusters, covariance_type=kind, n_init=3, **seeded)
    if method == "spectral":
        neighbors = max(2, min(n_rows, 10 if n_rows < 5000 else 15))
        return SpectralClustering(
            n_clusters, affinity="nearest_neighbors", n_neighbors=neighbors, **seeded
        )
    if method == "agglomerative":
        return AgglomerativeClustering(n_clusters)
    least = given.get("min_samples") or max(4, min(2 * n_columns, 20))
    eps = given.get("eps") or usual_distance(rows, least)
    return DBSCAN(eps, min_samples=least, n_jobs=n_jobs)


def rich_enough(rows: Rows, n_clusters: int) -> bool:
    """Whether each cluster has rows enough for a full covariance: twice as many as its numbers."""
    n_rows, n_columns = rows.shape
    return bool(n_rows >= n_clusters * n_columns * (n_columns + 1))


def usual_distance(rows: Rows, min_samples: int) -> float:
    """Return an eps for DBSCAN: where the sorted distances to the neighbours bend most.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Scaled rows.
    min_samples : int
        Of DBSCAN: the distance of each row to this many neighbours counts, itself included.

    Returns
    -------
    float
        Above 0.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.vstack([np.arange(20.0)[:, None], [[100.0]]])
    >>> usual_distance(rows, 3)
    2.0
    """
    count = min(min_samples - 1, len(rows) - 1) or 1
    distance = NearestNeighbors(n_neighbors=count).fit(rows).kneighbors()[0][:, -1]
    curve = np.sort(distance)
    low, high = curve[0], curve[-1]
    if not high > low:
        return float(high) or 1.0
    x = np.linspace(0.0, 1.0, len(curve))
    bend = int((x - (curve - low) / (high - low)).argmax())
    return float(curve[bend]) or float(high)


def fitted_labels(estimator: Any, rows: Rows) -> Labels:
    """Fit and return the group of each row."""
    estimator.fit(rows)
    found = getattr(estimator, "labels_", None)
    return np.asarray(estimator.predict(rows) if found is None else found, dtype=np.int64)


def compare(
    rows: Rows,
    n_clusters: int,
    *,
    levels: bool = False,
    seed: int,
    n_jobs: int | None,
    progress: Callable[[str], None],
) -> tuple[str, list[Compared]]:
    """Return the method whose clusters are most stable, and the stability of each.

    A method is stable if it finds the same clusters in random halves of the rows as in all of them.
    Of methods within 0.02 of the most stable, the first in the order of `COMPARED` is taken: simple
    ones that can place new rows come first. With `levels` mixtures are left out: the density of a
    column of 0 and 1 is unbounded, and every mixture would find its categories again.
    """
    halves = [
        np.sort(np.random.default_rng([seed, at]).permutation(len(rows))[: (len(rows) + 1) // 2])
        for at in range(_HALVES)
    ]
    seen = []
    for method in COMPARED:
        progress(f"comparing methods: {NAMES[method]}")
        if levels and method == "mixture":
            seen.append(Compared(method, None, "compared in tables of numbers only"))
            continue
        limit = _COMPARE_LIMITS.get(method)
        if limit is not None and len(rows) > limit:
            seen.append(Compared(method, None, f"compared up to {limit:,} rows only"))
            continue
        try:
            steady = _stability(method, rows, halves, n_clusters, seed, n_jobs)
        except (DataError, np.linalg.LinAlgError) as error:
            seen.append(Compared(method, None, str(error)))
            continue
        seen.append(Compared(method, steady))
    known = [entry for entry in seen if entry.stability is not None]
    if not known:
        return "kmeans", seen
    best = max(entry.stability or 0.0 for entry in known)
    chosen = next(entry for entry in known if (entry.stability or 0.0) >= best - _CLOSE)
    return chosen.method, seen


def _stability(
    method: str, rows: Rows, halves: list[Labels], n_clusters: int, seed: int, n_jobs: int | None
) -> float:
    with warnings.catch_warnings():
        # A method that does not settle, or a graph that falls apart, shows in the number itself.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)

        def groups(part: Rows) -> Labels:
            return fitted_labels(make(method, n_clusters, part, seed=seed, n_jobs=n_jobs), part)

        whole = groups(rows)
        return float(
            np.mean([adjusted_rand_score(whole[half], groups(rows[half])) for half in halves])
        )
