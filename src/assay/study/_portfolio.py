"""Which candidates are tried on which table: fixed before any score is seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

from assay.base import check_option
from assay.neighbors import KNeighborsClassifier, KNeighborsRegressor
from assay.select import Family
from assay.table import Dataset, Encoder

EFFORTS = ("quick", "normal", "thorough")

# Rows^2 * columns: a neighbour search beyond this takes minutes per partition.
MAX_NEIGHBOR_WORK = 1e12
# A discriminant factors a matrix of columns x columns in every fit.
MAX_DISCRIMINANT_COLUMNS = 1000

_N_NEIGHBORS = {
    "quick": (1, 5, 15, 35),
    "normal": (1, 3, 5, 7, 9, 13, 17, 25, 35, 51, 71, 101, 151),
    "thorough": (1, 2, 3, 4, 5, 7, 9, 11, 13, 17, 21, 25, 31, 37, 45, 51, 61, 71, 101, 151, 201),
}
_N_PENALTIES = {"quick": 4, "normal": 7, "thorough": 13}


def portfolio(dataset: Dataset, effort: str = "normal") -> tuple[list[Family], list[str]]:
    """Return the default families for a table, and what was left out and why.

    Parameters
    ----------
    dataset : Dataset
        The prepared table. Only its shape and task are looked at, never its values.
    effort : {"quick", "normal", "thorough"}, default="normal"
        How fine the grids are.

    Returns
    -------
    families : list of Family
    notes : list of str
    """
    check_option("effort", effort, EFFORTS)
    encoder = Encoder(kinds=tuple(feature.kind for feature in dataset.schema.features))
    make = _regressors if dataset.target.task == "regression" else _classifiers
    left_out = _too_much_work(len(dataset.y), _encoded_width(dataset))
    families, notes = [], []
    for name, estimator, candidates in make(effort, len(dataset.y)):
        if name in left_out:
            notes.append(f"{name} left out: {left_out[name]}")
        else:
            families.append(Family(name, estimator, tuple(candidates), encoder))
    return families, notes


_NEIGHBORS = "k-nearest neighbours"
_DISCRIMINANT = "linear discriminant"


def _encoded_width(dataset: Dataset) -> int:
    """Columns after encoding; a nominal column gives at most one per level and one for gaps."""
    return sum(
        len(feature.levels) + 1 if feature.kind == "nominal" and feature.levels else 1
        for feature in dataset.schema.features
    )


def _too_much_work(n_rows: int, width: int) -> dict[str, str]:
    """Return the families that would take too long on a table of this shape, with the reason."""
    reasons = {}
    if float(n_rows) ** 2 * width > MAX_NEIGHBOR_WORK:
        reasons[_NEIGHBORS] = f"{n_rows:,} rows of {width:,} columns take too long to search"
    if width > MAX_DISCRIMINANT_COLUMNS:
        reasons[_DISCRIMINANT] = (
            f"{width:,} columns, and it is tried up to {MAX_DISCRIMINANT_COLUMNS:,}"
        )
    return reasons


def _classifiers(effort: str, n_rows: int) -> Iterable[tuple[str, Any, list[dict[str, Any]]]]:
    yield _NEIGHBORS, KNeighborsClassifier(), _neighbor_grid(effort, n_rows)
    yield "logistic regression", LogisticRegression(max_iter=2000), _grid(C=_penalties(effort))
    yield (
        _DISCRIMINANT,
        LinearDiscriminantAnalysis(),
        [{"solver": "svd"}, *_grid(solver=("lsqr",), shrinkage=("auto", 0.1, 0.5))],
    )
    yield "naive Bayes", GaussianNB(), _grid(var_smoothing=(1e-9, 1e-4, 1e-2, 1e-1, 1.0))


def _regressors(effort: str, n_rows: int) -> Iterable[tuple[str, Any, list[dict[str, Any]]]]:
    yield _NEIGHBORS, KNeighborsRegressor(), _neighbor_grid(effort, n_rows)
    yield "linear regression", LinearRegression(), [{}]
    yield "ridge regression", Ridge(), _grid(alpha=_penalties(effort))


def _neighbor_grid(effort: str, n_rows: int) -> list[dict[str, Any]]:
    # With five blocks a pair-out fit sees three fifths of the rows; half leaves room for groups.
    counts = [k for k in _N_NEIGHBORS[effort] if k <= max(1, n_rows // 2)]
    metrics: tuple[float, ...] = (2.0,) if effort == "quick" else (1.0, 2.0)
    return _grid(n_neighbors=counts, weights=("uniform", "distance"), p=metrics)


def _penalties(effort: str) -> list[float]:
    return [float(f"{value:.3g}") for value in np.logspace(-3, 3, _N_PENALTIES[effort])]


def _grid(**options: Iterable[Any]) -> list[dict[str, Any]]:
    names = list(options)
    return [dict(zip(names, values, strict=True)) for values in product(*options.values())]


def own_families(models: Mapping[str, Any], dataset: Dataset) -> list[Family]:
    """Return the user's own models as families: one candidate each, behind the same encoder.

    Parameters
    ----------
    models : mapping of str to estimator or Family
        A `Family` is taken as it is.
    dataset : Dataset
        Gives the kinds of the columns to encode.
    """
    encoder = Encoder(kinds=tuple(feature.kind for feature in dataset.schema.features))
    return [
        model if isinstance(model, Family) else Family(name, model, ({},), encoder)
        for name, model in models.items()
    ]
