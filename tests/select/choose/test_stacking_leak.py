"""The leaks that make stacks look good: copies of rows in several folds, targets inside columns.

Printed scores are compared with the truth on fresh rows. Beside each, the way that leaks is shown
to leak on the same tables, so that the test would notice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from assay.ensemble import StackingClassifier
from assay.linear import LogisticRegression
from assay.neighbors import KNeighborsClassifier
from assay.select import Family, Outcome
from assay.tree import DecisionTreeClassifier
from tests.select.asked import refit, search

Matrix = NDArray[np.float64]
Codes = NDArray[np.int64]

DRAWS = 6
FRESH = 2000


class Drawn(NamedTuple):
    """A table to learn from, and fresh rows of the same kind."""

    X: Matrix
    y: Codes
    fresh: Matrix
    truth: Codes


def copies(seed: int, signal: float) -> Drawn:
    """Sixty rows, each three times: whoever knows a row by heart knows its copies."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(60 + FRESH, 4))
    y = (signal * X[:, 0] + random.normal(size=len(X)) > 0).astype(np.int64)
    order = random.permutation(np.repeat(np.arange(60), 3))
    return Drawn(X[order], y[order], X[60:], y[60:])


def many_levels(seed: int, signal: float) -> Drawn:
    """A column of 60 levels that say nothing, and one of little signal."""
    random = np.random.default_rng(seed)
    X = np.column_stack([random.integers(0, 60, size=180 + FRESH), random.normal(size=180 + FRESH)])
    y = (signal * X[:, 1] + random.normal(size=len(X)) > 0).astype(np.int64)
    return Drawn(X[:180], y[:180], X[180:], y[180:])


class TargetMeans(TransformerMixin, BaseEstimator):
    """Replaces a level by the mean target of its training rows: each row's own target included."""

    def fit(self, X: Matrix, y: Codes) -> Self:
        self.mean_ = float(np.mean(y))
        levels = X[:, 0].astype(int)
        sums, counts = np.bincount(levels, y, 60), np.bincount(levels, minlength=60)
        self.means_ = np.where(counts > 0, sums / np.maximum(counts, 1), self.mean_)
        return self

    def transform(self, X: Matrix) -> Matrix:
        return np.column_stack([self.means_[X[:, 0].astype(int)], X[:, 1]])


def memorisers() -> list[Family]:
    """Models that learn rows by heart, and one that does not."""
    return [
        Family("neighbours", KNeighborsClassifier(), [{"n_neighbors": k} for k in (1, 3, 15)]),
        Family("tree", DecisionTreeClassifier(random_state=0), [{"max_depth": d} for d in (2, 9)]),
        Family("naive Bayes", GaussianNB()),
    ]


def on_target_means() -> list[Family]:
    """The same behind an encoder that gives training rows away."""
    given = [(each.name, each.estimator, each.candidates) for each in memorisers()]
    encoded = [Family(*parts, TargetMeans()) for parts in given]
    return [*encoded, Family("logistic", LogisticRegression(), encoder=TargetMeans())]


def stacked(drawn: Drawn, families: list[Family], metric: str, seed: int) -> Outcome:
    return search(
        drawn.X,
        drawn.y,
        families,
        task="binary",
        metric=metric,
        stack=True,
        calibrate=True,
        seed=seed,
    )


def truth_of(outcome: Outcome, drawn: Drawn, metric: str) -> float:
    """Return the score of the final model on fresh rows."""
    model = refit(outcome, drawn.X, drawn.y)
    rows = drawn.fresh if model.encoder is None else model.encoder.transform(drawn.fresh)
    shares = model.estimator.predict_proba(rows)
    if metric == "log_loss":
        return float(log_loss(drawn.truth, np.clip(shares, 1e-15, 1)))
    return float(accuracy_score(drawn.truth, shares.argmax(axis=1)))


def leaking_stack(cv: Any) -> StackingClassifier:
    members = [("neighbours", KNeighborsClassifier(1)), ("naive Bayes", GaussianNB())]
    return StackingClassifier(members, cv=cv, random_state=0)


@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
@pytest.mark.parametrize(
    ("draw", "families", "signal"),
    [
        (copies, memorisers, 0.0),
        (copies, memorisers, 1.0),
        (many_levels, on_target_means, 0.0),
        (many_levels, on_target_means, 1.0),
    ],
    ids=["copies, noise", "copies, signal", "levels, noise", "levels, signal"],
)
def test_printed_score_of_a_stack_is_not_optimistic(
    draw: Callable[[int, float], Drawn],
    families: Callable[[], list[Family]],
    signal: float,
    metric: str,
) -> None:
    sign = -1 if metric == "log_loss" else 1
    optimism, held = [], 0
    for seed in range(DRAWS):
        drawn = draw(seed, signal)
        outcome = stacked(drawn, families(), metric, seed)
        truth = truth_of(outcome, drawn, metric)
        optimism.append(sign * (outcome.score.value - truth))
        held += outcome.score.low <= truth <= outcome.score.high
    error = np.std(optimism, ddof=1) / np.sqrt(DRAWS)
    assert np.mean(optimism) < 2.5 * error + 0.01
    assert held >= 0.6 * DRAWS


def test_the_same_copies_fool_a_stack_judged_by_plain_folds() -> None:
    # What the test above would see if equal rows were spread over the blocks.
    found = []
    for seed in range(3):
        drawn = copies(seed, 0.0)
        folds = KFold(5, shuffle=True, random_state=seed)
        found.append(cross_val_score(leaking_stack(5), drawn.X, drawn.y, cv=folds).mean())
    assert np.mean(found) > 0.85


def test_the_same_levels_fool_a_stack_when_encoded_before_the_folds() -> None:
    found = []
    for seed in range(3):
        drawn = many_levels(seed, 0.0)
        outside = TargetMeans().fit_transform(drawn.X, drawn.y)
        outcome = search(
            outside, drawn.y, memorisers(), task="binary", metric="accuracy", stack=True
        )
        found.append(outcome.score.value)
    assert np.mean(found) > 0.6


def test_copies_handed_to_blocks_on_purpose_are_optimistic() -> None:
    # `blocks` overrules the rule on equal rows; the search itself then cannot know better.
    drawn = copies(0, 0.0)
    spread = np.arange(len(drawn.y)) % 5
    outcome = search(
        drawn.X, drawn.y, memorisers(), task="binary", metric="accuracy", blocks=spread, stack=True
    )
    assert outcome.score.value > 0.8


@pytest.mark.parametrize("signal", [0.0, 1.0])
def test_a_stacking_classifier_as_a_candidate_is_judged_honestly_too(signal: float) -> None:
    # Its own folds are its own affair: copies in them mislead it, but not the score of it.
    optimism = []
    for seed in range(5):
        drawn = copies(seed, signal)
        families = [Family("stack", leaking_stack(3), encoder=StandardScaler())]
        outcome = search(drawn.X, drawn.y, families, task="binary", metric="accuracy", seed=seed)
        optimism.append(outcome.score.value - truth_of(outcome, drawn, "accuracy"))
    assert np.mean(optimism) < 2.5 * np.std(optimism, ddof=1) / np.sqrt(5) + 0.01


def test_groups_of_equal_rows_keep_a_stacking_classifier_from_trusting_memory() -> None:
    # With copies in its folds, 1-NN looks perfect and gets the say; with groups it does not.
    naive: list[float] = []
    grouped: list[float] = []
    for seed in range(4):
        drawn = copies(seed, 1.0)
        for scores, groups in ((naive, None), (grouped, "duplicates")):
            model = leaking_stack(5).fit(drawn.X, drawn.y, groups=groups)
            scores.append(accuracy_score(drawn.truth, model.predict(drawn.fresh)))
    assert np.mean(grouped) > np.mean(naive) + 0.05
