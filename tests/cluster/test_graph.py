"""Similarity graphs: weights by the formula, the cut by its definition, eigenvectors by LAPACK."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

import assay.cluster._graph as graph_module
from assay.base import DataError
from assay.cluster import normalized_cut
from assay.cluster._graph import (
    checked_affinity,
    cut_vectors,
    full_graph,
    graph_parts,
    in_order,
    neighbor_graph,
    residual,
)
from assay.cluster._graph_join import join_parts
from assay.cluster._graph_split import Splitter, divided, sweep


def rows(seed: int, n: int = 30, d: int = 2) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(n, d))


def random_graph(seed: int, n: int = 8) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    weights = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.6)
    return np.asarray(weights + weights.T + 0.01)


def cut_by_definition(weights: NDArray[np.float64], side: NDArray[np.bool_]) -> float:
    cut = weights[side][:, ~side].sum()
    return float(cut / weights[side].sum() + cut / weights[~side].sum())


def test_full_graph_is_the_formula() -> None:
    X = rows(0) + 1e6
    expected = np.exp(-0.7 * cdist(X, X, "sqeuclidean"))
    found = full_graph(X, 0.7)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_array_equal(found, found.T)


def test_neighbor_graph_is_that_of_scikit_learn() -> None:
    X = rows(1)
    half = kneighbors_graph(X, 6, include_self=True)
    expected = 0.5 * (half + half.T)
    np.testing.assert_allclose(neighbor_graph(X, 6, None, None).toarray(), expected.toarray())


def test_weighted_neighbor_graph_keeps_the_weights_of_the_full_one() -> None:
    X = rows(2)
    found = neighbor_graph(X, 6, 0.5, None).toarray()
    near = kneighbors_graph(X, 6, include_self=True).toarray() > 0
    np.testing.assert_allclose(found, np.where(near | near.T, full_graph(X, 0.5), 0.0), atol=1e-12)


@given(seed=st.integers(0, 300), sparse=st.booleans())
def test_cut_is_its_definition(seed: int, sparse: bool) -> None:
    weights = random_graph(seed)
    side = np.random.default_rng(seed).permutation(np.arange(8) < 3)
    given_graph: Any = csr_matrix(weights) if sparse else weights
    assert normalized_cut(given_graph, side) == pytest.approx(cut_by_definition(weights, side))


@given(seed=st.integers(0, 100))
def test_second_eigenvalue_bounds_the_best_cut_from_below(seed: int) -> None:
    weights = random_graph(seed)
    best = min(
        cut_by_definition(weights, np.array([True, *side]))
        for side in product([False, True], repeat=7)
        if not all(side)
    )
    values, vectors = cut_vectors(weights, 1, 1e-9)
    assert values[0] <= best + 1e-9
    swept = cut_by_definition(weights, divided(weights, vectors[:, 0], "sweep"))
    assert best - 1e-12 <= swept
    # Cheeger's inequality: a sweep is never much worse than the relaxation it rounds.
    assert swept <= 2 * np.sqrt(2 * values[0]) + 1e-9


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("large", [False, True])
def test_vectors_solve_the_generalised_problem(
    monkeypatch: pytest.MonkeyPatch, large: bool, sparse: bool
) -> None:
    weights = full_graph(rows(3, n=60), 0.8)
    if large:
        monkeypatch.setattr(graph_module, "_DENSE", 10)
    values, vectors = cut_vectors(csr_matrix(weights) if sparse else weights, 3, 1e-12)
    degree = np.diag(weights.sum(axis=1))
    expected, peer = eigh(degree - weights, degree)
    np.testing.assert_allclose(values, expected[1:4], atol=1e-9)
    assert residual(weights, values, vectors) < 1e-8
    np.testing.assert_allclose(vectors.T @ degree @ vectors, np.eye(3), atol=1e-7)
    np.testing.assert_allclose(np.abs(vectors), np.abs(peer[:, 1:4]), atol=1e-6)
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(3)] > 0).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_crowded_eigenvalues_are_still_found(monkeypatch: pytest.MonkeyPatch, sparse: bool) -> None:
    monkeypatch.setattr(graph_module, "_DENSE", 10)
    monkeypatch.setattr(graph_module, "_RESTARTS", 1)
    chain = np.diag(np.ones(399), 1)
    chain = chain + chain.T + np.eye(400)
    values, vectors = cut_vectors(csr_matrix(chain) if sparse else chain, 4, 1e-10)
    degree = np.diag(chain.sum(axis=1))
    expected = eigh(degree - chain, degree, eigvals_only=True)[1:5]
    np.testing.assert_allclose(values, expected, atol=1e-9)
    assert residual(chain, values, vectors) < 1e-6


@given(seed=st.integers(0, 200), sparse=st.booleans())
def test_sweep_is_the_cut_of_every_prefix(seed: int, sparse: bool) -> None:
    weights = random_graph(seed)
    order = np.random.default_rng(seed).permutation(8)
    expected = [cut_by_definition(weights, np.isin(np.arange(8), order[:t])) for t in range(1, 8)]
    found = sweep(csr_matrix(weights) if sparse else weights, order)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("threshold", "upper"), [("zero", [2, 3, 4]), ("median", [3, 4]), ("sweep", [2, 3, 4])]
)
def test_threshold_divides_the_vector(threshold: str, upper: list[int]) -> None:
    weights = np.eye(5)
    weights[:2, :2] = weights[2:, 2:] = 1.0
    weights[1, 2] = weights[2, 1] = 0.1
    vector = np.array([-0.5, -0.4, 0.1, 0.2, 0.3])
    assert np.flatnonzero(divided(weights, vector, threshold)).tolist() == upper


def test_split_takes_the_cheapest_cut_first() -> None:
    X = np.array([[0.0], [0.1], [1.0], [1.1], [9.0], [9.1]])
    weights = full_graph(X, 0.5)
    made = Splitter(weights, "sweep", lambda own: cut_vectors(own, 1, 1e-9)).split(
        graph_parts(weights), 3
    )
    assert in_order(made.labels).tolist() == [0, 0, 1, 1, 2, 2]
    assert made.cuts[0] < made.cuts[1]


def test_parts_are_found_and_numbered_by_their_first_rows() -> None:
    weights = np.zeros((5, 5))
    weights[0, 3] = weights[3, 0] = weights[1, 4] = weights[4, 1] = 1.0
    assert graph_parts(weights).tolist() == [0, 1, 2, 0, 1]
    assert graph_parts(csr_matrix(weights)).tolist() == [0, 1, 2, 0, 1]


def test_small_parts_join_the_nearest_one() -> None:
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [4.0], [1.0]])
    part = np.array([0, 0, 0, 1, 1, 1, 2, 3])
    assert join_parts(part, 2, X).tolist() == [0, 0, 0, 1, 1, 1, 1, 0]
    assert len(np.unique(join_parts(part, 2, None))) == 2


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((2, 3)), r"needs a square matrix of similarities; got shape \(2, 3\)"),
        (np.array([[1.0, -0.5], [-0.5, 1.0]]), "similarities must not be negative; got -0.5"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "similarities must be symmetric"),
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_what_is_no_graph_is_refused(
    weights: NDArray[np.float64], message: str, sparse: bool
) -> None:
    with pytest.raises(DataError, match=message):
        checked_affinity(csr_matrix(weights) if sparse else weights)


def test_labels_must_fit_the_graph() -> None:
    with pytest.raises(DataError, match=r"one row and one column per label \(2\); got shape"):
        normalized_cut(np.eye(3), [0, 1])
