"""Export a fitted tree as a Vega-Lite chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import check_interval
from assay.tree._export import node_colours, node_lines
from assay.tree._format import DisplayNames
from assay.tree._tree_view import TreeView

#: Size of a box and of the gaps around it, in pixels.
_WIDTH, _HEIGHT, _GAP, _DROP = 150, 54, 12, 44


def export_vega(
    model: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int | None = 4,
    decimals: int = 2,
) -> dict[str, Any]:
    """Return a drawing of a fitted tree as a Vega-Lite specification.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    feature_names, class_names : sequence of str, optional
        Names to show for the columns and the classes.
    max_depth : int >= 0 or None, default=4
        Maximum depth that is drawn; a dashed frame marks a node with hidden children.
    decimals : int >= 0, default=2
        Number of decimals.

    Returns
    -------
    dict
        A specification of plain values: save it with ``json.dumps``, or draw it with vl-convert or
        Altair. The left branch of a box is where its condition is true.

    Examples
    --------
    >>> from assay.tree import DecisionTreeClassifier, export_vega
    >>> tree = DecisionTreeClassifier().fit([[0], [1]], ["a", "b"])
    >>> [node["line1"] for node in export_vega(tree)["datasets"]["nodes"]]
    ['x0 <= 0.50', 'a: 100 %', 'b: 100 %']
    """
    check_interval("max_depth", max_depth, 0, integer=True, options=[None])
    check_interval("decimals", decimals, 0, integer=True)
    display = DisplayNames.of(model, feature_names, class_names)
    tree: TreeView = model.tree_
    drawn = tree if max_depth is None else tree.cut_at(max_depth)
    middle, depth = _places(drawn)
    height = (len(drawn.levels) - 1) * (_HEIGHT + _DROP) + _HEIGHT
    width = drawn_leaves(drawn) * (_WIDTH + _GAP)
    nodes = _nodes(tree, drawn, display, decimals, middle, depth)
    edges = [
        {
            "x": float(middle[above]),
            "y": float(depth[above] * (_HEIGHT + _DROP) + _HEIGHT),
            "x2": float(middle[node]),
            "y2": float(depth[node] * (_HEIGHT + _DROP)),
            "answer": "yes" if node == drawn.left[above] else "no",
        }
        for level in drawn.levels[1:]
        for node, above in zip(level.tolist(), drawn.parent[level].tolist(), strict=True)
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "description": f"A decision tree with {tree.node_count} nodes.",
        "width": width,
        "height": height,
        "background": "white",
        "config": {"view": {"stroke": None}},
        "datasets": {"nodes": nodes, "edges": edges},
        "layer": _layers(width, height),
    }


def drawn_leaves(tree: TreeView) -> int:
    """Return the number of reachable leaves of a tree cut at a depth."""
    return int(sum(int((tree.left[level] == 0).sum()) for level in tree.levels))


def _layers(width: int, height: int) -> list[dict[str, Any]]:
    def at(name: str, size: int) -> dict[str, Any]:
        return {"field": name, "type": "quantitative", "axis": None, "scale": _scale(name, size)}

    x, y = at("x", width), at("y", height)
    line = {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    fill = {"field": "colour", "type": "nominal", "scale": None}
    layers: list[dict[str, Any]] = [
        {
            "data": {"name": "edges"},
            "mark": {"type": "rule", "color": "#888888"},
            "encoding": line,
        },
    ]
    for halo in ({"stroke": "white", "strokeWidth": 5}, {}):  # white outline
        layers.append(
            {
                "data": {"name": "edges"},
                "transform": [
                    {"calculate": "0.5 * datum.x + 0.5 * datum.x2", "as": "x"},
                    {"calculate": "0.5 * datum.y + 0.5 * datum.y2", "as": "y"},
                ],
                "mark": {"type": "text", "fontSize": 10, "color": "#555555", **halo},
                "encoding": {"x": x, "y": y, "text": {"field": "answer", "type": "nominal"}},
            }
        )
    for goes_on, dash in ((False, [1, 0]), (True, [5, 3])):
        layers.append(
            {
                "data": {"name": "nodes"},
                "transform": [{"filter": f"datum.goes_on === {str(goes_on).lower()}"}],
                "mark": {
                    "type": "rect",
                    "cornerRadius": 5,
                    "stroke": "#444444",
                    "strokeDash": dash,
                },
                "encoding": {
                    **line,
                    "fill": fill,
                    "tooltip": {"field": "full", "type": "nominal"},
                },
            }
        )
    for row in (1, 2, 3):
        layers.append(
            {
                "data": {"name": "nodes"},
                "transform": [{"calculate": "0.5 * datum.x + 0.5 * datum.x2", "as": "x"}],
                "mark": {
                    "type": "text",
                    "dy": 14 * row - 2,
                    "fontSize": 11,
                    "fontWeight": "bold" if row == 1 else "normal",
                    "limit": _WIDTH - 8,
                },
                "encoding": {"x": x, "y": y, "text": {"field": f"line{row}", "type": "nominal"}},
            }
        )
    return layers


def _scale(name: str, size: int) -> dict[str, Any]:
    # One unit of data is one pixel; y grows downwards.
    return {"domain": [0, size], "nice": False, "zero": False, "reverse": name == "y"}


def _nodes(
    tree: TreeView,
    drawn: TreeView,
    display: DisplayNames,
    decimals: int,
    middle: NDArray[np.float64],
    depth: NDArray[np.int64],
) -> list[dict[str, Any]]:
    colours = node_colours(tree)
    found = []
    for node in np.concatenate(drawn.levels).tolist():
        lines = node_lines(tree, node, display, decimals)
        top = float(depth[node] * (_HEIGHT + _DROP))
        found.append(
            {
                "x": float(middle[node]) - _WIDTH / 2,
                "x2": float(middle[node]) + _WIDTH / 2,
                "y": top,
                "y2": top + (_HEIGHT if len(lines) == 3 else _HEIGHT - 14),
                "colour": colours[node],
                "goes_on": bool(drawn.left[node] == 0 and tree.left[node] > 0),
                "full": "; ".join(lines),
                **{f"line{k + 1}": text for k, text in enumerate([*lines, "", ""][:3])},
            }
        )
    return found


def _places(tree: TreeView) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the centre and depth of each box; parents are centred above their children."""
    middle = np.zeros(tree.node_count)
    ahead, n_leaves = [0], 0
    while ahead:
        node = ahead.pop()
        left = int(tree.left[node])
        if left:
            ahead += [left + 1, left]
        else:
            middle[node] = (n_leaves + 0.5) * (_WIDTH + _GAP)
            n_leaves += 1
    for level in reversed(tree.levels):
        nodes = level[tree.left[level] > 0]
        middle[nodes] = (middle[tree.left[nodes]] + middle[tree.left[nodes] + 1]) / 2
    return middle, tree.compute_node_depths()
