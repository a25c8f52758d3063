"""The share of a table that a bootstrap sample contains."""

from __future__ import annotations

import math
from numbers import Integral


def bootstrap_share(n_samples: int | None = None) -> float:
    r"""Return the expected share of the rows that a bootstrap sample contains.

    Parameters
    ----------
    n_samples : int >= 1 or None, default=None
        Number N of rows, and of draws with replacement. None: the limit of large N.

    Returns
    -------
    float

    Notes
    -----
    .. math:: 1 - \left(1 - \frac{1}{N}\right)^N \to 1 - e^{-1} \approx 0.6321

    Examples
    --------
    >>> round(bootstrap_share(10), 4), round(bootstrap_share(), 4)
    (0.6513, 0.6321)
    """
    if n_samples is None:
        return -math.expm1(-1.0)
    if not isinstance(n_samples, Integral) or isinstance(n_samples, bool) or n_samples < 1:
        raise ValueError(f"n_samples must be an integer >= 1 or None; got {n_samples!r}")
    if n_samples == 1:
        return 1.0
    return -math.expm1(n_samples * math.log1p(-1 / n_samples))
