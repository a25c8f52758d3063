"""How the choice was made, for the page: the ladder, the stack, calibration and the gap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.report._format import decimals, figure, metric_short, params_text, short

Page = dict[str, Any]

MAX_RUNGS = 30
_WAYS = {
    "none": "as they are",
    "sigmoid": "sigmoid",
    "isotonic": "staircase (isotonic)",
    "temperature": "temperature",
    "threshold": "threshold moved",
}


def choice(data: Mapping[str, Any]) -> Page | None:
    """Return what the page tells about the choice; None for a record without it.

    Parameters
    ----------
    data : dict
        The cleaned record.
    """
    found = data.get("choice")
    if not isinstance(found, Mapping):
        return None
    places = decimals(data["score"])
    shown = {
        "metric": metric_short(str(data["metric"]["name"])),
        "rule": _rule(str(found.get("prefer") or "best")),
        "rungs": [_rung(row, places) for row in (found.get("ladder") or [])[:MAX_RUNGS]],
        "stack": _stack(found, data, places),
        "calibration": _calibration(found.get("calibration"), places),
        "gap": _gap(found.get("gap"), data, places),
    }
    return shown if any(shown[name] for name in ("rungs", "stack", "calibration", "gap")) else None


def _rule(prefer: str) -> str:
    if prefer == "simplest":
        return (
            "The rule was to take the smallest model that is neither significantly nor probably "
            "worse than the best; the honest score belongs to this rule."
        )
    return "The rule was to take the best; a smaller model that is about as good is named here."


def _rung(row: Mapping[str, Any], places: int) -> Page:
    return {
        "name": row["name"],
        "params": params_text(row.get("params") or {}),
        "size": "–" if row.get("size") is None else short(round(float(row["size"]))),
        "score": figure(row.get("score"), places),
        "lead": figure(row.get("lead"), places),
        "chance": _probability(row.get("p_value")),
        "equal": _probability(row.get("equal")),
        "verdict": _verdict(row),
        "chosen": bool(row.get("chosen")),
    }


def _verdict(row: Mapping[str, Any]) -> str:
    if row.get("chosen"):
        return "chosen"
    if row.get("p_value") is None:
        return "cannot be told"
    if row.get("significantly_worse"):
        return "worse"
    worse = row.get("worse")
    if worse is not None and worse > 0.5:
        return "probably worse"
    return "about as good"


def _probability(value: Any) -> str:
    if not isinstance(value, (int, float)):
        return "–"
    if 0 <= value < 0.001:
        return "< 0.001"
    return "> 0.999" if value > 0.999 else f"{value:.3f}"


def _stack(found: Mapping[str, Any], data: Mapping[str, Any], places: int) -> Page | None:
    stack = found.get("stack")
    blocks, of = found.get("stacked_blocks") or 0, len(data.get("nested") or [])
    where = f"A stack was taken in {blocks} of {of} outer choices."
    if not stack:
        return {"members": [], "text": where} if blocks else None
    single, score = figure(stack.get("single"), places), figure(stack.get("score"), places)
    return {
        "members": [
            {
                "family": member.get("family"),
                "params": params_text(member.get("params") or {}),
                "weight": f"{float(member.get('weight') or 0):.2f}",
            }
            for member in stack.get("members") or []
        ],
        "text": (
            f"Its weights are learned from predictions for rows that no fit behind them saw. Where "
            f"they were learned without the block that scores, the stack scores {score} and the "
            f"best candidate alone {single}. {where}"
        ),
    }


def _calibration(found: Mapping[str, Any] | None, places: int) -> Page | None:
    if not found:
        return None
    scores = found.get("scores") or {}
    best = found.get("method") or "none"
    more = max(places, 4)
    return {
        "rows": [
            {
                "way": _WAYS.get(name, name),
                "score": figure(score, more),
                "chosen": name == best,
            }
            for name, score in scores.items()
        ],
        "threshold": None
        if found.get("threshold") is None
        else f"The second class is predicted where its probability exceeds "
        f"{short(found['threshold'])}.",
    }


def _gap(gap: Mapping[str, Any] | None, data: Mapping[str, Any], places: int) -> str | None:
    if not gap or gap.get("train") is None:
        return None
    train, test = figure(gap["train"], places), figure(data["score"]["value"], places)
    size = figure(gap.get("gap"), places)
    return (
        f"On the rows it was fitted on the model scores {train}, on rows it has not seen {test}: "
        f"a gap of {size}. A large gap is a model that learns by heart; it is no fault while the "
        f"honest score is good."
    )
