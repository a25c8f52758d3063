"""What is delivered: which candidates, with which weights, calibration and threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted, check_option
from assay.multiclass import ProbabilityMap

PREFERENCES = ("best", "simplest")


@dataclass(frozen=True)
class ChoiceRules:
    """What a choice may do beyond taking the best candidate.

    Parameters
    ----------
    stack : bool, default=False
        Mix candidates, unless that is clearly worse.
    calibrate : bool, default=False
        Calibrate probabilities and move thresholds, where that is better.
    prefer : {"best", "simplest"}, default="best"
        "simplest": the smallest model that is not significantly worse than the best.
    """

    stack: bool = False
    calibrate: bool = False
    prefer: str = "best"

    def __post_init__(self) -> None:
        check_option("stack", self.stack, (True, False))
        check_option("calibrate", self.calibrate, (True, False))
        check_option("prefer", self.prefer, PREFERENCES)


@dataclass(frozen=True, eq=False)
class ModelSpec:
    """Candidates, their weights, and what is applied to their mean.

    Parameters
    ----------
    columns : tuple of int
        Columns of the score table.
    weights : tuple of float, default=(1.0,)
        One each; they sum to 1.
    learned : ProbabilityMap, optional
        Calibration of the probabilities.
    threshold : float, optional
        Of two classes, the second is predicted where its probability exceeds this.
    """

    columns: tuple[int, ...]
    weights: tuple[float, ...] = (1.0,)
    learned: ProbabilityMap | None = None
    threshold: float | None = None

    @property
    def column(self) -> int:
        """The candidate of largest weight."""
        return self.columns[int(np.argmax(self.weights))]

    @property
    def is_stack(self) -> bool:
        """Whether several candidates are mixed."""
        return len(self.columns) > 1

    @property
    def is_plain(self) -> bool:
        """Whether it is one candidate without calibration or threshold."""
        return not self.is_stack and self.learned is None and self.threshold is None

    def apply(self, parts: Sequence[Predicted], n_classes: int | None) -> Predicted:
        """Return the predictions of the whole from those of the candidates."""
        return adjusted(mixed(parts, self.weights, n_classes), self.learned, self.threshold)


def mixed(parts: Sequence[Predicted], weights: Sequence[float], n_classes: int | None) -> Predicted:
    """Return the weighted mean of predictions; of one candidate, its own."""
    if len(parts) == 1:
        return parts[0]
    if n_classes is None:
        return Predicted(value=_mean([np.asarray(each.value) for each in parts], weights))
    shares = _mean([votes(each, n_classes) for each in parts], weights)
    return Predicted(label=shares.argmax(axis=1).astype(np.int64), probability=shares)


def votes(predicted: Predicted, n_classes: int) -> NDArray[np.float64]:
    """Return the probabilities; a model without them gives its label probability 1."""
    if predicted.probability is not None:
        return predicted.probability
    return np.asarray(np.eye(n_classes)[np.asarray(predicted.label)])


def adjusted(
    predicted: Predicted, learned: ProbabilityMap | None, threshold: float | None
) -> Predicted:
    """Return predictions after a map of the probabilities and a threshold."""
    if learned is not None and predicted.probability is not None:
        shares = learned(predicted.probability)
        label = shares.argmax(axis=1).astype(np.int64)
        # The uncalibrated decision values are dropped: metrics would use them instead.
        predicted = Predicted(label=label, probability=shares)
    if threshold is not None and predicted.probability is not None:
        label = (predicted.probability[:, 1] > threshold).astype(np.int64)
        predicted = replace(predicted, label=label)
    return predicted


def _mean(parts: Sequence[NDArray[np.float64]], weights: Sequence[float]) -> NDArray[np.float64]:
    # In the order of `assay.ensemble`'s weighted ensembles, so that the digits are the same.
    total = parts[0] * float(weights[0])
    for part, weight in zip(parts[1:], weights[1:], strict=True):
        total = total + part * float(weight)
    return np.asarray(total)
