"""Who takes part in ``quality.py``: Assay, FLAML, LightGBM tuned by Optuna, scikit-learn's forest.

Each is told the metric, the nominal columns, whether rows are in time order, the number of cores
and (but for the forest, which has nothing to tune) a time limit; each gives what it says of the
test rows.
"""

from __future__ import annotations

import inspect
import logging
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import Table

Floats = NDArray[np.float64]
OURS, FLAML, OPTUNA, FOREST = "assay", "FLAML", "LightGBM + Optuna", "scikit-learn forest"
CORES = 2
TUNING_FOLDS = 5


class Question(NamedTuple):
    """A table cut once, and how its answers are scored."""

    table: Table
    metric: str  # roc_auc, accuracy or r2
    in_time: bool

    @property
    def task(self) -> str:
        return {"roc_auc": "binary", "accuracy": "multiclass", "r2": "regression"}[self.metric]


class Answer(NamedTuple):
    """Scores for the test rows (of the second class, of all classes, or values), and remarks."""

    said: Floats
    seconds: float
    remarks: dict[str, Any]


def assay_study(question: Question, seconds: float | None, effort: str) -> Answer:
    """Fit as a user does: a frame and the name of the target; `seconds` is a deadline if given."""
    import assay  # noqa: PLC0415

    train = _frame(question, test=False)
    nominal = {f"c{j}": "nominal" for j in question.table.nominal}
    options: dict[str, Any] = {"effort": effort, "n_jobs": CORES, "kinds": nominal}
    if question.in_time:
        options["time"] = "row"
    if seconds is not None:
        if "budget" not in inspect.signature(assay.fit).parameters:
            raise SystemExit("this assay.fit knows no budget; leave --seconds out")
        options["budget"] = seconds
    start = time.perf_counter()
    study = assay.fit(train, target="target", task=question.task, metric=question.metric, **options)
    took = time.perf_counter() - start
    score = study.score
    remarks = {
        "printed": score.value,
        "low": score.low,
        "high": score.high,
        "chosen": study.chosen,
        "candidates": len(study.table()),
    }
    return Answer(_said_by_study(study, question), took, remarks)


def flaml(question: Question, seconds: float | None, _: str) -> Answer:
    """FLAML with its own choice of learners, resampling and columns; nominal ones as categories."""
    logging.disable(logging.WARNING)
    rows, test = _categories(question)
    model = import_module("flaml").AutoML()
    options: dict[str, Any] = {"split_type": "time"} if question.in_time else {}
    start = time.perf_counter()
    model.fit(
        rows,
        question.table.y,
        task="regression" if question.metric == "r2" else "classification",
        metric=question.metric,
        time_budget=seconds,
        n_jobs=CORES,
        seed=0,
        verbose=0,
        **options,
    )
    took = time.perf_counter() - start
    remarks = {"chosen": model.best_estimator, "printed": 1.0 - float(model.best_loss)}
    return Answer(_said(model, test, question), took, remarks)


def lightgbm_optuna(question: Question, seconds: float | None, _: str) -> Answer:
    """Optuna's default sampler, the default parameters first; folds with early stopping."""
    import optuna  # noqa: PLC0415
    from lightgbm import LGBMClassifier, LGBMRegressor  # noqa: PLC0415

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rows, test = _categories(question)
    y = question.table.y
    kind: Any = LGBMClassifier if question.table.is_class else LGBMRegressor
    fixed: dict[str, Any] = {"n_jobs": CORES, "random_state": 0, "verbose": -1, "bagging_freq": 1}
    folds = _tuning_folds(question)

    def objective(trial: Any) -> float:
        params = {
            "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
            "num_leaves": trial.suggest_int("num_leaves", 4, 255, log=True),
            "min_child_samples": trial.suggest_int("min_child_samples", 1, 100, log=True),
            "colsample_bytree": trial.suggest_float("colsample_bytree", 0.3, 1.0),
            "subsample": trial.suggest_float("subsample", 0.5, 1.0),
            "reg_alpha": trial.suggest_float("reg_alpha", 1e-8, 10.0, log=True),
            "reg_lambda": trial.suggest_float("reg_lambda", 1e-8, 10.0, log=True),
        }
        scores: list[float] = []
        rounds: list[int] = []
        for train, held in folds:
            if time.perf_counter() > stop:
                if trial.number:
                    raise optuna.TrialPruned
                if scores:
                    break  # one answer there must be, of as many folds as time allows
            model = _stopped_early(kind(n_estimators=2000, **fixed, **params), rows, y, train, held)
            scores.append(score(question.metric, y[held], _said(model, rows.iloc[held], question)))
            rounds.append(model.best_iteration_ or 2000)
        trial.set_user_attr("rounds", int(np.ceil(np.mean(rounds))))
        return float(np.mean(scores))

    start = time.perf_counter()
    stop = start + (seconds or 60.0)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.enqueue_trial(
        {
            "learning_rate": 0.1,
            "num_leaves": 31,
            "min_child_samples": 20,
            "colsample_bytree": 1.0,
            "subsample": 1.0,
            "reg_alpha": 1e-8,
            "reg_lambda": 1e-8,
        }
    )
    study.optimize(objective, timeout=seconds or 60.0)
    best = study.best_trial
    model = kind(n_estimators=best.user_attrs["rounds"], **fixed, **best.params).fit(rows, y)
    took = time.perf_counter() - start
    done = sum(trial.state.name == "COMPLETE" for trial in study.trials)
    remarks = {"chosen": best.params, "printed": best.value, "candidates": done}
    return Answer(_said(model, test, question), took, remarks)


def sklearn_forest(question: Question, _: float | None, __: str) -> Answer:
    """Take the forest as it comes; nominal columns one-hot, gaps filled with medians."""
    from sklearn.compose import make_column_transformer  # noqa: PLC0415
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor  # noqa: PLC0415
    from sklearn.impute import SimpleImputer  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder  # noqa: PLC0415

    table = question.table
    real = [j for j in range(table.X.shape[1]) if j not in set(table.nominal)]
    prepare = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), table.nominal),
        (SimpleImputer(strategy="median", keep_empty_features=True), real),
    )
    kind = RandomForestClassifier if table.is_class else RandomForestRegressor
    model = make_pipeline(prepare, kind(n_jobs=CORES, random_state=0))
    start = time.perf_counter()
    model.fit(table.X, table.y)
    took = time.perf_counter() - start
    return Answer(_said(model, table.X_test, question), took, {})


CONTESTANTS: dict[str, tuple[Callable[[Question, float | None, str], Answer], str | None]] = {
    OURS: (assay_study, None),
    FLAML: (flaml, "flaml"),
    OPTUNA: (lightgbm_optuna, "optuna"),
    FOREST: (sklearn_forest, None),
}


def score(metric: str, y: NDArray[Any], said: Floats) -> float:
    """Return the score of what was said; greater is better."""
    from sklearn.metrics import accuracy_score, r2_score, roc_auc_score  # noqa: PLC0415

    if metric == "roc_auc":
        return float(roc_auc_score(y, said))
    if metric == "accuracy":
        return float(accuracy_score(y, said.argmax(axis=1)))
    return float(r2_score(y, said))


def _said(model: Any, rows: Any, question: Question) -> Floats:
    """Return one value per row and class (one per row of a binary or a numeric target)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if question.metric == "r2":
            return np.asarray(model.predict(rows), dtype=np.float64)
        shares = np.asarray(model.predict_proba(rows), dtype=np.float64)
    return shares[:, 1] if question.metric == "roc_auc" else shares


def _said_by_study(study: Any, question: Question) -> Floats:
    test = _frame(question, test=True)
    model = study.model
    if question.metric == "r2":
        return np.asarray(study.predict(test), dtype=np.float64)
    classes = [int(name) for name in model.target.classes]
    if question.metric == "accuracy":
        codes = study.predict(test).astype(int)
        return np.asarray(np.eye(max(classes) + 1)[codes])
    if hasattr(model.estimator, "predict_proba"):
        return np.asarray(study.predict_proba(test)[:, classes.index(1)])
    raw = model.read(test)
    rows = model.schema.matrix(raw.frame, where=raw.where)
    rows = rows if model.encoder is None else model.encoder.transform(rows)
    # Codes follow the names of the classes, and here these are "0" and "1".
    return np.asarray(model.estimator.decision_function(rows), dtype=np.float64)


def _frame(question: Question, *, test: bool) -> Any:
    """Return one side as a frame for Assay: nominal columns as text, the target by name."""
    import polars as pl  # noqa: PLC0415

    table = question.table
    X, y = (table.X_test, table.y_test) if test else (table.X, table.y)
    nominal = set(table.nominal)
    columns: dict[str, Any] = {}
    for j in range(X.shape[1]):
        values = [None if np.isnan(v) else v for v in X[:, j].tolist()]
        columns[f"c{j}"] = (
            [None if v is None else f"level {v:g}" for v in values] if j in nominal else values
        )
    if question.in_time:
        first = len(table.X) if test else 0
        columns["row"] = list(range(first, first + len(X)))
    if not test:
        columns["target"] = [str(v) for v in y.tolist()] if table.is_class else y.tolist()
    return pl.DataFrame(columns)


def _categories(question: Question) -> tuple[Any, Any]:
    """Return both sides as pandas frames with nominal columns as categories of training levels."""
    import pandas as pd  # noqa: PLC0415

    table = question.table
    names = [f"c{j}" for j in range(table.X.shape[1])]
    train, test = (pd.DataFrame(X, columns=names) for X in (table.X, table.X_test))
    for j in table.nominal:
        levels = pd.CategoricalDtype(sorted(train[names[j]].dropna().unique()))
        train[names[j]] = train[names[j]].astype(levels)
        test[names[j]] = test[names[j]].astype(levels)
    return train, test


def _tuning_folds(question: Question) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit  # noqa: PLC0415

    y = question.table.y
    if question.in_time:
        return list(TimeSeriesSplit(TUNING_FOLDS).split(y))
    if not question.table.is_class:
        return list(KFold(TUNING_FOLDS, shuffle=True, random_state=0).split(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes of fewer rows than folds
        cut = StratifiedKFold(TUNING_FOLDS, shuffle=True, random_state=0)
        pairs = list(cut.split(y, y))
    # LightGBM wants to be judged on classes that it has seen, and to know all of them.
    return [
        (train, held[np.isin(y[held], y[train])])
        for train, held in pairs
        if len(np.unique(y[train])) == len(np.unique(y))
    ] or pairs[:1]


def _stopped_early(
    model: Any, rows: Any, y: NDArray[Any], train: NDArray[Any], held: NDArray[Any]
) -> Any:
    from lightgbm import early_stopping  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(
            rows.iloc[train],
            y[train],
            eval_set=[(rows.iloc[held], y[held])],
            callbacks=[early_stopping(50, verbose=False)],
        )
