"""The border of the trees: what would read outside an array is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors as Peer

from assay._core import cpu
from assay._core import neighbors as kernels
from assay.neighbors import NearestNeighbors

ROWS = np.arange(12.0).reshape(4, 3)


def code_tree(**change: Any) -> Any:
    given: dict[str, Any] = {
        "rows": np.array([[0.5, 1.0, 0.0], [0.1, np.nan, 1.0]]),
        "kinds": np.array([0, 1, 2]),
        "weights": np.ones(3),
        "tables": np.array([0.0, 1.0, 1.0, 0.0]),
        "starts": np.zeros(3, dtype=np.int64),
        "sizes": np.array([0, 0, 2]),
        "leaf_size": 2,
    }
    return kernels.CodeTree.make(**(given | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kinds": np.array([0, 1])}, "a number per column"),
        ({"kinds": np.array([0, 1, 3])}, "kind of column"),
        ({"weights": np.array([1.0, -1.0, 1.0])}, "weights"),
        ({"sizes": np.array([0, 0, 3])}, "outside tables"),
        ({"starts": np.array([0, 0, 1])}, "outside tables"),
        ({"starts": np.array([0, 0, -1])}, "outside tables"),
        ({"rows": np.array([[0.5, 1.0, 2.0]])}, "outside its table"),
        ({"rows": np.array([[0.5, -1.0, 0.0]])}, "outside its table"),
        ({"rows": np.array([[np.inf, 1.0, 0.0]])}, "infinite"),
        ({"rows": np.empty((0, 3))}, "empty"),
        ({"leaf_size": 0}, "leaf_size"),
    ],
)
def test_tree_of_codes_refuses_what_it_cannot_read(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        code_tree(**change)


def test_queries_are_checked_like_rows() -> None:
    tree = code_tree()
    out = np.empty((1, 1)), np.empty((1, 1), dtype=np.int64)
    tree.nearest(np.array([[0.2, 5.0, 1.0]]), *out)
    with pytest.raises(ValueError, match="outside its table"):
        tree.nearest(np.array([[0.2, 5.0, 2.0]]), *out)
    with pytest.raises(ValueError, match="n_features"):
        tree.within(np.zeros((1, 2)), 1.0)


def test_tree_of_points_refuses_what_it_cannot_read() -> None:
    tree = kernels.PointTree.make(ROWS, 2.0, 2)
    many = np.empty((1, 5)), np.empty((1, 5), dtype=np.int64)
    with pytest.raises(ValueError, match="k must be between 1 and the rows"):
        tree.nearest(np.zeros((1, 3)), *many)
    with pytest.raises(ValueError, match="n_features"):
        tree.nearest(np.zeros((1, 2)), *many)
    with pytest.raises(ValueError, match="radius"):
        tree.within(np.zeros((1, 3)), -1.0)
    with pytest.raises(ValueError, match="p must be at least 1"):
        kernels.PointTree.make(ROWS, 0.5, 2)


def test_every_cpu_level_gives_the_same_bits() -> None:
    rng = np.random.default_rng(0)
    rows, queries = rng.normal(size=(2000, 5)), rng.normal(size=(50, 5))
    answers = []
    try:
        for level in ("baseline", "avx2", "avx512"):
            cpu.limit(level)
            for p in (1, 1.7, 2, 3):
                model = NearestNeighbors(algorithm="kd_tree", p=p).fit(rows)
                answers.append((level, p, *model.kneighbors(queries)))
    finally:
        cpu.limit(None)
    for _, p, distance, index in answers:
        first = next(each for each in answers if each[1] == p)
        assert np.array_equal(distance, first[2])
        assert np.array_equal(index, first[3])


def test_tree_on_a_large_table_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    rows, queries = rng.normal(size=(20_000, 3)), rng.normal(size=(500, 3))
    ours = NearestNeighbors(n_neighbors=20, n_jobs=2).fit(rows)
    assert ours.effective_algorithm_ == "kd_tree"
    distance, index = ours.kneighbors(queries)
    peer_distance, peer_index = Peer(n_neighbors=20).fit(rows).kneighbors(queries)
    assert np.array_equal(index, peer_index)
    np.testing.assert_allclose(distance, peer_distance, rtol=1e-12)
