"""The choice, fitted on all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from assay.base import check_weight
from assay.select._canonical import digest
from assay.select._encode import encoded
from assay.select._notes import collected, listening
from assay.select._outcome import Chosen, Outcome
from assay.select._path import path_of
from assay.select._problem import Problem
from assay.select._seeds import seeded, seeded_candidate


@dataclass(frozen=True, eq=False)
class Refitted:
    """A fitted choice: new rows go through `encoder` (if any), then `estimator`."""

    encoder: Any
    estimator: Any
    notes: tuple[str, ...]


def refit(
    chosen: Outcome | Chosen,
    X: ArrayLike,
    y: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    queries: ArrayLike | None = None,
    seed: int | None = None,
) -> Refitted:
    """Fit the chosen candidate, with its encoder, on all rows.

    Parameters
    ----------
    chosen : Outcome or Chosen
        What was chosen.
    X, y, weight
        All rows, as they were given to `search`.
    queries : array-like of shape (n_samples,), optional
        Query of each row, of a ranking.
    seed : int, optional
        Seed of the fit; by default that of the outcome, or 0.

    Returns
    -------
    Refitted
        Encoder (None without one), estimator and warnings of the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from assay.select import Family, search
    >>> X, y = load_diabetes(return_X_y=True)
    >>> outcome = search(X, y, [Family("ridge", Ridge(), [{"alpha": 0.01}])], task="regression")
    >>> model = refit(outcome, X, y)
    >>> model.estimator.alpha, model.estimator.predict(X).shape
    (0.01, (442,))
    """
    if seed is None:
        seed = chosen.seed if isinstance(chosen, Outcome) else 0
    choice = chosen.chosen if isinstance(chosen, Outcome) else chosen
    family = choice.family
    matrix, target = np.asarray(X), np.asarray(y)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    problem = Problem(
        np.ascontiguousarray(matrix),
        target,
        check_weight(weight, matrix),
        queries=None if queries is None else np.asarray(queries, dtype=np.int64),
    )
    key = digest(["refit", problem.digest, family.digest([choice.index]), seed])
    # In the same conditions as the units: one BLAS thread, warnings as notes.
    with threadpool_limits(1), listening(), collected() as notes:
        encoder, rows = None, problem.X
        if family.encoder is not None:
            encoder = seeded(family.encoder, digest(["encoder", key]))
            rows = encoded(encoder, problem, np.arange(len(rows)))
        estimator = path_of(family.estimator, problem.queries).refit(
            seeded(family.estimator, key),
            rows,
            problem.y,
            problem.weight,
            seeded_candidate(family.candidates[choice.index], key),
        )
    return Refitted(encoder, estimator, tuple(notes))
