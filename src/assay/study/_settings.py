"""How the best model is searched for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.base import check_option
from assay.select import Ledger, seconds_of
from assay.study._default_candidates import EFFORTS


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchSettings:
    """How the best model is searched for; the parameters are explained in `assay.fit`.

    Parameters
    ----------
    metric : str, callable or None, default=None
        What to maximise or minimise.
    effort : {"quick", "normal", "thorough"}, default="normal"
        How many candidates are tried.
    budget : float, str or None, default=None
        Time limit.
    memory : float, str or None, default=None
        Memory limit.
    n_jobs : int or None, default=None
        Number of workers.
    backend : {"threads", "processes", "dask"}, default="threads"
        Kind of workers.
    scheduler : str or None, default=None
        Address of a Dask scheduler.
    models : mapping of str to estimator or Family, default=None
        Candidates of your own.
    defaults : bool, default=True
        Whether the default candidates are tried.
    search : {"grid", "sobol"}, default="grid"
        How hyperparameters are sampled.
    cost : array-like, mapping, str or sequence of str, default=None
        Cost of each mistake.
    stack : bool or None, default=None
        Whether a weighted ensemble may be chosen.
    calibrate : bool or None, default=None
        Whether probabilities and thresholds may be corrected.
    prefer : {"best", "simplest"}, default="best"
        Rule of the choice.
    ledger : Ledger, path or None, default=None
        Where finished work is kept.

    Examples
    --------
    >>> SearchSettings(effort="quick").search
    'grid'
    """

    metric: str | Callable[..., float] | None = None
    effort: str = "normal"
    budget: float | str | None = None
    memory: float | str | None = None
    n_jobs: int | None = None
    backend: str = "threads"
    scheduler: str | None = None
    models: Mapping[str, Any] | None = None
    defaults: bool = True
    search: str = "grid"
    cost: Any = None
    stack: bool | None = None
    calibrate: bool | None = None
    prefer: str = "best"
    ledger: Ledger | str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        check_option("effort", self.effort, EFFORTS)
        if self.budget is not None:
            seconds_of(self.budget)
        check_option("search", self.search, ("grid", "sobol"))

    @property
    def may_stack(self) -> bool:
        """Whether a weighted ensemble may be chosen."""
        return self.effort != "quick" if self.stack is None else self.stack

    @property
    def may_calibrate(self) -> bool:
        """Whether probabilities and thresholds may be corrected."""
        return self.effort != "quick" if self.calibrate is None else self.calibrate

    @property
    def workers(self) -> int:
        """Number of workers as the search takes it: -1 for one per core."""
        return -1 if self.n_jobs is None else self.n_jobs
