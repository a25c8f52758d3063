"""Find the next test of a decision list: the best conjunction of a few literals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, xlogy

from assay.tree._literals import ABOVE, AT_MOST, Literals, halfway, satisfies

Floats = NDArray[np.float64]
Triple = tuple[int, int, float]

_TIE = 1e-10
_CHUNK = 2048  # rows whose literals are converted to floats at a time


@dataclass(frozen=True)
class Rules:
    """Requirements of a test. `exact` = only one class; the shortest test, then the widest."""

    exact: bool
    min_precision: float
    min_cover: float
    significance: float | None
    max_literals: int


class Search:
    """Tests over the rows that no earlier rule matched.

    The counts of all pairs of literals per class are one matrix product. Rows matched by a rule are
    subtracted from it, so all rounds together cost one such product: O(n L^2) for L literals.
    """

    def __init__(
        self,
        X: Floats,
        codes: NDArray[np.int64],
        weight: Floats,
        n_levels: NDArray[np.int32],
        n_classes: int,
        literals: Literals,
        rules: Rules,
    ) -> None:
        self.X, self.codes, self.weight, self.n_levels = X, codes, weight, n_levels
        self.n_classes, self.literals, self.rules = n_classes, literals, rules
        self.matches = literals.matches(X, n_levels)
        # Single thresholds are tried at every value; those in the list are for conjunctions only.
        self.single = np.flatnonzero(~np.isin(literals.kind, (AT_MOST, ABOVE)))
        self.numeric = np.flatnonzero(n_levels == 0)
        self.orders = np.argsort(X[:, self.numeric], axis=0, kind="stable").T
        self.left = np.ones(len(X), dtype=bool)
        # Upper bound on what rounding leaves after a weight is subtracted completely.
        self.rounding = 1e-9 * max(1.0, float(weight.sum()))
        self.pairs: Floats | None = None

    def next_test(self) -> list[Triple] | None:
        """Return the literals of the best test; [] = all remaining rows; None = no test."""
        everything = np.flatnonzero(self.left)
        merit, _ = self._best(self._counts(everything)[:, None])
        if self.rules.exact:
            if merit > 0:
                return []
            for n_literals in range(1, self.rules.max_literals + 1):
                merit, test = self._best_of_size(n_literals, everything)
                if merit > 0:
                    return test
            return None
        merit, best = float(self._laplace(self._counts(everything))), None
        for n_literals in range(1, self.rules.max_literals + 1):
            other, test = self._best_of_size(n_literals, everything)
            if other > merit + _TIE:
                merit, best = other, test
        return best

    def take(self, test: list[Triple]) -> NDArray[np.int64]:
        """Remove the rows that a test matches, and return them."""
        rows = np.flatnonzero(self.left)
        for feature, kind, value in test:
            x = self.X[rows, feature]
            rows = rows[satisfies(x, kind, value, int(self.n_levels[feature]))]
        self.left[rows] = False
        n_left = np.count_nonzero(self.left)
        self.orders = self.orders[self.left[self.orders]].reshape(len(self.numeric), n_left)
        if self.pairs is not None:
            self._add_pairs(self.pairs, rows, -1.0)
        return rows

    def _best_of_size(self, size: int, rows: NDArray[np.int64]) -> tuple[float, list[Triple]]:
        if size == 1:
            one = self._best_listed(rows)
            other = self._best_cut()
            return other if other[0] > one[0] + _TIE else one
        if size == 2:
            if self.pairs is None:
                self.pairs = self._pair_counts(rows)
            return self._best_pair(self.pairs)
        return self._best_longer(size, rows, 0)

    def _best_longer(
        self, size: int, rows: NDArray[np.int64], first: int
    ) -> tuple[float, list[Triple]]:
        """Fix the first literal and search the others among the rows it matches."""
        merit, test = -1.0, list[Triple]()
        for i in range(first, len(self.literals) - size + 1):
            inside = rows[self.matches[i, rows]]
            if len(inside) in (0, len(rows)):
                continue
            if size == 3:
                other, rest = self._best_pair(self._pair_counts(inside, i + 1), i + 1)
            else:
                other, rest = self._best_longer(size - 1, inside, i + 1)
            if other > merit + _TIE:
                merit, test = other, [self.literals.triple(i), *rest]
        return merit, test

    def _best_pair(self, counts: Floats, first: int = 0) -> tuple[float, list[Triple]]:
        """Search the pairs i < j, in blocks of i that fit in the cache."""
        merit, test = -1.0, list[Triple]()
        n = counts.shape[1]
        step = max(1, 2**15 // max(1, n))
        for begin in range(0, n, step):
            other, index = self._best(counts[:, begin : begin + step, begin:])
            if other > merit + _TIE:
                a, b = divmod(index, n - begin)
                pair = (first + begin + a, first + begin + b)
                merit, test = other, [self.literals.triple(i) for i in pair]
        return merit, test

    def _best_listed(self, rows: NDArray[np.int64]) -> tuple[float, list[Triple]]:
        counts = np.zeros((len(self._weights(rows)), len(self.single)))
        for begin in range(0, len(rows), _CHUNK):
            some = rows[begin : begin + _CHUNK]
            counts += self._weights(some) @ self.matches[np.ix_(self.single, some)].T
        merit, index = self._best(counts)
        return merit, [self.literals.triple(int(self.single[index]))] if merit > 0 else []

    def _best_cut(self) -> tuple[float, list[Triple]]:
        """Search all thresholds of all numeric columns."""
        merit, test = -1.0, list[Triple]()
        for order, feature in zip(self.orders, self.numeric.tolist(), strict=True):
            x = self.X[order, feature]
            n_known = len(x) - np.count_nonzero(np.isnan(x))
            order, x = order[:n_known], x[:n_known]
            ends = np.flatnonzero(x[:-1] < x[1:])
            if not ends.size:
                continue
            below = np.cumsum(self._weights(order), axis=1)
            above = below[:, -1:] - below[:, ends]
            if not self.rules.exact:
                above = np.maximum(above, 0.0)
            for kind, counts in ((AT_MOST, below[:, ends]), (ABOVE, above)):
                other, index = self._best(counts)
                if other > merit + _TIE:
                    cut = halfway(x[ends[index]], x[ends[index] + 1])
                    merit, test = other, [(feature, kind, float(cut))]
        return merit, test

    def _weights(self, rows: NDArray[np.int64]) -> Floats:
        """Return one row per class: the weights of its rows, 0 for other rows.

        An exact search counts rows instead, since only integers can be subtracted without rounding,
        and adds one row of weights.
        """
        is_class = self.codes[rows] == np.arange(self.n_classes)[:, None]
        if self.rules.exact:
            return np.vstack([is_class, self.weight[rows]])
        return np.asarray(is_class * self.weight[rows])

    def _counts(self, rows: NDArray[np.int64]) -> Floats:
        return self._weights(rows).sum(axis=1)  # type: ignore[no-any-return]

    def _pair_counts(self, rows: NDArray[np.int64], first: int = 0) -> Floats:
        """Count the rows that satisfy both of two literals: shape (classes, L, L)."""
        n_literals = len(self.literals) - first
        counts = np.zeros((self.n_classes + self.rules.exact, n_literals, n_literals))
        self._add_pairs(counts, rows, 1.0, first)
        return counts

    def _add_pairs(
        self, counts: Floats, rows: NDArray[np.int64], sign: float, first: int = 0
    ) -> None:
        for begin in range(0, len(rows), _CHUNK):
            some = rows[begin : begin + _CHUNK]
            inside = self.matches[first:, some].astype(np.float64)
            for line, weights in zip(counts, self._weights(some), strict=True):
                used = weights != 0
                if used.any():  # a rule mostly matches rows of one class
                    line += (inside[:, used] * (sign * weights[used])) @ inside[:, used].T

    def _best(self, counts: Floats) -> tuple[float, int]:
        """Merit and flat index of the best test; if the merit is 0 or less, no test is allowed."""
        if not counts[0].size:
            return -1.0, 0
        if self.rules.exact:
            pure = counts[:-1].max(axis=0) == counts[:-1].sum(axis=0)
            merit = np.where(pure & (counts[:-1].max(axis=0) > 0), counts[-1], -1.0)
        else:
            merit = np.where(self._allowed(counts), self._laplace(counts), -1.0)
        best = merit.max()
        return float(best), int(np.argmax(merit.ravel() >= best - _TIE * max(1.0, abs(best))))

    def _laplace(self, counts: Floats) -> Floats:
        return (counts.max(axis=0) + 1.0) / (counts.sum(axis=0) + self.n_classes)  # type: ignore[no-any-return]

    def _allowed(self, counts: Floats) -> NDArray[np.bool_]:
        rules, counts = self.rules, np.maximum(counts, 0.0)
        cover = counts.sum(axis=0)
        slack = self.rounding
        allowed = (cover >= rules.min_cover - slack) & (cover > slack)
        allowed &= counts.max(axis=0) >= rules.min_precision * cover - slack
        if rules.significance is not None:
            prior = self._counts(np.flatnonzero(self.left))
            prior = (prior / prior.sum()).reshape(-1, *[1] * (counts.ndim - 1))
            # Likelihood ratio of the classes inside the test against those of all remaining rows.
            ratio = 2 * (xlogy(counts, counts).sum(axis=0) - xlogy(cover, cover))
            ratio = ratio - 2 * xlogy(counts, prior).sum(axis=0)
            free = max(1, np.count_nonzero(prior) - 1)
            allowed &= ratio >= chdtri(free, rules.significance)
        return allowed  # type: ignore[no-any-return]
