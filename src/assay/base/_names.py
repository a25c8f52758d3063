"""Column names of dataframes, stored and compared as scikit-learn does.

Which dataframe libraries scikit-learn reads names from depends on its version; here all are read.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from assay.base._errors import DataError

_SHOWN = 5


def learn_names(estimator: BaseEstimator, columns: Sequence[Any]) -> None:
    """Set `n_features_in_` and, if the columns have text names, `feature_names_in_`."""
    estimator.n_features_in_ = len(columns)
    if _are_text(columns):
        estimator.feature_names_in_ = np.array(columns, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_names(estimator: BaseEstimator, columns: Sequence[Any]) -> None:
    """Raise if the columns differ from those seen in fit, or come in another order."""
    known = getattr(estimator, "feature_names_in_", None)
    who = type(estimator).__name__
    if known is not None and _are_text(columns):
        if list(known) != list(columns):
            raise DataError(_mismatch(list(known), list(columns)))
        return
    if known is not None:
        message = f"X does not have valid feature names, but {who} was fitted with feature names"
        warnings.warn(message, UserWarning, stacklevel=4)
    elif _are_text(columns):
        message = f"X has feature names, but {who} was fitted without feature names"
        warnings.warn(message, UserWarning, stacklevel=4)
    if len(columns) != estimator.n_features_in_:
        raise DataError(
            f"X has {len(columns)} features, but {who} is expecting "
            f"{estimator.n_features_in_} features as input"
        )


def _are_text(columns: Sequence[Any]) -> bool:
    text = [isinstance(name, str) for name in columns]
    if any(text) and not all(text):
        kinds = sorted({type(name).__qualname__ for name in columns})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {kinds} as feature name / column name types; make them all text, for "
            "example by X.columns = X.columns.astype(str)"
        )
    return bool(text) and all(text)


def _mismatch(known: list[str], columns: list[str]) -> str:
    lines = ["The feature names should match those that were passed during fit."]
    unseen, missing = sorted(set(columns) - set(known)), sorted(set(known) - set(columns))
    if unseen:
        lines += ["Feature names unseen at fit time:", *_listed(unseen)]
    if missing:
        lines += ["Feature names seen at fit time, yet now missing:", *_listed(missing)]
    if not unseen and not missing:
        lines += ["Feature names must be in the same order as they were in fit."]
    return "\n".join(lines) + "\n"


def _listed(names: list[str]) -> list[str]:
    return [*(f"- {name}" for name in names[:_SHOWN]), *(["- ..."] if names[_SHOWN:] else [])]
