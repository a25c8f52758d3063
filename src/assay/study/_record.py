"""The record of a study, made from what the search found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from assay import __version__
from assay import record as parts
from assay.base import Task
from assay.evaluate import Interval
from assay.record import FORMAT, StudyRecord, TableRecord, decimals, figure
from assay.select import Gap, Outcome
from assay.study import _diagnostics
from assay.study._choice_record import choice_record, describe_chosen, json_params
from assay.table import Dataset, RowAccount

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars")


def build_record(
    dataset: Dataset,
    outcome: Outcome,
    *,
    effort: str,
    notes: Sequence[str],
    gap: Gap | None = None,
    rules: Sequence[parts.FamilyRule] = (),
    holdout: parts.HoldoutPart | None = None,
) -> StudyRecord:
    """Return everything that was found; no times, so that bytes repeat.

    Parameters
    ----------
    dataset : Dataset
        The prepared table.
    outcome : Outcome
        What the search found.
    effort : str
        How hard it searched.
    notes : sequence of str
        Notes before those of the search.
    gap : Gap or None
        Training score against honest score.
    rules : sequence of FamilyRule
        Why each default family was tried.
    holdout : HoldoutPart or None
        The test set that was set aside.
    """
    metric = outcome.metric
    plan, work, base = outcome.plan, outcome.work, outcome.baseline
    score = parts.Score(metric=metric.name, **_numbers(outcome.score))
    return StudyRecord(
        **vars(table_record(dataset, notes=notes)),
        seed=outcome.seed,
        effort=effort,
        plan=parts.Plan(**_numbers(plan)),
        metric=parts.Metric(
            name=metric.name,
            greater_is_better=metric.greater_is_better,
            low=metric.low,
            high=metric.high,
        ),
        score=score,
        baseline=parts.Baseline(name=base.name, metric=metric.name, **_numbers(base.score)),
        gain=parts.Estimate(**_numbers(outcome.gain)),
        verdict=_verdict(outcome.gain, base.name, decimals(score)),
        quick=None if outcome.quick is None else parts.Estimate(**_numbers(outcome.quick)),
        plain=None
        if outcome.plain is None
        else parts.PlainEstimate(**_numbers(outcome.plain), text=outcome.how),
        scores=tuple(
            parts.Score(metric=name, **_numbers(found)) for name, found in outcome.scores.items()
        ),
        chosen=_chosen(outcome),
        choice=choice_record(outcome, gap),
        nested=tuple(parts.NestedChoice(**_numbers(row)) for row in outcome.nested),
        leaderboard=tuple(parts.Candidate(**_numbers(row)) for row in outcome.leaderboard),
        work=parts.Work(**_numbers(work)),
        diagnostics=_diagnose(dataset, outcome),
        cost=_cost(outcome),
        versions={"assay": __version__, **{name: version(name) for name in _LIBRARIES}},
        portfolio=tuple(rules) or None,
        holdout=holdout,
    )


def table_record(dataset: Dataset, *, notes: Sequence[str] = ()) -> TableRecord:
    """Return the part of the record that is known before any fit: rows, columns, target.

    Parameters
    ----------
    dataset : Dataset
        The prepared table.
    notes : sequence of str
        Notes after its own.
    """
    return TableRecord(
        format=FORMAT,
        assay=__version__,
        source=dataset.source,
        digest=dataset.digest,
        task=dataset.target.task,
        target=_target(dataset),
        rows=rows_part(dataset.account),
        columns=tuple(map(parts.Column.from_json, dataset.overview)),
        notes=(*dataset.notes, *notes),
    )


def rows_part(account: RowAccount) -> parts.Rows:
    """Return where every row went."""
    return parts.Rows(
        read=account.read,
        used=account.used,
        dropped=tuple(parts.Dropped(reason=why, count=n) for why, n in account.dropped),
    )


def _chosen(outcome: Outcome) -> parts.Chosen:
    """Return the final choice; of a stack, its weights stand for parameters in its own part."""
    family, params = outcome.chosen.family.name, outcome.chosen.params
    score = outcome.chosen.score
    if outcome.stack is not None:
        family, params = f"stack of {len(outcome.stack.members)}", {}
        score = outcome.stack.score
    return parts.Chosen(
        family=family,
        params=json_params(params),
        score=score,
        text=describe_chosen(outcome, describe_candidate),
    )


def _cost(outcome: Outcome) -> parts.Cost | None:
    """Return what mistakes cost; nothing if they all cost the same."""
    if outcome.cost is None:
        return None
    how = "each decision is the one of least expected cost by the model's own probabilities"
    return parts.Cost(
        classes=tuple(str(label) for label in outcome.cost.classes),
        matrix=tuple(map(tuple, outcome.cost.values.tolist())),
        text=f"{outcome.cost}; {how}",
    )


def describe_candidate(family: str, params: Mapping[str, Any]) -> str:
    """Return a candidate in words.

    Examples
    --------
    >>> describe_candidate("ridge regression", {"alpha": 10.0})
    'ridge regression with alpha=10.0'
    """
    if not params:
        return family
    return f"{family} with " + ", ".join(f"{name}={params[name]}" for name in sorted(params))


def _target(dataset: Dataset) -> parts.Target:
    target = dataset.target
    if target.classes is None:
        counts, edges = np.histogram(dataset.y, bins=30)
        histogram = _diagnostics.histogram(counts, edges)
        return parts.Target(
            name=target.name, classes=None, positive=None, counts=None, histogram=histogram
        )
    return parts.Target(
        name=target.name,
        classes=target.classes,
        positive=None if target.positive is None else target.classes[target.positive],
        counts=tuple(np.bincount(dataset.y, minlength=len(target.classes)).tolist()),
        histogram=None,
    )


def _verdict(gain: Interval, baseline: str, places: int) -> parts.Verdict:
    value, low, high = (figure(number, places) for number in (gain.value, gain.low, gain.high))
    if gain.low > 0:
        text = f"better than the baseline ({baseline}): the gain is {value}, at least {low}"
        return parts.Verdict(code="better", text=f"{text} with {gain.level:.0%} confidence")
    text = f"no better than guessing: the gain over the baseline ({baseline}) may be zero "
    return parts.Verdict(code="no better", text=text + f"({low} to {high})")


def _diagnose(dataset: Dataset, outcome: Outcome) -> parts.Diagnostics:
    # All predictions behind the score, those of every repeat: so whoever counts finds the score.
    truth = dataset.y[outcome.outer.row]
    if outcome.task == Task.RANK:
        assert outcome.outer.value is not None
        assert dataset.groups is not None
        queries = dataset.groups[outcome.outer.row]
        return _diagnostics.ranking(truth, outcome.outer.value, queries)
    if outcome.outer.label is None:
        assert outcome.outer.value is not None
        return _diagnostics.regression(truth, outcome.outer.value)
    probability = outcome.outer.probability
    if probability is not None and not np.isfinite(probability).all():
        probability = None  # a chosen model without probabilities
    return _diagnostics.classification(
        truth,
        outcome.outer.label,
        probability,
        dataset.target.classes or (),
        dataset.target.positive,
    )


def _numbers(found: Any) -> dict[str, Any]:
    """Return the fields of a flat dataclass as plain Python values."""
    return {name: _plain_value(getattr(found, name)) for name in found.__dataclass_fields__}


def _plain_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return json_params(value)
    return value.item() if isinstance(value, np.generic) else value
