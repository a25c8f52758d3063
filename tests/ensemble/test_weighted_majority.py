"""Weighted majority: the algorithm to the letter, and its bounds for every sequence there is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from assay import store
from assay.base import DataError, ParameterError, same
from assay.ensemble import WeightedMajority
from assay.ensemble._streams import uniforms

IRIS, SPECIES = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]

sequences = st.integers(1, 5).flatmap(
    lambda k: st.lists(
        st.tuples(st.lists(st.integers(0, 2), min_size=k, max_size=k), st.integers(0, 2)),
        min_size=1,
        max_size=60,
    )
)
betas = st.floats(0.01, 0.99)
ROUNDING = 1e-9


def _arrays(rounds: list[tuple[list[int], int]]) -> tuple[Any, Any]:
    return np.array([advice for advice, _ in rounds]), np.array([outcome for _, outcome in rounds])


def _by_the_book(advice: Any, outcomes: Any, beta: float) -> tuple[int, float, list[float]]:
    """One round after the other, weights multiplied, as in the paper."""
    weights = [1.0] * advice.shape[1]
    mistakes, expected = 0, 0.0
    for said, outcome in zip(advice.tolist(), outcomes.tolist(), strict=True):
        votes = [0.0, 0.0, 0.0]
        for expert, label in enumerate(said):
            votes[label] += weights[expert]
        top = max(votes)
        mistakes += votes.index(top) != outcome
        wrong = sum(w for w, label in zip(weights, said, strict=True) if label != outcome)
        expected += wrong / sum(weights)
        weights = [
            w * (beta if label != outcome else 1.0) for w, label in zip(weights, said, strict=True)
        ]
    return mistakes, expected, [w / sum(weights) for w in weights]


@given(sequences)
def test_weights_and_mistakes_are_by_the_book(rounds: list[tuple[list[int], int]]) -> None:
    advice, outcomes = _arrays(rounds)
    model = WeightedMajority(beta=0.5).partial_fit(advice, outcomes, classes=[0, 1, 2])
    mistakes, expected, weights = _by_the_book(advice, outcomes, 0.5)  # powers of 2 are exact
    assert model.mistakes_ == mistakes
    assert math.isclose(model.expected_mistakes_, expected, rel_tol=1e-12)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-12)
    assert model.expert_mistakes_.tolist() == (advice != outcomes[:, None]).sum(axis=0).tolist()


@given(sequences, betas)
def test_mistakes_never_exceed_the_bound(rounds: list[tuple[list[int], int]], beta: float) -> None:
    advice, outcomes = _arrays(rounds)
    model = WeightedMajority(beta=beta).partial_fit(advice, outcomes, classes=[0, 1, 2])
    least, k = (advice != outcomes[:, None]).sum(axis=0).min(), advice.shape[1]
    bound = (least * math.log(1 / beta) + math.log(k)) / math.log(2 / (1 + beta))
    assert math.isclose(model.mistake_bound_, bound, rel_tol=1e-12, abs_tol=1e-12)
    assert math.isclose(model.regret_bound_, bound - least, rel_tol=1e-9, abs_tol=1e-9)
    assert model.mistakes_ <= bound + ROUNDING


@given(sequences, betas)
def test_expected_mistakes_never_exceed_the_bound(
    rounds: list[tuple[list[int], int]], beta: float
) -> None:
    advice, outcomes = _arrays(rounds)
    model = WeightedMajority(beta=beta, randomized=True)
    model.partial_fit(advice, outcomes, classes=[0, 1, 2])
    least, k = (advice != outcomes[:, None]).sum(axis=0).min(), advice.shape[1]
    bound = (least * math.log(1 / beta) + math.log(k)) / (1 - beta)
    assert math.isclose(model.mistake_bound_, bound, rel_tol=1e-12, abs_tol=1e-12)
    assert model.expected_mistakes_ <= bound + ROUNDING


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=40), betas
)
def test_adversary_who_knows_the_weights_cannot_break_the_bound(
    advice: list[list[int]], beta: float
) -> None:
    model = WeightedMajority(beta=beta)
    for said in advice:
        row = np.array([said])
        if not hasattr(model, "n_rounds_"):
            outcome = (said[0] + 1) % 3
            model.partial_fit(row, [outcome], classes=[0, 1, 2])
        else:
            # Always a label that is not predicted, among these the heaviest.
            shares = model.predict_proba(row)[0]
            shares[model.predict(row)[0]] = -1.0
            model.partial_fit(row, [int(shares.argmax())])
    assert model.mistakes_ >= len(advice) - 1
    assert model.mistakes_ <= model.mistake_bound_ + ROUNDING


@given(sequences, st.integers(0, 60), st.booleans())
def test_batches_change_no_bit(
    rounds: list[tuple[list[int], int]], cut: int, randomized: bool
) -> None:
    advice, outcomes = _arrays(rounds)
    whole = WeightedMajority(beta=0.7, randomized=randomized, random_state=3)
    whole.partial_fit(advice, outcomes, classes=[0, 1, 2])
    parts = WeightedMajority(beta=0.7, randomized=randomized, random_state=3)
    for piece in (slice(0, cut), slice(cut, None)):
        if len(advice[piece]):
            parts.partial_fit(advice[piece], outcomes[piece], classes=[0, 1, 2])
    assert same(whole, parts)


def test_nothing_underflows_in_a_million_rounds() -> None:
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 1_000_000)
    chances = np.array([0.499, 0.5, 0.9])
    wrong = rng.random((1_000_000, 3)) < chances
    advice = np.where(wrong, 1 - outcomes[:, None], outcomes[:, None])
    model = WeightedMajority(beta=0.9).fit(advice, outcomes)
    assert model.log_weights_.max() < -40_000  # exp of it is 0 in floating point
    assert math.isclose(model.weights_.sum(), 1.0)
    assert np.isfinite(model.weights_).all()
    assert model.weights_.argmax() == model.expert_mistakes_.argmin()
    assert model.mistakes_ <= model.mistake_bound_
    assert model.expected_mistakes_ <= model.n_rounds_ == 1_000_000


def test_draws_follow_the_weights() -> None:
    outcomes = np.array([0] * 6)
    advice = np.column_stack([np.zeros(6), np.array([1, 1, 0, 0, 0, 0])]).astype(int)
    model = WeightedMajority(beta=0.5, randomized=True, random_state=0)
    model.partial_fit(advice, outcomes, classes=[0, 1])
    assert model.weights_.tolist() == [0.8, 0.2]
    drawn = model.predict(np.tile([0, 1], (20_000, 1)))
    assert abs(drawn.mean() - 0.2) < 0.01
    assert drawn.tolist() == model.predict(np.tile([0, 1], (20_000, 1))).tolist()


def test_mistakes_of_the_draws_are_near_their_expectation() -> None:
    rng = np.random.default_rng(1)
    outcomes = rng.integers(0, 2, 20_000)
    advice = np.where(rng.random((20_000, 4)) < 0.4, 1 - outcomes[:, None], outcomes[:, None])
    model = WeightedMajority(beta=0.99, randomized=True, random_state=0).fit(advice, outcomes)
    assert abs(model.mistakes_ - model.expected_mistakes_) < 4 * math.sqrt(20_000) / 2


def test_stream_is_uniform_and_known_by_position() -> None:
    numbers = uniforms(5, 0, 100_000)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert np.abs(np.histogram(numbers, bins=20, range=(0, 1))[0] - 5000).max() < 350
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.01
    assert abs(np.corrcoef(numbers, uniforms(6, 0, 100_000))[0, 1]) < 0.01


# ------------------------------------------------------------------ experts


def test_fitted_classifiers_are_experts() -> None:
    bayes = GaussianNB().fit(IRIS[::2], WORDS[::2])
    stubborn = GaussianNB().fit(IRIS[:99], WORDS[:99])  # has never seen the third species
    model = WeightedMajority([("bayes", bayes), ("stubborn", stubborn)]).fit(IRIS, WORDS)
    advice = np.column_stack([bayes.predict(IRIS), stubborn.predict(IRIS)])
    by_columns = WeightedMajority().fit(advice, WORDS)
    assert model.expert_mistakes_.tolist() == by_columns.expert_mistakes_.tolist()
    assert model.mistakes_ == by_columns.mistakes_
    assert model.predict(IRIS).tolist() == bayes.predict(IRIS).tolist()
    assert model.experts_[0] is bayes


def test_frozen_experts_survive_a_clone() -> None:
    frozen = [("bayes", FrozenEstimator(GaussianNB().fit(IRIS, WORDS)))]
    model = clone(WeightedMajority(frozen)).fit(IRIS, WORDS)
    assert isinstance(model.experts_[0], GaussianNB)


def test_experts_come_back_from_a_file(tmp_path: Any) -> None:
    model = WeightedMajority(
        [("a", GaussianNB().fit(IRIS, WORDS)), ("b", GaussianNB().fit(IRIS[:99], WORDS[:99]))],
        randomized=True,
        random_state=0,
    ).fit(IRIS, WORDS)
    store.save(tmp_path / "m.assay", {}, {"model": model})
    again = store.load(tmp_path / "m.assay")[1]["model"]
    assert same(model, again)
    assert again.predict(IRIS).tolist() == model.predict(IRIS).tolist()
    more = [loaded.partial_fit(IRIS, WORDS).digest() for loaded in (model, again)]
    assert more[0] == more[1]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_advice_may_be_words_in_a_dataframe(frame: Any) -> None:
    table = frame({"x": ["no", "yes", "yes", "?"], "y": ["no", "no", "yes", "yes"]})
    model = WeightedMajority().fit(table, ["no", "yes", "yes", "yes"])
    assert model.expert_mistakes_.tolist() == [1, 1]  # "?" is no class, so a mistake
    assert model.outcome_counts_.tolist() == [1, 3]
    assert model.predict(table).tolist() == ["no", "no", "yes", "yes"]


def test_row_without_a_class_gets_equal_shares() -> None:
    model = WeightedMajority().fit([[0, 1], [1, 1]], [0, 1])
    assert model.predict_proba([[7, 8]]).tolist() == [[0.5, 0.5]]
    assert model.predict_proba([[0, 7]]).tolist() == [[1.0, 0.0]]


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"beta": 1.0}, "beta must be a number in (0, 1); got 1.0"),
        ({"beta": 0}, "beta must be a number in (0, 1); got 0"),
        ({"randomized": "yes"}, "randomized must be True or False; got 'yes'"),
        (
            {"experts": [("ridge", Ridge())]},
            "experts 'ridge' must be a classifier; got Ridge()",
        ),
        (
            {"experts": [("bayes", GaussianNB())]},
            "experts must be fitted classifiers; got 'bayes', GaussianNB(), which is not fitted (a "
            "clone is not: wrap experts in sklearn.frozen.FrozenEstimator)",
        ),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        WeightedMajority(**params).fit([[0, 1]], [1])
    assert str(caught.value) == message


def test_wrong_data_are_named() -> None:
    model = WeightedMajority()
    with pytest.raises(DataError, match="classes must be passed on the first call to partial_fit"):
        model.partial_fit([[0, 1]], [0])
    model.partial_fit([[0, 1]], [0], classes=[0, 1])
    with pytest.raises(DataError, match=r"^y has the label 2, which is not one of the cl"):
        model.partial_fit([[0, 1]], [2])
    with pytest.raises(DataError, match=r"^classes must be those of the first call .*; got \[0\]$"):
        model.partial_fit([[0, 1]], [0], classes=[0])
    with pytest.raises(DataError, match="X has 2 rows but y has 1"):
        model.partial_fit([[0, 1], [1, 0]], [0])
    with pytest.raises(DataError, match="X contains NaN or infinity, which is not a label"):
        model.partial_fit([[0, np.nan]], [0])
    with pytest.raises(ValueError, match="X has 3 features, but WeightedMajority is expecting 2"):
        model.partial_fit([[0, 1, 1]], [0])


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("expert_mistakes_", np.array([0, 9]), "outside"),
        ("expert_mistakes_", np.array([0, -1]), "outside"),
        ("expert_mistakes_", np.array([0.0, 1.0]), "wrong type"),
        ("n_rounds_", 3, "outcome_counts_ does not add up to n_rounds_"),
        ("n_rounds_", -1, "n_rounds_ is -1 and must be an integer in"),
        ("seed_", 2**63, "seed_ is 9223372036854775808 and must be an integer in"),
        (
            "expected_mistakes_",
            math.inf,
            "expected_mistakes_ is inf and must be a finite number >= 0",
        ),
        ("classes_", np.array([0]), "outcome_counts_ has shape"),
    ],
)
def test_damaged_states_are_refused(name: str, value: Any, words: str) -> None:
    model = WeightedMajority().fit([[0, 1], [1, 1]], [0, 1])
    with pytest.raises(DataError, match=words):
        WeightedMajority.from_state(model.get_params(deep=False), {**model.state(), name: value})
