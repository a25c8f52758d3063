"""BBC-CV against a slow reference, on null data, and within its budget."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import get_scorer, log_loss, make_scorer, recall_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from assay.evaluate import replay
from assay.select import Family, Ledger, Plan, forward, pair_out
from assay.select.choose import Evidence
from assay.select.estimate._bbc import _BUDGET, Effort, _draws, bootstrap_choice, effort
from assay.select.plan import Question, RowPartitions, take
from assay.select.run import Runner

FAMILIES = [
    Family("tree", DecisionTreeClassifier(random_state=0), [{"max_depth": d} for d in (1, 3, 9)]),
    Family("bayes", GaussianNB()),
]


def prepared(
    metric: Any, task: str, families: Any, X: Any, y: Any, plan: Plan | None = None, **given: Any
) -> Evidence:
    question = Question.of(X, y, task=task, metric=metric, **given)
    blocks = RowPartitions(question, plan or pair_out(4))
    runner = Runner(question.data, families, blocks.partitions, Ledger())
    runner.run(runner.unit(f, 0, s) for s in blocks.plan.splits for f in range(len(families)))
    return Evidence(question, blocks, runner)


def reference(evidence: Evidence, scorer: Any, only_first: bool = False) -> list[float]:
    """Tsamardinos' protocol with rows repeated in earnest and scikit-learn's scorer."""
    judge, table, clusters = evidence.question, evidence.table, evidence.blocks.clusters
    n = len(judge.y)
    rows = [row for row in range(len(table.places)) if table.defined[row]]
    ranking = table.ranking(rows)
    if only_first:
        blocks = [table.places[row][2] for row in rows]
        rows = [rows[blocks.index(block)] for block in dict.fromkeys(blocks)]
    size = table.size.mean(axis=0)
    leading = sorted(ranking, key=lambda column: (size[column], column))

    def score(column: int, taken: Any) -> float:
        scores = []
        for row in rows:
            _, split, block = table.places[row]
            block_rows = evidence.partitions[0].rows(block)
            for first, entries in evidence.predictions(0, split):
                if first <= column < first + len(entries):
                    step = evidence.plan.splits[split].tests.index(block)
                    fitted = entries[column - first].fitted
                    assert fitted is not None
                    predicted = fitted.predictions[step]
            positions = np.repeat(np.arange(len(block_rows)), taken[block_rows])
            if not len(positions):
                continue
            sampled = take(predicted, positions)
            truth = judge.y[block_rows][positions]
            given = {}
            if judge.weight is not None:
                given["sample_weight"] = judge.weight[block_rows][positions]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = replay(sampled, judge.n_classes)
                value = scorer(model, np.zeros((len(truth), 1)), truth, **given)
            if np.isfinite(value):
                scores.append(value)
        return float(np.mean(scores)) if scores else float("-inf")

    estimates = []
    for taken in _draws(n, clusters, SOME, 0):
        best = max(
            leading, key=lambda column: (round(score(column, taken), 12), -leading.index(column))
        )
        estimates.append(score(best, (taken == 0).astype(int)))
    return estimates


SOME = 6


def ours(monkeypatch: pytest.MonkeyPatch, evidence: Evidence) -> Any:
    monkeypatch.setattr(
        "assay.select.estimate._bbc._draws", lambda n, c, count, seed: _draws(n, c, SOME, seed)
    )
    return bootstrap_choice(evidence)


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "f1", "neg_log_loss"])
def test_bootstrap_equals_the_slow_reference(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(64, 5, flip_y=0.3, random_state=1)
    evidence = prepared(metric, "binary", FAMILIES, X, y)
    scorer = get_scorer(metric)
    if metric == "neg_log_loss":  # drawn rows may lack a class
        scorer = make_scorer(
            log_loss, response_method="predict_proba", greater_is_better=False, labels=[0, 1]
        )
    expected = reference(evidence, scorer)
    found = ours(monkeypatch, evidence)
    sign = 1 if evidence.question.metric.greater_is_better else -1
    assert found.value == pytest.approx(sign * np.mean(expected), abs=1e-12)
    ends = np.quantile(sign * np.array(expected), [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(tuple(ends), abs=1e-12)


def test_bootstrap_with_weights_and_clusters_equals_the_slow_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = make_regression(60, 4, noise=30.0, random_state=0)
    weight = np.random.default_rng(0).random(60) + 0.5
    groups = np.arange(60) // 3
    tree = DecisionTreeRegressor(random_state=0)
    families = [Family("tree", tree, [{"max_depth": d} for d in (1, 3, 9)])]
    evidence = prepared(
        "neg_mean_absolute_error", "regression", families, X, y, weight=weight, groups=groups
    )
    scorer = get_scorer("neg_mean_absolute_error")
    expected = reference(evidence, scorer)
    found = ours(monkeypatch, evidence)
    assert found.value == pytest.approx(-np.mean(expected), abs=1e-9)


def test_bootstrap_of_any_scorer_equals_the_slow_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(64, 5, flip_y=0.3, random_state=1)
    scorer = make_scorer(recall_score, average="macro")
    evidence = prepared(scorer, "binary", FAMILIES, X, y)
    expected = reference(evidence, scorer, only_first=True)
    found = ours(monkeypatch, evidence)
    assert found.value == pytest.approx(np.mean(expected), abs=1e-12)


def test_bootstrap_works_forward_in_time() -> None:
    X, y = make_classification(90, 5, random_state=1)
    evidence = prepared("roc_auc", "binary", FAMILIES, X, y, forward(4), time=np.arange(90))
    found = bootstrap_choice(evidence)
    assert found is not None
    assert found.low <= found.value <= found.high


def test_one_fit_per_block_equals_the_slow_reference_too(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(64, 5, flip_y=0.3, random_state=1)
    evidence = prepared("roc_auc", "binary", FAMILIES, X, y)
    monkeypatch.setitem(_BUDGET, "formula", 1.0)
    expected = reference(evidence, get_scorer("roc_auc"), only_first=True)
    found = ours(monkeypatch, evidence)
    assert found.value == pytest.approx(np.mean(expected), abs=1e-12)


def test_effort_is_bounded() -> None:
    for route, budget in _BUDGET.items():
        for rows in (50, 5_000, 500_000):
            for candidates in (1, 30, 500):
                spent = effort(route, 4 * rows, rows, candidates, rows)
                assert 40 <= spent.draws <= 1000
                assert min(candidates, 10) <= spent.candidates <= candidates
                assert spent.draws * rows <= max(5e7, 40 * rows)
                price = spent.draws * spent.candidates * rows * (4 if spent.all_fits else 1)
                assert spent.draws == 40 or price <= budget
    assert effort("mean", 2_000, 500, 100, 500) == Effort(1000, 100, True)
