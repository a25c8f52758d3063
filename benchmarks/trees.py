"""Trees and what is built from them: fit and predict, on made and on real tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, r2_score

from benchmarks import peers, tables
from benchmarks.peers import INTELEX, LIGHTGBM, SKLEARN, XGBOOST, Peer
from benchmarks.tables import Table
from benchmarks.work import OURS, Contestant, Work

#: Options of a method, by contestant; None is for all the others.
Options = dict[str | None, dict[str, Any]]

JOBS = {"n_jobs": -1}
FOREST: Options = {None: {"n_estimators": 100, "random_state": 0, **JOBS}}
TREE: Options = {None: {"random_state": 0}, OURS: {"random_state": 0, **JOBS}}
STUMPS: Options = {
    None: {"n_estimators": 100, "random_state": 0},
    OURS: {"n_estimators": 100, **JOBS},
}
LEAVES: Options = {
    OURS: {"n_estimators": 100, "max_leaf_nodes": 31, "early_stopping": False, **JOBS},
    SKLEARN: {"max_iter": 100, "max_leaf_nodes": 31, "early_stopping": False},
    INTELEX: {"max_iterations": 100, "max_tree_depth": 5},
    LIGHTGBM: {"n_estimators": 100, "num_leaves": 31, **JOBS},
    XGBOOST: {
        "n_estimators": 100,
        "max_leaves": 31,
        "max_depth": 0,
        "grow_policy": "lossguide",
        "tree_method": "hist",
        **JOBS,
    },
}


def made() -> Table:
    X, y = make_classification(120_000, 20, random_state=0)
    return Table(X[20_000:], y[20_000:], X[:20_000], y[:20_000], [])


def fit_contestant(peer: Peer, options: Options) -> Contestant:
    chosen = options.get(peer.name, options.get(None, {}))

    def load() -> Callable[[Table], Any]:
        build = peer.load()
        return lambda table: build(table, **chosen).fit(table.X, table.y)

    before = None if peer.takes_missing else _fill
    return Contestant(peer.name, load, peer.needs, before)


def predict_contestant(peer: Peer, options: Options) -> Contestant:
    """Time the answers of a model that was fitted before the clock starts."""
    fit = fit_contestant(peer, options)

    def load() -> Callable[[tuple[Any, Table]], Any]:
        def answer(fitted: tuple[Any, Table]) -> Any:
            model, table = fitted
            return _answers(model, table)

        return answer

    def prepare() -> Callable[[Table], tuple[Any, Table]]:
        call = fit.load()

        def fitted(table: Table) -> tuple[Any, Table]:
            ready = table if peer.takes_missing else tables.filled(table)
            return call(ready), ready

        return fitted

    return Contestant(peer.name, load, peer.needs, prepare)


def _fill() -> Callable[[Table], Table]:
    return tables.filled


def _answers(model: Any, table: Table) -> Any:
    return model.predict_proba(table.X_test) if table.is_class else model.predict(table.X_test)


def fitted_summary(table: Table, model: Any) -> tuple[float, float]:
    """What the parent process needs of a fitted model: its score and its size."""
    return _score(table, _answers(model, table)), peers.model_mb(model)


def predict_summary(fitted: tuple[Any, Table], answers: Any) -> float:
    return _score(fitted[1], answers)


def _score(table: Table, answers: Any) -> float:
    if table.is_class:
        # Every label occurs in the training rows, so columns are class codes.
        return float(accuracy_score(table.y_test, np.asarray(answers).argmax(axis=1)))
    return float(r2_score(table.y_test, answers))


def fitted_quality(table: Table, result: Any, reference: Any) -> str:
    score, size = result
    what = "accuracy" if table.is_class else "R2"
    return f"{what} {score:.4f} ({score - reference[0]:+.4f}), model {size:.2f} MB"


def predict_quality(table: Table, result: Any, reference: Any) -> str:
    what = "accuracy" if table.is_class else "R2"
    return f"{what} {result:.4f} ({result - reference:+.4f})"


def fit_work(
    name: str,
    data: Callable[[], Table],
    among: tuple[Peer, ...],
    options: Options,
    bars: dict[str, float] | None = None,
    **more: Any,
) -> Work:
    return Work(
        name=name,
        data=data,
        contestants=tuple(fit_contestant(peer, options) for peer in among),
        reference=SKLEARN,
        quality=fitted_quality,
        bars=bars or {},
        summary=fitted_summary,
        **more,
    )


def predict_work(
    name: str,
    data: Callable[[], Table],
    among: tuple[Peer, ...],
    options: Options,
    bars: dict[str, float] | None = None,
    **more: Any,
) -> Work:
    return Work(
        name=name,
        data=data,
        contestants=tuple(predict_contestant(peer, options) for peer in among),
        reference=SKLEARN,
        quality=predict_quality,
        bars=bars or {},
        summary=predict_summary,
        **more,
    )


#: Made tables, as in the documentation.
MADE = (
    fit_work(
        "random forest, 100 trees, 100k x 20",
        made,
        peers.FORESTS,
        FOREST,
        {SKLEARN: 20.0, INTELEX: 3.0},
        repeats=3,
    ),
    fit_work(
        "extra-trees, 100 trees, 100k x 20",
        made,
        peers.EXTRA_TREES,
        FOREST,
        {SKLEARN: 6.0, INTELEX: 5.0},
        repeats=3,
    ),
    fit_work(
        "decision tree, full depth, 100k x 20", made, peers.TREES, TREE, {SKLEARN: 15.0}, repeats=5
    ),
    fit_work(
        "AdaBoost, 100 stumps, 100k x 20",
        made,
        peers.ADABOOST,
        STUMPS,
        {SKLEARN: 100.0},
        repeats=2,
    ),
    fit_work(
        "gradient boosting, 100 x 31 leaves, 100k x 20",
        made,
        peers.BOOSTING,
        LEAVES,
        {SKLEARN: 2.0, LIGHTGBM: 1.6, XGBOOST: 1.6},
    ),
    predict_work(
        "forest predict, 20k rows", made, peers.FORESTS, FOREST, {SKLEARN: 3.0, INTELEX: 2.0}
    ),
    predict_work("gradient boosting predict, 20k rows", made, peers.BOOSTING, LEAVES),
)

METHODS: tuple[tuple[str, tuple[Peer, ...], Options], ...] = (
    ("tree", peers.TREES, TREE),
    ("forest", peers.FORESTS, FOREST),
    ("extra-trees", peers.EXTRA_TREES, FOREST),
    ("AdaBoost", peers.ADABOOST, STUMPS),
    ("gradient boosting", peers.BOOSTING, LEAVES),
)

#: Table, timed calls, and whether its contestants need the machine for themselves.
REAL = (
    ("letter", 3, False),
    ("california_housing", 3, False),
    ("adult", 3, False),
    ("covtype", 1, True),
)


def real_works() -> tuple[Work, ...]:
    works: list[Work] = []
    for table, repeats, alone in REAL:
        data = partial(tables.held_out, table)
        more: dict[str, Any] = {"repeats": repeats, "alone": alone, "file": tables.path_of(table)}
        for method, among, options in METHODS:
            if method == "AdaBoost" and table == "california_housing":
                continue  # a classifier
            works += [
                fit_work(f"{table}: {method} fit", data, among, options, **more),
                predict_work(f"{table}: {method} predict", data, among, options, **more),
            ]
    return tuple(works)


WORKS = (*MADE, *real_works())
