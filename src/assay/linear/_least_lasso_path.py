"""All penalties along one warm-started path (a path for `assay.select`).

Each solution starts from that of the next larger penalty and uses the products of columns that
were made for it. Solutions that are exact do not depend on the start, so they are those of single
fits, to the last few bits. The others (columns that depend on each other, sweeps that came to their
limit) are computed again, alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.linear._least_lasso import lasso_solutions
from assay.linear._least_path import LeastPath


class LassoCandidates(LeastPath):
    """The path of `Lasso` and `ElasticNet`."""

    def _fit_together(
        self,
        models: Sequence[Any],
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
    ) -> None:
        rows, targets, checked = models[0]._fit_data(X, y, weight)
        order = sorted(models, key=lambda model: -model.alpha)
        alphas = np.array([float(model.alpha) for model in order])
        found = lasso_solutions(rows, targets, checked, alphas, models[0]._settings())
        for k, model in enumerate(order):
            if found.exact[k]:
                model.n_features_in_ = models[0].n_features_in_
                model._keep([found.only(k)])
            else:
                model.fit(X, y, sample_weight=weight)
