"""Checks of a restored state: raise on what a kernel or an enclosing model could not use."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from assay.base._errors import DataError


def check_array_state(
    model: object,
    name: str,
    kinds: str,
    shape: tuple[int | None, ...],
    *,
    low: float | None = None,
    high: float | None = None,
) -> None:
    """Raise unless a kernel could read a restored array safely.

    Parameters
    ----------
    model : object
        The estimator whose attribute is checked.
    name : str
        The attribute.
    kinds : str
        Allowed ``dtype.kind`` letters.
    shape : tuple of int or None
        Expected shape; None = any length.
    low, high : float, optional
        Bounds of every element. Floats must be finite in any case.

    Raises
    ------
    DataError
        If the array is missing or does not fit.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> model = SimpleNamespace(codes_=np.array([0, 7]))
    >>> check_array_state(model, "codes_", "i", (2,), low=0, high=1)
    Traceback (most recent call last):
    assay.base.DataError: ...: SimpleNamespace.codes_ has values outside [0, 1]
    """
    array = getattr(model, name, None)
    where = f"{type(model).__name__}.{name}"
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        raise DataError(f"the model is damaged: {where} is missing or of the wrong type")
    fits = len(shape) == array.ndim and all(
        want is None or want == got for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise DataError(f"the model is damaged: {where} has shape {array.shape}, not {shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise DataError(f"the model is damaged: {where} has values that are not finite")
    outside = (low is not None and array.size and array.min() < low) or (
        high is not None and array.size and array.max() > high
    )
    if outside:
        raise DataError(f"the model is damaged: {where} has values outside [{low}, {high}]")


def check_models_state(
    model: object,
    name: str,
    *,
    count: int | None = None,
    n_features: int | None = None,
    methods: tuple[str, ...] = ("predict",),
) -> None:
    """Raise unless restored models are usable by the model that holds them.

    Parameters
    ----------
    model : object
        The estimator whose attribute is checked.
    name : str
        The attribute: a list of models such as ``"estimators_"``, or one model.
    count : int, optional
        Required number of models; None = any number from 1.
    n_features : int, optional
        Number of columns that each must have been fitted on; None = any.
    methods : tuple of str, default=("predict",)
        Methods that each must have.

    Raises
    ------
    DataError
        If the list is missing, has another length, or holds a model that does not fit.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sklearn.linear_model import Ridge
    >>> model = SimpleNamespace(estimators_=[Ridge().fit([[0.0], [1.0]], [1.0, 2.0])])
    >>> check_models_state(model, "estimators_", count=1, n_features=1)
    >>> check_models_state(model, "estimators_", n_features=2)
    Traceback (most recent call last):
    assay.base.DataError: ...: SimpleNamespace.estimators_[0] has 1 columns, not 2
    """
    where = f"the model is damaged: {type(model).__name__}.{name}"
    models = getattr(model, name, None)
    if isinstance(models, BaseEstimator):
        models = [models]
    if not isinstance(models, list) or not all(isinstance(m, BaseEstimator) for m in models):
        raise DataError(f"{where} is missing or not a list of models")
    if not models or (count is not None and len(models) != count):
        wanted = "at least 1" if count is None else count
        raise DataError(f"{where} holds {len(models)} models, not {wanted}")
    for position, child in enumerate(models):
        try:
            check_is_fitted(child)
        except (NotFittedError, TypeError):
            raise DataError(f"{where}[{position}] is not fitted") from None
        for method in methods:
            if not hasattr(child, method):
                raise DataError(f"{where}[{position}] has no method {method}")
        found = getattr(child, "n_features_in_", n_features)
        if n_features is not None and found != n_features:
            raise DataError(f"{where}[{position}] has {found} columns, not {n_features}")
