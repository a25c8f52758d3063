"""Models of ours and of the peers, by method: what the tree benchmarks compare."""

from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.tables import Table
from benchmarks.work import OURS

SKLEARN, INTELEX = "scikit-learn", "scikit-learn-intelex"
LIGHTGBM, XGBOOST = "LightGBM", "XGBoost"

#: From a table and the options of the method to an unfitted model.
Build = Callable[..., Any]


class Peer(NamedTuple):
    """One library's way to do a method; `load` imports and returns the builder."""

    name: str
    load: Callable[[], Build]
    needs: str | None = None
    takes_missing: bool = True


def nominal(table: Table) -> dict[str, Any]:
    return {"categorical_features": table.nominal} if table.nominal else {}


def assay(classifier: str, regressor: str, package: str) -> Callable[[], Build]:
    def load() -> Build:
        module = import_module(f"assay.{package}")

        def build(table: Table, **options: Any) -> Any:
            cls = getattr(module, classifier if table.is_class else regressor)
            return cls(**options, **nominal(table))

        return build

    return load


def library(module_name: str, classifier: str, regressor: str, **fixed: Any) -> Callable[[], Build]:
    def load() -> Build:
        module = import_module(module_name)

        def build(table: Table, **options: Any) -> Any:
            cls = getattr(module, classifier if table.is_class else regressor)
            return cls(**fixed, **options)

        return build

    return load


def hist_boosting() -> Build:
    from sklearn.ensemble import (  # noqa: PLC0415
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    )

    def build(table: Table, **options: Any) -> Any:
        cls = HistGradientBoostingClassifier if table.is_class else HistGradientBoostingRegressor
        options = _without_jobs(options)
        # More levels than bins are refused; such columns stay ordered codes.
        few = [j for j in table.nominal if np.nanmax(table.X[:, j], initial=0) < 255]
        return cls(categorical_features=few or None, **options)

    return build


def adaboost_stumps() -> Build:
    from sklearn.ensemble import AdaBoostClassifier  # noqa: PLC0415

    return lambda _, **options: AdaBoostClassifier(**_without_jobs(options))


def lightgbm_boosting() -> Build:
    from lightgbm import LGBMClassifier, LGBMRegressor  # noqa: PLC0415

    def build(table: Table, **options: Any) -> Any:
        kind = LGBMClassifier if table.is_class else LGBMRegressor
        return _Nominal(kind(verbose=-1, **options), table.nominal)

    return build


class _Nominal:
    """LightGBM hears of nominal columns in `fit`."""

    def __init__(self, model: Any, columns: list[int]) -> None:
        self.model, self.columns = model, columns

    def fit(self, X: Any, y: Any) -> _Nominal:
        self.model.fit(X, y, categorical_feature=self.columns or "auto")
        return self

    def predict(self, X: Any) -> Any:
        return self.model.predict(X, validate_features=False)

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(X, validate_features=False)


def xgboost_model(classifier: str, regressor: str) -> Callable[[], Build]:
    def load() -> Build:
        import xgboost  # noqa: PLC0415

        def build(table: Table, **options: Any) -> Any:
            kinds = ["c" if j in set(table.nominal) else "q" for j in range(table.X.shape[1])]
            if table.nominal:
                options = {**options, "feature_types": kinds, "enable_categorical": True}
            return getattr(xgboost, classifier if table.is_class else regressor)(**options)

        return build

    return load


FORESTS = (
    Peer(OURS, assay("RandomForestClassifier", "RandomForestRegressor", "ensemble")),
    Peer(
        SKLEARN,
        library("sklearn.ensemble", "RandomForestClassifier", "RandomForestRegressor"),
        "sklearn",
    ),
    Peer(
        INTELEX,
        library("sklearnex.ensemble", "RandomForestClassifier", "RandomForestRegressor"),
        "sklearnex",
        takes_missing=False,
    ),
)

EXTRA_TREES = (
    Peer(OURS, assay("ExtraTreesClassifier", "ExtraTreesRegressor", "ensemble")),
    Peer(
        SKLEARN,
        library("sklearn.ensemble", "ExtraTreesClassifier", "ExtraTreesRegressor"),
        "sklearn",
    ),
    Peer(
        INTELEX,
        library("sklearnex.ensemble", "ExtraTreesClassifier", "ExtraTreesRegressor"),
        "sklearnex",
        takes_missing=False,
    ),
)

TREES = (
    Peer(OURS, assay("DecisionTreeClassifier", "DecisionTreeRegressor", "tree")),
    Peer(
        SKLEARN,
        library("sklearn.tree", "DecisionTreeClassifier", "DecisionTreeRegressor"),
        "sklearn",
    ),
)

ADABOOST = (
    Peer(OURS, assay("AdaBoostClassifier", "AdaBoostClassifier", "ensemble")),
    Peer(SKLEARN, adaboost_stumps, "sklearn", takes_missing=False),
)

BOOSTING = (
    Peer(OURS, assay("GradientBoostingClassifier", "GradientBoostingRegressor", "ensemble")),
    Peer(SKLEARN, hist_boosting, "sklearn"),
    Peer(
        INTELEX,
        library("daal4py.sklearn.ensemble", "GBTDAALClassifier", "GBTDAALRegressor"),
        "daal4py",
        takes_missing=False,
    ),
    Peer(LIGHTGBM, lightgbm_boosting, "lightgbm"),
    Peer(XGBOOST, xgboost_model("XGBClassifier", "XGBRegressor"), "xgboost"),
)


def installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def model_mb(model: Any) -> float:
    """Return how large a model is when it is written down, in megabytes."""
    if hasattr(model, "state"):
        return _state_bytes(model.state()) / 2**20
    if isinstance(model, _Nominal):
        return len(model.model.booster_.model_to_string()) / 2**20
    if hasattr(model, "get_booster"):
        return len(model.get_booster().save_raw()) / 2**20
    counter = _Counter()
    pickle.dump(model, counter, protocol=5)
    return counter.bytes / 2**20


def _state_bytes(state: Any) -> int:
    if isinstance(state, np.ndarray):
        return state.nbytes
    if isinstance(state, dict):
        return sum(_state_bytes(value) for value in state.values())
    if isinstance(state, list | tuple):
        return sum(_state_bytes(value) for value in state)
    return 8


class _Counter:
    """A file that only counts: a forest of scikit-learn may have gigabytes."""

    def __init__(self) -> None:
        self.bytes = 0

    def write(self, data: Any) -> int:
        size = len(data) if isinstance(data, bytes) else memoryview(data).nbytes
        self.bytes += size
        return size


def _without_jobs(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "n_jobs"}
