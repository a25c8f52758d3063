"""Spectral clustering: rings and chains, least cuts, graphs that fall apart."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.cluster import SpectralClustering as Peer
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from assay.base import DataError, ParameterError
from assay.cluster import KMeans, SpectralClustering, normalized_cut

FORMS: list[dict[str, Any]] = [
    {"cut": "eigenvectors"},
    {"cut": "eigenvectors", "assign_labels": "cluster_qr"},
    {"cut": "recursive"},
    {"cut": "recursive", "threshold": "zero"},
]


def circles(n: int = 300) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, y = make_circles(n, factor=0.4, noise=0.04, random_state=0)
    return X, y


def blobs(n: int = 150) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, y = make_blobs(n, centers=[[0, 0], [5, 0], [0, 5]], cluster_std=0.7, random_state=1)
    return X, y


def same_groups(a: Any, b: Any) -> bool:
    return bool(adjusted_rand_score(a, b) == 1.0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", "rbf_neighbors"])
def test_circles_are_separated(form: dict[str, Any], affinity: str) -> None:
    X, y = circles()
    settings: dict[str, Any] = {"sigma": 0.2} if "rbf" in affinity else {}
    model = SpectralClustering(2, affinity=affinity, random_state=0, **settings, **form)
    assert same_groups(y, model.fit(X).labels_)


def test_circles_are_not_separated_by_k_means() -> None:
    X, y = circles()
    assert adjusted_rand_score(y, KMeans(2, random_state=0).fit(X).labels_) < 0.1


@pytest.mark.parametrize("form", FORMS)
def test_moons_are_separated(form: dict[str, Any]) -> None:
    X, y = make_moons(300, noise=0.05, random_state=0)
    model = SpectralClustering(2, gamma=25.0, random_state=0, **form)
    assert same_groups(y, model.fit(X).labels_)


@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors"])
def test_groups_are_those_of_scikit_learn(affinity: str) -> None:
    X, _ = blobs()
    settings: dict[str, Any] = {"affinity": affinity, "random_state": 0, "n_neighbors": 70}
    ours = SpectralClustering(3, **settings).fit(X)
    assert ours.n_connected_components_ == 1
    assert same_groups(ours.labels_, Peer(3, **settings).fit(X).labels_)


@given(seed=st.integers(0, 200))
def test_sweep_finds_the_least_cut_of_two_clear_groups(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.0, 0.05, size=(9, 9))
    weights[:4, :4] = rng.uniform(0.5, 1.0, size=(4, 4))
    weights[4:, 4:] = rng.uniform(0.5, 1.0, size=(5, 5))
    weights = weights + weights.T
    least = min(
        normalized_cut(weights, [0, *side]) for side in product([0, 1], repeat=8) if any(side)
    )
    for form in FORMS:
        model = SpectralClustering(2, affinity="precomputed", random_state=0, **form)
        assert model.fit(weights).ncut_ == pytest.approx(least)


def test_median_threshold_gives_halves() -> None:
    X, _ = circles(301)
    model = SpectralClustering(2, cut="recursive", threshold="median", gamma=0.5).fit(X)
    assert sorted(np.bincount(model.labels_).tolist()) == [150, 151]


def test_reported_cut_is_that_of_the_labels() -> None:
    X, _ = blobs()
    for form in FORMS:
        model = SpectralClustering(3, random_state=0, **form).fit(X)
        assert model.ncut_ == pytest.approx(normalized_cut(model.affinity_matrix_, model.labels_))
        assert model.residual_ < 1e-8


def test_two_way_cut_of_the_whole_graph_is_reported_per_split() -> None:
    X, _ = blobs()
    model = SpectralClustering(2, cut="recursive").fit(X)
    assert model.split_cuts_.tolist() == pytest.approx([model.ncut_])
    assert model.eigenvalues_[0] <= model.ncut_


def test_sigma_has_both_conventions() -> None:
    X, _ = blobs(60)
    by_gamma = SpectralClustering(3, gamma=4.0).fit(X).affinity_matrix_
    by_sigma = SpectralClustering(3, sigma=0.5).fit(X).affinity_matrix_
    twice = SpectralClustering(3, sigma=0.5, sigma_convention="2sigma2").fit(X)
    np.testing.assert_array_equal(by_sigma, by_gamma)
    np.testing.assert_allclose(twice.affinity_matrix_**2, by_gamma, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_sparse_and_dense_graphs_give_the_same(form: dict[str, Any]) -> None:
    X, _ = blobs(60)
    graph = SpectralClustering(3).fit(X).affinity_matrix_
    model = SpectralClustering(3, affinity="precomputed", random_state=0, **form)
    assert same_groups(model.fit(graph).labels_, model.fit(csr_matrix(graph)).labels_)


def test_sparse_rows_are_taken() -> None:
    X, _ = blobs(60)
    for affinity in ("rbf", "nearest_neighbors"):
        model = SpectralClustering(3, affinity=affinity, random_state=0)
        assert same_groups(model.fit(csr_matrix(X)).labels_, model.fit(X).labels_)


@pytest.mark.parametrize("form", FORMS)
def test_row_order_does_not_matter(form: dict[str, Any]) -> None:
    X, _ = blobs(90)
    order = np.random.default_rng(0).permutation(len(X))
    model = SpectralClustering(3, random_state=0, **form)
    assert same_groups(model.fit(X).labels_[order], model.fit(X[order]).labels_)


@pytest.mark.parametrize("form", FORMS)
def test_same_seed_same_bytes_for_any_threads(form: dict[str, Any]) -> None:
    X, _ = blobs()
    one, two = (
        SpectralClustering(3, random_state=3, n_jobs=jobs, **form).fit(X) for jobs in (1, 2)
    )
    assert one.digest() == two.digest()


@pytest.mark.parametrize("form", FORMS)
def test_parts_of_a_graph_are_never_joined_while_there_are_groups(form: dict[str, Any]) -> None:
    X, y = blobs()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SpectralClustering(3, affinity="nearest_neighbors", random_state=0, **form).fit(X)
    assert model.n_connected_components_ == 3
    assert same_groups(y, model.labels_)
    assert model.ncut_ == 0.0


@pytest.mark.parametrize("form", FORMS)
def test_part_with_the_thinnest_place_is_divided(form: dict[str, Any]) -> None:
    a, b, c = (np.full((6, 6), 0.5) for _ in range(3))
    weights = np.zeros((18, 18))
    for at, block in enumerate((a, b, c)):
        weights[6 * at : 6 * at + 6, 6 * at : 6 * at + 6] = block
    weights[5, 6] = weights[6, 5] = 0.05  # the first two hang together by a thread
    model = SpectralClustering(3, affinity="precomputed", random_state=0, **form).fit(weights)
    assert model.n_connected_components_ == 2
    assert model.labels_.tolist() == [0] * 6 + [1] * 6 + [2] * 6


def test_more_parts_than_groups_are_joined_with_a_warning() -> None:
    X = np.concatenate([rows + 20 * at for at, rows in enumerate(np.split(blobs()[0], 3))])
    with pytest.warns(
        UserWarning, match=r"has \d+ connected components, more than n_clusters=2; the"
    ):
        model = SpectralClustering(2, affinity="nearest_neighbors", random_state=0).fit(X)
    assert len(np.unique(model.labels_)) == 2
    assert model.ncut_ == 0.0
    with pytest.warns(UserWarning, match="has 4 connected components"):
        SpectralClustering(2, affinity="precomputed").fit(np.eye(4))


def test_two_rows_and_one_group_are_no_special_cases() -> None:
    assert SpectralClustering(2).fit([[0.0], [1.0]]).labels_.tolist() == [0, 1]
    for form in FORMS:
        model = SpectralClustering(1, random_state=0, **form).fit(blobs(30)[0])
        assert not model.labels_.any()
        assert model.ncut_ == 0.0


def test_constant_columns_change_nothing() -> None:
    X, _ = blobs(60)
    wide = np.column_stack([X, np.full(len(X), 3.0)])
    a, b = (SpectralClustering(3, random_state=0).fit(table).labels_ for table in (X, wide))
    np.testing.assert_array_equal(a, b)


def test_large_graphs_take_the_lanczos_method() -> None:
    X, y = make_circles(1500, factor=0.4, noise=0.03, random_state=0)
    model = SpectralClustering(2, sigma=0.2, random_state=0)
    assert same_groups(y, model.fit(X).labels_)
    assert model.n_connected_components_ == 1
    assert model.residual_ < 1e-6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 0}, r"n_clusters must be an integer >= 1; got 0"),
        ({"affinity": "rfb"}, r"affinity must be .*; got 'rfb'; did you mean 'rbf'\?"),
        ({"sigma": 0.0}, r"sigma must be a finite number > 0 or None; got 0.0"),
        ({"sigma": 1.0, "gamma": 2.0}, r"gamma and sigma say the same thing; give one of them"),
        ({"cut": "both"}, r"cut must be 'eigenvectors' or 'recursive'; got 'both'"),
        ({"threshold": "mean"}, r"threshold must be .*; got 'mean'"),
    ],
)
def test_wrong_parameters_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        SpectralClustering(**settings).fit(blobs(30)[0])


def test_more_clusters_than_distinct_rows_are_refused() -> None:
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    with pytest.raises(DataError, match=r"n_clusters=3 needs as many distinct rows; X has 2"):
        SpectralClustering(3).fit(X)


def test_graph_is_not_kept_in_a_model_file() -> None:
    model = SpectralClustering(3, random_state=0).fit(blobs(60)[0])
    again = SpectralClustering.from_state(model.get_params(), model.state())
    np.testing.assert_array_equal(again.labels_, model.labels_)
    with pytest.raises(AttributeError, match="a model file does not keep it"):
        _ = again.affinity_matrix_


def test_hostile_state_is_refused() -> None:
    model = SpectralClustering(3, random_state=0).fit(blobs(60)[0])
    bad = {**model.state(), "labels_": np.full(60, 7)}
    with pytest.raises(DataError, match=r"SpectralClustering.labels_ has values outside"):
        SpectralClustering.from_state(model.get_params(), bad)
