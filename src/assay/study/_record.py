"""The record of a study: one plain dict that the report, the model file and scripts share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from assay import __version__
from assay.base import DataError
from assay.evaluate import Interval
from assay.select import Gap, Outcome
from assay.study import _diagnostics
from assay.study._choice_record import check_choice, choice_record, describe_chosen
from assay.study._holdout import check_holdout
from assay.table import Dataset

RECORD_FORMAT = 1

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars")


def build_record(
    dataset: Dataset,
    outcome: Outcome,
    *,
    effort: str,
    notes: Sequence[str],
    gap: Gap | None = None,
) -> dict[str, Any]:
    """Return everything that was found, as JSON values; no times, so that bytes repeat.

    Parameters
    ----------
    dataset : Dataset
        The prepared table.
    outcome : Outcome
        What the search found.
    effort : str
        How hard it searched.
    notes : sequence of str
        What else the user should know.
    gap : Gap or None
        Training score against honest score.
    """
    metric = outcome.metric
    return {
        **table_record(dataset),
        "seed": outcome.seed,
        "effort": effort,
        "notes": [*dataset.notes, *notes, *outcome.notes],
        "plan": _fields(outcome.plan),
        "metric": {
            "name": metric.name,
            "greater_is_better": metric.greater_is_better,
            "low": metric.low,
            "high": metric.high,
        },
        "score": {"metric": metric.name, **_fields(outcome.score)},
        "baseline": {
            "name": outcome.baseline.name,
            "metric": metric.name,
            **_fields(outcome.baseline.score),
        },
        "gain": _fields(outcome.gain),
        "verdict": _verdict(outcome.gain, outcome.baseline.name),
        "quick": None if outcome.quick is None else _fields(outcome.quick),
        "plain": None if outcome.plain is None else {**_fields(outcome.plain), "text": outcome.how},
        "scores": [{"metric": name, **_fields(found)} for name, found in outcome.scores.items()],
        "chosen": _chosen(outcome),
        "choice": choice_record(outcome, gap, _plain),
        "nested": [{**_fields(row), "params": _plain(row.params)} for row in outcome.nested],
        "leaderboard": [
            {**_fields(row), "params": _plain(row.params)} for row in outcome.leaderboard
        ],
        "work": _fields(outcome.work),
        "diagnostics": _diagnose(dataset, outcome),
        **_cost(outcome),
        "versions": {"assay": __version__, **{name: version(name) for name in _LIBRARIES}},
    }


def _chosen(outcome: Outcome) -> dict[str, Any]:
    """Return the final choice; of a stack, its weights stand for parameters in its own part."""
    family, params = outcome.chosen.family.name, outcome.chosen.params
    score = outcome.chosen.score
    if outcome.stack is not None:
        family, params = f"stack of {len(outcome.stack.members)}", {}
        score = outcome.stack.score
    return {
        "family": family,
        "params": _plain(params),
        "score": score,
        "text": describe_chosen(outcome, describe_candidate),
    }


def _cost(outcome: Outcome) -> dict[str, Any]:
    """Return what mistakes cost; nothing if they all cost the same."""
    if outcome.cost is None:
        return {}
    how = "each decision is the one of least expected cost by the model's own probabilities"
    return {
        "cost": {
            "classes": [str(label) for label in outcome.cost.classes],
            "matrix": outcome.cost.values.tolist(),
            "text": f"{outcome.cost}; {how}",
        }
    }


def table_record(dataset: Dataset) -> dict[str, Any]:
    """Return the part of the record that is known before any fit: rows, columns, target."""
    return {
        "format": RECORD_FORMAT,
        "assay": __version__,
        "source": dataset.source,
        "digest": dataset.digest,
        "task": dataset.target.task,
        "target": _target(dataset),
        "rows": {
            "read": dataset.account.read,
            "used": dataset.account.used,
            "dropped": [{"reason": why, "count": n} for why, n in dataset.account.dropped],
        },
        "columns": dataset.overview,
        "notes": list(dataset.notes),
    }


# What every reader of a record relies on; the rest is shown if it is there.
_SHAPE: dict[str, type | tuple[type, ...]] = {
    "source": str, "digest": str, "seed": int, "effort": str, "task": str, "target": dict,
    "rows": dict, "columns": list, "notes": list, "plan": dict, "metric": dict, "score": dict,
    "baseline": dict, "gain": dict, "verdict": dict, "quick": (dict, type(None)), "chosen": dict,
    "nested": list, "leaderboard": list, "work": dict, "diagnostics": dict, "versions": dict,
}  # fmt: skip
_NUMBERS = ("value", "low", "high", "level")


def check_record(record: Any) -> None:
    """Refuse a record that this version could not show.

    Parameters
    ----------
    record : dict
        As `build_record` made it, after a journey through a model file.

    Raises
    ------
    DataError
        Naming what is missing or of the wrong type.
    """
    if not isinstance(record, dict) or record.get("format") != RECORD_FORMAT:
        raise DataError("the record is damaged or of another version of Assay")
    for name, kind in _SHAPE.items():
        if not isinstance(record.get(name), kind):
            raise DataError(f"the record is damaged: {name} is missing or of the wrong type")
    for name in ("score", "baseline", "gain"):
        if not all(isinstance(record[name].get(number), (int, float)) for number in _NUMBERS):
            raise DataError(f"the record is damaged: {name} is no score with an interval")
    if "holdout" in record:
        check_holdout(record["holdout"])
    if not isinstance(record.get("cost", {}), dict):
        raise DataError("the record is damaged: cost is of the wrong type")
    if "choice" in record:
        check_choice(record["choice"])
    for name, fields in (("verdict", ("code", "text")), ("chosen", ("family", "text"))):
        if not all(isinstance(record[name].get(field), str) for field in fields):
            raise DataError(f"the record is damaged: {name} has no words")


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


def _target(dataset: Dataset) -> dict[str, Any]:
    target = dataset.target
    page: dict[str, Any] = {
        "name": target.name,
        "classes": None,
        "positive": None,
        "counts": None,
        "histogram": None,
    }
    if target.classes is None:
        page["histogram"] = _diagnostics.histogram(*np.histogram(dataset.y, bins=30))
        return page
    page["classes"] = list(target.classes)
    page["counts"] = np.bincount(dataset.y, minlength=len(target.classes)).tolist()
    if target.positive is not None:
        page["positive"] = target.classes[target.positive]
    return page


def _verdict(gain: Interval, baseline: str) -> dict[str, str]:
    if gain.low > 0:
        text = f"better than the baseline ({baseline}): the gain is {gain.value:.4g}, at least "
        return {"code": "better", "text": text + f"{gain.low:.4g} with {gain.level:.0%} confidence"}
    text = f"no better than guessing: the gain over the baseline ({baseline}) may be zero "
    return {"code": "no better", "text": text + f"({gain.low:.4g} to {gain.high:.4g})"}


def _diagnose(dataset: Dataset, outcome: Outcome) -> dict[str, Any]:
    # Repeats predict every row again; one prediction per row is what a reader expects to count.
    first = outcome.outer.repeat == 0
    truth = dataset.y[outcome.outer.row[first]]
    if outcome.task == "rank":
        assert outcome.outer.value is not None
        assert dataset.groups is not None
        queries = dataset.groups[outcome.outer.row[first]]
        return _diagnostics.ranking(truth, outcome.outer.value[first], queries)
    if outcome.outer.label is None:
        assert outcome.outer.value is not None
        return _diagnostics.regression(truth, outcome.outer.value[first])
    probability = outcome.outer.probability
    if probability is not None:
        probability = probability[first]
        if not np.isfinite(probability).all():  # a chosen model without probabilities
            probability = None
    return _diagnostics.classification(
        truth,
        outcome.outer.label[first],
        probability,
        dataset.target.classes or (),
        dataset.target.positive,
    )


def _fields(record: Any) -> dict[str, Any]:
    """Return the fields of a flat dataclass as JSON values."""
    return {name: _plain(getattr(record, name)) for name in record.__dataclass_fields__}


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it; what cannot be, in words."""
    if isinstance(value, Mapping):
        # In the order of a model file, so that a study reads the same before and after saving.
        return {str(name): _plain(value[name]) for name in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return repr(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)
