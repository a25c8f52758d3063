"""Format a multiway tree as indented text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray


def tree_text(
    child_start: NDArray[np.int32],
    question: Callable[[int], str],
    branches: Callable[[int], Sequence[str]],
    answer: Callable[[int], str],
) -> str:
    """Return the text of a tree whose nodes are in breadth-first order.

    Parameters
    ----------
    child_start : ndarray of shape (n_nodes + 1,)
        Children of node i are ``child_start[i] .. child_start[i + 1] - 1``.
    question, branches, answer : callable
        Text of the split of an inner node, of its branches, and of a leaf.

    Returns
    -------
    str
    """
    lines: list[str] = []
    todo: list[tuple[int, str, str]] = [(0, "", "")]
    while todo:
        node, head, indent = todo.pop()
        first, last = int(child_start[node]), int(child_start[node + 1])
        lines.append(head + (answer(node) if first == last else question(node)))
        names = branches(node) if first < last else ()
        for child in range(last - 1, first - 1, -1):
            stem, below = ("└── ", "    ") if child == last - 1 else ("├── ", "│   ")
            todo.append((child, f"{indent}{stem}{names[child - first]}: ", indent + below))
    return "\n".join(lines)
