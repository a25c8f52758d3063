"""One matrix of kernel values for machines with other targets: members of a reduction."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import SharedFit

# Kernel values that take more room than this are left to the cache of each solver.
_MOST_BYTES = 256 * 2**20
# In few columns a kernel value costs less than to read it again: measured with 10 classes and
# 2,000 to 4,000 rows, sharing took 1.1 times as long in 20 columns, 0.9 in 64, 0.6 in 200.
_FEWEST_COLUMNS = 64


class Gram:
    """Kernel values of a table, computed by the first machine that asks.

    Parameters
    ----------
    n_threads : int
        Threads; the values do not depend on it.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._lock = threading.Lock()
        self._kernel: Any = None
        self._values: NDArray[np.float32] | None = None

    def values(self, kernel: Any, rows: Any) -> NDArray[np.float32]:
        """Return what the solver would compute: the same bits."""
        with self._lock:
            if self._values is None or kernel != self._kernel:
                found = kernel.matrix(rows, n_threads=self.n_threads, dtype=np.float32)
                self._kernel, self._values = kernel, found
            return self._values


class SharedGram(SharedFit[Gram]):
    """Kernel values of all rows, for `assay.svm.SVC` with a kernel that has a name."""

    def prepare(
        self, model: Any, X: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> Gram | None:
        """Prepare a place for the values."""
        named = isinstance(model.kernel, str) and model.kernel != "precomputed"
        worth_it = X.shape[1] >= _FEWEST_COLUMNS and 4 * len(X) ** 2 <= _MOST_BYTES
        if not named or not worth_it or (weight is not None and not weight.all()):
            return None
        settings = model._check_params()  # a senseless parameter is refused before any work
        return Gram(settings.n_threads)

    def fit(
        self,
        model: Any,
        prepared: Gram,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
    ) -> Any:
        """Do what the machine's own fit does, with kernel values that are there."""
        settings = model._check_params()
        rows, codes, weight = model._fit_data(X, y, weight)
        table = model._training_table(rows, weight)
        table = replace(table, values=prepared.values(table.kernel, rows))
        model._learn(rows, table, codes, weight, settings)
        return model
