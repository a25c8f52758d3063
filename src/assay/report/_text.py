"""The record of a study as lines of text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Protocol

from assay.record import Candidate, Column, Rows, StudyRecord, decimals, figure, finite
from assay.report._format import (
    clean,
    count,
    decimals_of_spread,
    level,
    metric_name,
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


class HasTable(Protocol):
    """Rows and columns of a table."""

    @property
    def rows(self) -> Rows:
        """Where every row went."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column of the table."""


def overview_text(record: HasTable) -> str:
    """Return what was read: rows that add up, columns by kind, what was set aside and why.

    Parameters
    ----------
    record : TableRecord, StudyRecord or ClusterRecord
        A record, or the part of it that is known before a fit.

    Examples
    --------
    >>> import assay
    >>> job = assay.study.prepare(assay.datasets.path("penguins"), "species", drop=["sex"])
    >>> print(overview_text(job.table))
    Rows       344 read = 344 used + 0 dropped
    Columns    target: species
               nominal (1): island
               numeric (4): bill_length_mm, bill_depth_mm, flipper_length_mm, body_mass_g
               set aside: sex: on request
    """
    rows, columns = clean(record.rows), clean(record.columns)
    lines = [f"{rows.read:,} read = {rows.used:,} used + {rows.lost:,} dropped"]
    lines += [f"{entry.count:,} dropped: {entry.reason}" for entry in rows.dropped if entry.count]
    return "\n".join([_block("Rows", lines), _block("Columns", _columns(columns))])


def summary_text(record: StudyRecord, *, top: int = 5) -> str:
    """Return the score against the baseline, the verdict, the best candidates and the choice.

    Parameters
    ----------
    record : StudyRecord
        The record of a study.
    top : int, default=5
        How many candidates to list.
    """
    data = clean(record)
    score, baseline = data.score, data.baseline
    name = metric_name(data.metric.name)
    places = decimals(score)
    stated = (
        f"{name} {figure(score.value, places)}  ({level(score)} interval {span(score, places)})"
    )
    blocks = [
        ("Score", [stated]),
        ("Baseline", [f"{name} {figure(baseline.value, places)}  ({baseline.name})"]),
        ("Verdict", [data.verdict.text] if data.verdict.text else []),
        ("Chosen", [data.chosen.text] if data.chosen.text else []),
        ("Costs", [] if data.cost is None else [data.cost.text]),
        ("Best", _ranking(data.leaderboard, top)),
        ("Measured", [data.plan.text] if data.plan.text else []),
        ("Test set", holdout_text(data)),
        ("Work", [work_text(data.work)]),
        ("Notes", notes_to_show(data.notes)[:_MAX_NOTES]),
    ]
    return "\n".join(_block(head, lines) for head, lines in blocks if lines)


def _columns(columns: Sequence[Column]) -> list[str]:
    kinds: dict[str, list[str]] = {}
    lines: list[str] = []
    aside: dict[str, list[str]] = {}
    for column in columns:
        if column.role == "feature":
            kinds.setdefault(column.kind, []).append(column.name)
        elif column.role == "dropped":
            aside.setdefault(column.reason or "no reason recorded", []).append(column.name)
        else:
            lines.append(f"{column.role}: {column.name}")
    lines += [f"{kind} ({len(found):,}): {names(found, 8)}" for kind, found in kinds.items()]
    lines += [f"set aside: {names(found, 8)}: {reason}" for reason, found in aside.items()]
    return lines


def _ranking(entries: Sequence[Candidate], top: int) -> list[str]:
    scored = [row for row in entries if not row.failed and finite(row.score) is not None]
    failed = [row for row in entries if row.failed]
    shown = scored[:top]
    places = decimals_of_spread(shown)
    models = [_model(row) for row in shown]
    width = max((len(model) for model in models), default=0)
    values = [figure(row.score, places) for row in shown]
    digits = max((len(value) for value in values), default=0)
    lines = [
        f"{row.rank or '':>2}  {model:<{width}}  {value:>{digits}}  sd {figure(row.sd, places)}"
        for row, model, value in zip(shown, models, values, strict=True)
    ]
    if len(scored) > top:
        lines.append(f"    and {count(len(scored) - top, 'more candidate')}")
    if failed:
        stopped = [row for row in failed if (row.failed or "").startswith("stopped early")]
        reasons = sorted({f"{row.family}: {row.failed}" for row in failed if row not in stopped})
        if stopped:
            weak = count(len(stopped), "weak candidate")
            lines.append(f"    {weak} stopped early")
        if reasons:
            lines.append(f"    {len(failed) - len(stopped):,} without a score: {names(reasons, 3)}")
    return lines


def _model(row: Candidate) -> str:
    settings = params_text(row.params)
    text = f"{row.family}, {settings}" if settings else row.family
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
