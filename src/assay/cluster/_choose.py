"""The number of clusters: several criteria, and one recommendation with its reason."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import silhouette_score

from assay.base import (
    Clusterer,
    DataError,
    ParameterError,
    check_interval,
    check_option,
    check_random_state,
    draw_seed,
)
from assay.cluster._choose_rules import (
    elbow_distance,
    first_gap,
    penalised_loss,
    reference_box,
    reference_rows,
)
from assay.cluster._gaussian_mixture import GaussianMixture
from assay.cluster._kmeans import KMeans

CRITERIA = ("elbow", "penalised", "silhouette", "bic", "gap")


@dataclass(frozen=True)
class ClusterCountRow:
    """The criteria for one number of clusters; None where a criterion was not computed.

    Parameters
    ----------
    n_clusters : int
        The number K.
    inertia : float
        Sum of squared distances of rows to their centres, by k-means.
    elbow : float or None
        Distance of the logarithm of the inertia below the straight line from the first to the
        last K, both scaled to 0 .. 1. Largest at the elbow.
    penalised : float or None
        Inertia plus a penalty for every cluster; smallest is best.
    silhouette : float or None
        Mean of (b - a) / max(a, b) over rows, a and b being the mean distances to the own and to
        the nearest other cluster; largest is best. None for one cluster.
    bic : float or None
        Bayesian information criterion of a Gaussian mixture; smallest is best.
    gap, gap_error : float or None
        Logarithm of the inertia of rows without clusters minus that of X, and its standard
        error.
    """

    n_clusters: int
    inertia: float
    elbow: float | None = None
    penalised: float | None = None
    silhouette: float | None = None
    bic: float | None = None
    gap: float | None = None
    gap_error: float | None = None


@dataclass(frozen=True)
class ClusterCount:
    """A recommended number of clusters, with its reason and the table of criteria.

    Parameters
    ----------
    n_clusters : int
        The recommendation.
    method : str
        The requested criterion, or 'vote'.
    reason : str
        The reason, as a sentence.
    votes : mapping of str to int
        The recommendation of each criterion.
    rows : tuple of ClusterCountRow
        One per number of clusters.
    """

    n_clusters: int
    method: str
    reason: str
    votes: Mapping[str, int]
    rows: tuple[ClusterCountRow, ...]

    def __str__(self) -> str:
        names = ["inertia", *(name for name in CRITERIA if name in self.votes)]
        lines = ["  ".join(["    K", *(f"{name:>10}" for name in names)])]
        for row in self.rows:
            cells = [_cell(getattr(row, name)) for name in names]
            mark = "*" if row.n_clusters == self.n_clusters else " "
            lines.append("  ".join([f"{mark} {row.n_clusters:>3}", *cells]))
        return "\n".join([*lines, f"{self.n_clusters} clusters: {self.reason}"])


def choose_n_clusters(
    X: Any,
    method: str = "vote",
    *,
    k_range: Iterable[int] | None = None,
    criteria: Iterable[str] | None = None,
    penalty: float = 1.0,
    covariance_type: str = "full",
    n_references: int = 10,
    max_rows: int = 5000,
    n_init: int = 4,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> ClusterCount:
    r"""Recommend a number of clusters.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows, with comparable scales.
    method : {'vote', 'elbow', 'penalised', 'silhouette', 'bic', 'gap'}, default='vote'
        The criterion; 'vote' computes all of them and takes the number with the most votes. Ties go
        to the number of the silhouette, then to the smaller one.
    k_range : iterable of int or None, default=None
        Numbers to try; None = 1 to 10, at most the number of distinct rows.
    criteria : iterable of str or None, default=None
        Criteria that take part in the vote; None = all five.
    penalty : float, default=1.0
        Factor of the penalty for clusters in 'penalised'.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        Covariances of the mixture for 'bic'.
    n_references : int, default=10
        Number of tables without clusters that 'gap' compares with.
    max_rows : int, default=5000
        Maximum number of rows used; from larger tables, this many are drawn at random.
    n_init : int, default=4
        Number of starts of every k-means.
    random_state : int or RandomState instance, default=0
        Seed of all starts and draws: the same seed, the same table.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Returns
    -------
    ClusterCount
        The recommendation, its reason and one line per number tried. Prints as a table.

    Notes
    -----
    With the inertia :math:`W_K` of k-means, n rows and d columns:

    * elbow: the largest :math:`1 - x - y`, where x and y are K and :math:`\ln W_K` scaled to
      0 .. 1;
    * penalised: the smallest
      :math:`n d \ln \frac{W_K}{n d} - 2 \sum_k n_k \ln \frac{n_k}{n} + \lambda K (d + 1) \ln n`:
      the cost of describing the positions of rows within round clusters of one width, the cluster
      of each row, and the clusters;
    * silhouette: the largest mean silhouette;
    * bic: the smallest :math:`-2 \ln L + p \ln n` of a Gaussian mixture with p parameters;
    * gap: the smallest K whose gap is within one standard error of the largest, where
      :math:`\mathrm{gap}(K) = \mathrm{mean}_b \ln W^*_{K b} - \ln W_K` over tables drawn uniformly
      from the box around the rows along their principal axes.

    All but 'bic' look for round clusters of similar size. Sources: Tibshirani, Walther and Hastie
    2001 (gap); Rousseeuw 1987 (silhouette); Pelleg and Moore 2000 (penalised).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from assay.cluster import choose_n_clusters
    >>> X, _ = make_blobs(150, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    >>> choice = choose_n_clusters(X, k_range=range(1, 6))
    >>> choice.n_clusters
    3
    >>> dict(choice.votes)
    {'elbow': 3, 'penalised': 3, 'silhouette': 3, 'bic': 3, 'gap': 3}
    """
    check_option("method", method, ("vote", *CRITERIA))
    check_interval("penalty", penalty, 0, open_high=True)
    check_option("covariance_type", covariance_type, ("full", "tied", "diag", "spherical"))
    check_interval("n_references", n_references, 2, integer=True)
    check_interval("max_rows", max_rows, 10, integer=True)
    check_interval("n_init", n_init, 1, integer=True)
    # One seed for all draws: a generator would give each number of clusters other draws.
    seed = random_state if isinstance(random_state, int) else draw_seed(random_state)
    check_random_state(seed)
    rows = _sample(_Rows()._fit_data(X)[0], max_rows, seed)
    distinct = len(np.unique(rows, axis=0))
    counts = _counts(k_range, distinct)
    asked = _asked(method, criteria)
    fits = {"n_init": n_init, "random_state": seed, "n_jobs": n_jobs}
    table = _Table(rows, counts, fits)
    votes: dict[str, int] = {}
    columns: dict[str, Any] = {}
    options: dict[str, dict[str, Any]] = {
        "penalised": {"penalty": penalty},
        "bic": {"covariance_type": covariance_type},
        "gap": {"n_references": n_references},
    }
    for name in asked:
        found = getattr(table, name)(**options.get(name, {}))
        if found is None:
            continue
        votes[name], columns[name] = found
    recommended, reason = _recommendation(method, votes, counts, distinct)
    errors = columns.get("gap", (None, [None] * len(counts)))[1]
    lines = tuple(
        ClusterCountRow(
            count,
            float(table.inertia[at]),
            **{
                name: _plain((column[0] if name == "gap" else column)[at])
                for name, column in columns.items()
            },
            gap_error=_plain(errors[at]),
        )
        for at, count in enumerate(counts)
    )
    return ClusterCount(recommended, method, reason, votes, lines)


class _Rows(Clusterer):
    """Checks a table as the clusterers do."""


class _Table:
    """One fit of k-means per number of clusters, and the criteria computed from them."""

    def __init__(
        self, rows: NDArray[np.float64], counts: list[int], fits: Mapping[str, Any]
    ) -> None:
        self.rows = rows
        self.counts = counts
        self.fits = fits
        self.models = [self._kmeans(rows, count) for count in counts]
        self.inertia = np.array([model.inertia_ for model in self.models])

    def elbow(self) -> tuple[int, Any] | None:
        if len(self.counts) < 3:
            return None
        below = elbow_distance(np.array(self.counts, dtype=np.float64), self.inertia)
        return self.counts[int(below.argmax())], below

    def penalised(self, *, penalty: float) -> tuple[int, Any]:
        sizes = [np.unique(model.labels_, return_counts=True)[1] for model in self.models]
        loss = penalised_loss(sizes, self.inertia, self.rows.shape[1], penalty)
        return self.counts[int(loss.argmin())], loss

    def silhouette(self) -> tuple[int, Any] | None:
        values = [
            float(silhouette_score(self.rows, model.labels_))
            if 1 < len(np.unique(model.labels_)) < len(self.rows)
            else None
            for model in self.models
        ]
        known = [(-value, count) for value, count in zip(values, self.counts, strict=True)
                 if value is not None]  # fmt: skip
        return (min(known)[1], values) if known else None

    def bic(self, *, covariance_type: str) -> tuple[int, Any]:
        values = np.array([self._bic(count, covariance_type) for count in self.counts])
        return self.counts[int(values.argmin())], values

    def gap(self, *, n_references: int) -> tuple[int, Any]:
        box = reference_box(self.rows)
        logs = np.empty((n_references, len(self.counts)))
        for b in range(n_references):
            even = reference_rows(box, len(self.rows), b, self.fits["random_state"])
            for at, count in enumerate(self.counts):
                logs[b, at] = _log(self._kmeans(even, count, n_init=1).inertia_)
        gap = logs.mean(axis=0) - np.array([_log(value) for value in self.inertia])
        error = logs.std(axis=0) * np.sqrt(1.0 + 1.0 / n_references)
        return self.counts[first_gap(gap, error)], (gap, error)

    def _kmeans(self, rows: NDArray[np.float64], count: int, **changes: Any) -> Any:
        return KMeans(count, **{**self.fits, **changes}).fit(rows)

    def _bic(self, count: int, covariance_type: str) -> float:
        model = GaussianMixture(
            count,
            covariance_type=covariance_type,
            n_init=1,
            random_state=self.fits["random_state"],
            n_jobs=self.fits["n_jobs"],
        )
        with warnings.catch_warnings():
            # Too many components do not converge; that makes their criterion a little worse.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return float(model.fit(self.rows).bic(self.rows))


def _asked(method: str, criteria: Iterable[str] | None) -> tuple[str, ...]:
    if method != "vote":
        return (method,)
    chosen = CRITERIA if criteria is None else tuple(criteria)
    for name in chosen:
        check_option("criteria", name, CRITERIA)
    if not chosen:
        raise ParameterError("criteria must name at least one criterion; got none")
    return tuple(name for name in CRITERIA if name in chosen)


def _counts(k_range: Iterable[int] | None, distinct: int) -> list[int]:
    if k_range is None:
        return list(range(1, min(10, max(1, distinct - 1)) + 1))
    try:
        counts = list(k_range)
    except TypeError:
        raise ParameterError(
            f"k_range must be a range or list of integers; got {k_range!r}"
        ) from None
    for count in counts:
        check_interval("k_range", count, 1, integer=True)
    if not counts:
        raise ParameterError("k_range must hold at least one number; got none")
    if max(counts) > distinct:
        raise DataError(
            f"k_range goes up to {max(counts)} clusters, and X has {distinct} distinct rows"
        )
    return sorted({int(count) for count in counts})


def _sample(rows: NDArray[Any], max_rows: int, seed: int) -> NDArray[np.float64]:
    if len(rows) > max_rows:
        chosen = np.random.default_rng(seed).choice(len(rows), max_rows, replace=False)
        rows = rows[np.sort(chosen)]
    return np.ascontiguousarray(rows, dtype=np.float64)


def _recommendation(
    method: str, votes: Mapping[str, int], counts: list[int], distinct: int
) -> tuple[int, str]:
    if distinct == 1:
        return 1, "all rows are equal"
    if not votes:
        return counts[0], f"{method} cannot compare {_range(counts)} clusters"
    if method != "vote":
        return votes[method], f"{_WORDS[method]} among {_range(counts)} clusters"
    tally = Counter(votes.values())
    most = max(tally.values())
    tied = sorted(count for count, number in tally.items() if number == most)
    chosen = tied[0]
    if len(tied) > 1 and votes.get("silhouette") in tied:
        chosen = votes["silhouette"]
    names = [name for name, count in votes.items() if count == chosen]
    others = [f"{name} {count}" for name, count in votes.items() if count != chosen]
    reason = f"{len(names)} of {len(votes)} criteria agree ({', '.join(names)})"
    if others:
        reason += f"; the others recommend {', '.join(others)}"
    if len(tied) > 1:
        reason += "; at equal votes " + (
            "the silhouette's counts" if chosen == votes.get("silhouette") else "the smaller counts"
        )
    return chosen, reason


_WORDS = {
    "elbow": "the inertia bends most here",
    "penalised": "the smallest penalised inertia",
    "silhouette": "the largest mean silhouette",
    "bic": "the smallest BIC of a Gaussian mixture",
    "gap": "the smallest number whose gap is within one standard error of the largest",
}


def _range(counts: list[int]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _log(value: float) -> float:
    # All rows are on their centres: the best possible, and still finite.
    return float(np.log(max(value, 1e-300)))


def _plain(value: Any) -> float | None:
    return None if value is None else float(value)


def _cell(value: float | None) -> str:
    return f"{'-':>10}" if value is None else f"{value:>10.4g}"
