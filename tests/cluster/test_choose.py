"""The number of clusters: each criterion by its formula, and one recommendation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.cluster import KMeans as PeerKMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_score

from assay.base import DataError, ParameterError
from assay.cluster import GaussianMixture, KMeans, choose_n_clusters
from assay.cluster._choose_rules import (
    elbow_distance,
    first_gap,
    penalised_loss,
    reference_box,
    reference_rows,
)

CRITERIA = ["elbow", "penalised", "silhouette", "bic", "gap"]


def blobs(count: int, seed: int = 0, n: int = 240) -> NDArray[np.float64]:
    centres = 8.0 * np.random.default_rng(seed).permutation(np.argwhere(np.ones((3, 3))))[:count]
    return np.asarray(make_blobs(n, centers=centres, random_state=seed)[0])


@pytest.mark.parametrize("method", ["vote", *CRITERIA])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_clear_clusters_are_counted(method: str, count: int) -> None:
    X = blobs(count, seed=count)
    choice = choose_n_clusters(X, method, k_range=range(1, 9))
    # The elbow is by its nature a matter of taste; the others are not.
    assert abs(choice.n_clusters - count) <= (1 if method == "elbow" else 0)
    assert choice.reason


@pytest.mark.parametrize("method", ["penalised", "bic", "gap", "vote"])
def test_one_cluster_is_called_one(method: str) -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    assert choose_n_clusters(X, method, k_range=range(1, 7)).n_clusters == 1


def test_inertia_is_that_of_k_means() -> None:
    X = blobs(3)
    choice = choose_n_clusters(X, "elbow", k_range=[1, 2, 3, 4], n_init=10)
    for row in choice.rows:
        peer = PeerKMeans(row.n_clusters, n_init=10, random_state=0).fit(X)
        assert row.inertia == pytest.approx(peer.inertia_, rel=0.02)


def test_silhouette_and_bic_are_those_of_the_models() -> None:
    X = blobs(3)
    choice = choose_n_clusters(X, k_range=[2, 3], n_init=4)
    for row in choice.rows:
        labels = KMeans(row.n_clusters, n_init=4, random_state=0).fit(X).labels_
        assert row.silhouette == pytest.approx(silhouette_score(X, labels))
        mixture = GaussianMixture(row.n_clusters, random_state=0).fit(X)
        assert row.bic == pytest.approx(mixture.bic(X))


def test_elbow_is_the_distance_below_the_chord_worked_by_hand() -> None:
    found = elbow_distance(np.array([1.0, 2.0, 3.0]), np.array([1000.0, 10.0, 1.0]))
    np.testing.assert_allclose(found, [0.0, 1 / 6, 0.0], atol=1e-15)
    flat = elbow_distance(np.array([1.0, 2.0]), np.array([5.0, 5.0]))
    np.testing.assert_allclose(flat, [0.0, 0.0])


def test_penalised_loss_is_the_formula() -> None:
    sizes = [np.array([6]), np.array([4, 2])]
    found = penalised_loss(sizes, np.array([12.0, 3.0]), 2, 1.5)
    entropy = -(4 * np.log(4 / 6) + 2 * np.log(2 / 6))
    expected = [
        12 * np.log(1.0) + 1.5 * 3 * np.log(6),
        12 * np.log(3 / 12) + 2 * entropy + 1.5 * 2 * 3 * np.log(6),
    ]
    np.testing.assert_allclose(found, expected)


def test_gap_rule_takes_the_first_that_is_enough() -> None:
    assert first_gap(np.array([0.1, 0.9, 0.8]), np.full(3, 0.05)) == 1
    assert first_gap(np.array([0.85, 0.9, 0.8]), np.full(3, 0.1)) == 0
    assert first_gap(np.array([0.1, 0.5, 0.9]), np.zeros(3)) == 2


def test_reference_rows_fill_the_box_of_the_main_axes() -> None:
    X = blobs(2)
    box = reference_box(X)
    even = reference_rows(box, 500, 0, 0)
    assert (even >= box[0]).all()
    assert (even <= box[1]).all()
    assert not np.array_equal(even, reference_rows(box, 500, 1, 0))


def test_penalty_of_zero_and_of_plenty_go_opposite_ways() -> None:
    X = blobs(4)
    low, high = (
        choose_n_clusters(X, "penalised", k_range=range(1, 7), penalty=penalty).n_clusters
        for penalty in (0.0, 1000.0)
    )
    assert high == 1 < low


def test_same_table_same_answer_for_any_threads() -> None:
    X = blobs(3)
    one, two = (choose_n_clusters(X, k_range=range(1, 5), n_jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert str(one) == str(two)


def test_large_tables_are_sampled() -> None:
    X = blobs(3, n=2000)
    choice = choose_n_clusters(X, "silhouette", k_range=[2, 3, 4], max_rows=200)
    assert choice.n_clusters == 3
    full = choose_n_clusters(X, "silhouette", k_range=[2, 3, 4])
    assert choice.rows[0].inertia < 0.2 * full.rows[0].inertia


def test_ties_go_to_the_silhouette_and_the_reason_says_so() -> None:
    X = blobs(3)
    choice = choose_n_clusters(X, criteria=["elbow", "silhouette"], k_range=[2, 3, 4])
    assert set(choice.votes) == {"elbow", "silhouette"}
    if len(set(choice.votes.values())) == 2:
        assert "at equal votes the silhouette's counts" in choice.reason


def test_table_prints_one_line_per_number_and_marks_the_choice() -> None:
    lines = str(choose_n_clusters(blobs(3), k_range=range(1, 6))).splitlines()
    assert len(lines) == 7
    assert [line.startswith("*") for line in lines[1:6]] == [False, False, True, False, False]
    assert lines[-1].startswith("3 clusters: ")


def test_equal_rows_are_one_cluster() -> None:
    choice = choose_n_clusters(np.ones((20, 2)))
    assert (choice.n_clusters, choice.reason) == (1, "all rows are equal")


def test_constant_columns_do_not_hinder() -> None:
    X = np.column_stack([blobs(3), np.full(240, 5.0)])
    assert choose_n_clusters(X, k_range=range(1, 6)).n_clusters == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "elbows"}, r"method must be .*; got 'elbows'; did you mean 'elbow'\?"),
        ({"k_range": [0, 1]}, r"k_range must be an integer >= 1; got 0"),
        ({"k_range": []}, r"k_range must hold at least one number; got none"),
        ({"k_range": 3}, r"k_range must be a range or list of integers; got 3"),
        ({"criteria": ["aic"]}, r"criteria must be .*; got 'aic'"),
        ({"penalty": -1.0}, r"penalty must be a finite number >= 0; got -1.0"),
        ({"n_references": 1}, r"n_references must be an integer >= 2; got 1"),
    ],
)
def test_wrong_parameters_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        choose_n_clusters(blobs(2), **settings)


def test_more_clusters_than_distinct_rows_are_refused() -> None:
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    with pytest.raises(DataError, match=r"k_range goes up to 4 clusters, and X has 3 distinct"):
        choose_n_clusters(X, k_range=range(1, 5))


def test_missing_values_are_refused() -> None:
    with pytest.raises(DataError, match="NaN"):
        choose_n_clusters([[1.0], [np.nan], [3.0]])


def test_a_generator_decides_as_a_number_does() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    found = [
        choose_n_clusters(X, k_range=range(1, 4), random_state=np.random.RandomState(seed))
        for seed in (1, 1, 2)
    ]
    assert found[0] == found[1]
    assert found[0] != found[2]
