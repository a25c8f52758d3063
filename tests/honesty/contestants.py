"""Who prints a number: Assay, scikit-learn's grid search, FLAML and mljar."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from assay.bayes import NaiveBayesClassifier
from assay.linear import LogisticRegression as LogisticPath
from assay.linear import Ridge as RidgePath
from assay.neighbors import KNeighborsClassifier as NeighborsOfClasses
from assay.neighbors import KNeighborsRegressor as NeighborsOfNumbers
from assay.select import Family
from assay.tree import DecisionTreeClassifier as ClassTree
from assay.tree import DecisionTreeRegressor as NumberTree
from tests.honesty.worlds import Rows, World
from tests.select.asked import refit, search

_K = 5
_PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0)
_NEIGHBORS = (1, 3, 7, 15, 31)
_DEPTHS = (1, 2, 4, None)


@dataclass(frozen=True)
class Printed:
    """What a tool prints, and the model it delivers; no interval is NaN."""

    value: float
    low: float
    high: float
    model: Any
    gain_low: float = float("nan")
    plain: float = float("nan")


def assay_search(world: World, rows: Rows, seed: int, repeats: int = 2) -> Printed:
    """Run Assay with cheap families."""
    families = _number_families() if world.task == "regression" else _class_families(rows)
    outcome = search(
        rows.X, rows.y, families, task=world.task, metric=world.metric, groups=rows.groups,
        time=rows.time, repeats=1 if world.in_time else repeats, seed=seed, bootstrap=False,
    )  # fmt: skip
    fitted = refit(outcome, rows.X, rows.y)
    model = fitted.estimator
    if fitted.encoder is not None:
        model = Pipeline([("encoder", fitted.encoder), ("model", fitted.estimator)])
    score = outcome.score
    plain = float("nan") if outcome.plain is None else outcome.plain.value
    return Printed(score.value, score.low, score.high, model, outcome.gain.low, plain)


def _grid(name: str, values: Any) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


def _class_families(rows: Rows) -> list[Family]:
    few = rows.X.shape[1] <= 100
    families = [
        Family("logistic", LogisticPath(), _grid("C", _PENALTIES), StandardScaler()),
        Family("neighbours", NeighborsOfClasses(), _grid("n_neighbors", _NEIGHBORS)),
        Family("tree", ClassTree(), _grid("max_depth", _DEPTHS)),
        Family("bayes", NaiveBayesClassifier()),
    ]
    return [*families, Family("lda", LinearDiscriminantAnalysis())] if few else families


def _number_families() -> list[Family]:
    alphas = (0.01, 1.0, 10.0, 100.0, 1000.0)
    return [
        Family("ridge", RidgePath(), _grid("alpha", alphas), StandardScaler()),
        Family("neighbours", NeighborsOfNumbers(), _grid("n_neighbors", _NEIGHBORS)),
        Family("tree", NumberTree(), _grid("max_depth", _DEPTHS)),
    ]


def grid_search(world: World, rows: Rows, seed: int) -> Printed:
    """Run GridSearchCV over scikit-learn's models of the same kinds, with its usual interval."""
    if world.task == "regression":
        alphas = (0.01, 1.0, 10.0, 100.0, 1000.0)
        models: list[tuple[Any, dict[str, Any]]] = [
            (Ridge(), {"model__alpha": alphas}),
            (KNeighborsRegressor(), {"model__n_neighbors": _NEIGHBORS}),
            (DecisionTreeRegressor(random_state=0), {"model__max_depth": _DEPTHS}),
        ]
    else:
        models = [
            (LogisticRegression(max_iter=1000), {"model__C": _PENALTIES}),
            (KNeighborsClassifier(), {"model__n_neighbors": _NEIGHBORS}),
            (DecisionTreeClassifier(random_state=0), {"model__max_depth": _DEPTHS}),
            (GaussianNB(), {}),
        ]
    smallest = min(len(rows.y) * 3 // 5, 31)
    grid = []
    for model, values in models:
        kept = {k: [v for v in vs if v is None or v <= smallest or "neigh" not in k]
                for k, vs in values.items()}  # fmt: skip
        grid.append({"model": [model], **kept})
    if world.in_time:
        cv: Any = TimeSeriesSplit(_K)
    elif rows.groups is not None:
        cv = GroupKFold(_K, shuffle=True, random_state=seed)
    elif world.task == "regression":
        cv = KFold(_K, shuffle=True, random_state=seed)
    else:
        cv = StratifiedKFold(_K, shuffle=True, random_state=seed)
    loss = world.metric.endswith(("error", "loss"))
    pipeline = Pipeline([("scale", StandardScaler()), ("model", GaussianNB())])
    found = GridSearchCV(
        pipeline, grid, scoring=f"neg_{world.metric}" if loss else world.metric, cv=cv
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found.fit(rows.X, rows.y, groups=rows.groups)
    value = -found.best_score_ if loss else found.best_score_
    half = 1.96 * found.cv_results_["std_test_score"][found.best_index_] / np.sqrt(_K)
    return Printed(value, value - half, value + half, found.best_estimator_)


def flaml(world: World, rows: Rows, seed: int) -> Printed:
    """Run FLAML for two seconds; it prints a best loss without an interval."""
    from flaml import AutoML  # noqa: PLC0415

    logging.getLogger("flaml").setLevel(logging.ERROR)
    names = {"mean_absolute_error": "mae"}
    model = AutoML()
    task = "regression" if world.task == "regression" else "classification"
    split = {} if rows.groups is None else {"groups": rows.groups, "split_type": "group"}
    if world.in_time:
        split = {"split_type": "time"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(
            rows.X, rows.y, task=task, metric=names.get(world.metric, world.metric), time_budget=2,
            seed=seed, verbose=0, eval_method="cv", n_splits=_K, n_jobs=1, **split,
        )  # fmt: skip
    loss = world.metric in names
    value = model.best_loss if loss else 1 - model.best_loss
    return Printed(float(value), np.nan, np.nan, model)


def mljar(world: World, rows: Rows, seed: int) -> Printed:
    """Run mljar-supervised for ten seconds; it prints the best line of its leaderboard."""
    from supervised.automl import AutoML  # noqa: PLC0415 - installed or not

    names = {"accuracy": "accuracy", "roc_auc": "auc", "r2": "r2", "mean_absolute_error": "mae"}
    folder = tempfile.mkdtemp()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AutoML(
            results_path=folder, total_time_limit=10, eval_metric=names[world.metric], verbose=0,
            random_state=seed, n_jobs=1, explain_level=0, start_random_models=2,
            algorithms=["Linear", "Decision Tree", "Nearest Neighbors", "Random Forest"],
            validation_strategy={"validation_type": "kfold", "k_folds": _K, "shuffle": True},
        )  # fmt: skip
        model.fit(rows.X, rows.y)
    # What is better when greater stands on the board with its sign turned.
    best = float(model.get_leaderboard()["metric_value"].min())
    loss = world.metric == "mean_absolute_error"
    return Printed(best if loss else -best, np.nan, np.nan, model)


CONTESTANTS: dict[str, Callable[[World, Rows, int], Printed]] = {
    "assay": assay_search,
    "GridSearchCV": grid_search,
}


def peers() -> dict[str, Callable[[World, Rows, int], Printed]]:
    """Return the peers that are installed."""
    known = {"flaml": ("flaml", flaml), "mljar": ("supervised", mljar)}
    return {name: run for name, (module, run) in known.items() if find_spec(module) is not None}
