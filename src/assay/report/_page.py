"""From the record of a study to the texts, tables and charts of its page. Pure: dict to dict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.base import DataError
from assay.report import _charts
from assay.report._choice import choice
from assay.report._columns import cards
from assay.report._diagnostics import diagnostics
from assay.report._format import (
    clean,
    count,
    decimals,
    figure,
    level,
    metric_label,
    metric_meaning,
    metric_short,
    names,
    notes_to_show,
    params_text,
    span,
    work_text,
)
from assay.report._holdout import holdout_page

FORMAT = 1
MAX_RANKED = 60
MAX_DRAWN = 20
MAX_NESTED = 50
MAX_REASONS = 30
MAX_NOTES = 30
_TASKS = {
    "binary": "two classes",
    "multiclass": "several classes",
    "regression": "a number",
    "rank": "an order of the rows of each query",
}
_VERDICTS = {
    "better": "Better than the baseline",
    "no better": "No better than the baseline",
}
_REQUIRED = ("task", "target", "rows", "columns", "metric", "score", "baseline", "leaderboard")

Page = dict[str, Any]


def page(record: Mapping[str, Any]) -> Page:
    """Return everything the template shows.

    Parameters
    ----------
    record : dict
        The plain record of a study.

    Raises
    ------
    DataError
        If the record has another format or lacks a part.
    """
    if record.get("format") != FORMAT:
        raise DataError(
            f"the record has format {record.get('format')!r}; "
            f"this version of Assay shows format {FORMAT}"
        )
    absent = [name for name in _REQUIRED if not record.get(name)]
    if absent:
        raise DataError(f"the record lacks {', '.join(absent)}; fit the table again")
    data = clean(record)
    sections = {
        "headline": _headline(data),
        "holdout": holdout_page(data),
        "rows": _rows(data),
        "ranking": _ranking(data),
        "chosen": _chosen(data),
        "choice": choice(data),
        "diagnostics": diagnostics(data),
        "overview": _overview(data),
        "measured": _measured(data),
    }
    return {**sections, **_title(data), "charts": _specs(sections)}


def _title(data: Mapping[str, Any]) -> Page:
    target, source = data["target"]["name"], data.get("source") or "a table"
    features = sum(column.get("role") == "feature" for column in data["columns"])
    facts = [
        count(data["rows"]["used"], "row"),
        f"{count(features, 'column')} used of {len(data['columns']):,}",
        f"predicting {_TASKS.get(data['task'], data['task'])}",
    ]
    return {
        "title": f"{target} from {source}",
        "target": target,
        "source": source,
        "facts": facts,
        "assay": data.get("assay") or "",
        "digest": str(data.get("digest") or ""),
    }


def _headline(data: Mapping[str, Any]) -> Page:
    score, baseline = data["score"], data["baseline"]
    name = str(data["metric"]["name"])
    places = decimals(score)
    verdict = data.get("verdict") or {}
    code = str(verdict.get("code") or "")
    rows = [{**score, "name": "This model"}, {**baseline, "name": "Baseline"}]
    quick = data.get("quick")
    if quick and quick.get("value") is not None:
        rows.insert(1, {**quick, "name": "Quick estimate"})
    drawn = [row for row in rows if row.get("value") is not None]
    for row in drawn:
        # A baseline that never varies has no width; its dot is its interval.
        row["low"] = row["value"] if row.get("low") is None else row["low"]
        row["high"] = row["value"] if row.get("high") is None else row["high"]
    stated = (
        f"A model built this way on {count(data['rows']['used'], 'row')} scores "
        f"{figure(score['value'], places)} in {metric_label(name)} "
        f"({level(score)} interval {span(score, places)})"
    )
    return {
        "good": code == "better",
        "verdict": _VERDICTS.get(code, code),
        "text": f"{stated}.",
        "reason": _sentence(str(verdict.get("text") or "")),
        "metric": metric_short(name),
        "meaning": metric_meaning(name),
        "in_time": (data.get("plan") or {}).get("kind") == "forward",
        "value": figure(score["value"], places),
        "interval": f"{level(score)} interval {span(score, places)}",
        "baseline": {
            "name": baseline.get("name") or "baseline",
            "value": figure(baseline["value"], places),
            "interval": span(baseline, places) if _has_width(baseline) else None,
        },
        "gain": _gain(data.get("gain"), places),
        "chart": {
            "id": "chart-score",
            "spec": _charts.intervals(drawn, metric_short(name), places),
            "alt": (f"{stated}; the baseline scores {figure(baseline['value'], places)}."),
        },
        "table": [[row["name"], figure(row["value"], places), span(row, places)] for row in drawn],
        "has_quick": any(row["name"] == "Quick estimate" for row in drawn),
        "scores": _scores(data.get("scores") or []),
    }


def _scores(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return every metric with its interval; nothing where there is only the one above."""
    told = [row for row in rows if row.get("value") is not None]
    if len(told) < 2:
        return []
    shown = [(metric_label(str(row["metric"])), row, decimals(row)) for row in told]
    return [[name, figure(row["value"], at), span(row, at)] for name, row, at in shown]


def _gain(gain: Mapping[str, Any] | None, places: int) -> Page | None:
    if not gain or gain.get("value") is None:
        return None
    return {"value": figure(gain["value"], places), "interval": span(gain, places)}


def _sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop."""
    text = text.strip()
    return text and text[0].upper() + text[1:] + ("" if text[-1] in ".!?…" else ".")


def _has_width(entry: Mapping[str, Any]) -> bool:
    low, high = entry.get("low"), entry.get("high")
    return low is not None and high is not None and high > low


def _rows(data: Mapping[str, Any]) -> Page:
    rows = data["rows"]
    dropped = [entry for entry in rows.get("dropped") or [] if entry["count"]]
    lost = sum(entry["count"] for entry in dropped)
    rest = dropped[MAX_REASONS:]
    if rest:
        others = f"{count(len(rest), 'other reason')}"
        dropped = [
            *dropped[:MAX_REASONS],
            {"reason": others, "count": sum(entry["count"] for entry in rest)},
        ]
    return {
        "sum": f"{rows['read']:,} rows read = {rows['used']:,} used + {lost:,} dropped",
        "dropped": [
            {"reason": entry["reason"], "count": f"{entry['count']:,}"} for entry in dropped
        ],
    }


def _ranking(data: Mapping[str, Any]) -> Page:
    name = str(data["metric"]["name"])
    entries = data["leaderboard"]
    scored = [row for row in entries if not row.get("failed") and row.get("score") is not None]
    failed = [row for row in entries if row.get("failed")]
    spread = [row["sd"] for row in scored if row.get("sd")]
    places = decimals({"low": 0.0, "high": 2 * min(spread)}) if spread else 4
    drawn = [{**row, "params": params_text(row.get("params") or {})} for row in scored[:MAX_DRAWN]]
    rest = len(scored) - MAX_RANKED
    return {
        "metric": metric_short(name),
        "fewer_rows": (data.get("plan") or {}).get("kind") == "pair-out",
        "direction": (
            "larger is better"
            if data["metric"].get("greater_is_better", True)
            else "smaller is better"
        ),
        "rows": [
            {
                "rank": row["rank"],
                "family": row["family"],
                "params": params_text(row.get("params") or {}),
                "score": figure(row["score"], places),
                "sd": figure(row.get("sd"), places),
            }
            for row in scored[:MAX_RANKED]
        ],
        "families": _best_of_each(scored, places),
        "more": f"{count(rest, 'more candidate')} ranked below are not listed."
        if rest > 0
        else None,
        "failed": [
            {
                "family": row["family"],
                "params": params_text(row.get("params") or {}),
                "reason": row["failed"],
            }
            for row in failed[:MAX_RANKED]
        ],
        "n_scored": len(scored),
        "n_failed": len(failed),
        "chart": {
            "id": "chart-ranking",
            "spec": _charts.leaderboard(drawn, metric_short(name)),
            "alt": (
                f"Scores of the best {count(len(drawn), 'candidate')}; first is "
                f"{drawn[0]['family']} with {figure(drawn[0]['score'], places)}."
            ),
            "caption": (
                f"The best {len(drawn)} of {count(len(scored), 'candidate')}: score and one "
                f"standard deviation over the blocks to each side."
            ),
        }
        if drawn
        else None,
    }


def _best_of_each(scored: Sequence[Mapping[str, Any]], places: int) -> list[Page]:
    best: dict[str, Mapping[str, Any]] = {}
    tried: dict[str, int] = {}
    for row in scored:
        best.setdefault(row["family"], row)
        tried[row["family"]] = tried.get(row["family"], 0) + 1
    return [
        {
            "family": family,
            "tried": f"{tried[family]:,}",
            "rank": row["rank"],
            "score": figure(row["score"], places),
            "params": params_text(row.get("params") or {}),
        }
        for family, row in best.items()
    ]


def _chosen(data: Mapping[str, Any]) -> Page | None:
    chosen = data.get("chosen")
    if not chosen:
        return None
    blocks = data.get("nested") or []
    picks = {(row["family"], params_text(row.get("params") or {})) for row in blocks}
    families = {row["family"] for row in blocks}
    if not blocks:
        stability = None
    elif len(picks) == 1:
        stability = "Every block chose the same model: the choice is stable."
    elif len(families) == 1:
        stability = (
            f"Every block chose the same family, with {len(picks)} different settings over "
            f"{len(blocks)} blocks: the family is stable, the settings matter little or are noise."
        )
    else:
        stability = (
            f"The blocks chose {len(families)} different families: several models are about as "
            f"good, and which one wins is partly chance."
        )
    places = decimals(data["score"])
    return {
        "text": chosen.get("text") or chosen.get("family"),
        "family": chosen.get("family"),
        "params": [
            [name, f"{value:g}" if isinstance(value, float) else str(value)]
            for name, value in sorted((chosen.get("params") or {}).items())
        ],
        "stability": stability,
        "blocks": [
            {
                # People count from one.
                "block": _number_of(row, "block", at),
                "split": _number_of(row, "repeat", 1),
                "rows": f"{row['rows']:,}" if isinstance(row.get("rows"), int) else "–",
                "family": row["family"],
                "params": params_text(row.get("params") or {}),
                "inner": figure(row.get("inner"), places),
                "outer": figure(row.get("outer"), places),
            }
            for at, row in enumerate(blocks[:MAX_NESTED], 1)
        ],
        "repeated": len({row.get("repeat") for row in blocks}) > 1,
        "more": (
            f"{count(len(blocks) - MAX_NESTED, 'more block')} not listed."
            if len(blocks) > MAX_NESTED
            else None
        ),
    }


def _number_of(row: Mapping[str, Any], name: str, otherwise: int) -> int:
    value = row.get(name)
    return value + 1 if isinstance(value, int) else otherwise


def _overview(data: Mapping[str, Any]) -> Page:
    aside: dict[str, list[str]] = {}
    kinds: dict[str, int] = {}
    notes = [_sentence(note) for note in notes_to_show(data)]
    for column in data["columns"]:
        if column.get("role") == "dropped":
            aside.setdefault(column.get("reason") or "no reason recorded", []).append(
                column["name"]
            )
        elif column.get("role") == "feature":
            kinds[column["kind"]] = kinds.get(column["kind"], 0) + 1
    return {
        **cards(_with_target(data), data["rows"]["read"]),
        "kinds": ", ".join(f"{number:,} {kind}" for kind, number in kinds.items()),
        "aside": [
            {"reason": reason, "columns": names(columns, 12), "count": len(columns)}
            for reason, columns in list(aside.items())[:MAX_REASONS]
        ],
        "aside_more": (
            f"{count(len(aside) - MAX_REASONS, 'more reason')} not listed."
            if len(aside) > MAX_REASONS
            else None
        ),
        "notes": notes[:MAX_NOTES],
        "notes_more": (
            f"{count(len(notes) - MAX_NOTES, 'more note')} not listed."
            if len(notes) > MAX_NOTES
            else None
        ),
    }


def _with_target(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    # The target's own summary knows its classes even where the column was numbers.
    target = data["target"]
    extra: Page = {}
    if target.get("histogram"):
        extra["histogram"] = target["histogram"]
    elif target.get("classes") and target.get("counts"):
        pairs = zip(target["classes"], target["counts"], strict=False)
        ordered = sorted(pairs, key=lambda pair: -pair[1])
        extra = {
            "top": [{"level": name, "count": number} for name, number in ordered],
            "histogram": None,
            "min": None,
        }
    return [
        {**column, **extra} if column.get("role") == "target" else column
        for column in data["columns"]
    ]


def _measured(data: Mapping[str, Any]) -> Page:
    plan, work = data.get("plan") or {}, data.get("work") or {}
    facts = []
    if plan.get("text"):
        facts.append(["How", plan["text"]])
    if (data.get("plain") or {}).get("text"):
        facts.append(["The number", _sentence(str(data["plain"]["text"]))])
    if (data.get("cost") or {}).get("text"):
        facts.append(["Costs", _sentence(str(data["cost"]["text"]))])
    if data.get("portfolio"):
        facts.append(["Tried", _tried(data["portfolio"])])
    if work.get("fits") is not None:
        facts.append(["Work done", work_text(work)])
    facts += [
        ["Seed", str(data.get("seed"))],
        ["Effort", str(data.get("effort"))],
        ["Table (SHA-256)", str(data.get("digest"))],
        [
            "Versions",
            ", ".join(
                f"{name} {number}" for name, number in sorted((data.get("versions") or {}).items())
            ),
        ],
    ]
    return {"facts": [fact for fact in facts if fact[1] not in ("", "None")]}


def _tried(rules: Sequence[Mapping[str, Any]]) -> str:
    """Return what was tried and by which rule, in the order of trial."""
    return "; ".join(
        f"{rule['family']} ({count(rule['candidates'], 'candidate')}): {rule['why']}"
        for rule in rules
    )


def _specs(part: Any) -> dict[str, Any]:
    """Collect every chart of the page by its id."""
    if isinstance(part, dict):
        if "spec" in part and "id" in part:
            return {part["id"]: part["spec"]}
        part = part.values()
    elif not isinstance(part, list):
        return {}
    return {name: spec for item in part for name, spec in _specs(item).items()}
