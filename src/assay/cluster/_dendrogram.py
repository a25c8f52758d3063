"""Drawing the tree of an agglomerative clustering: text, SVG or Vega-Lite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NAME, _STEP, _SPAN, _EDGE = 170, 22, 520, 16


@dataclass(frozen=True)
class Tree:
    """The top of a tree, in an order in which no two branches cross.

    Parameters
    ----------
    leaves : list of str
        Names of the branches, numbered 0, 1, ...
    starts : list of float
        The distance at which each branch was merged itself; 0 for a single row.
    joins : list of tuple (upper, lower, distance)
        Numbers of the two branches, and their distance. Merge i makes branch ``len(leaves) + i``.
    """

    leaves: list[str]
    starts: list[float]
    joins: list[tuple[int, int, float]]

    def lines(self) -> Iterator[tuple[float, float, float, float, float]]:
        """Yield per merge: heights of both branches, their starts, and the merge's distance."""
        height = [float(at) for at in range(len(self.leaves))]
        start = list(self.starts)
        for upper, lower, distance in self.joins:
            yield height[upper], height[lower], start[upper], start[lower], distance
            height.append((height[upper] + height[lower]) / 2)
            start.append(distance)


def draw(
    linkage: NDArray[np.float64],
    form: str,
    labels: Sequence[str] | None,
    max_leaves: int,
    width: int,
) -> Any:
    """Return the picture of a tree.

    Parameters
    ----------
    linkage : ndarray of shape (n - 1, 4)
        The tree in SciPy's format.
    form : {'text', 'svg', 'vega'}
        The form of the picture.
    labels : sequence of str or None
        Names of the rows.
    max_leaves : int
        Maximum number of branches.
    width : int
        Number of characters for the distances.
    """
    tree = top(linkage, labels, max_leaves)
    if form == "vega":
        return vega(tree)
    return svg(tree) if form == "svg" else text(tree, width)


def top(linkage: NDArray[np.float64], labels: Sequence[str] | None, max_leaves: int) -> Tree:
    """Return the last merges of a tree."""
    n_rows = len(linkage) + 1
    first = n_rows + max(0, n_rows - max_leaves)  # the first node whose merge is drawn
    nodes = [(int(a), int(b)) for a, b in linkage[:, :2]]
    number: dict[int, int] = {}
    # Depth first without recursion: a chain of merges is as deep as the table is long.
    waiting = [2 * n_rows - 2]
    while waiting:
        node = waiting.pop()
        if node >= first:
            waiting += reversed(_upper_first(nodes[node - n_rows], linkage))
        else:
            number[node] = len(number)
    leaves = [_name(linkage, node, labels) for node in number]
    starts = [0.0 if node < n_rows else float(linkage[node - n_rows, 2]) for node in number]
    joins = []
    for node in range(first, 2 * n_rows - 1):
        upper, lower = _upper_first(nodes[node - n_rows], linkage)
        joins.append((number[upper], number[lower], float(linkage[node - n_rows, 2])))
        number[node] = len(number)
    return Tree(leaves, starts, joins)


def text(tree: Tree, width: int) -> str:
    """Return the tree in box-drawing characters, one line per leaf."""
    farthest = max(distance for *_, distance in tree.joins) or 1.0
    lines = [[" "] * (width + len(tree.leaves) + 2) for _ in tree.leaves]
    line = list(range(len(tree.leaves)))  # the line of each branch
    reach = [0] * len(tree.leaves)  # up to where it is drawn
    for upper, lower, distance in tree.joins:
        high, low = line[upper], line[lower]
        column = max(1 + round(width * distance / farthest), reach[high], reach[low])
        for at in (high, low):
            if reach[at]:
                lines[at][reach[at] - 1] = "┴"
            lines[at][reach[at] : column] = "─" * (column - reach[at])
        lines[high][column] = "┐"
        for at in range(high + 1, low):
            lines[at][column] = "│"
        lines[low][column] = "┘"
        reach[low] = column + 1
        line.append(low)
    name = max(map(len, tree.leaves))
    return "\n".join(
        f"{leaf:<{name}} {''.join(drawn).rstrip()}"
        for leaf, drawn in zip(tree.leaves, lines, strict=True)
    )


def svg(tree: Tree) -> str:
    """Return the tree as an SVG picture with an axis of distances."""
    farthest = max(distance for *_, distance in tree.joins) or 1.0
    height = _STEP * len(tree.leaves)

    def x(distance: float) -> str:
        return f"{_NAME + _SPAN * distance / farthest:.1f}"

    def y(place: float) -> str:
        return f"{_EDGE + _STEP * (place + 0.5):.1f}"

    names = [
        f'<text x="{_NAME - 8}" y="{y(at)}" text-anchor="end" dominant-baseline="middle">'
        f"{escape(name if len(name) <= 24 else name[:23] + '…')}</text>"
        for at, name in enumerate(tree.leaves)
    ]
    paths = [
        f'<path d="M{x(a)} {y(upper)}H{x(to)}V{y(lower)}H{x(b)}"/>'
        for upper, lower, a, b, to in tree.lines()
    ]
    ticks = [
        f'<text x="{x(at)}" y="{height + _EDGE + 18}" text-anchor="middle">{at:.3g}</text>'
        for at in (0.0, farthest / 2, farthest)
    ]
    size = (_NAME + _SPAN + 2 * _EDGE, height + _EDGE + 30)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" '
        f'width="{size[0]}" height="{size[1]}" role="img" aria-label="Tree of '
        f'{len(tree.leaves)} branches" font-family="system-ui, sans-serif" font-size="12" '
        'fill="currentColor">\n'
        f'<g fill="none" stroke="#2c5f8d" stroke-width="1.5">\n{chr(10).join(paths)}\n</g>\n'
        f"{chr(10).join([*names, *ticks])}\n</svg>\n"
    )


def vega(tree: Tree) -> dict[str, Any]:
    """Return the tree as a Vega-Lite specification with its data inside."""
    points = [
        {"join": at, "order": order, "distance": distance, "height": place}
        for at, (upper, lower, a, b, to) in enumerate(tree.lines())
        for order, (distance, place) in enumerate(
            ((a, upper), (to, upper), (to, lower), (b, lower))
        )
    ]
    names = [{"name": name, "height": at} for at, name in enumerate(tree.leaves)]
    y = {
        "field": "height",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [-0.5, len(names) - 0.5], "reverse": True, "nice": False},
    }
    distance = {"field": "distance", "type": "quantitative", "title": "Distance"}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": _SPAN,
        "height": _STEP * len(names),
        "layer": [
            {
                "data": {"values": points},
                "mark": {"type": "line", "color": "#2c5f8d", "strokeWidth": 1.5},
                "encoding": {
                    "x": distance,
                    "y": y,
                    "detail": {"field": "join"},
                    "order": {"field": "order"},
                },
            },
            {
                "data": {"values": names},
                "mark": {"type": "text", "align": "right", "dx": -8, "limit": _NAME},
                "encoding": {"x": {"datum": 0}, "y": y, "text": {"field": "name"}},
            },
        ],
    }


def _upper_first(pair: tuple[int, int], linkage: NDArray[np.float64]) -> tuple[int, int]:
    """Return two nodes in drawing order: the older one on top."""
    n_rows = len(linkage) + 1
    a, b = sorted(pair)
    # Rows last: a long chain then reads downwards from its first pair.
    return (b, a) if a < n_rows <= b else (a, b)


def _name(linkage: NDArray[np.float64], node: int, labels: Sequence[str] | None) -> str:
    n_rows = len(linkage) + 1
    if node >= n_rows:
        return f"({int(linkage[node - n_rows, 3]):,} rows)"
    return str(node) if labels is None else str(labels[node])
