"""Projections: principal components, and linear discriminants with every shrinkage."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import make_classification

from assay.base import TrainingSet
from benchmarks.work import OURS, Contestant, Work

SHRINKAGES = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


class Classes(NamedTuple):
    X: NDArray[np.float64]
    y: NDArray[np.int64]


class Folds(NamedTuple):
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    blocks: list[NDArray[np.int64]]
    candidates: list[dict[str, Any]]


def long_table() -> NDArray[np.float64]:
    """100,000 x 100, correlated, far from the origin."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(100_000, 100)) @ rng.normal(size=(100, 100)) / 10 + 5.0


def wide_table() -> NDArray[np.float64]:
    """2,000 x 5,000 with 40 planted directions."""
    rng = np.random.default_rng(0)
    planted = rng.normal(size=(2000, 40)) @ rng.normal(size=(40, 5000))
    return planted + 0.1 * rng.normal(size=(2000, 5000))


def three_classes() -> Classes:
    X, y = make_classification(
        100_000, 20, n_informative=10, n_redundant=0, n_classes=3, random_state=0
    )
    return Classes(X, y.astype(np.int64))


def five_blocks() -> Folds:
    data = three_classes()
    order = np.random.default_rng(0).permutation(len(data.y))
    candidates: list[dict[str, Any]] = [{"solver": "svd"}]
    candidates += [{"solver": "lsqr", "shrinkage": share} for share in SHRINKAGES]
    return Folds(data.X, data.y, np.array_split(order, 5), candidates)


def pca_of(module: str, **settings: Any) -> Any:
    def load() -> Any:
        pca = importlib.import_module(module).PCA

        def call(X: NDArray[np.float64]) -> Any:
            model = pca(**settings).fit(X)
            return np.asarray(model.components_), np.asarray(model.explained_variance_)

        return call

    return load


def places_of(module: str, **settings: Any) -> Any:
    def load() -> Any:
        pca = importlib.import_module(module).PCA
        return lambda X: np.asarray(pca(**settings).fit_transform(X))

    return load


def discriminant_of(module: str, **settings: Any) -> Any:
    def load() -> Any:
        model = importlib.import_module(module).LinearDiscriminantAnalysis(**settings)
        return lambda data: clone(model).fit(data.X, data.y)

    return load


def assay_folds() -> Any:
    from assay.decomposition import LinearDiscriminantAnalysis  # noqa: PLC0415

    def call(data: Folds) -> Any:
        path = LinearDiscriminantAnalysis.assay_path
        shared = path.share(data.X, data.candidates)
        found = []
        for left_out, test in enumerate(data.blocks):
            train = np.concatenate([b for k, b in enumerate(data.blocks) if k != left_out])
            training = TrainingSet(
                data.X, data.y, train, [test], n_classes=int(data.y.max()) + 1, shared=shared
            )
            template = LinearDiscriminantAnalysis(n_jobs=-1)
            fitted = path.fit_predict(template, training, data.candidates)
            found.append([each.predictions[0].probability for each in fitted])
        return found

    return call


def single_folds(module: str, **settings: Any) -> Any:
    def load() -> Any:
        template = importlib.import_module(module).LinearDiscriminantAnalysis(**settings)

        def call(data: Folds) -> Any:
            found = []
            for left_out, test in enumerate(data.blocks):
                train = np.concatenate([b for k, b in enumerate(data.blocks) if k != left_out])
                X, y, queries = data.X[train], data.y[train], data.X[test]
                models = [clone(template).set_params(**each).fit(X, y) for each in data.candidates]
                found.append([model.predict_proba(queries) for model in models])
            return found

        return call

    return load


def variance_gap(X: NDArray[np.float64], result: Any, reference: Any) -> str:  # noqa: ARG001
    gap = np.abs(result[1] / reference[1] - 1).max()
    off = np.abs(np.abs(np.sum(result[0] * reference[0], axis=1)) - 1).max()
    return f"variances to {gap:.0e}, axes to {off:.0e} of the reference"


def kept_variance(X: NDArray[np.float64], result: Any, reference: Any) -> str:  # noqa: ARG001
    return f"keeps {result[1].sum() / reference[1].sum() - 1:+.1e} of the reference's variance"


def places_gap(X: NDArray[np.float64], result: Any, reference: Any) -> str:  # noqa: ARG001
    return f"largest difference {np.abs(np.abs(result) - np.abs(reference)).max():.0e}"


def probabilities(data: Classes, model: Any) -> Any:
    return model.predict_proba(data.X)


def largest_difference(data: Any, result: Any, reference: Any) -> str:  # noqa: ARG001
    gap = max(
        float(np.abs(np.asarray(a) - np.asarray(b)).max())
        for a, b in zip(result, reference, strict=True)
    )
    return f"largest difference of a probability {gap:.0e}"


SKLEARN, INTELEX = "scikit-learn", "scikit-learn-intelex"
PCA_PEERS = {SKLEARN: "sklearn.decomposition", INTELEX: "sklearnex.decomposition"}
NEEDS = {SKLEARN: "sklearn", INTELEX: "sklearnex"}


def beside_peers(make: Any, **settings: Any) -> tuple[Contestant, ...]:
    return (
        Contestant(OURS, make("assay.decomposition", n_jobs=-1, **settings)),
        *(
            Contestant(name, make(module, **settings), NEEDS[name])
            for name, module in PCA_PEERS.items()
        ),
    )


def discriminants(**settings: Any) -> tuple[Contestant, ...]:
    return (
        Contestant(OURS, discriminant_of("assay.decomposition", n_jobs=-1, **settings)),
        Contestant(SKLEARN, discriminant_of("sklearn.discriminant_analysis", **settings)),
    )


WORKS = (
    Work(
        name="PCA, 100k x 100",
        data=long_table,
        contestants=beside_peers(pca_of),
        reference=SKLEARN,
        quality=variance_gap,
        bars={SKLEARN: 1.5, INTELEX: 1.5},
    ),
    Work(
        name="PCA with projection, 100k x 100 to 10",
        data=long_table,
        contestants=beside_peers(places_of, n_components=10),
        reference=SKLEARN,
        quality=places_gap,
    ),
    Work(
        name="PCA by random projection, 2k x 5k to 20",
        data=wide_table,
        contestants=beside_peers(pca_of, n_components=20, svd_solver="randomized", random_state=0),
        reference=SKLEARN,
        quality=kept_variance,
        repeats=3,
    ),
    Work(
        name="LDA, 100k x 20, 3 classes",
        data=three_classes,
        contestants=discriminants(),
        reference=SKLEARN,
        quality=largest_difference,
        summary=probabilities,
        bars={SKLEARN: 3.0},
    ),
    Work(
        name="LDA with automatic shrinkage, 100k x 20, 3 classes",
        data=three_classes,
        contestants=discriminants(solver="lsqr", shrinkage="auto"),
        reference=SKLEARN,
        quality=largest_difference,
        summary=probabilities,
    ),
    Work(
        name="LDA, 9 candidates on 5 folds, 100k x 20",
        data=five_blocks,
        contestants=(
            Contestant(OURS, assay_folds),
            Contestant("assay, 45 fits", single_folds("assay.decomposition", n_jobs=-1)),
            Contestant(
                "scikit-learn, 45 fits", single_folds("sklearn.discriminant_analysis"), "sklearn"
            ),
        ),
        reference="scikit-learn, 45 fits",
        quality=largest_difference,
        repeats=3,
    ),
)
