"""Ranking metrics by name, for stored predictions and their bootstraps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from assay.base import ParameterError, Predicted
from assay.evaluate import get_metric, kendall_tau, mean_auc, mean_average_precision, ndcg
from tests.evaluate.test_ranking import made

NAMES: dict[str, Callable[..., float]] = {
    "ndcg@10": ndcg,
    "ndcg@3": lambda *rows: ndcg(*rows, k=3),
    "ndcg": lambda *rows: ndcg(*rows, k=None),
    "ndcg_linear@10": lambda *rows: ndcg(*rows, gain="linear"),
    "map": mean_average_precision,
    "auc": mean_auc,
    "kendall_tau": kendall_tau,
}


@pytest.mark.parametrize("name", NAMES)
def test_metric_of_stored_predictions_is_that_of_the_function(name: str) -> None:
    y, scores, qid = made(1)
    metric = get_metric(name, "rank")
    found = metric.score(np.column_stack([y, qid]), Predicted(value=scores))
    assert found == pytest.approx(NAMES[name](y, scores, qid))
    assert (metric.name, metric.by_query, metric.high) == (name, True, 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_query_drawn_twice_counts_twice_and_one_not_drawn_not_at_all(name: str) -> None:
    y, scores, qid = made(2)
    times = np.random.default_rng(0).integers(0, 3, (5, qid.max() + 1))
    formula = get_metric(name, "rank").formula
    assert formula is not None
    truth = np.column_stack([y, qid])
    found = formula(truth, Predicted(value=scores), times[:, qid].astype(float))
    for draw, expected in zip(times, found, strict=True):
        rows, names = [], []
        for query, count in enumerate(draw):
            for copy in range(count):
                rows.append(np.flatnonzero(qid == query))
                names.append(np.full(len(rows[-1]), 100 * query + copy))
        at = np.concatenate(rows)
        assert NAMES[name](y[at], scores[at], np.concatenate(names)) == pytest.approx(expected)


def test_a_block_without_a_defined_query_has_no_score() -> None:
    metric = get_metric("map", "rank")
    truth = np.array([[0.0, 0], [0.0, 0]])
    assert np.isnan(metric.score(truth, Predicted(value=np.array([1.0, 2.0]))))
    assert metric.formula is not None
    assert np.isnan(metric.formula(truth, Predicted(value=np.ones(2)), np.ones((2, 2)))).all()


def test_the_usual_metric_of_a_ranking_is_ndcg_at_10() -> None:
    assert get_metric(None, "rank").name == "ndcg@10"


@pytest.mark.parametrize("name", ["r2", "ndcg@0", "ndcg@", "ndgc@10", len])
def test_a_metric_that_is_none_of_a_ranking_is_refused(name: object) -> None:
    with pytest.raises(ParameterError, match=r"metric of a ranking must be ndcg@K.*; got"):
        get_metric(name, "rank")  # type: ignore[arg-type]
    if isinstance(name, str):
        with pytest.raises(ParameterError, match=r"metric .* is"):
            get_metric("ndcg@10", "regression")
