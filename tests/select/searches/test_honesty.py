"""On noise the plain winner looks good, and the honest score does not."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from assay.select import Family
from tests.select.asked import search

N, COLUMNS, CANDIDATES, DRAWS = 60, 30, 25, 40


class MeanRule(ClassifierMixin, BaseEstimator):
    """Nearest class mean on three columns."""

    def __init__(self, start: int = 0) -> None:
        self.start = start

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.array([0, 1])
        mine = X[:, self.start : self.start + 3]
        self.means_ = np.stack([mine[y == k].mean(axis=0) for k in (0, 1)])
        return self

    def predict(self, X: Any) -> Any:
        mine = X[:, self.start : self.start + 3]
        return np.argmin([((mine - mean) ** 2).sum(axis=1) for mean in self.means_], axis=0)


def test_nested_score_is_unbiased_on_noise_where_the_plain_score_is_not() -> None:
    family = Family("rules", MeanRule(), [{"start": s} for s in range(CANDIDATES)])
    honest, plain, quick, covered, better = [], [], [], 0, 0
    for draw in range(DRAWS):
        random = np.random.default_rng(draw)
        X = random.normal(size=(N, COLUMNS))
        y = random.permutation(np.arange(N) % 2)
        outcome = search(X, y, [family], task="binary", metric="accuracy", n_blocks=4, seed=draw)
        assert outcome.quick is not None
        honest.append(outcome.score.value)
        plain.append(outcome.chosen.score)
        quick.append(outcome.quick.value)
        covered += outcome.score.low <= 0.5 <= outcome.score.high
        better += outcome.gain.low > 0
    error = np.std(honest) / np.sqrt(DRAWS)
    assert abs(np.mean(honest) - 0.5) < 3.5 * error
    assert error < 0.02
    assert np.mean(plain) > 0.58
    assert abs(np.mean(quick) - 0.5) < 0.04
    assert covered >= 0.85 * DRAWS
    assert better <= 0.1 * DRAWS
