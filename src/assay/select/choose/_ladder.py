"""The ladder: from the baseline up, to where a more complex model is no longer worth it.

A rung is the best candidate of a family; rungs are in the order of their fitted size. Each is
compared with the best of all by the corrected resampled t-test and the Bayesian correlated t-test
on the same held-out blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.evaluate import Metric
from assay.select.choose._significance import Posterior, correlated_t

# A rung is significantly worse if the p-value of the lead of the best is at most this.
ALPHA = 0.05
# It is not taken either if the best is better in practice with more than this probability.
DOUBT = 0.5
# Differences up to this share of the metric's range (or of the best score) do not matter.
ROPE = 0.01


@dataclass(frozen=True)
class Rung:
    """One model on the ladder.

    Parameters
    ----------
    name : str
        Family, the baseline or the stack.
    params : mapping
        Parameters of its best candidate.
    size : float or None
        Mean number of fitted parameters; None for the baseline.
    score : float
        Plain score, in natural sign.
    lead : float
        By how much the best model is better.
    p_value : float or None
        One-sided p-value of the lead; None if it cannot be computed.
    worse, equal, better : float or None
        Posterior probabilities that the rung is worse than the best by more than `ROPE`, about as
        good, or better.
    chosen : bool
        Whether this is the delivered model.
    """

    name: str
    params: Mapping[str, Any]
    size: float | None
    score: float
    lead: float
    p_value: float | None
    worse: float | None
    equal: float | None
    better: float | None
    chosen: bool = False

    @property
    def significantly_worse(self) -> bool:
        """Whether the best model is significantly better."""
        return self.p_value is not None and self.p_value <= ALPHA


@dataclass(frozen=True, eq=False)
class Step:
    """A rung before it is compared: scores per piece, greater is better.

    Parameters
    ----------
    name : str
        Name of the model.
    scores : ndarray of shape (n_pieces,)
        NaN where it is undefined.
    size : float or None
        None for the baseline, which is first and is never chosen.
    column : int or None
        The candidate; None for the baseline and the stack.
    params : mapping
        Its parameters.
    """

    name: str
    scores: NDArray[np.float64]
    size: float | None = None
    column: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


def climb(
    metric: Metric, steps: Sequence[Step], fits: Sequence[int], ratio: float
) -> tuple[list[Step], list[Rung], int]:
    """Put steps in order and compare each with the best.

    Parameters
    ----------
    metric : Metric
        For sign and range.
    steps : sequence of Step
        The baseline and the best candidate of each family, perhaps the stack.
    fits : sequence of int
        The fit of each piece: scores of one fit are averaged before they are compared.
    ratio : float
        Ratio of test rows to training rows of one fit; 0 for parts of one test set.

    Returns
    -------
    steps : list of Step
        From simple to complex.
    rungs : list of Rung
        In the same order, none chosen yet.
    simplest : int
        Position of the first that is neither significantly nor probably worse than the best; never
        the baseline.
    """
    order = sorted(steps, key=lambda step: -1.0 if step.size is None else step.size)
    means = [float(np.nanmean(step.scores)) for step in order]
    able = [at for at, step in enumerate(order) if step.size is not None]
    # The baseline may be the best of all, but choices are compared with candidates only.
    best = max(able, key=lambda at: means[at])
    rope = _rope(metric, means[best])
    rungs = []
    for step, mean in zip(order, means, strict=True):
        found = _compared(order[best].scores, step.scores, fits, ratio, rope)
        rungs.append(
            Rung(
                step.name,
                dict(step.params),
                step.size,
                metric.natural(mean),
                means[best] - mean,
                None if found is None else found.p_above,
                None if found is None else found.above,
                None if found is None else found.within,
                None if found is None else found.below,
            )
        )
    first = next(at for at in able if at == best or not _known_worse(rungs[at]))
    return order, rungs, first


def _known_worse(rung: Rung) -> bool:
    # What cannot be tested is not preferred: the best is taken then. And with few blocks the test
    # has little power, so what is probably worse in practice is not preferred either.
    if rung.p_value is None or rung.worse is None:
        return True
    return rung.significantly_worse or rung.worse > DOUBT


def _rope(metric: Metric, best: float) -> float:
    if metric.high is not None and metric.high > 0:
        low = 0.0 if metric.low is None else metric.low
        return ROPE * (metric.high - low)
    return ROPE * abs(best)


def _compared(
    best: NDArray[np.float64],
    other: NDArray[np.float64],
    fits: Sequence[int],
    ratio: float,
    rope: float,
) -> Posterior | None:
    difference = best - other
    usable = np.isfinite(difference)
    groups = np.asarray(fits)
    per_fit = np.array(
        [difference[usable & (groups == fit)].mean() for fit in dict.fromkeys(groups[usable])]
    )
    return None if len(per_fit) < 2 else correlated_t(per_fit, ratio, rope)
