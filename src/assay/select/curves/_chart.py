"""Curves as Vega-Lite specifications: plain dicts that any renderer of Vega-Lite draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.evaluate import Interval

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_COLOURS = ["#2f6f9f", "#b3702e"]
_CONFIG = {
    "view": {"stroke": None},
    "axis": {"gridColor": "#e4e4e4", "domainColor": "#999", "tickColor": "#999"},
}


def curve_chart(
    axis: str,
    values: Sequence[Any],
    metric: str,
    train: Sequence[Interval],
    test: Sequence[Interval],
    unseen: str = "test",
) -> dict[str, Any]:
    """Draw two lines with their bands.

    Parameters
    ----------
    axis : str
        Title of the horizontal axis.
    values : sequence
        Numbers, or other values, which are written out in order.
    metric : str
        Title of the vertical axis.
    train, test : sequence of Interval
        The bands.
    unseen : str, default="test"
        Label for the rows of `test`.
    """
    shown, x = _axis(axis, values)
    rows = [
        {"x": at, "y": band.value, "low": band.low, "high": band.high, "rows": which}
        for which, bands in ((unseen, test), ("training", train))
        for at, band in zip(shown, bands, strict=True)
    ]
    colour = {
        "field": "rows",
        "type": "nominal",
        "title": None,
        "scale": {"domain": [unseen, "training"], "range": _COLOURS},
        "legend": {"orient": "top", "symbolOpacity": 1},
    }
    y = {"type": "quantitative", "title": metric, "scale": {"zero": False, "nice": True}}
    return {
        "$schema": _SCHEMA,
        "width": 420,
        "height": 260,
        "config": _CONFIG,
        "data": {"values": rows},
        "encoding": {"x": x, "color": colour},
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.2},
                "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "line", "point": True, "tooltip": True},
                "encoding": {"y": {"field": "y", **y}},
            },
        ],
    }


def roc_chart(axis: str, values: Sequence[Any], rates: NDArray[np.float64]) -> dict[str, Any]:
    """Draw one point per value, in the plane of false and true positive rate.

    Parameters
    ----------
    axis : str
        The parameter.
    values : sequence
        Its values.
    rates : ndarray of shape (n_values, 2)
        False and true positive rate.
    """
    rows = [
        {"fpr": float(fpr), "tpr": float(tpr), "value": str(value), "order": order}
        for order, (value, (fpr, tpr)) in enumerate(zip(values, rates, strict=True))
    ]
    scale = {"zero": False, "nice": True, "padding": 14}
    x = {"field": "fpr", "type": "quantitative", "title": "false positive rate", "scale": scale}
    y = {"field": "tpr", "type": "quantitative", "title": "true positive rate", "scale": scale}
    return {
        "$schema": _SCHEMA,
        "width": 320,
        "height": 320,
        "title": {"text": f"each point: one value of {axis}", "fontWeight": "normal"},
        "config": _CONFIG,
        "data": {"values": rows},
        "encoding": {"x": x, "y": y, "order": {"field": "order", "type": "quantitative"}},
        "layer": [
            {"mark": {"type": "line", "color": "#bbb", "strokeWidth": 1}},
            {"mark": {"type": "point", "filled": True, "size": 70, "color": "#2f6f9f"}},
            {
                "mark": {"type": "text", "align": "left", "dx": 8, "dy": 8, "color": "#333"},
                "encoding": {"text": {"field": "value", "type": "nominal"}},
            },
        ],
    }


def _axis(axis: str, values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in plain):
        wide = min(plain) > 0 and max(plain) >= 20 * min(plain)
        scale = {"type": "log" if wide else "linear", "zero": False, "nice": False, "padding": 12}
        if wide:
            del scale["zero"]
        # Ticks only at the values that were tried.
        ticks = {"values": plain, "format": "~g", "labelOverlap": "greedy", "grid": False}
        kind = {"type": "quantitative", "scale": scale, "axis": ticks}
        return plain, {"field": "x", "title": axis, **kind}
    words = [str(value) for value in plain]
    words_only = {"type": "ordinal", "sort": None, "axis": {"labelAngle": 0}}
    return words, {"field": "x", "title": axis, **words_only}
