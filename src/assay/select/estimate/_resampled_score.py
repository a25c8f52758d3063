"""Score of one prediction rule, with jackknife replicates over row groups and over blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.select.choose import OuterResult
from assay.select.estimate._pooled import (
    Array,
    is_pooled,
    jackknife_variance,
    mean_of_pieces,
    measure,
)
from assay.select.plan import Question

_MOST_UNBALANCED = 4.0  # a loss that depends on the stratum alone would give any number
# Degrees of freedom of a jackknife over K blocks, in parts of K-1: two over the variance of its
# relative error, as seen in draws. Repeats add theirs.
_FREEDOM = 0.8


class ResampledScore:
    """Score of one prediction rule on all rows, without groups of rows, and without blocks.

    Parameters
    ----------
    question : Question
        The metric and the truth.
    results : sequence of OuterResult
        The outer blocks.
    said : callable
        Predictions for an outer block, trained on all others.
    said_by_smaller : callable
        Predictions for (repeat, block, block left out besides).
    group : ndarray of int64 of shape (n,)
        Groups of rows that are left out one by one.
    balanced : ndarray of int64 of shape (p, n), optional
        The same for the blocks of other partitions, balanced as those of the plan are.
    """

    def __init__(
        self,
        question: Question,
        results: Sequence[OuterResult],
        said: Callable[[OuterResult], Predicted],
        said_by_smaller: Callable[[tuple[int, int, int]], Predicted],
        group: NDArray[np.int64],
        balanced: NDArray[np.int64] | None = None,
    ) -> None:
        repeats = sorted({each.repeat for each in results})
        blocks = sorted({each.outer.block for each in results})
        self.n_blocks = len(blocks)
        rows = {(each.repeat, each.outer.block): each.rows for each in results}
        whole = [(each.rows, said(each)) for each in results]
        first = measure(question, whole)[0]
        self.without_rows = measure(question, whole, group)
        self.without_balanced = None
        if balanced is not None:
            self.without_balanced = np.array([measure(question, whole, each) for each in balanced])
        pairs = {
            (r, b, other): (rows[r, b], said_by_smaller((r, b, other)))
            for r in repeats
            for b in blocks
            for other in blocks
            if other != b
        }
        # Where pieces are not scored together, each is needed several times, and scored once.
        alone: dict[tuple[int, int, int], Array] = {}
        if not is_pooled(question.metric):
            alone = {key: measure(question, [piece]) for key, piece in pairs.items()}

        def score(keys: Sequence[tuple[int, int, int]]) -> float:
            if alone:
                return float(mean_of_pieces(np.array([alone[key] for key in keys]))[0])
            return float(measure(question, [pairs[key] for key in keys])[0])

        # Every row once for each distance between the block that judges and the one left out.
        k = self.n_blocks
        shifted = [
            [(r, b, blocks[(at + step) % k]) for at, b in enumerate(blocks)]
            for r in repeats
            for step in range(1, k)
        ]
        second = np.mean([score(keys) for keys in shifted])
        self.without_block = np.array(
            [[score([(r, b, o) for b in blocks if b != o]) for o in blocks] for r in repeats]
        )
        self.value = float(first)
        self.growth = float(growth(k) * (first - second))

    def parts(
        self, share: float, other: ResampledScore | None = None, *, once: bool = False
    ) -> list[tuple[float, float]]:
        """Return the variances, with degrees of freedom; of the difference, with `other`.

        First that of the rows that score, then that of the rows that train and choose.

        Parameters
        ----------
        share : float
            How much of the jackknife over blocks is taken, times what balancing the blocks took
            from it (not of a difference: far-out rows are so for both).
        other : ResampledScore, optional
            What it is compared with.
        once : bool, default=False
            Whether the rows that judge, which are in the jackknife over blocks as well, are taken
            out of it, and repeats add to its freedom. Not where a few far-out rows rule both.
        """
        without_rows = self.without_rows
        without_block, balanced = self.without_block, self.without_balanced
        if other is not None:
            without_rows = without_rows - other.without_rows
            without_block = without_block - other.without_block
            balanced = None
        scoring = jackknife_variance(without_rows)
        plain = scoring[0]
        # Repeats cut the same rows anew: they steady the variance, and add no rows to it.
        both = float(np.mean([jackknife_variance(values)[0] for values in without_block]))
        both *= _unbalanced(plain, balanced)
        if not once:
            return [scoring, (share * both, self.n_blocks - 1)]
        teaching = both - plain
        if teaching <= 0:
            return [scoring]
        freedom = _FREEDOM * (self.n_blocks - 1) * len(without_block)
        # What is taken out takes nothing from the noise.
        return [scoring, (share * teaching, freedom * (teaching / both) ** 2)]


def growth(n_blocks: int) -> float:
    r"""Return the ratio of the score gained from block K to that gained from block K-1.

    Notes
    -----
    If a score grows like the logarithm of the number of rows, from K-2 over K-1 to K blocks,

    .. math:: g = \frac{\log K - \log(K-1)}{\log(K-1) - \log(K-2)}

    One that approaches a limit like one over the root of the rows has less (0.682 for K = 5), a
    straight line has 1, and with as many columns as rows a line was seen.

    Examples
    --------
    >>> round(growth(5), 3), round(growth(10), 3)
    (0.776, 0.895)
    """
    least, less, whole = (math.log(n_blocks - each) for each in (2, 1, 0))
    return (whole - less) / (less - least)


def _unbalanced(variance: float, balanced: NDArray[np.float64] | None) -> float:
    """Return how much more blocks would vary, were they drawn without balance.

    Blocks balanced by target are more alike than samples are: far-out rows are dealt evenly. How
    much more alike is seen where nothing is taught: the rows that judge, left out in such blocks,
    against `variance`, the same without balance.
    """
    if balanced is None:
        return 1.0
    seen = np.mean([jackknife_variance(values)[0] for values in balanced])
    return float(np.clip(variance / seen, 1.0, _MOST_UNBALANCED)) if seen > 0 else 1.0
