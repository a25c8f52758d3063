"""How the model was chosen, for the page: ladder, stack, calibration and gap."""

from __future__ import annotations

from typing import Any

from assay.record import Calibration, Choice, Gap, Rung, StudyRecord, decimals, figure, finite
from assay.report._format import metric_name, params_text, short

Page = dict[str, Any]

MAX_RUNGS = 30
_WAYS = {
    "none": "not calibrated",
    "sigmoid": "sigmoid",
    "isotonic": "isotonic",
    "temperature": "temperature scaling",
    "threshold": "threshold moved",
}


def choice(data: StudyRecord) -> Page | None:
    """Return what the page shows of the choice; None for a record without it.

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
        "metric": metric_name(data.metric.name),
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
            "Rule: the smallest model that is neither significantly nor probably worse than the "
            "best. The score above was measured with this rule."
        )
    return "Rule: the best model. Smaller models that are about equally good are marked."


def _rung(row: Rung, places: int) -> Page:
    return {
        "name": row.name,
        "params": params_text(row.params),
        "size": "–" if (size := finite(row.size)) is None else f"{round(size):,}",
        "score": figure(row.score, places),
        "lead": figure(row.lead, places),
        "p_value": _probability(row.p_value),
        "equal": _probability(row.equal),
        "verdict": _verdict(row),
        "chosen": row.chosen,
    }


def _verdict(row: Rung) -> str:
    if row.chosen:
        return "chosen"
    if finite(row.p_value) is None:
        return "not comparable"
    if row.significantly_worse:
        return "worse"
    if row.worse is not None and row.worse > 0.5:
        return "probably worse"
    return "about equally good"


def _probability(value: float | None) -> str:
    value = finite(value)
    if value is None:
        return "–"
    if 0 <= value < 0.001:
        return "< 0.001"
    return "> 0.999" if value > 0.999 else f"{value:.3f}"


def _stack(found: Choice, data: StudyRecord, places: int) -> Page | None:
    stack, blocks, of = found.stack, found.stacked_blocks, len(data.nested)
    where = f"A stack was chosen in {blocks} of {of} blocks."
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
            f"A weighted ensemble. The weights come from out-of-fold predictions: the stack scores "
            f"{score}, the best single model {single}. {where}"
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
        else f"The second class is predicted where its probability is above "
        f"{short(found.threshold)}.",
    }


def _gap(gap: Gap | None, data: StudyRecord, places: int) -> str | None:
    if gap is None or finite(gap.train) is None:
        return None
    train, test = figure(gap.train, places), figure(data.score.value, places)
    return (
        f"The model scores {train} on its training rows and {test} on new rows. "
        f"Most models fit their training rows better than new ones. Rely on the score for new rows."
    )
