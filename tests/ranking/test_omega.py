"""OmegaRanker: triplets as the definition has them, an order by quicksort, less loss at the top."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from assay import store
from assay.base import DataError, ParameterError
from assay.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from assay.evaluate.ranking_costs import cost_of
from assay.ranking import OmegaRanker, PairwiseRanker, omega_loss
from assay.tree import DecisionTreeClassifier
from tests.ranking.test_pairwise import Recorder, made

Floats = NDArray[np.float64]


@pytest.mark.parametrize("omega", ["misordered", "top_k", "discount", "distance"])
def test_training_triplets_are_those_of_the_definition(omega: str) -> None:
    X, y, qid = made(1)
    model = OmegaRanker(Recorder(), omega=omega, k=3, pairs="all").fit(X, y, qid=qid)
    pairs, labels, weight = model.estimator_.seen_
    cost, expected = cost_of(omega, 3), []
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        sigma = {row: 1 + int((y[rows] > y[row]).sum()) for row in rows}
        for u in rows:
            for v in rows:
                price = float(cost(sigma[u], sigma[v]))
                if price:
                    expected.append([*(X[u] - X[v]), np.sign(sigma[v] - sigma[u]), price])
    weight = np.ones(len(labels)) if weight is None else weight
    found = np.column_stack([pairs, labels, weight]).tolist()
    assert np.allclose(np.array(sorted(expected)), np.array(sorted(found)))


def test_quicksort_with_a_linear_preference_is_the_order_of_its_scores() -> None:
    X, y, qid = made(2)
    model = OmegaRanker(omega="discount", random_state=3).fit(X, y, qid=qid)
    expected = np.lexsort((-(X @ model.score_coef_), qid))
    assert np.array_equal(model.rank(X, qid), expected)
    assert np.array_equal(model.sort(X, qid).order, expected)


def test_scores_are_those_of_a_pairwise_ranker_with_the_same_weights() -> None:
    X, y, qid = made(3)
    omega = OmegaRanker(GaussianNB(), omega="distance", by="scores").fit(X, y, qid=qid)
    pairwise = PairwiseRanker(GaussianNB(), weights="distance").fit(X, y, qid=qid)
    assert np.array_equal(omega.predict(X, qid), pairwise.predict(X, qid))


def test_predictions_are_evenly_spaced_in_the_order_of_the_sort() -> None:
    X, y, qid = made(4)
    model = OmegaRanker(GaussianNB(), random_state=0).fit(X, y, qid=qid)
    scores, order = model.predict(X, qid), model.sort(X, qid).order
    assert np.array_equal(model.rank(X, qid), order)
    for query in np.unique(qid):
        mine = order[qid[order] == query]
        assert np.allclose(scores[mine], np.linspace(1, -1, len(mine)))
    assert model.predict(X[:1]).tolist() == [0.0]


@given(seed=st.integers(0, 30))
def test_order_of_a_query_depends_neither_on_its_rows_nor_on_other_queries(seed: int) -> None:
    X, _, _ = made(5)
    noise = np.random.default_rng(0).normal(size=len(X))  # nothing to learn: circles
    model = OmegaRanker(DecisionTreeClassifier(), random_state=1).fit(X, noise)
    random = np.random.default_rng(seed)
    items, qid = random.normal(scale=10, size=(60, 3)), np.repeat([0, 1, 2], 20)
    expected = model.predict(items, qid)
    some = random.permutation(np.flatnonzero(qid < seed % 3 + 1))
    assert np.array_equal(model.predict(items[some], qid[some]), expected[some])


def test_seed_decides_the_pivots() -> None:
    X, _, _ = made(6)
    relevance = np.random.default_rng(0).normal(size=len(X))  # nothing to learn: circles
    models = [
        OmegaRanker(DecisionTreeClassifier(), random_state=seed).fit(X, relevance)
        for seed in (0, 0, 1)
    ]
    items = np.random.default_rng(1).normal(scale=10, size=(100, 3))
    first, again, other = (model.sort(items) for model in models)
    assert np.array_equal(first.order, again.order)
    assert first.n_comparisons == again.n_comparisons
    assert not np.array_equal(first.order, other.order)


def test_sorting_takes_far_fewer_comparisons_than_all_pairs() -> None:
    X, y, qid = made(7)
    model = OmegaRanker(GaussianNB(), random_state=0).fit(X, y, qid=qid)
    items = np.random.default_rng(0).normal(size=(1000, 3))
    found = model.sort(items)
    assert found.n_comparisons < 30 * 1000 < 1000 * 999 / 2
    assert found.n_levels < 50
    assert sorted(found.order.tolist()) == list(range(1000))


def circular(seed: int, n_queries: int, m: int = 20) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Items of three kinds that beat each other in a circle, besides their strength.

    The true order is that of the wins in a noisy tournament; the shares of the kinds change from
    query to query, so that no score of the item alone can know what it is worth.
    """
    random = np.random.default_rng(seed)
    tables, wins = [], []
    for _ in range(n_queries):
        strength, kind = random.normal(size=m), random.choice(3, m, p=random.dirichlet([0.6] * 3))
        turn = (kind[:, None] - kind[None, :]) % 3
        noise = np.triu(random.logistic(scale=0.5, size=(m, m)), 1)
        gap = strength[:, None] - strength[None, :] + 2.0 * np.array([0, 1, -1])[turn]
        wins.append((gap + noise - noise.T > 0).sum(axis=1) + 0.001 * random.random(m))
        tables.append(np.column_stack([strength, np.eye(3)[kind]]))
    return np.vstack(tables), np.concatenate(wins), np.repeat(np.arange(n_queries), m)


def test_quicksort_loses_less_at_the_top_than_sorting_by_a_score_of_the_item() -> None:
    X, y, qid = circular(0, 60)
    X_test, y_test, qid_test = circular(1, 60)
    base = GradientBoostingClassifier(n_estimators=40)
    ranker = OmegaRanker(base, omega="top_k", k=5, random_state=0).fit(X, y, qid=qid)
    scores: dict[str, Any] = {
        "quicksort": ranker.predict(X_test, qid_test),
        "linear ranker": PairwiseRanker().fit(X, y, qid=qid).predict(X_test, qid_test),
        "ridge": Ridge().fit(X, y).predict(X_test),
        "boosting": GradientBoostingRegressor(n_estimators=40).fit(X, y).predict(X_test),
    }
    loss = {
        name: omega_loss(y_test, found, qid_test, omega="top_k", k=5)
        for name, found in scores.items()
    }
    others = min(value for name, value in loss.items() if name != "quicksort")
    assert loss["quicksort"] < 0.8 * others, loss


def test_cost_of_the_top_moves_a_small_model_to_the_top() -> None:
    """Where one line cannot serve all pairs, the pairs that cost decide which it serves."""
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 2))
    qid = np.repeat(np.arange(100), 40)
    best = X[:, 0] > 1.2
    y = np.where(best, 10 + X[:, 1], X[:, 0] - X[:, 1])  # at the top, the second column turns
    train, test = qid < 60, qid >= 60
    losses = [
        omega_loss(
            y[test],
            OmegaRanker(omega=omega, k=4, random_state=0)
            .fit(X[train], y[train], qid=qid[train])
            .predict(X[test], qid[test]),
            qid[test],
            omega="top_k",
            k=4,
        )
        for omega in ("top_k", "misordered")
    ]
    assert losses[0] < 0.7 * losses[1]


def test_model_file_holds_an_omega_ranker(tmp_path: Path) -> None:
    X, y, qid = made(8)
    model = OmegaRanker(omega="top_k", random_state=0).fit(X, y, qid=qid)
    store.save(tmp_path / "ranker.assay", {}, {"model": model})
    again = store.load(tmp_path / "ranker.assay")[1]["model"]
    assert np.array_equal(again.predict(X, qid), model.predict(X, qid))


@pytest.mark.parametrize(
    ("omega", "message"),
    [
        (lambda i, j: (i - j) ** 2, "breaks the triangle inequality at positions 1, 2, 3"),
        (lambda i, j: np.maximum(i - j, 0), "not symmetric at positions 1, 2"),
        (lambda i, j: (i != j) / (1 + abs(i - j)), "not monotone at positions 1, 2, 3"),
        ("top", "omega must be 'misordered', .*; got 'top'; did you mean 'top_k'"),
    ],
)
def test_an_omega_that_breaks_its_rules_is_refused(omega: Any, message: str) -> None:
    X, y, qid = made(9)
    with pytest.raises(ParameterError, match=message):
        OmegaRanker(omega=omega).fit(X, y, qid=qid)


def test_an_omega_that_costs_nothing_is_refused() -> None:
    X, y, qid = made(10)
    with pytest.raises(DataError, match=r"no pair to learn from: .*whose order has a cost"):
        OmegaRanker(omega=lambda i, j: 0 * i).fit(X, y, qid=qid)


def test_wrong_options_are_named() -> None:
    X, y, qid = made(11)
    with pytest.raises(ParameterError, match="by must be 'quicksort' or 'scores'; got 'magic'"):
        OmegaRanker(by="magic").fit(X, y, qid=qid)
    model = OmegaRanker(random_state=0).fit(X, y, qid=qid)
    for change, message in (({"pivot_seed_": -1}, "pivot_seed_"), ({"pivot_seed_": True}, "seed")):
        with pytest.raises(DataError, match=message):
            OmegaRanker.from_state(model.get_params(deep=False), {**model.state(), **change})
    with pytest.raises(DataError, match="by is 'magic'"):
        OmegaRanker.from_state({**model.get_params(deep=False), "by": "magic"}, model.state())
