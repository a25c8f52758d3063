"""The preference between two items, from a fitted classifier of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.evaluate import Queries
from assay.ranking._features import pair_features
from assay.ranking._pairs import Pairs

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Numbers of the pair features that are in memory at a time (32 MB).
_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Preference:
    """A classifier of pairs as a function of two items: positive = the first is better.

    Parameters
    ----------
    model : classifier
        Fitted on pairs, with the classes -1 and 1.
    features : {'difference', 'greater'}
        Features of a pair, as in the fit.
    vote : {'soft', 'hard'}
        Whether the preference is the confidence or only the prediction.

    Notes
    -----
    :math:`F(a, b) = (f(a, b) - f(b, a)) / 2`, so that F(a, b) = -F(b, a) for any classifier.
    """

    model: Any
    features: str
    vote: str

    def of(self, rows: NDArray[Any], first: Rows, second: Rows) -> Floats:
        """Return the preference for the first item of each pair, in [-1, 1] for probabilities."""
        size = self.block(rows)
        parts = [
            self._of_block(rows, first[start : start + size], second[start : start + size])
            for start in range(0, len(first), size)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def mean(self, rows: NDArray[Any], queries: Queries) -> Floats:
        """Return the mean preference of each item over the others of its query; 0 if alone."""
        total = np.zeros(len(rows))
        for first, second in Pairs.of_items(queries).blocks(self.block(rows)):
            values = self._of_block(rows, first, second)
            total += np.bincount(first, values, len(rows)) - np.bincount(second, values, len(rows))
        return total / np.maximum(queries.sizes - 1, 1)[queries.codes]

    def block(self, rows: NDArray[Any]) -> int:
        """Return how many pairs are evaluated at a time."""
        return max(1024, _CELLS // int(rows.shape[1]))

    def _of_block(self, rows: NDArray[Any], first: Rows, second: Rows) -> Floats:
        there = self._output(pair_features(rows, first, second, self.features))
        back = self._output(pair_features(rows, second, first, self.features))
        found: Floats = (there - back) / 2
        return found

    def _output(self, pairs: NDArray[Any]) -> Floats:
        if self.vote == "soft" and hasattr(self.model, "predict_proba"):
            return 2 * np.asarray(self.model.predict_proba(pairs), dtype=np.float64)[:, 1] - 1
        if self.vote == "soft" and hasattr(self.model, "decision_function"):
            return np.asarray(self.model.decision_function(pairs), dtype=np.float64)
        return np.asarray(self.model.predict(pairs), dtype=np.float64)


#: (first, second) -> preference for the first of each pair.
Comparator = Callable[[Rows, Rows], Floats]
