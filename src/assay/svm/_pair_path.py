"""Every C of the one-against-one machines of a kernel in one call: `SVC`'s path for many classes.

Training rows are ordered by class (within a class as they came, as a fit orders the rows of a
pair), so that the kernel values of a pair are four blocks of the matrix, gathered once for all C;
and the decisions of all C about the test rows are one product per class. Every program is solved
from its own start on the values that a fit alone computes: its solution has the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.svm._binary import Settings, stop_reason
from assay.svm.engine import Kernel, Pairs, solve_pairs_path

#: What an estimator must be for its pairs to be solved together.
_PLAIN: Mapping[str, Any] = {
    "multi_class": "ovo",
    "decision_function_shape": "ovr",
    "break_ties": False,
    "slack_budget": None,
    "warm_start": False,
    "verbose": False,
}


class Answer(NamedTuple):
    """What one candidate says about the test rows.

    Attributes
    ----------
    code : ndarray of int64 of shape (n_test,)
        Class codes among the training classes.
    decision : ndarray of float64 of shape (n_test, n_classes)
        Votes, with confidences between ties.
    n_support : int
        Number of support vectors.
    """

    code: NDArray[np.int64]
    decision: NDArray[np.float64]
    n_support: int


class Known(NamedTuple):
    """Kernel values of the training rows, ordered by class, and of these with the test rows."""

    values: NDArray[np.float32]
    exact: NDArray[np.float64]
    cross: NDArray[np.float64]


def groups_of(models: Sequence[Any]) -> list[list[Any]]:
    """Return the models that differ in C only and can be solved together, two or more each."""
    groups: dict[str, list[Any]] = {}
    for model in models:
        params = model.get_params(deep=False)
        kernel = params["kernel"]
        named = isinstance(kernel, str) and kernel in ("linear", "poly", "rbf", "sigmoid")
        plain = all(name in params and params[name] == value for name, value in _PLAIN.items())
        if named and plain:
            rest = sorted((name, repr(value)) for name, value in params.items() if name != "C")
            groups.setdefault(repr(rest), []).append(model)
    return [group for group in groups.values() if len(group) > 1]


def answers(
    rows: NDArray[Any],
    kernel: Kernel,
    codes: NDArray[np.int64],
    n_classes: int,
    uppers: NDArray[np.float64],
    known: Known,
    settings: Settings,
) -> list[Answer | None]:
    """Solve the pairs for every price; None for a price at which a pair did not converge.

    Parameters
    ----------
    rows : ndarray of shape (n_train, n_features)
        Training rows, ordered by class.
    kernel : Kernel
        Their kernel.
    codes : ndarray of int64 of shape (n_train,)
        Their classes 0..K-1, ascending, all of them there.
    n_classes : int
        K, at least 3.
    uppers : ndarray of shape (n_prices, n_train)
        The largest alpha of each row.
    known : Known
        Kernel values.
    settings : Settings
        How to solve.

    Returns
    -------
    list of Answer or None
    """
    found = solve_pairs_path(
        rows,
        kernel,
        codes,
        n_classes,
        uppers,
        tol=settings.tol,
        cache_mb=settings.cache_mb,
        shrinking=settings.shrinking,
        max_iter=settings.max_iter,
        n_threads=settings.n_threads,
        values=known.values,
        exact=known.exact,
    )
    decisions = _decisions(found, codes, n_classes, known.cross)
    pairs = list(combinations(range(n_classes), 2))
    shape = (n_classes, *decisions.shape[1:])
    won, count, total = np.zeros(shape, np.int16), np.zeros(shape), np.zeros(shape)
    for (i, j), decision in zip(pairs, decisions, strict=True):
        ahead, level = decision > 0, decision >= 0
        won[i] += ahead
        won[j] += ~ahead
        count[i] += level
        count[j] += ~level
        total[i] += decision
        total[j] -= decision
    shaped = count + total / (3 * (np.abs(total) + 1))
    code = won.argmax(axis=0)
    return [
        Answer(code[price], np.ascontiguousarray(shaped[:, price].T), _n_support(each))
        if _converged(each, settings)
        else None
        for price, each in enumerate(found)
    ]


def _decisions(
    found: Sequence[Pairs], codes: NDArray[np.int64], n_classes: int, cross: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the decision of every pair: (pairs, prices, test rows), positive for the first."""
    coef = np.stack([each.coef for each in found], axis=1)
    ends = np.searchsorted(codes, np.arange(n_classes + 1))
    shape = (len(found), n_classes - 1, cross.shape[1])
    sums = np.stack(
        [(coef[a:b].reshape(b - a, -1).T @ cross[a:b]).reshape(shape) for a, b in pairwise(ends)]
    )
    first, second = np.array(list(combinations(range(n_classes), 2))).T
    bias = np.stack([each.bias for each in found], axis=1)
    decisions: NDArray[np.float64] = sums[first, :, second - 1] + sums[second, :, first]
    return decisions + bias[:, :, None]


def _n_support(pairs: Pairs) -> int:
    return int(np.count_nonzero(pairs.coef.any(axis=1)))


def _converged(pairs: Pairs, settings: Settings) -> bool:
    reasons = zip(pairs.stop_reason, pairs.kkt_residual, strict=True)
    return all(stop_reason(why, float(left), settings) == "converged" for why, left in reasons)
