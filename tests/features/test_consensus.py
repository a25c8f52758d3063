"""Consensus: the toy of the source, the definition fold by fold, files, and use inside the fold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from assay.base import DataError, ParameterError, same
from assay.features import ConsensusSelector, ReliefF, consensus, consensus_nested
from assay.features._consensus_folds import stratified_folds
from assay.linear import Lasso, LogisticRegression
from assay.select import Family, NestedSearch
from assay.store import load, save
from tests.select.asked import search

Matrix = NDArray[np.float64]

#: Positive scores in three inner folds of the source's picture, and in those of other outer folds.
TOY = [
    ["QWZREFGTYU", "AEFSGDMK", "FGHJEKLP"],
    ["GFEX", "EFGY", "VEFG"],
    ["ZEFGQ", "QEFGZ", "GZQFE"],
]


def planted(n: int, seed: int = 0, columns: int = 40) -> tuple[Matrix, NDArray[np.int64]]:
    """Columns 3 and 7 tell the class."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, columns))
    return X, (X[:, 3] + X[:, 7] + 0.3 * random.normal(size=n) > 0).astype(np.int64)


class Spy(BaseEstimator):
    """Keeps columns by the sum of its rows, and leaves what it saw in a list."""

    seen: list[Matrix] = []  # noqa: RUF012

    def fit(self, X: Matrix, y: Any) -> Spy:
        assert len(X) == len(y)
        type(self).seen.append(X)
        self.kept_ = X.sum(axis=0) > 0
        return self

    def get_support(self) -> NDArray[np.bool_]:
        return np.asarray(self.kept_)


def test_consensus_of_the_sources_toy_is_efg() -> None:
    outer = ["".join(consensus(inner)) for inner in TOY]
    assert outer[0] == "EFG"
    assert outer[2] == "ZEFGQ"
    assert sorted(consensus(outer)) == ["E", "F", "G"]


@given(st.lists(st.lists(st.integers(0, 8)), min_size=1, max_size=5))
def test_consensus_is_the_intersection_in_the_order_of_the_first(kept: list[list[int]]) -> None:
    found = consensus(kept)
    assert set(found) == set.intersection(*map(set, kept))
    assert found == [item for item in dict.fromkeys(kept[0]) if item in found]


def test_selection_is_that_of_the_definition_fold_by_fold() -> None:
    X, y = planted(90, columns=12)
    model = ConsensusSelector(ReliefF(5), n_outer=3, n_inner=4, random_state=0).fit(X, y)
    Spy.seen = []
    ConsensusSelector(Spy(), n_outer=3, n_inner=4, random_state=0).fit(X, y)
    assert len(Spy.seen) == 12
    number = {row.tobytes(): i for i, row in enumerate(X)}
    whole = np.ones(12, dtype=bool)
    for at, rows in enumerate(Spy.seen):
        used = [number[row.tobytes()] for row in rows]
        kept = ReliefF(5).fit(rows, y[used]).get_support()
        assert np.array_equal(model.inner_features_[divmod(at, 4)], kept)
        whole &= kept
    assert np.array_equal(model.outer_features_, model.inner_features_.all(axis=1))
    assert np.array_equal(model.support_, whole)
    assert model.n_consensus_ == whole.sum() > 0
    assert np.array_equal(model.votes_, model.inner_features_.sum(axis=(0, 1)))


def test_inner_folds_leave_every_row_of_an_outer_fold_out_once() -> None:
    X, y = planted(60)
    Spy.seen = []
    ConsensusSelector(Spy(), n_outer=3, n_inner=4, random_state=0).fit(X, y)
    counts = np.array(
        [[row in set(map(bytes, part)) for row in map(bytes, X)] for part in Spy.seen]
    )
    by_outer = counts.reshape(3, 4, 60).sum(axis=1)
    # In an outer fold's training set: seen by three of four inner folds; outside it: by none.
    assert set(np.unique(by_outer).tolist()) == {0, 3}
    assert np.array_equal((by_outer == 0).sum(axis=0), np.ones(60))


def test_scores_are_the_mean_over_the_folds() -> None:
    X, y = planted(90, columns=8)
    Spy.seen = []
    ConsensusSelector(Spy(), n_outer=2, n_inner=2, random_state=0).fit(X, y)
    number = {row.tobytes(): i for i, row in enumerate(X)}
    rows = [[number[row.tobytes()] for row in part] for part in Spy.seen]
    scores = np.mean([ReliefF(4).fit(X[part], y[part]).scores_ for part in rows], axis=0)
    model = ConsensusSelector(ReliefF(4), n_outer=2, n_inner=2, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.scores_, scores, atol=1e-12)


def test_planted_columns_are_found_and_one_fold_alone_keeps_far_more() -> None:
    X, y = planted(300, columns=100)
    model = ConsensusSelector(random_state=0).fit(X, y)
    assert {3, 7} <= set(model.get_support(indices=True).tolist())
    assert model.support_.sum() < 12
    assert model.inner_features_.sum(axis=2).min() > 30


def test_an_exclusive_or_and_a_product_are_found() -> None:
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(300, 20))
    classes = ConsensusSelector(random_state=0).fit(X, X[:, 2] * X[:, 5] > 0)
    numbers = ConsensusSelector(random_state=0).fit(X, X[:, 2] * X[:, 5])
    assert {2, 5} <= set(classes.get_support(indices=True).tolist())
    assert {2, 5} <= set(numbers.get_support(indices=True).tolist())


def test_a_number_target_stays_one_in_folds_where_it_looks_like_classes() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 5))
    y = np.round(X[:, 0])
    y[7] = 1.5  # without this row all are whole numbers
    model = ConsensusSelector(n_outer=3, n_inner=3, random_state=0).fit(X, y)
    Spy.seen = []
    ConsensusSelector(Spy(), n_outer=3, n_inner=3, random_state=0).fit(X, y)
    number = {row.tobytes(): i for i, row in enumerate(X)}
    rows = [number[row.tobytes()] for row in Spy.seen[0]]
    k = int(0.154 * (len(rows) - 1))
    kept = ReliefF(k, task="regression").fit(X[rows], y[rows]).get_support()
    assert np.array_equal(model.inner_features_[0, 0], kept)


@given(seed=st.integers(0, 500), n_folds=st.integers(2, 6), n_rows=st.integers(6, 40))
def test_folds_have_their_share_of_every_class(seed: int, n_folds: int, n_rows: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 3, size=n_rows)
    folds = stratified_folds(codes, n_folds, (seed,))
    assert np.ptp(np.bincount(folds, minlength=n_folds)) <= 1
    for code in range(3):
        assert np.ptp(np.bincount(folds[codes == code], minlength=n_folds)) <= 2


@given(seed=st.integers(0, 200))
def test_column_order_and_labels_change_nothing(seed: int) -> None:
    X, y = planted(40, seed, columns=8)
    order = np.random.default_rng(seed).permutation(8)
    model = ConsensusSelector(ReliefF(3), n_outer=2, n_inner=2, random_state=0)
    one = clone(model).fit(X, y)
    two = clone(model).fit(X[:, order], np.array(["a", "b"])[y])
    assert np.array_equal(one.inner_features_[:, :, order], two.inner_features_)


def test_threads_change_no_bit_and_seeds_do() -> None:
    X, y = planted(80)
    model = ConsensusSelector(random_state=0).fit(X, y)
    assert same(model, ConsensusSelector(n_jobs=2, random_state=0).fit(X, y))
    other = ConsensusSelector(random_state=1).fit(X, y)
    assert not np.array_equal(model.inner_features_, other.inner_features_)


def test_rows_of_weight_zero_are_as_if_they_were_not_there() -> None:
    X, y = planted(90)
    weight = (np.arange(90) % 3 > 0).astype(float)
    model = ConsensusSelector(random_state=0)
    with_zeros = clone(model).fit(X, y, sample_weight=weight)
    without = clone(model).fit(X[weight > 0], y[weight > 0])
    assert np.array_equal(with_zeros.inner_features_, without.inner_features_)


def test_nominal_and_missing_values_are_taken_as_relief_takes_them() -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(200, 3)), columns=["a", "b", "c"])
    frame["colour"] = random.choice(["red", "blue", "green"], size=200)
    frame.loc[::7, "b"] = np.nan
    y = np.where(frame["colour"] == "red", "yes", "no")
    model = ConsensusSelector(random_state=0).fit(frame, y)
    assert model.get_feature_names_out().tolist() == ["colour"]
    assert model.transform(frame).columns.tolist() == ["colour"]
    polars = pl.from_pandas(frame)
    again = ConsensusSelector(random_state=0).fit(polars, y)
    assert isinstance(again.transform(polars), pl.DataFrame)
    assert np.array_equal(model.inner_features_, again.inner_features_)


def test_other_selectors_agree_too() -> None:
    X, y = planted(120)
    lasso = SelectFromModel(LogisticRegression(C=1.0, l1_ratio=1.0), threshold=1e-12)
    for selector in (lasso, SelectKBest(k=8)):
        model = ConsensusSelector(selector, n_outer=3, n_inner=3, random_state=0).fit(X, y)
        assert {3, 7} <= set(model.get_support(indices=True).tolist())


def test_without_a_consensus_the_columns_of_most_votes_are_kept() -> None:
    random = np.random.default_rng(3)
    X, y = random.normal(size=(60, 5)), random.integers(0, 2, size=60)
    model = ConsensusSelector(SelectKBest(k=1), min_features=2, random_state=0).fit(X, y)
    assert model.n_consensus_ == 0
    assert model.support_.sum() == 2
    assert model.votes_[model.support_].min() >= model.votes_[~model.support_].max()


def test_the_best_scores_decide_among_equal_votes() -> None:
    class Nothing(ReliefF):
        def get_support(self, indices: bool = False) -> NDArray[Any]:
            return np.zeros(self.n_features_in_, dtype=np.int64 if indices else np.bool_)

    X, y = planted(90, columns=10)
    model = ConsensusSelector(Nothing(5), min_features=2, random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == sorted(np.argsort(-model.scores_)[:2])


def test_it_is_fitted_inside_the_fold_of_a_nested_search() -> None:
    # On noise, a selection outside the folds finds columns that look good on any of them.
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 1000)), np.arange(80) % 2
    selector = ConsensusSelector(SelectKBest(k=30), n_inner=4, min_features=10, random_state=0)
    inside = NestedSearch(make_pipeline(selector, GaussianNB())).fit(X, y)
    outside = NestedSearch(GaussianNB()).fit(clone(selector).fit_transform(X, y), y)
    assert inside.score_.value < 0.6
    assert outside.score_.value > 0.75


def test_it_is_an_encoder_of_a_family() -> None:
    X, y = planted(150)
    encoder = ConsensusSelector(n_outer=2, n_inner=2)
    chosen = Family("on the consensus", GaussianNB(), encoder=encoder)
    outcome = search(X, y, [Family("on all", GaussianNB()), chosen], task="binary")
    assert outcome.chosen.family.name == "on the consensus"
    assert not [row for row in outcome.leaderboard if row.failed]


def test_model_file_holds_the_selector_and_refuses_a_forged_one(tmp_path: Path) -> None:
    X, y = planted(80)
    model = ConsensusSelector(ReliefF(4), random_state=0).fit(X, y)
    save(tmp_path / "consensus.assay", {}, {"model": model})
    assert same(model, load(tmp_path / "consensus.assay")[1]["model"])
    forged = {**model.state(), "support_": ~model.support_}
    with pytest.raises(DataError, match="support_ is not the consensus of the folds"):
        ConsensusSelector.from_state(model.get_params(deep=False), forged)
    with pytest.raises(DataError, match="inner_features_ has shape"):
        ConsensusSelector.from_state({"n_outer": 4}, model.state())


def test_the_whole_procedure_trains_once_on_the_consensus_and_validates_on_other_rows() -> None:
    X, y = planted(300)
    study = consensus_nested(X, y, GaussianNB())
    assert (study.n_train, study.n_validation) == (225, 75)
    again = ConsensusSelector(random_state=study.model[0].random_state)
    fresh, truth = planted(4000, seed=1)
    assert study.score == pytest.approx(study.model.score(fresh, truth), abs=0.08)
    given_rows = consensus_nested(X, y, GaussianNB(), validation=(fresh, truth))
    assert given_rows.score == given_rows.model.score(fresh, truth)
    assert given_rows.features.tolist() == again.fit(X, y).get_feature_names_out().tolist()
    kept = given_rows.model[0].get_support()
    assert np.array_equal(given_rows.model[1].theta_, GaussianNB().fit(X[:, kept], y).theta_)
    assert given_rows.gap == given_rows.train_score - given_rows.score


# With larger shares, folds of one or two rows are left, on which scikit-learn's F test warns.
@given(share=st.floats(0.05, 0.6), seed=st.integers(0, 99))
def test_rows_set_aside_are_a_stratified_share(share: float, seed: int) -> None:
    y = np.repeat([0, 1, 2], [40, 30, 20])
    X = np.arange(90, dtype=float)[:, None]
    fast = ConsensusSelector(SelectKBest(k=1), n_outer=2, n_inner=2)
    study = consensus_nested(X, y, GaussianNB(), selector=fast, validation=share, random_state=seed)
    assert study.n_validation == pytest.approx(90 * share, abs=1)
    assert study.n_train + study.n_validation == 90


def test_procedure_takes_frames_and_numbers() -> None:
    X, _ = planted(200, columns=8)
    frame = pl.DataFrame(X, schema=[*"abcdefgh"])
    study = consensus_nested(frame, X[:, 3] + 0.1 * X[:, 0], Lasso(alpha=0.01), scoring="r2")
    assert "d" in study.features.tolist()
    assert study.score > 0.9


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_outer": 1}, "n_outer must be an integer >= 2; got 1"),
        ({"n_inner": 2.5}, "n_inner must be an integer >= 2; got 2.5"),
        ({"min_features": 0}, "min_features must be an integer >= 1; got 0"),
        ({"selector": ReliefF}, "selector must be None or an object with fit and get_support"),
    ],
)
def test_consensus_selector_rejects_bad_parameters(params: dict[str, Any], message: str) -> None:
    X, y = planted(40)
    with pytest.raises(ParameterError, match=message):
        ConsensusSelector(**params).fit(X, y)


def test_too_few_rows_and_lone_classes_are_told() -> None:
    X, y = planted(40)
    with pytest.raises(DataError, match=r"6 rows \(n_samples = 6\) are too few for 5 outer folds"):
        ConsensusSelector().fit(X[:6], y[:6])
    lone = np.zeros(40, dtype=int)
    lone[5] = 1
    with pytest.raises(DataError, match=r"one class only.*outside outer fold \d, inner fold \d"):
        ConsensusSelector(random_state=0).fit(X, lone)
    with pytest.raises(DataError, match="sample_weight cannot be used: SelectKBest takes none"):
        ConsensusSelector(SelectKBest(k=1)).fit(X, y, sample_weight=np.ones(40))
    with pytest.raises(ParameterError, match="kept must hold at least one fold; got none"):
        consensus([])


def test_procedure_rejects_what_it_cannot_use() -> None:
    X, y = planted(40)
    with pytest.raises(ParameterError, match="estimator must be an estimator object"):
        consensus_nested(X, y, GaussianNB)
    with pytest.raises(ParameterError, match="selector must be None or a ConsensusSelector"):
        consensus_nested(X, y, GaussianNB(), selector=ReliefF())
    with pytest.raises(ParameterError, match="validation must be a fraction or a pair"):
        consensus_nested(X, y, GaussianNB(), validation=(X, y, y))  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"3 rows are too few to set 0.01 of them aside"):
        consensus_nested(X[:3], y[:3], GaussianNB(), validation=0.01)
