"""From the record of a study to the texts, tables and charts of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.record import (
    Candidate,
    Category,
    Column,
    Estimate,
    FamilyRule,
    HasInterval,
    Score,
    StudyRecord,
    decimals,
    figure,
    finite,
)
from assay.report import _charts
from assay.report._choice import choice
from assay.report._columns import cards, columns_by_use, rows_page
from assay.report._diagnostics import diagnostics
from assay.report._format import (
    clean,
    count,
    decimals_of_spread,
    level,
    metric_meaning,
    metric_name,
    names,
    notes_to_show,
    params_text,
    span,
    work_text,
)
from assay.report._holdout import holdout_page

MAX_RANKED = 60
MAX_DRAWN = 20
MAX_NESTED = 50
MAX_REASONS = 30
MAX_NOTES = 30
# A quick estimate with an interval wider than this many times that of the score is not drawn.
_SHARP = 2.0
_TASKS = {
    "binary": "one of two classes",
    "multiclass": "one of several classes",
    "regression": "a number",
    "rank": "an order of the rows of each query",
}
_VERDICTS = {
    "better": "Better than the baseline",
    "no better": "No better than the baseline",
}

Page = dict[str, Any]


def page(record: StudyRecord) -> Page:
    """Return everything the template shows.

    Parameters
    ----------
    record : StudyRecord
        The record of a study.
    """
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


def _title(data: StudyRecord) -> Page:
    target, source = data.target.name, data.source or "a table"
    features = sum(column.role == "feature" for column in data.columns)
    facts = [
        count(data.rows.used, "row"),
        f"{count(features, 'column')} used of {len(data.columns):,}",
        f"predicting {_TASKS.get(data.task, data.task)}",
    ]
    return {
        "title": f"{target} from {source}",
        "target": target,
        "source": source,
        "facts": facts,
        "assay": data.assay,
        "digest": data.digest,
    }


def _headline(data: StudyRecord) -> Page:
    score, baseline = data.score, data.baseline
    name = data.metric.name
    places = decimals(score)
    code = data.verdict.code
    named: list[tuple[str, HasInterval]] = [("This model", score)]
    if data.quick is not None and _is_near(data.quick, score):
        named.append(("Quick estimate", data.quick))
    named.append(("Baseline", baseline))
    named = [(what, row) for what, row in named if finite(row.value) is not None]
    drawn = [_interval(what, row) for what, row in named]
    stated = (
        f"A model built this way on {count(data.rows.used, 'row')} scores "
        f"{figure(score.value, places)} in {metric_name(name)} "
        f"({level(score)} interval {span(score, places)})"
    )
    return {
        "good": code == "better",
        "verdict": _VERDICTS.get(code, code),
        "text": f"{stated}.",
        "reason": _sentence(data.verdict.text),
        "metric": metric_name(name),
        "meaning": metric_meaning(name),
        "in_time": data.plan.kind == "forward",
        "value": figure(score.value, places),
        "interval": f"{level(score)} interval {span(score, places)}",
        "baseline": {
            "name": baseline.name or "baseline",
            "value": figure(baseline.value, places),
            "interval": span(baseline, places) if _has_width(baseline) else None,
        },
        "gain": _gain(data.gain, places),
        "chart": {
            "id": "chart-score",
            "spec": _charts.intervals(drawn, metric_name(name), places),
            "alt": (f"{stated}; the baseline scores {figure(baseline.value, places)}."),
        },
        "table": [[row["name"], figure(row["value"], places), _ends(row, places)] for row in drawn],
        "has_quick": any(what == "Quick estimate" for what, _ in named),
        "scores": _scores(data.scores or ()),
    }


def _is_near(quick: HasInterval, score: HasInterval) -> bool:
    """Return whether a check of the score is sharp and near enough to share its axis."""
    ends = (quick.low, quick.value, quick.high, score.low, score.high)
    low, value, high, least, most = (finite(end) for end in ends)
    if low is None or value is None or high is None or least is None or most is None:
        return False
    return least <= value <= most and high - low <= _SHARP * (most - least)


def _interval(name: str, row: HasInterval) -> dict[str, Any]:
    """Return what is drawn of a score; without an interval its dot is its interval."""
    low, high = finite(row.low), finite(row.high)
    return {
        "name": name,
        "value": row.value,
        "low": row.value if low is None else low,
        "high": row.value if high is None else high,
    }


def _ends(row: Mapping[str, Any], places: int) -> str:
    return f"{figure(row['low'], places)} to {figure(row['high'], places)}"


def _scores(rows: Sequence[Score]) -> list[list[str]]:
    """Return every metric with its interval; nothing where there is only the one above."""
    known = [row for row in rows if finite(row.value) is not None]
    if len(known) < 2:
        return []
    shown = [(metric_name(row.metric), row, decimals(row)) for row in known]
    return [[name, figure(row.value, at), span(row, at)] for name, row, at in shown]


def _gain(gain: Estimate, places: int) -> Page | None:
    if finite(gain.value) is None:
        return None
    return {"value": figure(gain.value, places), "interval": span(gain, places)}


def _sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop."""
    text = text.strip()
    return text and text[0].upper() + text[1:] + ("" if text[-1] in ".!?…" else ".")


def _has_width(entry: HasInterval) -> bool:
    low, high = finite(entry.low), finite(entry.high)
    return low is not None and high is not None and high > low


def _rows(data: StudyRecord) -> Page:
    return rows_page(data.rows, MAX_REASONS)


def _ranking(data: StudyRecord) -> Page:
    name = data.metric.name
    scored = [row for row in data.leaderboard if not row.failed and finite(row.score) is not None]
    failed = [row for row in data.leaderboard if row.failed]
    places = decimals_of_spread(scored)
    drawn = [
        {"rank": row.rank, "family": row.family, "params": params_text(row.params),
         "score": row.score, "sd": finite(row.sd)}
        for row in scored[:MAX_DRAWN]
    ]  # fmt: skip
    rest = len(scored) - MAX_RANKED
    return {
        "metric": metric_name(name),
        "fewer_rows": data.plan.kind == "pair-out",
        "direction": ("larger is better" if data.metric.greater_is_better else "smaller is better"),
        "rows": [
            {
                "rank": row.rank,
                "family": row.family,
                "params": params_text(row.params),
                "score": figure(row.score, places),
                "sd": figure(row.sd, places),
            }
            for row in scored[:MAX_RANKED]
        ],
        "families": _best_of_each(scored, places),
        "more": f"{count(rest, 'more candidate')} ranked below are not listed."
        if rest > 0
        else None,
        "failed": [
            {
                "family": row.family,
                "params": params_text(row.params),
                "reason": row.failed,
            }
            for row in failed[:MAX_RANKED]
        ],
        "n_scored": len(scored),
        "n_failed": len(failed),
        "chart": {
            "id": "chart-ranking",
            "spec": _charts.leaderboard(drawn, metric_name(name)),
            "alt": (
                f"Scores of the best {count(len(drawn), 'candidate')}; first is "
                f"{scored[0].family} with {figure(scored[0].score, places)}."
            ),
            "caption": (
                f"The best {len(drawn)} of {count(len(scored), 'candidate')}: score, plus and "
                f"minus one standard deviation over the blocks."
            ),
        }
        if drawn
        else None,
    }


def _best_of_each(scored: Sequence[Candidate], places: int) -> list[Page]:
    best: dict[str, Candidate] = {}
    tried: dict[str, int] = {}
    for row in scored:
        best.setdefault(row.family, row)
        tried[row.family] = tried.get(row.family, 0) + 1
    return [
        {
            "family": family,
            "tried": f"{tried[family]:,}",
            "rank": row.rank,
            "score": figure(row.score, places),
            "params": params_text(row.params),
        }
        for family, row in best.items()
    ]


def _chosen(data: StudyRecord) -> Page:
    chosen, blocks = data.chosen, data.nested
    picks = {(row.family, params_text(row.params)) for row in blocks}
    families = {row.family for row in blocks}
    if not blocks:
        stability = None
    elif len(picks) == 1:
        stability = "The same model was chosen in every block: the choice is stable."
    elif len(families) == 1:
        stability = (
            f"The same family was chosen in every block, with {len(picks)} different settings in "
            f"{len(blocks)} blocks: the family is stable, its hyperparameters matter little."
        )
    else:
        stability = (
            f"{len(families)} different families were chosen in {len(blocks)} blocks: several "
            f"models are about equally good, and which one wins is partly chance."
        )
    places = decimals(data.score)
    return {
        "text": chosen.text or chosen.family,
        "family": chosen.family,
        "params": [
            [name, f"{value:g}" if isinstance(value, float) else str(value)]
            for name, value in sorted(chosen.params.items())
        ],
        "stability": stability,
        "blocks": [
            {
                # People count from one.
                "block": row.block + 1,
                "split": row.repeat + 1,
                "rows": f"{row.rows:,}",
                "family": row.family,
                "params": params_text(row.params),
                "inner": figure(row.inner, places),
                "outer": figure(row.outer, places),
            }
            for row in blocks[:MAX_NESTED]
        ],
        "repeated": len({row.repeat for row in blocks}) > 1,
        "more": (
            f"{count(len(blocks) - MAX_NESTED, 'more block')} not listed."
            if len(blocks) > MAX_NESTED
            else None
        ),
    }


def _overview(data: StudyRecord) -> Page:
    kinds, aside = columns_by_use(data.columns)
    notes = [_sentence(note) for note in notes_to_show(data.notes)]
    return {
        **cards(_with_target(data), data.rows.read),
        "kinds": kinds,
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


def _with_target(data: StudyRecord) -> list[Column]:
    # The target's own summary knows its classes even where the column was numbers.
    target = data.target
    extra: dict[str, Any] = {}
    if target.histogram is not None:
        extra["histogram"] = target.histogram
    elif target.classes and target.counts:
        pairs = zip(target.classes, target.counts, strict=True)
        ordered = sorted(pairs, key=lambda pair: -pair[1])
        extra = {
            "top": tuple(Category(level=name, count=number) for name, number in ordered),
            "histogram": None,
            "min": None,
        }
    return [
        replace(column, **extra) if column.role == "target" else column for column in data.columns
    ]


def _measured(data: StudyRecord) -> Page:
    facts = [["Method", data.plan.text]]
    if data.plain is not None:
        facts.append(["Score", _sentence(data.plain.text)])
    if data.cost is not None:
        facts.append(["Costs", _sentence(data.cost.text)])
    if data.portfolio:
        facts.append(["Families", _tried(data.portfolio)])
    facts += [
        ["Work", work_text(data.work)],
        ["Seed", str(data.seed)],
        ["Effort", data.effort],
        ["Table (SHA-256)", data.digest],
        [
            "Versions",
            ", ".join(f"{name} {number}" for name, number in sorted(data.versions.items())),
        ],
    ]
    return {"facts": [fact for fact in facts if fact[1]]}


def _tried(rules: Sequence[FamilyRule]) -> str:
    """Return the families that were tried, grouped by the reason."""
    by_reason: dict[str, list[str]] = {}
    for rule in rules:
        tried = f"{rule.family} ({count(rule.candidates, 'candidate')})"
        by_reason.setdefault(rule.why, []).append(tried)
    return " ".join(_sentence(f"{why}: {', '.join(tried)}") for why, tried in by_reason.items())


def _specs(part: Any) -> dict[str, Any]:
    """Collect every chart of the page by its id."""
    if isinstance(part, dict):
        if "spec" in part and "id" in part:
            return {part["id"]: part["spec"]}
        part = part.values()
    elif not isinstance(part, list):
        return {}
    return {name: spec for item in part for name, spec in _specs(item).items()}
