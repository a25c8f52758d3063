"""Every penalty from one pass over a training set (a path for `assay.select`).

The products of columns do not depend on the penalty, nor do the products of rows or the singular
values where these are used instead: one `Problem` serves all penalties, with the bits of one fit
per penalty. Only the triangular factor is each penalty's own: a sixth of d cubed multiplications,
where the eigenvalues that would serve all of them cost more than a dozen such factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.linear._least_path import LeastPath, TrainingSet


class RidgePath(LeastPath):
    """The path of `Ridge`."""

    def _fit_group(self, models: Sequence[Any], on: TrainingSet) -> None:
        problem = None
        for model in models:
            problem = model._fit(on.rows, on.targets, on.weight, problem)
