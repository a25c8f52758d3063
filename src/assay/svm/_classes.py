"""Multiclass from binary problems: which problems, where their results go, how they vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """One problem of two classes.

    Parameters
    ----------
    rows : ndarray of int
        Indices of the training rows in this problem.
    signs : ndarray of float64
        Their classes as +1 and -1.
    slots : ndarray of int
        For each of these rows, the row of `dual_coef_` for its coefficient.
    positive : int
        The class coded as +1.
    negative : int or None
        The class coded as -1; None = all other classes.
    """

    rows: NDArray[np.intp]
    signs: Vector
    slots: NDArray[np.intp]
    positive: int
    negative: int | None


def tasks(codes: NDArray[np.int64], used: NDArray[np.intp], n_classes: int, how: str) -> list[Task]:
    """Return the binary problems that together separate all classes.

    Parameters
    ----------
    codes : ndarray of int64 of shape (n_samples,)
        Classes 0..K-1.
    used : ndarray of int
        Rows with a weight above 0.
    n_classes : int
        K.
    how : {'ovo', 'ovr'}
        One against one, or one against the rest. Two classes are one problem, in which class 1 is
        positive; in a pair (i, j), class i is positive, as in libsvm.

    Returns
    -------
    list of Task

    Examples
    --------
    >>> [(t.positive, t.negative) for t in tasks(np.array([0, 1, 2]), np.arange(3), 3, "ovo")]
    [(0, 1), (0, 2), (1, 2)]
    """
    mine = codes[used]
    if n_classes == 2:
        signs = np.where(mine == 1, 1.0, -1.0)
        return [Task(used, signs, np.zeros(len(used), dtype=np.intp), 1, 0)]
    if how == "ovr":
        return [
            Task(
                used, np.where(mine == k, 1.0, -1.0), np.full(len(used), k, dtype=np.intp), k, None
            )
            for k in range(n_classes)
        ]
    found = []
    members = [mine == k for k in range(n_classes)]
    for i, j in combinations(range(n_classes), 2):
        either = members[i] | members[j]
        rows, first = used[either], members[i][either]
        slots = np.where(first, j - 1, i)
        found.append(Task(rows, np.where(first, 1.0, -1.0), slots, i, j))
    return found


def n_lines(n_classes: int, how: str) -> int:
    """Return the number of rows of `dual_coef_`."""
    return 1 if n_classes == 2 else n_classes if how == "ovr" else n_classes - 1


def n_tasks(n_classes: int, how: str) -> int:
    """Return the number of problems."""
    pairs = n_classes * (n_classes - 1) // 2
    return 1 if n_classes == 2 else n_classes if how == "ovr" else pairs


def gather(parts: Sequence[Task], values: Sequence[Vector], shape: tuple[int, int]) -> Vector:
    """Collect the results of all problems in one matrix in the layout of `dual_coef_`."""
    whole = np.zeros(shape)
    for task, numbers in zip(parts, values, strict=True):
        whole[task.slots, task.rows] = numbers
    return whole


def by_class(rows: NDArray[np.intp], codes: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the rows sorted by class, in the original order within a class."""
    return rows[np.argsort(codes[rows], kind="stable")].astype(np.int32)


def pair_decisions(
    sums: Sequence[Vector], intercept: Vector, n_classes: int
) -> NDArray[np.float64]:
    """Return the decision of every pair from the sums over each class's support vectors.

    Parameters
    ----------
    sums : sequence of K ndarrays of shape (n, K - 1)
        For class c: column l holds the sum over its support vectors with row l of `dual_coef_`.
    intercept : ndarray of shape (K (K - 1) / 2,)
        Intercepts of the pairs.
    n_classes : int
        K.

    Returns
    -------
    ndarray of shape (n, K (K - 1) / 2)
        Positive = the first class of the pair.
    """
    columns = [
        sums[i][:, j - 1] + sums[j][:, i] + b
        for (i, j), b in zip(combinations(range(n_classes), 2), intercept, strict=True)
    ]
    return np.column_stack(columns)


def votes(decisions: Vector, n_classes: int) -> NDArray[np.int64]:
    """Return the number of pairs that each class wins."""
    pairs = list(combinations(range(n_classes), 2))
    wins = np.zeros((len(pairs), n_classes))
    wins[np.arange(len(pairs)), [i for i, _ in pairs]] = 1.0
    losses = np.zeros((len(pairs), n_classes))
    losses[np.arange(len(pairs)), [j for _, j in pairs]] = 1.0
    # Sums of ones and zeros: exact in any order.
    won = (decisions > 0).astype(np.float64)
    return np.asarray(won @ (wins - losses) + losses.sum(axis=0)).astype(np.int64)


def votes_and_confidence(decisions: Vector, n_classes: int) -> Vector:
    """Return votes with ties broken by the sum of confidences, as scikit-learn does.

    The sums are scaled into (-1/3, 1/3), so that they order tied classes but never outweigh a vote.
    """
    total = np.zeros((len(decisions), n_classes))
    count = np.zeros((len(decisions), n_classes))
    for p, (i, j) in enumerate(combinations(range(n_classes), 2)):
        total[:, i] += decisions[:, p]
        total[:, j] -= decisions[:, p]
        count[:, i] += decisions[:, p] >= 0
        count[:, j] += decisions[:, p] < 0
    return np.asarray(count + total / (3 * (np.abs(total) + 1)))
