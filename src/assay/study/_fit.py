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
    """Find the best model for a column of a table, and measure how good it is.

    Parameters
    ----------
    source : path, "-", file object or dataframe
        The table: CSV, TSV, Parquet, Arrow, NDJSON, Excel, or a pandas, Polars or Arrow frame.
    target : str
        The column to predict.
    metric : str, callable or None, default=None
        What to optimise: any scikit-learn scorer. None: roc_auc for two classes, accuracy for more,
        r2 for numbers. For a ranking: ndcg@10 (None) or any ndcg@K, ndcg_linear@K, map, auc,
        kendall_tau.
    effort : {"quick", "normal", "thorough"}, default="normal"
        How many candidates are tried and how often the rows are split anew. Counted in work units,
        so that the same effort gives the same result on every machine.
    budget : float, str or None, default=None
        Time limit: seconds, or a text such as "90s", "10m", "1.5h". Families run one after another,
        the cheapest first; what would not finish is skipped and listed in the notes. A limit that
        skips nothing has no effect on the result. With the same `ledger`, a later fit with more
        time continues where this one stopped.
    memory : float, str or None, default=None
        Memory limit: bytes, or a text such as "4GB"; fewer workers run if necessary. None: four
        fifths of the free memory. The result does not depend on it.
    seed : int, default=0
        Random seed. The same seed and table give the same bytes.
    n_jobs : int or None, default=None
        Number of workers; None for one per core. The result does not depend on it.
    backend : {"threads", "processes", "dask"}, default="threads"
        Kind of workers. The result does not depend on it.
    scheduler : str or None, default=None
        Address of a Dask scheduler, such as "tcp://127.0.0.1:8786", whose workers are used;
        `n_jobs` then has no effect. Needs the extra "dask". The result does not depend on it.
    models : mapping of str to estimator or Family, default=None
        Candidates of your own, by name, in addition to the default ones: any scikit-learn estimator
        or pipeline, or an `assay.select.Family` with several candidates.
    defaults : bool, default=True
        Whether the default candidates are tried; False leaves only `models`.
    search : {"grid", "sobol"}, default="grid"
        How hyperparameters of the default candidates are sampled: on a grid, whose members share
        most work, or from a Sobol sequence with as many points. For a search that learns from
        scores, see `assay.select.AdaptiveSearch`.
    kinds : mapping of str to str, default=None
        Kinds of columns that overrule the inferred ones, such as ``{"zip": "nominal"}`` or
        ``{"size": "ordinal:S<M<L"}``.
    drop : iterable of str, default=()
        Columns to leave out.
    group : str or None, default=None
        Rows with the same value of this column stay together in every split. For a ranking, the
        query.
    time : str or None, default=None
        Column that orders the rows in time: only the past predicts the future.
    weights : str or None, default=None
        Column with the weight of each row.
    positive : str or None, default=None
        The positive one of two classes.
    cost : array-like, mapping, str or sequence of str, default=None
        Cost of each mistake: ``{("spam", "ham"): 10}`` or ``"spam,ham=10"`` (truth, prediction;
        all others cost 1), or a matrix with a row per true and a column per predicted class, in
        alphabetical order. The mean cost is minimised, and every prediction is the one of least
        expected cost by the model's probabilities.
    stack : bool or None, default=None
        Whether a weighted ensemble may be chosen when it is not worse than the best single model;
        its weights are learned inside every split. None: yes, except with effort "quick".
    calibrate : bool or None, default=None
        Whether probabilities (log loss, Brier score, costs) and thresholds (F1, balanced accuracy
        and similar, of two classes) are corrected if it helps, inside every split. None: yes,
        except with effort "quick".
    prefer : {"best", "simplest"}, default="best"
        "simplest": the smallest model that is neither significantly nor probably worse than the
        best. The rule is applied inside every split as well, so the score belongs to it.
    task : {"binary", "multiclass", "regression", "rank"} or None, default=None
        What is predicted; found from the target if None. "rank": the target is the relevance of an
        item (greater is better), and items are ordered within each query.
    holdout : float, path, file object, dataframe or None, default=None
        A test set that takes no part until `Study.open_holdout` opens it, once: a share of the rows
        from 0.05 to 0.5 (usually 0.2), balanced by target, whole groups on one side, and the last
        rows if there is a time; or a table of its own.
    ledger : Ledger, path or None, default=None
        Where finished work is kept; a fit that was interrupted continues from there.
    progress : callable or None, default=None
        Called with a `Progress` before the first unit of work and after each.
    **options
        Passed to `assay.table.read`: delimiter, decimal, encoding, sheet, missing.

    Returns
    -------
    Study
        The model, its score, and the record of how both were made.

    Raises
    ------
    DataError
        If the table cannot be used this way.
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
