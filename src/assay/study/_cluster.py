"""From a table without a target to its clusters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import ParameterError, check_interval, check_option
from assay.cluster import ClusterCount, choose_n_clusters
from assay.record import ClusterTableRecord
from assay.study._cluster_methods import (
    METHODS,
    NAMES,
    Compared,
    compare,
    fitted_labels,
    make,
    rich_enough,
)
from assay.study._cluster_record import cluster_record, table_part
from assay.study._cluster_table import ClusterTable, cluster_table
from assay.study._clustering import Clustering, ClusterModel
from assay.study._progress import Progress
from assay.table import read


def find_clusters(
    source: Any,
    *,
    method: str = "auto",
    n_clusters: int | None = None,
    columns: Iterable[str] = (),
    drop: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
    eps: float | None = None,
    min_samples: int | None = None,
    max_clusters: int = 10,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[Progress], object] | None = None,
    **options: Any,
) -> Clustering:
    """Group the rows of a table.

    Parameters
    ----------
    source : path, "-", file object or dataframe
        The table: CSV, TSV, Parquet, Arrow, NDJSON, Excel, or a pandas, Polars or Arrow frame.
    method : str, default="auto"
        "kmeans", "mixture", "agglomerative", "spectral", "fuzzy" or "dbscan". "auto" compares the
        first four and takes the most stable: the one whose clusters in random halves of the rows
        agree best with those in all rows. Of methods within 0.02, the first in this order. Mixtures
        are compared only where all columns are numbers.
    n_clusters : int or None, default=None
        Number of clusters. None: what most criteria of `assay.cluster.choose_n_clusters` agree on.
    columns : iterable of str, default=()
        Columns to use; all usable ones if empty.
    drop : iterable of str, default=()
        Columns to leave out.
    kinds : mapping of str to str, default=None
        Kinds of columns that overrule the inferred ones, such as ``{"zip": "nominal"}``.
    eps : float or None, default=None
        For "dbscan", in standard deviations. None: where the sorted distances to the neighbours
        bend most.
    min_samples : int or None, default=None
        For "dbscan". None: twice the columns, from 4 to 20.
    max_clusters : int, default=10
        The largest number tried when it is not given.
    seed : int, default=0
        Random seed. The same seed and table give the same bytes.
    n_jobs : int or None, default=None
        Number of threads; None for one per core. The result does not depend on it.
    progress : callable or None, default=None
        Called with a `Progress` for every step.
    **options
        Passed to `assay.table.read`: delimiter, decimal, encoding, sheet, missing.

    Returns
    -------
    Clustering
        The clusters, and the record of how they were found.

    Raises
    ------
    DataError
        If the table cannot be used this way.
    ParameterError
        If an argument is out of its range.

    Notes
    -----
    Every number is scaled to variance 1 and every category of a nominal column becomes 0 or 1, so
    units do not matter. Missing numbers take the median; a missing category is a category.

    Examples
    --------
    >>> import assay
    >>> table = assay.datasets.path("penguins")
    >>> found = assay.study.find_clusters(table, n_clusters=3, drop=["species"])
    >>> found.record.method.reason.split(":")[0]
    'the most stable of 3 methods'
    """
    settings = ClusterSettings(
        method=method,
        n_clusters=n_clusters,
        eps=eps,
        min_samples=min_samples,
        max_clusters=max_clusters,
        seed=seed,
        n_jobs=n_jobs,
    )
    job = prepare_clusters(source, columns=columns, drop=drop, kinds=kinds, **options)
    return job.fit(settings, progress=progress)


@dataclass(frozen=True, kw_only=True)
class ClusterSettings:
    """How clusters are searched for; the parameters are explained in `find_clusters`.

    Parameters
    ----------
    method : str, default="auto"
        How to group.
    n_clusters : int or None, default=None
        Number of clusters.
    eps : float or None, default=None
        For "dbscan", in standard deviations.
    min_samples : int or None, default=None
        For "dbscan".
    max_clusters : int, default=10
        The largest number tried.
    seed : int, default=0
        Seed of all random numbers.
    n_jobs : int or None, default=None
        Number of threads.
    """

    method: str = "auto"
    n_clusters: int | None = None
    eps: float | None = None
    min_samples: int | None = None
    max_clusters: int = 10
    seed: int = 0
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_option("method", self.method, METHODS)
        check_interval("n_clusters", self.n_clusters, 1, integer=True, options=(None,))
        check_interval("eps", self.eps, 0, open_low=True, open_high=True, options=(None,))
        check_interval("min_samples", self.min_samples, 1, integer=True, options=(None,))
        check_interval("max_clusters", self.max_clusters, 2, integer=True)
        if self.method == "dbscan" and self.n_clusters is not None:
            raise ParameterError(
                "n_clusters cannot be given with method='dbscan', which finds the number itself; "
                f"got {self.n_clusters}"
            )
        if self.method != "dbscan" and (self.eps is not None or self.min_samples is not None):
            raise ParameterError(
                f"eps and min_samples are for method='dbscan'; got method={self.method!r}"
            )

    @property
    def threads(self) -> int:
        """Number of threads as estimators take it: -1 for one per core."""
        return -1 if self.n_jobs is None else self.n_jobs


def prepare_clusters(
    source: Any,
    *,
    columns: Iterable[str] = (),
    drop: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
    **options: Any,
) -> ClusterJob:
    """Read a table and make it ready to group, without fitting anything.

    Parameters
    ----------
    source : path, "-", file object or dataframe
        The table, as in `find_clusters`.
    columns : iterable of str, default=()
        Columns to use; all usable ones if empty.
    drop : iterable of str, default=()
        Columns to leave out.
    kinds : mapping of str to str, default=None
        Kinds of columns that overrule the inferred ones.
    **options
        Passed to `assay.table.read`.

    Returns
    -------
    ClusterJob
        The prepared table; its `ClusterJob.fit` gives the clusters.
    """
    raw = read(source, **options)
    return ClusterJob(cluster_table(raw, columns=columns, drop=drop, kinds=kinds))


@dataclass(frozen=True, eq=False)
class ClusterJob:
    """A table ready to group. Made by `prepare_clusters`.

    Parameters
    ----------
    rows : ClusterTable
        The prepared rows.

    Attributes
    ----------
    table : ClusterTableRecord
        The part of the record that is known before any fit: rows and columns.
    findings : list of str
        Everything worth knowing about the table before any fit.
    """

    rows: ClusterTable = field(repr=False)

    @property
    def table(self) -> ClusterTableRecord:
        """The part of the record that is known before any fit: rows and columns."""
        return table_part(self.rows)

    @property
    def findings(self) -> list[str]:
        """Everything worth knowing about the table before any fit."""
        return list(self.rows.dataset.notes)

    def fit(
        self,
        settings: ClusterSettings | None = None,
        *,
        progress: Callable[[Progress], object] | None = None,
        **changes: Any,
    ) -> Clustering:
        """Group the rows.

        Parameters
        ----------
        settings : ClusterSettings, default=None
            How to group; the defaults if None.
        progress : callable or None, default=None
            Called with a `Progress` for every step.
        **changes
            Single settings by name, such as ``n_clusters=3``.

        Returns
        -------
        Clustering
            The same as `find_clusters` returns for this table and these settings.
        """
        settings = replace(settings or ClusterSettings(), **changes)
        table, n_clusters = self.rows, settings.n_clusters
        steps = _Steps(progress, settings.method, n_clusters)
        number = None
        if settings.method != "dbscan" and n_clusters is None:
            steps.show("choosing the number of clusters")
            number = _count(table, settings.max_clusters, settings.seed, settings.threads)
            n_clusters = number.n_clusters
        chosen, compared, reason = _method(
            table, settings.method, n_clusters, settings.seed, settings.threads, steps
        )
        steps.show(f"fitting {NAMES[chosen]}")
        estimator = make(
            chosen,
            n_clusters or 1,
            table.rows,
            seed=settings.seed,
            n_jobs=settings.threads,
            eps=settings.eps,
            min_samples=settings.min_samples,
        )
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            labels = fitted_labels(estimator, table.rows)
        steps.show("describing the clusters")
        notes = _notes(
            chosen, estimator, labels, settings.eps is None, settings.min_samples is None
        )
        notes += sorted({str(entry.message) for entry in warned})
        record = cluster_record(
            table,
            chosen,
            estimator,
            labels,
            asked=settings.method,
            number=number,
            compared=compared,
            reason=reason,
            notes=notes,
            seed=settings.seed,
        )
        return Clustering(record, ClusterModel(table.schema, table.encoder, estimator), labels)


class _Steps:
    """Reports the progress; the number of steps is known before the first."""

    def __init__(
        self, progress: Callable[[Progress], object] | None, method: str, n_clusters: int | None
    ) -> None:
        self.progress = progress
        self.done = 0
        choosing = method != "dbscan" and n_clusters is None
        self.total = 2 + choosing + (4 if method == "auto" else 0)

    def show(self, text: str) -> None:
        if self.progress is not None:
            self.progress(Progress(min(self.done, self.total), self.total, None, text))
        self.done += 1


def _count(table: ClusterTable, max_clusters: int, seed: int, n_jobs: int) -> ClusterCount:
    distinct = len(np.unique(table.rows, axis=0))
    return choose_n_clusters(
        table.rows,
        k_range=range(1, max(1, min(max_clusters, distinct - 1)) + 1),
        # A mixture gives columns of 0 and 1 a density without bound, the more the more clusters.
        criteria=None if not table.has_levels else ("elbow", "penalised", "silhouette", "gap"),
        covariance_type="full" if rich_enough(table.rows, max_clusters) else "diag",
        random_state=seed,
        n_jobs=n_jobs,
    )


def _method(
    table: ClusterTable,
    asked: str,
    n_clusters: int | None,
    seed: int,
    n_jobs: int,
    steps: _Steps,
) -> tuple[str, list[Compared], str]:
    if asked != "auto":
        return asked, [], "as requested"
    if n_clusters == 1:
        return "kmeans", [], "one cluster needs no comparison of methods"
    assert n_clusters is not None
    chosen, compared = compare(
        table.rows,
        n_clusters,
        levels=table.has_levels,
        seed=seed,
        n_jobs=n_jobs,
        progress=steps.show,
    )
    values = {entry.method: entry.stability for entry in compared if entry.stability is not None}
    if not values:
        return chosen, compared, "no method could be compared"
    agreement = ", ".join(f"{NAMES[name]} {value:.2f}" for name, value in values.items())
    first = "" if values[chosen] == max(values.values()) else ", the first within 0.02 of the best"
    reason = (
        f"the most stable of {len(values)} methods{first}: agreement of clusters in random halves "
        f"of the rows with those in all rows (1 is best) is {agreement}"
    )
    return chosen, compared, reason


def _notes(
    method: str, estimator: Any, labels: NDArray[np.int64], own_eps: bool, own_least: bool
) -> list[str]:
    notes = []
    if method == "dbscan":
        ruled = [
            *([f"eps {estimator.eps:.4g} is where the sorted distances bend most"] * own_eps),
            *(
                [f"min_samples {estimator.min_samples} is twice the columns, from 4 to 20"]
                * own_least
            ),
        ]
        notes += [f"by rule, {'; '.join(ruled)}"] if ruled else []
        alone = int((labels < 0).sum())
        if alone:
            notes.append(f"{alone:,} rows are in no cluster: too far from dense regions")
    parts = getattr(estimator, "n_connected_components_", 1)
    if parts > 1:
        notes.append(f"the graph of neighbours has {parts} parts; no cluster joins two of them")
    return notes
