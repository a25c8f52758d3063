"""A unit of work: one family's candidates on one training set, from key to predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import Fitted, Path, Predicted, TrainingSet
from assay.select.plan import (
    Data,
    Partition,
    Split,
    digest,
)
from assay.select.run._encode import Encodings
from assay.select.run._family import Family
from assay.select.run._notes import collected
from assay.select.run._path import path_of
from assay.select.run._record import Entry
from assay.select.run._seeds import fit_seed, seeded, seeded_candidate


@dataclass(frozen=True, eq=False)
class Unit:
    """One family, some of its candidates, one training set, its test blocks.

    Parameters
    ----------
    family : int
        Which family.
    candidates : tuple of int
        Which of its candidates.
    repeat : int
        Which partition.
    split : Split
        Which blocks.
    key : str
        SHA-256 of everything the result depends on.
    seed : int, default=0
        Seed of the study.
    """

    family: int
    candidates: tuple[int, ...]
    repeat: int
    split: Split
    key: str
    seed: int = 0

    def fit_seed(self, estimator: Any) -> str:
        """Return what seeds an estimator or encoder that is fitted in this unit."""
        return fit_seed(estimator, self.seed, self.repeat, self.split.train, self.split.tests)


def unit_key(
    data: Data,
    partition: Partition,
    family: Family,
    candidates: Sequence[int],
    split: Split,
    seed: int,
) -> str:
    """Return the key of a unit: the same in every process, never depending on order or time."""
    return digest(
        {
            "data": data.digest,
            "blocks": partition.digest,
            "family": family.digest(candidates),
            "train": split.train,
            "tests": split.tests,
            "seed": seed,
        }
    )


def run_unit(
    data: Data,
    partition: Partition,
    family: Family,
    unit: Unit,
    encodings: Encodings,
    path: Path[Any] | None = None,
) -> list[Entry]:
    """Fit and predict every candidate; a failure is recorded and does not stop the others.

    Parameters
    ----------
    data, partition, family
        The rows, their blocks and the candidates.
    unit : Unit
        Which of them.
    encodings : Encodings
        Encoded matrices that other units may have made already.
    path : Path, optional
        Instead of the family's own.
    """
    split, key = unit.split, unit.fit_seed(family.estimator)
    train = partition.train_rows(split.train, split.tests)
    tests = [partition.rows(block) for block in split.tests]
    settings = [seeded_candidate(family.candidates[index], key) for index in unit.candidates]
    runner = path_of(family.estimator) if path is None else path
    with collected() as notes:
        try:
            X = encodings.matrix(data, partition, family, split, train, (unit.seed, unit.repeat))
        except Exception as error:
            return [Entry(None, f"encoder: {_message(error)}", tuple(notes)) for _ in settings]
        try:
            shared = encodings.shared(data, family, X, runner, settings)
            template = seeded(family.estimator, key)
        except Exception as error:
            return [Entry(None, _message(error), tuple(notes)) for _ in settings]

    training = TrainingSet(
        X, data.y, train, tests, data.weight, data.n_classes, data.queries, shared
    )

    def steps(chosen: Sequence[Mapping[str, Any]]) -> Iterator[Fitted]:
        for fitted in runner.fit_predict(template, training, chosen):
            yield _checked(fitted, tests, data.n_classes)

    done: list[Entry] = []
    together = _collect(steps(settings), len(settings), done)
    if not together and len(settings) > 1:
        # After the first failure, fit the remaining candidates one by one.
        done.pop()
        for candidate in settings[len(done) :]:
            _collect(steps([candidate]), 1, done)
    return [replace(entry, notes=(*notes, *entry.notes)) for entry in done] if notes else done


def _collect(steps: Iterator[Fitted], expected: int, done: list[Entry]) -> bool:
    """Append what `expected` steps give; at the first error append it, stop and return False."""
    for _ in range(expected):
        with collected() as notes:
            try:
                fitted = next(steps)
            except StopIteration:  # a mistake in the path, not a candidate that failed
                given = len(done)
                raise RuntimeError(f"the path yielded {given} of {expected} candidates") from None
            except Exception as error:
                done.append(Entry(None, _message(error), tuple(notes)))
                return False
        done.append(Entry(fitted, None, tuple(notes)))
    return True


def _checked(fitted: Fitted, tests: Sequence[NDArray[Any]], n_classes: int | None) -> Fitted:
    if len(fitted.predictions) != len(tests):
        raise ValueError(f"{len(fitted.predictions)} predictions for {len(tests)} test blocks")
    predictions = [
        _checked_block(each, len(test), n_classes)
        for each, test in zip(fitted.predictions, tests, strict=True)
    ]
    size = float(fitted.size)
    return Fitted(predictions, size if np.isfinite(size) else 0.0)


def _checked_block(predicted: Predicted, n: int, n_classes: int | None) -> Predicted:
    main = predicted.value if n_classes is None else predicted.label
    if main is None or len(main) != n:
        raise ValueError(f"expected {n} predictions, got {0 if main is None else len(main)}")
    for array in (predicted.value, predicted.probability, predicted.decision):
        if array is not None and not np.isfinite(array).all():
            raise ValueError("predictions are not finite")
    if n_classes is None:
        return Predicted(value=np.asarray(predicted.value, dtype=np.float64))
    probability = predicted.probability
    if probability is not None and probability.shape != (n, n_classes):
        raise ValueError(
            f"expected probabilities of shape {(n, n_classes)}, got {probability.shape}"
        )
    return Predicted(
        np.asarray(main, dtype=np.int64),
        None if probability is None else np.asarray(probability, dtype=np.float64),
        None if predicted.decision is None else np.asarray(predicted.decision, dtype=np.float64),
    )


def _message(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
