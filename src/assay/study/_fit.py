"""The main job: a table and a question in, a study out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.base import ParameterError, check_n_jobs, check_option
from assay.evaluate import get_metric
from assay.multiclass import CostClassifier
from assay.select import (
    Deadline,
    Ledger,
    Question,
    Resources,
    Rules,
    blocks_in_time,
    forward,
    refit,
    seconds_of,
    sobol_family,
)
from assay.select import search as choose
from assay.study._default_candidates import EFFORTS, default_candidates, own_families
from assay.study._holdout import prepared
from assay.study._model import Model
from assay.study._record import build_record, table_record
from assay.study._study import Study
from assay.study._try import kept, remember
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


@dataclass(frozen=True)
class Progress:
    """How far a fit is.

    Parameters
    ----------
    done, total : int
        Units of work.
    seconds_left : float or None
        None until it can be estimated.
    text : str
        What was done last.
    """

    done: int
    total: int
    seconds_left: float | None
    text: str


def fit(
    source: Any,
    target: str,
    *,
    metric: str | Callable[..., float] | None = None,
    effort: str = "normal",
    budget: float | str | None = None,
    memory: float | str | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    backend: str = "threads",
    scheduler: str | None = None,
    models: Mapping[str, Any] | None = None,
    defaults: bool = True,
    search: str = "grid",
    kinds: Mapping[str, str] | None = None,
    drop: Iterable[str] = (),
    group: str | None = None,
    time: str | None = None,
    weights: str | None = None,
    positive: str | None = None,
    cost: Any = None,
    stack: bool | None = None,
    calibrate: bool | None = None,
    prefer: str = "best",
    task: str | None = None,
    holdout: Any = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], object] | None = None,
    on_table: Callable[[dict[str, Any]], object] | None = None,
    **options: Any,
) -> Study:
    """Find the best model for a column of a table, and say honestly how good it is.

    Parameters
    ----------
    source : path, "-", file object or dataframe
        The table: CSV, TSV, Parquet, Arrow, NDJSON, Excel, or a pandas, Polars or Arrow frame.
    target : str
        The column to predict.
    metric : str, callable or None, default=None
        Any scikit-learn scorer. None: roc_auc for two classes, accuracy for more, r2 for numbers.
        Of a ranking: ndcg@10 (None) or any ndcg@K, ndcg_linear@K, map, auc, kendall_tau.
    effort : {"quick", "normal", "thorough"}, default="normal"
        How many candidates are tried and how often the rows are split anew: a budget in work
        units, so that the same effort gives the same result on every machine.
    budget : float, str or None, default=None
        Time that the fit may take: seconds, or "90s", "10m", "1.5h". Families then run one after
        another, the cheapest first; what would not be finished is not begun, and the notes name
        it. A budget that cuts nothing has no effect on the result. With the same `ledger`, a later
        fit with more time goes on where this one stopped.
    memory : float, str or None, default=None
        Bytes, or an amount such as "4GB", that the fit may use: fewer workers run if need be. None:
        four fifths of what the machine has free. The result does not depend on it.
    seed : int, default=0
        Same seed, same table: same bytes.
    n_jobs : int or None, default=None
        Workers; None for one per core. The result does not depend on it.
    backend : {"threads", "processes", "dask"}, default="threads"
        What the workers are. The result does not depend on it.
    scheduler : str or None, default=None
        Address of a Dask scheduler, such as "tcp://127.0.0.1:8786": its workers do the work, and
        `n_jobs` has no effect. Needs the extra "dask". The result does not depend on it.
    models : mapping of str to estimator or Family, default=None
        Models of your own, by name, tried beside the default ones: any scikit-learn estimator or
        pipeline, or an `assay.select.Family` with candidates.
    defaults : bool, default=True
        Whether the default candidates are tried; False leaves only `models`.
    search : {"grid", "sobol"}, default="grid"
        How the default candidates lie in their ranges: on grids, whose members share most work, or
        as many Sobol points. For searches that learn from scores, see
        `assay.select.AdaptiveSearch`.
    kinds : mapping of str to str, default=None
        Kinds of columns that you know better, such as ``{"zip": "nominal"}``.
    drop : iterable of str, default=()
        Columns to leave out.
    group : str or None, default=None
        Rows with the same value of this column stay together in every split. Of a ranking, the
        query.
    time : str or None, default=None
        Column that orders the rows in time: only the past predicts.
    weights : str or None, default=None
        Column that says how much each row counts.
    positive : str or None, default=None
        The class that counts as positive, of two.
    cost : array-like, mapping, str or sequence of str, default=None
        What each mistake costs: ``{("spam", "ham"): 10}`` or ``"spam,ham=10"`` (truth, prediction;
        what is not named costs 1), or a matrix with a row per true and a column per predicted
        class, in alphabetical order. The study then minimises the mean cost, and every prediction
        is the one of least expected cost by the model's own probabilities.
    stack : bool or None, default=None
        Whether models may be mixed, with weights learned inside every split, unless that is worse
        than the best one. None: with effort "normal" and "thorough".
    calibrate : bool or None, default=None
        Whether probabilities are corrected (log loss, Brier score, costs) and thresholds moved (F1,
        balanced accuracy and such, of two classes), inside every split, where that is better.
        None: with effort "normal" and "thorough".
    prefer : {"best", "simplest"}, default="best"
        "simplest": the smallest model that is neither significantly nor probably worse than the
        best, here and inside every split, so that the score belongs to this rule.
    task : {"binary", "multiclass", "regression", "rank"} or None, default=None
        What is predicted; found from the target if None. "rank": the target says how good an item
        is (greater is better), and items are put in order within each query.
    holdout : float, path, file object, dataframe or None, default=None
        A test set that nothing sees until `Study.open_holdout` opens it, once: a share of the rows
        from 0.05 to 0.5 (0.2 is the usual one), drawn so that both sides are alike, whole groups on
        one side, and the last rows if there is a time; or a table of its own.
    ledger : Ledger, path or None, default=None
        Where finished work is kept; a fit that was stopped goes on from there.
    progress : callable or None, default=None
        Called with a `Progress` before the first unit of work and after each.
    on_table : callable or None, default=None
        Called once, before any fit, with the part of the record that tells rows and columns.
    **options
        Passed to `assay.table.read`: delimiter, decimal, encoding, sheet, missing.

    Returns
    -------
    Study
        The model, its score, and how both came to be.

    Raises
    ------
    DataError
        If the table cannot be used as asked.
    ParameterError
        If an argument is out of its range.

    Examples
    --------
    >>> import assay
    >>> study = assay.fit(assay.datasets.path("penguins"), target="species", effort="quick")
    >>> study.verdict
    'better'
    """
    arguments = dict(locals())  # for `Study.try_`, which asks the same with one candidate more
    check_option("effort", effort, EFFORTS)
    deadline = None if budget is None else Deadline(_SEARCH_SHARE * seconds_of(budget))
    check_option("search", search, ("grid", "sobol"))
    ledger = arguments["ledger"] = kept(ledger)
    raw = source if isinstance(source, Dataset) else read(source, **options)
    dataset, held = prepared(
        raw,
        holdout,
        seed=seed,
        options=options,
        target=target,
        kinds=kinds,
        drop=drop,
        group=group,
        time=time,
        weights=weights,
        positive=positive,
        task=task,
    )
    if on_table is not None:
        on_table(table_record(dataset))
    asked = _needs_probability(dataset, metric, cost)
    split = _split(dataset, effort)
    families, notes, rules = (
        default_candidates(
            dataset,
            effort,
            probabilities=asked,
            fits=_fits(split),
            limit=None if deadline is None else _room(deadline, n_jobs),
        )
        if defaults
        else ([], [], [])
    )
    if search == "sobol":
        families = [sobol_family(family, seed) for family in families]
        notes = [*notes, "the default candidates are Sobol points in the ranges of the grids"]
    families += own_families(models or {}, dataset)
    if not families:
        raise ParameterError("models must name at least one model when defaults=False; got none")
    question = Question.of(
        dataset.X,
        dataset.y,
        task=dataset.target.task,
        metric=metric,
        weight=dataset.weight,
        groups=dataset.groups,
        time=dataset.time,
        classes=dataset.target.classes,
        positive=dataset.target.positive,
        cost=cost,
        data_digest=dataset.digest,
    )
    choice_rules = Rules(
        stack=effort != "quick" if stack is None else stack,
        calibrate=effort != "quick" if calibrate is None else calibrate,
        prefer=prefer,
        **split,
        seed=seed,
        stages=None,
    )
    resources = Resources(
        n_jobs=-1 if n_jobs is None else n_jobs,
        backend=backend,
        scheduler=scheduler,
        ledger=ledger,
        memory=memory,
        deadline=deadline,
        progress=_told(progress),
    )
    outcome = choose(question, families, choice_rules, resources)
    fitted = refit(outcome, question)
    record = build_record(
        dataset, outcome, effort=effort, notes=[*notes, *fitted.notes], gap=fitted.gap
    )
    if rules:
        record["portfolio"] = rules
    if held is not None:
        record["holdout"] = held.record
    estimator = fitted.estimator
    if outcome.cost is not None:
        width: Any = getattr(estimator, "n_features_in_", dataset.X.shape[1])
        estimator = CostClassifier.of_fitted(estimator, outcome.cost, width)
    model = Model(dataset.schema, dataset.target, fitted.encoder, estimator)
    made: Study = remember(Study(record, model, held), fit, dataset, arguments, held)
    return made


def _needs_probability(dataset: Dataset, metric: Any, cost: Any) -> bool:
    """Say whether models without probabilities cannot be scored; a user's scorer is not asked."""
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


def _room(deadline: Deadline, n_jobs: int | None) -> float:
    """Return the work units that a deadline has room for, outer fits and the last one apart."""
    return (
        _PLANNED_SHARE * 1000.0 * deadline.left() * check_n_jobs(-1 if n_jobs is None else n_jobs)
    )


def _fits(split: Mapping[str, Any]) -> int:
    """Return how many training sets every candidate is fitted on."""
    if split["plan"] == "forward":
        return len(forward(split["n_blocks"]).splits)
    return {"pair-out": 10, "holdout": 1}[split["plan"]] * int(split["repeats"])  # of five blocks


def _told(progress: Callable[[Progress], object] | None) -> Callable[..., None] | None:
    if progress is None:
        return None

    def tell(done: int, total: int, seconds_left: float | None, text: str) -> None:
        progress(Progress(done, total, seconds_left, text))

    return tell
