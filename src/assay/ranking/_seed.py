"""Random numbers: a seed from any random state, and priorities from the values of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def row_priorities(rows: NDArray[Any], seed: int) -> NDArray[np.uint64]:
    """Return a random number for each row that depends only on its values and the seed.

    Hence the pivots of a sort, and its result, do not depend on the order of the rows.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Finite numbers.
    seed : int
        Which stream.

    Returns
    -------
    ndarray of uint64 of shape (n,)
        Equal for equal rows.

    Notes
    -----
    SplitMix64's mixer (Steele, Lea and Flood 2014) on the bits of each number, column by column.
    """
    found = np.full(len(rows), seed, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in rows.T:
            bits = (column.astype(np.float64) + 0.0).view(np.uint64)  # + 0.0: one zero, not two
            found = _mixed((found ^ bits) + _GOLDEN)
    return found


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
