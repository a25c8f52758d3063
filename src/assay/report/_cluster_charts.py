"""Pictures of clusters: the map, the sizes, the curves behind their number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.record import Cluster, Criteria, Map, finite
from assay.report._charts import Spec
from assay.report._charts import _chart as chart

# Ten colours that stand apart on light and on dark paper; then they come again in another shape.
COLOURS = (
    "#3d7ab8", "#e8862e", "#4d9e4a", "#d9534f", "#5fb3ab", "#a86fa0", "#c9a227", "#8c6d5a",
    "#e58fa3", "#7d8590",
)  # fmt: skip
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
NOBODY = "none"


def cluster_map(found: Map) -> Spec:
    """Draw the rows on their main axes, coloured and numbered by cluster."""
    flat = found.y is None
    heights: Sequence[float] = found.cluster if found.y is None else found.y
    values = [
        {"x": x, "y": y, "cluster": name(label), "row": row}
        for x, y, label, row in zip(found.x, heights, found.cluster, found.row, strict=True)
    ]
    labels = sorted(set(found.cluster))
    encoding: Spec = {
        "x": _axis("x", _title(found, 0)),
        "y": _axis("y", "Cluster" if flat else _title(found, 1)),
    }
    # Large clouds need small, thin dots; a handful of rows needs to be seen.
    size = float(np.clip(9000 / max(len(values), 1), 14, 60))
    dots: Spec = {
        "mark": {"type": "point", "filled": True, "size": size, "opacity": 0.65},
        "encoding": {
            "color": {
                "field": "cluster",
                "type": "nominal",
                "legend": None,
                "scale": {
                    "domain": [name(label) for label in labels],
                    "range": [colour(label) for label in labels],
                },
            },
            "shape": {
                "field": "cluster",
                "type": "nominal",
                "legend": None,
                "scale": {
                    "domain": [name(label) for label in labels],
                    "range": [
                        SHAPES[max(label, 0) // len(COLOURS) % len(SHAPES)] for label in labels
                    ],
                },
            },
            "tooltip": [
                {"field": "cluster", "title": "Cluster"},
                {"field": "row", "type": "quantitative", "title": "Row", "format": ","},
            ],
        },
    }
    centres = [
        {
            "x": float(np.median([v["x"] for v in values if v["cluster"] == name(label)])),
            "y": float(np.median([v["y"] for v in values if v["cluster"] == name(label)])),
            "cluster": name(label),
        }
        for label in labels
        if label >= 0
    ]
    text = {"text": {"field": "cluster"}, "tooltip": {"value": None}}
    halo: Spec = {
        "data": {"values": centres},
        "mark": {
            "type": "text",
            "fontSize": 17,
            "fontWeight": 700,
            "stroke": "var(--paper)",
            "strokeWidth": 5,
            "color": "var(--paper)",
        },
        "encoding": text,
    }
    ink = {
        **halo,
        "mark": {"type": "text", "fontSize": 17, "fontWeight": 700, "color": "var(--ink)"},
    }
    return chart(values, height=120 if flat else 460, encoding=encoding, layer=[dots, halo, ink])


def sizes(clusters: Sequence[Cluster], unassigned: int) -> Spec:
    """Draw the number of rows of every cluster."""
    values = [
        {"name": f"Cluster {entry.label}", "size": entry.size, "fill": colour(entry.label)}
        for entry in clusters
    ]
    if unassigned:
        values.append({"name": "In no cluster", "size": unassigned, "fill": colour(-1)})
    return chart(
        values,
        height=max(60, 28 * len(values)),
        encoding={
            "y": {"field": "name", "type": "nominal", "sort": None, "title": None},
            "x": {
                "field": "size",
                "type": "quantitative",
                "title": "Rows",
                "axis": {"tickCount": 6, "tickMinStep": 1},
            },
        },
        layer=[
            {
                "mark": {"type": "bar", "opacity": 0.85, "height": {"band": 0.7}},
                "encoding": {
                    "color": {"field": "fill", "type": "nominal", "scale": None},
                    "tooltip": [
                        {"field": "name", "title": "Cluster"},
                        {"field": "size", "type": "quantitative", "title": "Rows", "format": ","},
                    ],
                },
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 5},
                "encoding": {
                    "text": {"field": "size", "type": "quantitative", "format": ","},
                    "color": {"value": "var(--ink)"},
                },
            },
        ],
    )


def curve(rows: Sequence[Criteria], field: str, title: str, best: int | None) -> Spec:
    """Draw one criterion against the number of clusters; its own choice is marked."""
    values = [
        {"k": row.n_clusters, "value": value, "best": row.n_clusters == best}
        for row in rows
        if (value := finite(getattr(row, field))) is not None
    ]
    large = any(abs(value["value"] or 0) >= 1000 for value in values)
    tooltip = [
        {"field": "k", "type": "quantitative", "title": "Clusters"},
        {"field": "value", "type": "quantitative", "title": title, "format": ",.4~g"},
    ]
    size = {"condition": {"test": "datum.best", "value": 170}, "value": 45}
    return chart(
        values,
        height=170,
        encoding={
            "x": {
                "field": "k",
                "type": "quantitative",
                "title": "Clusters",
                "scale": {"zero": False, "nice": False, "padding": 14},
                "axis": {"tickMinStep": 1, "format": "d", "grid": False},
            },
            "y": {
                "field": "value",
                "type": "quantitative",
                "title": None,
                "scale": {"zero": False},
                "axis": {"tickCount": 4, "format": "~s" if large else ",.3~g"},
            },
        },
        layer=[
            {"mark": {"type": "line", "opacity": 0.6}},
            {
                "mark": {"type": "point", "filled": True, "opacity": 1},
                "encoding": {"size": size, "tooltip": tooltip},
            },
        ],
    )


def name(label: int) -> str:
    """Return a cluster's name on the map."""
    return str(label) if label >= 0 else NOBODY


def colour(label: int) -> str:
    """Return a cluster's colour; grey for rows of none."""
    return COLOURS[label % len(COLOURS)] if label >= 0 else "var(--baseline)"


def _axis(field: str, title: str | list[str]) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": False, "nice": True, "padding": 10},
        "axis": {"tickCount": 6, "labels": False, "ticks": False},
    }


def _title(found: Map, axis: int) -> list[str]:
    """Return the title of an axis in lines short enough for a narrow screen."""
    shares, axes = found.shares, found.axes
    if axis >= len(shares):
        return []
    what = [text if len(text) <= 24 else text[:23] + "…" for text in axes[axis]]
    return [f"{shares[axis]:.0%} of the variance", *([f"({', '.join(what[:2])})"] if what else [])]
