"""Export a fitted tree as text or as a Graphviz graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.base import check_interval
from assay.tree._format import DisplayNames, format_number
from assay.tree._tree_view import TreeView


def export_text(
    model: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int | None = 10,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """Return a fitted tree as indented text.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    feature_names, class_names : sequence of str, optional
        Names to show for the columns and the classes.
    max_depth : int >= 0 or None, default=10
        Depth of the last split that is shown; deeper branches are summarised in one line.
    decimals : int >= 0, default=2
        Number of decimals.
    show_weights : bool, default=False
        Whether to show the weight of each class (regression: of the rows) in each leaf.

    Returns
    -------
    str
        One line for each branch and each leaf.

    Examples
    --------
    >>> from assay.tree import DecisionTreeClassifier, export_text
    >>> tree = DecisionTreeClassifier().fit([[0], [1], [2], [3]], ["a", "a", "b", "b"])
    >>> print(export_text(tree, feature_names=["size"]), end="")
    |--- size <= 1.50
    |   |--- class: a
    |--- size > 1.50
    |   |--- class: b
    """
    check_interval("max_depth", max_depth, 0, integer=True, options=[None])
    check_interval("decimals", decimals, 0, integer=True)
    display = DisplayNames.of(model, feature_names, class_names)
    tree: TreeView = model.tree_
    lines: list[str] = []
    ahead: list[tuple[int, int, str]] = [(0, 0, "")]
    while ahead:
        node, depth, reached_by = ahead.pop()
        if reached_by:
            lines.append(f"{'|   ' * (depth - 1)}|--- {reached_by}")
        indent = f"{'|   ' * depth}|--- "
        if tree.is_leaf[node]:
            lines.append(indent + _leaf_text(tree, node, display, decimals, show_weights))
        elif max_depth is not None and depth > max_depth:
            lines.append(f"{indent}truncated branch of depth {_depth_below(tree, node)}")
        else:
            left, right = display.conditions(tree, node, decimals)
            child = int(tree.left[node])
            ahead += [(child + 1, depth + 1, right), (child, depth + 1, left)]
    return "\n".join(lines) + "\n"


def export_graphviz(
    model: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int | None = None,
    decimals: int = 3,
    filled: bool = True,
    rotate: bool = False,
) -> str:
    """Return a fitted tree in the DOT language of Graphviz, which need not be installed.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    feature_names, class_names : sequence of str, optional
        Names to show for the columns and the classes.
    max_depth : int >= 0 or None, default=None
        Maximum depth that is drawn; None = all.
    decimals : int >= 0, default=3
        Number of decimals.
    filled : bool, default=True
        Whether to colour nodes: by class and purity, or by value.
    rotate : bool, default=False
        Whether to draw the root on the left instead of at the top.

    Returns
    -------
    str
        For ``dot -Tsvg``, or for any viewer of DOT files.

    Examples
    --------
    >>> from assay.tree import DecisionTreeClassifier, export_graphviz
    >>> tree = DecisionTreeClassifier().fit([[0], [1]], ["a", "b"])
    >>> export_graphviz(tree).splitlines()[0]
    'digraph Tree {'
    """
    check_interval("max_depth", max_depth, 0, integer=True, options=[None])
    check_interval("decimals", decimals, 0, integer=True)
    display = DisplayNames.of(model, feature_names, class_names)
    tree: TreeView = model.tree_
    lines = ["digraph Tree {", 'node [shape=box, style="filled, rounded", fontname="helvetica"] ;']
    lines.append('edge [fontname="helvetica"] ;')
    if rotate:
        lines.append("rankdir=LR ;")
    colours = node_colours(tree) if filled else ["#ffffff"] * tree.node_count
    for depth, level in enumerate(tree.levels):
        for node in level.tolist():
            if max_depth is None or depth <= max_depth:
                text = "\\n".join(map(_quoted, node_lines(tree, node, display, decimals)))
                lines.append(f'{node} [label="{text}", fillcolor="{colours[node]}"] ;')
            elif depth == max_depth + 1:
                lines.append(f'{node} [label="(...)", fillcolor="#c0c0c0"] ;')
            if depth > 0 and (max_depth is None or depth <= max_depth + 1):
                lines.append(_edge(tree, node, depth))
    return "\n".join([*lines, "}"]) + "\n"


def node_lines(tree: TreeView, node: int, display: DisplayNames, decimals: int) -> list[str]:
    """Return the lines of a node: condition, prediction, number of rows."""
    lines = []
    if not tree.is_leaf[node]:
        lines.append(display.conditions(tree, node, decimals)[0])
    if display.classes is None:
        lines.append(f"value {display.prediction(tree, node, decimals)}")
    else:
        share = 100 * tree.answer[node].max()
        lines.append(f"{display.prediction(tree, node)}: {share:.0f} %")
    count = int(tree.n_node_samples[node])
    lines.append(f"{count} row{'s' if count != 1 else ''}")
    return lines


def node_colours(tree: TreeView) -> list[str]:
    """Return a colour for each node: hue by class and depth by purity, or depth by value."""
    if tree.classes:
        largest = tree.answer.argmax(axis=1)
        base = 1 / tree.classes
        strength = (tree.answer.max(axis=1) - base) / (1 - base) if tree.classes > 1 else None
    else:
        largest = np.zeros(tree.node_count, dtype=np.int64)
        value = tree.answer.mean(axis=1)
        spread = value.max() - value.min()
        strength = (value - value.min()) / spread if spread > 0 else None
    if strength is None:
        strength = np.full(tree.node_count, 0.5)
    palette = np.array([PALETTE[k % len(PALETTE)] for k in range(max(tree.classes, 1))])
    mixed = 255 - (0.1 + 0.75 * strength)[:, None] * (255 - palette[largest])
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in mixed.round().astype(int).tolist()]


#: Colours that colour-blind readers can distinguish (Okabe and Ito).
PALETTE = [
    (230, 159, 0),
    (86, 180, 233),
    (0, 158, 115),
    (204, 121, 167),
    (0, 114, 178),
    (213, 94, 0),
    (240, 228, 66),
    (150, 150, 150),
]


def _leaf_text(
    tree: TreeView, node: int, display: DisplayNames, decimals: int, show_weights: bool
) -> str:
    weight = float(tree.weighted_n_node_samples[node])
    if display.classes is None:
        values = ", ".join(format_number(float(value), decimals) for value in tree.answer[node])
        tail = f" (weight {format_number(weight, decimals)})" if show_weights else ""
        return f"value: [{values}]{tail}"
    shares = ", ".join(
        format_number(weight * float(share), decimals) for share in tree.answer[node]
    )
    start = f"weights: [{shares}] " if show_weights else ""
    return f"{start}class: {display.prediction(tree, node)}"


def _depth_below(tree: TreeView, node: int) -> int:
    depth, nodes = 1, [node]
    while nodes := [c for n in nodes if tree.left[n] for c in (tree.left[n], tree.left[n] + 1)]:
        depth += 1
    return depth


def _edge(tree: TreeView, node: int, depth: int) -> str:
    above = int(tree.parent[node])
    label = ""
    if depth == 1:  # only the first two edges are labelled, as usual
        is_left = node == tree.left[above]
        label = ' [label="yes"]' if is_left else ' [label="no"]'
    return f"{above} -> {node}{label} ;"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
