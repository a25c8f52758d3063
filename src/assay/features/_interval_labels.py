"""Intervals as people write them: 10-30, <10, >=60."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def interval_labels(edges: NDArray[np.float64], closed: str) -> list[str]:
    """Return one label per interval.

    Parameters
    ----------
    edges : ndarray of float64
        Ascending boundaries; the outer ones may be infinite.
    closed : {'left', 'right'}
        Which boundary belongs to an interval.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import numpy as np
    >>> interval_labels(np.array([0, 10, 30, np.inf]), "right")
    ['0-10', '10-30', '>30']
    >>> interval_labels(np.array([-np.inf, -2.5, np.inf]), "left")
    ['<-2.5', '>=-2.5']
    """
    texts = _texts(edges)
    below, above = ("<", ">=") if closed == "left" else ("<=", ">")
    labels = []
    for at in range(len(edges) - 1):
        open_low, open_high = math.isinf(edges[at]), math.isinf(edges[at + 1])
        if open_low and open_high:
            labels.append("all")
        elif open_low:
            labels.append(below + texts[at + 1])
        elif open_high:
            labels.append(above + texts[at])
        else:
            # A minus sign next to the dash would be hard to read.
            dash = " to " if texts[at].startswith("-") or texts[at + 1].startswith("-") else "-"
            labels.append(texts[at] + dash + texts[at + 1])
    return labels


def _texts(edges: NDArray[np.float64]) -> list[str]:
    """Return the boundaries with as few digits as distinguish them, at least four."""
    for digits in range(4, 18):
        texts = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(texts)) == len(texts):
            return texts
    return texts
