"""Penalties by name and their numbers in the core."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._core import linear as kernels

#: Position in the core's list (core/include/assay/linear/descent_problem.hpp, AnyPenalty).
PENALTIES: Final = {None: 0, "l1": 1, "l2": 2, "elasticnet": 3, "lp": 4, "norm": 5}


class Penalty(NamedTuple):
    """A penalty in the core's form: its number, lambda, and its ratio or exponent."""

    kind: int
    strength: float
    shape: float

    @classmethod
    def of(cls, name: str | None, alpha: float, l1_ratio: float, p: float) -> Penalty:
        """Return the penalty of this name."""
        return cls(PENALTIES[name], float(alpha), float(l1_ratio if name == "elasticnet" else p))

    def value(self, weights: NDArray[np.float64]) -> float:
        """Return the penalty of a vector of weights."""
        return kernels.penalty_value(*self, np.ascontiguousarray(weights, dtype=np.float64))
