"""One card per column of the table: what it is, what it holds, what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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


def cards(columns: Sequence[Mapping[str, Any]], n_rows: int) -> dict[str, Any]:
    """Return the cards of the first columns, and what is not shown.

    Parameters
    ----------
    columns : sequence of dict
        The overview of every column of the file, as in the record.
    n_rows : int
        Rows in the file, for shares.
    """
    ordered = sorted(columns, key=lambda column: _ORDER.get(str(column.get("role")), 6))
    shown = [card(column, n_rows) for column in ordered[:MAX_CARDS]]
    rest = [str(column["name"]) for column in ordered[MAX_CARDS:]]
    more = f"{count(len(rest), 'more column')} not drawn here: {names(rest)}." if rest else None
    return {"cards": shown, "more": more}


def card(column: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    """Return one column as texts and a small picture."""
    missing = int(column.get("missing") or 0)
    facts = []
    if column.get("distinct") is not None:
        facts.append(count(int(column["distinct"]), "value"))
    facts.append(f"{share(missing, n_rows)} missing" if missing else "no missing")
    role = str(column.get("role") or "feature")
    # The values of an identifier tell nothing, and may name people.
    drawn = column.get("kind") != "identifier"
    return {
        "name": column["name"],
        "kind": column.get("kind") or "",
        "role": _ROLES.get(role, role),
        "set_aside": role == "dropped",
        "is_target": role == "target",
        "reason": safe(str(column.get("reason") or "")),
        "facts": ", ".join(facts),
        "spark": spark(column.get("histogram")) if drawn else None,
        "range": _range(column) if drawn else None,
        "levels": levels(column.get("top"), n_rows - missing) if drawn else [],
    }


def spark(histogram: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a histogram as bars for an inline SVG, with its description."""
    if not histogram or not histogram.get("counts"):
        return None
    counts = [max(0, int(number)) for number in histogram["counts"]]
    edges = histogram["edges"]
    most = max(counts)
    if not most or len(edges) != len(counts) + 1:
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


def levels(top: Sequence[Mapping[str, Any]] | None, known: int) -> list[dict[str, Any]]:
    """Return the most frequent levels with their shares of the known values."""
    if not top:
        return []
    return [
        {
            "level": "(empty)" if level["level"] in ("", None) else str(level["level"]),
            "count": f"{int(level['count']):,}",
            "share": share(int(level["count"]), known),
            "width": round(min(100.0, 100 * int(level["count"]) / max(known, 1)), 1),
        }
        for level in top[:_MAX_LEVELS]
    ]


def _range(column: Mapping[str, Any]) -> dict[str, str] | None:
    if column.get("min") is None:
        return None
    return {name: _value(column.get(name)) for name in ("min", "median", "max")}


def _value(value: Any) -> str:
    return short(value) if isinstance(value, (int, float)) or value is None else str(value)
