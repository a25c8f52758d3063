"""Outputs of a model as input columns of the model above it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from assay.base import DataError, ParameterError, as_frame

METHODS = ("predict_proba", "decision_function", "predict")


def output_method(name: str, member: Any, wanted: str) -> str:
    """Return the method that gives a classifier's outputs.

    Parameters
    ----------
    name : str
        The member's name, for the message.
    member : estimator
        Fitted or not.
    wanted : {'auto', 'predict_proba', 'decision_function', 'predict'}
        'auto' = the first of the others that it has.

    Returns
    -------
    str
    """
    if wanted == "auto":
        return next(method for method in METHODS if hasattr(member, method))
    if not hasattr(member, wanted):
        raise ParameterError(
            f"stack_method must be one that every estimator has, or 'auto'; {name!r}, "
            f"{member!r}, has no {wanted!r}"
        )
    return wanted


def n_columns(n_classes: int) -> int:
    """Return the number of output columns of a model; `n_classes` is 0 for a regressor.

    Two classes need one column, since the other would be its complement.
    """
    return 1 if n_classes <= 2 else n_classes


def columns(member: Any, method: str, X: Any, n_classes: int) -> NDArray[np.float64]:
    """Return a fitted model's outputs: one column per class (one for two classes, or a value).

    Parameters
    ----------
    member : estimator
        A regressor, or a classifier fitted on class numbers, perhaps not on all of them.
    method : str
        The method to call.
    X : table
        The rows.
    n_classes : int
        Number of classes in the training data; 0 for a regressor.

    Returns
    -------
    ndarray of float64 of shape (n_rows, n_columns(n_classes))
        For a class that the model never saw: probability 0, or the lowest of its scores.

    Raises
    ------
    DataError
        When a value is not finite, or the number of columns is not that of the classes.
    """
    output = np.asarray(getattr(member, method)(X))
    if output.dtype.kind == "f" and not np.isfinite(output).all():
        row = int(np.argwhere(~np.isfinite(output))[0][0])
        raise DataError(
            f"{method} of {type(member).__name__} is not finite in row {row}; the model above it "
            "needs finite numbers"
        )
    if n_classes == 0:
        return _one_column(output, member)
    if method == "predict":
        return _compact(np.eye(n_classes)[output.astype(np.int64)])
    seen = np.asarray(member.classes_).astype(np.int64)
    if output.ndim == 1:  # the score of the second of two classes
        output = np.column_stack([-output, output])
    if output.shape[1] != len(seen):
        raise DataError(
            f"{method} of {type(member).__name__} gives {output.shape[1]} columns for "
            f"{len(seen)} classes; choose another stack_method"
        )
    whole = np.zeros((len(output), n_classes))
    if method == "decision_function" and len(seen) < n_classes:
        whole += output.min(axis=1, keepdims=True)
    whole[:, seen] = output
    return _compact(whole)


def constant_columns(code: int, method: str, n_rows: int, n_classes: int) -> NDArray[np.float64]:
    """Return the outputs of a model that knows one class only, without fitting one.

    Parameters
    ----------
    code : int
        The class.
    method : str
        The method whose outputs to imitate.
    n_rows : int
        Number of rows.
    n_classes : int
        Number of classes in the training data.

    Returns
    -------
    ndarray of float64 of shape (n_rows, n_columns(n_classes))
    """
    row = np.eye(n_classes)[code]
    if method == "decision_function":
        row = 2.0 * row - 1.0
    return np.repeat(_compact(row[None]), n_rows, axis=0)


def beside(output: NDArray[np.float64], X: Any, owner: str) -> Any:
    """Return the outputs with the table's own columns to their right.

    Parameters
    ----------
    output : ndarray of shape (n_rows, n_outputs)
        Outputs of models.
    X : table
        Numbers only; a sparse matrix gives a sparse result.
    owner : str
        Class name for the message.

    Returns
    -------
    ndarray or CSR matrix
    """
    if sp.issparse(X):
        return sp.hstack([output, X], format="csr")
    frame = as_frame(X)
    try:
        own = np.asarray(X if frame is None else frame.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"passthrough=True needs a table of numbers, for the final estimator of {owner}; "
            "turn the other columns into numbers first (assay.table.Encoder does)"
        ) from None
    return np.hstack([output, own])


def take(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a table as a table of the same kind.

    Parameters
    ----------
    X : ndarray, sparse matrix or dataframe
        The table.
    rows : ndarray of int64
        Row numbers.

    Returns
    -------
    table
    """
    frame = as_frame(X)
    return X[rows] if frame is None else frame[rows].to_native()


def n_rows(X: Any) -> int:
    """Return the number of rows of a table."""
    return int(X.shape[0])


def _compact(output: NDArray[np.float64]) -> NDArray[np.float64]:
    return output[:, 1:] if output.shape[1] == 2 else output


def _one_column(output: NDArray[Any], member: Any) -> NDArray[np.float64]:
    values = output.reshape(-1, 1) if output.ndim == 1 else output
    if values.shape[1] != 1:
        raise DataError(
            f"predict of {type(member).__name__} gives {values.shape[1]} columns; one is needed"
        )
    return values.astype(np.float64)
