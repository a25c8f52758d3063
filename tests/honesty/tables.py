"""What ``python -m tests.honesty`` prints: all figures as text, or the tables of the docs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

_HEAD = (
    f"{'cell':22} {'n':>5} {'tool':>13} {'draws':>6} {'true':>7} {'printed-true':>15} "
    f"{'nested':>7} {'cover':>6} {'own':>6} {'width':>6} {'ideal':>6} {'signal':>7}"
)


def text(rows: Sequence[Row]) -> str:
    """Return every figure of every cell and tool, and the means of each tool."""
    lines = [
        "printed-true, nested (the mean of the outer blocks, before the correction) and width in",
        "points (1/100; of an error, in percent of it); cover: intervals that hold the mean truth",
        "of models built this way on so many rows (in time: the score on the rows that follow),",
        "own: that of the delivered model; ideal: 3.92 standard deviations of the printed number;",
        "signal: how often the verdict was 'better'",
        _HEAD,
    ]
    for row in rows:
        if row["tool"] == "compare":
            lines.append(
                f"{'two equal pipelines':22} {row['n']:5} {'compare':>13} {row['draws']:6} "
                f"false alarms {row['alarms']:.1%}"
            )
            continue
        unit = _unit(row)
        lines.append(
            f"{row['cell']:22} {row['n']:5} {row['tool']:>13} {row['draws']:6} {row['true']:7.3f} "
            f"{unit * row['bias']:+8.2f} ± {unit * row['bias_se']:4.2f} "
            f"{_points(unit * row['plain_bias'])} {_share(row['coverage'])} {_share(row['own'])} "
            f"{_share(unit / 100 * row['width'])} {unit * row['ideal']:6.1f} "
            f"{_share(row['called_signal'])}"
        )
    for tool in dict.fromkeys(row["tool"] for row in rows if row["tool"] != "compare"):
        mine = [row for row in rows if row["tool"] == tool]
        bias = [_unit(row) * row["bias"] for row in mine]
        cover = [row["coverage"] for row in mine if math.isfinite(row["coverage"])]
        means = f"{tool}: printed - true {sum(bias) / len(bias):+.2f} points on average"
        if cover:
            means += f", coverage {sum(cover) / len(cover):.1%}, lowest {min(cover):.1%}"
        lines.append(means)
    return "\n".join(lines)


def _points(value: float) -> str:
    return f"{value:+7.2f}" if math.isfinite(value) else f"{'-':>7}"


def _share(value: float) -> str:
    return f"{100 * value:6.1f}" if math.isfinite(value) else f"{'-':>6}"


def page(rows: Sequence[Row]) -> str:
    """Return a line for each cell, tools side by side, as ``docs/explanation/honesty.rst`` has it.

    Printed minus true, coverage, width in parts of the least, verdicts; then of the peers printed
    minus true, and coverage where there is an interval.
    """
    cells: dict[tuple[str, int], dict[str, Row]] = {}
    for row in rows:
        if row["tool"] != "compare":
            cells.setdefault((row["cell"], row["n"]), {})[row["tool"]] = row
    return "\n".join(
        ",".join([cell, str(n), *_figures(tools)])
        for (cell, n), tools in cells.items()
        if "assay" in tools
    )


def _figures(tools: Mapping[str, Row]) -> Iterable[str]:
    ours, grid = tools["assay"], tools.get("GridSearchCV")
    width = ours["width"] / ours["ideal"]
    yield from (str(ours["draws"]), _bias(ours), f"{100 * ours['coverage']:.1f}", f"{width:.2f}")
    yield f"{100 * ours['called_signal']:.1f}"
    held = grid["coverage"] if grid else math.nan
    yield from (_bias(grid), f"{100 * held:.0f}" if math.isfinite(held) else "-")
    yield from (_bias(tools.get(name)) for name in ("flaml", "mljar"))


def _bias(row: Row | None) -> str:
    points = _unit(row) * row["bias"] if row else math.nan
    return f"{points:+.1f}" if math.isfinite(points) else "-"


def _unit(row: Row) -> float:
    """Return what makes points of a score, and percent of an error."""
    return float(100 / row["true"]) if row["loss"] else 100.0
