"""Every smoothing from one summary of the training set, and folds by taking sums apart.

Summaries do not depend on `alpha`, `var_smoothing`, `bandwidth` or `priors`: all candidates share
one. That of a training set is the summary of the whole table less that of the rows held out; the
sums have 106 bits (see `_sums`), so that this changes at most the last bit of means and variances.
Counts of rows are whole numbers. With sample weights, and in columns where too much would be taken
away, the training rows are summed themselves; so are values for kernel densities.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Answer, Candidates, Levels, Path, Predicted, TrainingSet, check_n_jobs
from assay.bayes._densities import Densities
from assay.bayes._summary import Columns, Summary
from assay.bayes._sums import Sums

#: Parameters that a summary depends on.
KINDS = ("numeric", "categorical_features")

#: Squared deviations must stay above this part of the sum of squares of all rows.
SAFE = 2.0**-48


class Whole:
    """Summaries of the whole table, one per target and kinds of columns, each made once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[str, tuple[Any, Any]] = {}

    def of(self, key: str, y: NDArray[Any], make: Any) -> Any:
        """Return what `make` gives; again only for another target."""
        with self._lock:
            found = self._made.get(key)
            if found is None or not (found[0] is y or np.array_equal(found[0], y)):
                found = (y, make())
                self._made[key] = found
            return found[1]


class Trained:
    """A summary of the training rows, and what a model needs to be made of it."""

    def __init__(
        self, template: Any, summary: Summary, columns: Columns, queries: NDArray[Any]
    ) -> None:
        self.fitted = {
            name: value
            for name, value in vars(template).items()
            if name.endswith("_") and not name.startswith("_")
        }
        self.summary, self.columns, self.queries = summary, columns, queries

    def give(self, model: Any) -> None:
        """Hand a candidate classes, names and levels."""
        for name, value in self.fitted.items():
            setattr(model, name, value)


class NaiveBayesPath(Path[Trained]):
    """The path of `NaiveBayesClassifier`."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> Whole:  # noqa: ARG002
        """Share the summary of all rows; it is made when the target is known."""
        return Whole()

    def group(self, params: Mapping[str, Any]) -> str:
        """Return the parameters that a summary depends on."""
        return repr([params.get(name) for name in KINDS])

    def check(self, model: Any, training: TrainingSet) -> None:  # noqa: ARG002
        """Check the parameters."""
        model._check_params()

    def run(self, models: Sequence[Any], training: TrainingSet) -> Trained:
        """Sum up the training rows."""
        template, found = clone(models[0]), None
        if training.weight is None and training.shared is not None:
            key = self.group(vars(template))
            found = _taken_apart(template, training.shared, key, training)
        if found is None:
            rows, codes, weight = template._fit_data(*training.data())
            columns = template._columns()
            n_threads = check_n_jobs(template.n_jobs)
            n_classes = len(template.classes_)
            codes = codes.astype(np.int32)
            found = Summary.of(rows, codes, weight, n_classes, columns, n_threads), columns
        return Trained(template, *found, template._predict_data(training.test_rows()))

    def read(self, run: Trained, model: Any) -> Answer:
        """Learn from the summary; the size is that of all numbers of the model."""
        run.give(model)
        model._learn(run.summary, run.columns)
        size = 2 * model.theta_.size + model.level_log_prob_.size + model.kde_points_.size
        share = model._proba(run.queries)
        return Answer(Predicted(probability=share), float(size), model.classes_)


def _taken_apart(
    template: Any, shared: Whole, key: str, training: TrainingSet
) -> tuple[Summary, Columns] | None:
    """Return the summary of the training rows as a difference; None where there is none.

    Columns that would lose digits (outliers that dwarf the rest, constant in a class) are summed
    again. The template learns the levels and classes that occur in the training rows.
    """
    X, y, train = training.X, training.y, training.train
    n_threads = check_n_jobs(template.n_jobs)
    rest = np.ones(len(X), dtype=bool)
    rest[train] = False
    if len(train) != len(X) - np.count_nonzero(rest):
        return None  # a training set that repeats rows

    def summarise() -> tuple[Any, NDArray[Any], Columns, Summary]:
        teacher = clone(template)
        rows, codes, _ = teacher._fit_data(X, y)
        columns = teacher._columns()
        n_classes = len(teacher.classes_)
        codes = codes.astype(np.int32)
        total = Summary.of(rows, codes, None, n_classes, columns, n_threads, with_densities=False)
        return teacher, rows, columns, total

    teacher, rows, columns, total = shared.of(key, y, summarise)
    codes = np.searchsorted(teacher.classes_, y).astype(np.int32)
    n_classes = len(teacher.classes_)
    held = Summary.of(
        rows[rest], codes[rest], None, n_classes, columns, n_threads, with_densities=False
    )
    classes = np.flatnonzero(total.weight - held.weight > 0)
    own = np.full(n_classes, -1, dtype=np.int32)
    own[classes] = np.arange(len(classes), dtype=np.int32)
    kept = Densities.of(rows[train][:, columns.kde], own[codes[train]], None, len(classes))
    if not total.sums.sound:
        return None  # the ordinary way says what is wrong
    summary = total.less(held, kept).classes(classes)
    floor = np.abs(total.sums.parts[3, classes]) * SAFE
    poor = (summary.sums.deviations() < floor).any(axis=0)
    if poor.any():
        numeric = np.concatenate([columns.gaussian, columns.kde])[poor]
        again = Sums.of(
            rows[np.ix_(train, numeric)], own[codes[train]], None, len(classes), n_threads
        )
        parts = summary.sums.parts.copy()
        parts[:, :, poor] = again.parts
        summary = replace(summary, sums=Sums(parts))
    for name, value in vars(teacher).items():
        if name.endswith("_") and not name.startswith("_"):
            setattr(template, name, value)
    template.classes_ = teacher.classes_[classes]
    return _with_levels_of_training(template, summary, columns)


def _with_levels_of_training(
    template: Any, summary: Summary, columns: Columns
) -> tuple[Summary, Columns]:
    """Leave out the levels that only rows held out have."""
    if not len(columns.nominal):
        return summary, columns
    seen = summary.levels.sum(axis=0) > 0
    levels = Levels(template.levels_, template.level_offsets_)
    template.levels_ = np.array(levels.names[seen].tolist(), dtype=np.str_)
    counts = np.add.reduceat(np.append(seen, False).astype(np.int64), columns.offsets[:-1])
    counts = np.where(np.diff(columns.offsets) > 0, counts, 0)
    template.level_offsets_ = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    part = Summary(
        summary.weight,
        summary.sums,
        np.ascontiguousarray(summary.levels[:, seen]),
        summary.densities,
    )
    return part, template._columns()
