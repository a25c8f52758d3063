"""How the choice was made, for the page: the ladder, the stack, calibration and the gap."""

from __future__ import annotations

from typing import Any

from assay.record import Calibration, Choice, Gap, Rung, StudyRecord
from assay.report._format import decimals, figure, finite, metric_short, params_text, short

Page = dict[str, Any]

MAX_RUNGS = 30
_WAYS = {
    "none": "as they are",
    "sigmoid": "sigmoid",
    "isotonic": "staircase (isotonic)",
    "temperature": "temperature",
    "threshold": "threshold moved",
}


def choice(data: StudyRecord) -> Page | None:
    """Return what the page tells about the choice; None for a record without it.

    Parameters
    ----------
    data : StudyRecord
        The cleaned record.
    """
    found = data.choice
    if found is None:
        return None
    places = decimals(data.score)
    shown = {
        "metric": metric_short(data.metric.name),
        "rule": _rule(found.prefer),
        "rungs": [_rung(row, places) for row in found.ladder[:MAX_RUNGS]],
        "stack": _stack(found, data, places),
        "calibration": _calibration(found.calibration, places),
        "gap": _gap(found.gap, data, places),
    }
    return shown if any(shown[name] for name in ("rungs", "stack", "calibration", "gap")) else None


def _rule(prefer: str) -> str:
    if prefer == "simplest":
        return (
            "The rule was to take the smallest model that is neither significantly nor probably "
            "worse than the best; the honest score belongs to this rule."
        )
    return "The rule was to take the best; a smaller model that is about as good is named here."


def _rung(row: Rung, places: int) -> Page:
    return {
        "name": row.name,
        "params": params_text(row.params),
        "size": "–" if (size := finite(row.size)) is None else short(round(size)),
        "score": figure(row.score, places),
        "lead": figure(row.lead, places),
        "chance": _probability(row.p_value),
        "equal": _probability(row.equal),
        "verdict": _verdict(row),
        "chosen": row.chosen,
    }


def _verdict(row: Rung) -> str:
    if row.chosen:
        return "chosen"
    if finite(row.p_value) is None:
        return "cannot be told"
    if row.significantly_worse:
        return "worse"
    if row.worse is not None and row.worse > 0.5:
        return "probably worse"
    return "about as good"


def _probability(value: float | None) -> str:
    value = finite(value)
    if value is None:
        return "–"
    if 0 <= value < 0.001:
        return "< 0.001"
    return "> 0.999" if value > 0.999 else f"{value:.3f}"


def _stack(found: Choice, data: StudyRecord, places: int) -> Page | None:
    stack, blocks, of = found.stack, found.stacked_blocks, len(data.nested)
    where = f"A stack was taken in {blocks} of {of} outer choices."
    if stack is None:
        return {"members": [], "text": where} if blocks else None
    single, score = figure(stack.single, places), figure(stack.score, places)
    return {
        "members": [
            {
                "family": member.family,
                "params": params_text(member.params),
                "weight": f"{member.weight:.2f}",
            }
            for member in stack.members
        ],
        "text": (
            f"Its weights are learned from predictions for rows that no fit behind them saw. Where "
            f"they were learned without the block that scores, the stack scores {score} and the "
            f"best candidate alone {single}. {where}"
        ),
    }


def _calibration(found: Calibration | None, places: int) -> Page | None:
    if found is None:
        return None
    best = found.method or "none"
    more = max(places, 4)
    return {
        "rows": [
            {
                "way": _WAYS.get(name, name),
                "score": figure(score, more),
                "chosen": name == best,
            }
            for name, score in found.scores.items()
        ],
        "threshold": None
        if found.threshold is None
        else f"The second class is predicted where its probability exceeds "
        f"{short(found.threshold)}.",
    }


def _gap(gap: Gap | None, data: StudyRecord, places: int) -> str | None:
    if gap is None or finite(gap.train) is None:
        return None
    train, test = figure(gap.train, places), figure(data.score.value, places)
    size = figure(gap.gap, places)
    return (
        f"On the rows it was fitted on the model scores {train}, on rows it has not seen {test}: "
        f"a gap of {size}. A large gap is a model that learns by heart; it is no fault while the "
        f"honest score is good."
    )
