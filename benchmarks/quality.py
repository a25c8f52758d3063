"""Is the chosen model any good? Assay beside FLAML, tuned LightGBM and a forest: ``python
benchmarks/quality.py``.

A quarter of the rows is kept for the end, with classes as in the whole, equal rows on one side, and
the latest rows where they are in time order; tables above 20,000 rows are drawn down to that, and
tables under 2,000 rows are cut three times, since one cut says little (``--splits``: all so often).
Assay goes first; FLAML and Optuna then get the wall time that it took. One contestant after the
other, each in a process of its own on two cores.

Every answer is written to ``results/quality.json`` as it comes, and what is there is not done
again, so a run that was stopped goes on; ``--again assay`` does that contestant anew.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table as Printed  # noqa: E402
from scipy.stats import rankdata  # noqa: E402

from benchmarks import tables  # noqa: E402
from benchmarks.quality_contestants import CONTESTANTS, CORES, FOREST, OURS, Question, score  # noqa: E402
from benchmarks.run import machine  # noqa: E402
from benchmarks.tables import Rows, Table  # noqa: E402

RESULTS = HERE / "results" / "quality.json"
TEST_SHARE = 4  # one row of so many is kept for the end
MOST_ROWS = 20_000
FEW_ROWS, CUTS_OF_FEW = 2_000, 3
IN_TIME_ORDER = ("bike_hourly", "beijing_pm25", "electricity", "nycflights13")
TABLES = (
    *("titanic", "german_credit", "spambase", "credit_data", "mammography"),
    *("amazon_access", "electricity", "adult"),
    *("olive_oil", "soybean", "fruit_spectra", "hypothyroid", "letter", "covtype"),
    *("tecator_meats", "concrete", "ames", "nmes1988", "bike_hourly", "california_housing"),
)
#: A contestant may take so many times its budget, and some minutes, before it is given up.
PATIENCE, GRACE = 4.0, 900.0
#: Scores nearer than this share a rank.
TIE = 5e-4


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=TABLES, help="only these tables")
    parser.add_argument("--contestants", nargs="*", default=list(CONTESTANTS), help="only these")
    parser.add_argument("--seconds", type=float, help="deadline of Assay, and so of all")
    parser.add_argument("--effort", default="normal", help="effort of Assay")
    parser.add_argument("--splits", type=int, help="times every table is cut")
    parser.add_argument("--again", nargs="*", default=[], help="contestants to do anew")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where answers are kept")
    parser.add_argument("--one", nargs=2, metavar=("TABLE", "CONTESTANT"), help=argparse.SUPPRESS)
    parser.add_argument("--split", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one is not None:
        name, contestant = options.one
        answer = answered(name, contestant, options.split, options.seconds, options.effort)
        options.out.write_text(json.dumps(answer), encoding="utf-8")
        return 0
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    records = _saved(options.results)
    for number, name in enumerate(options.tables, 1):
        if not tables.path_of(name).exists():
            console.print(f"skipped: no file {tables.path_of(name).name}", markup=False)
            continue
        for split in range(cuts(name, options)):
            place = f"[{number}/{len(options.tables)}] {name}" + (f" #{split}" if split else "")
            for contestant in ordered(options.contestants):
                key = f"{name}/{split}/{contestant}"
                known = records.get(key)
                if known is None or "error" in known or contestant in options.again:
                    console.print(f"{place}: {contestant} ...", markup=False)
                    budget = _budget(records, name, split, contestant, options.seconds)
                    records[key] = run(name, split, contestant, budget, options.effort)
                    _save(options.results, records)
                console.print(f"{place}: {contestant}: {told(records[key])}", markup=False)
    for printed in (as_table(records, options), as_ranks(records, options)):
        console.print(printed)
    for line in losses(records, options):
        console.print(line, markup=False)
    console.print(held(records, options), markup=False)
    return 0


def ordered(asked: Sequence[str]) -> list[str]:
    """Put Assay first: its time is the budget of the others."""
    unknown = sorted(set(asked) - set(CONTESTANTS))
    if unknown:
        raise SystemExit(f"no contestant {unknown[0]!r}; there are {', '.join(CONTESTANTS)}")
    there = [name for name in CONTESTANTS if name in asked]
    return [name for name in there if _installed(CONTESTANTS[name][1])]


def run(
    name: str, split: int, contestant: str, seconds: float | None, effort: str
) -> dict[str, Any]:
    """Ask one contestant in a process of its own."""
    cores = {key: str(CORES) for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    limit = None if seconds is None else seconds * PATIENCE + GRACE
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "answer.json"
        call = [sys.executable, __file__, "--one", name, contestant, "--split", str(split)]
        call += ["--out", str(out), "--effort", effort]
        call += [] if seconds is None else ["--seconds", str(seconds)]
        try:
            done = subprocess.run(
                call, env={**os.environ, **cores}, cwd=folder, timeout=limit, check=False,
                capture_output=True, text=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"error": f"gave no answer in {limit:.0f} s"}
        if not out.exists():
            return {"error": (done.stderr.strip().splitlines() or ["it died"])[-1][:300]}
        answer: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return {**answer, "budget": seconds}


def answered(
    name: str, contestant: str, split: int, seconds: float | None, effort: str
) -> dict[str, Any]:
    """Cut the table, ask, and score the answer."""
    question = asked(name, split)
    start = time.perf_counter()
    answer = CONTESTANTS[contestant][0](question, seconds, effort)
    return {
        "metric": question.metric,
        "score": score(question.metric, question.table.y_test, answer.said),
        "seconds": answer.seconds,
        "whole_seconds": time.perf_counter() - start,
        "n_train": len(question.table.y),
        "n_test": len(question.table.y_test),
        "columns": question.table.X.shape[1],
        **answer.remarks,
    }


def asked(name: str, split: int) -> Question:
    """Return a table cut in two: the same for every contestant."""
    rows = tables.load(name)
    in_time = name in IN_TIME_ORDER
    random = np.random.default_rng((split, len(rows.X)))
    if in_time:
        step = -(-len(rows.X) // MOST_ROWS)
        rows = Rows(rows.X[::step], rows.y[::step], rows.nominal)
        cut = len(rows.X) - len(rows.X) // TEST_SHARE
        test = np.arange(len(rows.X)) >= cut
    else:
        order = random.permutation(len(rows.X))[:MOST_ROWS]
        rows = Rows(rows.X[order], rows.y[order], rows.nominal)
        test = _kept_for_the_end(rows, random)
    X, y = rows.X[~test], rows.y[~test]
    X_test, y_test = rows.X[test], rows.y[test]
    metric = "r2"
    if rows.y.dtype.kind in "iu":
        # A class without a training row cannot be learnt, nor one of a single row be tuned for.
        classes, counts = np.unique(y, return_counts=True)
        classes = classes[counts > 1]
        train, known = np.isin(y, classes), np.isin(y_test, classes)
        X, y = X[train], np.searchsorted(classes, y[train])
        X_test, y_test = X_test[known], np.searchsorted(classes, y_test[known])
        metric = "roc_auc" if len(classes) == 2 else "accuracy"
    varies = np.array([len(np.unique(column[~np.isnan(column)])) > 0 for column in X.T])
    nominal = [int(np.sum(varies[:j])) for j in rows.nominal if varies[j]]
    return Question(Table(X[:, varies], y, X_test[:, varies], y_test, nominal), metric, in_time)


def _kept_for_the_end(rows: Rows, random: np.random.Generator) -> NDArray[np.bool_]:
    """Mark a quarter of the distinct rows, evenly over classes or over the range of the target."""
    whole = np.ascontiguousarray(np.nan_to_num(rows.X, nan=np.inf))
    keys = whole.view([("", whole.dtype)] * whole.shape[1]).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.lexsort((random.permutation(len(first)), rows.y[first]))
    rounds = -(-len(first) // TEST_SHARE)
    deal = random.permuted(np.tile(np.arange(TEST_SHARE), (rounds, 1)), axis=1).ravel()
    fold = np.empty(len(first), dtype=np.int64)
    fold[order] = deal[: len(first)]
    return np.asarray(fold[group.reshape(-1)] == 0)


def cuts(name: str, options: argparse.Namespace) -> int:
    """Return how often a table is cut."""
    if options.splits is not None:
        return int(options.splits)
    few = tables.described(name)["rows"] < FEW_ROWS and name not in IN_TIME_ORDER
    return CUTS_OF_FEW if few else 1


def scores_of(
    records: dict[str, Any], options: argparse.Namespace
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the mean answers by table and contestant, where all have been asked about all cuts."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for table in options.tables:
        if not tables.path_of(table).exists():
            continue
        splits = range(cuts(table, options))
        answers = {
            name: [records.get(f"{table}/{split}/{name}") for split in splits]
            for name in ordered(options.contestants)
        }
        if all(all(mine) for mine in answers.values()):
            found[table] = {name: mean(mine) for name, mine in answers.items()}
    return found


def mean(answers: list[Any]) -> dict[str, Any]:
    """Return the means over the cuts; a contestant that failed once has failed."""
    failed = [answer for answer in answers if "error" in answer]
    if failed:
        return dict(failed[0])
    keys = ("score", "seconds", "printed", "low", "high", "n_train")
    known = [key for key in keys if all(key in answer for answer in answers)]
    return {
        "metric": answers[0]["metric"],
        "chosen": answers[0].get("chosen", ""),
        "held": [holds(answer) for answer in answers],
        **{key: float(np.mean([answer[key] for answer in answers])) for key in known},
    }


def ranks(answers: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Rank the contestants of one table, 1 for the best; near scores share, failures are last."""
    values = [answer.get("score", -np.inf) for answer in answers.values()]
    rounded = [np.round(value / TIE) if np.isfinite(value) else value for value in values]
    return dict(zip(answers, rankdata(-np.array(rounded)).tolist(), strict=True))


def as_table(records: dict[str, Any], options: argparse.Namespace) -> Printed:
    names = ordered(options.contestants)
    printed = Printed(title="score on rows kept for the end", title_justify="left")
    for column in ("table", "rows", "metric", *names, "printed by Assay", "holds", "seconds"):
        printed.add_column(column, justify="left" if column in ("table", "metric") else "right")
    for table, answers in scores_of(records, options).items():
        known = [answer["score"] for answer in answers.values() if "score" in answer]
        best = max(known, default=np.nan)
        cells = []
        for answer in answers.values():
            shown = f"{answer['score']:.4f}" if "score" in answer else "failed"
            top = "score" in answer and answer["score"] >= best - TIE / 2
            cells.append(f"[bold]{shown}[/bold]" if top else shown)
        ours = answers.get(OURS, {})
        any_answer = next((answer for answer in answers.values() if "metric" in answer), {})
        printed.add_row(
            table,
            f"{any_answer.get('n_train', np.nan):.0f}",
            any_answer.get("metric", ""),
            *cells,
            f"{ours['low']:.3f} to {ours['high']:.3f}" if "low" in ours else "",
            f"{ours['held'].count(True)} of {len(ours['held'])}" if "low" in ours else "",
            " / ".join(f"{answer.get('seconds', np.nan):.0f}" for answer in answers.values()),
        )
    return printed


def as_ranks(records: dict[str, Any], options: argparse.Namespace) -> Printed:
    found = scores_of(records, options)
    printed = Printed(title=f"mean rank over {len(found)} tables, 1 = best", title_justify="left")
    printed.add_column("contestant")
    printed.add_column("mean rank", justify="right")
    printed.add_column("first or shared first", justify="right")
    every = [ranks(answers) for answers in found.values()]
    lines = []
    for name in ordered(options.contestants):
        mine = [each[name] for each in every]
        firsts = sum(each[name] <= min(each.values()) for each in every)
        lines.append((float(np.mean(mine)) if mine else np.nan, name, firsts))
    for mean, name, firsts in sorted(lines):
        printed.add_row(
            f"[bold]{name}[/bold]" if name == OURS else name, f"{mean:.2f}", f"{firsts}"
        )
    return printed


def losses(records: dict[str, Any], options: argparse.Namespace) -> list[str]:
    """Name the tables where somebody was better than Assay, the worst first."""
    lines = []
    for table, answers in scores_of(records, options).items():
        if "score" not in answers.get(OURS, {}):
            lines.append((np.inf, f"lost: {table}: Assay failed"))
            continue
        ours = answers[OURS]["score"]
        for name, answer in answers.items():
            behind = answer.get("score", -np.inf) - ours
            if name != OURS and behind > TIE:
                what = f"lost: {table} to {name} by {behind:.4f} ({answer['score']:.4f})"
                lines.append((behind, f"{what}; ours was {answers[OURS]['chosen']}"))
    return [line for _, line in sorted(lines, reverse=True)]


def holds(answer: dict[str, Any]) -> bool | None:
    """Say whether the interval printed before holds the score found at the end."""
    if "low" not in answer:
        return None
    return bool(answer["low"] <= answer["score"] <= answer["high"])


def held(records: dict[str, Any], options: argparse.Namespace) -> str:
    found = [answers.get(OURS, {}) for answers in scores_of(records, options).values()]
    known = [answer for answer in found if "low" in answer]
    if not known:
        return "Assay printed no score"
    every = [each for answer in known for each in answer["held"]]
    gap = np.mean([answer["printed"] - answer["score"] for answer in known])
    return (
        f"the interval that Assay printed holds the score on the kept rows in "
        f"{every.count(True)} of {len(every)} cuts; printed minus found is {gap:+.4f} on "
        f"average (the kept rows have noise of their own, and rows in time order may drift)"
    )


def told(record: dict[str, Any]) -> str:
    if "error" in record:
        return f"failed: {record['error']}"
    text = f"{record['metric']} {record['score']:.4f} in {record['seconds']:.1f} s"
    if "low" in record:
        text += f", printed {record['printed']:.4f} ({record['low']:.4f} to {record['high']:.4f})"
    chosen = str(record.get("chosen", ""))
    return f"{text}; {chosen[:70]}" if chosen else text


def _budget(
    records: dict[str, Any], name: str, split: int, contestant: str, seconds: float | None
) -> float | None:
    """Return the time limit: for peers the wall time that Assay took, at least one second."""
    if contestant in (OURS, FOREST):
        return seconds
    ours = records.get(f"{name}/{split}/{OURS}", {})
    return max(1.0, float(ours.get("seconds", seconds or 60.0)))


def _installed(module: str | None) -> bool:
    return module is None or importlib.util.find_spec(module) is not None


def _saved(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["answers"]
    return found


def _save(path: Path, records: dict[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    report = json.dumps({"machine": machine(), "answers": records}, indent=2) + "\n"
    fresh = path.with_suffix(".new")
    fresh.write_text(report, encoding="utf-8")
    fresh.replace(path)  # a run that is killed here leaves the old file or the new one


if __name__ == "__main__":
    sys.exit(main())
