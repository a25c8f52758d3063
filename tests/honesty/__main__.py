"""``python -m tests.honesty``: measure what Assay promises, and print the table."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tests.honesty.contestants import CONTESTANTS, peers
from tests.honesty.draws import figures, one_comparison, one_draw, saved
from tests.honesty.populations import FOLDER as TABLES
from tests.honesty.populations import populations
from tests.honesty.worlds import WORLDS, World

# Sizes that take long are drawn less often.
_SIZES = {"wide": (50, 100), "": (50, 100, 500, 2000)}
_POPULATION_SIZES = (100, 500)
_SHORT = (("noise auc", 100), ("signal", 100), ("rare 5 %", 100), ("numbers", 100))
_PEER_DRAWS = 10
_HEAD = (
    f"{'cell':22} {'n':>5} {'tool':>13} {'draws':>6} {'true':>7} {'printed-true':>15} "
    f"{'nested':>7} {'cover':>6} {'own':>6} {'width':>6} {'ideal':>6} {'signal':>7}"
)


def cells() -> list[tuple[World, int]]:
    """Return every world in every size, cheap ones first."""
    found = []
    for world in WORLDS.values():
        sizes = _SIZES["wide" if "wide" in world.name else ""]
        least = 100 if world.name.startswith("rare") else 0
        found += [(world, n) for n in sizes if n >= least]
    if not populations():
        print(f"no tables in {TABLES}: real tables are left out", file=sys.stderr)
    found += [(world, n) for world in populations().values() for n in _POPULATION_SIZES]
    return sorted(found, key=lambda cell: ("wide" in cell[0].name, cell[1]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw, compare with the truth, print."""
    options = _parser().parse_args(arguments)
    wanted = [
        (world, n)
        for world, n in cells()
        if (not options.cells or any(_named(world, n, text) for text in options.cells))
        and (not options.short or (world.name, n) in _SHORT)
    ]
    tools = {**CONTESTANTS, **(peers() if options.peers else {})}
    tools = {name: run for name, run in tools.items() if not options.tools or name in options.tools}
    jobs: list[tuple[str, int, str, int, Callable[[int], dict[str, Any]], bool]] = []
    for world, n in wanted:
        for name, run in tools.items():
            count = _draws(options, world, n)
            count = count if name in CONTESTANTS else min(count, _PEER_DRAWS)
            jobs.append((world.name, n, name, count, _maker(world, n, run), _is_loss(world)))
    if "equal" in options.cells or not options.cells:
        jobs += [
            ("equal", n, "compare", _draws(options, None, n), partial(one_comparison, n), False)
            for n in (50, 100)
        ]
    rows = _run(jobs, options.seconds)
    print(_table(rows))
    return 0


def _draws(options: argparse.Namespace, world: World | None, n: int) -> int:
    """Return how often a cell is drawn: the cheaper, the more."""
    is_long = n >= 2000 or (world is not None and "wide" in world.name)
    if options.repetitions is not None:
        given = int(options.repetitions)
        return min(given, max(20, given // 5)) if is_long else given
    if options.short or is_long:
        return 40
    return 500 if n <= 100 else 200


def _named(world: World, n: int, text: str) -> bool:
    return text in (world.name, f"{world.name}:{n}")


def _is_loss(world: World) -> bool:
    return world.metric.endswith(("error", "loss"))


def _maker(world: World, n: int, run: Any) -> Callable[[int], dict[str, Any]]:
    return lambda draw: one_draw(world, n, draw, run)


def _run(jobs: Sequence[Any], seconds: float | None) -> list[dict[str, Any]]:
    started, done, total = time.monotonic(), 0, sum(job[3] for job in jobs)
    fresh = 0
    rows = []
    for name, n, tool, count, make, loss in jobs:
        before: int | None = None
        for frame in saved(name, n, tool, count, make):
            so_far = min(len(frame), count)
            if before is not None:
                fresh += so_far - before
            before = so_far
            passed = time.monotonic() - started
            left = f"{(total - done - so_far) * passed / fresh:.0f} s left" if fresh else ""
            print(f"\r{done + so_far}/{total} draws, {name} {n} {tool} {left:20}", end="",
                  file=sys.stderr, flush=True)  # fmt: skip
            if seconds is not None and passed > seconds:
                break
        done += count
        row: dict[str, Any] = {"cell": name, "n": n, "tool": tool, "loss": loss}
        if tool == "compare":
            row["alarms"], row["draws"] = float(frame["alarm"].to_numpy().mean()), len(frame)
        else:
            row.update(figures(frame, loss))
        rows.append(row)
        if seconds is not None and time.monotonic() - started > seconds:
            break
    print(file=sys.stderr)
    return rows


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        "printed-true, nested (the mean of the outer blocks, before the correction) and width in",
        "points (1/100; of an error, in percent of it); cover: intervals that hold the mean truth",
        "of models built this way on so many rows, own: that of the delivered model; ideal: 3.92",
        "standard deviations of the printed number; signal: how often the verdict was 'better'",
        _HEAD,
    ]
    for row in rows:
        if row["tool"] == "compare":
            lines.append(
                f"{'two equal pipelines':22} {row['n']:5} {'compare':>13} {row['draws']:6} "
                f"false alarms {row['alarms']:.1%}"
            )
            continue
        unit = 100 / row["true"] if row["loss"] else 100
        lines.append(
            f"{row['cell']:22} {row['n']:5} {row['tool']:>13} {row['draws']:6} {row['true']:7.3f} "
            f"{unit * row['bias']:+8.2f} ± {unit * row['bias_se']:4.2f} "
            f"{_points(unit * row['plain_bias'])} {_share(row['coverage'])} {_share(row['own'])} "
            f"{unit * row['width']:6.1f} {unit * row['ideal']:6.1f} {_share(row['called_signal'])}"
        )
    for tool in dict.fromkeys(row["tool"] for row in rows if row["tool"] != "compare"):
        mine = [row for row in rows if row["tool"] == tool]
        bias = [(100 / row["true"] if row["loss"] else 100) * row["bias"] for row in mine]
        cover = [row["coverage"] for row in mine if math.isfinite(row["coverage"])]
        text = f"{tool}: printed - true {sum(bias) / len(bias):+.2f} points on average"
        if cover:
            text += f", coverage {sum(cover) / len(cover):.1%}, lowest {min(cover):.1%}"
        lines.append(text)
    return "\n".join(lines)


def _points(value: float) -> str:
    return f"{value:+7.2f}" if math.isfinite(value) else f"{'-':>7}"


def _share(value: float) -> str:
    return f"{100 * value:6.1f}" if math.isfinite(value) else f"{'-':>6}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.honesty", description=__doc__)
    cells_help = "names, or name:rows; equal: comparisons"
    parser.add_argument("--cells", nargs="*", default=[], help=cells_help)
    parser.add_argument("--repetitions", type=int, help="draws per cell, 40 to 500 by default")
    parser.add_argument("--tools", nargs="*", default=[], help="assay, GridSearchCV, flaml, mljar")
    parser.add_argument("--peers", action="store_true", help="FLAML and mljar too, few draws")
    parser.add_argument("--short", action="store_true", help="four cells, 40 draws")
    parser.add_argument("--seconds", type=float, help="stop after so long; run again to go on")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
