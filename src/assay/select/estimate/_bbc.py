"""Bootstrap bias-corrected cross-validation: the score of the choice, without further fits.

The best of many scores is optimistic: luck helped to choose it. So the choice is bootstrapped:
draw rows with replacement, choose on the rows drawn, score the choice on the rows not drawn, and
average over the draws. Source: Tsamardinos, Greasidou and Borboudakis (2018), Machine Learning 107.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.evaluate import Formula, Interval, RowMean
from assay.select.choose import Evidence, ScoreTable
from assay.select.plan import stream

Array = NDArray[np.float64]

_MOST_DRAWS, _FEW_DRAWS, _FEWEST_DRAWS = 1000, 200, 40
_FEW_CANDIDATES = {"mean": 20, "formula": 20, "scorer": 10}
# Draws x rows x candidates (calls, for a scorer without formula) that take about half a second.
_BUDGET = {"mean": 1e9, "formula": 4e7, "scorer": 4e2}
_MOST_CELLS = 5e7  # draws x rows held in memory


@dataclass(frozen=True)
class Effort:
    """Size of the bootstrap: draws, leading candidates, and one fit per block or all."""

    draws: int
    candidates: int
    all_fits: bool


def effort(route: str, rows: int, fewer_rows: int, candidates: int, n: int) -> Effort:
    """Stay within the budget: first fewer draws, then one fit per block, then only the leaders.

    Parameters
    ----------
    route : {"mean", "formula", "scorer"}
        The way a score is computed.
    rows, fewer_rows : int
        Rows scored per draw and candidate (calls, for a scorer), with all fits of a block and with
        one fit per block.
    candidates : int
        Number of candidates.
    n : int
        Rows of the table.

    Examples
    --------
    >>> effort("formula", 4 * 569, 569, 100, 569)
    Effort(draws=702, candidates=100, all_fits=False)
    """
    budget = _BUDGET[route]
    price = rows * candidates
    all_fits = budget >= _FEW_DRAWS * price
    if not all_fits:
        price = fewer_rows * candidates
        if budget < _FEW_DRAWS * price and candidates > _FEW_CANDIDATES[route]:
            affordable = int(budget / (_FEW_DRAWS * fewer_rows))
            candidates = max(_FEW_CANDIDATES[route], min(candidates, affordable))
            price = fewer_rows * candidates
    draws = min(_MOST_DRAWS, int(budget / price), int(_MOST_CELLS / n))
    return Effort(max(_FEWEST_DRAWS, draws), candidates, all_fits)


def bootstrap_choice(evidence: Evidence, *, level: float = 0.95) -> Interval | None:
    """Return the bias-corrected score of the choice among all candidates, in natural sign.

    Parameters
    ----------
    evidence : Evidence
        The predictions and their plain scores; rows that belong together are drawn together.
    level : float, default=0.95
        Nominal coverage of the percentile interval.

    Returns
    -------
    Interval or None
        None if there is nothing to choose from.

    Notes
    -----
    The score of a candidate on drawn rows is the mean of its scores on the blocks, as in the plain
    choice; blocks where the drawn rows leave it undefined are skipped. On large tables, and for
    scorers without a formula, only one fit per block and the leading candidates are used; see
    `effort`.
    """
    question, table, clusters = evidence.question, evidence.table, evidence.blocks.clusters
    formula = question.metric.formula
    rows = [row for row in range(len(table.places)) if table.defined[row]]
    ranking = table.ranking(rows)
    if not ranking:
        return None
    fewer = _one_per_block(table, rows)
    if formula is None:
        route, price, cheaper = "scorer", len(rows), len(fewer)
    else:
        route = "mean" if isinstance(formula, RowMean) else "formula"
        price, cheaper = (_row_count(evidence, some) for some in (rows, fewer))
    spent = effort(route, price, cheaper, len(ranking), len(question.y))
    if not spent.all_fits:
        rows = fewer
    # Ties are broken as in the plain choice: simpler first, then earlier.
    _, _, size = table.means(rows)
    leading = sorted(ranking[: spent.candidates], key=lambda column: (size[column], column))
    drawn = _draws(len(question.y), clusters, spent.draws, evidence.seed)
    if formula is None:
        estimate = _by_scorer(evidence, rows, leading, drawn)
    else:
        estimate = _by_formula(evidence, rows, leading, drawn, formula)
    estimate = estimate[np.isfinite(estimate)]
    if not len(estimate):
        return None
    natural = estimate if question.metric.greater_is_better else -estimate
    low, high = np.quantile(natural, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(natural.mean()), float(low), float(high), level)


def _one_per_block(table: ScoreTable, rows: list[int]) -> list[int]:
    first: dict[int, int] = {}
    for row in rows:
        repeat, _, block = table.places[row]
        if repeat == 0:
            first.setdefault(block, row)
    return list(first.values())


def _row_count(evidence: Evidence, rows: list[int]) -> int:
    places = [evidence.table.places[row] for row in rows]
    return sum(int(evidence.partitions[repeat].sizes[block]) for repeat, _, block in places)


def _draws(n: int, clusters: NDArray[np.int64] | None, count: int, seed: int) -> NDArray[np.uint8]:
    """Return how often each row was drawn, of shape (draws, rows)."""
    random = stream(seed, "bootstrap")
    n_clusters = n if clusters is None else int(clusters.max()) + 1
    drawn = np.empty((count, n), dtype=np.uint8)
    for draw in range(count):
        picked = np.bincount(random.integers(0, n_clusters, n_clusters), minlength=n_clusters)
        drawn[draw] = picked if clusters is None else picked[clusters]
    return drawn


def _winners(inside: Array) -> NDArray[np.intp]:
    return np.asarray(np.argmax(np.where(np.isnan(inside), -np.inf, np.round(inside, 12)), axis=1))


def _by_formula(
    evidence: Evidence,
    rows: list[int],
    leading: list[int],
    drawn: NDArray[np.uint8],
    formula: Formula,
) -> Array:
    """Scores of the winners of all draws, on the rows not drawn."""
    question = evidence.question

    def means(columns: list[int], taken: NDArray[Any]) -> Array:
        bag = _Means(len(drawn), len(columns))
        for block_rows, at, found in _blocks_of(evidence, rows, columns):
            truth, block = question.truth[block_rows], [question.seen(each) for each in found]
            weights = taken[:, block_rows].astype(np.float64)
            if question.weight is not None:
                weights *= question.weight[block_rows]
            bag.add(at, _scores(formula, truth, block, weights))
        return bag.mean()

    winners = _winners(means(leading, drawn))
    few, which = np.unique(winners, return_inverse=True)  # most candidates never win
    outside = means([leading[i] for i in few], drawn == 0)
    return np.asarray(outside[np.arange(len(drawn)), which])


class _Means:
    """Means over blocks that skip undefined scores."""

    def __init__(self, draws: int, candidates: int) -> None:
        self.total = np.zeros((draws, candidates))
        self.count = np.zeros((draws, candidates))

    def add(self, at: list[int], scores: Array) -> None:
        defined = np.isfinite(scores)
        self.total[:, at] += np.where(defined, scores, 0.0)
        self.count[:, at] += defined

    def mean(self) -> Array:
        with np.errstate(invalid="ignore"):
            return np.asarray(self.total / self.count)


def _blocks_of(
    evidence: Evidence, rows: list[int], leading: list[int]
) -> Iterator[tuple[NDArray[np.int64], list[int], list[Predicted]]]:
    """Yield (rows of the block, positions of the candidates, their predictions) per place.

    The candidates of a place come family by family, as they lie in the ledger.
    """
    position = {column: i for i, column in enumerate(leading)}
    wanted: dict[tuple[int, int], list[int]] = {}
    for row in rows:
        repeat, split, block = evidence.table.places[row]
        wanted.setdefault((repeat, split), []).append(block)
    for (repeat, split), blocks in wanted.items():
        steps = [
            (evidence.plan.splits[split].tests.index(b), evidence.partitions[repeat].rows(b))
            for b in blocks
        ]
        for first, entries in evidence.predictions(repeat, split):
            mine = [column for column in range(first, first + len(entries)) if column in position]
            at = [position[column] for column in mine]
            for step, block_rows in steps if mine else ():
                fitted = [entries[column - first].fitted for column in mine]
                found = [each.predictions[step] for each in fitted if each is not None]
                yield block_rows, at, found


def _by_scorer(
    evidence: Evidence,
    rows: list[int],
    leading: list[int],
    drawn: NDArray[np.uint8],
) -> Array:
    """Return the same for a scorer that must be called: winners only, on the rows not drawn."""
    question = evidence.question
    blocks: dict[int, NDArray[np.int64]] = {}  # by their first row
    stored: dict[tuple[int, int], Predicted] = {}
    for block_rows, at, found in _blocks_of(evidence, rows, leading):
        blocks[int(block_rows[0])] = block_rows
        stored.update({(int(block_rows[0]), i): each for i, each in zip(at, found, strict=True)})

    def mean(counts: NDArray[np.uint8], candidate: int) -> float:
        scores = []
        for block, block_rows in blocks.items():
            taken = np.repeat(np.arange(len(block_rows)), counts[block_rows])
            if len(taken):
                scores.append(question.score(block_rows, stored[block, candidate], taken=taken)[0])
        defined = [score for score in scores if np.isfinite(score)]
        return float(np.mean(defined)) if defined else float("nan")

    inside = np.array([[mean(counts, i) for i in range(len(leading))] for counts in drawn])
    winners = _winners(inside)
    return np.array(
        [
            mean((counts == 0).astype(np.uint8), int(i))
            for counts, i in zip(drawn, winners, strict=True)
        ]
    )


def _scores(formula: Formula, truth: Array, block: list[Predicted], weights: Array) -> Array:
    """Scores of shape (draws, candidates) on one block."""
    if isinstance(formula, RowMean):
        return formula.of(np.stack([formula.rows(truth, each) for each in block], 1), weights)
    return np.stack([formula(truth, each, weights) for each in block], axis=1)
