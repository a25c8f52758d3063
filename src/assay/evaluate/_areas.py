"""Metrics of an order of rows: areas under ROC and precision-recall curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.evaluate._formulas import Array, Formula, probability_of, ranking, ratio
from assay.evaluate._without import Without


@dataclass(frozen=True)
class Areas:
    """The mean area under the ROC curves of some classes, each against the rest.

    Parameters
    ----------
    curves : callable
        (y, predicted) -> which rows are positive and their scores, for each curve.
    average : {"macro", "weighted"}, default="macro"
        Weight of the curves: equal, or their number of positive rows; undefined ones are left out.
    """

    curves: Callable[[NDArray[Any], Predicted], Iterable[tuple[NDArray[np.bool_], Array]]]
    average: str = "macro"

    def __call__(self, y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
        """Return one score per row of `weights`."""
        curves = list(self.curves(y, predicted))
        areas = [_area(positive, score, weights) for positive, score in curves]
        shares = [_mass(positive, weights) for positive, _ in curves]
        return _mean_area(areas, shares, self.average)

    def without(self, y: NDArray[Any], predicted: Predicted, rest: Without) -> Array:
        """Return the score without each group of rows."""
        areas, shares = [], []
        for positive, score in self.curves(y, predicted):
            mass = rest.counts(positive.astype(np.int64), 2)
            areas.append(_area_without(positive, score, mass, rest))
            shares.append(mass[:, 1])
        return _mean_area(areas, shares, self.average)


def _one_curve(y: NDArray[Any], predicted: Predicted) -> Iterable[tuple[NDArray[np.bool_], Array]]:
    yield y == 1, ranking(predicted)


def _each_against_the_rest(
    y: NDArray[Any], predicted: Predicted
) -> Iterable[tuple[NDArray[np.bool_], Array]]:
    for k, score in enumerate(probability_of(predicted).T):
        yield y == k, np.ascontiguousarray(score)


#: Area under the ROC curve of class 1 against class 0; undefined with one class.
roc_auc = Areas(_one_curve)


def roc_auc_ovr(average: str) -> Areas:
    """Return the mean one-against-rest area over the classes that occur."""
    return Areas(_each_against_the_rest, average)


def roc_auc_ovo(average: str) -> Formula:
    """Return the mean one-against-one area over the pairs of classes that occur."""

    def score(y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
        probability = probability_of(predicted)
        areas, shares = [], []
        for a, b in combinations(range(probability.shape[1]), 2):
            pair = (y == a) | (y == b)
            mine = None if weights is None else weights[:, pair]
            first = _area(y[pair] == a, probability[pair, a], mine)
            second = _area(y[pair] == b, probability[pair, b], mine)
            areas.append((first + second) / 2)
            shares.append(_mass(pair, weights))
        return _mean_area(areas, shares, average)

    return score


def _mass(rows: NDArray[np.bool_], weights: Array | None) -> Array:
    return np.array([float(rows.sum())]) if weights is None else weights[:, rows].sum(axis=1)


def _mean_area(areas: list[Array], shares: list[Array], average: str) -> Array:
    """Mean over classes or pairs, plain or by their share of the rows; undefined ones left out."""
    area, share = np.stack(areas, axis=1), np.stack(shares, axis=1)
    defined = ~np.isnan(area)
    weight = np.where(defined, share if average == "weighted" else 1.0, 0.0)
    total = weight.sum(axis=1)
    value = ratio((np.where(defined, area, 0.0) * weight).sum(axis=1), total)
    return np.where(total > 0, value, np.nan)


# Up to this many pairs of a positive and a negative row, one matrix of comparisons and a matrix
# product beat sorting and cumulative sums.
_PAIRS = 200_000
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


def _area(positive: NDArray[np.bool_], score: Array, weights: Array | None) -> Array:
    if not len(score):
        return np.full(1 if weights is None else len(weights), np.nan)
    if weights is None:
        return np.array([_one_area(positive, score)])
    n_positive = int(positive.sum())
    if n_positive * (len(score) - n_positive) <= _PAIRS:
        high, low = score[positive, None], score[None, ~positive]
        wins = (high > low) + 0.5 * (high == low)
        of_positive, of_negative = weights[:, positive], weights[:, ~positive]
        won = np.einsum("bj,bj->b", of_positive @ wins, of_negative)
        mass = of_positive.sum(axis=1) * of_negative.sum(axis=1)
    else:
        # Weight of the negatives below each positive, ties half, from one cumulative sum.
        order = np.argsort(score)
        ups, downs = order[positive[order]], order[~positive[order]]
        below = np.zeros((len(weights), len(downs) + 1))
        np.cumsum(weights[:, downs], axis=1, out=below[:, 1:])
        first, last = (np.searchsorted(score[downs], score[ups], side) for side in _SIDES)
        of_positive = weights[:, ups]
        won = np.einsum("bi,bi->b", of_positive, below[:, first])
        if not np.array_equal(first, last):
            won = 0.5 * (won + np.einsum("bi,bi->b", of_positive, below[:, last]))
        mass = of_positive.sum(axis=1) * below[:, -1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(won / mass)


def _area_without(positive: NDArray[np.bool_], score: Array, mass: Array, rest: Without) -> Array:
    """Count all pairs won once, and subtract those with a row of the group.

    A pair within the group is subtracted twice by that, so it is added back.
    """
    if not len(score):
        return np.full(rest.n_groups, np.nan)
    order, starts = _tied(score)
    rank = np.empty(len(score), dtype=np.int64)
    rank[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(score))))
    weight, group = rest.weights, rest.group
    of_positive = np.bincount(rank, weight * positive)
    of_negative = np.bincount(rank, weight * ~positive)
    below = np.cumsum(of_negative) - 0.5 * of_negative
    above = of_positive.sum() - np.cumsum(of_positive) + 0.5 * of_positive
    lost = weight * np.where(positive, below[rank], above[rank])
    won = of_positive @ below - np.bincount(group, lost, rest.n_groups)
    won += np.bincount(group[positive], _won_within(positive, rank, rest), rest.n_groups)
    pairs = mass[:, 0] * mass[:, 1]
    return np.asarray(np.divide(won, pairs, out=np.full(rest.n_groups, np.nan), where=pairs > 0))


def _won_within(positive: NDArray[np.bool_], rank: NDArray[np.int64], rest: Without) -> Array:
    """Return the weight of the pairs that each positive wins against negatives of its group."""
    place = rest.group * (int(rank.max()) + 1) + rank  # groups one after the other
    weight, high, low = rest.weights, place[positive], place[~positive]
    order = np.argsort(low)
    low = low[order]
    upto = np.concatenate(([0.0], np.cumsum(weight[~positive][order])))
    first, last = (upto[np.searchsorted(low, high, side)] for side in _SIDES)
    start = upto[np.searchsorted(low, high - rank[positive])]
    return np.asarray(weight[positive] * (0.5 * (first + last) - start))


def _one_area(positive: NDArray[np.bool_], score: Array) -> float:
    """Return the area from the ranks of the positives among all rows, ties half."""
    ups = score[positive]
    mass = len(ups) * (len(score) - len(ups))
    ranked = np.sort(score)
    beaten = sum(int(np.searchsorted(ranked, ups, side).sum()) for side in _SIDES) / 2
    # Among the positives, one of every pair wins, and each ties with itself.
    return float((beaten - len(ups) ** 2 / 2) / mass) if mass > 0 else float("nan")


def _tied(score: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Ascending order of the rows, and the start of each group of equal scores in it."""
    order = np.argsort(score, kind="stable")
    ranked = score[order]
    starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    return order, starts


def average_precision(y: NDArray[Any], predicted: Predicted, weights: Array | None) -> Array:
    """Mean precision over the positives, from the highest score down; 0 without positives."""
    score = ranking(predicted)
    w = np.ones((1, len(y))) if weights is None else weights
    order, starts = _tied(-score)
    positives = np.add.reduceat(w[:, order] * (y[order] == 1), starts, axis=1)
    everyone = np.add.reduceat(w[:, order], starts, axis=1)
    precision = ratio(np.cumsum(positives, axis=1), np.cumsum(everyone, axis=1))
    total = positives.sum(axis=1)
    value = ratio((positives * precision).sum(axis=1), total)
    return np.where(everyone.sum(axis=1) > 0, value, np.nan)
