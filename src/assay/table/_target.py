"""The target: classes or numbers, by a fixed rule that the user can override."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from assay.base import DataError, ParameterError, Task, did_you_mean
from assay.table._cells import TextRules
from assay.table._columns import Column
from assay.table._kinds import Kind, yes_no
from assay.table._numbers import EXACT
from assay.table._raw import Notes, Where, shown
from assay.table._values import level_text, storage_of

STORAGES = ("text", "number", "boolean")
#: Integers with at most this many distinct values ...
_MAX_CLASSES = 10
#: ... and at least this many rows per value are classes.
_ROWS_PER_CLASS = 5
#: Classes with fewer rows are reported.
_FEW = 5


@dataclass(frozen=True)
class Target:
    """The target of a table.

    Parameters
    ----------
    name : str
        The column.
    task : {'binary', 'multiclass', 'regression', 'rank'}
        The task.
    classes : tuple of str or None
        Class labels in the order of their codes; None for numbers.
    positive : int or None
        Code of the positive class; only for two classes.
    kind : Kind
        Kind of the column.
    storage : {'text', 'number', 'boolean'}, default='text'
        Type of the classes in the table; predictions are returned in this type.

    Examples
    --------
    >>> Target("survived", "binary", ("0", "1"), 1, Kind.BOOLEAN, "number").decode([1, 0])
    array([1, 0])
    """

    name: str
    task: str
    classes: tuple[str, ...] | None
    positive: int | None
    kind: Kind
    storage: str = "text"

    def decode(self, codes: ArrayLike) -> NDArray[Any]:
        """Return class codes as the original values of the table."""
        return self._values[np.asarray(codes, dtype=np.int64)]

    def encode(self, values: pl.Series, *, where: Where | None = None) -> NDArray[Any]:
        """Return values of a table as codes or numbers, coded as in training.

        Parameters
        ----------
        values : polars.Series
            None of them missing.
        where : Where, optional
            Names of the table and its rows, for messages.

        Raises
        ------
        DataError
            For a class unseen in training, and for a text that is not a number.
        """
        place = Where() if where is None else where
        if self.classes is None:
            column = Column(self.name, Kind.NUMERIC, storage_of(values.dtype), "target")
            return column.reals(values, TextRules(), place)
        text = level_text(values, self.storage)
        known = {label: code for code, label in enumerate(self.classes)}
        codes = text.replace_strict(known, default=-1, return_dtype=pl.Int64).to_numpy()
        unknown = np.flatnonzero(codes < 0)
        if len(unknown):
            row = int(unknown[0])
            raise DataError(
                f"{place.cell(row, self.name)}: the model has no class {shown(text[row])}"
                f"{did_you_mean(str(text[row]), self.classes)}"
            )
        return np.array(codes, dtype=np.int64)

    @cached_property
    def _values(self) -> NDArray[Any]:
        labels = self.classes or ()
        if self.storage == "boolean":
            return np.array([label == "true" for label in labels])
        if self.storage == "number":
            numbers = [float(label) for label in labels]
            whole = all(number.is_integer() and abs(number) < EXACT for number in numbers)
            return np.array([int(label) for label in labels] if whole else numbers)
        return np.array(labels)

    def to_dict(self) -> dict[str, Any]:
        """Return the target as JSON-safe data."""
        return {
            "name": self.name,
            "task": self.task,
            "classes": None if self.classes is None else list(self.classes),
            "positive": self.positive,
            "kind": str(self.kind),
            "storage": self.storage,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Target:
        """Build a target from the result of `to_dict`, checking everything."""
        fields = {"name", "task", "classes", "positive", "kind", "storage"}
        if not isinstance(data, Mapping) or set(data) != fields:
            raise DataError("the target is damaged: it has the wrong fields")
        name, task, classes, positive = (data[f] for f in ("name", "task", "classes", "positive"))
        if not isinstance(name, str) or task not in list(Task) or data["kind"] not in list(Kind):
            raise DataError("the target is damaged: name, task or kind is invalid")
        if Task(task).has_classes == (classes is None):
            raise DataError("the target is damaged: classes and task do not go together")
        if classes is not None:
            fitting = isinstance(classes, list) and all(isinstance(c, str) for c in classes)
            if not fitting or len(set(classes)) < len(classes):
                raise DataError("the target is damaged: classes are not a list of distinct texts")
            if (task == Task.BINARY) != (len(classes) == 2) or len(classes) < 2:
                raise DataError("the target is damaged: the number of classes does not fit")
        if positive is not None and (
            task != Task.BINARY or isinstance(positive, bool) or positive not in (0, 1)
        ):
            raise DataError("the target is damaged: positive is not the code of a class")
        if data["storage"] not in STORAGES:
            raise DataError(f"the target is damaged: storage is none of {', '.join(STORAGES)}")
        target = cls(
            name,
            task,
            None if classes is None else tuple(classes),
            positive,
            Kind(data["kind"]),
            data["storage"],
        )
        try:
            target.decode(())
        except (ValueError, OverflowError):
            raise DataError("the target is damaged: its classes are not numbers") from None
        return target


def usable_targets(
    values: pl.Series, source: str
) -> tuple[NDArray[np.bool_], list[tuple[str, int]]]:
    """Return which rows have a target, and why the others are dropped.

    Rows with infinite targets are dropped: their mean and squared error are not defined.
    """
    if values.null_count() == len(values):
        raise DataError(
            f"{source}: the target {shown(values.name)} is missing in all {len(values)} rows; "
            "choose another column"
        )
    dropped = []
    present = values.is_not_null()
    if values.null_count():
        dropped.append(("target missing", values.null_count()))
    if values.dtype.is_float():
        infinite = values.is_infinite().fill_null(False)
        if infinite.any():
            dropped.append(("target infinite", int(infinite.sum())))
            present &= ~infinite
    return present.to_numpy(), dropped


def make_target(
    values: pl.Series,
    *,
    kind: str | None,
    task: str | None,
    positive: str | None,
    where: Where,
    rules: TextRules,
    notes: Notes,
) -> tuple[Target, NDArray[Any]]:
    """Decide the task and return target and y.

    Parameters
    ----------
    values : polars.Series
        Values of the usable rows.
    kind, task, positive : str or None
        Choices of the user.
    where : Where
        Names of the table and its rows, for messages.
    rules : TextRules
        For numbers written as text, when the user asks for regression.
    notes : Notes
        Receives the decision.

    Returns
    -------
    target : Target
    y : ndarray
        int64 codes or float64 values.
    """
    name, source = values.name, where.source
    if isinstance(values.dtype, pl.Datetime):
        raise DataError(
            f"{source}: the target {shown(name)} holds dates, which cannot be predicted as they "
            "are; turn them into a number of days or a class"
        )
    regression = _is_regression(values, kind, task, notes)
    if regression:
        if positive is not None:
            raise ParameterError(
                f"positive names a class, but {shown(name)} is a number to predict; leave it out "
                "or set task='binary'"
            )
        column = Column(name, Kind.NUMERIC, storage_of(values.dtype), "target")
        y = column.reals(values, rules, where)
        if y.min() == y.max():
            raise DataError(
                f"{source}: the target {shown(name)} is {y[0]:g} in every row; there is nothing to "
                "predict"
            )
        return Target(name, task or "regression", None, None, Kind.NUMERIC), y
    return _classes(values, kind, task, positive, source, notes)


def _is_regression(values: pl.Series, kind: str | None, task: str | None, notes: Notes) -> bool:
    if task is not None:
        return task in (Task.REGRESSION, Task.RANK)
    if kind is not None:
        return kind == Kind.NUMERIC
    if not values.dtype.is_numeric():
        return False
    whole = values.dtype == pl.Int64 or bool((values == values.floor()).all())
    distinct = values.n_unique()
    if not whole or distinct > _MAX_CLASSES:
        return True
    few = len(values) < _ROWS_PER_CLASS * distinct
    if distinct > 2:
        other = "classification" if few else "regression"
        chosen = "numbers" if few else "classes"
        notes.add(
            f"the target {shown(values.name)} has {distinct} distinct integers in {len(values)} "
            f"rows and is read as {chosen}; change it with the option task ({other})"
        )
    return few and distinct > 2


def _classes(
    values: pl.Series,
    kind: str | None,
    task: str | None,
    positive: str | None,
    source: str,
    notes: Notes,
) -> tuple[Target, NDArray[np.int64]]:
    name, storage = values.name, storage_of(values.dtype)
    counts = values.alias("level").value_counts(name="count").sort("level")
    labels = level_text(counts["level"], storage).to_list()
    rows = dict(zip(labels, counts["count"].to_list(), strict=True))
    if len(labels) == 1:
        raise DataError(
            f"{source}: the target {shown(name)} has only one class, {shown(labels[0])}; at "
            "least two are needed. Choose another column"
        )
    if len(labels) > max(_MAX_CLASSES, len(values) / 2):
        raise DataError(
            f"{source}: the target {shown(name)} has {len(labels)} classes in {len(values)} rows; "
            "it looks like an identifier. Choose another column, or task='regression' for numbers"
        )
    pair = yes_no(labels)
    if pair is not None:
        labels = list(pair)
    if task == Task.BINARY and len(labels) != 2:
        raise DataError(
            f"{source}: task='binary' needs two classes, but the target {shown(name)} has "
            f"{len(labels)}; leave task out or choose another column"
        )
    text = level_text(values, storage)
    y = text.replace_strict(labels, list(range(len(labels))), return_dtype=pl.Int64).to_numpy()
    for label in labels:
        if rows[label] < _FEW:
            item = f"{shown(label)} ({rows[label]})"
            notes.add(f"classes with fewer than {_FEW} rows (kept): {{}}", item)
    code = _positive_code(labels, positive, name, source, notes)
    found = Kind(kind) if kind else Kind.BOOLEAN if pair or storage == "boolean" else Kind.NOMINAL
    chosen = "binary" if len(labels) == 2 else "multiclass"
    return Target(name, chosen, tuple(labels), code, found, storage), np.array(y, dtype=np.int64)


def _positive_code(
    labels: list[str], positive: str | None, name: str, source: str, notes: Notes
) -> int | None:
    if positive is None:
        if len(labels) != 2:
            return None
        notes.add(f"the positive class is {shown(labels[1])}; change it with the option positive")
        return 1
    if len(labels) != 2:
        raise ParameterError(
            f"positive is for two classes; the target {shown(name)} has {len(labels)}. Leave it out"
        )
    if positive not in labels:
        raise DataError(
            f"{source}: the target {shown(name)} has no class {shown(positive)}; it has "
            f"{shown(labels[0])} and {shown(labels[1])}{did_you_mean(positive, labels)}"
        )
    return labels.index(positive)
