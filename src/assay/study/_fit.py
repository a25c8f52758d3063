"""The main job: a table and a question in, a study out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.base import ParameterError, check_option
from assay.evaluate import get_metric
from assay.multiclass import CostClassifier
from assay.select import Ledger, refit, search
from assay.study._model import Model
from assay.study._portfolio import EFFORTS, own_families, portfolio
from assay.study._record import build_record, table_record
from assay.study._study import Study
from assay.table import Dataset, prepare, read

# Fresh partitions of the rows: more of them steady the score, and cost as much again.
_REPEATS = {"quick": 1, "normal": 2, "thorough": 4}
# From here on one partition says enough, and a single holdout is both cheaper and exact.
_MANY_ROWS = 20_000
_TOO_MANY_ROWS = 200_000


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
    seed: int = 0,
    n_jobs: int | None = None,
    backend: str = "threads",
    models: Mapping[str, Any] | None = None,
    defaults: bool = True,
    kinds: Mapping[str, str] | None = None,
    drop: Iterable[str] = (),
    group: str | None = None,
    time: str | None = None,
    weights: str | None = None,
    positive: str | None = None,
    cost: Any = None,
    task: str | None = None,
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
        How many candidates are tried and how often the rows are split anew.
    seed : int, default=0
        Same seed, same table: same bytes.
    n_jobs : int or None, default=None
        Workers; None for one per core. The result does not depend on it.
    backend : {"threads", "processes"}, default="threads"
        What the workers are. The result does not depend on it.
    models : mapping of str to estimator or Family, default=None
        Models of your own, by name, tried beside the default ones: any scikit-learn estimator or
        pipeline, or an `assay.select.Family` with candidates.
    defaults : bool, default=True
        Whether the default candidates are tried; False leaves only `models`.
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
    task : {"binary", "multiclass", "regression", "rank"} or None, default=None
        What is predicted; found from the target if None. "rank": the target says how good an item
        is (greater is better), and items are put in order within each query.
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
    check_option("effort", effort, EFFORTS)
    raw = read(source, **options)
    dataset = prepare(
        raw,
        target,
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
    families, notes = portfolio(dataset, effort, probabilities=asked) if defaults else ([], [])
    families += own_families(models or {}, dataset)
    if not families:
        raise ParameterError("models must name at least one model when defaults=False; got none")
    outcome = search(
        dataset.X,
        dataset.y,
        families,
        task=dataset.target.task,
        metric=metric,
        weight=dataset.weight,
        groups=dataset.groups,
        time=dataset.time,
        classes=dataset.target.classes,
        positive=dataset.target.positive,
        cost=cost,
        **_split(dataset, effort),
        seed=seed,
        n_jobs=-1 if n_jobs is None else n_jobs,
        backend=backend,
        ledger=ledger,
        data_digest=dataset.digest,
        progress=_told(progress),
    )
    queries = dataset.groups if dataset.target.task == "rank" else None
    fitted = refit(outcome, dataset.X, dataset.y, dataset.weight, queries=queries)
    record = build_record(dataset, outcome, effort=effort, notes=[*notes, *fitted.notes])
    estimator = fitted.estimator
    if outcome.cost is not None:
        width: Any = getattr(estimator, "n_features_in_", dataset.X.shape[1])
        estimator = CostClassifier.of_fitted(estimator, outcome.cost, width)
    model = Model(dataset.schema, dataset.target, fitted.encoder, estimator)
    return Study(record, model)


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
        return {"plan": "forward", "repeats": 1}
    if n_rows > _TOO_MANY_ROWS:
        return {"plan": "holdout", "repeats": 1}
    return {"plan": "pair-out", "repeats": _REPEATS[effort] if n_rows <= _MANY_ROWS else 1}


def _told(progress: Callable[[Progress], object] | None) -> Callable[..., None] | None:
    if progress is None:
        return None

    def tell(done: int, total: int, seconds_left: float | None, text: str) -> None:
        progress(Progress(done, total, seconds_left, text))

    return tell
