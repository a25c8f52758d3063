"""Grid, Sobol, Bayesian and population-based search: what their fits buy on rows nobody saw.

    python -m benchmarks.searches [svm|boosting] [draws]

Draws 400 rows of a real table, searches, and scores the final model on up to 5,600 others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from assay.ensemble import GradientBoostingClassifier
from assay.select import AdaptiveSearch, Integer, NestedSearch, Real, grid
from assay.svm import SVC
from benchmarks.tables import load, path_of

TABLES = ("german_credit", "spambase", "electricity", "higgs_7k")
ROWS, MOST, TRIALS = 400, 6000, 24


class Run(NamedTuple):
    """One search on one draw."""

    way: str
    fits: int
    seconds: float
    printed: float
    true: float


def problem(model: str, width: int) -> tuple[Any, dict[str, Any], int]:
    """Return the estimator, its space, and the levels of a grid of about as many candidates."""
    if model == "svm":
        plane = {
            "svc__C": Real(1e-2, 1e3, log=True),
            "svc__gamma": Real(0.01 / width, 10 / width, log=True),
        }
        return make_pipeline(StandardScaler(), SVC()), plane, 5
    space = {
        "learning_rate": Real(0.02, 0.5, log=True),
        "max_leaf_nodes": Integer(2, 32, log=True),
        "min_samples_leaf": Integer(1, 40, log=True),
        "n_estimators": Integer(10, 150, log=True),
    }
    return GradientBoostingClassifier(random_state=0), space, 2


def runs(model: str, table: str, draw: int) -> Iterator[Run]:
    """Yield what every way of searching gives on one draw."""
    whole = load(table)
    order = np.random.default_rng(draw).permutation(len(whole.y))[:MOST]
    X, y = np.nan_to_num(whole.X[order]), whole.y[order]
    estimator, space, levels = problem(model, X.shape[1])
    lattice = [{name: [value] for name, value in each.items()} for each in grid(space, levels)]
    ways: dict[str, Any] = {
        f"grid of {len(lattice)}": NestedSearch(estimator, lattice, random_state=draw),
        f"sobol, {TRIALS}": NestedSearch(
            estimator, space, search="sobol", n_iter=TRIALS, random_state=draw
        ),
    }
    for sampler in ("bayes", "population"):
        ways[f"{sampler}, {TRIALS}"] = AdaptiveSearch(
            estimator, space, sampler=sampler, n_trials=TRIALS, random_state=draw
        )
    for way, search in ways.items():
        start = process_time()
        search.fit(X[:ROWS], y[:ROWS])
        seconds = process_time() - start
        true = float(search.best_estimator_.score(X[ROWS:], y[ROWS:]))
        yield Run(way, search.outcome_.work.fits, seconds, search.score_.value, true)


def main() -> None:
    """Print the means over tables and draws."""
    model = sys.argv[1] if len(sys.argv) > 1 else "svm"
    draws = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    found: dict[str, list[Run]] = {}
    for table in TABLES:
        if not path_of(table).exists():
            print(f"{table}: not here, skipped")
            continue
        for draw in range(draws):
            for run in runs(model, table, draw):
                print(table, draw, *run, flush=True)
                found.setdefault(run.way, []).append(run)
    print(f"\n{'search':18} {'fits':>6} {'cpu s':>6} {'printed':>8} {'true':>7}")
    for way, each in found.items():
        fits, seconds, printed, true = np.mean([run[1:] for run in each], axis=0)
        print(f"{way:18} {fits:6.0f} {seconds:6.1f} {printed:8.4f} {true:7.4f}")


if __name__ == "__main__":
    main()
