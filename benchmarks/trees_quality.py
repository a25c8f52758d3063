"""Quality of default forests and boosting beside the peers' defaults: ``python
benchmarks/trees_quality.py``.

Three folds with fixed seeds, anew up to ten times on small tables, where one cut says little; at
least 15 seeds of random methods; equal rows stay in one fold; tables in time order are cut by time,
once; tables above 20,000 rows are drawn down to that. Nominal columns go as they are to whoever
takes them, as ordered codes to the others. Written to ``results/trees_quality.json``; with
``--peers`` the other contestants are taken from there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table as Printed  # noqa: E402
from scipy.stats import rankdata  # noqa: E402
from sklearn.metrics import accuracy_score, log_loss, r2_score  # noqa: E402

from benchmarks import peers, tables  # noqa: E402
from benchmarks.peers import Peer  # noqa: E402
from benchmarks.run import machine  # noqa: E402
from benchmarks.tables import Rows, Table  # noqa: E402
from benchmarks.work import OURS  # noqa: E402

FOLDS = 3
MOST_ROWS = 20_000
MOST_CUTS, CELLS_OF_ALL_CUTS = 10, 500_000
FORESTS = 15  # at least so many seeds of a random method: one alone moves a score by 0.002
RESULTS = HERE / "results" / "trees_quality.json"
IN_TIME_ORDER = ("bike_hourly", "beijing_pm25", "electricity")
TABLES = (
    *("adult", "coimbra", "connect4", "covtype", "credit_data", "electricity", "fruit_spectra"),
    *("german_credit", "higgs_7k", "hypothyroid", "letter", "mammography", "olive_oil"),
    *("penguins", "scat", "soybean", "spambase", "titanic", "wine"),
    *("ames", "auto_imports", "beijing_pm25", "bike_hourly", "california_housing", "concrete"),
    *("nmes1988", "power_plant", "tecator_meats"),
)
#: Beside the class that scikit-learn names so, XGBoost has a forest with defaults of its own.
XGBOOST_FOREST = Peer(
    peers.XGBOOST, peers.xgboost_model("XGBRFClassifier", "XGBRFRegressor"), "xgboost"
)
GROUPS: dict[str, tuple[Peer, ...]] = {
    "forest": (*peers.FORESTS, XGBOOST_FOREST),
    "extra-trees": peers.EXTRA_TREES,
    "AdaBoost": peers.ADABOOST,
    "gradient boosting": peers.BOOSTING,
}
SEEDED = ("forest", "extra-trees", "AdaBoost")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=TABLES, help="only these tables")
    parser.add_argument("--groups", nargs="*", default=list(GROUPS), help="only these methods")
    parser.add_argument("--peers", nargs="*", help="run only these, take the rest from last time")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    names = [name for name in options.tables if tables.path_of(name).exists()]
    for name in sorted(set(options.tables) - set(names)):
        console.print(f"skipped: no file {tables.path_of(name).name}", markup=False)
    if not names:
        return 0
    records: list[dict[str, Any]] = []
    for name in names:
        folds = list(cut(name))
        for group in options.groups:
            for peer in present(group, folds[0]):
                kept = options.peers is not None and peer.name not in options.peers
                known = _last(name, group, peer) if kept else None
                records.append(known or scored(name, group, peer, folds))
            last = [each for each in records if each["table"] == name and each["group"] == group]
            told = ", ".join(f"{each['peer']} {each['score']:.4f}" for each in last)
            console.print(f"{name}, {group}: {told}", markup=False, highlight=False)
            _save(records)
    for group in options.groups:
        console.print(as_table(ranks(records, group)))
    console.print(f"written: {RESULTS.relative_to(HERE.parent)}", markup=False, highlight=False)
    return 0


def present(group: str, table: Table) -> list[Peer]:
    if group == "AdaBoost" and not table.is_class:
        return []
    return [peer for peer in GROUPS[group] if peer.needs is None or peers.installed(peer.needs)]


def cut(name: str) -> Iterator[Table]:
    """Yield the folds of a table; class codes are those of the training rows."""
    rows = tables.load(name)
    if name in IN_TIME_ORDER:
        rows = _thinned(rows)
        parts = np.array_split(np.arange(len(rows.X)), FOLDS + 1)
        pairs = [(np.concatenate(parts[:k]), parts[k]) for k in range(1, FOLDS + 1)]
        yield from _tables(rows, pairs)
        return
    for seed in range(int(np.clip(CELLS_OF_ALL_CUTS // rows.X.size, 1, MOST_CUTS))):
        drawn = _thinned(_shuffled(rows, seed))
        fold = _folds(drawn, seed)
        pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(FOLDS)]
        yield from _tables(drawn, pairs)


def _tables(rows: Rows, pairs: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> Iterator[Table]:
    for train, test in pairs:
        y, y_test = rows.y[train], rows.y[test]
        if rows.y.dtype.kind in "iu":
            # Some libraries want codes without gaps; a class never seen cannot be scored.
            classes, y = np.unique(y, return_inverse=True)
            known = np.isin(y_test, classes)
            test, y_test = test[known], np.searchsorted(classes, y_test[known])
        yield Table(rows.X[train], y, rows.X[test], y_test, rows.nominal)


def scored(name: str, group: str, peer: Peer, folds: list[Table]) -> dict[str, Any]:
    build, scores, losses = peer.load(), [], []
    start = time.perf_counter()
    n_seeds = -(-FORESTS // len(folds)) if group in SEEDED else 1
    for number in range(n_seeds * len(folds)):
        fold = folds[number % len(folds)]
        table = fold if peer.takes_missing else tables.filled(fold)
        options = {"random_state": number} if group in SEEDED else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = build(table, **options).fit(table.X, table.y)
            if table.is_class:
                shares = np.asarray(model.predict_proba(table.X_test), dtype=np.float64)
                scores.append(accuracy_score(table.y_test, shares.argmax(axis=1)))
                losses.append(_log_loss(table.y_test, shares))
            else:
                scores.append(r2_score(table.y_test, model.predict(table.X_test)))
    return {
        "table": name,
        "group": group,
        "peer": peer.name,
        "metric": "accuracy" if folds[0].is_class else "r2",
        "score": float(np.mean(scores)),
        "log_loss": float(np.mean(losses)) if losses else None,
        "seconds": time.perf_counter() - start,
    }


def ranks(records: list[dict[str, Any]], group: str) -> dict[str, Any]:
    """Mean rank of each contestant over the tables (1 = best), by score and by log loss."""
    names = [peer.name for peer in GROUPS[group]]
    names = [name for name in names if any(_is(each, group, name) for each in records)]
    found: dict[str, Any] = {"group": group}
    for metric, sign in (("score", -1), ("log_loss", 1)):
        rows = []
        for table in sorted({each["table"] for each in records if each["group"] == group}):
            values = [
                each[metric]
                for name in names
                for each in records
                if each["table"] == table and _is(each, group, name)
            ]
            if None not in values:
                rows.append(rankdata(sign * np.array(values)))
        found[metric] = (
            dict(zip(names, np.mean(rows, axis=0).tolist(), strict=True)) if rows else {}
        )
        found[f"n_{metric}"] = len(rows)
    return found


def as_table(found: dict[str, Any]) -> Printed:
    printed = Printed(title=found["group"], title_justify="left")
    printed.add_column("contestant")
    printed.add_column(f"mean rank, score ({found['n_score']} tables)", justify="right")
    printed.add_column(f"mean rank, log loss ({found['n_log_loss']} tables)", justify="right")
    for name, rank in sorted(found["score"].items(), key=lambda item: item[1]):
        loss = found["log_loss"].get(name)
        shown = f"[bold]{name}[/bold]" if name == OURS else name
        printed.add_row(shown, f"{rank:.2f}", "" if loss is None else f"{loss:.2f}")
    return printed


def _last(table: str, group: str, peer: Peer) -> dict[str, Any] | None:
    """Return the record of an earlier run, if there is one."""
    found = (each for each in _saved() if each["table"] == table and _is(each, group, peer.name))
    return next(found, None)


def _saved() -> list[dict[str, Any]]:
    if not RESULTS.exists():
        return []
    scores: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))["scores"]
    return scores


def _save(records: list[dict[str, Any]]) -> None:
    """Write the records after every method of a table, so that a run that was stopped can go on."""
    key = itemgetter("table", "group", "peer")
    new = {key(each) for each in records}
    scores = records + [each for each in _saved() if key(each) not in new]
    RESULTS.parent.mkdir(exist_ok=True)
    report = {"machine": machine(), "scores": scores}
    RESULTS.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _is(record: dict[str, Any], group: str, name: str) -> bool:
    return bool(record["group"] == group and record["peer"] == name)


def _log_loss(y: NDArray[Any], shares: NDArray[np.float64]) -> float:
    clipped = np.clip(shares, 1e-6, 1.0)
    clipped /= clipped.sum(axis=1, keepdims=True)
    return float(log_loss(y, clipped, labels=np.arange(shares.shape[1])))


def _shuffled(rows: Rows, seed: int) -> Rows:
    order = np.random.default_rng(seed).permutation(len(rows.X))
    return Rows(rows.X[order], rows.y[order], rows.nominal)


def _thinned(rows: Rows) -> Rows:
    """Every so many rows, so that time order and the whole span stay."""
    step = -(-len(rows.X) // MOST_ROWS)
    return Rows(rows.X[::step], rows.y[::step], rows.nominal)


def _folds(rows: Rows, seed: int) -> NDArray[np.int64]:
    """Deal the distinct rows to the folds, class by class or by order of the target."""
    whole = np.ascontiguousarray(np.nan_to_num(rows.X, nan=np.inf))
    keys = whole.view([("", whole.dtype)] * whole.shape[1]).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.lexsort((first, rows.y[first]))
    rounds = -(-len(first) // FOLDS)
    deal = np.random.default_rng(seed).permuted(np.tile(np.arange(FOLDS), (rounds, 1)), axis=1)
    fold_of_group = np.empty(len(first), dtype=np.int64)
    fold_of_group[order] = deal.ravel()[: len(first)]
    return fold_of_group[group]


if __name__ == "__main__":
    sys.exit(main())
