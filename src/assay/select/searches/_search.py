"""Search all families for the best candidate, with a nested estimate of its score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import DataError, ParameterError
from assay.select.choose import Evidence, Outcome, run_plan
from assay.select.plan import N_BLOCKS, Question, RowPartitions, blocks_in_time, make_plan
from assay.select.run import Family, Runner
from assay.select.searches._assemble import outcome_of
from assay.select.searches._resources import Resources
from assay.select.searches._rules import Rules


def search(
    question: Question,
    families: Sequence[Family],
    rules: Rules | None = None,
    resources: Resources | None = None,
) -> Outcome:
    """Choose the best candidate of all families, and estimate how good such a choice is.

    Parameters
    ----------
    question : Question
        Rows, targets, metric and costs.
    families : sequence of Family
        The candidates.
    rules : Rules, optional
        How rows are split and a choice is made. Everything here may change the result.
    resources : Resources, optional
        Workers, ledger and limits.

    Returns
    -------
    Outcome
        The choice, its nested score, the leaderboard and all steps between.

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
    >>> question = Question.of(*load_iris(return_X_y=True), task="multiclass")
    >>> grid = [{"C": c} for c in (0.1, 1.0)]
    >>> outcome = search(question, [Family("logistic", LogisticRegression(max_iter=500), grid)])
    >>> outcome.chosen.params, round(outcome.score.value, 2), outcome.work
    ({'C': 1.0}, 0.97, Work(fits=26, naive_fits=56, units=15))
    """
    rules, resources = rules or Rules(), resources or Resources()
    limit = resources.limit()
    families = _checked_families(families)
    blocks = _partitions(question, rules)
    with resources.open(families, question) as (ledger, n_jobs, cluster):
        runner = Runner(
            question.data,
            families,
            blocks.partitions,
            ledger,
            seed=rules.seed,
            n_jobs=n_jobs,
            backend=resources.backend,
            cluster=cluster,
            progress=resources.progress,
        )
        order = _priority(rules.priority, families)
        evidence = Evidence(question, blocks, runner)
        run = run_plan(evidence, stages=rules.stages, deadline=limit, stacked=rules.stack)
        if order is not None:  # a deadline may have cut families
            owner = np.repeat(range(len(families)), [len(each.candidates) for each in families])
            evidence.priority = order[[families[index] in runner.families for index in owner]]
        return outcome_of(evidence, run, rules)


def _partitions(question: Question, rules: Rules) -> RowPartitions:
    given = _blocks(rules.blocks, len(question.y), rules.repeats)
    has_time = question.time is not None
    if given is not None:
        n_blocks = int(given.max()) + 1
    elif rules.n_blocks is not None:
        n_blocks = rules.n_blocks
    elif question.time is None or rules.plan == "holdout":
        n_blocks = N_BLOCKS
    else:
        n_blocks = blocks_in_time(question.time)
    plan = make_plan(rules.plan, n_blocks, has_time=has_time, repeats=rules.repeats)
    return RowPartitions(question, plan, rules.repeats, rules.seed, given)


def _checked_families(families: Sequence[Family]) -> list[Family]:
    checked = list(families)
    if not checked:
        raise ParameterError("families must hold at least one family; got none")
    for family in checked:
        if not isinstance(family, Family):
            raise ParameterError(f"families must hold Family objects; got {family!r}")
    return checked


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
    if blocks is None:
        return None
    column = np.asarray(blocks)
    if column.shape != (n,):
        raise DataError(f"blocks must have one value per row, shape ({n},); got {column.shape}")
    if repeats > 1:
        raise ParameterError(f"repeats must be 1 when blocks are given; got {repeats}")
    if column.dtype.kind not in "iu" or column.min() < 0:
        raise DataError(f"blocks must hold whole numbers 0, 1, ...; got type {column.dtype}")
    empty = np.flatnonzero(np.bincount(column) == 0)
    if len(empty):
        raise DataError(f"blocks must be numbered 0..K-1 without gaps; block {empty[0]} is empty")
    return column.astype(np.int64)
