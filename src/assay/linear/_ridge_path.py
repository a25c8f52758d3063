"""Every penalty from one pass over a training set (a path for `assay.select`).

The products of columns do not depend on the penalty, nor do the products of rows or the singular
values where these are used instead: one `Problem` serves all penalties, with the bits of one fit
per penalty. Only the triangular factor is each penalty's own: a sixth of d cubed multiplications,
where the eigenvalues that would serve all of them cost more than a dozen such factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.linear._least_path import LeastPath


class RidgePath(LeastPath):
    """The path of `Ridge`."""

    def _fit_together(
        self,
        models: Sequence[Any],
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
    ) -> None:
        problem = None
        for model in models:
            problem = model._fit(X, y, weight, problem)
