"""The record of a study as lines of text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from assay.report._format import (
    clean,
    count,
    decimals,
    figure,
    level,
    metric_short,
    names,
    notes_to_show,
    params_text,
    span,
    work_text,
)
from assay.report._holdout import holdout_text

_WIDTH = 11
_LINE = 88
_MAX_NOTES = 10
_MODEL_WIDTH = 60


def overview_text(record: Mapping[str, Any]) -> str:
    """Return what was read: rows that add up, columns by kind, what was set aside and why.

    Parameters
    ----------
    record : dict
        A record, or the part of it with ``rows`` and ``columns``.

    Examples
    --------
    >>> print(overview_text({
    ...     "rows": {"read": 10, "used": 9, "dropped": [{"reason": "no target", "count": 1}]},
    ...     "columns": [
    ...         {"name": "age", "kind": "numeric", "role": "feature"},
    ...         {"name": "id", "kind": "identifier", "role": "dropped", "reason": "all different"},
    ...     ],
    ... }))
    Rows       10 read = 9 used + 1 dropped
               1 dropped: no target
    Columns    numeric (1): age
               set aside: id: all different
    """
    data = clean(record)
    rows = data["rows"]
    lost = [entry for entry in rows.get("dropped") or [] if entry["count"]]
    total = sum(entry["count"] for entry in lost)
    lines = [f"{rows['read']:,} read = {rows['used']:,} used + {total:,} dropped"]
    lines += [f"{entry['count']:,} dropped: {entry['reason']}" for entry in lost]
    return "\n".join([_block("Rows", lines), _block("Columns", _columns(data["columns"]))])


def summary_text(record: Mapping[str, Any], *, top: int = 5) -> str:
    """Return the score against the baseline, the verdict, the best candidates and the choice.

    Parameters
    ----------
    record : dict
        The plain record of a study.
    top : int, default=5
        How many candidates to list.
    """
    data = clean(record)
    score, baseline = data["score"], data["baseline"]
    name = metric_short(str(data["metric"]["name"]))
    places = decimals(score)
    lines = [
        _block(
            "Score",
            [
                f"{name} {figure(score['value'], places)}  "
                f"({level(score)} interval {span(score, places)})"
            ],
        ),
        _block("Baseline", [f"{name} {figure(baseline['value'], places)}  ({baseline['name']})"]),
    ]
    if (data.get("verdict") or {}).get("text"):
        lines.append(_block("Verdict", [data["verdict"]["text"]]))
    if (data.get("chosen") or {}).get("text"):
        lines.append(_block("Chosen", [data["chosen"]["text"]]))
    if (data.get("cost") or {}).get("text"):
        lines.append(_block("Costs", [data["cost"]["text"]]))
    lines.append(_block("Best", _ranking(data["leaderboard"], top)))
    if (data.get("plan") or {}).get("text"):
        lines.append(_block("Measured", [data["plan"]["text"]]))
    if data.get("holdout"):
        lines.append(_block("Test set", holdout_text(data)))
    if (data.get("work") or {}).get("fits") is not None:
        lines.append(_block("Work", [work_text(data["work"])]))
    if notes_to_show(data):
        lines.append(_block("Notes", notes_to_show(data)[:_MAX_NOTES]))
    return "\n".join(lines)


def _columns(columns: Sequence[Mapping[str, Any]]) -> list[str]:
    kinds: dict[str, list[str]] = {}
    lines: list[str] = []
    aside: dict[str, list[str]] = {}
    for column in columns:
        role = column.get("role")
        if role == "feature":
            kinds.setdefault(str(column["kind"]), []).append(column["name"])
        elif role == "dropped":
            aside.setdefault(str(column.get("reason") or "set aside"), []).append(column["name"])
        else:
            lines.append(f"{role}: {column['name']}")
    lines += [f"{kind} ({len(found):,}): {names(found, 8)}" for kind, found in kinds.items()]
    lines += [f"set aside: {names(found, 8)}: {reason}" for reason, found in aside.items()]
    return lines


def _ranking(entries: Sequence[Mapping[str, Any]], top: int) -> list[str]:
    scored = [row for row in entries if not row.get("failed") and row.get("score") is not None]
    failed = [row for row in entries if row.get("failed")]
    shown = scored[:top]
    spread = [row["sd"] for row in shown if row.get("sd")]
    places = decimals({"low": 0.0, "high": 2 * min(spread)}) if spread else 4
    models = [_model(row) for row in shown]
    width = max((len(model) for model in models), default=0)
    values = [figure(row["score"], places) for row in shown]
    digits = max((len(value) for value in values), default=0)
    lines = [
        f"{row['rank']:>2}  {model:<{width}}  {value:>{digits}}  sd {figure(row.get('sd'), places)}"
        for row, model, value in zip(shown, models, values, strict=True)
    ]
    if len(scored) > top:
        lines.append(f"    and {count(len(scored) - top, 'more candidate')}")
    if failed:
        reasons = sorted({f"{row['family']}: {row['failed']}" for row in failed})
        lines.append(f"    {len(failed):,} without a score: {names(reasons, 3)}")
    return lines


def _model(row: Mapping[str, Any]) -> str:
    settings = params_text(row.get("params") or {})
    text = f"{row['family']}, {settings}" if settings else str(row["family"])
    return text if len(text) <= _MODEL_WIDTH else text[: _MODEL_WIDTH - 1] + "…"


def _block(name: str, lines: Sequence[str]) -> str:
    wrapped = [part for line in lines for part in _wrapped(line)]
    heads = [name, *[""] * (len(wrapped) - 1)]
    return "\n".join(
        f"{head:<{_WIDTH}}{line}".rstrip() for head, line in zip(heads, wrapped, strict=False)
    )


def _wrapped(line: str) -> list[str]:
    if len(line) <= _LINE:
        return [line]
    indent = "    " if line.startswith(" ") else ""
    return textwrap.wrap(line, _LINE, subsequent_indent=indent, break_on_hyphens=False)
