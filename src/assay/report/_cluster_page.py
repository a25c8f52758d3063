"""From the record of a clustering to the texts, tables and charts of its page."""

from __future__ import annotations

from typing import Any

from assay.record import Cluster, ClusterRecord, Method, Trait
from assay.report import _cluster_charts as charts
from assay.report._columns import cards, columns_by_use, rows_page
from assay.report._format import clean, count, names, notes_to_show, params_text, safe, share, short

MAX_CARDS = 40
MAX_CELL = 40
MAX_NOTES = 30
_CRITERIA = {
    "elbow": ("Elbow", "inertia: squared distances to the centres; best where it bends most"),
    "penalised": ("Penalised inertia", "inertia plus a penalty per cluster; smallest is best"),
    "silhouette": ("Silhouette", "distance to the own cluster against the next; largest is best"),
    "bic": ("BIC", "of a Gaussian mixture; smallest is best"),
    "gap": (
        "Gap",
        "tighter than rows without clusters by this; the first near the largest",
    ),
}

Page = dict[str, Any]


def cluster_page(record: ClusterRecord) -> Page:
    """Return everything the template shows.

    Parameters
    ----------
    record : ClusterRecord
        The record of a clustering.
    """
    data = clean(record)
    sections: Page = {
        "headline": _headline(data),
        "map": _map(data),
        "sizes": _sizes(data),
        "clusters": [_cluster(data, entry) for entry in data.clusters[:MAX_CARDS]],
        "more": _more(data),
        "number": _number(data),
        "method": _method(data),
        "rows": rows_page(data.rows, MAX_NOTES),
        "overview": _overview(data),
        "made": _made(data),
    }
    return {**sections, **_title(data), "charts": _specs(sections)}


def _title(data: ClusterRecord) -> Page:
    source = data.source or "a table"
    used = sum(column.role == "feature" for column in data.columns)
    return {
        "title": f"Clusters of {source}",
        "source": source,
        "facts": [
            count(data.rows.used, "row"),
            f"{count(used, 'column')} used of {len(data.columns):,}",
            count(data.n_clusters, "cluster"),
            data.method.text,
        ],
        "assay": data.assay,
        "digest": data.digest,
    }


def _headline(data: ClusterRecord) -> Page:
    n_clusters, rows = data.n_clusters, data.rows.used
    method = data.method
    if not n_clusters:
        text = f"No clusters: {method.text} found no dense place in {count(rows, 'row')}."
    elif n_clusters == 1:
        text = f"One cluster: by these criteria the {count(rows, 'row')} do not form groups."
    else:
        inside = rows - data.unassigned
        text = f"{count(inside, 'row')} in {n_clusters} clusters by {method.text}"
        text += f", {count(data.unassigned, 'row')} in none." if data.unassigned else "."
    steady = _stability(method)
    silhouette = data.silhouette
    tiles = [{"name": "Clusters", "value": f"{n_clusters:,}", "small": method.text}]
    if silhouette is not None:
        tiles.append(
            {
                "name": "Mean silhouette",
                "value": f"{silhouette:.2f}".replace("-", "−"),
                "small": _silhouette_words(silhouette),
            }
        )
    if steady is not None:
        tiles.append(
            {
                "name": "Stability",
                "value": f"{steady:.2f}".replace("-", "−"),
                "small": "agreement with clusters of half the rows; 1 is the same",
            }
        )
    if data.unassigned:
        tiles.append(
            {
                "name": "In no cluster",
                "value": f"{data.unassigned:,}",
                "small": share(data.unassigned, rows),
            }
        )
    new = (
        "The model file can place new rows in these clusters."
        if method.assigns_new_rows
        else "This method cannot place new rows; k-means and mixtures can."
    )
    return {"text": text, "tiles": tiles, "new": new}


def _stability(method: Method) -> float | None:
    for entry in method.compared:
        if entry.method == method.text:
            return entry.stability
    return None


def _silhouette_words(value: float) -> str:
    if value >= 0.5:
        return "clusters are well separated"
    if value >= 0.25:
        return "clusters touch"
    return "clusters overlap"


def _map(data: ClusterRecord) -> Page | None:
    found = data.map
    if not found.x:
        return None
    shares, drawn = found.shares, len(found.x)
    many = f" {drawn:,} of {found.of:,} rows are drawn." if drawn < found.of else ""
    return {
        "id": "chart-map",
        "spec": charts.cluster_map(found),
        "alt": f"Map of {count(drawn, 'row')} coloured by {count(data.n_clusters, 'cluster')}.",
        "caption": (
            "The rows on the main axes of the scaled columns, which show "
            f"{sum(shares):.0%} of the variance. Rows that are apart here are apart; rows that "
            f"overlap may differ in other columns. In brackets: the most important columns.{many}"
        ),
    }


def _sizes(data: ClusterRecord) -> Page | None:
    clusters = data.clusters
    if not clusters:
        return None
    return {
        "id": "chart-sizes",
        "spec": charts.sizes(clusters[:MAX_CARDS], data.unassigned),
        "alt": "Rows per cluster: "
        + ", ".join(f"{entry.label}: {entry.size:,}" for entry in clusters[:10]),
    }


def _cluster(data: ClusterRecord, entry: Cluster) -> Page:
    return {
        "label": entry.label,
        "colour": charts.colour(entry.label),
        "size": f"{entry.size:,}",
        "share": share(entry.size, data.rows.used),
        "traits": [_trait(trait) for trait in entry.traits],
        "columns": list(data.shown_columns),
        "rows": [
            {"what": what, "row": f"{row.row:,}", "cells": [_cell(c) for c in row.cells]}
            for what, part in (("typical", entry.prototypes), ("unusual", entry.outliers))
            for row in part
        ],
    }


def _trait(trait: Trait) -> Page:
    if trait.share:
        own, usual = f"{trait.mean:.0%}", f"{trait.overall:.0%}"
    else:
        own, usual = short(trait.mean), short(trait.overall)
    return {
        "name": trait.name,
        "own": own.replace("-", "−"),
        "usual": usual.replace("-", "−"),
        "up": trait.shift > 0,
        "width": round(min(50.0, 50 * abs(trait.shift) / 3), 1),
        "shift": f"{trait.shift:+.1f}".replace("-", "−"),
    }


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return short(value) if isinstance(value, (int, float)) else safe(str(value), MAX_CELL)


def _more(data: ClusterRecord) -> str | None:
    rest = data.n_clusters - min(len(data.clusters), MAX_CARDS)
    return f"{count(rest, 'more cluster')} not described here." if rest > 0 else None


def _number(data: ClusterRecord) -> Page | None:
    number = data.number
    if number is None:
        return None
    votes = number.votes
    pictures = [
        {
            "title": title,
            "meaning": meaning,
            "choice": votes[key],
            "chart": {
                "id": f"chart-{key}",
                "spec": charts.curve(
                    number.rows, "inertia" if key == "elbow" else key, title, votes[key]
                ),
                "alt": f"{title} by number of clusters; it chooses {votes[key]}.",
            },
        }
        for key, (title, meaning) in _CRITERIA.items()
        if key in votes
    ]
    keys = ["inertia", *(key for key in _CRITERIA if key in votes)]
    return {
        "text": f"{count(number.n_clusters, 'cluster')}: {number.reason}.",
        "pictures": pictures,
        "heads": ["Clusters", "Inertia", *(_CRITERIA[key][0] for key in keys[1:])],
        "lines": [
            {
                "best": row.n_clusters == number.n_clusters,
                "cells": [str(row.n_clusters), *(_number_cell(getattr(row, key)) for key in keys)],
            }
            for row in number.rows
        ],
    }


def _number_cell(value: float | None) -> str:
    return "–" if value is None else short(value).replace("-", "−")


def _method(data: ClusterRecord) -> Page:
    method = data.method
    return {
        "text": method.text,
        "params": params_text(method.params),
        "reason": method.reason,
        "compared": [
            {
                "method": entry.method,
                "stability": "–"
                if entry.stability is None
                else f"{entry.stability:.3f}".replace("-", "−"),
                "why": entry.why,
                "chosen": entry.method == method.text,
            }
            for entry in method.compared
        ],
    }


def _overview(data: ClusterRecord) -> Page:
    kinds, aside = columns_by_use(data.columns)
    notes = notes_to_show(data.notes)
    return {
        **cards(data.columns, data.rows.read),
        "kinds": kinds,
        "aside": [
            {"reason": reason, "columns": names(columns, 12)}
            for reason, columns in list(aside.items())[:MAX_NOTES]
        ],
        "notes": [note[:1].upper() + note[1:] + "." for note in notes[:MAX_NOTES]],
    }


def _made(data: ClusterRecord) -> Page:
    versions = data.versions
    return {
        "facts": [
            [
                "Scaling",
                "Numbers to mean 0 and variance 1, categories to 0 and 1, missing to the median",
            ],
            ["Seed", str(data.seed)],
            ["Table (SHA-256)", data.digest],
            ["Versions", ", ".join(f"{name} {versions[name]}" for name in sorted(versions))],
        ]
    }


def _specs(part: Any) -> dict[str, Any]:
    """Collect every chart of the page by its id."""
    if isinstance(part, dict):
        if "spec" in part and "id" in part:
            return {part["id"]: part["spec"]}
        part = part.values()
    elif not isinstance(part, list):
        return {}
    return {name: spec for item in part for name, spec in _specs(item).items()}
