"""Draw the pictures of the pages on Relief, intervals and sampling: python make_features.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import vl_convert

from assay.features import IntervalBuilder, ReliefF, SyntheticSampler

HERE = Path(__file__).resolve().parent
BLUE, ORANGE, GREY = "#3b6fb6", "#d9772b", "#9aa0a6"
CONFIG = {
    "background": "white",
    "font": "sans-serif",
    "aria": False,
    "view": {"stroke": None},
    "axis": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "grid": False},
    "legend": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"},
    "title": {"fontSize": 12, "fontWeight": "normal", "anchor": "start"},
}


def main() -> None:
    """Write all pictures beside this file."""
    for name, spec in (
        ("relief", relief()),
        ("intervals", intervals()),
        ("sampling", sampling()),
    ):
        whole = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "config": CONFIG}
        svg = vl_convert.vegalite_to_svg({**whole, **spec})
        (HERE / f"{name}.svg").write_text(svg + "\n", encoding="utf-8")


def relief() -> dict[str, Any]:
    """Show an exclusive or, which no column tells alone, and the scores."""
    random = np.random.default_rng(4)
    X = random.uniform(-1, 1, size=(400, 12))
    y = (X[:, 2] * X[:, 7] > 0).astype(int)
    scores = ReliefF(20).fit(X, y).scores_
    points = [
        {"x": round(a, 3), "y": round(b, 3), "class": "ab"[c]}
        for a, b, c in zip(X[:, 2], X[:, 7], y, strict=True)
    ]
    bars = [
        {"column": f"x{j}", "score": score, "kind": "kept" if score > 0 else "left out"}
        for j, score in enumerate(scores)
    ]
    left = {
        "title": "x2 and x7 make the class, neither alone",
        "width": 220,
        "height": 220,
        "data": {"values": points},
        "mark": {"type": "point", "filled": True, "size": 22, "opacity": 0.8},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": "x2"},
            "y": {"field": "y", "type": "quantitative", "title": "x7"},
            "color": colour("class", ["a", "b"], [BLUE, ORANGE]),
        },
    }
    right = {
        "title": "scores",
        "width": 260,
        "height": 220,
        "data": {"values": bars},
        "mark": {"type": "bar"},
        "encoding": {
            "x": {
                "field": "column",
                "type": "nominal",
                "sort": None,
                "title": None,
                "axis": {"labelAngle": 0},
            },
            "y": {"field": "score", "type": "quantitative", "title": None},
            "color": colour("kind", ["kept", "left out"], [BLUE, GREY]),
        },
    }
    return {"hconcat": [left, right], "spacing": 30, "resolve": {"scale": {"color": "independent"}}}


def intervals() -> dict[str, Any]:
    """Show classes along a column, with cuts by minimum description length and by quantiles."""
    random = np.random.default_rng(0)
    age = random.uniform(0, 90, size=1500)
    chance = np.select([age < 10, age < 30, age < 60], [0.8, 0.15, 0.55], 0.95)
    y = (random.uniform(size=1500) < chance).astype(int)
    panels = []
    for method, title in (("mdl", "method='mdl'"), ("quantile", "method='quantile'")):
        model = IntervalBuilder(method=method, n_intervals=4).fit(age[:, None], y)
        cuts = [{"cut": float(cut)} for cut in model.edges_[0][1:-1]]
        counted = [{"age": a, "class": "ab"[c]} for a, c in zip(age, y, strict=True)]
        panels.append(
            {
                "title": f"{title}: " + ", ".join(model.labels_[0]),
                "width": 300,
                "height": 160,
                "layer": [
                    {
                        "data": {"values": counted},
                        "mark": {"type": "bar", "binSpacing": 0},
                        "encoding": {
                            "x": {
                                "bin": {"step": 2},
                                "field": "age",
                                "type": "quantitative",
                                "title": "age",
                                "axis": {"values": list(range(0, 91, 10))},
                            },
                            "y": {
                                "aggregate": "count",
                                "stack": "normalize",
                                "title": "share",
                                "axis": {"format": "%"},
                            },
                            "color": colour("class", ["a", "b"], ["#c5d3e8", "#f0d3bb"]),
                        },
                    },
                    {
                        "data": {"values": cuts},
                        "mark": {"type": "rule", "color": "#222", "size": 2},
                        "encoding": {"x": {"field": "cut", "type": "quantitative"}},
                    },
                ],
            }
        )
    return {"hconcat": panels, "spacing": 30}


def sampling() -> dict[str, Any]:
    """Show a rare class before and after made rows."""
    random = np.random.default_rng(2)
    many = random.normal(size=(260, 2))
    few = random.normal(scale=0.45, size=(24, 2)) + np.array([2.0, 1.6])
    X, y = np.concatenate([many, few]), np.repeat(["many", "few"], [260, 24])
    rows, labels = SyntheticSampler(0.5, random_state=0).fit_resample(X, y)
    kinds = np.where(np.arange(len(rows)) < len(X), labels, "made")
    names, colours = ["many", "few", "made"], [GREY, BLUE, ORANGE]
    panels = []
    for title, count in (("as it came", len(X)), ("SyntheticSampler(0.5)", len(rows))):
        # Made rows first, so that they do not hide those they are made of.
        values = [
            {"x": round(a, 3), "y": round(b, 3), "row": kind}
            for (a, b), kind in reversed(list(zip(rows[:count], kinds[:count], strict=True)))
        ]
        panels.append(
            {
                "title": title,
                "width": 260,
                "height": 220,
                "data": {"values": values},
                "mark": {"type": "point", "filled": True, "size": 26, "opacity": 0.85},
                "encoding": {
                    "x": {"field": "x", "type": "quantitative", "title": None},
                    "y": {"field": "y", "type": "quantitative", "title": None},
                    "color": colour("row", names, colours),
                },
            }
        )
    return {"hconcat": panels, "spacing": 30}


def colour(field: str, names: list[str], colours: list[str]) -> dict[str, Any]:
    """Return a colour channel with one colour per name."""
    return {
        "field": field,
        "type": "nominal",
        "scale": {"domain": names, "range": colours},
        "legend": {"title": None},
    }


if __name__ == "__main__":
    main()
