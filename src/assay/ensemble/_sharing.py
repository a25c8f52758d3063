"""What the paths of forests and of AdaBoost share: sorted columns, and which runs are the same."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from assay.tree.engine import Ranks


def sorted_columns(X: NDArray[Any]) -> Ranks | None:
    """Sort the columns of a table, once for all training sets.

    None where each fit has to look for itself: text is coded, and infinity refused, by the fit.
    """
    if X.dtype.kind not in "biuf" or np.isinf(X).any():
        return None
    kind = np.float32 if X.dtype == np.float32 else np.float64
    return Ranks.build(np.ascontiguousarray(X, dtype=kind))


def run_key(setting: Mapping[str, Any], free: Set[str]) -> str:
    """Return a key that is equal for settings which differ in the parameters `free` only."""
    return str(joblib.hash({name: setting[name] for name in sorted(setting.keys() - free)}))
