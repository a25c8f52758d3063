"""The default candidates of every family, in groups that are tried or left out as a whole.

Within a family the groups come in the order of their use: the first one is what the family is
tried with if there is little time. The coefficients of the costs were measured; see
docs/explanation/budgets.rst.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import log2, sqrt
from typing import Any

import numpy as np

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
from assay.linear import ElasticNet, LinearRegression, LinearSVC, LogisticRegression, Ridge
from assay.neighbors import KNeighborsClassifier, KNeighborsRegressor
from assay.ranking import PairwiseRanker
from assay.study._cost_model import Shape, SquareMemory, UnitCost
from assay.svm import SVC, SVR
from assay.tree import DecisionListClassifier, DecisionTreeClassifier, DecisionTreeRegressor

Candidates = list[dict[str, Any]]


@dataclass(frozen=True)
class Group:
    """Candidates of one family that are tried together.

    Parameters
    ----------
    family : str
        Its name.
    estimator : estimator
        The template.
    candidates : list of dict
        The settings.
    cost : UnitCost
        What one unit of them costs.
    why : str
        The rule by which the family is tried, for the user.
    encoded : bool
        Whether it needs a matrix of finite numbers; the others take missing values and
        categories as they are.
    selected : bool
        Whether columns are selected before it, inside every training set.
    probabilities : bool
        Whether it gives any.
    memory : SquareMemory, optional
        What it holds beside the table.
    """

    family: str
    estimator: Any
    candidates: Candidates
    cost: UnitCost
    why: str
    encoded: bool = False
    selected: bool = False
    probabilities: bool = True
    memory: SquareMemory | None = None

    def with_more(self, other: Group) -> Group:
        """Return the candidates of both, as one group."""
        more = [each for each in other.candidates if each not in self.candidates]
        return replace(self, candidates=[*self.candidates, *more], cost=self.cost + other.cost)


def grid(**options: Any) -> Candidates:
    """Return every combination of the options."""
    names = list(options)
    return [dict(zip(names, values, strict=True)) for values in product(*options.values())]


# -- settings, by effort ---------------------------------------------------------------------------

_N_NEIGHBORS = {
    "quick": (1, 5, 15, 35),
    "normal": (1, 3, 5, 7, 11, 17, 25, 35, 51, 101),
    "thorough": (1, 2, 3, 4, 5, 7, 9, 11, 13, 17, 21, 25, 31, 37, 45, 51, 61, 71, 101, 151, 201),
}
_N_PENALTIES = {"quick": 4, "normal": 7, "thorough": 13}
_L1_RATIOS = {"quick": (0.5,), "normal": (0.1, 0.5, 1.0), "thorough": (0.1, 0.3, 0.5, 0.7, 1.0)}
# C of support vector machines, and kernel widths as multiples of one over the number of columns.
_SVM_C = {"quick": (1.0, 10.0), "normal": (0.1, 1.0, 10.0, 100.0)}
_SVM_C["thorough"] = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_WIDTHS = {"quick": (0.3,), "normal": (0.3, 0.1, 1.0), "thorough": (0.3, 0.1, 1.0, 0.03, 3.0)}
_DEPTHS = {
    "quick": (1, 3, 6, None),
    "normal": (1, 2, 3, 4, 6, 8, 12, None),
    "thorough": (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, None),
}
# Cost-complexity of a class tree: the impurity of a table is at most 1, whatever the classes.
_ALPHAS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
_TREES = {"quick": 100, "normal": 200, "thorough": 500}
_FORESTS = {"quick": 1, "normal": 4, "thorough": 8}
_STUMPS = {"quick": (30, 100), "normal": (10, 30, 100, 300), "thorough": (10, 30, 100, 300, 1000)}
_ROUNDS = {
    "quick": (25, 50, 100, 200),
    "normal": (25, 50, 100, 200, 400, 800),
    "thorough": (25, 50, 100, 200, 400, 800, 1600),
}
_BOOSTS = {"quick": 2, "normal": 7, "thorough": 12}
# Few rows want small trees, many rows large ones; half of the columns and four fifths of the rows
# for each tree make the trees differ.
_MIXED = {"max_features": 0.5, "subsample": 0.8}
_SMALL_TABLE: tuple[dict[str, Any], ...] = (
    {"learning_rate": 0.05, "max_leaf_nodes": 15, "min_samples_leaf": 5, **_MIXED},
    {"learning_rate": 0.05, "max_leaf_nodes": 31},
    {"learning_rate": 0.05, "max_leaf_nodes": 8, "min_samples_leaf": 5, **_MIXED},
    {"learning_rate": 0.1, "max_leaf_nodes": 31},
    {"learning_rate": 0.05, "max_leaf_nodes": 127, "min_samples_leaf": 10,
     "l2_regularization": 1.0, **_MIXED},
    {"learning_rate": 0.02, "max_leaf_nodes": 15, "min_samples_leaf": 5, **_MIXED},
    {"learning_rate": 0.1, "max_leaf_nodes": 4},
    {"learning_rate": 0.05, "max_leaf_nodes": 31, "min_samples_leaf": 5, **_MIXED},
    {"learning_rate": 0.05, "max_leaf_nodes": 63, "min_samples_leaf": 5,
     "l2_regularization": 1.0, **_MIXED},
    {"learning_rate": 0.05, "max_leaf_nodes": 15, "min_samples_leaf": 3,
     "l2_regularization": 10.0, "max_features": 0.3, "subsample": 0.8},
    {"learning_rate": 0.02, "max_leaf_nodes": 31, "min_samples_leaf": 20, **_MIXED},
    {"learning_rate": 0.1, "max_leaf_nodes": 2},
)  # fmt: skip
_LARGE_ORDER = (0, 1, 4, 3, 8, 2, 7, 5, 6, 10, 9, 11)
_LARGE_TABLE = tuple(_SMALL_TABLE[index] for index in _LARGE_ORDER)
_MANY_ROWS = 10_000
# Added to all variances, as shares of the largest: columns have their own units here.
_FLOORS = (1e-12, 1e-9, 1e-6, 1e-3, 1e-1)
_SHRINKAGES = {"quick": (0.1, 0.5), "normal": (0.01, 0.1, 0.3, 0.5, 0.9)}
_SHRINKAGES["thorough"] = (0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
_PAIRS = {"quick": 50, "normal": 200, "thorough": 500}

_LINEAR = "fast, and good when the relation is linear"
_VECTORS = "for small and medium tables, and for many columns"
_LOCAL = "no assumptions; for many rows and few columns"
_RULES = "simple models that people can read"
_FOREST = "robust: many categories, irrelevant columns, mixed kinds"
_BOOST = "most often the best on tables"
_SELECTED = "for many columns and few rows"
_BAYES = "good with few rows and many columns"


# -- families --------------------------------------------------------------------------------------


def classifiers(effort: str, shape: Shape, halvings: int = 0) -> Iterator[Group]:
    """Yield the groups of candidates for a target of classes; `halvings` shrinks trees, rounds."""
    k = shape.classes
    # Newton steps: every pair of coefficients, up to a width where other solvers take over.
    pairs = min((k * shape.width) ** 2, 1000.0 * k * shape.width)
    penalties = _penalties(effort, halvings)
    yield Group(
        "logistic regression",
        LogisticRegression(),
        grid(C=penalties),
        UnitCost(5.0, train=4e-7 * len(penalties) * pairs),
        _LINEAR,
        encoded=True,
    )
    yield Group(
        "linear discriminant",
        LinearDiscriminantAnalysis(),
        [{"solver": "svd"}, *grid(solver=("lsqr",), shrinkage=("auto", *_SHRINKAGES[effort]))],
        UnitCost(2.0 + 2e-7 * shape.width**3, train=1e-5 * shape.width * (10 + shape.width / 10)),
        _LINEAR,
        encoded=True,
    )
    yield from _neighbors(effort, shape, KNeighborsClassifier())
    yield from _vectors(effort, shape, SVC())
    slack = _SVM_C[effort][:4]
    yield Group(
        "linear support vector machine",
        LinearSVC(),
        grid(C=slack),
        UnitCost(2.0, train=4e-5 * shape.width * len(slack) * max(k, 1)),
        _VECTORS,
        encoded=True,
        probabilities=False,
    )
    cells = 5e-5 * shape.columns
    yield Group(
        "naive Bayes",
        NaiveBayesClassifier(),
        grid(numeric=("gaussian",), var_smoothing=_FLOORS),
        UnitCost(2.0, train=cells, test=cells * max(k, 2) / 2),
        _BAYES,
    )
    yield Group(
        "naive Bayes",
        NaiveBayesClassifier(),
        grid(numeric=("kde",), var_smoothing=_FLOORS[1::2]),
        UnitCost(2.0, train=cells, both=1.5e-6 * shape.columns),
        _BAYES,
    )
    yield Group(
        "decision tree",
        DecisionTreeClassifier(),
        [*grid(max_depth=_DEPTHS[effort]), *grid(ccp_alpha=_ALPHAS)],
        UnitCost(2.0, train=1.5e-4 * shape.columns, test=1e-3),
        _RULES,
    )
    yield Group(
        "decision list",
        DecisionListClassifier(min_cover=5),
        grid(max_literals=(1, 2), min_precision=(0.8, 0.95)),
        UnitCost(20.0, train=1e-3 * shape.columns**2 * min(k, 2)),
        _RULES,
    )
    forests = [("sqrt", 1), (0.5, 1), ("sqrt", 5), (0.5, 5), ("sqrt", 3), (0.3, 1), ("sqrt", 20)]
    trees = _TREES[effort] >> halvings
    yield from _forests(
        effort, shape, "random forest", RandomForestClassifier(trees), forests, 3.5e-5
    )
    extra = [("sqrt", 1), (0.5, 1), ("sqrt", 5), (0.5, 3), (None, 1), (0.5, 10)]
    trees = _TREES[effort] >> halvings
    yield from _forests(effort, shape, "extra-trees", ExtraTreesClassifier(trees), extra, 4e-5)
    largest = max(_STUMPS[effort])
    yield Group(
        "AdaBoost",
        AdaBoostClassifier(),
        grid(n_estimators=_STUMPS[effort]),
        UnitCost(2.0, train=3e-6 * largest * shape.columns, test=3e-5 * largest),
        _BOOST,
    )
    yield from _boosting(effort, shape, GradientBoostingClassifier, halvings)


def regressors(effort: str, shape: Shape, unit: float, halvings: int = 0) -> Iterator[Group]:
    """Yield the groups of candidates for a target of numbers with a spread of about `unit`."""
    moments = 3e-7 * shape.width * (50 + shape.width)
    cube = 5.0 + 5e-8 * shape.width**3
    yield Group(
        "linear regression", LinearRegression(), [{}], UnitCost(cube, train=moments), _LINEAR,
        encoded=True,
    )  # fmt: skip
    yield Group(
        "ridge regression",
        Ridge(),
        grid(alpha=_penalties(effort)),
        UnitCost(cube, train=moments),
        _LINEAR,
        encoded=True,
    )
    shares = np.logspace(-3, 0, _N_PENALTIES[effort])
    alphas = [float(f"{share * unit:.3g}") for share in shares]
    lines = grid(l1_ratio=_L1_RATIOS[effort], alpha=alphas)
    yield Group(
        "elastic net", ElasticNet(), lines, UnitCost(cube, train=2 * moments), _LINEAR, encoded=True
    )
    yield from _neighbors(effort, shape, KNeighborsRegressor())
    yield from _vectors(effort, shape, SVR(epsilon=0.1 * unit), unit)
    yield Group(
        "decision tree",
        DecisionTreeRegressor(),
        grid(max_depth=_DEPTHS[effort], min_samples_leaf=(1, 5, 20)),
        UnitCost(2.0, train=4e-4 * shape.columns, test=1e-3),
        _RULES,
    )
    forests = [(0.33, 1), (1.0, 1), ("sqrt", 1), (0.33, 5), (0.6, 1), (1.0, 5), ("sqrt", 3)]
    trees = _TREES[effort] >> halvings
    yield from _forests(effort, shape, "random forest", RandomForestRegressor(trees), forests, 7e-5)
    extra = [(1.0, 1), (0.5, 1), (1.0, 5), ("sqrt", 1), (0.5, 5)]
    trees = _TREES[effort] >> halvings
    yield from _forests(effort, shape, "extra-trees", ExtraTreesRegressor(trees), extra, 6e-5)
    yield from _boosting(effort, shape, GradientBoostingRegressor, halvings)


def rankers(effort: str, shape: Shape) -> Iterator[Group]:
    """Yield the groups that compare the rows of a query, beside the regressors."""
    # Beyond some pairs of each query, more of them cost time and teach little.
    pairs = _PAIRS[effort]
    penalties = _penalties(effort)
    yield Group(
        "pairwise logistic ranking",
        PairwiseRanker(LogisticRegression(fit_intercept=False), pairs=pairs),
        grid(estimator__C=penalties),
        UnitCost(5.0, train=1e-4 * shape.width * len(penalties)),
        _LINEAR,
        encoded=True,
    )
    leaves = {"quick": (31,), "normal": (4, 15, 31), "thorough": (2, 4, 8, 15, 31, 63)}[effort]
    yield Group(
        "pairwise boosting",
        PairwiseRanker(GradientBoostingClassifier(), pairs=pairs),
        grid(features=("difference", "greater"), estimator__max_leaf_nodes=leaves),
        UnitCost(10.0, train=5e-3 * shape.width * len(leaves)),
        _BOOST,
        encoded=True,
    )


def on_selected(effort: str, shape: Shape, *, classes: bool) -> Iterator[Group]:
    """Yield groups behind a selection of columns, for tables with more columns than rows teach.

    The selection is made anew in every training set, once for all these groups.
    """
    few = [k for k in (3, 5, 9, 15) if k <= max(1, shape.rows // 2)]
    cost = UnitCost(20.0, square=2e-5 * shape.width)  # nine runs of Relief, and little else
    penalties = _penalties("quick")
    if classes:
        line: Any = Group(
            "logistic regression on selected columns", LogisticRegression(), grid(C=penalties),
            cost, _SELECTED, encoded=True, selected=True,
        )  # fmt: skip
    else:
        line = Group(
            "ridge regression on selected columns", Ridge(), grid(alpha=penalties),
            cost, _SELECTED, encoded=True, selected=True,
        )  # fmt: skip
    yield line
    nearest = KNeighborsClassifier() if classes else KNeighborsRegressor()
    yield replace(
        line,
        family="k-nearest neighbours on selected columns",
        estimator=nearest,
        candidates=grid(n_neighbors=few),
    )
    forest = RandomForestClassifier if classes else RandomForestRegressor
    yield replace(
        line,
        family="random forest on selected columns",
        estimator=forest(_TREES[effort]),
        candidates=[{}],
    )


def _neighbors(effort: str, shape: Shape, estimator: Any) -> Iterator[Group]:
    # With five blocks a pair-out fit sees three fifths of the rows; half leaves room for groups.
    counts = [k for k in _N_NEIGHBORS[effort] if k <= max(1, shape.rows // 2)]
    for p in (2.0,) if effort == "quick" else (2.0, 1.0):
        candidates = grid(n_neighbors=counts, weights=("uniform", "distance"), p=(p,))
        # A pair of rows costs something in few columns, too; squares more cheaply than sizes.
        pair = (1.0 if p == 2.0 else 3.0) * (1e-6 + 1.2e-8 * shape.width)
        cost = UnitCost(2.0, test=2e-4 * len(candidates), both=pair)
        yield Group("k-nearest neighbours", estimator, candidates, cost, _LOCAL, encoded=True)


def _vectors(effort: str, shape: Shape, estimator: Any, unit: float = 1.0) -> Iterator[Group]:
    regression = isinstance(estimator, SVR)
    # Fitting a number to a tenth of its spread takes long with a large C.
    largest = 10.0 if regression else 100.0
    slack = [value * unit for value in _SVM_C[effort] if value <= largest]
    pairs = len(slack) * (3.0 if regression else 1.0) * sqrt(shape.classes)
    for share in _WIDTHS[effort]:
        gamma = float(f"{share / max(shape.width, 1):.3g}")
        yield Group(
            "support vector machine",
            estimator,
            grid(gamma=(gamma,), C=slack),
            UnitCost(4.0, both=7e-7 * pairs, square=5e-6 * pairs + 2e-8 * shape.width),
            _VECTORS,
            encoded=True,
            probabilities=False,
            memory=SquareMemory(1.5),
        )


def _forests(
    effort: str,
    shape: Shape,
    name: str,
    template: Any,
    settings: Sequence[tuple[Any, int]],
    coefficient: float,
) -> Iterator[Group]:
    trees = template.n_estimators
    # Thresholds drawn at random spare the sums that grow with the depth.
    deeper = 1.0 if name == "extra-trees" else max(1.0, shape.rows / 3e4) ** 0.2
    for features, leaf in settings[: _FORESTS[effort]]:
        tried = _tried(features, shape.columns)
        smaller = (1.0 + log2(leaf)) ** -0.3
        yield Group(
            name,
            template,
            grid(max_features=(features,), min_samples_leaf=(leaf,)),
            UnitCost(
                2.0,
                train=coefficient * trees * (1 + tried) * deeper * smaller,
                test=4e-5 * trees * deeper,
            ),
            _FOREST,
        )


def _boosting(effort: str, shape: Shape, make: Any, halvings: int) -> Iterator[Group]:
    table = _LARGE_TABLE if shape.rows > _MANY_ROWS else _SMALL_TABLE
    longest = max(_ROUNDS[effort]) >> halvings
    rounds = [length for length in _ROUNDS[effort] if length <= max(longest, 25)]
    for row in table[: _BOOSTS[effort]]:
        settings = dict(row)
        if shape.columns < 10:  # half of so few columns is too little to grow a tree on
            settings.pop("max_features", None)
        # Fewer rounds have to learn faster.
        settings["learning_rate"] = min(0.2, round(settings["learning_rate"] * 2**halvings, 3))
        fixed = {name: (value,) for name, value in settings.items()}
        yield Group(
            "gradient boosting",
            # The number of rounds is chosen like the rest: nothing is held back for it.
            make(early_stopping=False),
            grid(**fixed, n_estimators=rounds),
            boosting_cost(settings, shape, max(rounds)),
            _BOOST,
        )


def boosting_cost(settings: Any, shape: Shape, rounds: int) -> UnitCost:
    """Return the cost of `rounds` rounds with these settings."""
    part = settings.get("subsample", 1.0)
    columns = shape.columns * settings.get("max_features", 1.0)
    trees = rounds * shape.classes
    # Few rows fill few leaves, and few bins.
    rows = 0.6 * shape.rows
    filled = part * rows / (2 * settings.get("min_samples_leaf", 20))
    leaves = max(2.0, min(settings["max_leaf_nodes"], filled))
    return UnitCost(
        2.0 + 2e-4 * trees * leaves * columns * min(1.0, rows / 500),
        train=trees * part * (columns * (4e-7 + 3e-7 * log2(leaves)) + 1e-5),
        test=trees * 4e-6 * log2(leaves),
    )


def _tried(features: Any, columns: int) -> float:
    """Return how many columns a split looks at."""
    if features == "sqrt":
        return sqrt(columns)
    return float(columns if features is None else features * columns)


def _penalties(effort: str, halvings: int = 0) -> list[float]:
    """Return penalties around 1, evenly on a logarithmic scale; 1 alone when all must be saved."""
    count = max(1, _N_PENALTIES[effort] >> halvings)
    ends = 0.0 if count == 1 else 3.0
    return [float(f"{value:.3g}") for value in np.logspace(-ends, ends, count)]
