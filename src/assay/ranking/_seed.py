"""Random numbers: a seed from any random state, and priorities that follow the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from assay.base import ParameterError

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def draw_seed(random_state: Any) -> int:
    """Draw the one number below 2**31 that all random choices follow from."""
    try:
        source = check_random_state(random_state)
    except ValueError:
        raise ParameterError(
            f"random_state must be None, an integer in [0, 2**32) or a RandomState; "
            f"got {random_state!r}"
        ) from None
    return int(source.randint(np.iinfo(np.int32).max))


def seeded(estimator: Any, seed: int) -> Any:
    """Return an unfitted copy whose random states that are None have become numbers."""
    copy = clone(estimator)
    stream = np.random.default_rng(seed)
    for name, value in sorted(copy.get_params(deep=True).items(), key=lambda item: item[0]):
        if name == "random_state" or name.endswith("__random_state"):
            number = int(stream.integers(2**31 - 1))
            if value is None:
                copy.set_params(**{name: number})
    return copy


def row_priorities(rows: NDArray[Any], seed: int) -> NDArray[np.uint64]:
    """Return a random number for each row that depends on its values and the seed only.

    So the pivots of a sort, and with them the order, do not depend on the order of the rows.

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
