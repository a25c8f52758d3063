"""Which candidates are tried on which table: fixed before any score is seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from assay.base import check_option
from assay.bayes import NaiveBayesClassifier
from assay.decomposition import LinearDiscriminantAnalysis
from assay.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from assay.linear import ElasticNet, LinearRegression, LogisticRegression, Ridge
from assay.neighbors import KNeighborsClassifier, KNeighborsRegressor
from assay.ranking import PairwiseRanker
from assay.select import Family
from assay.svm import SVC, SVR
from assay.table import Dataset, Encoder
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor

EFFORTS = ("quick", "normal", "thorough")

# Rows^2 * columns: a neighbour search beyond this takes minutes per partition.
MAX_NEIGHBOR_WORK = 1e12
# Rows^2 * columns: a kernel machine is solved anew for every price and every training set.
MAX_KERNEL_WORK = 1e9
# A discriminant factors a matrix of columns x columns in every fit.
MAX_DISCRIMINANT_COLUMNS = 1000

_N_NEIGHBORS = {
    "quick": (1, 5, 15, 35),
    "normal": (1, 3, 5, 7, 9, 13, 17, 25, 35, 51, 71, 101, 151),
    "thorough": (1, 2, 3, 4, 5, 7, 9, 11, 13, 17, 21, 25, 31, 37, 45, 51, 61, 71, 101, 151, 201),
}
_N_PENALTIES = {"quick": 4, "normal": 7, "thorough": 13}
_L1_RATIOS = {"quick": (0.5,), "normal": (0.1, 0.5, 1.0), "thorough": (0.1, 0.3, 0.5, 0.7, 1.0)}
# Prices of slack, and widths of the kernel as multiples of one over the number of columns.
_PRICES = {"quick": (1.0, 10.0), "normal": (0.1, 1.0, 10.0, 100.0)}
_PRICES["thorough"] = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_WIDTHS = {"quick": (1.0,), "normal": (0.1, 0.3, 1.0), "thorough": (0.03, 0.1, 0.3, 1.0, 3.0)}
_DEPTHS = {
    "quick": (1, 3, 6, None),
    "normal": (1, 2, 3, 4, 6, 8, 12, None),
    "thorough": (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, None),
}
# Cost-complexity of a class tree: the impurity of a table is at most 1, whatever the classes.
_ALPHAS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
_FOREST_TREES = {"quick": 100, "normal": 200, "thorough": 500}
_FOREST_LEAVES = {"quick": (1, 5), "normal": (1, 3, 10), "thorough": (1, 2, 3, 5, 10, 20)}
_STUMPS = {"quick": (30, 100), "normal": (10, 30, 100, 300), "thorough": (10, 30, 100, 300, 1000)}
_ROUNDS = {"quick": (30, 100), "normal": (30, 100, 300), "thorough": (30, 100, 300, 1000)}
_BOOST_LEAVES = {"quick": (31,), "normal": (4, 15, 31), "thorough": (2, 4, 8, 15, 31, 63)}
_SHRINKAGES = {"quick": (0.1, 0.5), "normal": (0.01, 0.1, 0.3, 0.5, 0.9)}
_SHRINKAGES["thorough"] = (0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
# Added to all variances, as shares of the largest: columns have their own units here.
_FLOORS = (1e-12, 1e-9, 1e-6, 1e-3, 1e-1)
_PAIRS = {"quick": 50, "normal": 200, "thorough": 500}
_RATES = {"quick": (0.1,), "normal": (0.1,), "thorough": (0.03, 0.1)}


def portfolio(
    dataset: Dataset, effort: str = "normal", *, probabilities: bool = False
) -> tuple[list[Family], list[str]]:
    """Return the default families for a table, and what was left out and why.

    Parameters
    ----------
    dataset : Dataset
        The prepared table. Only its shape and task are looked at, never its values, but for the
        power of ten of a numeric target's spread: penalties are in its units.
    effort : {"quick", "normal", "thorough"}, default="normal"
        How fine the grids are.
    probabilities : bool, default=False
        Whether only models that give probabilities can be scored.

    Returns
    -------
    families : list of Family
    notes : list of str
    """
    check_option("effort", effort, EFFORTS)
    encoder = Encoder(kinds=tuple(feature.kind for feature in dataset.schema.features))
    ranking = dataset.target.task == "rank"
    regression = ranking or dataset.target.task == "regression"  # a predicted number ranks, too
    make = _regressors if regression else _classifiers
    width = _encoded_width(dataset)
    left_out = _too_much_work(len(dataset.y), width)
    if probabilities:
        left_out[_KERNEL] = "it gives no probabilities, which the score needs"
    families, notes = [], []
    for name, estimator, candidates in make(effort, len(dataset.y), width, _unit(dataset)):
        if name in left_out:
            notes.append(f"{name} left out: {left_out[name]}")
        else:
            families.append(Family(name, estimator, tuple(candidates), encoder))
    if ranking:
        for name, estimator, candidates in _rankers(effort):
            families.append(Family(name, estimator, tuple(candidates), encoder))
    # Trees and naive Bayes take nominal and missing values as they are: no encoder, and one sorting
    # (or one summary) of the columns serves every training set.
    nominal = tuple(j for j, each in enumerate(dataset.schema.features) if each.kind == "nominal")
    trees = _tree_regressors if regression else _tree_classifiers
    plain = [] if regression else [_naive_bayes(len(dataset.y), width)]
    for name, estimator, candidates in (*plain, *trees(effort)):
        if nominal:
            estimator.set_params(categorical_features=nominal)
        families.append(Family(name, estimator, tuple(candidates)))
    return families, notes


_NEIGHBORS = "k-nearest neighbours"
_DISCRIMINANT = "linear discriminant"
_KERNEL = "support vector machine"


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
    if float(n_rows) ** 2 * width > MAX_KERNEL_WORK:
        reasons[_KERNEL] = f"{n_rows:,} rows of {width:,} columns take too long to compare"
    if width > MAX_DISCRIMINANT_COLUMNS:
        reasons[_DISCRIMINANT] = (
            f"{width:,} columns, and it is tried up to {MAX_DISCRIMINANT_COLUMNS:,}"
        )
    return reasons


def _unit(dataset: Dataset) -> float:
    """Return the spread of a numeric target to the nearest power of ten; 1 for classes."""
    spread = 1.0 if dataset.target.classes is not None else float(np.std(dataset.y))
    return float(10.0 ** np.round(np.log10(spread)))  # never 0: a constant target is refused


def _classifiers(
    effort: str,
    n_rows: int,
    width: int,
    unit: float,  # noqa: ARG001
) -> Iterable[tuple[str, Any, list[dict[str, Any]]]]:
    yield _NEIGHBORS, KNeighborsClassifier(), _neighbor_grid(effort, n_rows)
    yield "logistic regression", LogisticRegression(), _grid(C=_penalties(effort))
    yield _KERNEL, SVC(), _kernel_grid(effort, width)
    yield (
        _DISCRIMINANT,
        LinearDiscriminantAnalysis(),
        [{"solver": "svd"}, *_grid(solver=("lsqr",), shrinkage=("auto", *_SHRINKAGES[effort]))],
    )


def _naive_bayes(n_rows: int, width: int) -> tuple[str, Any, list[dict[str, Any]]]:
    # A kernel density compares a value with those of all training rows.
    few = float(n_rows) ** 2 * width <= MAX_KERNEL_WORK
    grid = _grid(numeric=("gaussian",), var_smoothing=_FLOORS)
    if few:
        grid += _grid(numeric=("kde",), var_smoothing=_FLOORS[1::2])
    return "naive Bayes", NaiveBayesClassifier(), grid


def _regressors(
    effort: str, n_rows: int, width: int, unit: float
) -> Iterable[tuple[str, Any, list[dict[str, Any]]]]:
    yield _NEIGHBORS, KNeighborsRegressor(), _neighbor_grid(effort, n_rows)
    yield "linear regression", LinearRegression(), [{}]
    yield "ridge regression", Ridge(), _grid(alpha=_penalties(effort))
    shares = np.logspace(-3, 0, _N_PENALTIES[effort])
    alphas = [float(f"{share * unit:.3g}") for share in shares]
    yield "elastic net", ElasticNet(), _grid(l1_ratio=_L1_RATIOS[effort], alpha=alphas)
    yield _KERNEL, SVR(epsilon=0.1 * unit), _kernel_grid(effort, width, unit)


def _rankers(effort: str) -> Iterable[tuple[str, Any, list[dict[str, Any]]]]:
    # Beyond some pairs of each query, more of them cost time and teach little.
    pairs = _PAIRS[effort]
    line = PairwiseRanker(LogisticRegression(fit_intercept=False), pairs=pairs)
    yield "pairwise logistic ranking", line, _grid(estimator__C=_penalties(effort))
    yield (
        "pairwise boosting",
        PairwiseRanker(GradientBoostingClassifier(), pairs=pairs),
        _grid(features=("difference", "greater"), estimator__max_leaf_nodes=_BOOST_LEAVES[effort]),
    )


def _tree_classifiers(effort: str) -> Iterable[tuple[str, Any, list[dict[str, Any]]]]:
    yield (
        "decision tree",
        DecisionTreeClassifier(),
        [*_grid(max_depth=_DEPTHS[effort]), *_grid(ccp_alpha=_ALPHAS)],
    )
    yield "random forest", RandomForestClassifier(_FOREST_TREES[effort]), _forest_grid(effort)
    yield "extra-trees", ExtraTreesClassifier(_FOREST_TREES[effort]), _forest_grid(effort)
    yield "AdaBoost", AdaBoostClassifier(), _grid(n_estimators=_STUMPS[effort])
    yield "gradient boosting", GradientBoostingClassifier(), _boosting_grid(effort)


def _tree_regressors(effort: str) -> Iterable[tuple[str, Any, list[dict[str, Any]]]]:
    yield (
        "decision tree",
        DecisionTreeRegressor(),
        _grid(max_depth=_DEPTHS[effort], min_samples_leaf=(1, 5, 20)),
    )
    yield "random forest", RandomForestRegressor(_FOREST_TREES[effort]), _forest_grid(effort)
    yield "extra-trees", ExtraTreesRegressor(_FOREST_TREES[effort]), _forest_grid(effort)
    yield "gradient boosting", GradientBoostingRegressor(), _boosting_grid(effort)


def _forest_grid(effort: str) -> list[dict[str, Any]]:
    return _grid(min_samples_leaf=_FOREST_LEAVES[effort])


def _boosting_grid(effort: str) -> list[dict[str, Any]]:
    return _grid(
        learning_rate=_RATES[effort],
        max_leaf_nodes=_BOOST_LEAVES[effort],
        n_estimators=_ROUNDS[effort],
    )


def _kernel_grid(effort: str, width: int, unit: float = 1.0) -> list[dict[str, Any]]:
    widths = [float(f"{share / max(width, 1):.3g}") for share in _WIDTHS[effort]]
    return _grid(gamma=widths, C=[price * unit for price in _PRICES[effort]])


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
