"""Losses by name and their numbers in the core."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay._core import linear as kernels

#: Position in the core's list (core/include/assay/linear/descent_problem.hpp, AnyLoss).
LOSSES: Final = {
    "squared": 0,
    "absolute": 1,
    "huber": 2,
    "hinge": 3,
    "squared_hinge": 4,
    "exponential": 5,
    "logistic": 6,
    "squared_logistic": 7,
}

#: Losses of the residual y - f, for regression as well as for labels -1 and +1.
REGRESSION_LOSSES: Final = ("squared", "absolute", "huber")
#: Non-smooth losses, whose gradient jumps.
KINKED_LOSSES: Final = ("absolute", "hinge")
#: Losses whose score is the log-odds of the positive class.
PROBABILITY_LOSSES: Final = ("logistic", "squared_logistic")

#: Largest second derivative; 1 if it is unbounded. Sets the size of a step.
CURVATURES: Final = {
    "squared": 1.0,
    "absolute": 1.0,
    "huber": 1.0,
    "hinge": 1.0,
    "squared_hinge": 2.0,
    "exponential": 1.0,
    "logistic": 0.25,
    "squared_logistic": 0.0771,
}


def loss_terms(
    loss: str, y: NDArray[np.float64], score: NDArray[np.float64], delta: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return value, first and second derivative of a loss at each score.

    Parameters
    ----------
    loss : str
        Name of the loss.
    y : ndarray of float64 of shape (n,)
        Targets: -1 and +1, or any numbers for a loss of the residual.
    score : ndarray of float64 of shape (n,)
        Scores f = x.w + b.
    delta : float, default=1.0
        Residual beyond which the Huber loss is linear.

    Returns
    -------
    tuple of three ndarrays of float64 of shape (n,)

    Examples
    --------
    >>> value, slope, bend = loss_terms("logistic", np.array([1.0]), np.array([0.0]))
    >>> value.round(4).tolist(), slope.tolist(), bend.tolist()
    ([0.6931], [-0.5], [0.25])
    """
    y = np.ascontiguousarray(y, dtype=np.float64)
    score = np.ascontiguousarray(score, dtype=np.float64)
    value, slope, bend = (np.empty_like(score) for _ in range(3))
    kernels.loss_terms(LOSSES[loss], delta, y, score, value, slope, bend)
    return value, slope, bend
