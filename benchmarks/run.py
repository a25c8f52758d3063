"""Run the benchmarks of one family: ``python benchmarks/run.py neighbors``."""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Sequence
from importlib import import_module, metadata
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from benchmarks.work import OURS, Contestant, Work  # noqa: E402

#: Threads of OpenMP spin for 0.2 s after their work, and would take the cores of the next in turn.
PAUSE = 0.4
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "faiss-cpu",
    "lightgbm",
    "xgboost",
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    families = sorted(path.stem for path in HERE.glob("*.py") if _is_family(path))
    parser.add_argument("family", choices=families)
    parser.add_argument("--repeats", type=int, default=7, help="timed calls of each contestant")
    parser.add_argument("--work", default="", help="only works whose name contains this text")
    options = parser.parse_args(arguments)
    works: Sequence[Work] = import_module(f"benchmarks.{options.family}").WORKS
    works = [work for work in works if options.work in work.name]
    if not works:
        parser.error(f"no work of {options.family} contains {options.work!r}")
    console = Console(width=None if sys.stdout.isatty() else 140)
    records = []
    for work in works:
        if work.file is not None and not work.file.exists():
            console.print(f"skipped: {work.name}: no file {work.file.name}", markup=False)
            continue
        record = measure(work, options.family, options.repeats)
        console.print(as_table(record))
        for name in record["skipped"]:
            console.print(
                f"skipped: {name} is not installed (the extra [bench] has it)", markup=False
            )
        records.append(record)
    path = HERE / "results" / f"{options.family}.json"
    path.parent.mkdir(exist_ok=True)
    records = [*(each for each in _measured(path) if options.work not in each["name"]), *records]
    report = {"family": options.family, "machine": machine(), "works": records}
    path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    console.print(f"written: {path.relative_to(HERE.parent)}", markup=False, highlight=False)
    return 0


def _measured(path: Path) -> list[dict[str, Any]]:
    """What earlier runs wrote: a run of some works leaves the others alone."""
    return json.loads(path.read_text(encoding="utf-8"))["works"] if path.exists() else []


def _is_family(path: Path) -> bool:
    """Look whether a file defines works, without loading what it needs."""
    return re.search(r"^WORKS\b", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def measure(work: Work, family: str, repeats: int) -> dict[str, Any]:
    """Time all contestants in turn, and look at quality and memory.

    Each contestant lives in a process of its own: in a shared one, the idle threads of one library
    slow down the next (scikit-learn took twice its time beside FAISS).
    """
    present = [each for each in work.contestants if each.installed()]
    repeats = repeats if work.repeats is None else min(repeats, work.repeats)
    answers: dict[str, _Answer] = {}
    seconds: dict[str, list[float]] = {}
    for group in [[each] for each in present] if work.alone else [present]:
        children = {each.name: _Child(family, work, each) for each in group}
        answers |= {name: child.answer() for name, child in children.items()}  # also warms caches
        names = [each.name for each in group if not each.once]
        seconds |= {name: [] if name in names else [answers[name].seconds] for name in children}
        for repeat in range(repeats if names else 0):
            # The order rotates: nobody always runs after the same neighbour.
            for name in names[repeat % len(names) :] + names[: repeat % len(names)]:
                time.sleep(PAUSE)
                seconds[name].append(children[name].time())
        for child in children.values():
            child.close()
    ours, data = statistics.median(seconds[OURS]), work.data()
    return {
        "name": work.name,
        "contestants": [
            {
                "name": name,
                "median_seconds": statistics.median(seconds[name]),
                "seconds": seconds[name],
                "ratio": statistics.median(seconds[name]) / ours,
                "bar": work.bars.get(name),
                "quality": work.quality(data, answers[name].result, answers[work.reference].result),
                "peak_mb": answers[name].peak_mb,
            }
            for name in seconds
        ],
        "skipped": [each.name for each in work.contestants if not each.installed()],
    }


class _Answer(NamedTuple):
    """What the first call gave, the memory it added at its peak, and how long it took."""

    result: Any
    peak_mb: float
    seconds: float


class _Child:
    """A contestant in its process."""

    def __init__(self, family: str, work: Work, contestant: Contestant) -> None:
        context = multiprocessing.get_context("spawn")
        self._line, far = context.Pipe()
        # Not a daemon: joblib would give scikit-learn one thread there.
        self._process = context.Process(
            target=_serve, args=(far, family, work.name, contestant.name)
        )
        self._process.start()
        far.close()

    def answer(self) -> _Answer:
        """Return what the first call gives; nobody else's first call runs at the same time."""
        self._line.send(True)
        return _Answer(*self._line.recv())

    def time(self) -> float:
        """Return the seconds of one call."""
        self._line.send(True)
        return float(self._line.recv())

    def close(self) -> None:
        self._line.send(False)
        self._process.join()


def _serve(line: Connection, family: str, work_name: str, contestant_name: str) -> None:
    works: Sequence[Work] = import_module(f"benchmarks.{family}").WORKS
    work = next(work for work in works if work.name == work_name)
    contestant = next(each for each in work.contestants if each.name == contestant_name)
    call, data = contestant.load(), work.data()
    line.recv()
    if contestant.before is not None:
        data = contestant.before()(data)
    # Free memory that the heap has kept would be used again, and not be seen.
    ctypes.CDLL(None).malloc_trim(0)
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # peak := now
    start = time.perf_counter()
    result = call(data)
    seconds = time.perf_counter() - start
    peak = _status("VmHWM") - before
    line.send((result if work.summary is None else work.summary(data, result), peak, seconds))
    del result
    while line.recv():
        start = time.perf_counter()
        call(data)
        line.send(time.perf_counter() - start)
    if "joblib" in sys.modules:  # its idle workers would keep this process for five minutes
        import_module("joblib.externals.loky").get_reusable_executor().shutdown()


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
            f"{row['peak_mb']:.0f}",
            row["quality"],
        )
    return table


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


if __name__ == "__main__":
    sys.exit(main())
