"""One card per column of the table: what it is, what it holds, what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.record import Category, Column, Histogram, Rows
from assay.report._format import count, names, safe, share, short

MAX_CARDS = 120
_MAX_LEVELS = 5
_SPARK_HEIGHT = 36

_ROLES = {
    "feature": "used",
    "target": "target",
    "group": "groups",
    "time": "time order",
    "weights": "weights",
    "dropped": "set aside",
}
_ORDER = {"target": 0, "group": 1, "time": 2, "weights": 3, "feature": 4, "dropped": 5}


def rows_page(rows: Rows, max_reasons: int) -> dict[str, Any]:
    """Return where the rows went; reasons beyond `max_reasons` are counted together."""
    dropped = [entry for entry in rows.dropped if entry.count]
    shown = [(entry.reason, entry.count) for entry in dropped[:max_reasons]]
    rest = dropped[max_reasons:]
    if rest:
        shown.append((count(len(rest), "other reason"), sum(entry.count for entry in rest)))
    return {
        "sum": f"{rows.read:,} rows read = {rows.used:,} used + {rows.lost:,} dropped"
        if shown
        else f"{count(rows.read, 'row')} read, all used",
        "dropped": [{"reason": reason, "count": f"{number:,}"} for reason, number in shown],
    }


def columns_by_use(columns: Sequence[Column]) -> tuple[str, dict[str, list[str]]]:
    """Return the kinds of the columns used in words, and the others by the reason."""
    kinds: dict[str, int] = {}
    aside: dict[str, list[str]] = {}
    for column in columns:
        if column.role == "dropped":
            aside.setdefault(column.reason or "no reason recorded", []).append(column.name)
        elif column.role == "feature":
            kinds[column.kind] = kinds.get(column.kind, 0) + 1
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds.items()), aside


def cards(columns: Sequence[Column], n_rows: int) -> dict[str, Any]:
    """Return the cards of the first columns, and what is not shown.

    Parameters
    ----------
    columns : sequence of Column
        Every column of the file.
    n_rows : int
        Rows in the file, for shares.
    """
    ordered = sorted(columns, key=lambda column: _ORDER.get(column.role, 6))
    shown = [card(column, n_rows) for column in ordered[:MAX_CARDS]]
    rest = [column.name for column in ordered[MAX_CARDS:]]
    more = f"{count(len(rest), 'more column')} not drawn here: {names(rest)}." if rest else None
    return {"cards": shown, "more": more}


def card(column: Column, n_rows: int) -> dict[str, Any]:
    """Return one column as texts and a small picture."""
    facts = [
        count(column.distinct, "value"),
        f"{share(column.missing, n_rows)} missing" if column.missing else "no missing",
    ]
    # The values of an identifier are of no use, and may name people.
    drawn = column.kind != "identifier"
    return {
        "name": column.name,
        "kind": column.kind,
        "role": _ROLES.get(column.role, column.role),
        "set_aside": column.role == "dropped",
        "is_target": column.role == "target",
        "reason": safe(column.reason or ""),
        "facts": ", ".join(facts),
        "spark": spark(column.histogram) if drawn else None,
        "range": _range(column) if drawn else None,
        "levels": levels(column.top, n_rows - column.missing) if drawn else [],
    }


def spark(histogram: Histogram | None) -> dict[str, Any] | None:
    """Return a histogram as bars for an inline SVG, with its description."""
    if histogram is None or not histogram.counts:
        return None
    counts, edges = [max(0, number) for number in histogram.counts], histogram.edges
    most = max(counts)
    if not most:
        return None
    peak = counts.index(most)
    bars = [
        {
            "x": 10 * at,
            "y": round(_SPARK_HEIGHT - size, 1),
            "height": round(size, 1),
        }
        for at, number in enumerate(counts)
        # A bin with one row must still be seen.
        if (size := max(1.0, _SPARK_HEIGHT * number / most) if number else 0.0)
    ]
    return {
        "bars": bars,
        "width": 10 * len(counts),
        "height": _SPARK_HEIGHT,
        "alt": (
            f"Histogram from {short(edges[0])} to {short(edges[-1])}; the fullest bin, "
            f"{short(edges[peak])} to {short(edges[peak + 1])}, holds {count(most, 'row')}."
        ),
    }


def levels(top: Sequence[Category] | None, known: int) -> list[dict[str, Any]]:
    """Return the most frequent categories with their shares of the rows that have a value."""
    return [
        {
            "level": category.level or "(empty)",
            "count": f"{category.count:,}",
            "share": share(category.count, known),
            "width": round(min(100.0, 100 * category.count / max(known, 1)), 1),
        }
        for category in (top or ())[:_MAX_LEVELS]
    ]


def _range(column: Column) -> dict[str, str] | None:
    if column.min is None:
        return None
    ends = {"min": column.min, "median": column.median, "max": column.max}
    return {name: value if isinstance(value, str) else short(value) for name, value in ends.items()}
