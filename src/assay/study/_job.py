"""The two steps of the main job: prepare a table, then fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from assay.base import ParameterError, check_n_jobs
from assay.evaluate import get_metric
from assay.multiclass import CostClassifier
from assay.record import FamilyRule, TableRecord
from assay.select import (
    Deadline,
    Family,
    Ledger,
    Question,
    Resources,
    Rules,
    blocks_in_time,
    forward,
    refit,
    search,
    seconds_of,
    sobol_family,
)
from assay.study._default_candidates import default_candidates, own_families
from assay.study._holdout import Holdout, prepare_with_holdout
from assay.study._model import Model
from assay.study._progress import Progress, with_progress
from assay.study._record import build_record, table_record
from assay.study._refit_context import RefitContext
from assay.study._settings import SearchSettings
from assay.study._study import Study
from assay.table import Dataset, read

# Fresh partitions of the rows: more of them steady the score, and cost as much again.
_REPEATS = {"quick": 1, "normal": 2, "thorough": 4}
# From this many rows on, one partition is enough.
_MANY_ROWS = 20_000
# From this many rows on, a single holdout is both cheaper and exact.
_HOLDOUT_ROWS = 200_000
# Share of the time limit that the search may take; the model file and the report need the rest.
_SEARCH_SHARE = 0.97
# Share of the time limit that candidates are planned for: machines differ, and choices are fitted
# again for each block and for all rows.
_PLANNED_SHARE = 0.75


def prepare(
    source: Any,
    target: str,
    *,
    kinds: Mapping[str, str] | None = None,
    drop: Iterable[str] = (),
    group: str | None = None,
    time: str | None = None,
    weights: str | None = None,
    positive: str | None = None,
    task: str | None = None,
    holdout: Any = None,
    seed: int = 0,
    **options: Any,
) -> Job:
    """Read a table and make it ready to fit, without fitting anything.

    Parameters
    ----------
    source : path, "-", file object or dataframe
        The table, as in `assay.fit`.
    target : str
        The column to predict.
    kinds : mapping of str to str, default=None
        Kinds of columns that overrule the inferred ones, such as ``{"zip": "nominal"}``.
    drop : iterable of str, default=()
        Columns to leave out.
    group : str or None, default=None
        Rows with the same value of this column stay together in every split. Of a ranking, the
        query.
    time : str or None, default=None
        Column that orders the rows in time.
    weights : str or None, default=None
        Column with the weight of each row.
    positive : str or None, default=None
        The positive one of two classes.
    task : {"binary", "multiclass", "regression", "rank"} or None, default=None
        What is predicted; found from the target if None.
    holdout : float, path, file object, dataframe or None, default=None
        A test set to set aside: a share of the rows, or a table of its own.
    seed : int, default=0
        Seed of the split into training and test set, and of the fits.
    **options
        Passed to `assay.table.read`: delimiter, decimal, encoding, sheet, missing.

    Returns
    -------
    Job
        The prepared table; its `Job.fit` gives the study.

    Raises
    ------
    DataError
        If the table cannot be used this way.
    ParameterError
        If an argument is out of its range.

    Examples
    --------
    >>> import assay
    >>> job = assay.study.prepare(assay.datasets.path("penguins"), "species", holdout=0.2)
    >>> job.table.rows.read, job.table.rows.used
    (344, 275)
    >>> study = job.fit(effort="quick")
    >>> study.verdict
    'better'
    """
    begin = monotonic()
    dataset, aside = prepare_with_holdout(
        read(source, **options),
        holdout,
        seed=seed,
        options=options,
        target=target,
        kinds=kinds,
        drop=(drop,) if isinstance(drop, str) else tuple(drop),
        group=group,
        time=time,
        weights=weights,
        positive=positive,
        task=task,
    )
    return Job(dataset, aside, seed, monotonic() - begin)


@dataclass(frozen=True, eq=False)
class Job:
    """A table ready to fit. Made by `prepare`.

    Parameters
    ----------
    dataset : Dataset
        The training rows.
    holdout : Holdout or None
        The test set that was set aside.
    seed : int
        Seed of all random numbers.
    seconds : float
        How long the preparation took; a time limit covers it.

    Attributes
    ----------
    table : TableRecord
        The part of the record that is known before any fit: rows, columns, target.
    findings : list of str
        Everything worth knowing about the table and the test set before any fit.
    """

    dataset: Dataset = field(repr=False)
    holdout: Holdout | None = field(repr=False)
    seed: int
    seconds: float = field(repr=False)

    @property
    def table(self) -> TableRecord:
        """The part of the record that is known before any fit: rows, columns, target."""
        return table_record(self.dataset)

    @property
    def findings(self) -> list[str]:
        """Everything worth knowing about the table and the test set before any fit."""
        of_holdout = () if self.holdout is None else self.holdout.record.notes
        return [*self.dataset.notes, *of_holdout]

    def fit(
        self,
        settings: SearchSettings | None = None,
        *,
        extra: Mapping[str, Any] | None = None,
        progress: Callable[[Progress], object] | None = None,
        **changes: Any,
    ) -> Study:
        """Find the best model for the table, and measure how good it is.

        Parameters
        ----------
        settings : SearchSettings, default=None
            How to search; the defaults if None.
        extra : mapping of str to estimator or Family, default=None
            Candidates that were added after scores had been seen; a note names them.
        progress : callable or None, default=None
            Called with a `Progress` before the first unit of work and after each.
        **changes
            Single settings by name, such as ``effort="quick"``.

        Returns
        -------
        Study
            The same as `assay.fit` returns for this table and these settings.
        """
        settings = replace(settings or SearchSettings(), **changes)
        if settings.ledger is None:  # in memory, so that `Study.try_` finds the finished work
            settings = replace(settings, ledger=Ledger())
        added = dict(extra or {})
        data = self.dataset
        deadline = None
        if settings.budget is not None:
            spent = 0.0 if added else self.seconds
            deadline = Deadline(_SEARCH_SHARE * seconds_of(settings.budget) - spent)
        split = _split(data, settings.effort)
        families, notes, rules = self._candidates(settings, added, split, deadline)
        question = Question.of(
            data.X,
            data.y,
            task=data.target.task,
            metric=settings.metric,
            weight=data.weight,
            groups=data.groups,
            time=data.time,
            classes=data.target.classes,
            positive=data.target.positive,
            cost=settings.cost,
            data_digest=data.digest,
        )
        choice_rules = Rules(
            stack=settings.may_stack,
            calibrate=settings.may_calibrate,
            prefer=settings.prefer,
            **split,
            seed=self.seed,
            stages=None,
        )
        resources = Resources(
            n_jobs=settings.workers,
            backend=settings.backend,
            scheduler=settings.scheduler,
            ledger=settings.ledger,
            memory=settings.memory,
            deadline=deadline,
            progress=with_progress(progress),
        )
        outcome = search(question, families, choice_rules, resources)
        fitted = refit(outcome, question)
        record = build_record(
            data,
            outcome,
            effort=settings.effort,
            notes=[*notes, *fitted.notes, *outcome.notes, *_hindsight(added)],
            gap=fitted.gap,
            rules=rules,
            holdout=None if self.holdout is None else self.holdout.record,
        )
        estimator = fitted.estimator
        if outcome.cost is not None:
            width: Any = getattr(estimator, "n_features_in_", data.X.shape[1])
            estimator = CostClassifier.of_fitted(estimator, outcome.cost, width)
        model = Model(data.schema, data.target, fitted.encoder, estimator)
        study = Study(record, model, self.holdout)
        study.refit_context = RefitContext(self, settings, added, progress)
        return study

    def _candidates(
        self,
        settings: SearchSettings,
        extra: Mapping[str, Any],
        split: Mapping[str, Any],
        deadline: Deadline | None,
    ) -> tuple[list[Family], list[str], list[FamilyRule]]:
        """Return the families to try, what was left out and why, and the rules."""
        families: list[Family] = []
        notes: list[str] = []
        rules: list[FamilyRule] = []
        probabilities = _needs_probability(self.dataset, settings.metric, settings.cost)
        if settings.defaults:
            families, notes, rules = default_candidates(
                self.dataset,
                settings.effort,
                probabilities=probabilities,
                fits=_fits(split),
                limit=None if deadline is None else _room(deadline, settings.workers),
            )
        if settings.search == "sobol":
            families = [sobol_family(family, self.seed) for family in families]
            notes = [
                *notes,
                "hyperparameters of the default candidates come from a Sobol sequence",
            ]
        families = [*families, *own_families({**(settings.models or {}), **extra}, self.dataset)]
        if not families:
            raise ParameterError(
                "models must name at least one model when defaults=False; got none"
            )
        return families, notes, rules


def _hindsight(extra: Mapping[str, Any]) -> list[str]:
    if not extra:
        return []
    return [
        f"added by hand after seeing scores: {', '.join(extra)}; this can make the score slightly "
        "too good, which a test set (holdout) would show"
    ]


def _needs_probability(dataset: Dataset, metric: Any, cost: Any) -> bool:
    """Whether models without probabilities cannot be scored; not known of a user's scorer."""
    if dataset.target.classes is None or callable(metric):
        return False
    found = get_metric(metric, dataset.target.task)
    return cost is not None or found.needs_probability(len(dataset.target.classes))


def _split(dataset: Dataset, effort: str) -> dict[str, Any]:
    """Return the plan and its repeats for a table of this size."""
    n_rows = len(dataset.y)
    if dataset.time is not None:
        return {"plan": "forward", "repeats": 1, "n_blocks": blocks_in_time(dataset.time)}
    if n_rows > _HOLDOUT_ROWS:
        return {"plan": "holdout", "repeats": 1}
    return {"plan": "pair-out", "repeats": _REPEATS[effort] if n_rows <= _MANY_ROWS else 1}


def _room(deadline: Deadline, workers: int) -> float:
    """Return the work units that a deadline has room for, outer fits and the last one apart."""
    return _PLANNED_SHARE * 1000.0 * deadline.left() * check_n_jobs(workers)


def _fits(split: Mapping[str, Any]) -> int:
    """Return how many training sets every candidate is fitted on."""
    if split["plan"] == "forward":
        return len(forward(split["n_blocks"]).splits)
    return {"pair-out": 10, "holdout": 1}[split["plan"]] * int(split["repeats"])  # of five blocks
