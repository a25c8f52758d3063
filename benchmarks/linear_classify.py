"""Linear classifiers: logistic regression with L2 and L1, its path, and the linear SVM."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import make_classification

from benchmarks.work import OURS, Contestant, Work

PATH_C = tuple(float(C) for C in np.geomspace(1e-3, 1e3, 13))


class Classes(NamedTuple):
    X: NDArray[np.float64]
    y: NDArray[np.int64]


class Unit(NamedTuple):
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    train: NDArray[np.int64]
    tests: list[NDArray[np.int64]]


def logistic_data() -> Classes:
    return Classes(*make_classification(100_000, 20, random_state=0))


def softmax_data() -> Classes:
    return Classes(*make_classification(50_000, 20, n_classes=4, n_informative=10, random_state=0))


def svm_data() -> Classes:
    return Classes(*make_classification(20_000, 20, random_state=0))


def path_data() -> Unit:
    X, y = make_classification(10_000, 20, n_informative=8, random_state=0)
    blocks = np.array_split(np.random.default_rng(0).permutation(len(X)), 5)
    return Unit(X, y, np.concatenate(blocks[2:]), list(blocks[:2]))


def model_of(module: str, name: str, **settings: Any) -> Any:
    """A contestant that fits one model and returns its coefficients and intercepts."""

    def load() -> Any:
        maker = getattr(importlib.import_module(module), name)

        def call(data: Classes) -> Any:
            model = maker(**settings).fit(data.X, data.y)
            return np.array(model.coef_), np.array(model.intercept_)

        return call

    return load


def logistic_objective(data: Classes, result: Any, ratio: float) -> float:
    coef, intercept = result
    scores = data.X @ coef.T + intercept
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    top = scores.max(axis=1)
    logs = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    loss = (logs - scores[np.arange(len(scores)), data.y]).sum()
    return float(loss + ratio * np.abs(coef).sum() + (1 - ratio) / 2 * (coef**2).sum())


def hinge_objective(data: Classes, result: Any) -> float:
    coef, intercept = result
    margins = np.where(data.y == 1, 1, -1) * (data.X @ coef[0] + intercept[0])
    penalty = 0.5 * ((coef**2).sum() + (intercept**2).sum())  # liblinear's intercept pays, too
    return float(np.maximum(0, 1 - margins).sum() + penalty)


def above(value: float, reference: float) -> str:
    return f"objective {value:.6f}, {value / reference - 1:+.1e} of the reference"


def l2_quality(data: Classes, result: Any, reference: Any) -> str:
    return above(*(logistic_objective(data, each, 0.0) for each in (result, reference)))


def l1_quality(data: Classes, result: Any, reference: Any) -> str:
    return above(*(logistic_objective(data, each, 1.0) for each in (result, reference)))


def hinge_quality(data: Classes, result: Any, reference: Any) -> str:
    return above(*(hinge_objective(data, each) for each in (result, reference)))


def assay_path() -> Any:
    model = importlib.import_module("assay.linear").LogisticRegression

    def call(data: Unit) -> Any:
        candidates = [{"C": C} for C in PATH_C]
        fitted = model.assay_path.fit_predict(
            model(n_jobs=-1), None, data.X, data.y, None, data.train, data.tests, candidates
        )
        return [[block.probability for block in each.predictions] for each in fitted]

    return call


def singles_of(module: str, **settings: Any) -> Any:
    def load() -> Any:
        template = importlib.import_module(module).LogisticRegression(**settings)

        def call(data: Unit) -> Any:
            answers = []
            for C in PATH_C:
                model = clone(template).set_params(C=C).fit(data.X[data.train], data.y[data.train])
                answers.append([model.predict_proba(data.X[test]) for test in data.tests])
            return answers

        return call

    return load


def largest_difference(data: Unit, result: Any, reference: Any) -> str:  # noqa: ARG001
    gaps = [
        np.abs(a - b).max()
        for ours, theirs in zip(result, reference, strict=True)
        for a, b in zip(ours, theirs, strict=True)
    ]
    return f"largest difference {max(gaps):.1e}"


_LOGISTIC = "LogisticRegression"
_SKLEARN = "sklearn.linear_model"

CLASSIFY_WORKS = (
    Work(
        name="logistic, L2, 100k x 20",
        data=logistic_data,
        contestants=(
            Contestant(OURS, model_of("assay.linear", _LOGISTIC, n_jobs=-1)),
            Contestant("scikit-learn", model_of(_SKLEARN, _LOGISTIC), "sklearn"),
            Contestant(
                "scikit-learn-intelex",
                model_of("sklearnex.linear_model", _LOGISTIC, n_jobs=-1),
                "sklearnex",
            ),
        ),
        reference="scikit-learn",
        quality=l2_quality,
        bars={"scikit-learn": 3.5, "scikit-learn-intelex": 1.2},
    ),
    Work(
        name="logistic, L1, 100k x 20",
        data=logistic_data,
        contestants=(
            Contestant(OURS, model_of("assay.linear", _LOGISTIC, l1_ratio=1.0, n_jobs=-1)),
            Contestant(
                "liblinear",
                model_of(_SKLEARN, _LOGISTIC, l1_ratio=1.0, solver="liblinear"),
                "sklearn",
            ),
        ),
        reference="liblinear",
        quality=l1_quality,
        bars={"liblinear": 3.0},
    ),
    Work(
        name="logistic, softmax of 4 classes, L2, 50k x 20",
        data=softmax_data,
        contestants=(
            Contestant(OURS, model_of("assay.linear", _LOGISTIC, n_jobs=-1)),
            Contestant("scikit-learn", model_of(_SKLEARN, _LOGISTIC), "sklearn"),
            Contestant(
                "scikit-learn, newton-cholesky",
                model_of(_SKLEARN, _LOGISTIC, solver="newton-cholesky"),
                "sklearn",
            ),
        ),
        reference="scikit-learn",
        quality=l2_quality,
    ),
    Work(
        name="logistic path, 13 penalties, 6k x 20, 4k queries",
        data=path_data,
        contestants=(
            Contestant(OURS, assay_path),
            Contestant("assay, 13 fits", singles_of("assay.linear", n_jobs=-1)),
            Contestant("scikit-learn, 13 fits", singles_of(_SKLEARN), "sklearn"),
        ),
        reference="assay, 13 fits",
        quality=largest_difference,
    ),
    Work(
        name="linear SVM, hinge, 20k x 20",
        data=svm_data,
        contestants=(
            Contestant(OURS, model_of("assay.linear", "LinearSVC", loss="hinge", n_jobs=-1)),
            Contestant(
                "liblinear",
                model_of("sklearn.svm", "LinearSVC", loss="hinge", max_iter=100_000),
                "sklearn",
            ),
        ),
        reference="liblinear",
        quality=hinge_quality,
        bars={"liblinear": 2.0},
    ),
)
