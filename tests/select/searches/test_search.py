"""The engine against nested cross-validation written naively with scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    fbeta_score,
    get_scorer,
    make_scorer,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from assay.base import DataError, ParameterError
from assay.evaluate import corrected_t, get_metric
from assay.select import Family, make_blocks
from tests.select.asked import search
from tests.select.spies import outer_scores

X_CANCER, Y_CANCER = load_breast_cancer(return_X_y=True)
X_WINE, Y_WINE = load_wine(return_X_y=True)
X_DIABETES, Y_DIABETES = load_diabetes(return_X_y=True)


def logistic() -> Pipeline:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))


CLASSIFIERS = [
    Family("logistic", logistic(), [{"logisticregression__C": c} for c in (0.01, 0.3, 10.0)]),
    Family("bayes", GaussianNB(), [{"var_smoothing": 1e-9}, {"var_smoothing": 1e-3}]),
    Family("margin", LinearSVC(), [{"C": 0.01}], encoder=StandardScaler()),
]


def naive_nested(
    families: Sequence[Family], X: Any, y: Any, labels: NDArray[np.int64], scorer: Any
) -> tuple[list[tuple[int, int]], list[float], list[tuple[int, int]]]:
    """Nested search the long way: for each outer block, every candidate on every inner block."""
    members = [(f, i) for f, family in enumerate(families) for i in range(len(family.candidates))]

    def built(member: tuple[int, int]) -> Any:
        family = families[member[0]]
        model = clone(family.estimator).set_params(**family.candidates[member[1]])
        return model if family.encoder is None else make_pipeline(clone(family.encoder), model)

    def scored(member: tuple[int, int], train: Any, test: Any) -> float:
        with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
            warnings.simplefilter("ignore")
            return float(scorer(built(member).fit(X[train], y[train]), X[test], y[test]))

    blocks = range(int(labels.max()) + 1)
    chosen, outer, pairs = [], [], {member: [0.0] * 0 for member in members}
    for i in blocks:
        inner = {
            member: np.mean(
                [
                    scored(member, (labels != i) & (labels != j), labels == j)
                    for j in blocks
                    if j != i
                ]
            )
            for member in members
        }
        for member in members:
            pairs[member].append(float(inner[member]))
        best = max(members, key=lambda member: inner[member])
        chosen.append(best)
        outer.append(scored(best, labels != i, labels == i))
    ranking = sorted(members, key=lambda member: -np.mean(pairs[member]))
    return chosen, outer, ranking


@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss"])
def test_search_equals_naive_nested_cross_validation_on_breast_cancer(metric: str) -> None:
    families = CLASSIFIERS if metric == "roc_auc" else CLASSIFIERS[:2]
    labels = make_blocks(Y_CANCER, 5, task="binary", seed=3)
    chosen, outer, ranking = naive_nested(families, X_CANCER, Y_CANCER, labels, get_scorer(metric))
    outcome = search(X_CANCER, Y_CANCER, families, task="binary", metric=metric, seed=3)
    sign = 1 if outcome.metric.greater_is_better else -1
    for row, (family, index), expected in zip(outcome.nested, chosen, outer, strict=True):
        assert row.family == families[family].name
        assert row.params == families[family].candidates[index]
        assert row.outer == pytest.approx(sign * expected, abs=1e-9)
    assert outcome.plain is not None
    assert outcome.plain.value == pytest.approx(sign * np.mean(outer), abs=1e-9)
    board = [(row.family, row.params) for row in outcome.leaderboard]
    assert board == [(families[f].name, families[f].candidates[i]) for f, i in ranking]
    assert outcome.chosen.params == families[ranking[0][0]].candidates[ranking[0][1]]
    n = sum(len(family.candidates) for family in families)
    assert outcome.work.fits == 10 * n + 5 + 1
    assert outcome.work.naive_fits == 5 * (4 * n + 1) + 5 * n + 1


@pytest.mark.parametrize("metric", ["f1_macro", "accuracy", "roc_auc_ovo", "neg_log_loss"])
def test_search_equals_naive_nested_cross_validation_with_three_classes(metric: str) -> None:
    families = [Family("bayes", GaussianNB(), [{"var_smoothing": s} for s in (1e-9, 1e-4, 1e-2)])]
    labels = make_blocks(Y_WINE, 4, task="multiclass")
    _, outer, _ = naive_nested(families, X_WINE, Y_WINE, labels, get_scorer(metric))
    outcome = search(X_WINE, Y_WINE, families, task="multiclass", metric=metric, n_blocks=4)
    sign = 1 if outcome.metric.greater_is_better else -1
    got = outer_scores(outcome)
    np.testing.assert_allclose(got, sign * np.array(outer), rtol=0, atol=1e-9)


def test_search_equals_naive_nested_cross_validation_in_regression() -> None:
    families = [
        Family("ridge", Ridge(), [{"alpha": a} for a in (1e-3, 0.03, 1.0)], StandardScaler())
    ]
    labels = make_blocks(Y_DIABETES, 5, task="regression")
    scorer = get_scorer("neg_root_mean_squared_error")
    _, outer, _ = naive_nested(families, X_DIABETES, Y_DIABETES, labels, scorer)
    outcome = search(
        X_DIABETES, Y_DIABETES, families, task="regression", metric="root_mean_squared_error"
    )
    np.testing.assert_allclose(outer_scores(outcome), -np.array(outer), atol=1e-9)
    assert outcome.score.low < outcome.score.value < outcome.score.high


def test_any_scorer_can_choose() -> None:
    scorer = make_scorer(fbeta_score, beta=2, pos_label=0)
    families = [
        Family("tree", DecisionTreeClassifier(random_state=0), [{"max_depth": d} for d in (1, 3)])
    ]
    labels = make_blocks(Y_CANCER, 3, task="binary")
    _, outer, _ = naive_nested(families, X_CANCER, Y_CANCER, labels, scorer)
    outcome = search(X_CANCER, Y_CANCER, families, task="binary", metric=scorer, n_blocks=3)
    np.testing.assert_allclose(outer_scores(outcome), outer, atol=1e-9)
    assert outcome.quick is not None
    without = search(
        X_CANCER, Y_CANCER, families, task="binary", metric=scorer, n_blocks=3, bootstrap=False
    )
    assert without.quick is None
    assert without.score == outcome.score


def test_the_plain_score_is_the_mean_of_the_blocks_with_a_corrected_interval() -> None:
    outcome = search(
        X_CANCER, Y_CANCER, CLASSIFIERS[:2], task="binary", metric="accuracy", repeats=2
    )
    assert [row.repeat for row in outcome.nested] == [0] * 5 + [1] * 5
    labels = [make_blocks(Y_CANCER, 5, task="binary", repeat=r) for r in range(2)]
    ratio = np.mean([(part == k).sum() / (part != k).sum() for part in labels for k in range(5)])
    scores = outer_scores(outcome)
    assert outcome.plain == corrected_t(scores, float(ratio), low=0.0, high=1.0)
    trivial = []
    for part in labels:
        for k in range(5):
            dummy = DummyClassifier(strategy="prior").fit(X_CANCER[part != k], Y_CANCER[part != k])
            trivial.append(dummy.score(X_CANCER[part == k], Y_CANCER[part == k]))
    assert outcome.baseline.score.value == pytest.approx(np.mean(trivial), abs=0.001)
    assert outcome.gain.value == pytest.approx(outcome.score.value - outcome.baseline.score.value)
    assert outcome.baseline.name == "always the most frequent class"


def test_gain_of_a_loss_is_positive_when_better() -> None:
    family = Family("ridge", Ridge())
    for name, strategy in (("mean_squared_error", "mean"), ("mean_absolute_error", "median")):
        outcome = search(X_DIABETES, Y_DIABETES, [family], task="regression", metric=name)
        part = make_blocks(Y_DIABETES, 5, task="regression")
        metric = get_metric(name, "regression")
        trivial = [
            metric.natural(metric.scorer(
                DummyRegressor(strategy=strategy).fit(X_DIABETES[part != k], Y_DIABETES[part != k]),
                X_DIABETES[part == k], Y_DIABETES[part == k]))
            for k in range(5)
        ]  # fmt: skip
        assert outcome.baseline.score.value == pytest.approx(np.mean(trivial), rel=0.01)
        assert outcome.baseline.name == f"always the {strategy}"
        expected = outcome.baseline.score.value - outcome.score.value
        assert outcome.gain.value == pytest.approx(expected)
        assert outcome.gain.value > 0


def test_positive_class_may_be_code_0() -> None:
    ranking = ("decision_function", "predict_proba")
    precision = make_scorer(average_precision_score, pos_label=0, response_method=ranking)

    def run(metric: Any, positive: int) -> Any:
        return search(
            X_CANCER, Y_CANCER, CLASSIFIERS[1:2], task="binary", metric=metric, positive=positive,
            n_blocks=3,
        )  # fmt: skip

    pairs = [
        (run("f1", 0), run(make_scorer(f1_score, pos_label=0), 1)),
        (run("average_precision", 0), run(precision, 1)),
        (run("f1", 0), run(make_scorer(f1_score), 0)),
    ]
    for left, right in pairs:
        assert left.plain.value == pytest.approx(right.plain.value, abs=1e-12)
        assert [row.params for row in left.nested] == [row.params for row in right.nested]


def test_outer_predictions_cover_every_row_once_per_repeat() -> None:
    outcome = search(X_WINE, Y_WINE, [CLASSIFIERS[1]], task="multiclass", repeats=2, n_blocks=3)
    outer = outcome.outer
    for repeat in range(2):
        mine = outer.repeat == repeat
        assert sorted(outer.row[mine]) == list(range(len(Y_WINE)))
    assert outer.label is not None
    assert outer.probability is not None
    hit = outer.label == Y_WINE[outer.row]
    by_block = [
        hit[(outer.repeat == r) & (outer.block == b)].mean() for r in range(2) for b in range(3)
    ]
    assert by_block == outer_scores(outcome)
    assert outer.value is None


def test_outer_probabilities_are_missing_where_the_choice_has_none() -> None:
    outcome = search(X_WINE, Y_WINE, [CLASSIFIERS[2]], task="multiclass", n_blocks=3)
    assert outcome.outer.probability is None
    mixed = [CLASSIFIERS[1], Family("svc", SVC(C=1e-6))]
    outcome = search(X_WINE, Y_WINE, mixed, task="multiclass", n_blocks=3)
    assert outcome.outer.probability is not None


def test_ties_go_to_the_smaller_model_then_to_the_earlier_candidate() -> None:
    y = np.arange(60) % 2
    X = np.column_stack([y, np.arange(60) // 2]).astype(float)
    deep, shallow = ({"max_depth": depth, "min_samples_split": 2} for depth in (9, 1))
    tree = DecisionTreeClassifier(random_state=0)
    outcome = search(
        X, y, [Family("tree", tree, [deep, shallow])], task="binary", metric="accuracy"
    )
    assert outcome.leaderboard[0].score == outcome.leaderboard[1].score == 1.0
    assert [row.size for row in outcome.leaderboard] == [3.0, 3.0]
    assert outcome.chosen.params == deep
    noise = np.random.default_rng(0).normal(size=60)
    line = [Family("line", LogisticRegression(C=1e6), [{"l1_ratio": 0.0}, {"l1_ratio": 1.0}])]
    line = [
        Family("wide", make_pipeline(Columns([0, 1]), DecisionTreeClassifier(random_state=0))),
        Family("narrow", make_pipeline(Columns([0]), LogisticRegression(C=1e6))),
    ]
    outcome = search(np.column_stack([y, noise]), y, line, task="binary", metric="accuracy")
    assert [row.score for row in outcome.leaderboard] == [1.0, 1.0]
    assert outcome.chosen.family.name == "narrow"
    assert [row.size for row in outcome.leaderboard] == [2.0, 3.0]


class Columns(StandardScaler):
    """Keep some columns, scaled."""

    def __init__(self, keep: Any = None) -> None:
        super().__init__()
        self.keep = keep

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Columns:
        super().fit(np.asarray(X)[:, self.keep])
        return self

    def transform(self, X: Any, copy: Any = None) -> Any:
        return super().transform(np.asarray(X)[:, self.keep])


def test_result_does_not_depend_on_family_names() -> None:
    first = search(X_WINE, Y_WINE, [CLASSIFIERS[1]], task="multiclass")
    renamed = Family("other", CLASSIFIERS[1].estimator, CLASSIFIERS[1].candidates)
    second = search(X_WINE, Y_WINE, [renamed], task="multiclass")
    assert first.score == second.score


def test_seed_changes_the_blocks_and_the_same_seed_repeats_them() -> None:
    runs = [search(X_WINE, Y_WINE, CLASSIFIERS[:1], task="multiclass", seed=s) for s in (0, 0, 1)]
    assert runs[0].nested == runs[1].nested
    assert runs[0].nested != runs[2].nested


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"families": []}, "at least one family"),
        ({"families": [GaussianNB()]}, "must hold Family objects"),
        ({"task": "ranking"}, "task must be one of"),
        ({"n_blocks": 2}, "n_blocks must be an integer >= 3; got 2"),
        ({"repeats": 0}, "repeats must be an integer >= 1; got 0"),
        ({"seed": -1}, "seed must be an integer >= 0; got -1"),
        ({"backend": "dusk"}, "backend must be 'threads', 'processes' or 'dask'; got 'dusk'"),
        ({"backend": "dask"}, "scheduler must be the address of a Dask scheduler when backend="),
        ({"scheduler": "here"}, "scheduler must be the address of a Dask scheduler, such as"),
        ({"plan": "loo"}, "plan must be one of pair-out, forward, holdout or None; got 'loo'"),
        ({"plan": "forward"}, "plan 'forward' needs time"),
        ({"positive": 2}, "positive must be 0 or 1"),
        ({"metric": "r2"}, "'r2' is for regression"),
    ],
)
def test_bad_parameters_are_named(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"families": [CLASSIFIERS[1]], "task": "binary", **change}
    with pytest.raises(ParameterError, match=message):
        search(X_CANCER, Y_CANCER, **arguments)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros(5), np.zeros(5, int), "X must be a matrix of numbers; got 1 axes"),
        (np.array([["a"]] * 9), np.zeros(9, int), "matrix of numbers; got 2 axes of type <U1"),
        (np.zeros((9, 1)), np.zeros(8, int), r"one value per row of X, shape \(9,\); got \(8,\)"),
        (
            np.zeros((9, 1)),
            np.zeros(9),
            "class codes 0, 1, ... for a binary task; got type float64",
        ),
        (np.zeros((9, 1)), np.zeros(9, int), "one class only"),
        (np.zeros((9, 1)), np.arange(9) % 3, "y has 3 classes, and the task is binary"),
        (np.zeros((4, 1)), np.arange(4) % 2, "4 rows cannot be split into 5 blocks"),
    ],
)
def test_bad_data_is_explained(X: Any, y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        search(X, y, [CLASSIFIERS[1]], task="binary")


def test_class_with_too_few_rows_to_learn_from_is_named() -> None:
    y = np.zeros(30, int)
    y[:2] = 1
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(DataError, match=r"only class 'no' is left to learn from .* have 2 rows"):
        search(X, y, [CLASSIFIERS[1]], task="binary", classes=["no", "yes"])
