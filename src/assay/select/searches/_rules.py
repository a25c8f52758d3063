"""Rules of a search: everything that may change its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from assay.base import check_interval
from assay.select.choose import ChoiceRules


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules of a search.

    Parameters
    ----------
    plan : {"pair-out", "forward", "holdout"}, optional
        How blocks are used; by default forward in time where there is one, else pair-out.
    n_blocks : int, optional
        Number of blocks, at least 3; by default 5, and up to 10 in time (`blocks_in_time`).
    repeats : int, default=1
        Number of random partitions; more of them make the score more stable.
    blocks : array-like of int of shape (n_samples,), optional
        Block of each row, 0..K-1, in the order of time for a forward plan; then `n_blocks`,
        groups and duplicate rows do not decide where a row goes.
    priority : sequence of int, optional
        One number per candidate, family by family: of scores that are equal to the last bit, the
        lowest wins. By default scores may differ by rounding, and the smaller model wins, then the
        candidate that comes first.
    stack : bool, default=False
        Whether candidates may be mixed, with weights from out-of-fold predictions; done unless
        that is clearly worse than the best candidate by an inner estimate.
    calibrate : bool, default=False
        Whether probabilities are calibrated (for metrics that depend on them, and costs) and
        thresholds moved (for metrics on labels of two classes), where that is better.
    prefer : {"best", "simplest"}, default="best"
        "simplest": of the best candidates of each family, the smallest that is not significantly
        worse than the best one, here and inside every outer choice.
    stages : bool or None, default=False
        Whether families that are clearly worse after half of the fits of a pair-out plan are
        dropped, for each block by scores without it; None: from 10,000 rows on.
    bootstrap : bool, default=True
        Whether to compute the bootstrap of the plain choice (BBC-CV) as well. It does not enter
        the score.
    seed : int, default=0
        The same seed gives the same result.

    Examples
    --------
    >>> Rules(repeats=0)
    Traceback (most recent call last):
    assay.base.ParameterError: repeats must be an integer >= 1; got 0
    """

    plan: str | None = None
    n_blocks: int | None = None
    repeats: int = 1
    blocks: ArrayLike | None = None
    priority: Sequence[int] | None = None
    stack: bool = False
    calibrate: bool = False
    prefer: str = "best"
    stages: bool | None = False
    bootstrap: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        self.choice  # noqa: B018 - checks stack, calibrate and prefer
        check_interval("repeats", self.repeats, 1, integer=True)
        check_interval("seed", self.seed, 0, integer=True)

    @property
    def choice(self) -> ChoiceRules:
        """What a choice may do beyond taking the best candidate."""
        return ChoiceRules(self.stack, self.calibrate, self.prefer)
