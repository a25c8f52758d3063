"""Naive Bayes: fits, predictions, and every smoothing on every fold."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import make_classification

from assay.base import TrainingSet
from benchmarks.work import OURS, Contestant, Work

SMOOTHINGS = [{"var_smoothing": 10.0**power} for power in range(-10, -2)]


class Table(NamedTuple):
    X: NDArray[Any]
    y: NDArray[np.int64]


def numbers() -> Table:
    X, y = make_classification(
        100_000, 20, n_informative=10, n_classes=4, n_clusters_per_class=1, random_state=0
    )
    return Table(X, y)


def levels() -> Table:
    X, y = numbers()
    return Table(np.digitize(X, [-2.0, -1.0, 0.0, 1.0, 2.0]), y)


def small() -> Table:
    X, y = make_classification(5_000, 30, n_informative=10, n_classes=3, random_state=0)
    return Table(X, y)


def assay_gaussian() -> Any:
    from assay.bayes import NaiveBayesClassifier  # noqa: PLC0415

    return lambda data: _answer(NaiveBayesClassifier(n_jobs=-1), data)


def sklearn_gaussian() -> Any:
    from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415

    return lambda data: _answer(GaussianNB(), data)


def assay_levels() -> Any:
    from assay.bayes import NaiveBayesClassifier  # noqa: PLC0415

    model = NaiveBayesClassifier(categorical_features=np.arange(20), n_jobs=-1)
    return lambda data: _answer(model, data)


def sklearn_levels() -> Any:
    from sklearn.naive_bayes import CategoricalNB  # noqa: PLC0415

    return lambda data: _answer(CategoricalNB(), data)


def _answer(model: Any, data: Table) -> Any:
    return model.fit(data.X, data.y).predict_proba(data.X)


def assay_folds() -> Any:
    from assay.bayes import NaiveBayesClassifier  # noqa: PLC0415

    def call(data: Table) -> Any:
        path, template = NaiveBayesClassifier.assay_path, NaiveBayesClassifier()
        shared = path.share(data.X, SMOOTHINGS)
        return [
            [each.predictions[0].probability for each in found]
            for train, tests in _pairs(len(data.X))
            for training in [
                TrainingSet(
                    data.X, data.y, train, tests, n_classes=int(data.y.max()) + 1, shared=shared
                )
            ]
            for found in [path.fit_predict(template, training, SMOOTHINGS)]
        ]

    return call


def assay_singles() -> Any:
    from assay.bayes import NaiveBayesClassifier  # noqa: PLC0415

    return lambda data: _one_by_one(NaiveBayesClassifier(), data)


def sklearn_singles() -> Any:
    from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415

    return lambda data: _one_by_one(GaussianNB(), data)


def _one_by_one(template: Any, data: Table) -> Any:
    answers = []
    for train, tests in _pairs(len(data.X)):
        X, y, asked = data.X[train], data.y[train], data.X[np.concatenate(tests)]
        models = [clone(template).set_params(**each).fit(X, y) for each in SMOOTHINGS]
        answers.append([model.predict_proba(asked)[: len(tests[0])] for model in models])
    return answers


def _pairs(n: int) -> list[tuple[NDArray[np.int64], list[NDArray[np.int64]]]]:
    """Return the ten pair-out training sets of five blocks, with their two test blocks."""
    blocks = np.array_split(np.random.default_rng(0).permutation(n), 5)
    return [
        (np.concatenate([blocks[b] for b in range(5) if b not in held]), [blocks[b] for b in held])
        for held in combinations(range(5), 2)
    ]


def largest_difference(data: Table, result: Any, reference: Any) -> str:  # noqa: ARG001
    gap = np.abs(np.asarray(result) - np.asarray(reference)).max()
    return f"largest difference {gap:.1e}"


WORKS = (
    Work(
        name="naive Bayes, Gaussian, fit and predict_proba, 100k x 20",
        data=numbers,
        contestants=(
            Contestant(OURS, assay_gaussian),
            Contestant("scikit-learn", sklearn_gaussian, "sklearn"),
        ),
        reference="scikit-learn",
        quality=largest_difference,
        bars={"scikit-learn": 1.0},
    ),
    Work(
        name="naive Bayes, nominal, fit and predict_proba, 100k x 20",
        data=levels,
        contestants=(
            Contestant(OURS, assay_levels),
            Contestant("scikit-learn", sklearn_levels, "sklearn"),
        ),
        reference="scikit-learn",
        quality=largest_difference,
    ),
    Work(
        name="naive Bayes path, 8 smoothings on 10 pair-out folds, 5k x 30",
        data=small,
        contestants=(
            Contestant(OURS, assay_folds),
            Contestant("assay, 80 fits", assay_singles),
            Contestant("scikit-learn, 80 fits", sklearn_singles, "sklearn"),
        ),
        reference="scikit-learn, 80 fits",
        quality=largest_difference,
    ),
)
