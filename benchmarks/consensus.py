"""Which columns, at which accuracy? Consensus selection beside nested lasso and nested importance:
``python benchmarks/consensus.py``.

Two classes, 1000 columns of which 20 matter: ten with means that differ between the classes, and
five pairs whose correlation does (neither of a pair tells anything alone). 300 rows to learn from,
4000 fresh ones to judge. No way of choosing sees the fresh rows. Every set of columns is judged by
the same two models trained on it and by the mean of both; the lasso and the forest that chose also
by themselves. Repetitions draw everything anew; a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table as Printed  # noqa: E402
from sklearn.feature_selection import SelectFromModel  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from assay.ensemble import RandomForestClassifier  # noqa: E402
from assay.features import ConsensusSelector  # noqa: E402
from assay.linear import LogisticRegression  # noqa: E402
from assay.select import NestedSearch  # noqa: E402

Matrix = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
#: From rows, classes and a seed to the columns kept, and the model of its own if there is one.
Way = Callable[[Matrix, Integers, int], tuple[Mask, Any]]

RESULTS = HERE / "results" / "consensus.json"
COLUMNS, MAIN, PAIRS = 1000, 10, 5
PLANTED = MAIN + 2 * PAIRS
FRESH = 4000
#: What judges the columns: two models, the mean of their probabilities, and the model that chose.
MODELS = ("forest", "logistic", "both", "own")


def drawn(n: int, seed: Sequence[int], shift: float, correlation: float) -> tuple[Matrix, Integers]:
    """Draw rows: the planted columns come first."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n) % 2)
    sign = 2.0 * y - 1.0
    X = random.normal(size=(n, COLUMNS))
    X[:, :MAIN] += shift / 2 * sign[:, None]
    for a in range(MAIN, PLANTED, 2):
        X[:, a + 1] *= np.sqrt(1 - correlation**2)
        X[:, a + 1] += correlation * sign * X[:, a]
    return X, y


def by_consensus(folds: int) -> Way:
    """Positive Relief in every inner fold of every outer fold; no model."""

    def choose(X: Matrix, y: Integers, seed: int) -> tuple[Mask, Any]:
        model = ConsensusSelector(n_outer=folds, n_inner=folds, random_state=seed)
        return model.fit(X, y).get_support(), None

    return choose


def by_lasso(X: Matrix, y: Integers, seed: int) -> tuple[Mask, Any]:
    """Weights other than zero at the penalty that a nested search chooses."""
    model = make_pipeline(StandardScaler(), LogisticRegression(l1_ratio=1.0))
    grid = {"logisticregression__C": np.geomspace(0.01, 1.0, 13).tolist()}
    nested = NestedSearch(model, grid, random_state=seed).fit(X, y)
    return nested.best_estimator_[-1].coef_[0] != 0, nested.best_estimator_


def by_importance(X: Matrix, y: Integers, seed: int) -> tuple[Mask, Any]:
    """The columns of the largest importance in a forest, as many as a nested search chooses."""
    forest = RandomForestClassifier(200, random_state=seed)
    first = SelectFromModel(forest, threshold=-np.inf, max_features=10)
    grid = {"selectfrommodel__max_features": [5, 10, 20, 50, 100, 200]}
    nested = NestedSearch(make_pipeline(first, forest), grid, random_state=seed).fit(X, y)
    return nested.best_estimator_[0].get_support(), nested.best_estimator_


def by_truth(X: Matrix, y: Integers, seed: int) -> tuple[Mask, Any]:  # noqa: ARG001
    """The planted columns, as the bound of what a choice can reach."""
    return np.arange(COLUMNS) < PLANTED, None


def by_nobody(X: Matrix, y: Integers, seed: int) -> tuple[Mask, Any]:  # noqa: ARG001
    """Keep all columns."""
    return np.ones(COLUMNS, dtype=np.bool_), None


WAYS: dict[str, Way] = {
    "consensus, 3 x 3": by_consensus(3),
    "consensus, 5 x 5": by_consensus(5),
    "consensus, 10 x 10": by_consensus(10),
    "nested lasso": by_lasso,
    "nested importance": by_importance,
    "(planted columns)": by_truth,
    "(all columns)": by_nobody,
}


def repetition(number: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Draw once, and let every way choose."""
    X, y = drawn(options.rows, (number, 0), options.shift, options.correlation)
    fresh, truth = drawn(FRESH, (number, 1), options.shift, options.correlation)
    records = []
    for name, choose in WAYS.items():
        start = time.process_time()
        kept, own = choose(X, y, number)
        seconds = time.process_time() - start
        records.append(
            {
                "number": number,
                "way": name,
                "main": int(kept[:MAIN].sum()),
                "pairs": int(kept[MAIN:PLANTED].sum()),
                "false": int(kept[PLANTED:].sum()),
                **judged(X, y, fresh, truth, kept),
                "own": None if own is None else float(own.score(fresh, truth)),
                "seconds": seconds,
            }
        )
    return records


def as_table(records: list[dict[str, Any]]) -> Printed:
    """Means over the repetitions, with standard errors of the accuracies."""
    count = len({each["number"] for each in records})
    title = f"20 planted among 1000 columns: means of {count} repetitions (standard error)"
    printed = Printed(title=title, title_justify="left")
    printed.add_column("way of choosing")
    names = ("main of 10", "in pairs of 10", "false", *MODELS, "CPU s")
    for column in names:
        printed.add_column(column, justify="right")
    for name in WAYS:
        mine = [each for each in records if each["way"] == name]
        cells = [
            f"{np.mean([each[key] for each in mine]):.1f}" for key in ("main", "pairs", "false")
        ]
        for key in MODELS:
            values = [each[key] for each in mine if each[key] is not None]
            cells.append(f"{np.mean(values):.3f} ({_error(values):.3f})" if values else "")
        printed.add_row(name, *cells, f"{np.mean([each['seconds'] for each in mine]):.1f}")
    return printed


def differences(records: list[dict[str, Any]], ours: str, theirs: str) -> str:
    """Compare two ways draw by draw: both judged by the same models, and theirs by its own."""
    pairs = []
    for number in sorted({each["number"] for each in records}):
        of = {each["way"]: each for each in records if each["number"] == number}
        pairs.append((of[ours], of[theirs]))
    fewer = sum(a["false"] < b["false"] for a, b in pairs)
    text = (
        f"{ours} against {theirs}: fewer false columns in {fewer} of {len(pairs)} draws "
        f"(median {np.median([a['false'] for a, _ in pairs]):.0f} and "
        f"{np.median([b['false'] for _, b in pairs]):.0f}); accuracy of both models"
    )
    for key, what in (("both", "on its columns"), ("own", "and its own model")):
        better = [a["both"] - b[key] for a, b in pairs]
        text += f" {what} {np.mean(better):+.3f} (standard error {_error(better):.3f})"
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first repetition")
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--shift", type=float, default=0.6, help="of the means of main columns")
    parser.add_argument("--correlation", type=float, default=0.8, help="of the pairs, + or -")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    setting = [options.rows, options.shift, options.correlation]
    records: list[dict[str, Any]] = []
    if options.results.exists():
        saved = json.loads(options.results.read_text(encoding="utf-8"))
        records = saved["records"] if saved["setting"] == setting else []
    done = {each["number"] for each in records}
    for number in range(options.first, options.first + options.repetitions):
        if number in done:
            continue
        records += repetition(number, options)
        options.results.parent.mkdir(exist_ok=True, parents=True)
        text = json.dumps({"setting": setting, "records": records}, indent=1) + "\n"
        options.results.write_text(text, encoding="utf-8")
        last = ", ".join(f"{each['way']} {each['false']}" for each in records[-len(WAYS) : -2])
        console.print(f"{number}: false columns: {last}", markup=False)
    console.print(as_table(records))
    for theirs in ("nested lasso", "nested importance"):
        console.print(differences(records, "consensus, 5 x 5", theirs), markup=False)
    return 0


def judged(X: Matrix, y: Integers, fresh: Matrix, truth: Integers, kept: Mask) -> dict[str, float]:
    """Return the accuracies on fresh rows of a forest, of a logistic regression, and of both."""
    forest = RandomForestClassifier(300, random_state=0).fit(X[:, kept], y)
    line = LogisticRegression(C=0.1).fit(X[:, kept], y)
    shares = [model.predict_proba(fresh[:, kept])[:, 1] for model in (forest, line)]
    said = {"forest": shares[0], "logistic": shares[1], "both": (shares[0] + shares[1]) / 2}
    return {name: float(np.mean((share > 0.5) == truth)) for name, share in said.items()}


def _error(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


if __name__ == "__main__":
    sys.exit(main())
