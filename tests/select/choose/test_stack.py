"""Stacks: the same as by hand, only what was never seen counts, and the same bytes everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import f1_score, log_loss, r2_score

from assay.base import ParameterError
from assay.ensemble import (
    WeightedEnsembleClassifier,
    WeightedEnsembleRegressor,
    convex_weights,
)
from assay.select import Family, Outcome
from tests.select.asked import refit, search
from tests.select.halves import classes, half_lines, halves, numbers

K = 4


def _blocks(n: int) -> NDArray[np.int64]:
    return np.arange(n) % K


def _said(family: Family, index: int, X: Any, y: Any, train: Any, test: Any) -> Any:
    """Predictions of one candidate, fitted by hand."""
    if family.encoder is not None:
        encoder = clone(family.encoder).fit(X[train])
        X = encoder.transform(X)
    model = clone(family.estimator).set_params(**family.candidates[index]).fit(X[train], y[train])
    return (
        model.predict_proba(X[test]) if hasattr(model, "predict_proba") else model.predict(X[test])
    )


def _weights(parts: list[Any], y: Any, *, is_class: bool) -> Any:
    """Weights as the documentation says: least loss, ridge of 10 rows, none below 0.02."""
    if is_class:
        outputs, truth = np.column_stack([p[np.arange(len(y)), y] for p in parts]), None
    else:
        scale = np.sqrt(min(((p - y) ** 2).mean() for p in parts))
        outputs, truth = np.column_stack(parts) / scale, y / scale
    loss = "log" if is_class else "squared"
    found = convex_weights(outputs, truth, loss=loss, ridge=10 / len(y))
    kept = np.flatnonzero(found >= 0.02)
    again = np.zeros(len(found))
    again[kept] = convex_weights(outputs[:, kept], truth, loss=loss, ridge=10 / len(y))
    return again


@pytest.mark.parametrize("is_class", [True, False])
def test_a_stack_is_the_one_made_by_hand(is_class: bool) -> None:
    X, y = classes(320, 0) if is_class else numbers(160, 0)
    blocks = _blocks(len(y))
    families = halves() if is_class else half_lines()
    metric, task = ("log_loss", "binary") if is_class else ("mean_squared_error", "regression")
    outcome = search(X, y, families, task=task, metric=metric, blocks=blocks, stack=True)
    every = [(family, i) for family in families for i in range(len(family.candidates))]

    def loss(truth: Any, said: Any) -> float:
        return float(log_loss(truth, said) if is_class else ((truth - said) ** 2).mean())

    for row in outcome.nested:
        i = row.block
        others = [j for j in range(K) if j != i]
        said = {
            (c, j): _said(*every[c], X, y, ~np.isin(blocks, [i, j]), blocks == j)
            for c in range(len(every))
            for j in others
        }
        inner = [
            np.mean([loss(y[blocks == j], said[c, j]) for j in others]) for c in range(len(every))
        ]
        best = {
            family.name: min(
                (c for c in range(len(every)) if every[c][0] is family), key=inner.__getitem__
            )
            for family in families
        }
        ranked = sorted(range(len(every)), key=inner.__getitem__)
        members = sorted(best.values(), key=inner.__getitem__)
        members += [c for c in ranked if c not in members][:3]

        def learned(train: list[int], said: Any = said, members: Any = members) -> Any:
            truth = np.concatenate([y[blocks == j] for j in train])
            parts = [np.concatenate([said[c, j] for j in train]) for c in members]
            return _weights(parts, truth, is_class=is_class)

        cross = []
        for j in others:
            weights = learned([k for k in others if k != j])
            mixed = sum(w * said[c, j] for w, c in zip(weights, members, strict=True))
            cross.append(loss(y[blocks == j], mixed))
        assert np.mean(cross) < min(inner)  # so the stack is taken
        assert row.inner == pytest.approx(np.mean(cross), abs=1e-9)
        weights = learned(others)
        assert sorted(row.params.values()) == pytest.approx(
            sorted(np.round(weights[weights > 0], 4)), abs=1e-3
        )
        alone = [_said(*every[c], X, y, blocks != i, blocks == i) for c in members]
        mixed = sum(w * part for w, part in zip(weights, alone, strict=True))
        at = outcome.outer.block == i
        found = outcome.outer.probability if is_class else outcome.outer.value
        assert found is not None
        np.testing.assert_allclose(found[at], mixed, atol=1e-6)
        assert row.outer == pytest.approx(loss(y[blocks == i], mixed), abs=1e-6)


@settings(deadline=None, max_examples=6)
@given(
    seed=st.integers(0, 1000),
    block=st.integers(0, K - 1),
    metric=st.sampled_from(["log_loss", "f1", "roc_auc", "brier_score", "cost"]),
    prefer=st.sampled_from(["best", "simplest"]),
)
def test_nothing_about_a_block_changes_with_its_own_targets(
    seed: int, block: int, metric: str, prefer: str
) -> None:
    X, y = classes(100, seed)
    blocks = _blocks(len(y))
    cost = {"cost": [[0.0, 5.0], [1.0, 0.0]]} if metric == "cost" else {"metric": metric}

    def found(target: Any) -> Outcome:
        given: dict[str, Any] = {"task": "binary", "blocks": blocks, "prefer": prefer, **cost}
        return search(X, target, halves((1.0,)), stack=True, calibrate=True, **given)

    changed = y.copy()
    rows = np.flatnonzero(blocks == block)
    changed[rows] = np.random.default_rng(seed).permutation(1 - y[rows])
    before, after = found(y), found(changed)
    old = next(row for row in before.nested if row.block == block)
    new = next(row for row in after.nested if row.block == block)
    assert (old.family, old.params, old.inner) == (new.family, new.params, new.inner)
    at = before.outer.block == block
    assert before.outer.probability is not None
    assert after.outer.probability is not None
    assert before.outer.label is not None
    assert after.outer.label is not None
    assert np.array_equal(before.outer.probability[at], after.outer.probability[at])
    assert np.array_equal(before.outer.label[at], after.outer.label[at])
    others = [row for row in before.nested if row.block != block]
    assert others != [row for row in after.nested if row.block != block]


def test_nothing_about_a_block_of_numbers_changes_with_its_own_values() -> None:
    X, y = numbers(80, 0)
    blocks = _blocks(len(y))
    changed = np.where(blocks == 1, -y, y)
    given: dict[str, Any] = {"task": "regression", "blocks": blocks, "stack": True}
    before, after = (search(X, each, half_lines(), **given) for each in (y, changed))
    assert before.nested[1].params == after.nested[1].params
    assert before.outer.value is not None
    assert after.outer.value is not None
    at = before.outer.block == 1
    assert np.array_equal(before.outer.value[at], after.outer.value[at])


def test_a_stack_is_better_where_models_know_different_things() -> None:
    X, y = classes(300, 1, n_classes=3)
    plain = search(X, y, halves(), task="multiclass", metric="log_loss")
    mixed = search(X, y, halves(), task="multiclass", metric="log_loss", stack=True)
    assert plain.stack is None
    assert mixed.stack is not None
    assert {member.family.name for member in mixed.stack.members} >= {"left", "right"}
    assert sum(member.weight for member in mixed.stack.members) == pytest.approx(1.0)
    assert mixed.stack.score < mixed.stack.single
    assert mixed.score.value < plain.score.value
    assert {row.family for row in mixed.nested} <= {f"stack of {m}" for m in range(2, 6)}
    assert mixed.work.fits > plain.work.fits


def test_the_fitted_stack_mixes_fitted_members() -> None:
    X, y = classes(200, 2)
    outcome = search(X, y, halves(), task="binary", metric="log_loss", stack=True)
    assert outcome.stack is not None
    model = refit(outcome, X, y)
    assert model.encoder is None
    assert isinstance(model.estimator, WeightedEnsembleClassifier)
    everything = np.arange(len(y))
    wanted = sum(
        member.weight * _said(member.family, member.index, X, y, everything, everything)
        for member in outcome.stack.members
    )
    np.testing.assert_allclose(model.estimator.predict_proba(X), wanted, atol=1e-9)
    assert model.gap is not None
    assert model.gap.train == pytest.approx(log_loss(y, wanted))
    assert model.gap.gap == pytest.approx(outcome.score.value - model.gap.train)


def test_the_fitted_stack_of_numbers_mixes_fitted_members() -> None:
    X, y = numbers(150, 2)
    outcome = search(X, y, half_lines(), task="regression", stack=True)
    assert outcome.stack is not None
    model = refit(outcome, X, y)
    assert isinstance(model.estimator, WeightedEnsembleRegressor)
    everything = np.arange(len(y))
    wanted = sum(
        member.weight * _said(member.family, member.index, X, y, everything, everything)
        for member in outcome.stack.members
    )
    np.testing.assert_allclose(model.estimator.predict(X), wanted)
    assert model.gap is not None
    assert model.gap.train == pytest.approx(r2_score(y, wanted))


def _told(outcome: Outcome) -> Any:
    assert outcome.stack is not None
    members = [
        (member.family.name, member.index, member.weight) for member in outcome.stack.members
    ]
    calibration = outcome.calibration
    learned = None if calibration is None else (calibration.method, dict(calibration.scores))
    return outcome.score, outcome.nested, members, learned, outcome.ladder, outcome.work


def test_workers_and_interruptions_change_nothing(tmp_path: Path) -> None:
    X, y = classes(240, 3)
    given: dict[str, Any] = {"task": "binary", "metric": "log_loss", "repeats": 2}
    given |= {"stack": True, "calibrate": True}
    few = halves((1.0,))
    one = search(X, y, few, n_jobs=1, ledger=tmp_path / "a.ledger", **given)
    again = search(X, y, few, n_jobs=1, ledger=tmp_path / "a.ledger", **given)
    two = search(X, y, few, n_jobs=2, **given)
    assert _told(one) == _told(again) == _told(two)
    models = [refit(each, X, y).estimator for each in (one, again, two)]
    assert len({model.predict_proba(X).tobytes() for model in models}) == 1


@pytest.mark.parametrize("blocks", [None, 5, 10])
def test_other_plans_stack_what_they_honestly_can(blocks: int | None) -> None:
    X, y = classes(400, 4)
    given: dict[str, Any] = {"plan": "holdout"}
    if blocks is not None:
        given = {"time": np.arange(len(y)), "n_blocks": blocks}
    outcome = search(X, y, halves(), task="binary", metric="log_loss", stack=True, **given)
    assert any(row.family.startswith("stack of") for row in outcome.nested)
    # Of five blocks in time the first one that judges has one block to choose by.
    assert len(outcome.nested) == {None: 1, 5: 3, 10: 6}[blocks]


def test_a_ranking_is_not_stacked_and_says_so() -> None:
    X, y = numbers(60, 5)
    outcome = search(
        X, np.round(y), half_lines(), task="rank", groups=np.arange(60) // 6, stack=True
    )
    assert outcome.stack is None
    assert "rankings are not stacked: one candidate orders the items" in outcome.notes


def test_f1_is_what_the_moved_threshold_gives() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 4))
    y = (random.uniform(size=400) < 1 / (1 + np.exp(2.5 - 1.5 * X[:, 0]))).astype(np.int64)
    given: dict[str, Any] = {"task": "binary", "metric": "f1"}
    plain = search(X, y, halves(), **given)
    moved = search(X, y, halves(), calibrate=True, **given)
    assert moved.calibration is not None
    assert moved.calibration.method == "threshold"
    assert moved.calibration.threshold is not None
    assert moved.calibration.threshold < 0.5
    assert moved.outer.label is not None
    by_hand = [
        f1_score(y[moved.outer.row[at]], moved.outer.label[at])
        for at in (moved.outer.block == block for block in range(5))
    ]
    assert [row.outer for row in moved.nested] == pytest.approx(by_hand)
    assert np.mean(by_hand) > np.mean([row.outer for row in plain.nested if row.outer is not None])
    model = refit(moved, X, y)
    coded = model.encoder.transform(X)
    shares = model.estimator.predict_proba(coded)[:, 1]
    assert np.array_equal(
        model.estimator.predict(coded), (shares > moved.calibration.threshold).astype(np.int64)
    )


def test_wrong_options_are_named() -> None:
    X, y = classes(60, 0)
    with pytest.raises(ParameterError, match=r"prefer must be"):
        search(X, y, halves(), task="binary", prefer="cheap")
    with pytest.raises(ParameterError, match=r"stack must be"):
        search(X, y, halves(), task="binary", stack="yes")
