"""DBSCAN: the labels of scikit-learn, one for one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN as Peer
from sklearn.datasets import load_iris, make_moons

import assay.cluster._dbscan as module
from assay.base import DataError, ParameterError
from assay.cluster import DBSCAN


def grid(seed: int, n: int = 80) -> NDArray[np.float64]:
    """Rows on a grid: many equal rows, and many distances exactly at the radius."""
    return np.random.default_rng(seed).integers(0, 14, size=(n, 2)).astype(float)


def by_the_definition(
    X: NDArray[np.float64], eps: float, min_samples: int, weight: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Grow every group from its first core row, by brute force."""
    near = cdist(X, X) <= eps
    core = near @ weight >= min_samples
    labels = np.full(len(X), -1)
    group = 0
    for start in range(len(X)):
        if not core[start] or labels[start] >= 0:
            continue
        waiting = [start]
        while waiting:
            row = waiting.pop()
            if labels[row] < 0:
                labels[row] = group
                if core[row]:
                    waiting += np.flatnonzero(near[row]).tolist()
        group += 1
    return labels


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize(("eps", "min_samples"), [(0.3, 3), (0.5, 5), (0.8, 10), (5.0, 5)])
def test_labels_are_those_of_scikit_learn(eps: float, min_samples: int, metric: str) -> None:
    X = load_iris(return_X_y=True)[0]
    ours = DBSCAN(eps, min_samples=min_samples, metric=metric).fit(X)
    theirs = Peer(eps=eps, min_samples=min_samples, metric=metric).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)
    np.testing.assert_array_equal(ours.components_, theirs.components_)


@given(seed=st.integers(0, 1000), eps=st.sampled_from([1.0, 1.5, 2.0]), least=st.integers(1, 8))
def test_labels_are_those_of_the_definition(seed: int, eps: float, least: int) -> None:
    X = grid(seed)
    weight = np.random.default_rng(seed).integers(0, 3, len(X)).astype(float)
    weight[0] = 1.0
    model = DBSCAN(eps, min_samples=least)
    plain = by_the_definition(X, eps, least, np.ones(len(X)))
    np.testing.assert_array_equal(model.fit(X).labels_, plain)
    weighted = by_the_definition(X, eps, least, weight)
    np.testing.assert_array_equal(model.fit(X, sample_weight=weight).labels_, weighted)


@given(seed=st.integers(0, 200))
def test_weight_two_is_two_rows(seed: int) -> None:
    X = grid(seed, n=40)
    weight = np.random.default_rng(seed).integers(1, 4, len(X))
    weighted = DBSCAN(1.0, min_samples=6).fit_predict(X, sample_weight=weight)
    repeated = DBSCAN(1.0, min_samples=6).fit_predict(np.repeat(X, weight, axis=0))
    first = np.cumsum(weight) - weight
    np.testing.assert_array_equal(weighted, repeated[first])


def test_search_in_small_pieces_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X = make_moons(3000, noise=0.08, random_state=0)[0]
    whole = DBSCAN(0.06, min_samples=6).fit(X)
    monkeypatch.setattr(module, "_PAIRS", 1)
    pieces = DBSCAN(0.06, min_samples=6).fit(X)
    np.testing.assert_array_equal(pieces.labels_, whole.labels_)
    np.testing.assert_array_equal(whole.labels_, Peer(eps=0.06, min_samples=6).fit(X).labels_)


def test_given_distances_equal_computed_ones() -> None:
    X = grid(3)
    given_distances = DBSCAN(1.5, metric="precomputed").fit(cdist(X, X))
    np.testing.assert_array_equal(given_distances.labels_, DBSCAN(1.5).fit(X).labels_)


def test_threads_change_nothing() -> None:
    X = make_moons(800, noise=0.05, random_state=1)[0]
    one, two = (DBSCAN(0.1, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert one.digest() == two.digest()


def test_float32_and_fortran_rows_are_taken() -> None:
    X = grid(5)
    expected = DBSCAN(1.0).fit(X).labels_
    np.testing.assert_array_equal(DBSCAN(1.0).fit(X.astype(np.float32)).labels_, expected)
    np.testing.assert_array_equal(DBSCAN(1.0).fit(np.asfortranarray(X)).labels_, expected)


def test_no_core_row_means_no_group() -> None:
    model = DBSCAN(0.5, min_samples=3).fit([[0.0], [1.0], [2.0]])
    assert model.labels_.tolist() == [-1, -1, -1]
    assert model.components_.shape == (0, 1)


def test_equal_rows_are_one_group() -> None:
    assert DBSCAN(0.1, min_samples=4).fit(np.ones((4, 2))).labels_.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"eps": 0.0}, r"eps must be a finite number > 0; got 0.0"),
        ({"min_samples": 0}, r"min_samples must be an integer >= 1; got 0"),
        ({"metric": "euklid"}, r"metric must be .*; got 'euklid'"),
    ],
)
def test_wrong_parameters_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        DBSCAN(**settings).fit(grid(0))


def test_distances_that_are_not_square_are_refused() -> None:
    with pytest.raises(DataError, match="needs a square matrix of distances; got shape"):
        DBSCAN(metric="precomputed").fit(grid(0))


def test_weights_of_the_wrong_length_are_refused() -> None:
    with pytest.raises(DataError, match=r"sample_weight must hold one number per row, shape"):
        DBSCAN().fit(grid(0), sample_weight=[1.0])


def test_hostile_state_is_refused() -> None:
    model = DBSCAN(1.5).fit(grid(0))
    state = model.state()
    with pytest.raises(DataError, match=r"DBSCAN.core_sample_indices_ has values outside"):
        DBSCAN.from_state({}, {**state, "core_sample_indices_": np.array([10**6])})
