"""Neighbourhoods: how large they are in many dimensions, and how a kernel weighs them."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray


def neighbourhood_edge(n_dimensions: int, n_neighbors: int = 5, n_points: int = 5000) -> float:
    r"""Return the edge of a cube that is expected to hold the nearest neighbours.

    Parameters
    ----------
    n_dimensions : int >= 1
        Number D of dimensions.
    n_neighbors : int >= 1, default=5
        Number k of neighbours.
    n_points : int >= 1, default=5000
        Number N of points, uniform in the unit cube; at least k.

    Returns
    -------
    float
        As a share of the edge of the whole cube.

    Notes
    -----
    .. math:: \ell = \left( \frac{k}{N} \right)^{1 / D}

    The curse of dimensionality: in 10 dimensions the 5 nearest of 5000 points fill a cube half as
    wide as the whole, so they are not near any more.

    Examples
    --------
    >>> [round(neighbourhood_edge(d), 3) for d in (1, 2, 3, 10)]
    [0.001, 0.032, 0.1, 0.501]
    """
    for name, value in (
        ("n_dimensions", n_dimensions),
        ("n_neighbors", n_neighbors),
        ("n_points", n_points),
    ):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be an integer >= 1; got {value!r}")
    if n_neighbors > n_points:
        raise ValueError(f"n_neighbors must be at most n_points ({n_points}); got {n_neighbors!r}")
    return float((n_neighbors / n_points) ** (1 / n_dimensions))


def quadratic_kernel(distance: ArrayLike, width: float = 10.0) -> NDArray[np.float64]:
    r"""Return the weight of a point at some distance in locally weighted regression.

    Parameters
    ----------
    distance : array-like
        Distances d; the sign does not matter.
    width : float > 0, default=10.0
        Width w: points at a distance of w / 2 or more have weight 0.

    Returns
    -------
    ndarray of float64
        In [0, 1], of the shape of `distance`.

    Notes
    -----
    .. math:: K(d) = \max\left( 0, 1 - \left( \frac{2 |d|}{w} \right)^2 \right)

    Examples
    --------
    >>> quadratic_kernel([0.0, 2.5, 4.0, 5.0, 7.0]).round(2).tolist()
    [1.0, 0.75, 0.36, 0.0, 0.0]
    """
    if not isinstance(width, Real) or isinstance(width, bool) or not 0 < width < np.inf:
        raise ValueError(f"width must be a finite number > 0; got {width!r}")
    far = np.asarray(distance, dtype=np.float64)
    if np.isnan(far).any():
        raise ValueError("distance must hold numbers; got NaN")
    # Beyond half the width the value is 0 anyway; cut there first, and nothing can overflow.
    share = np.minimum(np.abs(far), width / 2) / (width / 2)
    return np.asarray(1.0 - share * share)
