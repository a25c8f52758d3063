"""Approximate neighbours: hashing beside graphs and inverted lists, at a recall of about 0.95."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.work import OURS, Contestant, Work

K = 10
MNIST = Path(__file__).resolve().parents[2] / "shared" / "data" / "mnist_10k.parquet"


class Search(NamedTuple):
    rows: NDArray[np.float32]
    queries: NDArray[np.float32]


class Indexed(NamedTuple):
    index: Any
    queries: NDArray[np.float32]


def clustered() -> Search:
    """A million rows in a thousand round clusters, and a thousand queries from the same."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(-10, 10, size=(1000, 64)).astype(np.float32)
    parts = [
        centres[rng.integers(1000, size=100_000)]
        + rng.standard_normal((100_000, 64), dtype=np.float32)
        for _ in range(10)
    ]
    queries = centres[rng.integers(1000, size=1000)]
    queries = queries + rng.standard_normal((1000, 64), dtype=np.float32)
    return Search(np.concatenate(parts), queries)


def digits() -> Search:
    """MNIST's images: 9,000 rows of 784 columns, 1,000 queries."""
    import polars as pl  # noqa: PLC0415

    table = pl.read_parquet(MNIST).drop("label").to_numpy().astype(np.float32)
    table = np.ascontiguousarray(table[np.random.default_rng(0).permutation(len(table))])
    return Search(table[1000:], table[:1000])


def assay_index() -> Any:
    from assay.neighbors import HashedNeighbors  # noqa: PLC0415

    def call(data: Search) -> Indexed:
        model = HashedNeighbors(n_neighbors=K, random_state=0, n_jobs=-1).fit(data.rows)
        return Indexed(model, data.queries)

    return call


def assay_query() -> Any:
    return lambda data: data.index.kneighbors(data.queries)[1]


def assay_exact_index() -> Any:
    return lambda data: data


def assay_exact_query() -> Any:
    from assay.neighbors import KNeighborsRegressor  # noqa: PLC0415

    def call(data: Search) -> Any:
        model = KNeighborsRegressor(K, n_jobs=-1).fit(data.rows, data.rows[:, 0])
        return model.kneighbors(data.queries)[1]

    return call


def hnsw_index() -> Any:
    import hnswlib  # noqa: PLC0415

    def call(data: Search) -> Indexed:
        index = hnswlib.Index(space="l2", dim=data.rows.shape[1])
        index.init_index(max_elements=len(data.rows), ef_construction=100, M=16, random_seed=0)
        index.set_num_threads(2)
        index.add_items(data.rows)
        index.set_ef(40)
        return Indexed(index, data.queries)

    return call


def hnsw_query() -> Any:
    return lambda data: data.index.knn_query(data.queries, k=K)[0]


def pynndescent_index() -> Any:
    import pynndescent  # noqa: PLC0415

    def call(data: Search) -> Indexed:
        index = pynndescent.NNDescent(data.rows, n_neighbors=15, random_state=0)
        index.prepare()
        index.query(data.queries[:10], k=K)  # compiles
        return Indexed(index, data.queries)

    return call


def pynndescent_query() -> Any:
    return lambda data: data.index.query(data.queries, k=K)[0]


def faiss_index(n_lists: int, n_probes: int) -> Any:
    import faiss  # noqa: PLC0415

    def call(data: Search) -> Indexed:
        d = data.rows.shape[1]
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, n_lists)
        index.train(data.rows[: 50 * n_lists])
        index.add(data.rows)
        index.nprobe = n_probes
        return Indexed(index, data.queries)

    return call


def faiss_large() -> Any:
    return faiss_index(1024, 8)


def faiss_small() -> Any:
    return faiss_index(96, 8)


def faiss_query() -> Any:
    return lambda data: data.index.search(data.queries, K)[1]


def recall(data: Search, result: Any, reference: Any) -> str:
    """Share of the true neighbours found, queries per second are 1,000 by the median."""
    hits = (np.asarray(result)[:, :, None] == np.asarray(reference)[:, None, :]).any(axis=2)
    return f"recall@10 {hits.mean():.4f} of {len(data.queries)} queries"


def contestants(faiss_before: Any, graphs: bool = True) -> tuple[Contestant, ...]:
    return (
        Contestant(OURS, assay_query, before=assay_index),
        Contestant("assay, exact", assay_exact_query, before=assay_exact_index),
        *((Contestant("hnswlib", hnsw_query, "hnswlib", hnsw_index),) if graphs else ()),
        *(
            (Contestant("pynndescent", pynndescent_query, "pynndescent", pynndescent_index),)
            if graphs
            else ()
        ),
        Contestant("FAISS, inverted lists", faiss_query, "faiss", faiss_before),
    )


WORKS = (
    Work(
        name="hashing, k = 10, mnist 9k x 784, 1k queries",
        data=digits,
        contestants=contestants(faiss_small),
        reference="assay, exact",
        quality=recall,
        file=MNIST,
    ),
    Work(
        name="hashing, k = 10, clustered 1M x 64, 1k queries",
        data=clustered,
        contestants=contestants(faiss_large),
        reference="assay, exact",
        quality=recall,
        repeats=3,
        alone=True,
    ),
)
