"""How the choice was made: stack, calibration, ladder and gap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from assay.record import Calibration, Choice, Stack, StackMember
from assay.record import Gap as GapPart
from assay.record import Rung as RungPart
from assay.select import Gap, Outcome, Rung

_WAYS = {
    "sigmoid": "probabilities calibrated by a sigmoid",
    "isotonic": "probabilities calibrated by isotonic regression",
    "temperature": "probabilities calibrated by temperature scaling",
}


def describe_chosen(outcome: Outcome, describe: Callable[[str, Mapping[str, Any]], str]) -> str:
    """Return the final choice as a text: candidate or stack, calibration, threshold.

    Parameters
    ----------
    outcome : Outcome
        What the search found.
    describe : callable
        From a family and hyperparameters to a text.
    """
    if outcome.stack is None:
        text = describe(outcome.chosen.family.name, outcome.chosen.params)
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


def choice_record(outcome: Outcome, gap: Gap | None) -> Choice:
    """Return how the choice was made.

    Parameters
    ----------
    outcome : Outcome
        What the search found.
    gap : Gap or None
        Training score against honest score.
    """
    found = outcome.calibration
    return Choice(
        prefer=outcome.prefer,
        stack=None
        if outcome.stack is None
        else Stack(
            members=tuple(
                StackMember(
                    family=member.family.name,
                    params=json_params(member.params),
                    weight=member.weight,
                )
                for member in outcome.stack.members
            ),
            score=outcome.stack.score,
            single=outcome.stack.single,
        ),
        stacked_blocks=sum(row.family.startswith("stack of ") for row in outcome.nested),
        calibration=None
        if found is None
        else Calibration(
            method=found.method,
            threshold=found.threshold,
            scores={name: float(found.scores[name]) for name in sorted(found.scores)},
        ),
        ladder=tuple(map(_rung, outcome.ladder)),
        gap=None if gap is None else GapPart(train=gap.train, test=gap.test, gap=gap.gap),
    )


def json_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return hyperparameters as JSON can hold them; other values as text.

    They are sorted as in a model file, so that a study reads the same before and after saving.
    """
    return {str(name): _plain(params[name]) for name in sorted(params)}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return json_params(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return repr(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def _rung(rung: Rung) -> RungPart:
    return RungPart(
        name=rung.name,
        params=json_params(rung.params),
        size=rung.size,
        score=rung.score,
        lead=rung.lead,
        p_value=rung.p_value,
        worse=rung.worse,
        equal=rung.equal,
        better=rung.better,
        significantly_worse=rung.significantly_worse,
        chosen=rung.chosen,
    )
