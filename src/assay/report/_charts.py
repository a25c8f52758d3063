"""Vega-Lite specifications as plain dicts: aggregated numbers in, pictures out.

Field names are fixed; texts from a table are only used as values, so no name in a table can become
part of an expression. Colours are CSS variables: one page serves light, dark and print.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.record import figure
from assay.report._format import safe

Spec = dict[str, Any]

MAX_CLASSES = 30
_MAX_WRITTEN_CELLS = 12
_MAX_LABEL = 40
_DOT = {"type": "point", "filled": True, "size": 90, "opacity": 1}
_DASHED = {"type": "line", "color": "var(--baseline)", "strokeDash": [4, 4], "tooltip": None}

_CONFIG: Spec = {
    "background": "transparent",
    "font": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--muted)",
        "titleColor": "var(--muted)",
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titlePadding": 8,
        "labelLimit": 165,
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
    },
    "axisY": {"domain": False, "ticks": False, "labelPadding": 8},
    "text": {"color": "var(--ink)", "fontSize": 12},
    "bar": {"color": "var(--accent)"},
    "rule": {"color": "var(--accent)"},
    "point": {"color": "var(--accent)"},
    "line": {"color": "var(--accent)", "strokeWidth": 2},
}


def intervals(rows: Sequence[Mapping[str, Any]], metric: str, places: int) -> Spec:
    """Draw scores with their intervals, one line each; the first row is the one that counts."""
    values = [
        {
            "name": row["name"],
            "value": row["value"],
            "low": row["low"],
            "high": row["high"],
            "text": figure(row["value"], places),
            "main": at == 0,
        }
        for at, row in enumerate(rows)
    ]
    colour = {
        "condition": {"test": "datum.main", "value": "var(--accent)"},
        "value": "var(--baseline)",
    }
    y = {"field": "name", "type": "nominal", "sort": None, "title": None}
    tooltip = [
        {"field": "name", "title": "Model"},
        *(
            {"field": field, "type": "quantitative", "title": title, "format": ",.4~g"}
            for field, title in (("value", "Score"), ("low", "From"), ("high", "To"))
        ),
    ]
    return _chart(
        values,
        height=52 * len(values),
        encoding={"y": y, "color": colour, "tooltip": tooltip},
        layer=[
            {
                "mark": {"type": "rule", "strokeWidth": 6, "opacity": 0.35, "strokeCap": "round"},
                "encoding": {"x": _x("low", metric), "x2": {"field": "high"}},
            },
            {"mark": {**_DOT, "size": 130}, "encoding": {"x": _x("value", metric)}},
            {
                "mark": {"type": "text", "dy": -15, "fontWeight": 600, "tooltip": None},
                "encoding": {
                    "x": _x("value", metric),
                    "text": {"field": "text"},
                    "color": {"value": "var(--ink)"},
                },
            },
        ],
    )


def leaderboard(rows: Sequence[Mapping[str, Any]], metric: str) -> Spec:
    """Draw scores with one standard deviation to each side, best on top."""
    values = [
        {
            "name": f"{row['rank']}. {row['family']}",
            "params": row["params"],
            "score": row["score"],
            "low": row["score"] - (row["sd"] or 0.0),
            "high": row["score"] + (row["sd"] or 0.0),
            "sd": row["sd"],
        }
        for row in rows
    ]
    tooltip = [
        {"field": "name", "title": "Model"},
        {"field": "params", "title": "Hyperparameters"},
        {"field": "score", "type": "quantitative", "title": "Score", "format": ",.4~g"},
        {"field": "sd", "type": "quantitative", "title": "Std. dev.", "format": ",.3~g"},
    ]
    y = {"field": "name", "type": "nominal", "sort": None, "title": None}
    return _chart(
        values,
        height=max(60, 24 * len(values)),
        encoding={"y": y, "tooltip": tooltip},
        layer=[
            {
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.45},
                "encoding": {"x": _x("low", metric), "x2": {"field": "high"}},
            },
            {"mark": _DOT, "encoding": {"x": _x("score", metric)}},
        ],
    )


def confusion(labels: Sequence[str], counts: Sequence[Sequence[int]]) -> Spec:
    """Draw true classes down, predicted classes across, shaded by the share of the true class."""
    labels = _distinct_labels([safe(label, _MAX_LABEL) for label in labels])
    values = []
    for truth, line in zip(labels, counts, strict=True):
        whole = sum(line)
        for predicted, number in zip(labels, line, strict=True):
            part = number / whole if whole else 0.0
            values.append(
                {
                    "truth": truth,
                    "predicted": predicted,
                    "share": part,
                    "right": truth == predicted,
                    "text": f"{number:,}",
                    "part": f"{100 * part:.0f}%",
                }
            )
    written = len(labels) <= _MAX_WRITTEN_CELLS
    step = 62 if len(labels) <= 6 else 40 if written else 18
    few = len(labels) <= 4
    x = {
        "field": "predicted",
        "type": "nominal",
        "sort": None,
        "title": "Predicted",
        "axis": {
            "orient": "top",
            "domain": False,
            "ticks": False,
            "labelPadding": 6,
            "labelLimit": 110,
            "labelAngle": 0 if few else -60,
            "labelAlign": "center" if few else "left",
        },
    }
    y = {
        "field": "truth",
        "type": "nominal",
        "sort": None,
        "title": "True",
        "axis": {"labelLimit": 110},
    }
    tooltip = [
        {"field": "truth", "title": "True class"},
        {"field": "predicted", "title": "Predicted"},
        {"field": "text", "title": "Rows"},
        {"field": "part", "title": "Share of the true class"},
    ]
    colour = {
        "condition": {"test": "datum.right", "value": "var(--accent)"},
        "value": "var(--warn)",
    }
    layer: list[Spec] = [
        {
            "mark": {"type": "rect", "stroke": "var(--line)", "strokeWidth": 1},
            "encoding": {"fill": colour, "fillOpacity": _shade("share", 1.0)},
        }
    ]
    if written:
        ink = {
            "condition": {"test": "datum.share > 0.45", "value": "var(--paper)"},
            "value": "var(--ink)",
        }
        small = len(labels) > 6
        layer.append(
            {
                "mark": {
                    "type": "text",
                    "dy": 0 if small else -8,
                    "fontSize": 11 if small else 15,
                    "fontWeight": 600,
                },
                "encoding": {"text": {"field": "text"}, "color": ink},
            }
        )
        if not small:
            layer.append(
                {
                    "mark": {"type": "text", "dy": 10, "fontSize": 11},
                    "encoding": {"text": {"field": "part"}, "color": ink},
                }
            )
    return _chart(
        values,
        height=step * len(labels),
        encoding={"x": x, "y": y, "tooltip": tooltip},
        layer=layer,
    )


def roc(fpr: Sequence[float], tpr: Sequence[float]) -> Spec:
    """Draw the true-positive share against the false-positive share."""
    curve = [{"x": x, "y": y} for x, y in zip(fpr, tpr, strict=True)]
    tooltip = [
        {"field": "x", "type": "quantitative", "title": "False-positive rate", "format": ".0%"},
        {"field": "y", "type": "quantitative", "title": "True-positive rate", "format": ".0%"},
    ]
    return _chart(
        curve,
        height=300,
        encoding=_unit_square("False-positive rate", "True-positive rate"),
        layer=[
            _diagonal(0.0, 1.0),
            {
                "mark": {"type": "area", "opacity": 0.12, "color": "var(--accent)"},
            },
            # Points of no size would never meet the pointer; invisible ones carry the tooltip.
            {"mark": {"type": "line", "interpolate": "linear"}},
            {"mark": {"type": "point", "opacity": 0, "size": 60}, "encoding": {"tooltip": tooltip}},
        ],
    )


def calibration(
    predicted: Sequence[float], observed: Sequence[float], counts: Sequence[int]
) -> Spec:
    """Draw observed against predicted probabilities; the area of a dot is its number of rows."""
    values = [
        {"x": x, "y": y, "count": number}
        for x, y, number in zip(predicted, observed, counts, strict=True)
    ]
    tooltip = [
        {"field": "x", "type": "quantitative", "title": "Predicted", "format": ".1%"},
        {"field": "y", "type": "quantitative", "title": "Observed", "format": ".1%"},
        {"field": "count", "type": "quantitative", "title": "Rows", "format": ","},
    ]
    size = {
        "field": "count",
        "type": "quantitative",
        "legend": None,
        "scale": {"range": [30, 400], "zero": True},
    }
    return _chart(
        values,
        height=300,
        encoding=_unit_square("Predicted probability", "Observed share"),
        layer=[
            _diagonal(0.0, 1.0),
            {"mark": {"type": "line", "opacity": 0.4}},
            {
                "mark": {**_DOT, "opacity": 0.85},
                "encoding": {"size": size, "tooltip": tooltip},
            },
        ],
    )


def residuals(edges: Sequence[float], counts: Sequence[int]) -> Spec:
    """Draw the histogram of true minus predicted, with a line at zero."""
    values = [
        {"low": low, "high": high, "count": number}
        for low, high, number in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    tooltip = [
        {"field": "low", "type": "quantitative", "title": "From", "format": ",.4~g"},
        {"field": "high", "type": "quantitative", "title": "To", "format": ",.4~g"},
        {"field": "count", "type": "quantitative", "title": "Rows", "format": ","},
    ]
    return _chart(
        values,
        height=300,
        layer=[
            {
                "mark": {"type": "bar", "opacity": 0.8, "binSpacing": 1},
                "encoding": {
                    "x": {**_x("low", "True minus predicted"), "bin": "binned"},
                    "x2": {"field": "high"},
                    "y": {"field": "count", "type": "quantitative", "title": "Rows"},
                    "tooltip": tooltip,
                },
            },
            {
                "data": {"values": [{"zero": 0}]},
                "mark": {"type": "rule", "color": "var(--baseline)", "strokeDash": [4, 4]},
                "encoding": {"x": {"field": "zero", "type": "quantitative"}},
            },
        ],
    )


def agreement(
    x_edges: Sequence[float], y_edges: Sequence[float], counts: Sequence[Sequence[int]]
) -> Spec:
    """Draw predicted across and true upwards as counts in a grid; the diagonal is perfection."""
    values = [
        {
            "x": x_edges[i],
            "x2": x_edges[i + 1],
            "y": y_edges[j],
            "y2": y_edges[j + 1],
            "count": number,
        }
        for i, line in enumerate(counts)
        for j, number in enumerate(line)
        if number
    ]
    written = _value_format([*x_edges, *y_edges])
    low = max(x_edges[0], y_edges[0])
    high = min(x_edges[-1], y_edges[-1])
    tooltip = [
        {
            "field": "x",
            "type": "quantitative",
            "title": "Predicted from",
            "format": _value_format([*x_edges, *y_edges]),
        },
        {
            "field": "x2",
            "type": "quantitative",
            "title": "to",
            "format": _value_format([*x_edges, *y_edges]),
        },
        {
            "field": "y",
            "type": "quantitative",
            "title": "True from",
            "format": _value_format([*x_edges, *y_edges]),
        },
        {
            "field": "y2",
            "type": "quantitative",
            "title": "to ",
            "format": _value_format([*x_edges, *y_edges]),
        },
        {"field": "count", "type": "quantitative", "title": "Rows", "format": ","},
    ]
    scale = {"zero": False, "nice": False}
    axis = {"tickCount": 6, "format": written}
    most = max((value["count"] for value in values), default=1)
    cells: Spec = {
        "mark": {"type": "rect", "fill": "var(--accent)"},
        "encoding": {
            "x": {**_x("x", "Predicted"), "scale": scale, "axis": axis},
            "x2": {"field": "x2"},
            "y": {
                "field": "y",
                "type": "quantitative",
                "title": "True",
                "scale": scale,
                "axis": axis,
            },
            "y2": {"field": "y2"},
            "fillOpacity": _shade("count", most, least=0.15),
            "tooltip": tooltip,
        },
    }
    layer = [cells, _diagonal(low, high)] if low < high else [cells]
    return _chart(values, height=300, layer=layer)


def _value_format(values: Sequence[float]) -> str:
    """Return how values are written: those below 10,000, such as years, without separator."""
    return ".6~g" if max(map(abs, values), default=0) < 10_000 else ",.4~g"


def _chart(
    values: Sequence[Mapping[str, Any]],
    *,
    height: int,
    layer: list[Spec],
    encoding: Spec | None = None,
) -> Spec:
    return {
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": 4,
        "config": _CONFIG,
        "data": {"values": list(values)},
        **({"encoding": encoding} if encoding else {}),
        "layer": layer,
    }


def _x(field: str, title: str) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": False, "nice": True, "padding": 12},
        "axis": {"tickCount": 6, "grid": True, "labelFlush": False},
    }


def _unit_square(x_title: str, y_title: str) -> Spec:
    scale = {"domain": [0, 1]}
    axis = {"format": ".0%", "tickCount": 5, "labelFlush": False}
    return {
        "x": {"field": "x", "type": "quantitative", "title": x_title, "scale": scale, "axis": axis},
        "y": {"field": "y", "type": "quantitative", "title": y_title, "scale": scale, "axis": axis},
    }


def _diagonal(low: float, high: float) -> Spec:
    return {
        "data": {"values": [{"x": low, "y": low}, {"x": high, "y": high}]},
        "mark": _DASHED,
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "y", "type": "quantitative"},
        },
    }


def _distinct_labels(labels: Sequence[str]) -> list[str]:
    # Two long classes may look the same once they are cut; as one name they would share a cell.
    apart: list[str] = []
    for label in labels:
        # Vega keeps values as keys of objects, where this one has a meaning of its own.
        label = f"{label} " if label == "__proto__" else label
        name, turn = label, 1
        while name in apart:
            turn += 1
            name = f"{label} ({turn})"
        apart.append(name)
    return apart


def _shade(field: str, most: float, least: float = 0.0) -> Spec:
    # The square root keeps rare cells visible beside full ones.
    scale = {"type": "sqrt", "domain": [0, most], "range": [least, 0.92]}
    return {"field": field, "type": "quantitative", "scale": scale, "legend": None}
