"""Ranking metrics against scikit-learn, SciPy and brute force."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

from assay.base import DataError, ParameterError
from assay.evaluate import kendall_tau, mean_auc, mean_average_precision, ndcg, omega_loss

Floats = NDArray[np.float64]
Metric = Callable[..., float]
METRICS: tuple[Metric, ...] = (ndcg, mean_average_precision, mean_auc, kendall_tau, omega_loss)


def made(seed: int, *, ties: bool = True) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Queries of 2 to 30 items, interleaved; scores with ties if asked."""
    random = np.random.default_rng(seed)
    qid = random.permutation(np.repeat(np.arange(12), random.integers(2, 30, 12)))
    y = random.integers(0, 5, len(qid)).astype(np.float64)
    scores = random.integers(0, 6, len(qid)) / 2 if ties else random.normal(size=len(qid))
    return y, scores + 0.5 * y * (not ties), qid


def by_query(
    one: Callable[[Floats, Floats], float], y: Floats, scores: Floats, qid: NDArray[np.int64]
) -> float:
    found = [one(y[qid == q], scores[qid == q]) for q in np.unique(qid)]
    return float(np.nanmean(found))


def brute_loss(y: Floats, scores: Floats, cost: Callable[[int, int], float]) -> float:
    place = [1 + int((y > value).sum()) for value in y]
    total = 0.0
    for u in range(len(y)):
        for v in range(len(y)):
            if place[u] < place[v]:
                wrong = 1.0 if scores[v] > scores[u] else 0.5 if scores[v] == scores[u] else 0.0
                total += wrong * cost(place[u], place[v])
    return total


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("k", [1, 5, 10, None])
def test_ndcg_matches_scikit_learn(seed: int, ties: bool, k: int | None) -> None:
    y, scores, qid = made(seed, ties=ties)

    def one(y: Floats, scores: Floats) -> float:
        gains = 2**y - 1
        return ndcg_score([gains], [scores], k=k) if gains.any() else np.nan

    assert ndcg(y, scores, qid, k=k) == pytest.approx(by_query(one, y, scores, qid), abs=1e-12)


def test_ndcg_with_linear_gains_matches_scikit_learn() -> None:
    y, scores, qid = made(5)

    def one(y: Floats, scores: Floats) -> float:
        return ndcg_score([y], [scores], k=10) if y.any() else np.nan

    expected = by_query(one, y, scores, qid)
    assert ndcg(y, scores, qid, gain="linear") == pytest.approx(expected, abs=1e-12)


def test_ndcg_of_equal_scores_is_the_mean_over_all_orders() -> None:
    y = np.array([3.0, 0.0, 1.0, 2.0])
    orders = [ndcg(y[list(order)], [4, 3, 2, 1], k=2) for order in permutations(range(4))]
    assert ndcg(y, [7, 7, 7, 7], k=2) == pytest.approx(np.mean(orders))


@pytest.mark.parametrize("ties", [True, False])
def test_mean_average_precision_matches_scikit_learn(ties: bool) -> None:
    y, scores, qid = made(2, ties=ties)

    def one(y: Floats, scores: Floats) -> float:
        return average_precision_score(y > 1, scores) if (y > 1).any() else np.nan

    expected = by_query(one, y, scores, qid)
    assert mean_average_precision(y, scores, qid, threshold=1) == pytest.approx(expected)


@pytest.mark.parametrize("ties", [True, False])
def test_mean_auc_matches_scikit_learn(ties: bool) -> None:
    y, scores, qid = made(3, ties=ties)

    def one(y: Floats, scores: Floats) -> float:
        return roc_auc_score(y > 2, scores) if 0 < (y > 2).sum() < len(y) else np.nan

    expected = by_query(one, y, scores, qid)
    assert mean_auc(y, scores, qid, threshold=2) == pytest.approx(expected)


@pytest.mark.parametrize("ties", [True, False])
def test_kendall_tau_matches_scipy(ties: bool) -> None:
    y, scores, qid = made(4, ties=ties)

    def one(y: Floats, scores: Floats) -> float:
        return float(kendalltau(y, scores).statistic) if np.ptp(y) and np.ptp(scores) else np.nan

    assert kendall_tau(y, scores, qid) == pytest.approx(by_query(one, y, scores, qid))


def test_kendall_tau_of_equal_scores_is_that_of_chance() -> None:
    assert kendall_tau([1, 2, 3], [5, 5, 5]) == 0
    assert kendall_tau([1, 2, 3, 1, 2], [5, 5, 5, 1, 2], [0, 0, 0, 1, 1]) == 0.5


@pytest.mark.parametrize("seed", range(5))
def test_omega_loss_of_misordered_pairs_counts_kendalls_inversions(seed: int) -> None:
    random = np.random.default_rng(seed)
    y, scores = random.permutation(20).astype(float), random.normal(size=20)
    # Without ties tau = 1 - 4 inversions / (n (n - 1)).
    inversions = (1 - kendalltau(y, scores).statistic) * 20 * 19 / 4
    assert omega_loss(y, scores) == pytest.approx(inversions)


@pytest.mark.parametrize(
    ("omega", "cost"),
    [
        ("misordered", lambda i, j: 1.0),
        ("distance", lambda i, j: abs(i - j)),
        ("top_k", lambda i, j: float(min(i, j) <= 3)),
        ("discount", lambda i, j: abs(1 / np.log2(1 + i) - 1 / np.log2(1 + j))),
    ],
)
def test_omega_loss_matches_brute_force(omega: str, cost: Callable[[int, int], float]) -> None:
    y, scores, qid = made(6)
    expected = by_query(lambda y, s: brute_loss(y, s, cost), y, scores, qid)
    assert omega_loss(y, scores, qid, omega=omega, k=3) == pytest.approx(expected)
    as_function = omega_loss(y, scores, qid, omega=lambda i, j: cost(i, j) if i != j else 0.0)
    assert as_function == pytest.approx(expected)


def test_normalised_omega_loss_of_two_levels_is_one_minus_auc() -> None:
    y, scores, qid = made(7)
    relevant = (y > 2).astype(float)
    loss = omega_loss(relevant, scores, qid, normalize=True)
    assert loss == pytest.approx(1 - mean_auc(relevant, scores, qid))


@pytest.mark.parametrize("omega", ["misordered", "distance", "top_k", "discount"])
def test_normalised_omega_loss_is_0_for_the_truth_and_1_for_its_reverse(omega: str) -> None:
    y, _, qid = made(8)
    assert omega_loss(y, y, qid, omega=omega, normalize=True) == 0
    assert omega_loss(y, -y, qid, omega=omega, normalize=True) == pytest.approx(1)


@given(seed=st.integers(0, 1000))
@pytest.mark.parametrize("metric", METRICS)
def test_metrics_do_not_depend_on_the_order_of_rows_or_on_the_scale(
    metric: Metric, seed: int
) -> None:
    y, scores, qid = made(seed)
    by = np.random.default_rng(seed).permutation(len(y))
    expected = metric(y, scores, qid)
    assert metric(y[by], 4 * scores[by] - 1, 9 - qid[by]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_take_any_names_of_queries(metric: Metric) -> None:
    y, scores, qid = made(9)
    names: Any = [f"query {number}" for number in qid]
    assert metric(y, scores, names) == pytest.approx(metric(y, scores, qid), abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_pass_over_queries_they_are_undefined_for(metric: Metric) -> None:
    y, scores, qid = made(10)
    lonely = metric([*y, 0.0, 0.0, 0.0], [*scores, 1.0, 1.0, 1.0], [*qid, 99, 98, 98])
    assert lonely == pytest.approx(metric(y, scores, qid), abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_refuse_what_has_no_defined_query(metric: Metric) -> None:
    with pytest.raises(DataError, match=r"none of the 2 queries has .*: the metric is undefined"):
        metric([0, 0], [1.0, 2.0], [1, 2])


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_refuse_wrong_rows(metric: Metric) -> None:
    with pytest.raises(DataError, match="y has 2 rows but scores has 3"):
        metric([0, 1], [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match=r"qid must name one query per row, shape \(2,\); got \(3"):
        metric([0, 1], [1.0, 2.0], [1, 1, 1])
    with pytest.raises(DataError, match="NaN"):
        metric([0, 1], [np.nan, 2.0])


def test_ndcg_refuses_relevances_it_has_no_gain_for() -> None:
    with pytest.raises(DataError, match="NDCG needs relevances >= 0; got -1 in row 1"):
        ndcg([0, -1], [1.0, 2.0])
    with pytest.raises(DataError, match="relevances up to 900 are too large for gains"):
        ndcg([0, 900], [1.0, 2.0])
    assert ndcg([0, 900], [1.0, 2.0], gain="linear") == 1.0


def test_metrics_name_wrong_options() -> None:
    with pytest.raises(ParameterError, match="k must be an integer >= 1 or None; got 0"):
        ndcg([0, 1], [1.0, 2.0], k=0)
    with pytest.raises(ParameterError, match="gain must be 'exponential' or 'linear'; got 'log'"):
        ndcg([0, 1], [1.0, 2.0], gain="log")
    with pytest.raises(ParameterError, match=r"omega must be .*; did you mean 'top_k'"):
        omega_loss([0, 1], [1.0, 2.0], omega="topk")
    with pytest.raises(ParameterError, match="breaks the triangle inequality at positions 1, 2, 3"):
        omega_loss([0, 1, 2], [1.0, 2.0, 3.0], omega=lambda i, j: (i - j) ** 2)
