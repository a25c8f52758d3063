"""Kernel machines: fit and predict, made and real tables, and the polynomial that hangs libsvm."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, make_classification

from benchmarks import tables
from benchmarks.work import OURS, Contestant, Work

SKLEARN, INTELEX = "scikit-learn", "scikit-learn-intelex"
#: Module of SVC, module without which a contestant is skipped, settings of its own.
MAKERS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    OURS: ("assay.svm", None, {"n_jobs": -1}),
    SKLEARN: ("sklearn.svm", "sklearn", {}),
    INTELEX: ("sklearnex.svm", "sklearnex", {}),
}


class Classes(NamedTuple):
    """Training rows, and rows to predict."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]


class Fitted(NamedTuple):
    model: Any
    data: Classes


def made() -> Classes:
    X, y = make_classification(20_000, 20, random_state=0)
    return Classes(X, y, X[:5000], y[:5000])


def unscaled() -> Classes:
    X, y = load_breast_cancer(return_X_y=True)
    return Classes(X, y, X, y)


def real(name: str) -> Classes:
    """Scale the numbers, give every level a column of its own, keep back a fifth of the rows."""
    table = tables.filled(tables.held_out(name))
    train, test = [], []
    for j in range(table.X.shape[1]):
        own, other = table.X[:, j], table.X_test[:, j]
        if j in table.nominal:
            levels = np.unique(own)
            train.append(own[:, None] == levels)
            test.append(other[:, None] == levels)
        elif own.std() > 0:
            train.append((own[:, None] - own.mean()) / own.std())
            test.append((other[:, None] - own.mean()) / own.std())
    columns = (np.hstack(train).astype(np.float64), np.hstack(test).astype(np.float64))
    return Classes(columns[0], table.y, columns[1], table.y_test)


def fit_of(name: str, settings: dict[str, Any]) -> Contestant:
    module, needs, own = MAKERS[name]

    def load() -> Callable[[Classes], Any]:
        maker = importlib.import_module(module).SVC
        return lambda data: maker(**settings, **own).fit(data.X, data.y)

    return Contestant(name, load, needs)


def predict_of(name: str, settings: dict[str, Any]) -> Contestant:
    fit = fit_of(name, settings)

    def prepare() -> Callable[[Classes], Fitted]:
        call = fit.load()
        return lambda data: Fitted(call(data), data)

    def load() -> Callable[[Fitted], Any]:
        return lambda fitted: fitted.model.predict(fitted.data.X_test)

    return Contestant(name, load, fit.needs, prepare)


def fit_summary(data: Classes, model: Any) -> dict[str, Any]:
    """Accuracy on the rows kept back, support vectors and, for two classes, the dual objective."""
    accuracy = float(np.mean(model.predict(data.X_test) == data.y_test))
    found: dict[str, Any] = {"accuracy": accuracy, "vectors": len(model.support_)}
    if len(model.classes_) == 2:
        from assay.svm.engine import Kernel, decide  # noqa: PLC0415

        weight = np.asarray(model.dual_coef_).reshape(1, -1)
        vectors = np.ascontiguousarray(data.X[model.support_])
        scale = 1.0 / (data.X.shape[1] * data.X.var())
        gamma = scale if model.gamma == "scale" else float(model.gamma)
        kernel = Kernel(model.kernel, gamma=gamma, coef0=model.coef0, degree=model.degree)
        values = decide(kernel, vectors, vectors, weight.T, 0.0, n_threads=2)[:, 0]
        found["objective"] = float(0.5 * weight[0] @ values - np.abs(weight).sum())
    for name in ("kkt_residual_", "duality_gap_"):
        if hasattr(model, name):
            found[name] = float(np.max(getattr(model, name)))
    if hasattr(model, "stop_reason_"):
        found["stop_reason_"] = str(model.stop_reason_)
    return found


def fit_quality(data: Classes, result: Any, reference: Any) -> str:  # noqa: ARG001
    text = f"accuracy {result['accuracy']:.4f} ({result['accuracy'] - reference['accuracy']:+.4f})"
    text += f", {result['vectors']} vectors"
    if "objective" in result:
        ours, theirs = result["objective"], reference["objective"]
        text += f", objective {(ours - theirs) / abs(theirs):+.1e} relative"
    return text


def certificate(data: Classes, result: Any, reference: Any) -> str:  # noqa: ARG001
    text = f"objective {result['objective']:.6g}"
    for name in ("stop_reason_", "kkt_residual_", "duality_gap_"):
        if name in result:
            text += f", {name.strip('_').replace('_', ' ')} {result[name]}"
    return text


def predict_summary(fitted: Fitted, answers: Any) -> NDArray[np.int64]:  # noqa: ARG001
    return np.asarray(answers)


def predict_quality(data: Any, result: Any, reference: Any) -> str:  # noqa: ARG001
    return f"{np.mean(result == reference):.2%} same labels"


def fit_work(
    name: str,
    data: Callable[[], Classes],
    settings: dict[str, Any],
    bars: dict[str, float] | None = None,
    among: tuple[str, ...] = tuple(MAKERS),
    **more: Any,
) -> Work:
    more.setdefault("quality", fit_quality)
    more.setdefault("reference", SKLEARN)
    return Work(
        name=name,
        data=data,
        contestants=tuple(fit_of(each, settings) for each in among),
        bars=bars or {},
        summary=fit_summary,
        **more,
    )


RBF: dict[str, Any] = {"C": 1.0}
CUBIC: dict[str, Any] = {"C": 1.0, "kernel": "poly", "degree": 3}
QUARTIC: dict[str, Any] = {"C": 100.0, "kernel": "poly", "degree": 4, "gamma": 1.0, "coef0": 1.0}

WORKS = (
    fit_work("SVC RBF, C = 1, 20k x 20, fit", made, RBF, {SKLEARN: 6.0, INTELEX: 2.0}, repeats=5),
    fit_work(
        "SVC polynomial 3, 20k x 20, fit", made, CUBIC, {SKLEARN: 7.0, INTELEX: 2.0}, repeats=5
    ),
    Work(
        name="SVC predict, 5k rows",
        data=made,
        contestants=tuple(predict_of(each, RBF) for each in MAKERS),
        reference=SKLEARN,
        quality=predict_quality,
        bars={SKLEARN: 12.0, INTELEX: 1.0},
        summary=predict_summary,
    ),
    *(
        fit_work(
            f"SVC RBF, {name}, fit",
            partial(real, name),
            RBF,
            repeats=1,
            alone=True,
            file=tables.path_of(name),
        )
        for name in ("letter", "mnist_10k", "adult")
    ),
    fit_work(
        "SVC polynomial 4, C = 100, unscaled columns (libsvm does not end)",
        unscaled,
        QUARTIC,
        among=(OURS,),
        reference=OURS,
        quality=certificate,
        repeats=3,
    ),
)
