"""How large a fitted model is, for preferring the simpler of two equals."""

from __future__ import annotations

from typing import Any

import numpy as np


def model_size(model: Any) -> float:
    """Return the number of fitted parameters, by a rule that needs no knowledge of the model.

    Parameters
    ----------
    model : estimator
        Fitted. Of a pipeline, the last step counts; of a search, the best estimator.

    Returns
    -------
    float
        The first of these that exists: non-zero coefficients (``coef_``, a weight of zero is no
        part of the model) with the intercepts; nodes of a tree (``tree_.node_count``); the sum over
        ``estimators_``; numbers in all arrays whose name ends in ``_`` (support vectors, means,
        layers); ``n_features_in_``; 1.

    Notes
    -----
    Sizes are compared only to break exact ties of score, so the scale matters little; within a
    family it orders candidates from simple to complex.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> model_size(Ridge().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0.0, 1.0, 2.0]))
    3.0
    """
    if hasattr(model, "steps"):
        return model_size(model.steps[-1][1])
    if hasattr(model, "best_estimator_"):
        return model_size(model.best_estimator_)
    coef = vars(model).get("coef_") if hasattr(model, "__dict__") else None
    if isinstance(coef, np.ndarray):
        return float(np.count_nonzero(coef) + np.size(getattr(model, "intercept_", ())))
    tree = getattr(model, "tree_", None)
    if tree is not None:
        return float(tree.node_count)
    members = getattr(model, "estimators_", None)
    if members is not None and np.size(members):
        return float(sum(model_size(member) for member in _flat(members)))
    numbers = _numbers(model)
    return float(numbers or getattr(model, "n_features_in_", 1))


def _flat(members: Any) -> list[Any]:
    flat = []
    for member in members:
        if isinstance(member, list | tuple | np.ndarray):
            flat.extend(_flat(member))
        elif hasattr(member, "fit"):
            flat.append(member)
    return flat


def _numbers(model: Any) -> int:
    count = 0
    for name, value in getattr(model, "__dict__", {}).items():
        if name.endswith("_") and not name.startswith("_") and name != "classes_":
            arrays = value if isinstance(value, list) else [value]
            count += sum(
                array.size
                for array in arrays
                if isinstance(array, np.ndarray) and array.dtype.kind == "f"
            )
    return count
