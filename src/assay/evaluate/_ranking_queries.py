"""The rows of each query of a ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import DataError, as_vector

_MISSING = ("NoneType", "NAType", "NaTType")


@dataclass(frozen=True, eq=False)
class Queries:
    """The rows of each query: sorted by query, in table order within a query.

    Parameters
    ----------
    labels : ndarray of shape (n_queries,)
        The names of the queries, ascending.
    codes : ndarray of int64 of shape (n_rows,)
        Query of each row, as position in `labels`.
    order : ndarray of int64 of shape (n_rows,)
        The rows, query after query.
    starts : ndarray of int64 of shape (n_queries + 1,)
        Start of each query in `order`.

    Examples
    --------
    >>> queries = Queries.of(["b", "a", "b"], 3)
    >>> queries.labels.tolist(), queries.order.tolist(), queries.sizes.tolist()
    (['a', 'b'], [1, 0, 2], [1, 2])
    """

    labels: NDArray[Any]
    codes: NDArray[np.int64]
    order: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, qid: ArrayLike | None, n_rows: int) -> Self:
        """Return the queries of a table.

        Parameters
        ----------
        qid : array-like of shape (n_rows,) or None
            Query of each row: numbers or texts, in any order. None: all rows are one query.
        n_rows : int
            Number of rows of the table.

        Returns
        -------
        Queries

        Raises
        ------
        DataError
            If the length is wrong or a query is missing.
        """
        if qid is None:
            one = np.zeros(n_rows, dtype=np.int64)
            return cls(one[:1], one, np.arange(n_rows), np.array([0, n_rows]))
        labels, codes = np.unique(_names(qid, n_rows), return_inverse=True)
        codes = codes.astype(np.int64, copy=False)
        counts = np.bincount(codes, minlength=len(labels))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(labels, codes, np.argsort(codes, kind="stable"), starts)

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each query."""
        return np.diff(self.starts)

    def rows(self, query: int) -> NDArray[np.int64]:
        """Return the rows of one query, ascending."""
        return self.order[self.starts[query] : self.starts[query + 1]]

    def positions(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        """Return 1 + the number of items of the query that score strictly higher, for each row."""
        by = np.lexsort((-scores, self.codes))
        value, code = scores[by], self.codes[by]
        new = np.ones(len(by), dtype=bool)
        new[1:] = (value[1:] != value[:-1]) | (code[1:] != code[:-1])
        first = np.maximum.accumulate(np.where(new, np.arange(len(by)), 0))
        places = np.empty(len(by), dtype=np.int64)
        places[by] = first - self.starts[code] + 1
        return places


def _names(qid: ArrayLike, n_rows: int) -> NDArray[Any]:
    names = np.asarray(as_vector(qid))
    if names.shape != (n_rows,):
        raise DataError(f"qid must name one query per row, shape ({n_rows},); got {names.shape}")
    if names.dtype.kind == "O":
        items = names.tolist()
        missing = [type(item).__name__ in _MISSING or item != item for item in items]
        if not any(missing):
            # Mixed numbers and texts have no order; as texts they have one.
            alike = len({type(item) for item in items}) == 1
            names = np.asarray(items if alike else [str(item) for item in items])
    elif names.dtype.kind in "fMm":
        missing = np.isnan(names).tolist()
    else:
        missing = []
    if any(missing):
        raise DataError(f"qid is missing in row {missing.index(True)}; each row needs a query")
    return names
