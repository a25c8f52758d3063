"""Random numbers by position: the same whether a sequence is read at once or in parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def uniforms(seed: int, start: int, count: int) -> NDArray[np.float64]:
    """Return the numbers `start` to `start + count` of a stream, uniform in [0, 1).

    Parameters
    ----------
    seed : int
        Which stream.
    start : int
        Position of the first number.
    count : int
        Number of values.

    Returns
    -------
    ndarray of float64 of shape (count,)

    Notes
    -----
    SplitMix64 (Steele, Lea and Flood 2014), whose state is its position.

    Examples
    --------
    >>> bool((uniforms(7, 0, 5)[2:] == uniforms(7, 2, 3)).all())
    True
    """
    with np.errstate(over="ignore"):
        origin = _mixed(np.array([seed], dtype=np.uint64) + _GOLDEN)
        places = np.arange(start + 1, start + count + 1, dtype=np.uint64)
        bits = _mixed(origin + places * _GOLDEN)
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
