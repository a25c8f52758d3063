"""One draw: rows, what each tool prints, and the truth. Every draw is saved, so runs can go on."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, mean_absolute_error, r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from assay.select import compare
from tests.honesty.contestants import Printed
from tests.honesty.worlds import Random, Rows, World

FOLDER = Path(__file__).resolve().parent / "results"
_TRUTH_CELLS = 2_000_000  # fresh rows x columns
_SAVE_EVERY = 20
# On draws of lower numbers the rule for intervals was found: others judge it. Raise it when they
# have been used for a better rule in their turn.
FIRST_DRAW = 1000

Run = Callable[[World, Rows, int], Printed]


def generator(cell: str, n: int, draw: int) -> Random:
    """Return the stream of one draw: the same for every tool."""
    return np.random.default_rng([draw, n, *cell.encode()])


def one_draw(world: World, n: int, draw: int, run: Run) -> dict[str, Any]:
    """Return what a tool printed for one draw, and the truth."""
    p = 1000 if "wide" in world.name else 20
    fresh = max(2000, min(20_000, _TRUTH_CELLS // p))
    rows, test = world.sample(n, fresh, generator(world.name, n, draw))
    started = time.perf_counter()
    printed = run(world, rows, draw)
    return {
        "draw": draw, "printed": printed.value, "low": printed.low, "high": printed.high,
        "true": truth(world.metric, printed.model, test), "gain_low": printed.gain_low,
        "plain": printed.plain, "seconds": time.perf_counter() - started,
    }  # fmt: skip


def truth(metric: str, model: Any, test: Rows) -> float:
    """Score a delivered model on fresh rows with scikit-learn."""
    if metric == "roc_auc":
        return float(roc_auc_score(test.y, _ranked(model, test.X)))
    said = model.predict(test.X)
    if metric == "accuracy":
        return float(accuracy_score(test.y, said))
    if metric == "r2":
        return float(r2_score(test.y, said))
    if metric == "mean_absolute_error":
        return float(mean_absolute_error(test.y, said))
    raise ValueError(metric)


def _ranked(model: Any, X: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.asarray(model.decision_function(X))
    except (AttributeError, NotImplementedError):
        return np.asarray(model.predict_proba(X)[:, 1])


def one_comparison(n: int, draw: int) -> dict[str, Any]:
    """Compare two pipelines that are equally good by symmetry: two halves of alike columns."""
    random = generator("equal", n, draw)
    X = random.normal(size=(n, 10))
    y = (0.7 * X.sum(axis=1) + random.logistic(size=n) > 0).astype(np.int64)
    a, b = [
        make_pipeline(FunctionTransformer(_half, kw_args={"first": first}), LogisticRegression())
        for first in (0, 5)
    ]
    found = compare(a, b, X, y, seed=draw)
    return {"draw": draw, "alarm": found.verdict != "neither"}


def _half(X: NDArray[Any], first: int) -> NDArray[Any]:
    return X[:, first : first + 5]


def saved(
    name: str,
    n: int,
    tool: str,
    count: int,
    make: Callable[[int], dict[str, Any]],
    until: float = math.inf,
) -> pl.DataFrame:
    """Draw until there are enough, or time is up; every few draws are saved."""
    FOLDER.mkdir(exist_ok=True)
    path = _path(name, n, tool)
    frame = pl.read_parquet(path) if path.exists() else pl.DataFrame()
    while len(frame) < count and time.time() < until:
        end = min(count, len(frame) + _SAVE_EVERY)
        new = pl.DataFrame([make(FIRST_DRAW + each) for each in range(len(frame), end)])
        frame = new if frame.is_empty() else pl.concat([frame, new])
        part = path.with_suffix(".part")
        frame.write_parquet(part)
        part.replace(path)
    return frame[:count]


def count_saved(name: str, n: int, tool: str) -> int:
    """Return how many draws are there already."""
    path = _path(name, n, tool)
    return len(pl.read_parquet(path)) if path.exists() else 0


def _path(name: str, n: int, tool: str) -> Path:
    return FOLDER / f"{name.replace(' ', '_').replace('%', 'percent')}_{n}_{tool}.parquet"


def figures(frame: pl.DataFrame, loss: bool) -> dict[str, float]:
    """Return the figures of one cell; printed minus true is positive where the tool flatters.

    Coverage is of the truth averaged over samples, which is what the interval is for: a model built
    this way on this many rows. `own` is the share that covers the very model delivered.
    """
    column = {name: frame[name].to_numpy() for name in frame.columns}
    sign = -1.0 if loss else 1.0
    error = sign * (column["printed"] - column["true"])
    average = float(column["true"].mean())
    low, high = column["low"], column["high"]
    known = np.isfinite(low).all()

    def share(target: Any) -> float:
        return float(((low <= target) & (target <= high)).mean()) if known else math.nan

    gain = column["gain_low"]
    plain = sign * (column["plain"] - column["true"])
    return {
        "draws": len(frame),
        "true": average,
        "bias": float(error.mean()),
        "bias_se": float(error.std(ddof=1) / np.sqrt(len(error))) if len(error) > 1 else math.nan,
        "plain_bias": float(plain.mean()),
        "coverage": share(average),
        "own": share(column["true"]),
        "width": float((high - low).mean()),
        "ideal": float(3.92 * column["printed"].std()),
        "called_signal": float((gain > 0).mean()) if np.isfinite(gain).all() else math.nan,
        "seconds": float(np.median(column["seconds"])),
    }
