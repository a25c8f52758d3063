"""Hand tuning: one more candidate for a study that is there already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.base import ParameterError
from assay.select import Family, Ledger
from assay.table import Dataset


def kept(ledger: Any) -> Any:
    """Return the ledger that was asked for, or one in memory that outlives the search."""
    return Ledger() if ledger is None else ledger


@dataclass(frozen=True, eq=False)
class Bench:
    """What a study needs to try one more candidate; no part of it goes into a model file.

    Parameters
    ----------
    fit : callable
        `assay.fit`.
    dataset : Dataset
        The prepared table.
    arguments : dict
        What `fit` was called with, the ledger with the finished units among it.
    tried : tuple of str
        Candidates that were added by hand.
    """

    fit: Callable[..., Any]
    dataset: Dataset
    arguments: Mapping[str, Any]
    tried: tuple[str, ...] = ()

    def add(self, estimator: Any, name: str | None, taken: set[str]) -> Any:
        """Fit the new candidate's units and choose again among all.

        Parameters
        ----------
        estimator : estimator or Family
            The new candidate.
        name : str or None
            How to call it.
        taken : set of str
            Names that are there already.
        """
        given = dict(self.arguments)
        models = dict(given.pop("models") or {})
        name = self._name(estimator, name, taken | set(models))
        options = given.pop("options")
        given |= {"models": {**models, name: estimator}, "on_table": None}
        study = self.fit(self.dataset, **given, **options)
        tried = (*self.tried, name)
        study.bench = replace(study.bench, tried=tried)
        study.record["notes"].append(
            f"added by hand after scores had been seen: {', '.join(tried)}; what was learned from "
            "them may make the score a little too good, which a test set (holdout) would show"
        )
        return study

    def _name(self, estimator: Any, name: str | None, taken: set[str]) -> str:
        if name is not None:
            if name in taken:
                raise ParameterError(f"name must be new; {name!r} is in this study already")
            return name
        plain = estimator.name if isinstance(estimator, Family) else type(estimator).__name__
        number, name = 1, plain
        while name in taken:
            number += 1
            name = f"{plain} ({number})"
        return name


def remember(
    study: Any, fit: Callable[..., Any], dataset: Dataset, arguments: Mapping[str, Any], held: Any
) -> Any:
    """Return the study with what `Study.try_` needs.

    Parameters
    ----------
    study : Study
        Just made.
    fit : callable
        What made it.
    dataset : Dataset
        The prepared table.
    arguments : mapping
        What `fit` was called with.
    held : Holdout or None
        The rows that were set aside; they stay aside.
    """
    again = {key: value for key, value in arguments.items() if key != "source"}
    study.bench = Bench(fit, dataset, {**again, "holdout": held})
    return study
