"""Losses of gradient boosting: the number in the kernel, the start, the link, the valid targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from assay.base import DataError

Real = NDArray[np.float64]
#: Smallest class share used for the start; a share of 0 or 1 has no logit.
_LEAST_SHARE = np.finfo(np.float64).eps


@dataclass(frozen=True)
class BoostLoss:
    """The Python side of one loss.

    Parameters
    ----------
    number : int
        ``Loss`` of core/include/assay/tree/boost_loss.hpp.
    start : callable
        (target, weight or None, parameter) -> the best constant score.
    answer : callable
        Score -> prediction (the inverse link).
    lowest, open_low : float, bool
        Smallest target, and whether it is excluded itself.
    """

    number: int
    start: Callable[[Real, Real | None, float], float]
    answer: Callable[[Real], Real] = lambda score: score
    lowest: float = -np.inf
    open_low: bool = False

    def check_target(self, name: str, target: Real) -> None:
        """Raise if the loss is undefined for a target."""
        bad = target <= self.lowest if self.open_low else target < self.lowest
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            allowed = "positive" if self.open_low else "not negative"
            raise DataError(
                f"y must be {allowed} for loss={name!r}; got {target[row]:g} in row {row}"
            )
        if np.isfinite(self.lowest) and not target.any():
            raise DataError(f"y is zero in every row: loss={name!r} has no finite score for it")


def weighted_quantile(values: Real, weight: Real | None, q: float) -> float:
    """Return the weighted q-quantile; half way between two values where q falls between them."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    mass = np.arange(1.0, len(values) + 1) if weight is None else np.cumsum(weight[order])
    wanted = q * mass[-1]
    near = 1e-9 * mass[-1]
    at = min(int(np.searchsorted(mass, wanted - near)), len(values) - 1)
    if abs(mass[at] - wanted) <= near and at + 1 < len(values):
        return float(ordered[at] / 2 + ordered[at + 1] / 2)
    return float(ordered[at])


def _mean(target: Real, weight: Real | None, _: float) -> float:
    return float(np.average(target, weights=weight))


def _median(target: Real, weight: Real | None, _: float) -> float:
    return weighted_quantile(target, weight, 0.5)


def _log_mean(target: Real, weight: Real | None, _: float) -> float:
    return float(np.log(np.average(target, weights=weight)))


def _logit(target: Real, weight: Real | None, _: float) -> float:
    share = np.clip(np.average(target, weights=weight), _LEAST_SHARE, 1 - _LEAST_SHARE)
    return float(np.log(share / (1 - share)))


def _half_logit(target: Real, weight: Real | None, _: float) -> float:
    return _logit(target, weight, 0.0) / 2


REGRESSION = {
    "squared_error": BoostLoss(0, _mean),
    "absolute_error": BoostLoss(1, _median),
    "huber": BoostLoss(2, _median),
    "quantile": BoostLoss(3, weighted_quantile),
    "poisson": BoostLoss(4, _log_mean, np.exp, 0.0),
    "gamma": BoostLoss(5, _log_mean, np.exp, 0.0, open_low=True),
}
BINARY = {
    "log_loss": BoostLoss(6, _logit, expit),
    "exponential": BoostLoss(7, _half_logit, lambda score: expit(2 * score)),
}
SOFTMAX = 8


def class_starts(codes: Real, weight: Real | None, n_classes: int) -> Real:
    """Return the logarithms of the class shares, with mean zero."""
    mass = np.bincount(codes.astype(np.int64), weights=weight, minlength=n_classes)
    logs = np.log(np.clip(mass / mass.sum(), _LEAST_SHARE, 1.0))
    return logs - logs.mean()  # type: ignore[no-any-return]


def class_probabilities(score: Real) -> Real:
    """Return the softmax over the classes of each row."""
    return softmax(score, axis=-1)  # type: ignore[no-any-return]
