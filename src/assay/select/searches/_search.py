"""The engine of honest selection: rows and families in, an outcome out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from assay.base import DataError, ParameterError, check_interval, check_n_jobs, check_weight
from assay.evaluate import CostMatrix, Metric, cost_metric, get_metric
from assay.select.choose import (
    Judge,
    Options,
    Outcome,
    run_plan,
)
from assay.select.plan import (
    N_BLOCKS,
    Layout,
    Problem,
    blocks_in_time,
    make_plan,
)
from assay.select.run import (
    Deadline,
    Family,
    Ledger,
    Progress,
    Runner,
    bytes_of,
    connected,
    seconds_of,
    workers_within,
)
from assay.select.searches._assemble import outcome_of


def search(
    X: ArrayLike,
    y: ArrayLike,
    families: Sequence[Family],
    *,
    task: str,
    metric: str | Callable[..., float] | Metric | None = None,
    weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
    classes: Sequence[str] | None = None,
    positive: int | None = None,
    cost: Any = None,
    plan: str | None = None,
    n_blocks: int | None = None,
    repeats: int = 1,
    blocks: ArrayLike | None = None,
    priority: Sequence[int] | None = None,
    stack: bool = False,
    calibrate: bool = False,
    prefer: str = "best",
    seed: int = 0,
    n_jobs: int | None = 1,
    backend: str = "threads",
    scheduler: str | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    data_digest: str | None = None,
    quick: bool = True,
    stages: bool | None = False,
    deadline: float | str | Deadline | None = None,
    memory: float | str | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Choose the best candidate of all families, and say honestly how good such a choice is.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers; missing values as NaN.
    y : array-like of shape (n_samples,)
        Class codes 0..K-1, or numbers for regression and ranking (greater is better).
    families : sequence of Family
        The candidates.
    task : {"binary", "multiclass", "regression", "rank"}
        What `y` is.
    metric : str, callable, Metric or None
        See `assay.evaluate.get_metric`.
    weight : array-like of shape (n_samples,), optional
        Row weights: used in fits that take them and in scores that take them.
    groups : array-like of shape (n_samples,), optional
        Rows of one group are never on both sides of a split. Of a ranking, the queries.
    time : array-like of shape (n_samples,), optional
        Order in time: then models are trained on the past only.
    classes : sequence of str, optional
        Names of the classes; their number is the number of classes.
    positive : int, optional
        Code of the positive class of a binary task, 1 by default.
    cost : CostMatrix, array-like, mapping or str, optional
        What each mistake costs, in any form that `assay.evaluate.CostMatrix.of` reads. Every
        decision is then the one of least expected cost by the model's probabilities, and the mean
        cost is what is minimised, instead of `metric`.
    plan : {"pair-out", "forward", "holdout"}, optional
        How blocks are used; by default forward with `time`, else pair-out.
    n_blocks : int, optional
        Number of blocks, at least 3; by default 5, and up to 10 in time (`blocks_in_time`).
    repeats : int, default=1
        Fresh partitions; more of them make the score steadier.
    blocks : array-like of int of shape (n_samples,), optional
        Block of each row, 0..K-1, in the order of time for a forward plan; then `n_blocks`,
        `groups` and equal rows do not decide where a row goes.
    priority : sequence of int, optional
        One number per candidate, family by family: of scores that are equal to the last bit, the
        lowest wins. By default scores may differ by rounding, and the smaller model wins, then the
        candidate that comes first.
    stack : bool, default=False
        Whether candidates may be mixed, with weights from predictions for rows that no fit behind
        them saw; done unless that is clearly worse than the best candidate by an estimate inside.
    calibrate : bool, default=False
        Whether probabilities are corrected (for metrics that depend on them, and costs) and
        thresholds moved (for metrics on labels of two classes), where that is better.
    prefer : {"best", "simplest"}, default="best"
        "simplest": the smallest best-of-its-family that is not significantly worse than the best;
        so also inside every outer choice.
    seed : int, default=0
        The same seed gives the same result.
    n_jobs : int, default=1
        Workers; -1 for one per core. No effect on the result.
    backend : {"threads", "processes", "dask"}, default="threads"
        What a worker is. No effect on the result.
    scheduler : str, optional
        Address of a Dask scheduler, such as "tcp://127.0.0.1:8786": the units then run on its
        workers, and `n_jobs` has no effect. Needs the extra "dask".
    ledger : Ledger or path, optional
        Where finished units are kept, so that an interrupted search can go on.
    data_digest : str, optional
        Digest of the source; part of every key, with the digest of the values themselves.
    quick : bool, default=True
        Whether the bootstrap of the plain choice (BBC-CV) is told as well; the score is not made
        of it.
    stages : bool or None, default=False
        Whether families that are clearly worse after half of the fits of a pair-out plan are
        dropped, for each block by what was seen without it; None: from 10,000 rows on.
    deadline : float, str or Deadline, optional
        Seconds, or a time such as "10m", from now to the end of all fits. Families then run one
        after another; what would not be finished in time is not begun, and the notes name it. A
        deadline that cuts nothing has no effect on the result.
    memory : float or str, optional
        Bytes, or an amount such as "4GB", that the search may use: fewer workers run if need be.
        By default four fifths of what the machine has free.
    progress : callable, optional
        Called with (done, total, seconds left or None, what), first before any work.

    Returns
    -------
    Outcome
        The choice, its honest score, the leaderboard and everything between.

    Raises
    ------
    DataError
        If the rows cannot be split as asked, or no candidate could be fitted.
    ParameterError
        If an argument is out of its range.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = [{"C": c} for c in (0.1, 1.0)]
    >>> outcome = search(X, y, [Family("logistic", LogisticRegression(max_iter=500), grid)],
    ...                  task="multiclass")
    >>> outcome.chosen.params, round(outcome.score.value, 2), outcome.work
    ({'C': 1.0}, 0.97, Work(fits=26, naive_fits=56, units=15))
    """
    options = Options(stack, calibrate, prefer)
    check_interval("repeats", repeats, 1, integer=True)
    check_interval("seed", seed, 0, integer=True)
    limit = deadline if deadline is None or isinstance(deadline, Deadline) else seconds_of(deadline)
    if isinstance(limit, float):
        limit = Deadline(limit)
    families = _checked_families(families)
    problem = problem_of(X, y, weight, task, classes, data_digest)
    if task == "rank":
        problem = replace(problem, queries=_queries(groups, len(problem.y)))
    costs = _costs(cost, metric, task, problem.n_classes, classes)
    judge = Judge(
        get_metric(metric, task) if costs is None else cost_metric(costs),
        problem.X,
        problem.y,
        problem.weight,
        problem.n_classes,
        _positive(positive, problem.n_classes),
        costs,
        problem.queries,
    )
    given_blocks = _blocks(blocks, len(problem.y), repeats)
    if given_blocks is not None:
        n_blocks = int(given_blocks.max()) + 1
    elif n_blocks is None:
        n_blocks = N_BLOCKS if time is None or plan == "holdout" else blocks_in_time(time)
    layout = Layout(
        problem,
        task,
        make_plan(plan, n_blocks, has_time=time is not None, repeats=repeats),
        _column("groups", groups, len(problem.y)),
        _column("time", time, len(problem.y)),
        repeats,
        seed,
        None if classes is None else tuple(map(str, classes)),
        given_blocks,
    )
    given = ledger if isinstance(ledger, Ledger) else None
    opened = Ledger(ledger) if not isinstance(ledger, Ledger) else ledger
    # One BLAS thread whatever the number of workers: sums then have one order.
    with (
        nullcontext() if given is not None else opened,
        threadpool_limits(1),
        connected(scheduler) as cluster,
    ):
        runner = Runner(
            problem,
            families,
            layout.partitions,
            opened,
            seed=seed,
            n_jobs=workers_within(
                check_n_jobs(n_jobs),
                None if memory is None else bytes_of(memory),
                problem.X.nbytes,
                families,
                len(problem.y),
            ),
            backend=backend,
            cluster=cluster,
            progress=progress,
        )
        order = _priority(priority, families)
        ran = run_plan(
            runner, layout, judge, task, stages=stages, deadline=limit, stacked=options.stack
        )
        if order is not None:  # a deadline may have cut families
            owner = np.repeat(range(len(families)), [len(each.candidates) for each in families])
            order = order[[families[index] in runner.families for index in owner]]
        return outcome_of(runner, layout, judge, task, order, ran=ran, options=options, quick=quick)


def _checked_families(families: Sequence[Family]) -> list[Family]:
    checked = list(families)
    if not checked:
        raise ParameterError("families must hold at least one family; got none")
    for family in checked:
        if not isinstance(family, Family):
            raise ParameterError(f"families must hold Family objects; got {family!r}")
    return checked


def problem_of(
    X: ArrayLike,
    y: ArrayLike,
    weight: ArrayLike | None,
    task: str,
    classes: Sequence[str] | None = None,
    source: str | None = None,
) -> Problem:
    """Check the rows, their targets and weights, as `search` takes them."""
    matrix = np.asarray(X)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise DataError(
            f"X must be a matrix of numbers; got {matrix.ndim} axes of type {matrix.dtype}"
        )
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    target = np.asarray(y)
    if target.shape != (len(matrix),):
        raise DataError(
            f"y must have one value per row of X, shape ({len(matrix)},); got {target.shape}"
        )
    n_classes = None
    if task in ("regression", "rank"):
        target = target.astype(np.float64)
        if not np.isfinite(target).all():
            raise DataError("y has missing or infinite values; drop these rows first")
    else:
        target, n_classes = _codes(target, task, classes)
    return Problem(
        np.ascontiguousarray(matrix), target, check_weight(weight, matrix), n_classes, source
    )


def _codes(
    y: NDArray[Any], task: str, classes: Sequence[str] | None
) -> tuple[NDArray[np.int64], int]:
    if y.dtype.kind not in "iub" or (len(y) and y.min() < 0):
        raise DataError(f"y must hold class codes 0, 1, ... for a {task} task; got type {y.dtype}")
    codes = y.astype(np.int64)
    seen = int(codes.max(initial=-1)) + 1
    n_classes = seen if classes is None else len(classes)
    if seen > n_classes:
        raise DataError(f"y has code {seen - 1}, but only {n_classes} classes are named")
    if len(np.unique(codes)) < 2:
        raise DataError("y has one class only: there is nothing to learn; check the target column")
    if task == "binary" and n_classes != 2:
        raise DataError(f"y has {n_classes} classes, and the task is binary")
    return codes, n_classes


def _positive(positive: int | None, n_classes: int | None) -> int:
    if positive is None:
        return 1
    if n_classes != 2 or positive not in (0, 1):
        raise ParameterError(f"positive must be 0 or 1 and needs a binary task; got {positive!r}")
    return positive


def _costs(
    cost: Any, metric: Any, task: str, n_classes: int | None, classes: Sequence[str] | None
) -> CostMatrix | None:
    if cost is None:
        return None
    if n_classes is None:
        raise ParameterError(f"cost is for classes, and the task is {task}; leave it out")
    if metric is not None:
        raise ParameterError(
            f"cost and metric exclude each other: with costs, the mean cost is minimised; "
            f"got metric={metric!r}"
        )
    return CostMatrix.of(cost, range(n_classes) if classes is None else classes)


def _priority(given: Sequence[int] | None, families: Sequence[Family]) -> NDArray[np.int64] | None:
    if given is None:
        return None
    count = sum(len(family.candidates) for family in families)
    if len(given) != count:
        raise ParameterError(
            f"priority must have one number per candidate, {count} in all; got {len(given)}"
        )
    return np.asarray(given, dtype=np.int64)


def _blocks(blocks: ArrayLike | None, n: int, repeats: int) -> NDArray[np.int64] | None:
    column = _column("blocks", blocks, n)
    if column is None:
        return None
    if repeats > 1:
        raise ParameterError(f"repeats must be 1 when blocks are given; got {repeats}")
    if column.dtype.kind not in "iu" or column.min() < 0:
        raise DataError(f"blocks must hold whole numbers 0, 1, ...; got type {column.dtype}")
    empty = np.flatnonzero(np.bincount(column) == 0)
    if len(empty):
        raise DataError(f"blocks must be numbered 0..K-1 without gaps; block {empty[0]} is empty")
    return column.astype(np.int64)


def _queries(groups: ArrayLike | None, n: int) -> NDArray[np.int64]:
    column = _column("groups", groups, n)
    if column is None:
        raise ParameterError("groups must name the query of each row when task='rank'; got None")
    return np.unique(column, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _column(name: str, values: ArrayLike | None, n: int) -> NDArray[Any] | None:
    if values is None:
        return None
    column = np.asarray(values)
    if column.shape != (n,):
        raise DataError(f"{name} must have one value per row, shape ({n},); got {column.shape}")
    return column
