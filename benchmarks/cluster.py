"""Centroids: k-means from the same start and from scratch, mini-batches, fuzzy k-means."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

from benchmarks.work import OURS, Contestant, Work

K = 50
ROUNDS = 40
FUZZY_ROUNDS = 30


class Start(NamedTuple):
    rows: NDArray[Any]
    centres: NDArray[np.float64]


def blobs(n: int, d: int, k: int) -> NDArray[np.float64]:
    rows: NDArray[np.float64] = make_blobs(n, d, centers=k, random_state=0)[0]
    return rows


def started(n: int, d: int, k: int) -> Start:
    rows = blobs(n, d, k)
    return Start(rows, rows[np.random.default_rng(0).choice(n, k, replace=False)])


def medium() -> Start:
    return started(200_000, 10, K)


def medium_float32() -> Start:
    data = medium()
    return Start(data.rows.astype(np.float32), data.centres.astype(np.float32))


def noise() -> Start:
    rows = np.random.default_rng(0).normal(size=(100_000, 32))
    return Start(rows, rows[:100])


def large() -> Start:
    return started(1_000_000, 20, 20)


def fuzzy_data() -> Start:
    return started(50_000, 10, 10)


def assay_started() -> Any:
    from assay.cluster import KMeans  # noqa: PLC0415

    return lambda data: _quiet(
        KMeans(len(data.centres), init=data.centres, max_iter=ROUNDS, tol=0, n_jobs=-1), data
    )


def assay_full() -> Any:
    from assay.cluster import KMeans  # noqa: PLC0415

    return lambda data: _quiet(
        KMeans(
            len(data.centres),
            init=data.centres,
            max_iter=ROUNDS,
            tol=0,
            algorithm="full",
            n_jobs=-1,
        ),
        data,
    )


def sklearn_started() -> Any:
    from sklearn.cluster import KMeans  # noqa: PLC0415

    return lambda data: _quiet(
        KMeans(len(data.centres), init=data.centres, n_init=1, max_iter=ROUNDS, tol=0), data
    )


def elkan_started() -> Any:
    from sklearn.cluster import KMeans  # noqa: PLC0415

    return lambda data: _quiet(
        KMeans(
            len(data.centres),
            init=data.centres,
            n_init=1,
            max_iter=ROUNDS,
            tol=0,
            algorithm="elkan",
        ),
        data,
    )


def sklearnex_started() -> Any:
    from sklearnex.cluster import KMeans  # noqa: PLC0415

    return lambda data: _quiet(
        KMeans(len(data.centres), init=data.centres, n_init=1, max_iter=ROUNDS, tol=0), data
    )


def faiss_started() -> Any:
    import faiss  # noqa: PLC0415

    def call(data: Start) -> Any:
        n, d = data.rows.shape
        # FAISS knows float32 only; the conversion is part of its price.
        rows = data.rows.astype(np.float32)
        model = faiss.Kmeans(
            d, len(data.centres), niter=ROUNDS, max_points_per_centroid=n, min_points_per_centroid=1
        )
        model.train(rows, init_centroids=data.centres.astype(np.float32))
        squared, labels = model.index.search(rows, 1)
        return labels[:, 0], float(squared.sum(dtype=np.float64))

    return call


def assay_fit() -> Any:
    from assay.cluster import KMeans  # noqa: PLC0415

    return lambda data: _quiet(KMeans(len(data.centres), random_state=0, n_jobs=-1), data)


def sklearn_fit() -> Any:
    from sklearn.cluster import KMeans  # noqa: PLC0415

    return lambda data: _quiet(KMeans(len(data.centres), random_state=0), data)


def sklearnex_fit() -> Any:
    from sklearnex.cluster import KMeans  # noqa: PLC0415

    return lambda data: _quiet(KMeans(len(data.centres), random_state=0, n_init=1), data)


def assay_batches() -> Any:
    from assay.cluster import MiniBatchKMeans  # noqa: PLC0415

    return lambda data: _quiet(MiniBatchKMeans(len(data.centres), random_state=0, n_jobs=-1), data)


def sklearn_batches() -> Any:
    from sklearn.cluster import MiniBatchKMeans  # noqa: PLC0415

    return lambda data: _quiet(MiniBatchKMeans(len(data.centres), random_state=0), data)


def assay_fuzzy() -> Any:
    from assay.cluster import FuzzyKMeans  # noqa: PLC0415

    def call(data: Start) -> Any:
        model = FuzzyKMeans(
            len(data.centres), init=data.centres, max_iter=FUZZY_ROUNDS, tol=0, n_jobs=-1
        )
        return _fit(model, data).objective_

    return call


def skfuzzy_fuzzy() -> Any:
    from skfuzzy.cluster import cmeans  # noqa: PLC0415

    def call(data: Start) -> Any:
        squared = ((data.rows[:, None] - data.centres) ** 2).sum(axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            first = np.nan_to_num(1 / (squared * (1 / squared).sum(axis=1)[:, None]), nan=1.0)
        k = len(data.centres)
        found = cmeans(data.rows.T, k, 2.0, error=0, maxiter=FUZZY_ROUNDS + 1, init=first.T)
        return float(found[4][-1])

    return call


def _fit(model: Any, data: Start) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 40 rounds need not be enough
        return model.fit(data.rows)


def _quiet(model: Any, data: Start) -> Any:
    found = _fit(model, data)
    return found.labels_, float(found.inertia_)


def inertia(data: Start, result: Any, reference: Any) -> str:  # noqa: ARG001
    same = float(np.mean(result[0] == reference[0]))
    return f"inertia {result[1] / reference[1] - 1:+.1e}, {same:.3%} same labels"


def objective(data: Start, result: Any, reference: Any) -> str:  # noqa: ARG001
    return f"objective {result / reference - 1:+.1e}"


STARTED = (
    Contestant(OURS, assay_started),
    Contestant("assay, all distances", assay_full),
    Contestant("scikit-learn", sklearn_started, "sklearn"),
    Contestant("scikit-learn, elkan", elkan_started, "sklearn"),
    Contestant("scikit-learn-intelex", sklearnex_started, "sklearnex"),
    Contestant("FAISS", faiss_started, "faiss"),
)

FITTED = (
    Contestant(OURS, assay_fit),
    Contestant("scikit-learn", sklearn_fit, "sklearn"),
    Contestant("scikit-learn-intelex", sklearnex_fit, "sklearnex"),
)

WORKS = (
    Work(
        name="k-means, k = 50, 200k x 10, same start, 40 rounds",
        data=medium,
        contestants=STARTED,
        reference="scikit-learn",
        quality=inertia,
        bars={"scikit-learn": 4.0, "FAISS": 3.0},
    ),
    Work(
        name="k-means, k = 50, 200k x 10, with k-means++",
        data=medium,
        contestants=FITTED,
        reference="scikit-learn",
        quality=inertia,
        bars={"scikit-learn": 4.0},
    ),
    Work(
        name="k-means in float32, k = 50, 200k x 10, same start, 40 rounds",
        data=medium_float32,
        contestants=STARTED,
        reference="scikit-learn",
        quality=inertia,
    ),
    Work(
        name="k-means on noise, k = 100, 100k x 32, same start, 40 rounds",
        data=noise,
        contestants=STARTED,
        reference="scikit-learn",
        quality=inertia,
    ),
    Work(
        name="k-means, k = 20, 1M x 20, same start, 40 rounds",
        data=large,
        contestants=STARTED,
        reference="scikit-learn",
        quality=inertia,
        repeats=3,
        alone=True,
    ),
    Work(
        name="mini-batch k-means, k = 50, 200k x 10",
        data=medium,
        contestants=(
            Contestant(OURS, assay_batches),
            Contestant("scikit-learn", sklearn_batches, "sklearn"),
        ),
        reference="scikit-learn",
        quality=inertia,
    ),
    Work(
        name="fuzzy k-means, k = 10, 50k x 10, 30 rounds",
        data=fuzzy_data,
        contestants=(
            Contestant(OURS, assay_fuzzy),
            Contestant("scikit-fuzzy", skfuzzy_fuzzy, "skfuzzy"),
        ),
        reference="scikit-fuzzy",
        quality=objective,
        repeats=3,
    ),
)
