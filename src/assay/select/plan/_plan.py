"""Pair-out, forward and holdout plans: which fits are made, and which blocks score them.

A plan knows blocks by number only. `splits` are the fits of every candidate. An `Outer` is one fold
of the outer loop: a candidate is chosen by inner scores that never saw the outer block, then scored
on that block.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from assay.base import ParameterError, check_interval

#: Blocks of a partition, unless another number is asked for.
N_BLOCKS = 5
# Blocks in time: more of them show better how scores vary over time; each needs this many rows.
_MOST_IN_TIME, _ROWS_IN_TIME = 10, 20


@dataclass(frozen=True)
class Split:
    """One fit: the blocks it is trained on and the blocks it predicts."""

    train: tuple[int, ...]
    tests: tuple[int, ...]


@dataclass(frozen=True)
class Outer:
    """One fold of the outer loop.

    Parameters
    ----------
    block : int
        The block that scores the choice.
    inner : tuple of (split, block)
        The inner scores: index into the plan's splits, and one of its test blocks.
    fit : Split
        The fit of the chosen candidate that is scored on the block.
    served_by : int, optional
        Index of the split that is the same fit.
    """

    block: int
    inner: tuple[tuple[int, int], ...]
    fit: Split
    served_by: int | None = None


@dataclass(frozen=True)
class Plan:
    """All fits of one partition.

    Parameters
    ----------
    kind : {"pair-out", "forward", "holdout"}
        How the blocks are used.
    n_blocks : int
        Number of blocks.
    splits : tuple of Split
        Fits of every candidate.
    outers : tuple of Outer
        The folds of the outer loop.
    final : tuple of (split, block)
        The scores behind the final choice and the leaderboard.
    naive_final : int
        Fits per candidate of a plain search for the final choice.
    """

    kind: str
    n_blocks: int
    splits: tuple[Split, ...]
    outers: tuple[Outer, ...]
    final: tuple[tuple[int, int], ...]
    naive_final: int

    def naive_fits(self, n_candidates: int, repeats: int) -> int:
        """Return the fits of a nested grid search on the same blocks, with final refit."""
        nested = sum(len(outer.inner) * n_candidates + 1 for outer in self.outers)
        return nested * repeats + self.naive_final * n_candidates + 1


@dataclass(frozen=True)
class PlanSummary:
    """How the rows were split; `duplicates` counts rows with a duplicate in their block."""

    kind: str
    blocks: int
    repeats: int
    stratified: bool
    grouped: bool
    duplicates: int
    text: str


def pair_out(n_blocks: int = 5) -> Plan:
    """Fit without every pair of blocks; each fit serves both orders of its pair.

    Parameters
    ----------
    n_blocks : int, default=5
        K, at least 3.

    Returns
    -------
    Plan
        K(K-1)/2 fits per candidate, and one fit without block i for each outer choice.

    Examples
    --------
    >>> plan = pair_out(5)
    >>> len(plan.splits), plan.splits[0].train, plan.splits[0].tests
    (10, (2, 3, 4), (0, 1))
    """
    check_interval("n_blocks", n_blocks, 3, float("inf"), integer=True)
    blocks = range(n_blocks)
    pairs = list(combinations(blocks, 2))
    position = {pair: index for index, pair in enumerate(pairs)}
    splits = tuple(Split(_without(n_blocks, *pair), pair) for pair in pairs)
    outers = tuple(
        Outer(
            i,
            tuple((position[min(i, j), max(i, j)], j) for j in blocks if j != i),
            Split(_without(n_blocks, i), (i,)),
        )
        for i in blocks
    )
    final = tuple((position[pair], block) for pair in pairs for block in pair)
    return Plan("pair-out", n_blocks, splits, outers, final, n_blocks)


def forward(n_blocks: int = 5) -> Plan:
    """Train on the past only: the fit on blocks 0..m-1 predicts block m.

    Parameters
    ----------
    n_blocks : int, default=5
        K, at least 3.

    Returns
    -------
    Plan
        One fit per candidate and training period, used for inner and outer scores alike.

    Notes
    -----
    Outer blocks have at least two fifths of the rows before them (and two blocks, one to train on
    and one to choose by), so that the scored models had nearly as many rows as the final one. A
    choice uses fits on at least a third of the rows known by then: fits on fewer favour models
    that extrapolate from little data, which the final model need not do.

    Examples
    --------
    >>> [(outer.block, [block for _, block in outer.inner]) for outer in forward(8).outers]
    [(4, [2, 3]), (5, [2, 3, 4]), (6, [2, 3, 4, 5]), (7, [3, 4, 5, 6])]
    """
    check_interval("n_blocks", n_blocks, 3, float("inf"), integer=True)
    first = max(2, -(-2 * n_blocks // 5))
    start = -(-first // 3)  # blocks in the smallest training set
    splits = tuple(Split(tuple(range(m)), (m,)) for m in range(start, n_blocks))

    def inner(now: int) -> tuple[tuple[int, int], ...]:
        return tuple((m - start, m) for m in range(-(-now // 3), now))

    outers = tuple(
        Outer(i, inner(i), splits[i - start], served_by=i - start) for i in range(first, n_blocks)
    )
    final = inner(n_blocks)
    return Plan("forward", n_blocks, splits, outers, final, len(final))


def blocks_in_time(time: ArrayLike) -> int:
    """Return the number of blocks of a forward plan: five, and up to ten where rows allow it.

    Parameters
    ----------
    time : array-like of shape (n_samples,)
        Order of the rows; equal times are not split.

    Examples
    --------
    >>> blocks_in_time(range(100)), blocks_in_time(range(10_000)), blocks_in_time([2023, 2024] * 90)
    (5, 10, 5)
    """
    times = np.asarray(time)
    most = min(len(times) // _ROWS_IN_TIME, len(np.unique(times)), _MOST_IN_TIME)
    return max(most, N_BLOCKS)


def holdout(n_blocks: int = 5) -> Plan:
    """Choose on the last block but one, score on the last: for very large tables.

    Parameters
    ----------
    n_blocks : int, default=5
        K, at least 3; the last block is the holdout.

    Returns
    -------
    Plan
        One fit per candidate, and one fit of the choice without the last block.

    Examples
    --------
    >>> plan = holdout(5)
    >>> plan.splits, plan.outers[0].fit.train
    ((Split(train=(0, 1, 2), tests=(3,)),), (0, 1, 2, 3))
    """
    check_interval("n_blocks", n_blocks, 3, float("inf"), integer=True)
    last = n_blocks - 1
    split = Split(tuple(range(last - 1)), (last - 1,))
    outer = Outer(last, ((0, last - 1),), Split(tuple(range(last)), (last,)))
    return Plan("holdout", n_blocks, (split,), (outer,), ((0, last - 1),), 0)


def one_out(n_blocks: int = 5) -> Plan:
    """Fit without every block in turn: plain cross-validation, without a choice.

    Parameters
    ----------
    n_blocks : int, default=5
        K, at least 3.

    Returns
    -------
    Plan
        K fits per candidate, no outer loop.

    Examples
    --------
    >>> [split.tests for split in one_out(3).splits]
    [(0,), (1,), (2,)]
    """
    check_interval("n_blocks", n_blocks, 3, float("inf"), integer=True)
    splits = tuple(Split(_without(n_blocks, i), (i,)) for i in range(n_blocks))
    final = tuple((i, i) for i in range(n_blocks))
    return Plan("one-out", n_blocks, splits, (), final, n_blocks)


MAKERS = {"pair-out": pair_out, "forward": forward, "holdout": holdout}


def make_plan(kind: str | None, n_blocks: int, *, has_time: bool, repeats: int) -> Plan:
    """Return the plan by name; by default forward if there is a time, else pair-out."""
    if kind is None:
        kind = "forward" if has_time else "pair-out"
    if kind not in MAKERS:
        raise ParameterError(f"plan must be one of {', '.join(MAKERS)} or None; got {kind!r}")
    if has_time and kind == "pair-out":
        raise ParameterError("plan 'pair-out' would train on the future; use 'forward' or no time")
    if kind == "forward" and not has_time:
        raise ParameterError("plan 'forward' needs time")
    if repeats > 1 and (has_time or kind == "holdout"):
        reason = "rows ordered in time have only one partition" if has_time else "a holdout is one"
        raise ParameterError(f"repeats must be 1 with plan {kind!r}: {reason}; got {repeats}")
    return MAKERS[kind](n_blocks)


def _without(n_blocks: int, *left_out: int) -> tuple[int, ...]:
    return tuple(block for block in range(n_blocks) if block not in left_out)
