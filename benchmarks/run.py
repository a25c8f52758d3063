"""Run the benchmarks of one family: ``python benchmarks/run.py neighbors``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from benchmarks.work import OURS, Contestant, Work  # noqa: E402

PACKAGES = ("numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "faiss-cpu")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    families = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in _NOT_FAMILIES)
    parser.add_argument("family", choices=families)
    parser.add_argument("--repeats", type=int, default=7, help="timed calls of each contestant")
    parser.add_argument("--work", default="", help="only works whose name contains this text")
    parser.add_argument("--memory-of", nargs=2, metavar=("WORK", "CONTESTANT"), help="internal")
    options = parser.parse_args(arguments)
    works: Sequence[Work] = import_module(f"benchmarks.{options.family}").WORKS
    if options.memory_of:
        return _print_memory(works, *options.memory_of)
    works = [work for work in works if options.work in work.name]
    if not works:
        parser.error(f"no work of {options.family} contains {options.work!r}")
    console = Console(width=None if sys.stdout.isatty() else 140)
    records = []
    for work in works:
        record = measure(work, options.family, options.repeats)
        console.print(as_table(record))
        for name in record["skipped"]:
            console.print(
                f"skipped: {name} is not installed (the extra [bench] has it)", markup=False
            )
        records.append(record)
    path = HERE / "results" / f"{options.family}.json"
    path.parent.mkdir(exist_ok=True)
    report = {"family": options.family, "machine": machine(), "works": records}
    path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    console.print(f"written: {path.relative_to(HERE.parent)}", markup=False, highlight=False)
    return 0


def measure(work: Work, family: str, repeats: int) -> dict[str, Any]:
    """Time all contestants in turn, then look at quality and memory."""
    data = work.data()
    present = [each for each in work.contestants if each.installed()]
    calls = {each.name: each.load() for each in present}
    results = {name: call(data) for name, call in calls.items()}  # also warms caches and pools
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for repeat in range(repeats):
        names = list(calls)
        # The order rotates: nobody always runs after the same neighbour.
        for name in names[repeat % len(names) :] + names[: repeat % len(names)]:
            start = time.perf_counter()
            calls[name](data)
            seconds[name].append(time.perf_counter() - start)
    ours = statistics.median(seconds[OURS])
    return {
        "name": work.name,
        "contestants": [
            {
                "name": name,
                "median_seconds": statistics.median(seconds[name]),
                "seconds": seconds[name],
                "ratio": statistics.median(seconds[name]) / ours,
                "bar": work.bars.get(name),
                "quality": work.quality(data, results[name], results[work.reference]),
                "peak_mb": memory(family, work, name),
            }
            for name in calls
        ],
        "skipped": [each.name for each in work.contestants if not each.installed()],
    }


def as_table(record: dict[str, Any]) -> Table:
    table = Table(title=record["name"], title_justify="left")
    table.add_column("contestant")
    for heading in ("median s", "ours is faster", "bar", "peak MB"):
        table.add_column(heading, justify="right")
    table.add_column("quality")
    for row in record["contestants"]:
        ours = row["name"] == OURS
        table.add_row(
            row["name"],
            f"{row['median_seconds']:.4f}",
            "" if ours else f"{row['ratio']:.2f}x",
            "" if row["bar"] is None else f"{row['bar']:g}x",
            "" if row["peak_mb"] is None else f"{row['peak_mb']:.0f}",
            row["quality"],
        )
    return table


def memory(family: str, work: Work, contestant: str) -> float | None:
    """Peak memory that one call adds, in MB, measured in a process of its own."""
    command = [sys.executable, __file__, family, "--memory-of", work.name, contestant]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.split()
    return float(lines[-1]) if done.returncode == 0 and lines else None


def machine() -> dict[str, Any]:
    cpu = [
        line.partition(":")[2].strip()
        for line in _proc("/proc/cpuinfo").splitlines()
        if line.startswith("model name")
    ]
    return {
        "cpu": cpu[0] if cpu else platform.processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
    }


def _print_memory(works: Sequence[Work], work_name: str, contestant_name: str) -> int:
    work = next(work for work in works if work.name == work_name)
    contestant: Contestant = next(c for c in work.contestants if c.name == contestant_name)
    call, data = contestant.load(), work.data()
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # peak := now
    call(data)
    print(_status("VmHWM") - before)
    return 0


def _status(key: str) -> float:
    line = next(line for line in _proc("/proc/self/status").splitlines() if line.startswith(key))
    return int(line.split()[1]) / 1024


def _proc(path: str) -> str:
    file = Path(path)
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


_NOT_FAMILIES = frozenset({"__init__", "run", "work"})

if __name__ == "__main__":
    sys.exit(main())
