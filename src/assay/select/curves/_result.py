"""Curves: scores along an axis, their bands, and the chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError
from assay.evaluate import Interval, corrected_t
from assay.select.curves._chart import curve_chart, roc_chart
from assay.select.curves._question import CurveQuestion


@dataclass(frozen=True, eq=False)
class Curve:
    """Training and test scores along one axis.

    Parameters
    ----------
    kind : {"learning", "complexity"}
        Kind of axis.
    axis : str
        Its name: "training rows", or the parameter.
    values : tuple
        Values that were tried.
    metric : str
        The metric, in its natural sign.
    greater_is_better : bool
        Which direction of the metric is better.
    train, test : tuple of Interval
        Mean and band at each value.
    train_scores, test_scores : ndarray of shape (n_values, repeats * n_blocks)
        The scores behind them.
    rates : ndarray of shape (n_values, 2) or None
        Of two classes: false and true positive rate on the test blocks at each value.
    fits : int
        Number of fits.
    """

    kind: str
    axis: str
    values: tuple[Any, ...]
    metric: str
    greater_is_better: bool
    train: tuple[Interval, ...]
    test: tuple[Interval, ...]
    train_scores: NDArray[np.float64]
    test_scores: NDArray[np.float64]
    rates: NDArray[np.float64] | None
    fits: int

    @property
    def best(self) -> Any:
        """The value with the best mean test score; that score is optimistic."""
        means = [band.value if self.greater_is_better else -band.value for band in self.test]
        return self.values[int(np.argmax(means))]

    def chart(self) -> dict[str, Any]:
        """Return the picture as a Vega-Lite specification."""
        return curve_chart(self.axis, self.values, self.metric, self.train, self.test)

    def roc_chart(self) -> dict[str, Any]:
        """Return the ROC over the values, one point each, as a Vega-Lite specification.

        Raises
        ------
        DataError
            If there are not two classes.
        """
        if self.rates is None:
            raise DataError("an ROC needs two classes")
        return roc_chart(self.axis, self.values, self.rates)


def curve_of(
    question: CurveQuestion,
    kind: str,
    axis: str,
    values: tuple[Any, ...],
    train: NDArray[np.float64],
    test: NDArray[np.float64],
    ratio: float,
    rates: NDArray[np.float64] | None,
    fits: int,
) -> Curve:
    """Return scores of shape (values, blocks) as a curve with bands."""
    metric = question.metric

    def bands(scores: NDArray[np.float64]) -> tuple[Interval, ...]:
        return tuple(
            corrected_t(row[np.isfinite(row)], ratio, low=metric.low, high=metric.high)
            for row in scores
        )

    return Curve(
        kind,
        axis,
        values,
        metric.name,
        metric.greater_is_better,
        bands(train),
        bands(test),
        train,
        test,
        None if rates is None else np.nanmean(rates, axis=1),
        fits,
    )
