"""Calibration maps from probabilities to probabilities, fitted on out-of-fold predictions.

    sigmoid      one sigmoid of the log-odds per class, then divided by the sum
    isotonic     one staircase of the log-odds per class, then divided by the sum
    temperature  p_k^(1/T) divided by the sum, one T for all classes, of least log loss

Source  `_calibration.py` for the first two; temperature: Guo, Pleiss, Sun and Weinberger (2017).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logit, logsumexp

from assay.base import DataError, check_option
from assay.multiclass import _calibration as calibrate

Floats = NDArray[np.float64]

MAPS = ("sigmoid", "isotonic", "temperature")
# A probability of 0 or 1 would have infinite log-odds; vote counts of a forest are no more precise.
_LEAST = 1e-4
_NO_ENDS = np.zeros(0, dtype=np.int64)
# Temperatures from 1/20 to 20.
_HOTTEST = float(np.log(20.0))


@dataclass(frozen=True, eq=False)
class ProbabilityMap:
    """A fitted map from probabilities to calibrated probabilities.

    Parameters
    ----------
    method : {'sigmoid', 'isotonic', 'temperature'}
        The calibration method.
    numbers : ndarray of float64 of shape (n, 2)
        Slopes and offsets, knots, or the temperature (and 0).
    ends : ndarray of int64
        End of each class's knots, for 'isotonic'; else empty.

    Examples
    --------
    >>> import numpy as np
    >>> shares = np.repeat([[0.1, 0.9]], 100, axis=0)      # sure, and wrong in three of ten
    >>> codes = np.repeat([1, 0], [70, 30])
    >>> ProbabilityMap.fit("temperature", shares, codes)(shares[:1]).round(2)
    array([[0.3, 0.7]])
    """

    method: str
    numbers: Floats
    ends: NDArray[np.int64]

    @classmethod
    def fit(
        cls,
        method: str,
        probability: Floats,
        codes: NDArray[np.int64],
        weight: Floats | None = None,
    ) -> Self:
        """Fit the map to out-of-fold probabilities and the true classes.

        Parameters
        ----------
        method : {'sigmoid', 'isotonic', 'temperature'}
            The calibration method.
        probability : ndarray of shape (n_samples, n_classes)
            Probabilities of rows that the model was not fitted on.
        codes : ndarray of int64 of shape (n_samples,)
            The true classes.
        weight : ndarray of shape (n_samples,), default=None
            Weights of the rows.
        """
        check_option("method", method, MAPS)
        if method == "temperature":
            return cls(
                method, np.array([[_temperature(probability, codes, weight), 0.0]]), _NO_ENDS
            )
        scores = _log_odds(probability)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class that is perfectly separated, or absent
            if method == "sigmoid":
                return cls(method, calibrate.fit_sigmoids(scores, codes, weight), _NO_ENDS)
            return cls(method, *calibrate.fit_isotonics(scores, codes, weight))

    def __call__(self, probability: Floats) -> Floats:
        """Return the mapped probabilities."""
        if self.method == "temperature":
            return _tempered(probability, float(self.numbers[0, 0]))
        scores = _log_odds(probability)
        if self.method == "sigmoid":
            return calibrate.apply_sigmoids(scores, self.numbers)
        return calibrate.apply_isotonics(scores, self.numbers, self.ends)

    def check(self, n_classes: int) -> None:
        """Raise on numbers that no fit produces, as a damaged file may hold."""
        where = "the model is damaged: its probability map"
        width = 1 if n_classes == 2 else n_classes
        rows = {"sigmoid": width, "temperature": 1}.get(self.method, len(self.numbers))
        if self.method not in MAPS or self.numbers.shape != (rows, 2):
            raise DataError(f"{where} has a wrong form")
        if not np.isfinite(self.numbers).all():
            raise DataError(f"{where} has values that are not finite")
        if self.method == "temperature" and not self.numbers[0, 0] > 0:
            raise DataError(f"{where} has a temperature that is not positive")
        if self.method != "isotonic":
            return
        ends = self.ends
        if ends.shape != (width + 1,) or ends[0] != 0 or ends[-1] != rows:
            raise DataError(f"{where} has knots that do not belong to a class")
        if (np.diff(ends) < 1).any():
            raise DataError(f"{where} has a class without knots")
        if self.numbers[:, 1].min() < 0 or self.numbers[:, 1].max() > 1:
            raise DataError(f"{where} has probabilities outside [0, 1]")


def _log_odds(probability: Floats) -> Floats:
    shares = np.clip(probability, _LEAST, 1.0 - _LEAST)
    return np.asarray(logit(shares[:, 1:] if shares.shape[1] == 2 else shares))


def _tempered(probability: Floats, temperature: float) -> Floats:
    logs = np.log(np.clip(probability, _LEAST, 1.0)) / temperature
    return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))


def _temperature(probability: Floats, codes: NDArray[np.int64], weight: Floats | None) -> float:
    logs = np.log(np.clip(probability, _LEAST, 1.0))
    own = logs[np.arange(len(codes)), codes]

    def loss(log_temperature: float) -> float:
        warmth = np.exp(-log_temperature)
        losses = logsumexp(logs * warmth, axis=1) - own * warmth
        return float(np.average(losses, weights=weight))

    found = minimize_scalar(
        loss, bounds=(-_HOTTEST, _HOTTEST), method="bounded", options={"xatol": 1e-6}
    )
    return float(np.exp(found.x))
