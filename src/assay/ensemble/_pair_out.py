"""Which rows and columns each fit of a stack sees, so that no answer depends on its own row."""

# A second level is asked about a row of fold k. If it had learned from plain out-of-fold outputs,
# these would come from first-level models that saw the labels of fold k. So it learns from outputs
# of models fitted without k *and* without the fold of the row they judge: fits without pairs of
# folds, as in assay.select; with more levels, without triples.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import ParameterError
from assay.ensemble._folds import Split
from assay.ensemble._outputs import beside, n_rows, take

Folds = frozenset[int]
Outputs = Mapping[Folds, NDArray[np.float64]]
NONE: Folds = frozenset()


def sets_of_folds(n_folds: int, most: int) -> list[Folds]:
    """Return all sets of one to `most` folds.

    Parameters
    ----------
    n_folds : int
        Number of folds.
    most : int
        Largest size.

    Returns
    -------
    list of frozenset of int

    Examples
    --------
    >>> [sorted(folds) for folds in sets_of_folds(3, 2)]
    [[0], [1], [2], [0, 1], [0, 2], [1, 2]]
    """
    if n_folds <= most:
        raise ParameterError(
            f"cv must make more folds than there are levels below the final estimator, {most}; "
            f"got {n_folds} folds"
        )
    sizes = range(1, most + 1)
    return [frozenset(folds) for size in sizes for folds in combinations(range(n_folds), size)]


@dataclass(frozen=True)
class Inputs:
    """What the models of one level learn from and are asked about.

    Parameters
    ----------
    X : table
        The rows.
    parts : sequence of (train, test)
        The folds.
    below : mapping of frozenset of int to ndarray, or None
        For every set of folds, what the level below says about their rows when fitted without
        them; other rows are NaN. None for the first level.
    passthrough : bool
        Whether levels above the first see X too.
    owner : str
        Class name for messages.
    """

    X: Any
    parts: Sequence[Split]
    below: Outputs | None
    passthrough: bool
    owner: str

    def learned(self, out: Folds) -> tuple[NDArray[np.int64], Any]:
        """Return row numbers and table of what models without these folds learn from."""
        rows = np.arange(n_rows(self.X))
        if out:
            rows = reduce(np.intersect1d, [self.parts[k][0] for k in sorted(out)])
        if not len(rows):
            raise ParameterError("cv must leave rows to learn from without any set of its folds")
        return rows, self._table(rows, None if self.below is None else self.outputs(out))

    def asked(self, out: Folds) -> tuple[NDArray[np.int64], Any]:
        """Return row numbers and table of what models without these folds are asked about."""
        rows = np.sort(np.concatenate([self.parts[k][1] for k in out]))
        return rows, self._table(rows, None if self.below is None else self.below[out])

    def outputs(self, out: Folds) -> NDArray[np.float64]:
        """Return what the level below says about each row when fitted without it and `out`."""
        assert self.below is not None
        said = np.full_like(next(iter(self.below.values())), np.nan)
        for k, (_, test) in enumerate(self.parts):
            if k not in out:
                said[test] = self.below[out | {k}][test]
        return said

    def _table(self, rows: NDArray[np.int64], said: NDArray[np.float64] | None) -> Any:
        whole = len(rows) == n_rows(self.X)
        if said is None:
            return self.X if whole else take(self.X, rows)
        if not self.passthrough:
            return said[rows]
        return beside(said[rows], self.X if whole else take(self.X, rows), self.owner)
