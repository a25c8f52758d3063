"""The cascade: its rates are what it says, its stages see what passed, its exits are early."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from assay.base import DataError, ParameterError
from assay.ensemble import CascadeClassifier


def rare(seed: int, n: int = 6000) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """About 2 % positives, in a corner that no single cut isolates."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    X[random.random(X.shape) < 0.02] = np.nan
    y = (np.nan_to_num(X[:, :3]).min(axis=1) > 0.6).astype(int)
    return X, y


@pytest.fixture(scope="module")
def model() -> CascadeClassifier:
    return CascadeClassifier(random_state=0).fit(*rare(0))


def test_rates_of_every_stage_reach_their_targets(model: CascadeClassifier) -> None:
    assert (model.stage_detection_ >= 0.99).all()
    assert (model.stage_false_alarm_ <= 0.5).all()
    assert model.n_stages_ >= 2
    assert model.detection_ == pytest.approx(np.prod(model.stage_detection_))
    assert model.false_alarm_ == pytest.approx(np.prod(model.stage_false_alarm_))
    assert model.false_alarm_ <= 0.001 or model.n_stages_ == 10


def test_rates_hold_on_new_rows(model: CascadeClassifier) -> None:
    X, y = rare(1, 20_000)
    said = model.predict(X)
    assert said[y == 1].mean() > 0.85
    assert said[y == 0].mean() < 0.01


def stage_scores(model: CascadeClassifier, X: NDArray[Any], stage: int) -> NDArray[np.float64]:
    """Walk the stumps of a stage by their definition."""
    total = np.zeros(len(X))
    for t in range(model.stage_start_[stage], model.stage_start_[stage + 1]):
        root = model.tree_start_[t]
        x = X[:, model.node_feature_[root]]
        left = np.where(
            np.isnan(x), model.node_missing_left_[root] != 0, x <= model.node_threshold_[root]
        )
        slots = np.where(left, model.node_slot_[root + 1], model.node_slot_[root + 2])
        total += model.leaf_value_[slots, 0]
    return total


def test_rows_leave_at_the_first_stage_below_its_threshold(model: CascadeClassifier) -> None:
    X, _ = rare(2, 500)
    passed = np.zeros(len(X), dtype=np.int64)
    here = np.ones(len(X), dtype=bool)
    for stage in range(model.n_stages_):
        here &= stage_scores(model, X, stage) >= model.stage_threshold_[stage]
        passed += here
    np.testing.assert_array_equal(model.stages_passed(X), passed)
    np.testing.assert_array_equal(model.predict(X), (passed == model.n_stages_).astype(int))
    decision = model.decision_function(X)
    np.testing.assert_array_equal(decision > 0, passed == model.n_stages_)
    order = np.argsort(decision)
    assert (np.diff(passed[order]) >= 0).all()


def test_threshold_is_the_largest_that_detects_enough(model: CascadeClassifier) -> None:
    X, y = rare(0)
    rng = np.random.RandomState(0)
    rng = np.random.RandomState(int(rng.randint(np.iinfo(np.int32).max)))
    held = np.zeros(len(X), dtype=bool)
    for value in (1, 0):
        members = np.flatnonzero(y == value)
        held[rng.permutation(members)[: round(0.25 * len(members))]] = True
    score = np.sort(stage_scores(model, X[held & (y == 1)], 0))
    lost = int(np.floor(0.01 * len(score) + 1e-9))
    assert model.stage_threshold_[0] == score[lost]


def test_a_stage_has_as_few_stumps_as_reach_its_rates() -> None:
    X, y = rare(3)
    easy = CascadeClassifier(false_alarm_rate=1.0, n_stages=1, random_state=0).fit(X, y)
    assert easy.stage_start_.tolist() == [0, 1]
    hard = CascadeClassifier(false_alarm_rate=0.2, n_stages=1, random_state=0).fit(X, y)
    assert hard.stage_start_[1] > 1


@pytest.mark.parametrize("labels", [("no", "yes"), ("yes", "no")])
def test_the_rarer_class_is_the_positive_one(labels: tuple[str, str]) -> None:
    X, y = rare(4)
    names = np.array(labels)[y]
    model = CascadeClassifier(random_state=0).fit(X, names)
    assert model.classes_[model.positive_] == labels[1]
    sign = 1 if model.positive_ == 1 else -1
    np.testing.assert_array_equal(
        model.decision_function(X) * sign > 0, model.predict(X) == labels[1]
    )
    turned = CascadeClassifier(
        positive=labels[0], false_alarm_rate=0.9, n_stages=1, random_state=0
    ).fit(X, names)
    assert turned.classes_[turned.positive_] == labels[0]


def test_nominal_columns_and_weights() -> None:
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"kind": random.choice(list("abcdefgh"), 3000), "x": random.random(3000)})
    y = (frame["kind"].isin(["c", "f"]) & (frame["x"] > 0.7)).to_numpy()
    model = CascadeClassifier(random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.97
    weight = np.where(np.arange(3000) < 2000, 1.0, 0.0)
    weighted = CascadeClassifier(random_state=0).fit(frame, y, weight)
    alone = CascadeClassifier(random_state=0).fit(frame[:2000], y[:2000])
    np.testing.assert_array_equal(weighted.decision_function(frame), alone.decision_function(frame))


def test_result_is_independent_of_n_jobs(model: CascadeClassifier) -> None:
    two = CascadeClassifier(random_state=0, n_jobs=2).fit(*rare(0))
    for name, value in model.state().items():
        np.testing.assert_array_equal(value, two.state()[name], err_msg=name)


def test_state_that_is_damaged_is_refused(model: CascadeClassifier) -> None:
    params = model.get_params(deep=False)
    for name, value, message in (
        ("stage_start_", model.stage_start_ + 1, "stage_start_ does not divide"),
        ("stage_threshold_", model.stage_threshold_ * np.nan, "not finite"),
        ("positive_", 2, "positive_ is 2 and must be one of 0, 1"),
        ("detection_", 1.5, r"detection_ is 1.5 and must be a finite number in \[0, 1\]"),
        ("node_left_", model.node_left_ + 9, "node_left_"),
    ):
        with pytest.raises(DataError, match=message):
            CascadeClassifier.from_state(params, {**model.state(), name: value})


def test_a_stage_that_cannot_reach_its_rates_says_how_near_it_came() -> None:
    random = np.random.default_rng(6)
    X, y = random.normal(size=(400, 2)), random.integers(0, 2, 400)
    with pytest.raises(
        DataError,
        match=r"stage 1 passes \d+\.\d% of the negatives at a detection rate of 0.99 with",
    ):
        CascadeClassifier(max_stumps=5, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_stages": 0}, "n_stages must be an integer >= 1; got 0"),
        ({"detection_rate": 0.0}, r"detection_rate must be a number in \(0, 1\]; got 0.0"),
        ({"false_alarm_rate": 1.5}, r"false_alarm_rate must be a number in \(0, 1\]; got 1.5"),
        ({"validation_fraction": 1.0}, r"validation_fraction must be .* got 1.0"),
        (
            {"positive": "maybe"},
            r"positive must be None or one of the classes \[0, 1\]; got 'maybe'",
        ),
    ],
)
def test_parameters_out_of_range_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        CascadeClassifier(**params).fit(*rare(7, 500))


def test_one_class_and_three_classes_are_refused() -> None:
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises(DataError, match="at least 2 rows of each of two classes; y has 1 class"):
        CascadeClassifier().fit(X, ["a"] * 6)
    with pytest.raises(DataError, match="Only binary classification is supported"):
        CascadeClassifier().fit(X, [0, 1, 2] * 2)
