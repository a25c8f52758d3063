"""The record of a clustering, made from what was found."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score

from assay import __version__
from assay.cluster import ClusterCount, describe_clusters
from assay.record import (
    FORMAT,
    Cluster,
    ClusterRecord,
    ClusterTableRecord,
    ClusterTarget,
    Column,
    Compared,
    Criteria,
    Map,
    Method,
    Number,
    ShownRow,
    Trait,
)
from assay.study._cluster_methods import ASSIGN, NAMES, SHARES
from assay.study._cluster_methods import Compared as ComparedMethod
from assay.study._cluster_table import ClusterTable, shown_values
from assay.study._record import rows_part

TASK = "cluster"

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars")
_MAX_POINTS = 2000
_MAX_SCORED = 5000
_MAX_SHOWN = 8
_MAX_TRAITS = 6
_MAX_DESCRIBED = 60


def table_part(table: ClusterTable, *, notes: Sequence[str] = ()) -> ClusterTableRecord:
    """Return the part of the record that is known before any fit: rows and columns.

    Parameters
    ----------
    table : ClusterTable
        The rows.
    notes : sequence of str
        Notes after its own.
    """
    return ClusterTableRecord(
        format=FORMAT,
        assay=__version__,
        source=table.dataset.source,
        digest=table.dataset.digest,
        task=TASK,
        rows=rows_part(table.dataset.account),
        columns=tuple(map(Column.from_json, table.dataset.overview)),
        notes=(*table.dataset.notes, *notes),
    )


def cluster_record(
    table: ClusterTable,
    method: str,
    estimator: Any,
    labels: NDArray[np.int64],
    *,
    asked: str,
    number: ClusterCount | None,
    compared: Sequence[ComparedMethod],
    reason: str,
    notes: Sequence[str],
    seed: int,
) -> ClusterRecord:
    """Return everything that was found; no times, so that bytes repeat.

    Parameters
    ----------
    table : ClusterTable
        The rows.
    method, asked : str
        The method used, and what the user asked for.
    estimator : estimator
        Fitted on all rows.
    labels : ndarray of int64
        The cluster of each row, -1 for none.
    number : ClusterCount or None
        How the number was chosen; None if it was given or follows from the method.
    compared : sequence of Compared
        The methods compared.
    reason : str
        Why this method.
    notes : sequence of str
        What else the user should know.
    seed : int
        Of all random starts.
    """
    found = [int(label) for label in np.unique(labels) if label >= 0]
    shown = _telling(table, labels) if found else []
    return ClusterRecord(
        **vars(table_part(table, notes=notes)),
        seed=seed,
        target=ClusterTarget(
            name="cluster",
            classes=tuple(str(label) for label in found) if method in SHARES else None,
        ),
        method=Method(
            name=method,
            text=NAMES[method],
            asked=asked,
            reason=reason,
            params=_params(method, estimator),
            assigns_new_rows=method in ASSIGN,
            compared=tuple(
                Compared(method=NAMES[entry.method], stability=entry.stability, why=entry.reason)
                for entry in compared
            ),
        ),
        number=_number(number),
        n_clusters=len(found),
        unassigned=int((labels < 0).sum()),
        silhouette=_silhouette(table.rows, labels, seed),
        shown_columns=tuple(shown),
        clusters=_clusters(table, labels, shown) if found else (),
        map=_map(table, labels, seed),
        versions={"assay": __version__, **{name: version(name) for name in _LIBRARIES}},
    )


def _params(method: str, estimator: Any) -> dict[str, Any]:
    """Return the settings that matter for the result."""
    shown = {
        "kmeans": ("n_clusters",),
        "fuzzy": ("n_clusters",),
        "mixture": ("n_components", "covariance_type"),
        "spectral": ("n_clusters", "affinity", "n_neighbors"),
        "agglomerative": ("n_clusters", "linkage"),
        "dbscan": ("eps", "min_samples"),
    }
    return {name: getattr(estimator, name) for name in shown[method]}


def _number(number: ClusterCount | None) -> Number | None:
    if number is None:
        return None
    return Number(
        n_clusters=number.n_clusters,
        method=number.method,
        reason=number.reason,
        votes=dict(number.votes),
        rows=tuple(
            Criteria(**{name: getattr(row, name) for name in row.__dataclass_fields__})
            for row in number.rows
        ),
    )


def _silhouette(rows: NDArray[np.float64], labels: NDArray[np.int64], seed: int) -> float | None:
    """Return the mean silhouette of the rows in clusters, of a sample if there are many."""
    inside = np.flatnonzero(labels >= 0)
    if len(inside) > _MAX_SCORED:
        inside = np.random.default_rng(seed).choice(inside, _MAX_SCORED, replace=False)
    if not 1 < len(np.unique(labels[inside])) < len(inside):
        return None
    return float(silhouette_score(rows[inside], labels[inside]))


def _clusters(
    table: ClusterTable, labels: NDArray[np.int64], columns: list[str]
) -> tuple[Cluster, ...]:
    inside = np.flatnonzero(labels >= 0)
    summaries = describe_clusters(table.rows[inside], labels[inside])
    described = []
    for summary in summaries[:_MAX_DESCRIBED]:
        members = labels == summary.label
        described.append(
            Cluster(
                label=int(summary.label),
                size=int(members.sum()),
                traits=_traits(table, members),
                prototypes=_cells(table, inside[list(summary.prototypes)], columns),
                outliers=_cells(table, inside[list(summary.outliers)], columns),
            )
        )
    return tuple(described)


def _cells(
    table: ClusterTable, rows: NDArray[np.int64], columns: list[str]
) -> tuple[ShownRow, ...]:
    return tuple(
        ShownRow(row=int(row) + 1, cells=tuple(shown_values(table.frame, int(row), columns)))
        for row in rows
    )


def _telling(table: ClusterTable, labels: NDArray[np.int64]) -> list[str]:
    """Return the columns by which clusters differ most: largest share of variance between them."""
    used = [column.name for column in table.schema.columns if column.used]
    inside = labels >= 0
    rows, codes = table.rows[inside], labels[inside]
    whole = ((rows - rows.mean(axis=0)) ** 2).sum(axis=0)
    between = np.zeros(rows.shape[1])
    for label in np.unique(codes):
        part = rows[codes == label]
        between += len(part) * (part.mean(axis=0) - rows.mean(axis=0)) ** 2
    share = np.divide(between, whole, out=np.zeros_like(whole), where=whole > 0)
    best = dict.fromkeys(used, 0.0)
    for owner, value in zip(table.owners, share, strict=True):
        # A date's parts and a column's levels speak for the column.
        best[owner] = max(best[owner], float(value))
    ranked = sorted(used, key=lambda name: -best[name])[:_MAX_SHOWN]
    return [name for name in used if name in ranked]


def _traits(table: ClusterTable, members: NDArray[np.bool_]) -> tuple[Trait, ...]:
    """Return the columns in which a cluster differs most from all rows, in standard deviations."""
    spread = table.rows.std(axis=0)
    own = table.rows[members].mean(axis=0)
    usual = table.rows.mean(axis=0)
    shift = np.divide(own - usual, spread, out=np.zeros_like(spread), where=spread > 0)
    order = np.argsort(-np.abs(shift), kind="stable")[:_MAX_TRAITS]
    n_reals = len(table.encoder.scale_)
    traits = []
    for j in order:
        if abs(shift[j]) < 0.25:
            break
        scale, center = (
            (table.encoder.scale_[j], table.encoder.center_[j]) if j < n_reals else (1.0, 0.0)
        )
        traits.append(
            Trait(
                name=table.names[j],
                share=bool(j >= n_reals),
                mean=float(own[j] * scale + center),
                overall=float(usual[j] * scale + center),
                shift=float(shift[j]),
            )
        )
    return tuple(traits)


def _map(table: ClusterTable, labels: NDArray[np.int64], seed: int) -> Map:
    """Return the rows on their two main axes; some of them, if they are many."""
    n_axes = min(2, *table.rows.shape)
    model = PCA(n_axes, random_state=seed)
    place = model.fit_transform(table.rows)
    # The sign of an axis means nothing: its largest loading points up, on every machine.
    peak = np.abs(model.components_).argmax(axis=1)
    place = place * np.where(model.components_[np.arange(n_axes), peak] < 0, -1.0, 1.0)
    chosen = np.arange(len(labels))
    if len(chosen) > _MAX_POINTS:
        chosen = np.sort(
            np.random.default_rng(seed).choice(len(chosen), _MAX_POINTS, replace=False)
        )
    share = np.nan_to_num(model.explained_variance_ratio_)
    second = tuple(round(float(value), 4) for value in place[chosen, 1]) if n_axes == 2 else None
    return Map(
        x=tuple(round(float(value), 4) for value in place[chosen, 0]),
        y=second,
        cluster=tuple(labels[chosen].tolist()),
        row=tuple((chosen + 1).tolist()),
        shares=tuple(float(value) for value in share),
        axes=tuple(_axis(table.names, model.components_[axis]) for axis in range(n_axes)),
        of=len(labels),
    )


def _axis(names: list[str], loading: NDArray[np.float64]) -> tuple[str, ...]:
    order = np.argsort(-np.abs(loading), kind="stable")[:3]
    return tuple(names[j] for j in order if abs(loading[j]) > 0.1)
