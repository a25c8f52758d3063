"""Sizes of hypothesis spaces: Boolean functions and decision lists."""

from __future__ import annotations

import math
from numbers import Integral

# 2**n binary digits: at 30 the number alone fills 128 MB.
_MOST_ATTRIBUTES = 30


def hypothesis_space_size(n_attributes: int) -> int:
    r"""Return the number of Boolean functions of some Boolean attributes.

    Parameters
    ----------
    n_attributes : int in [0, 30]
        Number n of attributes.

    Returns
    -------
    int
        The exact number.

    Notes
    -----
    A truth table has :math:`2^n` lines, and each may end in yes or in no:

    .. math:: |H| = 2^{2^n}

    A decision tree can express all of them, which is why trees need pruning.

    Examples
    --------
    >>> hypothesis_space_size(2), hypothesis_space_size(6)
    (16, 18446744073709551616)
    """
    if not _is_count(n_attributes, 0) or n_attributes > _MOST_ATTRIBUTES:
        raise ValueError(
            f"n_attributes must be an integer in [0, {_MOST_ATTRIBUTES}]; got {n_attributes!r}"
        )
    return 1 << (1 << int(n_attributes))


def count_conjunctions(n_attributes: int, max_literals: int) -> int:
    r"""Return the number of tests of a decision list: conjunctions of at most k literals.

    Parameters
    ----------
    n_attributes : int >= 1
        Number n of attributes; each gives two literals.
    max_literals : int >= 0
        Largest number k of literals in a test.

    Returns
    -------
    int

    Notes
    -----
    .. math:: |\mathrm{Conj}(n, k)| = \sum_{i = 0}^{k} \binom{2n}{i} = O(n^k)

    As in AIMA, contradictory conjunctions are counted too.

    Examples
    --------
    >>> count_conjunctions(10, 2)
    211
    """
    _check_list(n_attributes, max_literals)
    literals = 2 * int(n_attributes)
    return sum(math.comb(literals, i) for i in range(min(int(max_literals), literals) + 1))


def log_decision_lists(n_attributes: int, max_literals: int) -> float:
    r"""Return the natural logarithm of a bound on the number of decision lists.

    Parameters
    ----------
    n_attributes : int >= 1
        Number n of attributes.
    max_literals : int >= 0
        Largest number k of literals in a test.

    Returns
    -------
    float
        For the argument `log_hypotheses` of `pac_sample_size`.

    Notes
    -----
    Each of the :math:`c = |\mathrm{Conj}(n, k)|` tests leads to yes, to no or is absent, and those
    present come in some order:

    .. math:: |k\text{-DL}(n)| \le 3^c \, c!, \qquad
              \ln |k\text{-DL}(n)| = O(n^k \log n^k)

    Examples
    --------
    >>> round(log_decision_lists(10, 1), 1)
    68.5
    """
    tests = count_conjunctions(n_attributes, max_literals)
    return tests * math.log(3.0) + math.lgamma(tests + 1)


def _check_list(n_attributes: int, max_literals: int) -> None:
    if not _is_count(n_attributes, 1):
        raise ValueError(f"n_attributes must be an integer >= 1; got {n_attributes!r}")
    if not _is_count(max_literals, 0):
        raise ValueError(f"max_literals must be an integer >= 0; got {max_literals!r}")


def _is_count(value: object, low: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low
