"""Names of the columns that a transformer was fitted on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from assay.base import DataError, Estimator


def names_in(model: Estimator, input_features: ArrayLike | None) -> NDArray[Any]:
    """Return the names given, else those seen in fit, else x0, x1, ..."""
    check_is_fitted(model)
    known = getattr(model, "feature_names_in_", None)
    if input_features is None:
        if known is not None:
            return np.asarray(known, dtype=object)
        return np.array([f"x{j}" for j in range(model.n_features_in_)], dtype=object)
    names = np.asarray(input_features, dtype=object)
    if known is not None and names.tolist() != np.asarray(known).tolist():
        raise DataError("input_features is not equal to feature_names_in_")
    if names.shape != (model.n_features_in_,):
        raise DataError(
            "input_features should have length equal to number of features "
            f"({model.n_features_in_}), got {names.size}"
        )
    return names
