"""Fitted examples of every class a model file may hold, and a way to change a file from inside."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags

from assay.base import Classifier
from assay.neighbors import KNeighborsClassifier, KNeighborsRegressor
from assay.store import save
from assay.store._classes import classes
from assay.store._frame import DTYPES, NAMES, Tensor, build, canonical, in_order, parse, split
from assay.table import Encoder

_random = np.random.default_rng(0)
X = _random.normal(size=(60, 4))
QUERIES = _random.normal(size=(301, 4))
_value = X @ [1.0, -2.0, 0.5, 0.0] + _random.normal(size=60)
_values = np.column_stack([_value, _value**2, -_value])
_two = (_value > 0).astype(np.int64)
_three = np.digitize(_value, [-1.0, 1.0])
_words = np.array(["low", "middle", "höchst"])[_three]

FITTED: dict[str, Callable[[], Any]] = {
    "linear": lambda: LinearRegression().fit(X, _value),
    "linear-several": lambda: LinearRegression().fit(X, _values),
    "linear-float32": lambda: LinearRegression().fit(X.astype(np.float32), _value.astype("f4")),
    "linear-no-intercept": lambda: LinearRegression(fit_intercept=False).fit(X, _value),
    "linear-positive": lambda: LinearRegression(positive=True).fit(X, _value),
    "ridge": lambda: Ridge(alpha=np.float64(0.3)).fit(X, _value),
    "ridge-penalties": lambda: Ridge(alpha=np.array([0.1, 1.0, 10.0])).fit(X, _values),
    "ridge-several": lambda: Ridge().fit(X, _values),
    "ridge-column": lambda: Ridge().fit(X, _value[:, None]),
    "ridge-float32": lambda: Ridge().fit(X.astype(np.float32), _values.astype(np.float32)),
    "lasso": lambda: Lasso(alpha=0.1).fit(X, _value),
    "lasso-several": lambda: Lasso(alpha=0.1).fit(X, _values),
    "lasso-column": lambda: Lasso(alpha=0.1).fit(X, _value[:, None]),
    "elastic-net": lambda: ElasticNet(alpha=0.1).fit(X, _value),
    "elastic-net-several": lambda: ElasticNet(alpha=0.1).fit(X, _values),
    "logistic-two": lambda: LogisticRegression(C=3.0).fit(X, _two),
    "logistic-three": lambda: LogisticRegression().fit(X, _three),
    "logistic-words": lambda: LogisticRegression(max_iter=500).fit(X, _words),
    "logistic-objects": lambda: LogisticRegression().fit(X, _words.astype(object)),
    "logistic-booleans": lambda: LogisticRegression().fit(X, _two.astype(bool)),
    "logistic-liblinear": lambda: LogisticRegression(solver="liblinear").fit(X, _two),
    "logistic-newton": lambda: LogisticRegression(solver="newton-cholesky").fit(X, _three),
    "logistic-no-intercept": lambda: LogisticRegression(fit_intercept=False).fit(X, _three),
    "logistic-weights": lambda: LogisticRegression(class_weight={0: 1.0, 1: 2.5}).fit(X, _two),
    "lda-two": lambda: LinearDiscriminantAnalysis().fit(X, _two),
    "lda-three": lambda: LinearDiscriminantAnalysis().fit(X, _three),
    "lda-words": lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, _words),
    "lda-eigen": lambda: LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(X, _three),
    "bayes-two": lambda: GaussianNB().fit(X, _two),
    "bayes-three": lambda: GaussianNB(var_smoothing=1e-3).fit(X, _words),
    "bayes-priors": lambda: GaussianNB(priors=[0.2, 0.3, 0.5]).fit(X, _three),
    "dummy-prior": lambda: DummyClassifier().fit(X, _three),
    "dummy-frequent": lambda: DummyClassifier(strategy="most_frequent").fit(X, _words),
    "dummy-stratified": lambda: DummyClassifier(strategy="stratified", random_state=3).fit(X, _two),
    "dummy-uniform": lambda: DummyClassifier(strategy="uniform", random_state=3).fit(X, _three),
    "dummy-constant": lambda: DummyClassifier(strategy="constant", constant=1).fit(X, _two),
    "dummy-mean": lambda: DummyRegressor().fit(X, _value),
    "dummy-several": lambda: DummyRegressor(strategy="median").fit(X, _values),
    "dummy-whole": lambda: DummyRegressor(strategy="constant", constant=3).fit(X, _value),
}
_kinds = ("numeric", "nominal", "ordinal", "nominal")
_mixed = np.column_stack([X[:, 0], _three, _two, _three[::-1]]).astype(np.float64)
_mixed[::7] = np.nan

FITTED |= {
    "encoder-mixed": lambda: Encoder(kinds=_kinds, scale="minmax").fit(_mixed),
    "encoder-places": lambda: Encoder(kinds=_kinds, nominal="ordinal", impute="mean").fit(_mixed),
    "neighbors-words": lambda: KNeighborsClassifier("sqrt", weights="distance").fit(X, _words),
    "neighbors-float32": lambda: KNeighborsClassifier(7, p=np.inf).fit(X.astype("f4"), _two),
    "neighbors-several": lambda: KNeighborsRegressor(3, p=1.5).fit(X, _values),
}


def _native_example(cls: Any) -> Callable[[], Any]:
    def fitted() -> Any:
        model = cls._examples()[0]
        if not issubclass(cls, Classifier):
            return model.fit(X, _value)
        many = get_tags(model).classifier_tags.multi_class
        return model.fit(X, _three if many else _two)

    return fitted


# Every native class, found in the table, as the contract suite has it.
FITTED |= {cls.__name__: _native_example(cls) for number, cls in classes().items() if number >= 100}


def predictions(model: Any, queries: NDArray[Any] = QUERIES) -> list[NDArray[Any]]:
    """Everything the model says about the queries."""
    names: tuple[str, ...] = ("predict", "predict_proba", "decision_function", "transform")
    if isinstance(model, LinearDiscriminantAnalysis):
        names = names[:-1]  # a model file holds what predicts
    return [getattr(model, name)(queries) for name in names if hasattr(model, name)]


class Opened:
    """A model file taken apart, to be changed and put together again with right checksums."""

    def __init__(self, path: Path) -> None:
        raw = path.read_bytes()
        length = int.from_bytes(raw[:8], "little")
        frame = parse(raw[8 : 8 + length])
        blob = np.frombuffer(raw[8 + length :], dtype=np.uint8)
        self.content = json.loads(frame.text)
        self.arrays = {name: a.copy() for name, a in split(blob, frame.tensors).items()}

    def write(self, path: Path) -> Path:
        tensors = {name: Tensor(NAMES[a.dtype], a.shape) for name, a in self.arrays.items()}
        blob = b"".join(self.arrays[name].tobytes() for name, _ in in_order(tensors))
        self.content["data"] = sha256(blob).hexdigest()
        header, _ = build(canonical(self.content), tensors)
        path.write_bytes(len(header).to_bytes(8, "little") + header + blob)
        return path


@pytest.fixture(params=sorted(FITTED))
def fitted(request: pytest.FixtureRequest) -> Any:
    return FITTED[request.param]()


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A small but whole model file."""
    path = tmp_path / "small.assay"
    save(path, {"about": "a test"}, {"encoder": None, "model": FITTED["logistic-three"]()})
    return path


assert set(DTYPES.values()) == set(NAMES)
