"""PairwiseRanker: pairs as a double loop makes them, scores that recover the order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from assay import store
from assay.base import DataError, ParameterError, StateError, same
from assay.evaluate import Queries, mean_auc, omega_loss
from assay.ranking import PairwiseRanker
from assay.ranking._preference import Preference
from assay.tree import DecisionTreeClassifier

Floats = NDArray[np.float64]


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it was fitted on."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Recorder:
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        self.seen_ = (X, y, sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        return np.ones(len(X))


def made(
    seed: int = 0, n_queries: int = 15, levels: int = 4
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Queries of 2 to 12 items; relevance follows a line, with an offset for each query."""
    random = np.random.default_rng(seed)
    qid = random.permutation(np.repeat(np.arange(n_queries), random.integers(2, 13, n_queries)))
    X = random.normal(size=(len(qid), 3))
    strength = X @ [1.0, -2.0, 0.0] + 0.3 * random.normal(size=len(qid))
    X += 10 * random.normal(size=(n_queries, 3))[qid]
    return X, np.clip(np.floor(strength + levels / 2), 0, levels - 1), qid


@pytest.mark.parametrize("features", ["difference", "greater"])
@pytest.mark.parametrize(
    "weights", [None, "distance", "top_k", "discount", lambda i, j: abs(i - j)]
)
def test_pairs_and_weights_are_those_of_a_double_loop(features: str, weights: Any) -> None:
    X, y, qid = made()
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    model = PairwiseRanker(Recorder(), features=features, weights=weights, k=2, pairs="all")
    pairs, labels, given_weight = model.fit(X, y, weight, qid).estimator_.seen_
    expected = []
    here = weight > 0
    for a in np.flatnonzero(here):
        for b in np.flatnonzero(here):
            if qid[a] == qid[b] and y[a] != y[b]:
                mates = y[here & (qid == qid[a])]
                i, j = (1 + int((mates > y[item]).sum()) for item in (a, b))
                price = {
                    "distance": abs(i - j),
                    "top_k": float(min(i, j) <= 2),
                    "discount": abs(1 / np.log2(1 + i) - 1 / np.log2(1 + j)),
                }.get(weights, 1.0 if weights is None else abs(i - j))
                row = X[a] - X[b] if features == "difference" else 1.0 * (X[a] > X[b])
                if price:
                    expected.append([*row, np.sign(y[a] - y[b]), price * weight[a] * weight[b]])
    found = np.column_stack([pairs, labels, given_weight])
    assert np.allclose(np.array(sorted(expected)), np.array(sorted(found.tolist())))
    assert model.n_pairs_ == len(expected) // 2


@pytest.mark.parametrize("base", [None, LogisticRegression(), Perceptron(), SGDClassifier()])
def test_linear_scores_give_the_order_of_the_score_recovery(base: Any) -> None:
    X, y, qid = made(1)
    model = PairwiseRanker(base, random_state=0).fit(X, y, qid=qid)
    assert len(model.score_coef_) == 3
    assert np.allclose(model.predict(X), X @ np.ravel(model.estimator_.coef_))
    recovered = Preference(model.estimator_, "difference", "soft").mean(
        X, Queries.of(qid, len(qid))
    )
    assert np.array_equal(model.rank(X, qid), np.lexsort((-recovered, qid)))


def test_recovered_scores_are_those_of_a_double_loop() -> None:
    X, y, qid = made(2)
    model = PairwiseRanker(GaussianNB()).fit(X, y, qid=qid)
    assert not len(model.score_coef_)
    label = np.zeros(len(X))
    for i in range(len(X)):
        for j in range(len(X)):
            if i != j and qid[i] == qid[j]:
                said = 2 * model.estimator_.predict_proba([X[i] - X[j]])[0, 1] - 1
                label[i] += said
                label[j] -= said
    mates = np.array([(qid == query).sum() - 1 for query in qid])
    assert np.allclose(model.predict(X, qid), label / 2 / mates)


@pytest.mark.parametrize(
    "base",
    [
        GaussianNB(),
        DecisionTreeClassifier(max_depth=4),
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
)
@pytest.mark.parametrize("features", ["difference", "greater"])
@pytest.mark.parametrize("vote", ["soft", "hard"])
def test_any_classifier_learns_the_order(base: Any, features: str, vote: str) -> None:
    X, y, qid = made(3, n_queries=60)
    train = qid < 40
    model = PairwiseRanker(base, features=features, vote=vote).fit(
        X[train], y[train], qid=qid[train]
    )
    assert model.score(X[~train], y[~train], qid[~train]) > 0.75


def test_score_is_one_minus_the_normalised_loss_and_the_auc_of_bipartite_ranking() -> None:
    X, y, qid = made(4, levels=2)
    model = PairwiseRanker(GaussianNB()).fit(X, y, qid=qid)
    scores = model.predict(X, qid)
    assert model.score(X, y, qid) == 1 - omega_loss(y, scores, qid, normalize=True)
    assert model.score(X, y, qid) == pytest.approx(mean_auc(y, scores, qid))


def test_bipartite_ranking_of_one_query_needs_no_groups() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 2))
    relevant = X[:, 0] + X[:, 1] > 0.5
    model = PairwiseRanker().fit(X, relevant)
    assert model.score(X, relevant) == mean_auc(relevant, model.predict(X)) == 1.0
    assert model.n_queries_ == 1


@given(seed=st.integers(0, 20))
def test_model_does_not_depend_on_the_order_of_rows_or_on_the_names_of_queries(seed: int) -> None:
    X, y, qid = made(5, n_queries=6)
    model = PairwiseRanker(GaussianNB()).fit(X, y, qid=qid)
    by = np.random.default_rng(seed).permutation(len(y))
    names = np.array(["q" + str(9 - query) for query in qid])
    other = PairwiseRanker(GaussianNB()).fit(X[by], y[by], qid=names[by])
    expected = model.predict(X, qid)[by]
    assert np.allclose(other.predict(X[by], names[by]), expected)


def test_model_follows_only_the_order_of_y_inside_a_query() -> None:
    X, y, qid = made(6)
    other = np.exp(y) + 100.0 * qid
    a, b = (PairwiseRanker(random_state=0).fit(X, target, qid=qid) for target in (y, other))
    assert np.array_equal(a.predict(X), b.predict(X))


def test_offsets_of_queries_do_not_matter_to_differences() -> None:
    X, y, qid = made(7)
    moved = X + np.random.default_rng(0).integers(-4, 5, size=(qid.max() + 1, 3))[qid]
    a = PairwiseRanker(DecisionTreeClassifier(max_depth=3)).fit(X, y, qid=qid)
    b = PairwiseRanker(DecisionTreeClassifier(max_depth=3)).fit(moved, y, qid=qid)
    assert np.mean(a.rank(X, qid) == b.rank(moved, qid)) > 0.95  # but for rounding


def test_weights_of_items_count_as_copies() -> None:
    X, y, qid = made(8)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    weighted = PairwiseRanker(GaussianNB()).fit(X, y, weight, qid)
    repeated = PairwiseRanker(GaussianNB()).fit(X[copies], y[copies], qid=qid[copies])
    assert np.allclose(weighted.predict(X, qid), repeated.predict(X, qid))


def test_drawn_pairs_follow_the_seed() -> None:
    X, y, qid = made(9)
    models = [PairwiseRanker(pairs=5, random_state=seed).fit(X, y, qid=qid) for seed in (1, 1, 2)]
    assert models[0].n_pairs_ <= 5 * models[0].n_queries_
    assert same(models[0], models[1])
    assert not np.array_equal(models[0].predict(X), models[2].predict(X))


def test_auto_takes_all_pairs_of_a_small_table() -> None:
    X, y, qid = made(10)
    auto, every = (PairwiseRanker(pairs=pairs).fit(X, y, qid=qid) for pairs in ("auto", "all"))
    assert auto.n_pairs_ == every.n_pairs_


def test_queries_without_a_pair_are_counted_and_change_nothing() -> None:
    X, y, qid = made(11)
    idle = PairwiseRanker(random_state=0).fit(
        np.vstack([X, np.ones((3, 3))]), [*y, 1, 2, 2], qid=[*qid, 90, 91, 91]
    )
    model = PairwiseRanker(random_state=0).fit(X, y, qid=qid)
    assert (idle.n_queries_, idle.n_idle_queries_) == (
        model.n_queries_ + 2,
        model.n_idle_queries_ + 2,
    )
    assert np.array_equal(idle.predict(X), model.predict(X))


def test_an_item_alone_scores_zero() -> None:
    X, y, qid = made(12)
    model = PairwiseRanker(GaussianNB()).fit(X, y, qid=qid)
    assert model.predict(X[:2], [1, 2]).tolist() == [0, 0]


def test_columns_named_coef_that_are_of_something_else_are_not_taken_for_a_score() -> None:
    class Curved(LogisticRegression):
        def decision_function(self, X: Any) -> Any:
            return super().decision_function(X) ** 3

    X, y, qid = made(13)
    assert not len(PairwiseRanker(Curved()).fit(X, y, qid=qid).score_coef_)
    assert not len(
        PairwiseRanker(LogisticRegression(), features="greater").fit(X, y, qid=qid).score_coef_
    )


def test_dataframes_and_series_of_queries_are_taken() -> None:
    X, y, qid = made(14)
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    model = PairwiseRanker(random_state=0).fit(frame, pl.Series(y), qid=pl.Series(qid))
    expected = PairwiseRanker(random_state=0).fit(X, y, qid=qid).predict(X)
    assert np.array_equal(model.predict(frame, pl.Series(qid)), expected)


def test_prediction_in_blocks_is_the_prediction_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, qid = made(15)
    model = PairwiseRanker(GaussianNB()).fit(X, y, qid=qid)
    expected = model.predict(X, qid)
    monkeypatch.setattr(Preference, "block", lambda self, rows: 7)
    assert np.allclose(model.predict(X, qid), expected, rtol=0, atol=1e-15)


def test_model_file_holds_a_ranker(tmp_path: Path) -> None:
    X, y, qid = made(16)
    for base in (None, DecisionTreeClassifier(max_depth=3)):
        model = PairwiseRanker(base, random_state=0).fit(X, y, qid=qid)
        store.save(tmp_path / "ranker.assay", {}, {"model": model})
        again = store.load(tmp_path / "ranker.assay")[1]["model"]
        assert np.array_equal(again.predict(X, qid), model.predict(X, qid))


def test_a_function_as_weight_cannot_be_saved_and_says_so() -> None:
    X, y, qid = made(17)
    model = PairwiseRanker(weights=lambda i, j: abs(i - j)).fit(X, y, qid=qid)
    with pytest.raises(StateError, match="parameter weights is the function"):
        model.state()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score_coef_": np.ones(2)}, "score_coef_ has shape"),
        ({"score_coef_": np.array([np.nan, 1, 2])}, "not finite"),
        ({"n_pairs_": 0}, "n_pairs_ is 0 and must be an integer >= 1"),
        ({"estimator_": LogisticRegression()}, "is not fitted"),
        ({"n_features_in_": 5}, "has 3 columns, not 5"),
    ],
)
def test_a_damaged_state_is_refused(change: dict[str, Any], message: str) -> None:
    X, y, qid = made(18)
    model = PairwiseRanker(random_state=0).fit(X, y, qid=qid)
    with pytest.raises(DataError, match=message):
        PairwiseRanker.from_state(model.get_params(deep=False), {**model.state(), **change})
    other = clone(model.estimator_).fit(X, qid > 3)
    with pytest.raises(DataError, match="estimator_ does not have the classes -1 and 1"):
        PairwiseRanker.from_state(
            model.get_params(deep=False), {**model.state(), "estimator_": other}
        )


@pytest.mark.parametrize(
    ("y", "qid", "message"),
    [
        ([1, 2, 3], [1, 2, 3], "each of the 3 queries has one item: nothing can be compared"),
        ([1, 1, 1], None, "y is 1 in every row: no item is better than another"),
        ([1, 1, 2], [1, 1, 2], "none of the 2 queries has two items of different y"),
        ([1, 2, 3], [1, 1], r"qid must name one query per row, shape \(3,\); got \(2,\)"),
        ([1, 2, 3], [1, 1, np.nan], "qid is missing in row 2"),
        (["bad", "good", "ok"], None, "y must hold numbers, greater is better; got 'bad' in row 0"),
        ([1, np.nan, 3], None, "NaN"),
    ],
)
def test_tables_that_cannot_be_ranked_are_refused(y: Any, qid: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        PairwiseRanker().fit(np.eye(3), y, qid=qid)


def test_missing_values_are_refused() -> None:
    with pytest.raises(DataError, match="X contains NaN in row 1, column 0: PairwiseRanker takes"):
        PairwiseRanker().fit([[1.0], [np.nan]], [1, 2])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimator": StandardScaler()}, "estimator must be None or a classifier; got Standard"),
        ({"estimator": GaussianNB}, "estimator must be None or a classifier; got <class"),
        ({"features": "sum"}, "features must be 'difference' or 'greater'; got 'sum'"),
        ({"pairs": 0}, "pairs must be an integer >= 1, 'auto' or 'all'; got 0"),
        ({"weights": "rank"}, "weights must be 'misordered', 'distance', .*; got 'rank'"),
        ({"weights": "top_k", "k": 0}, "k must be an integer >= 1; got 0"),
        ({"vote": "loud"}, "vote must be 'soft' or 'hard'; got 'loud'"),
        ({"weights": lambda i, j: (i - j) ** 2}, "triangle inequality at positions 1, 2, 3"),
        (
            {"estimator": KNeighborsClassifier(), "weights": "distance"},
            "estimator must take sample_weight, since the pairs have different weights",
        ),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        PairwiseRanker(**params).fit(np.eye(4), [1, 2, 3, 4])
