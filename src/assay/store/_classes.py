"""The closed table of classes that a model file may hold: integer id to class, and nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from assay.base import DataError, Estimator, sklearn_models

# Every package with estimators in the layers below this one; those not built yet are skipped.
# A test walks all packages and fails if a class with a model_id is in none of these.
_PACKAGES = (
    "table", "linear", "svm", "tree", "neighbors", "bayes", "cluster", "decomposition", "features",
    "ensemble", "multiclass", "ranking",
)  # fmt: skip
FIRST_NATIVE_ID = 100

# Parameters that do not change the model: the same model gives the same bytes.
_HOW = frozenset({"n_jobs", "verbose"})


class UnknownClass(LookupError):
    """A class id is not in the table."""


@cache
def classes() -> dict[int, type]:
    """Return the table: ids below 100 are scikit-learn's classes, the others our own."""
    found: dict[int, type] = {
        number: stored.cls for number, stored in sklearn_models.STORED_CLASSES.items()
    }
    for package in _PACKAGES:
        if find_spec(f"assay.{package}") is not None:
            module = import_module(f"assay.{package}")
            register(found, (getattr(module, name) for name in module.__all__))
    return found


def register(table: dict[int, type], members: Iterable[object]) -> None:
    """Add the estimator classes among `members` to a table under their own ids."""
    for member in members:
        if not (isinstance(member, type) and issubclass(member, Estimator)):
            continue
        number = vars(member).get("model_id")  # its own id, never that of a parent class
        if number is None:
            continue
        if number < FIRST_NATIVE_ID or table.get(number, member) is not member:
            raise RuntimeError(f"{member.__name__}.model_id = {number} is taken or below 100")
        table[number] = member


def id_of(estimator: Any) -> int | None:
    """Return the id of an estimator's class; subclasses of a known class have none."""
    return next((number for number, cls in classes().items() if cls is type(estimator)), None)


def class_of(number: int) -> type:
    """Return the class of an id, or raise `UnknownClass`."""
    if number not in classes():
        raise UnknownClass(number)
    return classes()[number]


def given_params(number: int, estimator: Any) -> dict[str, Any]:
    """Return the parameters that are stored in a file."""
    every = estimator.get_params(deep=False)
    given = {name: value for name, value in every.items() if name not in _HOW}
    if number < FIRST_NATIVE_ID:
        # Only non-default values, so that a file survives a parameter that scikit-learn drops.
        usual = _defaults(type(estimator))
        given = {name: value for name, value in given.items() if not _same(value, usual[name])}
    return given


def check_param_names(number: int, names: Iterable[str]) -> None:
    """Raise on names that are not parameters of a class or are not stored in a file."""
    cls = class_of(number)
    for name in sorted(set(names) - (_defaults(cls).keys() - _HOW)):
        raise DataError(f"{name} is not a parameter of {cls.__name__}")


def _defaults(cls: type) -> Mapping[str, Any]:
    return {name: given.default for name, given in inspect.signature(cls).parameters.items()}


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)
