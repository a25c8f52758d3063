"""Searches for a ranking: whole queries, queries handed to who asks for them, scores by query."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from assay.base import ParameterError
from assay.evaluate import ndcg
from assay.ranking import PairwiseRanker
from assay.select import Family, Outcome
from assay.select.plan import Data
from tests.select.asked import refit, search

Floats = NDArray[np.float64]
_seen: list[tuple[set[int], set[int]]] = []


class AsksForQueries(RegressorMixin, BaseEstimator):
    """Notes the queries of its fit and of its predictions; query 7 is in column 1, too."""

    def fit(self, X: Any, y: Any, qid: Any = None) -> Self:
        assert (qid == X[:, 1]).all()
        self.fitted_on_ = set(qid.tolist())
        return self

    def predict(self, X: Any, qid: Any = None) -> Any:
        assert (qid == X[:, 1]).all()
        _seen.append((self.fitted_on_, set(qid.tolist())))
        return X[:, 0]


def made(seed: int = 0, n_queries: int = 40) -> tuple[Floats, Floats, NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    qid = random.permutation(np.repeat(np.arange(n_queries), random.integers(2, 9, n_queries)))
    X = np.column_stack([random.normal(size=len(qid)), qid])
    return X, np.clip(np.round(X[:, 0] + 0.5 * random.normal(size=len(qid)) + 1), 0, 3), qid


def found(*families: Family, seed: int = 0, **options: Any) -> Outcome:
    X, y, qid = made(seed)
    return search(X, y, families, task="rank", groups=qid, **options)


def test_every_fit_and_prediction_gets_its_queries_and_they_stay_whole() -> None:
    _seen.clear()
    outcome = found(Family("spy", AsksForQueries(), ({},)))
    assert len(_seen) == 15  # ten pairs, five single blocks
    assert not any(fitted & tested for fitted, tested in _seen)
    blocks = outcome.outer.block[np.argsort(outcome.outer.row)]
    qid = made()[2]
    assert all(len(np.unique(blocks[qid == query])) == 1 for query in range(40))


def test_scores_are_those_of_the_metric_on_each_block() -> None:
    outcome = found(Family("ridge", Ridge(), ({},)), metric="ndcg@3")
    _, y, qid = made()
    row, value = outcome.outer.row, outcome.outer.value
    assert value is not None
    for nested in outcome.nested:
        here = outcome.outer.block == nested.block
        expected = ndcg(y[row[here]], value[here], qid[row[here]], k=3)
        assert nested.outer == pytest.approx(expected)
    assert outcome.plain is not None
    assert outcome.plain.value == pytest.approx(
        np.mean([each.outer or 0 for each in outcome.nested])
    )
    assert outcome.metric.name == "ndcg@3"
    assert outcome.task == "rank"


def test_the_baseline_is_the_expected_score_of_a_random_order() -> None:
    outcome = found(Family("ridge", Ridge(), ({},)), metric="ndcg@3")
    _, y, qid = made()
    random = np.random.default_rng(0)
    expected = np.mean([ndcg(y, random.random(len(y)), qid, k=3) for _ in range(200)])
    assert outcome.baseline.name == "items in random order"
    assert outcome.baseline.score.value == pytest.approx(expected, abs=0.02)


def test_rankers_and_regressors_compete_and_the_quick_score_is_there() -> None:
    ranker = PairwiseRanker(GaussianNB(), random_state=0)
    outcome = found(
        Family("ranker", ranker, ({"features": "difference"}, {"features": "greater"})),
        Family("ridge", Ridge(), ({},)),
    )
    assert {row.family for row in outcome.leaderboard if row.score is not None} == {
        "ranker",
        "ridge",
    }
    assert outcome.quick is not None
    assert outcome.gain.low > 0


@pytest.mark.parametrize("options", [{"n_jobs": 2}, {"n_jobs": 2, "backend": "processes"}])
def test_workers_change_no_bit(options: dict[str, Any]) -> None:
    family = Family("ranker", PairwiseRanker(GaussianNB(), pairs=3), ({},))
    one, two = found(family, seed=3), found(family, seed=3, **options)
    assert np.array_equal(one.outer.value, two.outer.value)  # type: ignore[arg-type]
    assert one.score == two.score


def test_other_queries_are_another_problem() -> None:
    X, y, qid = made()
    digests = {Data(X, y, queries=queries).digest for queries in (None, qid, qid // 2)}
    assert len(digests) == 3


def test_the_choice_is_refitted_with_its_queries() -> None:
    X, y, qid = made()
    outcome = found(Family("ranker", PairwiseRanker(GaussianNB()), ({},)))
    fitted = refit(outcome, X, y, queries=qid).estimator
    assert fitted.n_queries_ == 40
    expected = PairwiseRanker(GaussianNB()).fit(X, y, qid=qid).predict(X, qid)
    assert np.array_equal(fitted.predict(X, qid), expected)


def test_a_target_of_noise_is_no_better_than_a_random_order() -> None:
    X, y, qid = made(n_queries=60)
    noise = np.random.default_rng(5).permutation(y)
    family = Family("ridge", Ridge(), ({"alpha": 1.0}, {"alpha": 100.0}))
    outcome = search(X, noise, [family], task="rank", groups=qid)
    assert outcome.gain.low < 0


def test_a_ranking_without_queries_is_refused() -> None:
    X, y, _ = made()
    with pytest.raises(ParameterError, match="groups must name the query of each row"):
        search(X, y, [Family("ridge", Ridge(), ({},))], task="rank")
