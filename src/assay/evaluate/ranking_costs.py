r"""Costs of putting two items in the wrong order, by their true positions (1 = best).

A cost :math:`\omega` must be symmetric, grow with the distance and obey the triangle inequality:
then sorting with a learned preference loses at most twice what that preference loses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import ParameterError, check_interval, check_option

__all__ = [
    "Cost",
    "check_omega",
    "cost_of",
    "costs_of_pairs",
    "discount",
    "distance",
    "misordered",
    "top_k",
]

#: (positions, positions) -> costs
Cost = Callable[[Any, Any], Any]
Floats = NDArray[np.float64]

#: A function is checked on this many positions: the triangle inequality needs all triples.
CHECKED = 100


def misordered(i: Any, j: Any) -> Floats:
    r"""Return 1 for every pair: :math:`\omega(i, j) = [i \ne j]`."""
    cost: Floats = np.not_equal(i, j).astype(np.float64)
    return cost


def distance(i: Any, j: Any) -> Floats:
    r"""Return the distance in the ranking: :math:`\omega(i, j) = |i - j|`."""
    gap: Floats = np.abs(np.subtract(i, j, dtype=np.float64))
    return gap


def discount(i: Any, j: Any) -> Floats:
    r"""Return the change of the DCG of unit gains by a swap.

    .. math:: \omega(i, j) = |1 / \log_2(1 + i) - 1 / \log_2(1 + j)|
    """
    gap: Floats = np.abs(1 / np.log2(np.add(1.0, i)) - 1 / np.log2(np.add(1.0, j)))
    return gap


def top_k(i: Any, j: Any, *, k: int = 10) -> Floats:
    r"""Return 1 for pairs with an item of the first k.

    .. math:: \omega(i, j) = [\min(i, j) \le k \wedge i \ne j]
    """
    cost: Floats = misordered(i, j) * (np.minimum(i, j) <= k)
    return cost


OMEGAS: dict[str, Cost] = {
    "misordered": misordered,
    "distance": distance,
    "discount": discount,
    "top_k": top_k,
}


def cost_of(omega: str | Cost, k: int = 10, *, name: str = "omega") -> Cost:
    """Return the cost function of a name; a function is returned unchanged.

    Parameters
    ----------
    omega : {'misordered', 'distance', 'discount', 'top_k'} or callable
        Name of the cost, or a function.
    k : int, default=10
        Number of top positions for 'top_k'.
    name : str, default='omega'
        Name of the parameter, for messages.

    Returns
    -------
    callable
        ``cost(i, j)`` of two integer arrays of positions gives their costs.

    Examples
    --------
    >>> cost_of("top_k", 2)([1, 2, 3], [3, 2, 4]).tolist()
    [1.0, 0.0, 0.0]
    """
    if not callable(omega):
        check_option(name, omega, OMEGAS)
    check_interval("k", k, 1, integer=True)
    if omega == "top_k":
        return partial(top_k, k=k)
    return OMEGAS[omega] if isinstance(omega, str) else omega


def costs_of_pairs(cost: Cost, i: NDArray[np.int64], j: NDArray[np.int64]) -> Floats:
    """Return the costs of pairs of positions; a function of single numbers is called one by one."""
    try:
        found = np.asarray(cost(i, j), dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != i.shape:
        try:
            pairs = zip(i.tolist(), j.tolist(), strict=True)
            found = np.array([float(cost(a, b)) for a, b in pairs], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"omega must return a number for two positions; got {cost!r}, which fails: {error}"
            ) from None
    wrong = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if wrong.size:
        at = wrong[0]
        raise ParameterError(
            f"omega must return numbers >= 0; got omega({i[at]}, {j[at]}) = {found[at]:g}"
        )
    return found


def check_omega(omega: str | Cost, n_positions: int, *, k: int = 10) -> None:
    r"""Raise if a cost is not symmetric, not monotone or breaks the triangle inequality.

    Parameters
    ----------
    omega : {'misordered', 'distance', 'discount', 'top_k'} or callable
        The cost: a function of two positions, 1 = best.
    n_positions : int
        Positions 1..n_positions are checked, at most the first 100.
    k : int, default=10
        Number of top positions for 'top_k'.

    Raises
    ------
    ParameterError
        Naming the positions that break a rule.

    Notes
    -----
    For all positions: :math:`\omega(i, j) = \omega(j, i) \ge 0`, :math:`\omega(i, i) = 0`;
    :math:`\omega(i, j) \le \omega(i, k)` if j is between i and k;
    :math:`\omega(i, k) \le \omega(i, j) + \omega(j, k)`.

    Examples
    --------
    >>> check_omega(lambda i, j: (i - j) ** 2, 10)
    Traceback (most recent call last):
    assay.base.ParameterError: omega breaks the triangle inequality at positions 1, 2, 3:
    omega(1, 3) = 4 > omega(1, 2) + omega(2, 3) = 2
    """
    check_interval("n_positions", n_positions, 1, integer=True)
    n = min(n_positions, CHECKED)
    i, j = (index.ravel() + 1 for index in np.indices((n, n)))
    table = costs_of_pairs(cost_of(omega, k), i, j).reshape(n, n)
    slack = 1e-12 * max(1.0, float(table.max()))
    _check_pairs(table, slack)
    _check_monotone(table, slack)
    _check_triangle(table, slack)


def _check_pairs(table: Floats, slack: float) -> None:
    nonzero = np.flatnonzero(np.diag(table) > slack)
    if nonzero.size:
        i = int(nonzero[0])
        raise ParameterError(f"omega must be 0 for equal positions; got {_shown(table, i, i)}")
    uneven = np.argwhere(np.abs(table - table.T) > slack)
    if len(uneven):
        i, j = uneven[0]
        raise ParameterError(
            f"omega is not symmetric at positions {i + 1}, {j + 1}: "
            f"{_shown(table, i, j)}, but {_shown(table, j, i)}"
        )


def _check_monotone(table: Floats, slack: float) -> None:
    # Single steps away from the diagonal suffice: a longer fall includes a fall in one step.
    falls = np.argwhere(np.triu(table[:, :-1] - table[:, 1:] > slack))
    if len(falls):
        i, j = falls[0]
        _refuse_fall(table, i, j, j + 1)
    falls = np.argwhere(np.tril(table[:, 1:] - table[:, :-1] > slack, k=-1))
    if len(falls):
        i, k = falls[0]
        _refuse_fall(table, i, k + 1, k)


def _refuse_fall(table: Floats, i: int, j: int, k: int) -> None:
    raise ParameterError(
        f"omega is not monotone at positions {i + 1}, {j + 1}, {k + 1}: "
        f"{_shown(table, i, j)} > {_shown(table, i, k)}, though {j + 1} lies between the others"
    )


def _check_triangle(table: Floats, slack: float) -> None:
    for i, row in enumerate(table):
        broken = np.argwhere(row[None, :] > row[:, None] + table + slack)
        if len(broken):
            j, k = broken[0]
            raise ParameterError(
                f"omega breaks the triangle inequality at positions {i + 1}, {j + 1}, {k + 1}: "
                f"{_shown(table, i, k)} > omega({i + 1}, {j + 1}) + omega({j + 1}, {k + 1}) = "
                f"{table[i, j] + table[j, k]:g}"
            )


def _shown(table: Floats, i: int, j: int) -> str:
    return f"omega({i + 1}, {j + 1}) = {table[i, j]:g}"
