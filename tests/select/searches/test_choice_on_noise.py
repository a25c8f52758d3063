"""On noise, stack, calibration and threshold promise nothing: many small draws, averaged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from assay.select import Family
from tests.select.asked import search
from tests.select.halves import Columns

DRAWS = 24


def _families() -> list[Family]:
    # Many column subsets: enough candidates for luck to find one that looks good.
    bayes = [
        Family(f"bayes {c}", GaussianNB(), ({},), Columns((c, c + 1))) for c in range(0, 10, 2)
    ]
    return [
        *bayes,
        Family("neighbours", KNeighborsClassifier(), [{"n_neighbors": k} for k in (1, 5)]),
    ]


@pytest.mark.parametrize("metric", ["balanced_accuracy", "roc_auc"])
def test_the_whole_choice_is_unbiased_on_noise(metric: str) -> None:
    honest, inner, taken = [], [], 0
    for draw in range(DRAWS):
        random = np.random.default_rng(draw)
        X = random.normal(size=(60, 11))
        y = random.permutation(np.arange(60) % 2)
        given: dict[str, Any] = {"task": "binary", "metric": metric, "n_blocks": 4, "seed": draw}
        outcome = search(X, y, _families(), stack=True, calibrate=True, **given)
        honest.append(np.mean([row.outer for row in outcome.nested if row.outer is not None]))
        inner.append(np.mean([row.inner for row in outcome.nested]))
        taken += sum(
            row.family.startswith("stack") or "threshold" in row.params for row in outcome.nested
        )
    error = np.std(honest, ddof=1) / np.sqrt(DRAWS)
    assert abs(np.mean(honest) - 0.5) < 3.5 * error
    assert error < 0.03
    assert np.mean(inner) > 0.53  # what chose is flattered; what judges is not
    assert taken > 0
