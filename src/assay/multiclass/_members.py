"""Binary classifiers as members: checked, fitted on 0 and 1, and their confidences."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from assay.base import DataError, ParameterError, as_frame

Result = TypeVar("Result")


def check_classifier(name: str, estimator: Any) -> None:
    """Raise unless a parameter is a classifier.

    Parameters
    ----------
    name : str
        The parameter, for the message.
    estimator : object
        The value to check.
    """
    able = hasattr(estimator, "fit") and hasattr(estimator, "predict")
    if not able or isinstance(estimator, type) or not is_classifier(estimator):
        raise ParameterError(f"{name} must be a classifier; got {estimator!r}")


def check_same_length(X: Any, n_targets: int) -> None:
    """Raise unless the table has as many rows as there are targets."""
    if X.shape[0] != n_targets:
        raise DataError(
            f"X has {X.shape[0]} rows but y has {n_targets}; each row needs one target "
            "(inconsistent numbers of samples)"
        )


def check_takes_weight(estimator: Any, weight: NDArray[np.float64] | None) -> None:
    """Raise if there are weights and the member does not accept them."""
    if weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise DataError(
            f"sample_weight cannot be used: the fit of {type(estimator).__name__} takes none"
        )


def fitted(estimator: Any, X: Any, y: NDArray[Any], weight: NDArray[np.float64] | None) -> Any:
    """Return a fitted copy of an estimator; weights are passed if there are any."""
    member = clone(estimator)
    return member.fit(X, y) if weight is None else member.fit(X, y, sample_weight=weight)


def taken(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of an array, a sparse matrix or a dataframe, as the same kind of table."""
    frame = as_frame(X)
    return X[rows] if frame is None else frame[rows].to_native()


def confidence(member: Any, X: Any) -> NDArray[np.float64]:
    """Return a member's confidence in class 1, positive if class 1 is more likely.

    Parameters
    ----------
    member : classifier
        Fitted on the classes 0 and 1.
    X : table
        The rows.

    Returns
    -------
    ndarray of float64 of shape (n_rows,)
        Its decision function; without one, 2p - 1 from its probability p of class 1; without that,
        -1 or 1 from its prediction.
    """
    if hasattr(member, "decision_function"):
        values = np.asarray(member.decision_function(X), dtype=np.float64)
        if values.ndim == 2 and values.shape[1] == 2:
            values = values[:, 1] - values[:, 0]
    elif hasattr(member, "predict_proba"):
        values = 2.0 * second_share(member, X) - 1.0
    else:
        values = 2.0 * np.asarray(member.predict(X)).astype(np.float64) - 1.0
    return _one_column(member, values.reshape(-1) if values.shape[1:] == (1,) else values)


def second_share(member: Any, X: Any) -> NDArray[np.float64]:
    """Return a member's probability of class 1."""
    shares = np.asarray(member.predict_proba(X), dtype=np.float64)
    if shares.ndim != 2 or shares.shape[1] != 2:
        raise DataError(
            f"predict_proba of {type(member).__name__} gives shape {shares.shape}; two columns "
            "are needed"
        )
    return _one_column(member, shares[:, 1])


def _one_column(member: Any, values: NDArray[np.float64]) -> NDArray[np.float64]:
    if values.ndim != 1 or not np.isfinite(values).all():
        raise DataError(
            f"{type(member).__name__} does not give one finite number per row for two classes "
            f"(shape {values.shape}); use another binary classifier"
        )
    return values
