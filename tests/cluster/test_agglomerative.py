"""Agglomerative clustering: the trees of SciPy, the partitions of scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import AgglomerativeClustering as Peer
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

from assay.base import DataError, ParameterError
from assay.cluster import AgglomerativeClustering

LINKAGES = ["ward", "complete", "average", "single"]


def same_groups(a: Any, b: Any) -> bool:
    return bool(adjusted_rand_score(a, b) == 1.0)


def rows(seed: int, n: int = 60, d: int = 3) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_partition_is_that_of_scikit_learn(load: Any, linkage: str) -> None:
    X = load(return_X_y=True)[0]
    X = X + np.random.default_rng(0).uniform(0, 1e-3, X.shape)  # ties are joined in any order
    for count in (1, 2, 3, 10, len(X)):
        ours = AgglomerativeClustering(count, linkage=linkage).fit(X)
        assert same_groups(ours.labels_, Peer(count, linkage=linkage).fit(X).labels_)
        assert ours.n_clusters_ == count


@pytest.mark.parametrize("linkage", LINKAGES[1:])
@pytest.mark.parametrize("metric", ["manhattan", "cosine", "l2", "chebyshev"])
def test_partition_is_that_of_scikit_learn_in_other_metrics(metric: str, linkage: str) -> None:
    X = rows(1)
    ours = AgglomerativeClustering(7, linkage=linkage, metric=metric).fit(X)
    assert same_groups(ours.labels_, Peer(7, linkage=linkage, metric=metric).fit(X).labels_)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_tree_is_that_of_scipy(linkage: str) -> None:
    X = rows(2)
    model = AgglomerativeClustering(linkage=linkage).fit(X)
    expected = hierarchy.linkage(X, method=linkage)
    np.testing.assert_array_equal(model.linkage_, expected)
    np.testing.assert_array_equal(model.children_, expected[:, :2])
    np.testing.assert_array_equal(model.distances_, expected[:, 2])
    assert model.n_leaves_ == len(X)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.2])
def test_threshold_cuts_where_scikit_learn_cuts(linkage: str, share: float) -> None:
    X = rows(3)
    top = AgglomerativeClustering(linkage=linkage).fit(X).distances_[-1]
    settings: dict[str, Any] = {"linkage": linkage, "distance_threshold": share * top}
    ours = AgglomerativeClustering(None, **settings).fit(X)
    theirs = Peer(None, **settings).fit(X)
    assert ours.n_clusters_ == theirs.n_clusters_
    assert same_groups(ours.labels_, theirs.labels_)


@pytest.mark.parametrize("linkage", LINKAGES[1:])
def test_given_distances_equal_computed_ones(linkage: str) -> None:
    X = rows(4)
    given_distances = squareform(pdist(X))
    by_distance = AgglomerativeClustering(4, linkage=linkage, metric="precomputed")
    by_rows = AgglomerativeClustering(4, linkage=linkage)
    np.testing.assert_array_equal(by_distance.fit(given_distances).labels_, by_rows.fit(X).labels_)


def test_single_linkage_joins_by_the_smallest_distance_worked_by_hand() -> None:
    model = AgglomerativeClustering(2, linkage="single").fit([[0.0], [1.0], [3.0], [7.0]])
    assert model.children_.tolist() == [[0, 1], [2, 4], [3, 5]]
    assert model.distances_.tolist() == [1.0, 2.0, 4.0]


@given(seed=st.integers(0, 500), linkage=st.sampled_from(LINKAGES))
def test_groups_do_not_depend_on_the_order_of_rows(seed: int, linkage: str) -> None:
    X = rows(seed, n=25)
    order = np.random.default_rng(seed).permutation(25)
    model = AgglomerativeClustering(4, linkage=linkage)
    assert same_groups(model.fit(X).labels_[order], model.fit(X[order]).labels_)


@given(seed=st.integers(0, 500))
def test_every_cut_refines_the_one_above(seed: int) -> None:
    model = AgglomerativeClustering().fit(rows(seed, n=20))
    for count in range(1, 20):
        coarse, fine = model.cut(count), model.cut(count + 1)
        assert len(np.unique(fine)) == count + 1
        pairs = np.unique(np.column_stack([coarse, fine]), axis=0)
        assert len(pairs) == count + 1  # each fine group lies in one coarse group


def test_groups_are_numbered_by_their_first_rows() -> None:
    labels = AgglomerativeClustering(3).fit([[9.0], [0.0], [9.1], [5.0]]).labels_
    assert labels.tolist() == [0, 1, 0, 2]


def test_equal_rows_may_be_asked_apart() -> None:
    labels = AgglomerativeClustering(3).fit([[1.0], [1.0], [1.0]]).labels_
    assert sorted(labels.tolist()) == [0, 1, 2]


def test_constant_columns_change_nothing() -> None:
    X = rows(5)
    wide = np.column_stack([X, np.full(len(X), 7.0)])
    a, b = (AgglomerativeClustering(5).fit(table).labels_ for table in (X, wide))
    np.testing.assert_array_equal(a, b)


def test_text_dendrogram_draws_every_join() -> None:
    model = AgglomerativeClustering(linkage="single").fit([[0.0], [1.0], [3.0], [7.0]])
    picture = model.dendrogram(labels=list("abcd"), width=8)
    assert picture.splitlines() == [
        "a ───┐",
        "b ───┴─┐",
        "c ─────┴───┐",
        "d ─────────┘",
    ]


def test_dendrogram_shows_the_top_of_a_large_tree() -> None:
    model = AgglomerativeClustering().fit(rows(6, n=200))
    lines = model.dendrogram(max_leaves=8).splitlines()
    assert len(lines) == 8
    counts = [int(line.split(" ")[0].strip("(")) for line in lines if "rows" in line]
    assert sum(counts) + sum("rows" not in line for line in lines) == 200
    assert sum(line.count("┐") for line in lines) == 7


def test_svg_dendrogram_has_one_path_per_join_and_escapes_names() -> None:
    model = AgglomerativeClustering().fit(rows(7, n=6))
    picture = model.dendrogram("svg", labels=["<b>", *"abcde"])
    assert picture.count("<path") == 5
    assert "<b>" not in picture
    assert "&lt;b&gt;" in picture


def test_vega_dendrogram_holds_four_corners_per_join() -> None:
    spec = AgglomerativeClustering().fit(rows(8, n=6)).dendrogram("vega")
    assert len(spec["layer"][0]["data"]["values"]) == 4 * 5
    assert [entry["name"] for entry in spec["layer"][1]["data"]["values"]]


def test_chain_of_thousands_of_joins_is_drawn() -> None:
    X = np.cumsum(np.linspace(1, 2, 3000))[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AgglomerativeClustering(linkage="single").fit(X)
    assert len(model.dendrogram(max_leaves=10).splitlines()) == 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 0}, r"n_clusters must be an integer >= 1 or None; got 0"),
        ({"n_clusters": None}, r"exactly one of n_clusters and distance_threshold must be None"),
        ({"distance_threshold": 1.0}, r"exactly one of n_clusters and distance_threshold"),
        ({"linkage": "wart"}, r"linkage must be .*; got 'wart'; did you mean 'ward'\?"),
        ({"metric": "manhattan"}, r"linkage='ward' needs metric='euclidean'; got metric="),
    ],
)
def test_wrong_parameters_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        AgglomerativeClustering(**settings).fit(rows(0))


def test_more_clusters_than_rows_are_refused() -> None:
    with pytest.raises(DataError, match="n_clusters=4 needs as many rows; X has 3"):
        AgglomerativeClustering(4).fit(rows(0, n=3))


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        ([[0.0, 1.0]], "needs a square matrix"),
        ([[0.0, 1.0], [2.0, 0.0]], "distances must be symmetric"),
        ([[0.0, -1.0], [-1.0, 0.0]], "must not be negative"),
    ],
)
def test_wrong_distances_are_refused(distances: list[list[float]], message: str) -> None:
    model = AgglomerativeClustering(1, metric="precomputed", linkage="single")
    X = distances if len(distances) > 1 else [[0.0, 1.0, 2.0], [1.0, 0.0, 2.0]]
    with pytest.raises(DataError, match=message):
        model.fit(X)


def test_hostile_trees_are_refused() -> None:
    model = AgglomerativeClustering().fit(rows(0, n=5))
    state = model.state()
    for row, column, value in ((0, 0, 99.0), (1, 0, model.linkage_[0, 0]), (0, 0, 0.5)):
        bad = model.linkage_.copy()
        bad[row, column] = value
        with pytest.raises(DataError, match="the model is damaged"):
            AgglomerativeClustering.from_state({}, {**state, "linkage_": bad})
