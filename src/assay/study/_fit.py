"""The main job: a table and a question in, a study out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from assay.select import Ledger
from assay.study._job import prepare
from assay.study._progress import Progress
from assay.study._settings import SearchSettings
from assay.study._study import Study


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
    settings = SearchSettings(
        metric=metric,
        effort=effort,
        budget=budget,
        memory=memory,
        n_jobs=n_jobs,
        backend=backend,
        scheduler=scheduler,
        models=models,
        defaults=defaults,
        search=search,
        cost=cost,
        stack=stack,
        calibrate=calibrate,
        prefer=prefer,
        ledger=ledger,
    )
    job = prepare(
        source,
        target,
        kinds=kinds,
        drop=drop,
        group=group,
        time=time,
        weights=weights,
        positive=positive,
        task=task,
        holdout=holdout,
        seed=seed,
        **options,
    )
    return job.fit(settings, progress=progress)
