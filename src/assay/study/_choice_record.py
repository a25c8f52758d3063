"""How the choice was made, as JSON values: stack, calibration, ladder and gap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.base import DataError
from assay.select import Gap, Outcome, Rung

_WAYS = {
    "sigmoid": "probabilities calibrated by a sigmoid",
    "isotonic": "probabilities calibrated by a staircase",
    "temperature": "probabilities calibrated by a temperature",
}


def describe_chosen(outcome: Outcome, told: Callable[[str, Mapping[str, Any]], str]) -> str:
    """Return the final choice in words: candidate or stack, calibration, threshold.

    Parameters
    ----------
    outcome : Outcome
        What the search found.
    told : callable
        From a family and parameters to words.
    """
    if outcome.stack is None:
        text = told(outcome.chosen.family.name, outcome.chosen.params)
    else:
        members = outcome.stack.members
        parts = ", ".join(f"{member.weight:.2f} {member.family.name}" for member in members)
        text = f"stack of {len(members)}: {parts}"
    found = outcome.calibration
    if found is not None and found.method in _WAYS:
        text += f"; {_WAYS[found.method]}"
    if found is not None and found.threshold is not None:
        text += f"; threshold {found.threshold:.3g}"
    return text


def choice_record(outcome: Outcome, gap: Gap | None, plain: Callable[[Any], Any]) -> dict[str, Any]:
    """Return what the report tells about the choice.

    Parameters
    ----------
    outcome : Outcome
        What the search found.
    gap : Gap or None
        Training score against honest score.
    plain : callable
        Turns parameters into JSON values.
    """
    found = outcome.calibration
    return {
        "prefer": outcome.prefer,
        "stack": None
        if outcome.stack is None
        else {
            "members": [
                {
                    "family": member.family.name,
                    "params": plain(member.params),
                    "weight": member.weight,
                }
                for member in outcome.stack.members
            ],
            "score": outcome.stack.score,
            "single": outcome.stack.single,
        },
        "stacked_blocks": sum(row.family.startswith("stack of ") for row in outcome.nested),
        "calibration": None
        if found is None
        else {
            "method": found.method,
            "threshold": found.threshold,
            "scores": plain(found.scores),
        },
        "ladder": [_rung(rung, plain) for rung in outcome.ladder],
        "gap": None if gap is None else {"train": gap.train, "test": gap.test, "gap": gap.gap},
    }


def check_choice(choice: Any) -> None:
    """Refuse what could not be shown, as a damaged or edited file may hold."""
    if not isinstance(choice, dict) or not isinstance(choice.get("ladder"), list):
        raise DataError("the record is damaged: choice is of the wrong type")
    for name in ("stack", "calibration", "gap"):
        if not isinstance(choice.get(name), (dict, type(None))):
            raise DataError(f"the record is damaged: choice.{name} is of the wrong type")
    for rung in choice["ladder"]:
        if not isinstance(rung, dict) or not isinstance(rung.get("name"), str):
            raise DataError("the record is damaged: choice.ladder is of the wrong type")


def _rung(rung: Rung, plain: Callable[[Any], Any]) -> dict[str, Any]:
    return {
        "name": rung.name,
        "params": plain(rung.params),
        "size": rung.size,
        "score": rung.score,
        "lead": rung.lead,
        "p_value": rung.p_value,
        "worse": rung.worse,
        "equal": rung.equal,
        "better": rung.better,
        "significantly_worse": rung.significantly_worse,
        "chosen": rung.chosen,
    }
