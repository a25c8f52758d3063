"""k-nearest neighbours: the brute-force search, and every candidate from one search."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import make_classification

from assay.base import TrainingSet
from benchmarks.tables import FOLDER
from benchmarks.work import OURS, Contestant, Work

K = 10
#: Thirteen numbers of neighbours, with two weightings each: 26 candidates.
NARROW = tuple(range(1, 26, 2))
WIDE = (1, 3, 5, 7, 9, 13, 17, 25, 35, 51, 71, 101, 151)


class Search(NamedTuple):
    rows: Any
    queries: Any


class Unit(NamedTuple):
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    train: NDArray[np.int64]
    tests: list[NDArray[np.int64]]
    candidates: list[dict[str, Any]]


def search_data(dtype: type) -> Search:
    X, _ = make_classification(105_000, 20, random_state=0)
    return Search(*(np.ascontiguousarray(part, dtype=dtype) for part in (X[5000:], X[:5000])))


def search_float64() -> Search:
    return search_data(np.float64)


def search_float32() -> Search:
    return search_data(np.float32)


def assay_search() -> Any:
    from assay.neighbors import KNeighborsRegressor  # noqa: PLC0415

    def call(data: Search) -> Any:
        model = KNeighborsRegressor(K, n_jobs=-1).fit(data.rows, data.rows[:, 0])
        return model.kneighbors(data.queries)

    return call


def sklearn_search() -> Any:
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415

    def call(data: Search) -> Any:
        model = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=-1).fit(data.rows)
        return model.kneighbors(data.queries)

    return call


def sklearnex_search() -> Any:
    from sklearnex.neighbors import NearestNeighbors  # noqa: PLC0415

    def call(data: Search) -> Any:
        model = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=-1).fit(data.rows)
        return model.kneighbors(data.queries)

    return call


def faiss_search() -> Any:
    import faiss  # noqa: PLC0415

    def call(data: Search) -> Any:
        # FAISS knows float32 only; the conversion is part of its price.
        index = faiss.IndexFlatL2(data.rows.shape[1])
        index.add(data.rows.astype(np.float32))
        squared, found = index.search(data.queries.astype(np.float32), K)
        return np.sqrt(squared), found

    return call


def same_neighbours(data: Search, result: Any, reference: Any) -> str:
    """Share of queries with the same set of neighbours; whether the others are ties."""
    ours, theirs = (np.sort(np.asarray(index), axis=1) for _, index in (result, reference))
    differ = np.flatnonzero((ours != theirs).any(axis=1))
    share = 1 - len(differ) / len(ours)
    if not len(differ):
        return f"{share:.2%} same neighbours"
    far, peer = (_true_distances(data, index, differ) for index in (ours, theirs))
    tied = np.isclose(far, peer, rtol=1e-9, atol=0).all(axis=1).sum()
    return f"{share:.2%} same neighbours; {len(differ)} differ, {tied} of them by ties"


def _true_distances(
    data: Search, index: NDArray[np.int64], queries: NDArray[np.int64]
) -> NDArray[np.float64]:
    rows, asked = data.rows.astype(np.float64), data.queries.astype(np.float64)
    gaps = rows[index[queries]] - asked[queries][:, None]
    return np.sort(np.sqrt((gaps**2).sum(axis=2)), axis=1)


def tree_data() -> Search:
    rng = np.random.default_rng(0)
    return Search(rng.normal(size=(100_000, 4)), rng.normal(size=(20_000, 4)))


def assay_tree() -> Any:
    from assay.neighbors import NearestNeighbors  # noqa: PLC0415

    def call(data: Search) -> Any:
        model = NearestNeighbors(n_neighbors=K, n_jobs=-1).fit(data.rows)
        return model.kneighbors(data.queries)

    return call


def sklearn_tree() -> Any:
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415

    def call(data: Search) -> Any:
        model = NearestNeighbors(n_neighbors=K, algorithm="kd_tree", n_jobs=-1).fit(data.rows)
        return model.kneighbors(data.queries)

    return call


def sklearnex_tree() -> Any:
    from sklearnex.neighbors import NearestNeighbors  # noqa: PLC0415

    def call(data: Search) -> Any:
        model = NearestNeighbors(n_neighbors=K, algorithm="kd_tree", n_jobs=-1).fit(data.rows)
        return model.kneighbors(data.queries)

    return call


def scipy_tree() -> Any:
    from scipy.spatial import cKDTree  # noqa: PLC0415

    return lambda data: cKDTree(data.rows).query(data.queries, K, workers=-1)


def mixed_data() -> Any:
    """The whole of `adult`, and every hundredth row as a query; no value is missing.

    gower takes a missing value for a level that differs from itself: then distances would differ.
    """
    import pandas as pd  # noqa: PLC0415

    frame = pd.read_parquet(FOLDER / "adult.parquet").drop(columns="income")
    for name in frame.columns[frame.isna().any()]:
        frame[name] = frame[name].astype(object).fillna("missing").astype("category")
    return Search(frame, frame.iloc[::100])


def assay_mixed() -> Any:
    from assay.neighbors import NearestNeighbors  # noqa: PLC0415

    def call(data: Search) -> Any:
        model = NearestNeighbors(
            n_neighbors=K, metric="mixed", categorical_features="from_dtype", n_jobs=-1
        ).fit(data.rows)
        return model.kneighbors(data.queries)

    return call


def gower_mixed() -> Any:
    import gower  # noqa: PLC0415

    def call(data: Any) -> Any:
        # It has no search: a full matrix, from which the smallest are taken.
        text = data.rows.dtypes == "category"
        rows, queries = (each.astype(dict.fromkeys(text.index[text], object)) for each in data)
        full = gower.gower_matrix(queries, rows)
        index = np.argpartition(full, K, axis=1)[:, :K]
        near = np.take_along_axis(full, index, axis=1)
        order = np.argsort(near, axis=1)
        return np.take_along_axis(near, order, axis=1), np.take_along_axis(index, order, axis=1)

    return call


def same_distances(data: Search, result: Any, reference: Any) -> str:  # noqa: ARG001
    gap = np.abs(np.asarray(result[0], dtype=np.float64) - reference[0]).max(axis=1)
    return f"{np.mean(gap < 1e-5):.2%} of queries with the same distances"


def narrow_unit() -> Unit:
    return unit_data(NARROW)


def wide_unit() -> Unit:
    return unit_data(WIDE)


def unit_data(counts: tuple[int, ...]) -> Unit:
    X, y = make_classification(10_000, 20, n_informative=8, random_state=0)
    blocks = np.array_split(np.random.default_rng(0).permutation(len(X)), 5)
    candidates = [
        {"n_neighbors": k, "weights": weights}
        for k, weights in product(counts, ("uniform", "distance"))
    ]
    return Unit(X, y, np.concatenate(blocks[2:]), list(blocks[:2]), candidates)


def assay_path() -> Any:
    from assay.neighbors import KNeighborsClassifier  # noqa: PLC0415

    def call(data: Unit) -> Any:
        template = KNeighborsClassifier(n_jobs=-1)
        path = KNeighborsClassifier.assay_path
        training = TrainingSet(
            data.X, data.y, data.train, data.tests, n_classes=int(data.y.max()) + 1
        )
        fitted = path.fit_predict(template, training, data.candidates)
        return [[p.probability for p in each.predictions] for each in fitted]

    return call


def assay_singles() -> Any:
    from assay.neighbors import KNeighborsClassifier  # noqa: PLC0415

    return lambda data: _one_by_one(KNeighborsClassifier(n_jobs=-1), data)


def sklearn_singles() -> Any:
    from sklearn.neighbors import KNeighborsClassifier  # noqa: PLC0415

    return lambda data: _one_by_one(KNeighborsClassifier(algorithm="brute", n_jobs=-1), data)


def sklearnex_singles() -> Any:
    from sklearnex.neighbors import KNeighborsClassifier  # noqa: PLC0415

    return lambda data: _one_by_one(KNeighborsClassifier(algorithm="brute", n_jobs=-1), data)


def _one_by_one(template: Any, data: Unit) -> Any:
    answers = []
    for candidate in data.candidates:
        model = clone(template).set_params(**candidate).fit(data.X[data.train], data.y[data.train])
        answers.append([model.predict_proba(data.X[test]) for test in data.tests])
    return answers


def largest_difference(data: Unit, result: Any, reference: Any) -> str:  # noqa: ARG001
    gaps = [
        np.abs(a - b).max()
        for ours, theirs in zip(result, reference, strict=True)
        for a, b in zip(ours, theirs, strict=True)
    ]
    return f"largest difference {max(gaps):.1e}"


SEARCHERS = (
    Contestant(OURS, assay_search),
    Contestant("scikit-learn", sklearn_search, "sklearn"),
    Contestant("scikit-learn-intelex", sklearnex_search, "sklearnex"),
    Contestant("FAISS", faiss_search, "faiss"),
)

TREES = (
    Contestant(OURS, assay_tree),
    Contestant("scikit-learn", sklearn_tree, "sklearn"),
    Contestant("scikit-learn-intelex", sklearnex_tree, "sklearnex"),
    Contestant("SciPy cKDTree", scipy_tree, "scipy"),
)

MIXED = (Contestant(OURS, assay_mixed), Contestant("gower", gower_mixed, "gower"))

CHOOSERS = (
    Contestant(OURS, assay_path),
    Contestant("assay, 26 fits", assay_singles),
    Contestant("scikit-learn, 26 fits", sklearn_singles, "sklearn"),
    Contestant("scikit-learn-intelex, 26 fits", sklearnex_singles, "sklearnex"),
)

WORKS = (
    Work(
        name="k-NN brute, k = 10, 100k x 20, 5k queries",
        data=search_float64,
        contestants=SEARCHERS,
        reference="scikit-learn",
        quality=same_neighbours,
        bars={"scikit-learn": 5.0, "scikit-learn-intelex": 1.6, "FAISS": 1.6},
    ),
    Work(
        name="k-NN brute in float32, k = 10, 100k x 20, 5k queries",
        data=search_float32,
        contestants=SEARCHERS,
        reference="scikit-learn",
        quality=same_neighbours,
    ),
    Work(
        name="k-NN k-d tree, k = 10, 100k x 4, 20k queries",
        data=tree_data,
        contestants=TREES,
        reference="scikit-learn",
        quality=same_neighbours,
        bars={"scikit-learn": 6.0, "scikit-learn-intelex": 1.2, "SciPy cKDTree": 1.2},
    ),
    Work(
        name="k-NN mixed distance, k = 10, adult (49k x 14), 489 queries",
        data=mixed_data,
        contestants=MIXED,
        reference="gower",
        quality=same_distances,
        bars={"gower": 20.0},
        repeats=1,
        file=FOLDER / "adult.parquet",
    ),
    Work(
        name="k-NN path, 26 candidates (k = 1..25), 6k x 20, 4k queries",
        data=narrow_unit,
        contestants=CHOOSERS,
        reference="scikit-learn, 26 fits",
        quality=largest_difference,
        bars={"assay, 26 fits": 10.0},
    ),
    Work(
        name="k-NN path, 26 candidates (k = 1..151), 6k x 20, 4k queries",
        data=wide_unit,
        contestants=CHOOSERS,
        reference="scikit-learn, 26 fits",
        quality=largest_difference,
        bars={"assay, 26 fits": 10.0},
    ),
)
