"""Feature work: Relief, SMOTE, and what a score looks like when made rows leak."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold, cross_val_score

from benchmarks.tables import load, path_of
from benchmarks.work import OURS, Contestant, Work

#: Columns with an effect of their own, and two that act only together.
MAIN, PAIR = (10, 40), (20, 30)


class Rows(NamedTuple):
    X: NDArray[np.float64]
    y: NDArray[np.int64]


def planted() -> Rows:
    """Return 1000 rows of 1000 columns of 0 and 1, four of them planted."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(1000, 1000))
    pair = X[:, PAIR[0]] ^ X[:, PAIR[1]]
    odds = 4.4 * (pair - 0.5) + 2.4 * (X[:, MAIN].sum(axis=1) - 1)
    y = rng.uniform(size=len(X)) < 1 / (1 + np.exp(-odds))
    return Rows(X.astype(np.float64), y.astype(np.int64))


def assay_relief() -> Any:
    from assay.features import ReliefF  # noqa: PLC0415

    return lambda data: ReliefF(10, n_jobs=-1).fit(data.X, data.y).scores_


def assay_multisurf() -> Any:
    from assay.features import ReliefF  # noqa: PLC0415

    return lambda data: ReliefF("multisurf", n_jobs=-1).fit(data.X, data.y).scores_


def skrebate_relief() -> Any:
    library = import_module("skrebate")
    return lambda data: library.ReliefF(4, 10, n_jobs=-1).fit(data.X, data.y).feature_importances_


def skrebate_multisurf() -> Any:
    library = import_module("skrebate")
    return lambda data: library.MultiSURF(4, n_jobs=-1).fit(data.X, data.y).feature_importances_


def ranks(data: Rows, result: Any, reference: Any) -> str:  # noqa: ARG001
    order = np.argsort(-np.asarray(result), kind="stable")
    place = {int(column): rank + 1 for rank, column in enumerate(order)}
    shown = ", ".join(str(place[column]) for column in (*MAIN, *PAIR))
    return f"planted at {shown}; correlation {np.corrcoef(result, reference)[0, 1]:.4f}"


def rare() -> Rows:
    X, y = make_classification(
        50_000, 20, n_informative=8, weights=[0.9], flip_y=0.02, random_state=0
    )
    # One scale for all columns: the peer's distance is that of the numbers as they are.
    return Rows((X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)), y)


def assay_smote() -> Any:
    from assay.features import SyntheticSampler  # noqa: PLC0415

    return lambda data: SyntheticSampler(random_state=0, n_jobs=-1).fit_resample(*data)


def imblearn_smote() -> Any:
    library = import_module("imblearn.over_sampling")
    return lambda data: library.SMOTE(random_state=0).fit_resample(*data)


def counts(data: Rows, result: Any, reference: Any) -> str:  # noqa: ARG001
    made = result[0][len(data.X) :]
    own = data.X[data.y == 1]
    inside = ((made >= own.min(axis=0)) & (made <= own.max(axis=0))).all()
    return f"classes {np.bincount(result[1]).tolist()}; made rows inside: {bool(inside)}"


def mammography() -> Rows:
    table = load("mammography")
    return Rows(table.X, (table.y == np.bincount(table.y).argmin()).astype(np.int64))


def inside_the_fold() -> Any:
    from assay.features import ResampledClassifier, SyntheticSampler  # noqa: PLC0415
    from assay.neighbors import KNeighborsClassifier  # noqa: PLC0415

    model = ResampledClassifier(KNeighborsClassifier(), SyntheticSampler(random_state=0))
    return lambda data: _score(model, data.X, data.y)


def resampled_first() -> Any:
    from assay.features import SyntheticSampler  # noqa: PLC0415
    from assay.neighbors import KNeighborsClassifier  # noqa: PLC0415

    def call(data: Rows) -> Any:
        rows, labels = SyntheticSampler(random_state=0).fit_resample(*data)
        return _score(KNeighborsClassifier(), rows, labels)

    return call


def as_it_came() -> Any:
    from assay.neighbors import KNeighborsClassifier  # noqa: PLC0415

    return lambda data: _score(KNeighborsClassifier(), data.X, data.y)


def imblearn_inside() -> Any:
    sampler = import_module("imblearn.over_sampling").SMOTE(random_state=0)
    pipeline = import_module("imblearn.pipeline")
    from sklearn.neighbors import KNeighborsClassifier  # noqa: PLC0415

    model = pipeline.make_pipeline(sampler, KNeighborsClassifier())
    return lambda data: _score(model, data.X, data.y)


def _score(model: Any, X: Any, y: Any) -> float:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return float(cross_val_score(model, X, y, cv=folds, scoring="balanced_accuracy").mean())


def said(data: Rows, result: Any, reference: Any) -> str:  # noqa: ARG001
    return f"balanced accuracy {result:.3f}"


WORKS = (
    Work(
        name="ReliefF, k = 10, 1000 x 1000",
        data=planted,
        contestants=(
            Contestant(OURS, assay_relief),
            Contestant("skrebate", skrebate_relief, "skrebate", once=True),
        ),
        reference="skrebate",
        quality=ranks,
        repeats=1,
    ),
    Work(
        name="MultiSURF, 1000 x 1000",
        data=planted,
        contestants=(
            Contestant(OURS, assay_multisurf),
            Contestant("skrebate", skrebate_multisurf, "skrebate", once=True),
        ),
        reference="skrebate",
        quality=ranks,
        repeats=1,
    ),
    Work(
        name="SMOTE, 50k x 20, 10 % rare",
        data=rare,
        contestants=(
            Contestant(OURS, assay_smote),
            Contestant("imbalanced-learn", imblearn_smote, "imblearn"),
        ),
        reference=OURS,
        quality=counts,
    ),
    Work(
        name="5-NN on mammography, five folds: SMOTE inside the fold and before it",
        data=mammography,
        contestants=(
            Contestant(OURS, inside_the_fold),
            Contestant("resampled first (leaks)", resampled_first),
            Contestant("not resampled", as_it_came),
            Contestant("imbalanced-learn, inside", imblearn_inside, "imblearn"),
        ),
        reference=OURS,
        quality=said,
        repeats=1,
        file=path_of("mammography"),
    ),
)
