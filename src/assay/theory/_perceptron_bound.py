"""The bound on the mistakes of a perceptron."""

from __future__ import annotations

import math
from numbers import Real


def perceptron_mistake_bound(radius: float, margin: float) -> float:
    r"""Return the largest number of mistakes a perceptron makes on separable rows.

    Parameters
    ----------
    radius : float >= 0
        R: largest distance of a row from the origin (with the constant 1 as a further coordinate
        if there is an intercept).
    margin : float > 0
        :math:`\gamma`: some hyperplane through the origin has every row on its right side, at
        least this far away.

    Returns
    -------
    float
        For any order of the rows and any number of passes; infinity if it overflows.

    Notes
    -----
    Novikoff (1962): with :math:`\|x_i\| \le R` and :math:`y_i (u \cdot x_i) \ge \gamma` for a
    unit vector u,

    .. math:: \text{mistakes} \le \frac{R^2}{\gamma^2}

    Examples
    --------
    >>> perceptron_mistake_bound(2.0, 0.5)
    16.0
    """
    if not isinstance(radius, Real) or isinstance(radius, bool) or not 0 <= radius < math.inf:
        raise ValueError(f"radius must be a finite number >= 0; got {radius!r}")
    if not isinstance(margin, Real) or isinstance(margin, bool) or not 0 < margin < math.inf:
        raise ValueError(
            f"margin must be a finite number > 0 (rows that cannot be separated have no bound); "
            f"got {margin!r}"
        )
    ratio = float(radius) / float(margin)
    return ratio * ratio
