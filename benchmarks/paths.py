"""Paths beside one fit per candidate: fits done, fits a plain search would do, time, equality.

    python benchmarks/paths.py [--only ridge] [--repeats 3]

Both sides do a unit of a search: they learn from the same training rows and predict the same blocks
of test rows, on one thread. Calls are interleaved and medians compared.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_classification, make_regression

from assay.base import TrainingSet
from assay.ensemble import AdaBoostClassifier, GradientBoostingClassifier, RandomForestClassifier
from assay.linear import ElasticNet, Lasso, LogisticRegression, Ridge
from assay.select import DefaultPath
from assay.tree import DecisionTreeClassifier


@dataclass(frozen=True)
class PathWork:
    """A family, its candidates and its table."""

    name: str
    estimator: Any
    candidates: Sequence[Mapping[str, Any]]
    data: Callable[[], tuple[NDArray[np.float64], NDArray[Any]]]


def classes(n: int = 5_000) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return make_classification(n, 20, n_informative=8, random_state=0)  # type: ignore[no-any-return]


def numbers() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return make_regression(50_000, 50, noise=10.0, random_state=0)  # type: ignore[no-any-return]


def few_of_many() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return make_regression(1_000, 2_000, n_informative=50, noise=10.0, random_state=0)  # type: ignore[no-any-return]


TREE_COUNTS = [{"n_estimators": n} for n in (10, 25, 50, 100, 200)]

PATHS = (
    PathWork("ridge", Ridge(), [{"alpha": a} for a in np.geomspace(1e-3, 1e4, 12)], numbers),
    PathWork("lasso", Lasso(), [{"alpha": a} for a in np.geomspace(50, 0.5, 12)], few_of_many),
    PathWork(
        "elastic net",
        ElasticNet(l1_ratio=0.99),
        [{"alpha": a} for a in np.geomspace(50, 2, 12)],
        few_of_many,
    ),
    PathWork(
        "logistic regression",
        LogisticRegression(),
        [{"C": C} for C in np.geomspace(1e-3, 1e3, 13)],
        classes,
    ),
    PathWork(
        "tree",
        DecisionTreeClassifier(random_state=0),
        [{"max_depth": d} for d in (*range(1, 13), None)]
        + [{"ccp_alpha": a} for a in (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)],
        classes,
    ),
    PathWork("forest", RandomForestClassifier(random_state=0), TREE_COUNTS, classes),
    PathWork("AdaBoost", AdaBoostClassifier(), TREE_COUNTS, classes),
    PathWork("boosting", GradientBoostingClassifier(random_state=0), TREE_COUNTS, classes),
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only families whose name contains this text")
    parser.add_argument("--repeats", type=int, default=3, help="timed calls of each side")
    options = parser.parse_args(arguments)
    table = Table(title="paths beside one fit per candidate", title_justify="left")
    table.add_column("family")
    for heading in ("plain fits", "path fits", "path s", "single s", "times faster", "difference"):
        table.add_column(heading, justify="right")
    for work in PATHS:
        if options.only in work.name:
            table.add_row(work.name, *measure(work, options.repeats))
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return 0


def measure(work: PathWork, repeats: int) -> list[str]:
    """Time both ways in turn and compare what they predict."""
    X, y = work.data()
    blocks = np.array_split(np.random.default_rng(0).permutation(len(X)), 5)
    train, tests = np.concatenate(blocks[2:]), list(blocks[:2])

    def by(path: Any) -> list[NDArray[np.float64]]:
        shared = path.share(X, work.candidates)
        n_classes = int(y.max()) + 1 if y.dtype.kind == "i" else None
        training = TrainingSet(X, y, train, tests, n_classes=n_classes, shared=shared)
        fitted = path.fit_predict(work.estimator, training, work.candidates)
        return [_answer(block) for each in fitted for block in each.predictions]

    ways = {"path": type(work.estimator).assay_path, "single": DefaultPath()}
    answers = {name: by(path) for name, path in ways.items()}  # also warms caches
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, path in ways.items():
            start = time.perf_counter()
            by(path)
            seconds[name].append(time.perf_counter() - start)
    median = {name: statistics.median(each) for name, each in seconds.items()}
    worst = max(
        float(np.abs(a - b).max() / max(1.0, np.abs(b).max()))
        for a, b in zip(answers["path"], answers["single"], strict=True)
    )
    return [
        str(ways["single"].n_fits(work.candidates)),
        str(ways["path"].n_fits(work.candidates)),
        f"{median['path']:.3f}",
        f"{median['single']:.3f}",
        f"{median['single'] / median['path']:.1f}x",
        "same bits" if worst == 0 else f"{worst:.0e}",
    ]


def _answer(block: Any) -> NDArray[np.float64]:
    """What a block of predictions says, as numbers."""
    for name in ("probability", "decision", "value"):
        found = getattr(block, name, None)
        if found is not None:
            return np.asarray(found, dtype=np.float64)
    raise TypeError(f"no numbers in {block!r}")


if __name__ == "__main__":
    sys.exit(main())
