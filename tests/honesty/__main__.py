"""``python -m tests.honesty``: measure what Assay promises, and print the table."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import polars as pl
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from tests.honesty import tables
from tests.honesty.contestants import CONTESTANTS, peers
from tests.honesty.draws import count_saved, figures, one_comparison, one_draw, saved
from tests.honesty.populations import FOLDER as REAL_TABLES
from tests.honesty.populations import populations
from tests.honesty.worlds import WORLDS, World

# Sizes that take long are drawn less often.
_SIZES, _SIZES_IN_TIME = (50, 100, 500, 2000), (200, 600)
_POPULATION_SIZES = (100, 500)
_SHORT = (("noise auc", 100), ("signal", 100), ("rare 5 %", 100), ("numbers", 100))
# Peers are far from the truth, so that few draws show it, and the last two take seconds for each.
_MOST_DRAWS = {"GridSearchCV": 20, "flaml": 5, "mljar": 2}


def cells() -> list[tuple[World, int]]:
    """Return every world in every size, cheap ones first."""
    found = []
    for world in WORLDS.values():
        sizes = _SIZES_IN_TIME if world.in_time else _SIZES
        least = 100 if world.name.startswith("rare") else 0
        found += [(world, n) for n in sizes if n >= least]
    if not populations():
        print(f"no tables in {REAL_TABLES}: real tables are left out", file=sys.stderr)
    found += [(world, n) for world in populations().values() for n in _POPULATION_SIZES]
    return sorted(found, key=lambda cell: ("wide" in cell[0].name, cell[1]))


class Job(NamedTuple):
    """Draws of one cell by one tool."""

    cell: str
    n: int
    tool: str
    draws: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw, compare with the truth, print."""
    options = _parser().parse_args(arguments)
    wanted = [
        (world, n)
        for world, n in cells()
        if (not options.cells or any(_named(world, n, text) for text in options.cells))
        and (not options.short or (world.name, n) in _SHORT)
    ]
    tools = [*CONTESTANTS, *(peers() if options.peers else ())]
    tools = [name for name in tools if not options.tools or name in options.tools]
    jobs = [
        Job(world.name, n, tool, min(_draws(options, world, n), _MOST_DRAWS.get(tool, 10**9)))
        for world, n in wanted
        for tool in tools
        if not (world.in_time and tool == "mljar")  # it knows no time
    ]
    if "equal" in options.cells or not options.cells:
        jobs += [Job("equal", n, "compare", _draws(options, None, n)) for n in (50, 100)]
    show = tables.page if options.csv else tables.text
    print(show([_row(job, frame) for job, frame in _run(jobs, options)]))
    return 0


def _draws(options: argparse.Namespace, world: World | None, n: int) -> int:
    """Return how often a cell is drawn: the cheaper, the more."""
    is_long = world is not None and "wide" in world.name and n >= 2000
    if options.repetitions is not None:
        given = int(options.repetitions)
        return min(given, max(20, given // 5)) if is_long else given
    if options.short:
        return 40
    if world is None:  # a rate of 5 % is known to a fifth of a point
        return 10_000
    return 100 if is_long else 500


def _named(world: World, n: int, text: str) -> bool:
    return text in (world.name, f"{world.name}:{n}")


def _is_loss(world: World) -> bool:
    return world.metric.endswith(("error", "loss"))


def _make(job: Job) -> Callable[[int], dict[str, Any]]:
    """Return what makes one draw."""
    if job.tool == "compare":
        return partial(one_comparison, job.n)
    world = (WORLDS | populations())[job.cell]
    run = (CONTESTANTS | peers())[job.tool]
    return lambda draw: one_draw(world, job.n, draw, run)


def _drawn(job: Job, until: float) -> tuple[Job, pl.DataFrame]:
    with threadpool_limits(1):
        return job, saved(job.cell, job.n, job.tool, job.draws, _make(job), until)


def _run(jobs: Sequence[Job], options: argparse.Namespace) -> Iterator[tuple[Job, pl.DataFrame]]:
    """Yield the draws of each job, in order; jobs run side by side, one per core."""
    new = {job: max(job.draws - count_saved(*job[:3]), 0) for job in jobs}
    started, done, total = time.time(), 0, sum(new.values())
    until = math.inf if options.seconds is None else started + options.seconds
    found: dict[Job, pl.DataFrame] = {}
    # joblib's processes are not forked: after Polars has read saved draws here, a fork of this one
    # would wait for its threads for ever.
    work = (delayed(_drawn)(job, until) for job in jobs)
    pool = Parallel(options.jobs or os.cpu_count(), return_as="generator_unordered")
    for job, frame in pool(work):
        found[job] = frame
        done += new[job]
        left = (total - done) * (time.time() - started) / max(done, 1)
        print(f"\r{done}/{total} new draws, {job.cell} {job.n} {job.tool}, {left:.0f} s left ",
              end="", file=sys.stderr, flush=True)  # fmt: skip
    print(file=sys.stderr)
    yield from ((job, found[job]) for job in jobs if not found[job].is_empty())


def _row(job: Job, frame: pl.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {"cell": job.cell, "n": job.n, "tool": job.tool, "loss": False}
    if job.tool == "compare":
        return {**row, "alarms": float(frame["alarm"].to_numpy().mean()), "draws": len(frame)}
    world = (WORLDS | populations())[job.cell]
    row["loss"] = _is_loss(world)
    found = figures(frame, row["loss"])
    # In time the interval is for the rows that follow, not for the mean over samples.
    return row | found | ({"coverage": found["own"]} if world.in_time else {})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.honesty", description=__doc__)
    cells_help = "names, or name:rows; equal: comparisons"
    parser.add_argument("--cells", nargs="*", default=[], help=cells_help)
    parser.add_argument("--repetitions", type=int, help="draws per cell, 100 to 500 by default")
    parser.add_argument("--tools", nargs="*", default=[], help="assay, GridSearchCV, flaml, mljar")
    parser.add_argument("--peers", action="store_true", help="FLAML and mljar too, few draws")
    parser.add_argument("--short", action="store_true", help="four cells, 40 draws")
    parser.add_argument("--jobs", type=int, help="processes, one per core by default")
    parser.add_argument("--csv", action="store_true", help="as the docs have it, a line per cell")
    parser.add_argument("--seconds", type=float, help="stop after so long; run again to go on")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
