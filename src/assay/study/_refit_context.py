"""What a study needs to add a candidate and choose again among all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from assay.base import ParameterError
from assay.select import Family
from assay.study._progress import Progress
from assay.study._settings import SearchSettings

Made = TypeVar("Made", covariant=True)


class Fits(Protocol[Made]):
    """A prepared table that can be fitted again: a `Job`, which makes studies."""

    def fit(
        self,
        settings: SearchSettings | None = None,
        *,
        extra: Mapping[str, Any] | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> Made:
        """Find the best model."""


@dataclass(frozen=True, eq=False)
class RefitContext(Generic[Made]):
    """The job and the settings of a fit; no part of it goes into a model file.

    Parameters
    ----------
    job : Job
        The prepared table.
    settings : SearchSettings
        How it was searched, with the ledger that holds the finished units.
    extra : mapping of str to estimator or Family
        Candidates that were added by hand so far.
    progress : callable or None
        Called during a fit.
    """

    job: Fits[Made]
    settings: SearchSettings
    extra: Mapping[str, Any]
    progress: Callable[[Progress], object] | None

    def add(self, estimator: Any, name: str | None, taken: set[str]) -> Made:
        """Fit the new candidate's units and choose again among all.

        Parameters
        ----------
        estimator : estimator or Family
            The new candidate.
        name : str or None
            Name to show.
        taken : set of str
            Names of the candidates of the study.
        """
        name = _new_name(estimator, name, taken | set(self.settings.models or {}))
        extra = {**self.extra, name: estimator}
        return self.job.fit(self.settings, extra=extra, progress=self.progress)


def _new_name(estimator: Any, name: str | None, taken: set[str]) -> str:
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
