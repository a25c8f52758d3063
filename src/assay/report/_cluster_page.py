"""From the record of a clustering to the texts, tables and charts of its page: dict to dict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.base import DataError
from assay.report import _cluster_charts as charts
from assay.report._columns import cards
from assay.report._format import clean, count, names, notes_to_show, params_text, safe, share, short

FORMAT = 1
MAX_CARDS = 40
MAX_CELL = 40
MAX_NOTES = 30
_REQUIRED = ("rows", "columns", "method", "n_clusters", "map")
_CRITERIA = {
    "elbow": ("Elbow", "the inertia: squared distances to the centres; where it bends most"),
    "penalised": ("Penalised inertia", "inertia and a price per cluster; smallest is best"),
    "silhouette": ("Silhouette", "nearer to the own cluster than to the next; largest is best"),
    "bic": ("BIC", "of a Gaussian mixture; smallest is best"),
    "gap": ("Gap", "how much tighter than rows without clusters; the first near the largest"),
}

Page = dict[str, Any]


def cluster_page(record: Mapping[str, Any]) -> Page:
    """Return everything the template shows.

    Parameters
    ----------
    record : dict
        The plain record of a clustering.

    Raises
    ------
    DataError
        If the record has another format or lacks a part.
    """
    if record.get("format") != FORMAT or record.get("task") != "cluster":
        raise DataError(
            f"the record has format {record.get('format')!r} and task {record.get('task')!r}; "
            f"this shows clusters of format {FORMAT}"
        )
    absent = [name for name in _REQUIRED if record.get(name) is None]
    if absent:
        raise DataError(f"the record lacks {', '.join(absent)}; find the clusters again")
    data = clean(record)
    sections: Page = {
        "headline": _headline(data),
        "map": _map(data),
        "sizes": _sizes(data),
        "clusters": [_cluster(data, entry) for entry in (data.get("clusters") or [])[:MAX_CARDS]],
        "more": _more(data),
        "number": _number(data),
        "method": _method(data),
        "rows": _rows(data),
        "overview": _overview(data),
        "made": _made(data),
    }
    return {**sections, **_title(data), "charts": _specs(sections)}


def _title(data: Mapping[str, Any]) -> Page:
    source = data.get("source") or "a table"
    used = sum(column.get("role") == "feature" for column in data["columns"])
    return {
        "title": f"Clusters of {source}",
        "source": source,
        "facts": [
            count(data["rows"]["used"], "row"),
            f"{count(used, 'column')} used of {len(data['columns']):,}",
            count(data["n_clusters"], "cluster"),
            data["method"]["text"],
        ],
        "assay": data.get("assay") or "",
        "digest": str(data.get("digest") or ""),
    }


def _headline(data: Mapping[str, Any]) -> Page:
    n_clusters, rows = data["n_clusters"], data["rows"]["used"]
    method = data["method"]
    if not n_clusters:
        text = f"No clusters: {count(rows, 'row')} and no dense place by {method['text']}."
    elif n_clusters == 1:
        text = f"One cluster: by these criteria the {count(rows, 'row')} do not fall into groups."
    else:
        inside = rows - data["unassigned"]
        text = f"{count(inside, 'row')} fall into {n_clusters} clusters by {method['text']}"
        text += f"; {count(data['unassigned'], 'row')} in none." if data["unassigned"] else "."
    steady = _steadiness(method)
    silhouette = data.get("silhouette")
    tiles = [{"name": "Clusters", "value": f"{n_clusters:,}", "small": method["text"]}]
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
                "name": "Steadiness",
                "value": f"{steady:.2f}".replace("-", "−"),
                "small": "agreement of halves of the rows; 1 is the same clusters",
            }
        )
    if data["unassigned"]:
        tiles.append(
            {
                "name": "In no cluster",
                "value": f"{data['unassigned']:,}",
                "small": share(data["unassigned"], rows),
            }
        )
    new = (
        "The model file puts new rows into these clusters."
        if method.get("assigns_new_rows")
        else "This method does not place new rows; k-means and mixtures do."
    )
    return {"text": text, "tiles": tiles, "new": new}


def _steadiness(method: Mapping[str, Any]) -> float | None:
    for entry in method.get("compared") or []:
        if entry["method"] == method["text"]:
            value: float | None = entry["stability"]
            return value
    return None


def _silhouette_words(value: float) -> str:
    if value >= 0.5:
        return "clusters stand well apart"
    if value >= 0.25:
        return "clusters touch"
    return "clusters overlap; read them as a convenient division"


def _map(data: Mapping[str, Any]) -> Page | None:
    found = data["map"]
    if not found.get("x"):
        return None
    shares = found["shares"]
    drawn = len(found["x"])
    many = f" {drawn:,} of {found['of']:,} rows are drawn." if drawn < found["of"] else ""
    return {
        "id": "chart-map",
        "spec": charts.cluster_map(found),
        "alt": f"Map of {count(drawn, 'row')} coloured by {count(data['n_clusters'], 'cluster')}.",
        "caption": (
            "The rows on the main axes of the scaled columns, which show "
            f"{sum(shares):.0%} of the variance; what lies apart here is apart, what overlaps here "
            f"may be apart in other columns. In brackets, the columns that count most.{many}"
        ),
    }


def _sizes(data: Mapping[str, Any]) -> Page | None:
    clusters = data.get("clusters") or []
    if not clusters:
        return None
    return {
        "id": "chart-sizes",
        "spec": charts.sizes(clusters[:MAX_CARDS], data["unassigned"]),
        "alt": "Rows per cluster: "
        + ", ".join(f"{entry['label']}: {entry['size']:,}" for entry in clusters[:10]),
    }


def _cluster(data: Mapping[str, Any], entry: Mapping[str, Any]) -> Page:
    return {
        "label": entry["label"],
        "colour": charts.colour(entry["label"]),
        "size": f"{entry['size']:,}",
        "share": share(entry["size"], data["rows"]["used"]),
        "traits": [_trait(trait) for trait in entry["traits"]],
        "columns": data["shown_columns"],
        "rows": [
            {"what": what, "row": f"{row['row']:,}", "cells": [_cell(c) for c in row["cells"]]}
            for what, part in (("typical", "prototypes"), ("unusual", "outliers"))
            for row in entry[part]
        ],
    }


def _trait(trait: Mapping[str, Any]) -> Page:
    if trait["share"]:
        own, usual = f"{trait['mean']:.0%}", f"{trait['overall']:.0%}"
    else:
        own, usual = short(trait["mean"]), short(trait["overall"])
    return {
        "name": trait["name"],
        "own": own.replace("-", "−"),
        "usual": usual.replace("-", "−"),
        "up": trait["shift"] > 0,
        "width": round(min(50.0, 50 * abs(trait["shift"]) / 3), 1),
        "shift": f"{trait['shift']:+.1f}".replace("-", "−"),
    }


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return short(value) if isinstance(value, (int, float)) else safe(str(value), MAX_CELL)


def _more(data: Mapping[str, Any]) -> str | None:
    rest = data["n_clusters"] - min(len(data.get("clusters") or []), MAX_CARDS)
    return f"{count(rest, 'more cluster')} not described here." if rest > 0 else None


def _number(data: Mapping[str, Any]) -> Page | None:
    number = data.get("number")
    if not number:
        return None
    votes = number["votes"]
    pictures = [
        {
            "title": title,
            "meaning": meaning,
            "choice": votes[key],
            "chart": {
                "id": f"chart-{key}",
                "spec": charts.curve(
                    number["rows"], "inertia" if key == "elbow" else key, title, votes[key]
                ),
                "alt": f"{title} by number of clusters; it chooses {votes[key]}.",
            },
        }
        for key, (title, meaning) in _CRITERIA.items()
        if key in votes
    ]
    keys = ["inertia", *(key for key in _CRITERIA if key in votes)]
    return {
        "text": f"{count(number['n_clusters'], 'cluster')}: {number['reason']}.",
        "pictures": pictures,
        "heads": ["Clusters", "Inertia", *(_CRITERIA[key][0] for key in keys[1:])],
        "lines": [
            {
                "best": row["n_clusters"] == number["n_clusters"],
                "cells": [str(row["n_clusters"]), *(_number_cell(row.get(key)) for key in keys)],
            }
            for row in number["rows"]
        ],
    }


def _number_cell(value: float | None) -> str:
    return "–" if value is None else short(value).replace("-", "−")


def _method(data: Mapping[str, Any]) -> Page:
    method = data["method"]
    return {
        "text": method["text"],
        "params": params_text(method.get("params") or {}),
        "reason": method["reason"],
        "compared": [
            {
                "method": entry["method"],
                "stability": "–"
                if entry["stability"] is None
                else f"{entry['stability']:.3f}".replace("-", "−"),
                "why": entry.get("why") or "",
                "chosen": entry["method"] == method["text"],
            }
            for entry in method.get("compared") or []
        ],
    }


def _rows(data: Mapping[str, Any]) -> Page:
    rows = data["rows"]
    dropped = [entry for entry in rows.get("dropped") or [] if entry["count"]]
    lost = sum(entry["count"] for entry in dropped)
    return {
        "sum": f"{rows['read']:,} rows read = {rows['used']:,} used + {lost:,} dropped",
        "dropped": [{"reason": e["reason"], "count": f"{e['count']:,}"} for e in dropped],
    }


def _overview(data: Mapping[str, Any]) -> Page:
    aside: dict[str, list[str]] = {}
    kinds: dict[str, int] = {}
    for column in data["columns"]:
        if column.get("role") == "dropped":
            aside.setdefault(column.get("reason") or "no reason recorded", []).append(
                column["name"]
            )
        elif column.get("role") == "feature":
            kinds[column["kind"]] = kinds.get(column["kind"], 0) + 1
    notes = notes_to_show(data)
    return {
        **cards(data["columns"], data["rows"]["read"]),
        "kinds": ", ".join(f"{number:,} {kind}" for kind, number in kinds.items()),
        "aside": [
            {"reason": reason, "columns": names(columns, 12)}
            for reason, columns in list(aside.items())[:MAX_NOTES]
        ],
        "notes": [note[:1].upper() + note[1:] + "." for note in notes[:MAX_NOTES]],
    }


def _made(data: Mapping[str, Any]) -> Page:
    versions = data.get("versions") or {}
    return {
        "facts": [
            ["Scaling", "Numbers to mean 0 and variance 1, levels to 0 and 1, gaps to the median"],
            ["Seed", str(data.get("seed"))],
            ["Table (SHA-256)", str(data.get("digest"))],
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
