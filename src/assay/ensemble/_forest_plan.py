"""The parameters of a forest, checked and resolved against a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import ParameterError, check_interval, check_n_jobs, check_option
from assay.tree._parameters import feature_count
from assay.tree.engine import GrowOptions
from assay.tree.engine._grow import CRITERIA

COMBINATIONS = ("mean", "vote", "product")
CLASS_WEIGHTS = ("balanced", "balanced_subsample")

#: Trees per check of the out-of-bag error, and checks without improvement before stopping.
BATCH = 25
PATIENCE = 3
MOST_TREES = 1000

_BOOLEANS = (True, False)


@dataclass(frozen=True)
class Plan:
    """Parameters of a forest, resolved for a table."""

    options: GrowOptions
    n_trees: int | None  # None: chosen by the out-of-bag error
    n_threads: int


def check_forest(params: Mapping[str, Any], *, classifier: bool) -> None:
    """Check the parameters that do not depend on the table.

    Parameters
    ----------
    params : mapping of str to object
        As passed to the constructor.
    classifier : bool
        Whether the forest classifies.

    Raises
    ------
    ParameterError
        Naming the first wrong parameter.
    """
    _check_growth(params, classifier=classifier)
    check_option("bootstrap", params["bootstrap"], _BOOLEANS)
    if not callable(params["oob_score"]):
        check_option("oob_score", params["oob_score"], _BOOLEANS)
    check_n_jobs(params["n_jobs"])
    check_interval("verbose", params["verbose"], 0, integer=True, options=_BOOLEANS)
    check_option("warm_start", params["warm_start"], _BOOLEANS)
    check_interval("ccp_alpha", params["ccp_alpha"], 0.0, math.inf, open_high=True)
    check_interval("max_bins", params["max_bins"], 2, 65535, integer=True)
    check_interval("oob_tol", params["oob_tol"], 0.0, 1.0)
    if classifier:
        check_option("combine", params["combine"], COMBINATIONS)
        if not isinstance(params["class_weight"], Mapping):
            check_option("class_weight", params["class_weight"], (*CLASS_WEIGHTS, None))
    _check_bootstrap(params)


def resolve(
    params: Mapping[str, Any],
    n_samples: int,
    n_features: int,
    *,
    splitter: str,
    n_classes: int | None,
) -> Plan:
    """Turn fractions of rows and columns into numbers.

    Parameters
    ----------
    params : mapping of str to object
        Checked by `check_forest`.
    n_samples, n_features : int
        Size of the table.
    splitter : {'best', 'random'}
        The best threshold of a column, or a random one.
    n_classes : int or None
        Number of classes; None for regression.

    Returns
    -------
    Plan
    """
    split, leaf = params["min_samples_split"], params["min_samples_leaf"]
    leaf = leaf if is_count(leaf) else math.ceil(leaf * n_samples)
    split = split if is_count(split) else max(2, math.ceil(split * n_samples))
    options = GrowOptions(
        task="regression" if n_classes is None else "classification",
        n_classes=n_classes or 0,
        criterion=params["criterion"],
        splitter=splitter,
        max_depth=params["max_depth"],
        min_samples_split=max(split, 2 * leaf),
        min_samples_leaf=leaf,
        min_weight_fraction_leaf=params["min_weight_fraction_leaf"],
        max_features=feature_count(params["max_features"], n_features),
        max_leaf_nodes=params["max_leaf_nodes"],
        min_impurity_decrease=params["min_impurity_decrease"],
        monotonic_cst=_directions(params["monotonic_cst"], n_features),
        bootstrap=_draws(params, n_samples),
        with_stats=params["ccp_alpha"] > 0,
    )
    n_trees = None if params["n_estimators"] == "oob" else int(params["n_estimators"])
    return Plan(options, n_trees, check_n_jobs(params["n_jobs"]))


def _check_growth(params: Mapping[str, Any], *, classifier: bool) -> None:
    check_interval("n_estimators", params["n_estimators"], 1, integer=True, options=["oob"])
    task = "classification" if classifier else "regression"
    check_option("criterion", params["criterion"], CRITERIA[task])
    check_interval("max_depth", params["max_depth"], 1, integer=True, options=[None])
    check_count_or_share("min_samples_split", params["min_samples_split"], 2, 1.0)
    check_count_or_share("min_samples_leaf", params["min_samples_leaf"], 1, 0.5)
    check_interval("min_weight_fraction_leaf", params["min_weight_fraction_leaf"], 0.0, 0.5)
    if params["max_features"] not in ("sqrt", "log2", None):
        check_count_or_share("max_features", params["max_features"], 1, 1.0, "sqrt", "log2", None)
    check_interval("max_leaf_nodes", params["max_leaf_nodes"], 2, integer=True, options=[None])
    check_interval("min_impurity_decrease", params["min_impurity_decrease"], 0.0)


def _check_bootstrap(params: Mapping[str, Any]) -> None:
    if params["max_samples"] is not None:
        check_count_or_share("max_samples", params["max_samples"], 1, 1.0, None)
    if params["bootstrap"]:
        return
    if params["max_samples"] is not None:
        raise ParameterError(
            "max_samples must be None when bootstrap=False, since every tree then sees all rows; "
            f"got {params['max_samples']!r}"
        )
    if params["n_estimators"] == "oob":
        raise ParameterError("n_estimators='oob' needs bootstrap=True: no row is out of bag")
    if params["oob_score"] is not False:
        raise ParameterError(
            "oob_score must be False when bootstrap=False, since no row is out of bag; "
            f"got {params['oob_score']!r}"
        )


def check_count_or_share(
    name: str, value: object, least: int, largest: float, *options: str | None
) -> None:
    """Raise unless `value` is a count, a fraction or an allowed option."""
    number: Any = value
    is_share = isinstance(value, float | np.floating) and 0.0 < value <= largest
    if not is_share and not (is_count(value) and number >= least):
        others = "".join(f" or {option!r}" for option in options)
        raise ParameterError(
            f"{name} must be an integer >= {least} or a number in (0, {largest:g}]{others}; "
            f"got {value!r}"
        )


def is_count(value: object) -> bool:
    """Return whether a value is a count, not a fraction."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _draws(params: Mapping[str, Any], n_samples: int) -> int:
    """Rows drawn for each tree; 0 = all rows once."""
    if not params["bootstrap"]:
        return 0
    wanted: Any = params["max_samples"]
    if wanted is None:
        return n_samples
    if not is_count(wanted):
        return max(1, math.floor(float(wanted) * n_samples + 0.5))
    if wanted > n_samples:
        raise ParameterError(
            f"max_samples must be at most the number of rows ({n_samples}); got {wanted!r}"
        )
    return int(wanted)


def _directions(monotonic_cst: Any, n_features: int) -> NDArray[np.int8] | None:
    if monotonic_cst is None:
        return None
    try:
        signs = np.asarray(monotonic_cst)
        right = signs.shape == (n_features,) and bool(np.isin(signs, (-1, 0, 1)).all())
    except (TypeError, ValueError):
        right = False
    if not right:
        raise ParameterError(
            f"monotonic_cst must be None or {n_features} numbers -1, 0 or 1, one per column; "
            f"got {monotonic_cst!r}"
        )
    return signs.astype(np.int8) if signs.any() else None
