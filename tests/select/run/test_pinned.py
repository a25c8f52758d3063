"""What a study draws is pinned: a release, a renamed file or another NumPy changes no number.

If a test here fails, every model with randomness in it changes for every user. Change the
numbers only on purpose, and say so in CHANGELOG.md.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import QuantileTransformer

import assay
from assay.ensemble import GradientBoostingClassifier, RandomForestClassifier
from assay.select import Family, Ledger, Outcome, Refitted
from tests.select.asked import refit, search

X, Y = load_iris(return_X_y=True)


def families() -> list[Family]:
    sizes = [{"n_estimators": 5}, {"n_estimators": 10}]
    return [
        Family("forest", RandomForestClassifier(), sizes),
        Family("boosting", GradientBoostingClassifier(subsample=0.5, n_estimators=10)),
        Family(
            "encoded forest",
            RandomForestClassifier(n_estimators=5),
            encoder=QuantileTransformer(n_quantiles=40, subsample=60),
        ),
    ]


def study(**options: Any) -> tuple[Outcome, Refitted]:
    outcome = search(X, Y, families(), task="multiclass", metric="neg_log_loss", **options)
    return outcome, refit(outcome, X, Y)


def digest(outcome: Outcome) -> str:
    """Digest of all outer predictions; trees and votes do not depend on the processor."""
    assert outcome.outer.probability is not None
    found = hashlib.sha256(np.round(outcome.outer.probability, 9).tobytes())
    return found.hexdigest()[:16]


@pytest.fixture(scope="module")
def plain() -> tuple[Outcome, Refitted]:
    return study()


def numbers(found: tuple[Outcome, Refitted]) -> tuple[Any, ...]:
    outcome, model = found
    return (
        outcome.score.value,
        outcome.score.low,
        outcome.chosen.params,
        model.estimator.get_params()["random_state"],
        digest(outcome),
    )


def test_the_numbers_of_a_small_study_are_pinned(plain: tuple[Outcome, Refitted]) -> None:
    outcome, model = plain
    assert outcome.chosen.family.name == "forest"
    assert outcome.score.value == pytest.approx(0.7813634969345543, rel=1e-12)
    assert model.estimator.random_state == 324347511
    assert digest(outcome) == "8c2326b7af8c62db"


def test_another_release_changes_no_number(
    plain: tuple[Outcome, Refitted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assay, "__version__", "99.1.0")
    monkeypatch.setattr(np, "__version__", "99.2.0")
    assert numbers(study()) == numbers(plain)


def test_a_renamed_private_file_changes_no_number(
    plain: tuple[Outcome, Refitted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RandomForestClassifier, "__module__", "assay.ensemble._renamed")
    monkeypatch.setattr(GradientBoostingClassifier, "__module__", "assay.ensemble._renamed")
    assert numbers(study()) == numbers(plain)


def test_other_display_names_and_more_candidates_change_no_fit(
    plain: tuple[Outcome, Refitted],
) -> None:
    forest = families()[0]
    more = Family("trees", forest.estimator, [*forest.candidates, {"n_estimators": 3}])
    outcome = search(X, Y, [more], task="multiclass", metric="neg_log_loss")
    row = next(each for each in outcome.leaderboard if each.params == {"n_estimators": 10})
    same = next(
        each
        for each in plain[0].leaderboard
        if each.family == "forest" and each.params == {"n_estimators": 10}
    )
    assert row.score == same.score


def test_a_ledger_of_another_release_is_made_anew_not_misread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Ledger(None) as ledger:
        first, _ = study(ledger=ledger)
        before = len(ledger)
        monkeypatch.setattr(assay, "__version__", "99.1.0")
        again, _ = study(ledger=ledger)
        assert len(ledger) == 2 * before
    assert again.score == first.score


@pytest.mark.parametrize("seed", [0, 1])
def test_another_seed_of_the_study_is_another_draw(
    plain: tuple[Outcome, Refitted], seed: int
) -> None:
    assert (numbers(study(seed=seed)) == numbers(plain)) == (seed == 0)
