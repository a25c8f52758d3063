"""Heat map of a square table, as a Vega-Lite specification."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_WRITTEN = 12  # maximum number of members for which cells show their values
_SIDE = 420


def heat_map(
    names: Sequence[str],
    values: NDArray[np.float64],
    *,
    dotted: NDArray[np.bool_],
    title: str,
    subtitle: str,
    domain: tuple[float, float],
    scheme: str,
) -> dict[str, Any]:
    """Return the specification of a heat-map.

    Parameters
    ----------
    names : sequence of str
        One per row and column.
    values : ndarray of shape (n, n)
        Numbers; NaN is left white.
    dotted : ndarray of bool of shape (n, n)
        Cells that get a dot.
    title, subtitle : str
        Shown above the chart.
    domain : tuple of float
        Values of the lightest and the darkest colour.
    scheme : str
        Name of a colour scheme of Vega.

    Returns
    -------
    dict
    """
    labels = _unique(names)
    cells = [
        {
            "row": labels[i],
            "column": labels[j],
            "value": None if math.isnan(values[i, j]) else round(float(values[i, j]), 6),
            "dot": bool(dotted[i, j]) and i != j,
        }
        for i in range(len(labels))
        for j in range(len(labels))
    ]
    side = max(24, min(72, _SIDE // len(labels)))
    axis = {"title": None, "labelLimit": 140, "domain": False, "ticks": False}
    place = {
        "y": {"field": "row", "type": "nominal", "sort": labels, "axis": axis},
        "x": {
            "field": "column",
            "type": "nominal",
            "sort": labels,
            "axis": {**axis, "labelAngle": -40, "orient": "bottom"},
        },
    }
    scale = {"domain": list(domain), "scheme": scheme}
    colour = {"field": "value", "type": "quantitative", "scale": scale, "title": None}
    tooltip = [
        {"field": "row", "title": "member"},
        {"field": "column", "title": "and"},
        {"field": "value", "title": title},
    ]
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "rect", "stroke": "white", "strokeWidth": 1, "invalid": None},
            "encoding": {"color": colour, "tooltip": tooltip},
        },
        {
            "transform": [{"filter": "datum.dot"}],
            "mark": {
                "type": "point",
                "filled": True,
                "color": "#d9480f",
                "opacity": 1,
                "size": 36,
                "xOffset": side / 2 - 9,
                "yOffset": 9 - side / 2,
            },
        },
    ]
    if len(labels) <= _MOST_WRITTEN:
        dark = "abs(datum.value) > 0.75" if domain[0] < 0 else "datum.value > 0.6"
        layers.append(
            {
                "transform": [{"filter": "isValid(datum.value)"}],
                "mark": {"type": "text", "fontSize": 12},
                "encoding": {
                    "text": {"field": "value", "type": "quantitative", "format": ".2f"},
                    "color": {"condition": {"test": dark, "value": "white"}, "value": "#222"},
                },
            }
        )
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": title, "subtitle": subtitle, "anchor": "start"},
        "width": {"step": side},
        "height": {"step": side},
        "data": {"values": cells},
        "encoding": place,
        "layer": layers,
        "config": {"view": {"stroke": None}, "background": "white"},
    }


def _unique(names: Sequence[str]) -> list[str]:
    """Return the names, numbered where they repeat, since equal names would share a row."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        labels.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return labels
