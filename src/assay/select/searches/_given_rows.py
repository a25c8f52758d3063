"""Tables that are not numeric matrices: a search refers to their rows by number."""

from __future__ import annotations

import hashlib
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from assay.base import as_frame


class GivenRows(BaseEstimator):
    """First step of a pipeline: row numbers in, rows of a table out.

    The units of a search hold one matrix of numbers. For a dataframe with text, or a sparse matrix,
    that is one column of row numbers, and each model begins with this step. It is identified by the
    digest of the table, and clones share the table.

    Parameters
    ----------
    table : dataframe, sparse matrix or ndarray
        All rows.

    Examples
    --------
    >>> import pandas as pd
    >>> given = GivenRows(pd.DataFrame({"a": ["x", "y", "z"]}))
    >>> given.transform(np.array([[2.0], [0.0]]))["a"].tolist()
    ['z', 'x']
    """

    def __init__(self, table: Any) -> None:
        self.table = table.tocsr() if issparse(table) else table
        self.digest = table_digest(self.table)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the digest, which identifies the table."""
        return {"digest": self.digest}

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn nothing."""
        return self

    def fit_transform(self, X: NDArray[Any], y: Any = None) -> Any:  # noqa: ARG002
        """Return the rows of these numbers."""
        return self.transform(X)

    def transform(self, X: NDArray[Any]) -> Any:
        """Return the rows of these numbers."""
        numbers = X[:, 0].astype(np.intp)
        frame = as_frame(self.table)
        return self.table[numbers] if frame is None else frame[numbers].to_native()

    def before(self, steps: list[tuple[str, Any]]) -> Pipeline:
        """Return a pipeline of these steps that takes row numbers."""
        return Pipeline([("assay_rows", self), *steps])


def table_digest(table: Any) -> str:
    """Return the SHA-256 of all values, column names and types."""
    hasher = hashlib.sha256()
    if issparse(table):
        hasher.update(repr((table.shape, table.dtype.str)).encode())
        for array in (table.data, table.indices, table.indptr):
            hasher.update(np.ascontiguousarray(array).data)
        return hasher.hexdigest()
    frame = as_frame(table)
    if frame is None:
        columns = [(str(j), table[:, j]) for j in range(table.shape[1])]
    else:
        columns = [(name, frame[name].to_numpy()) for name in frame.columns]
    for name, values in columns:
        hasher.update(repr((name, values.dtype.str, len(values))).encode())
        if values.dtype.kind in "biuf":
            hasher.update(np.ascontiguousarray(values).data)
        else:
            hasher.update("\x1f".join(map(repr, values.tolist())).encode())
    return hasher.hexdigest()
