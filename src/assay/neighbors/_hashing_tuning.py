"""Tuning of `HashedNeighbors`: directions and sizes of the hash tables.

Everything is measured on a sample: query rows, their true neighbours (found by exact search), and
other rows that represent the table. Time is not measured, so the choice is reproducible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._core import neighbors as kernels

#: The number of directions is padded to a multiple of this.
_PAD = 16
_RANK = 64
#: Exponent of the spread by which directions favour the axes that separate rows.
_PREFERENCE = 3.0
#: Ridge added to the variances between neighbours, as a share of their mean: the sample is small.
_SHRINK = 0.1
#: Cost of each step in nanoseconds: a rough model, good enough to rank layouts.
_LOOKUP, _MEET, _MEASURE, _MEASURE_COLUMN, _PROJECT = 60.0, 2.0, 20.0, 0.25, 0.05


class Sample(NamedTuple):
    """The sample on which a layout is chosen.

    `gaps` are differences between rows and their true neighbours; `queries` are other rows, used as
    queries, and `wanted` their true neighbours; `others` represent the table, as a share `share` of
    it.
    """

    gaps: NDArray[np.float64]
    queries: NDArray[Any]
    wanted: NDArray[Any]
    others: NDArray[Any]
    share: float


@dataclass(frozen=True)
class Layout:
    """Sizes of a set of hash tables."""

    n_tables: int
    n_projections: int
    width: float
    min_hits: int
    n_candidates: int


@dataclass(frozen=True)
class Choices:
    """The candidate values of each size: one entry if the user has set it."""

    n_tables: Sequence[int]
    n_projections: Sequence[int]
    widths: Sequence[float]
    min_hits: Sequence[int]
    n_candidates: Sequence[int]
    n_probes: int
    sign: bool


@dataclass(frozen=True)
class Frame:
    """The axes from which directions are drawn, and the centring and scaling of rows.

    The differences between a row and its neighbours have variance 1 along each axis; `spread` is
    the variance among all rows. Both are in units of 1 / `scale`.
    """

    centre: NDArray[np.float64]
    scale: float
    axes: NDArray[np.float64]
    spread: NDArray[np.float64]
    seed: int

    def mix(self, n_projections: int, n_tables: int, adapted: bool) -> NDArray[np.float64]:
        """Draw the directions of the tables in terms of the axes; unit variance to neighbours.

        Those of one table are orthogonal if there are enough axes.
        """
        rng = np.random.default_rng([self.seed, n_projections])
        rank = len(self.spread)
        likes = (self.spread / self.spread.max()) ** (_PREFERENCE / 2) if adapted else 1.0
        blocks = []
        for _ in range(n_tables):
            drawn = rng.standard_normal((rank, n_projections)) * np.reshape(likes, (-1, 1))
            if adapted and n_projections <= rank:
                drawn = np.linalg.qr(drawn)[0]
            length = np.sqrt((drawn * drawn).sum(axis=0))
            blocks.append(drawn / np.where(length > 0, length, 1.0))
        return np.hstack(blocks)

    def directions(self, mixed: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the directions in the original space, padded to a multiple of 16 columns."""
        return padded(self.axes @ mixed)

    def shifts(self, n: int) -> NDArray[np.float32]:
        """Draw the offsets of the bins, in bin widths."""
        drawn = np.random.default_rng([self.seed, 0, 1]).random(n)
        shifts: NDArray[np.float32] = padded(drawn[None, :])[0]
        return shifts

    def coordinates(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return the coordinates of rows along the axes."""
        changed: NDArray[np.float64] = ((rows - self.centre) * self.scale) @ self.axes
        return changed


def padded(matrix: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the matrix in float32, padded with zeros to a multiple of 16 columns."""
    out = np.zeros((matrix.shape[0], -(-matrix.shape[1] // _PAD) * _PAD), dtype=np.float32)
    out[:, : matrix.shape[1]] = matrix
    return out


def learn_frame(sample: Sample, centre: NDArray[np.float64], seed: int, adapted: bool) -> Frame:
    """Find the axes with the largest spread of rows relative to the differences to neighbours.

    For random directions the axes are the columns.
    """
    d = len(centre)
    gaps = sample.gaps
    largest = max(float(np.abs(gaps).max(initial=0.0)), np.finfo(np.float64).tiny)
    near = float(np.sqrt(((gaps / largest) ** 2).sum() / max(1, len(gaps)))) * largest
    if not near > 1e-300:  # all rows equal, or no neighbour
        near = max(float(np.abs(sample.others - centre).max()), 1.0)
    scale = 1 / near
    if not adapted:
        return Frame(centre, scale, np.sqrt(d) * np.eye(d), np.ones(d), seed)
    step = -(-len(sample.others) // 5000)
    others = np.clip((sample.others[::step] - centre) * scale, -1e15, 1e15)
    gaps = gaps * scale
    basis = _leading(others, min(_RANK, d), seed)
    around = (gaps @ basis).T @ (gaps @ basis) / max(1, len(gaps))
    floor = _SHRINK * max(np.trace(around) / len(around), 1e-3 / d)
    turn = np.linalg.inv(np.linalg.cholesky(around + floor * np.eye(len(around)))).T
    seen = others @ (basis @ turn)
    spread, vectors = np.linalg.eigh(seen.T @ seen / len(seen))
    axes = basis @ turn @ vectors[:, ::-1]
    spread = np.maximum(spread[::-1], 1e-12 * max(spread[-1], 1e-300))
    return Frame(centre, scale, axes, spread, seed)


def choose(
    sample: Sample, frame: Frame, choices: Choices, adapted: bool, recall: float, n_threads: int
) -> Layout:
    """Return the cheapest layout that finds a share `recall` of the true neighbours.

    If there is none, return the one that finds most.
    """
    queries, wanted, others = (frame.coordinates(part) for part in sample[1:4])
    n_columns = sample.queries.shape[1]
    # Bins hold fewer rows in the sample than in the table, by this factor.
    candidates = np.array(choices.n_candidates)
    budgets = np.maximum(np.ceil(candidates * sample.share), 1).astype(np.int64)
    best: tuple[float, float, Layout] | None = None
    for m in choices.n_projections:
        mixed = frame.mix(m, max(choices.n_tables), adapted)
        directions, shifts = padded(mixed), frame.shifts(mixed.shape[1])
        for width, hits in product(choices.widths, choices.min_hits):
            counts = np.array([each for each in choices.n_tables if each >= hits], dtype=np.int64)
            if not len(counts):
                continue
            outcomes = np.empty((len(counts), 4 * len(budgets)), dtype=np.int64)
            kernels.hash_profile(
                queries, others, wanted, np.zeros(queries.shape[1]), 1.0, directions, shifts,
                counts, m, 1 / width, choices.sign, choices.n_probes, hits, budgets, outcomes,
                n_threads,
            )  # fmt: skip
            found, examined, met, bins = outcomes.reshape(len(counts), -1, 4).transpose(2, 0, 1)
            recalls = found / max(1, len(wanted))
            costs = (
                (examined * (_MEASURE + _MEASURE_COLUMN * n_columns) + met * _MEET) / sample.share
                + bins * _LOOKUP
            ) / len(queries) + counts[:, None] * m * n_columns * _PROJECT
            lacks = np.maximum(0.0, recall - recalls)
            t, c = np.unravel_index(np.lexsort((costs.ravel(), lacks.ravel()))[0], costs.shape)
            layout = Layout(int(counts[t]), m, float(width), hits, int(candidates[c]))
            if best is None or (lacks[t, c], costs[t, c]) < best[:2]:
                best = (float(lacks[t, c]), float(costs[t, c]), layout)
    assert best is not None
    return best[2]


def _leading(rows: NDArray[np.float64], rank: int, seed: int) -> NDArray[np.float64]:
    """Return an orthonormal basis of the directions of largest spread, by subspace iteration."""
    d = rows.shape[1]
    if rank >= d:
        return np.eye(d)
    basis = np.random.default_rng([seed, 2]).standard_normal((d, rank + 8))
    for _ in range(4):
        basis = np.linalg.qr(rows.T @ (rows @ np.linalg.qr(basis)[0]))[0]
    seen = rows @ basis
    vectors = np.linalg.eigh(seen.T @ seen)[1]
    leading: NDArray[np.float64] = basis @ vectors[:, ::-1][:, :rank]
    return leading
