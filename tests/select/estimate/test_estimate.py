"""The number and its interval, against the same arithmetic done by hand with scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kurtosis
from scipy.stats import t as student
from sklearn.base import clone, is_classifier
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, f1_score, r2_score, recall_score, roc_auc_score
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB

from assay.base import Predicted, Task
from assay.evaluate import Interval, corrected_t, get_metric, interval_of_parts, next_t, panel
from assay.select import Family, NestedSearch, make_blocks, pair_out
from assay.select.choose._choose import OuterResult
from assay.select.estimate._effective_sample_size import effective_sample_size
from assay.select.estimate._estimate import Estimate, _how, _within_range
from assay.select.estimate._pooled import (
    balanced_groups,
    groups_of_rows,
    is_pooled,
    jackknife_variance,
    measure,
)
from assay.select.estimate._resampled_score import ResampledScore, _unbalanced, growth
from assay.select.plan import Data, Question, RowPartitions
from tests.select.asked import search

K = 5
ALPHAS = (0.1, 10.0, 1000.0)
RIDGES = Family("ridge", Ridge(), [{"alpha": alpha} for alpha in ALPHAS])


def numbers(n: int = 60) -> tuple[NDArray[Any], NDArray[Any]]:
    random = np.random.default_rng(4)
    X = random.normal(size=(n, 12))
    return X, X[:, 0] + 0.5 * X[:, 1] + random.normal(size=n)


def classes(n: int = 90) -> tuple[NDArray[Any], NDArray[Any]]:
    random = np.random.default_rng(8)
    X = random.normal(size=(n, 6))
    return X, (X[:, 0] + random.logistic(size=n) > 0.5).astype(int)


def by_hand(
    X: NDArray[Any],
    y: NDArray[Any],
    models: Sequence[Any],
    score: Callable[[Any, Any], float],
    blocks: NDArray[np.int64],
    balanced: bool = False,
) -> tuple[float, list[tuple[float, float]]]:
    """Refit everything: predictions from K-1 blocks and from K-2, and the jackknives."""

    def said(model: Any, left_out: set[int], at: int) -> NDArray[Any]:
        train = ~np.isin(blocks, list(left_out))
        return np.asarray(clone(model).fit(X[train], y[train]).predict(X[blocks == at]))

    def chosen(i: int, without: int | None = None) -> Any:
        judges = [j for j in range(K) if j not in (i, without)]
        scores = [
            np.mean([score(y[blocks == j], said(model, {i, j}, j)) for j in judges])
            for model in models
        ]
        return models[int(np.argmax(scores))]

    first = np.empty(len(y))
    second = {k: np.empty(len(y)) for k in range(K)}
    for i in range(K):
        first[blocks == i] = said(chosen(i), {i}, i)
        for k in range(K):
            if k != i:
                second[k][blocks == i] = said(chosen(i, k), {i, k}, i)
    value = score(y, first)
    rows = np.array([score(np.delete(y, i), np.delete(first, i)) for i in range(len(y))])
    outside = [score(y[blocks != k], second[k][blocks != k]) for k in range(K)]
    plain = (len(y) - 1) * np.var(rows)
    of_rows = min(len(y) - 1, 2 * len(y) / (kurtosis(rows, fisher=False) - 1))
    both = (K - 1) * np.var(outside)
    if balanced:
        alike = []
        for repeat in range(1000, 1010):
            fresh = make_blocks(y, K, task="regression", repeat=repeat)
            without = [score(y[fresh != k], first[fresh != k]) for k in range(K)]
            alike.append((K - 1) * np.var(without))
        both *= np.clip(plain / np.mean(alike), 1, 4)
    classes = is_classifier(models[0])
    share, teaching, of_both = (0.3, both - plain, 0.8) if classes else (0.4, both, 1.0)
    variance = plain + share * teaching
    freedom = variance**2 / (plain**2 / of_rows + (share * both) ** 2 / (of_both * (K - 1)))
    return float(value), [(float(variance), float(freedom))]


@pytest.mark.parametrize("balanced", [True, False])
def test_the_number_and_its_interval_equal_the_same_done_by_hand(balanced: bool) -> None:
    X, y = numbers()
    models = [Ridge(alpha=alpha) for alpha in ALPHAS]
    if balanced:
        found = search(X, y, [RIDGES], task="regression", metric="r2").score
        blocks = make_blocks(y, K, task="regression")
    else:  # blocks that are given are taken as they vary
        blocks = np.arange(len(y)) % K
        search_ = NestedSearch(Ridge(), {"alpha": list(ALPHAS)}, cv=PredefinedSplit(blocks))
        found = search_.fit(X, y).outcome_.score
    value, [(variance, freedom)] = by_hand(X, y, models, r2_score, blocks, balanced)
    half = student.ppf(0.975, freedom) * np.sqrt(variance)
    assert found.value == pytest.approx(value, abs=1e-9)
    # R² has one bound: the cube root of the distance from it is symmetric.
    root = np.cbrt(1 - value)
    step = half / (3 * root**2)
    assert found.low == pytest.approx(1 - (root + step) ** 3, abs=1e-9)
    assert found.high == pytest.approx(1 - (root - step) ** 3, abs=1e-9)


def test_of_classes_the_rows_that_judge_count_once() -> None:
    X, y = classes()
    values = [1e-9, 0.1, 1.0, 10.0]
    blocks = np.arange(len(y)) % K
    grid = {"var_smoothing": values}
    found = NestedSearch(GaussianNB(), grid, cv=PredefinedSplit(blocks)).fit(X, y).outcome_.score
    models = [GaussianNB(var_smoothing=each) for each in values]
    value, parts = by_hand(X, y, models, accuracy_score, blocks)
    expected = interval_of_parts(value, parts, low=0.0, high=1.0, units=len(y))
    assert found.value == pytest.approx(value, abs=1e-9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_few_rows_that_make_a_variance_leave_it_few_degrees_of_freedom() -> None:
    random = np.random.default_rng(0)
    assert jackknife_variance(random.uniform(size=200))[1] == 199
    assert 120 < jackknife_variance(random.normal(size=200))[1] <= 199
    assert jackknife_variance(np.repeat([0.0, 1.0], [195, 5]))[1] == pytest.approx(10.8, abs=0.1)
    constant = np.full(50, 0.3)
    constant[0] += 1e-16  # rounding
    variance, freedom = jackknife_variance(constant)
    assert variance < 1e-30
    assert freedom == 49


@pytest.mark.parametrize(
    ("metric", "task", "counts", "expected"),
    [
        ("accuracy", "binary", (95, 5), 100),
        ("recall", "binary", (95, 5), 5),
        ("precision", "binary", (95, 5), 5),
        ("specificity", "binary", (95, 5), 95),
        ("f1", "binary", (95, 5), 10),
        ("roc_auc", "binary", (95, 5), 10),
        ("roc_auc", "binary", (5, 95), 10),
        ("roc_auc", "binary", (50, 50), 100),
        ("balanced_accuracy", "binary", (50, 50), 100),
        ("balanced_accuracy", "binary", (95, 5), 19),
        ("recall_macro", "multiclass", (30, 30, 30), 90),
        ("f1_macro", "multiclass", (60, 28, 2), 16),
        ("f1_micro", "multiclass", (60, 28, 2), 90),
        ("roc_auc_ovr", "multiclass", (60, 28, 2), 32),
    ],
)
def test_a_share_rests_on_the_rows_of_rare_classes(
    metric: str, task: str, counts: tuple[int, ...], expected: int
) -> None:
    y = np.repeat(np.arange(len(counts)), counts)
    known = {each.name: each for each in panel(task)}
    judge = Question(Data(y[:, None], y, None, len(counts)), Task(task), known[metric])
    assert effective_sample_size(judge) == expected


def test_all_of_five_positives_found_is_not_all_found() -> None:
    y = np.repeat([0, 1], [95, 5])
    X = y[:, None] + 0.01 * np.random.default_rng(0).normal(size=(100, 1))
    found = search(X, y, [Family("bayes", GaussianNB())], task="binary", metric="recall").score
    assert found.value == 1.0
    assert 0.4 < found.low < 0.6  # of a hundred rows: 0.96
    assert found.high == 1.0


def test_balanced_blocks_hide_far_out_rows_and_the_factor_that_undoes_it_is_limited() -> None:
    # Every tenth row is far out, so balanced blocks have equally many of them; samples do not.
    random = np.random.default_rng(1)
    y = np.where(np.arange(200) % 10 == 0, 50.0, 0.0) + random.normal(size=200)
    outer = np.zeros(200)
    judge = Question.of(outer[:, None], y, task="regression", metric="mean_absolute_error")
    labels = np.arange(200) % K
    blocks = RowPartitions(judge, pair_out(K), blocks=labels)
    pieces = [(np.arange(200), Predicted(None, None, None, outer))]
    partitions = balanced_groups(judge, blocks, K)
    balanced = np.array([measure(judge, pieces, each) for each in partitions])
    assert balanced.shape == (10, K)
    over_blocks = float(np.mean([jackknife_variance(each)[0] for each in balanced]))
    over_rows, _ = jackknife_variance(measure(judge, pieces, groups_of_rows(judge, blocks)))
    assert over_rows == pytest.approx(np.var(np.abs(y), ddof=1) / 200)
    assert over_blocks < over_rows / 50
    assert _unbalanced(over_rows, balanced) == 4.0
    assert _unbalanced(3 * over_blocks, balanced) == pytest.approx(3.0)
    assert _unbalanced(over_blocks / 2, balanced) == 1.0


def test_the_number_is_what_the_outer_predictions_score() -> None:
    # Every row is off by 1 with four blocks to train on and by 2 with three: more would be better.
    y, blocks = np.zeros(50), np.arange(50) % K
    question = Question.of(y[:, None], y, task="regression", metric="mean_absolute_error")
    results = []
    for outer in pair_out(K).outers:
        rows, train = np.flatnonzero(blocks == outer.block), np.flatnonzero(blocks != outer.block)
        predicted = Predicted(value=np.ones(len(rows)))
        results.append(OuterResult(0, outer, rows, train, 0, 1.0, predicted, 1.0, 1.0))
    smaller = Predicted(value=np.full(10, 2.0))
    one = ResampledScore(
        question, results, lambda each: each.predicted, lambda key: smaller, np.arange(50)
    )
    assert one.value == -1.0
    assert one.growth == pytest.approx(growth(K))
    for once in (True, False):
        assert sum(part for part, _ in one.parts(0.3, once=once)) == 0
        assert sum(part for part, _ in one.parts(0.3, one, once=once)) == 0


@pytest.mark.parametrize("repeats", [1, 2])
def test_score_and_metrics_are_those_of_the_outer_predictions(repeats: int) -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(120, 4))
    y = (X[:, 0] + random.logistic(size=120) > 0).astype(int)
    found = search(
        X, y, [Family("bayes", GaussianNB())], task="binary", metric="accuracy", repeats=repeats
    )
    outer = found.outer
    assert outer.label is not None
    truth = y[outer.row]
    assert found.score.value == pytest.approx(np.mean(truth == outer.label), abs=1e-12)
    assert found.scores["f1"].value == pytest.approx(f1_score(truth, outer.label), abs=1e-12)
    called = truth[outer.label == 1]
    assert found.scores["precision"].value == pytest.approx(called.mean(), abs=1e-12)


def test_in_time_too_whoever_counts_the_predictions_finds_the_score() -> None:
    random = np.random.default_rng(4)
    X = random.normal(size=(230, 3))
    y = (X[:, 0] + random.logistic(size=230) > 0).astype(int)
    time = np.sort(random.integers(0, 14, 230))  # equal times stay together: blocks differ in size
    bayes = [Family("bayes", GaussianNB())]
    found = search(X, y, bayes, task="binary", metric="accuracy", time=time)
    outer = found.outer
    assert outer.label is not None
    assert len(set(np.bincount(outer.block)[outer.block])) > 1
    assert found.score.value == pytest.approx(np.mean(y[outer.row] == outer.label), abs=1e-12)
    assert found.gain.value == pytest.approx(found.score.value - found.baseline.score.value)
    assert found.score.low <= found.score.value <= found.score.high


def test_a_lead_in_every_block_is_never_called_guessing() -> None:
    gain = Interval(0.2, -0.1, 0.5, 0.95)
    score, base = Interval(0.7, 0.4, 0.9, 0.95), Interval(0.5, 0.4, 0.6, 0.95)
    question = Question.of(np.eye(4), [0, 1, 0, 1], task="binary", metric="accuracy")
    found = Estimate(score, base, gain, score)

    def results(leads: list[float]) -> list[OuterResult]:
        outers = pair_out(K).outers
        none = np.empty(0, dtype=np.int64)
        return [
            OuterResult(0, outer, none, none, 0, 0.0, Predicted(), 0.5 + lead, 0.5)
            for outer, lead in zip(outers, leads, strict=False)
        ]

    assert _within_range(question, results([0.1] * 5), found).low == pytest.approx(0.02)
    assert _within_range(question, results([0.1] * 4 + [-0.01]), found).low == -0.1
    assert _within_range(question, results([0.1] * 4), found).low == -0.1


def test_a_gain_leaves_no_more_than_the_range_above_the_baseline() -> None:
    gain = Interval(0.9, 0.2, 1.6, 0.95)
    score, base = Interval(0.8, 0.1, 1.0, 0.95), Interval(-0.1, -0.1, -0.1, 0.95)
    question = Question.of(np.eye(4), [0.0, 1.0, 2.0, 3.0], task="regression", metric="r2")
    assert _within_range(question, [], Estimate(score, base, gain, score)).high == 1.1
    error = Question.of(np.eye(4), [0.0, 1.0, 2.0, 3.0], task="regression",
                        metric="mean_absolute_error")  # fmt: skip
    base = Interval(1.2, 1.0, 1.4, 0.95)
    assert _within_range(error, [], Estimate(score, base, gain, score)).high == 1.2


def test_rows_of_a_group_that_differ_count_each() -> None:
    random = np.random.default_rng(2)
    X = random.normal(size=(300, 3))
    y = (X[:, 0] + random.logistic(size=300) > 0).astype(int)
    bayes = [Family("bayes", GaussianNB())]
    widths = []
    for groups in (None, np.repeat(np.arange(60), 5)):  # five rows that have nothing in common
        score = search(X, y, bayes, task="binary", metric="accuracy", groups=groups).score
        widths.append(score.high - score.low)
    assert widths[1] == pytest.approx(widths[0], rel=0.3)  # one row per group: 2.2 times


def test_the_plain_mean_of_the_blocks_stays_available() -> None:
    X, y = numbers()
    outcome = search(X, y, [RIDGES], task="regression", metric="r2")
    assert outcome.plain is not None
    blocks = [row.outer for row in outcome.nested if row.outer is not None]
    assert outcome.plain.value == pytest.approx(np.mean(blocks))
    assert outcome.how == "measured on predictions for all rows, by models trained on 4 of 5 blocks"


def test_what_more_rows_may_add_is_a_sentence_and_stays_in_range() -> None:
    accuracy, area = get_metric("accuracy", "binary"), get_metric("log_loss", "binary")
    assert _how(accuracy, 0.9, 0.02, 5).endswith("the score is probably about 0.02 better")
    assert _how(accuracy, 0.9, 0.3, 5).endswith("the score is probably about 0.10 better")
    for metric, growth_ in ((accuracy, -0.02), (accuracy, 0.001), (area, -0.02)):
        assert "better" not in _how(metric, 0.9, growth_, 5)


def test_gain_is_the_difference_of_the_printed_numbers() -> None:
    X, y = numbers()
    for metric in ("r2", "mean_absolute_error", "root_mean_squared_error"):
        outcome = search(X, y, [RIDGES], task="regression", metric=metric)
        sign = 1 if outcome.metric.greater_is_better else -1
        difference = sign * (outcome.score.value - outcome.baseline.score.value)
        assert outcome.gain.value == pytest.approx(difference)
        assert outcome.gain.low < outcome.gain.value < outcome.gain.high


def test_gain_over_a_baseline_that_never_varies_is_the_score_moved() -> None:
    X, y = numbers()
    bayes = Family("bayes", GaussianNB())
    outcome = search(X, (y > 0).astype(int), [bayes], task="binary", metric="roc_auc")
    assert outcome.baseline.score.low == outcome.baseline.score.high == 0.5
    assert outcome.gain.low == pytest.approx(outcome.score.low - 0.5)
    assert outcome.gain.high == pytest.approx(outcome.score.high - 0.5)


def test_gain_over_an_r2_near_zero_says_what_the_score_says() -> None:
    X, y = numbers()
    outcome = search(X, y, [RIDGES], task="regression", metric="r2")
    baseline = outcome.baseline.score.value
    assert outcome.gain.low == pytest.approx(outcome.score.low - baseline)
    assert outcome.gain.high == pytest.approx(outcome.score.high - baseline)


def test_every_usual_metric_is_told_and_the_own_one_is_the_same_number() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    y = (X[:, 0] + random.logistic(size=200) > 0).astype(int)
    outcome = search(X, y, [Family("bayes", GaussianNB())], task="binary", metric="roc_auc")
    assert outcome.scores["roc_auc"] == outcome.score
    assert {"accuracy", "recall", "specificity", "f1", "log_loss", "brier_score"} <= set(
        outcome.scores
    )
    outer = outcome.outer
    assert outer.label is not None
    assert outer.probability is not None
    truth = y[outer.row]
    near = {
        "accuracy": accuracy_score(truth, outer.label),
        "recall": recall_score(truth, outer.label),
        "specificity": recall_score(truth, outer.label, pos_label=0),
        "f1": f1_score(truth, outer.label),
        "roc_auc": roc_auc_score(truth, outer.probability[:, 1]),
    }
    for name, expected in near.items():
        found = outcome.scores[name]
        assert found.value == pytest.approx(expected, abs=0.03), name
        assert found.low < found.value < found.high, name


def test_a_chosen_model_without_probabilities_leaves_out_what_needs_them() -> None:
    X, y = numbers()
    family = Family("ridge", GaussianNBWithoutProbabilities())
    outcome = search(X, (y > 0).astype(int), [family], task="binary", metric="accuracy")
    assert "accuracy" in outcome.scores
    assert not {"log_loss", "brier_score", "roc_auc"} & set(outcome.scores)


class GaussianNBWithoutProbabilities(GaussianNB):
    """Labels only."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("predict_proba", "predict_log_proba"):
            raise AttributeError(name)
        return super().__getattribute__(name)


@pytest.mark.parametrize("options", [{"stack": True}, {"n_blocks": 3}, {"repeats": 2}])
def test_every_way_of_choosing_has_a_number_and_an_interval(options: dict[str, Any]) -> None:
    X, y = numbers()
    outcome = search(X, y, [RIDGES], task="regression", **options)
    assert outcome.score.low < outcome.score.value < outcome.score.high
    assert outcome.plain is not None
    assert abs(outcome.score.value - outcome.plain.value) < 0.3


def test_no_mistake_at_all_does_not_make_the_interval_a_point() -> None:
    X = np.repeat([[0.0], [10.0]], 30, axis=0) + np.random.default_rng(0).normal(size=(60, 1))
    y = np.repeat([0, 1], 30)
    outcome = search(X, y, [Family("bayes", GaussianNB())], task="binary", metric="accuracy")
    assert outcome.score.value == 1.0
    assert 0.9 < outcome.score.low < 0.97


@pytest.mark.parametrize("plan", ["forward", "holdout"])
def test_plans_without_pairs_print_the_mean_of_their_blocks(plan: str) -> None:
    X, y = numbers(400)
    time = np.arange(len(y)) if plan == "forward" else None
    outcome = search(X, y, [RIDGES], task="regression", plan=plan, time=time)
    assert outcome.plain == outcome.score
    blocks = [row.outer for row in outcome.nested if row.outer is not None]
    assert outcome.score.value == pytest.approx(np.mean(blocks))
    assert set(outcome.scores) == {"r2", "mean_absolute_error", "root_mean_squared_error"}
    if plan == "forward":
        assert len(blocks) == 6
        assert outcome.score == next_t(blocks, high=1.0)
        assert "for the next period" in outcome.how


def test_in_time_the_gain_is_that_of_the_mean_and_the_scores_are_for_what_follows() -> None:
    X, y = numbers(400)
    y[::50] += 40.0 * np.arange(8)  # times change
    time = np.arange(len(y))
    outcome = search(X, y, [RIDGES], task="regression", time=time, metric="mean_absolute_error")
    blocks = [-row.outer for row in outcome.nested if row.outer is not None]
    guesses = [
        -np.abs(y[40 * i : 40 * i + 40] - np.median(y[: 40 * i])).mean() for i in range(4, 10)
    ]
    ratio = float(np.mean([1 / i for i in range(4, 10)]))
    assert outcome.score == next_t([-value for value in blocks], low=0.0)
    assert outcome.baseline.score.value == pytest.approx(-np.mean(guesses))
    gain = corrected_t(np.subtract(blocks, guesses), ratio)
    assert (outcome.gain.low, outcome.gain.high) == pytest.approx((gain.low, gain.high))
    assert outcome.gain.high - outcome.gain.low < outcome.score.high - outcome.score.low


def test_rows_of_a_group_are_left_out_together() -> None:
    X, y = numbers()
    groups = np.repeat(np.arange(20), 3)
    judge = Question.of(X, y, task="regression", groups=groups)
    left_out = groups_of_rows(judge, RowPartitions(judge, pair_out(K)))
    assert np.array_equal(np.bincount(left_out), np.full(20, 3))
    for each in range(20):
        assert len(np.unique(groups[left_out == each])) == 1


def test_the_same_seed_prints_the_same_interval_for_any_number_of_workers() -> None:
    X, y = numbers()
    found = [search(X, y, [RIDGES], task="regression", n_jobs=n, repeats=2) for n in (1, 2)]
    for one, other in pairwise(found):
        assert (one.score, one.gain, one.scores) == (other.score, other.gain, other.scores)


def test_orders_are_scored_within_a_fit_and_sums_over_all_rows() -> None:
    X, y = numbers()
    regression = search(X, y, [RIDGES], task="regression").metric
    assert is_pooled(regression)
    bayes = [Family("bayes", GaussianNB())]
    assert not is_pooled(search(X, (y > 0).astype(int), bayes, task="binary").metric)
