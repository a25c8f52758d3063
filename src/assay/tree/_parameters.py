"""Check the parameters of a single tree and resolve them for a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import ParameterError, check_interval, check_option
from assay.tree.engine._bins import MAX_BINS_16
from assay.tree.engine._grow import CRITERIA, GrowOptions, Table

#: Pruning methods.
PRUNINGS = (None, "cost_complexity", "chi2", "reduced_error", "pessimistic")
#: Criteria of trees with fractional rows, with their numbers in the core.
DIVIDED = {"gini": 0, "entropy": 1, "log_loss": 1, "error": 2, "squared_error": 3}


def check_parameters(params: Mapping[str, Any], task: str) -> None:
    """Raise unless the parameters are valid, alone and together.

    Parameters
    ----------
    params : mapping of str to object
        As `get_params` returns them.
    task : {'classification', 'regression'}
        The task.
    """
    check_option("criterion", params["criterion"], CRITERIA[task])
    check_option("splitter", params["splitter"], ("best", "random"))
    check_interval("max_depth", params["max_depth"], 1, integer=True, options=[None])
    _check_count("min_samples_split", params["min_samples_split"], 2, 1.0)
    _check_count("min_samples_leaf", params["min_samples_leaf"], 1, 1.0)
    check_interval("min_weight_fraction_leaf", params["min_weight_fraction_leaf"], 0.0, 0.5)
    _check_max_features(params["max_features"])
    check_interval("max_leaf_nodes", params["max_leaf_nodes"], 2, integer=True, options=[None])
    check_interval("min_impurity_decrease", params["min_impurity_decrease"], 0.0, math.inf)
    check_interval("ccp_alpha", params["ccp_alpha"], 0.0, options=["cv"])
    check_option("missing", params["missing"], ("learned", "fractional"))
    check_interval("max_bins", params["max_bins"], 2, MAX_BINS_16, integer=True)
    check_option("prune", params["prune"], PRUNINGS)
    for name in ("significance", "validation_fraction"):
        check_interval(name, params[name], 0.0, 1.0, open_low=True, open_high=True)
    if task == "classification":
        check_option("entropy_base", params["entropy_base"], (2, "e"))
        check_interval("confidence", params["confidence"], 0.0, 0.5, open_low=True)
    check_interval("n_folds", params["n_folds"], 2, integer=True)
    check_interval("standard_errors", params["standard_errors"], 0.0)
    _check_together(params)


def grow_options(params: Mapping[str, Any], n_classes: int, bins: Table) -> GrowOptions:
    """Return the options of the grower for a table.

    Parameters
    ----------
    params : mapping of str to object
        Checked by `check_parameters`.
    n_classes : int
        0 for a regression.
    bins : Bins or Columns
        The table.
    """
    n = bins.n_samples
    min_leaf = _count(params["min_samples_leaf"], n, 1)
    min_split = max(_count(params["min_samples_split"], n, 2), 2 * min_leaf)
    scale = math.log(2) if is_natural(params) else 1.0
    options = GrowOptions(
        task="classification" if n_classes else "regression",
        n_classes=n_classes,
        criterion=params["criterion"],
        splitter=params["splitter"],
        max_depth=params["max_depth"],
        min_samples_split=min_split,
        min_samples_leaf=min_leaf,
        min_weight_fraction_leaf=float(params["min_weight_fraction_leaf"]),
        max_features=feature_count(params["max_features"], bins.n_features),
        max_leaf_nodes=params["max_leaf_nodes"],
        min_impurity_decrease=params["min_impurity_decrease"] / scale,
        monotonic_cst=_signs(params["monotonic_cst"]),
        with_stats=True,
    )
    options.check(bins)
    return options


def feature_count(max_features: int | float | str | None, n_features: int) -> int:
    """Return the number of columns tried for each split."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(math.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(max_features, float):
        return max(1, int(max_features * n_features))
    return min(int(max_features), n_features)


def is_natural(params: Mapping[str, Any]) -> bool:
    """Whether impurities are entropies in nats."""
    is_entropy = params["criterion"] in ("entropy", "log_loss")
    return is_entropy and params.get("entropy_base", 2) == "e"


def _count(value: float, n_samples: int, least: int) -> int:
    if isinstance(value, float) and value < least:
        return max(least, math.ceil(value * n_samples))
    return int(value)


def _signs(monotonic_cst: object) -> NDArray[np.int8] | None:
    if monotonic_cst is None:
        return None
    signs = np.asarray(monotonic_cst)
    if signs.dtype.kind not in "iuf" or signs.ndim != 1 or not np.isin(signs, (-1, 0, 1)).all():
        raise ParameterError(
            f"monotonic_cst must hold -1, 0 or 1 for each column; got {monotonic_cst!r}"
        )
    return signs.astype(np.int8)


def _check_count(name: str, value: object, least: int, most: float) -> None:
    if isinstance(value, float) and 0.0 < value <= most:
        return
    try:
        check_interval(name, value, least, integer=True)
    except ParameterError:
        raise ParameterError(
            f"{name} must be an integer >= {least} or a number in (0, {most:g}]; got {value!r}"
        ) from None


def _check_max_features(value: object) -> None:
    if isinstance(value, float) and 0.0 < value <= 1.0:
        return
    try:
        check_interval("max_features", value, 1, integer=True, options=["sqrt", "log2", None])
    except ParameterError:
        raise ParameterError(
            "max_features must be an integer >= 1, a number in (0, 1], 'sqrt', 'log2' or None; "
            f"got {value!r}"
        ) from None


def _check_together(params: Mapping[str, Any]) -> None:
    prune, alpha = params["prune"], params["ccp_alpha"]
    if prune not in (None, "cost_complexity") and alpha != 0.0:
        raise ParameterError(f"ccp_alpha must be 0.0 with prune={prune!r}; got {alpha!r}")
    criterion = params["criterion"]
    if prune == "chi2" and criterion in ("poisson", "absolute_error"):
        raise ParameterError(
            "prune='chi2' tests the variance explained, so criterion must be 'squared_error' or "
            f"'friedman_mse'; got {criterion!r}"
        )
    if params["missing"] != "fractional":
        return
    refused = {
        "criterion": criterion not in DIVIDED,
        "splitter": params["splitter"] != "best",
        "max_leaf_nodes": params["max_leaf_nodes"] is not None,
        "monotonic_cst": params["monotonic_cst"] is not None,
        "prune": prune == "reduced_error",
        "ccp_alpha": alpha == "cv",
    }
    for name, is_refused in refused.items():
        if is_refused:
            raise ParameterError(f"missing='fractional' does not support {name}={params[name]!r}")
