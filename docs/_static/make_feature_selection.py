"""Draw the picture of the page on feature selection: python make_feature_selection.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import vl_convert

from assay.features import ConsensusSelector

HERE = Path(__file__).resolve().parent
BLUE, ORANGE, LIGHT = "#3b6fb6", "#d9772b", "#e9ecf1"
CONFIG = {
    "background": "white",
    "font": "sans-serif",
    "aria": False,
    "view": {"stroke": None},
    "axis": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "grid": False},
    "legend": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"},
    "title": {"fontSize": 12, "fontWeight": "normal", "anchor": "start"},
}
WIDTH = 620


def main() -> None:
    """Write the picture beside this file."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 60))
    y = X[:, 3] + X[:, 7] + X[:, 30] * X[:, 31] > 0
    model = ConsensusSelector(n_outer=4, n_inner=3, random_state=0).fit(X, y)
    rows = [
        (
            "inner folds",
            [(f"{o + 1}.{i + 1}", model.inner_features_[o, i]) for o in range(4) for i in range(3)],
        ),
        ("outer folds", [(f"{o + 1}", model.outer_features_[o]) for o in range(4)]),
        ("consensus", [("all", model.support_)]),
    ]
    panels = [panel(title, named, last=title == "consensus") for title, named in rows]
    whole = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "config": CONFIG,
        "vconcat": panels,
        "spacing": 12,
    }
    svg = vl_convert.vegalite_to_svg(whole)
    (HERE / "feature_selection.svg").write_text(svg + "\n", encoding="utf-8")


def panel(title: str, named: list[tuple[str, Any]], *, last: bool) -> dict[str, Any]:
    """Show which columns each of some folds keeps."""
    cells = [
        {"fold": name, "column": j, "kept": "in the consensus" if last else "kept"}
        for name, kept in named
        for j in np.flatnonzero(kept).tolist()
    ]
    every = [{"fold": name, "column": j} for name, _ in named for j in range(60)]
    axis: dict[str, Any] = {"values": list(range(0, 60, 5)), "labelAngle": 0, "ticks": False}
    place = {
        "x": {
            "field": "column",
            "type": "ordinal",
            "scale": {"domain": list(range(60))},
            "title": "column" if last else None,
            "axis": axis if last else None,
        },
        "y": {
            "field": "fold",
            "type": "ordinal",
            "sort": [name for name, _ in named],
            "title": None,
            "axis": {"ticks": False, "domain": False},
        },
    }
    ink = ORANGE if last else BLUE
    return {
        "title": f"{title}: {int(sum(kept.sum() for _, kept in named) / len(named))} columns each"
        if not last
        else "consensus of all: " + ", ".join(f"x{j}" for j in np.flatnonzero(named[0][1])),
        "width": WIDTH,
        "height": {"step": 13},
        "layer": [
            {
                "data": {"values": every},
                "mark": {"type": "rect", "color": LIGHT, "stroke": "white"},
                "encoding": place,
            },
            {
                "data": {"values": cells},
                "mark": {"type": "rect", "color": ink, "stroke": "white"},
                "encoding": place,
            },
        ],
    }


if __name__ == "__main__":
    main()
