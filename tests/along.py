"""A path on one training set, for tests of paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from assay.base import Candidates, Fitted, Path, TrainingSet


def fits_along(path: Path[Any]) -> Callable[..., Iterator[Fitted]]:
    """Return a function that predicts blocks of test rows with every candidate, in order."""

    def run(
        template: Any,
        shared: Any,
        X: Any,
        y: Any,
        weight: Any,
        train: Any,
        tests: Sequence[Any],
        candidates: Candidates,
    ) -> Iterator[Fitted]:
        n_classes = int(y.max()) + 1 if y.dtype.kind in "iu" else None
        training = TrainingSet(X, y, train, tests, weight, n_classes, shared=shared)
        return path.fit_predict(template, training, candidates)

    return run
