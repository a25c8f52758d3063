"""Large real tables as worlds: some rows are drawn, the truth is what the untouched rest says."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tests.honesty.worlds import Random, Rows, World

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"
_METRICS = {
    "adult": "roc_auc",
    "covtype": "accuracy",
    "electricity": "roc_auc",
    "nycflights13": "mean_absolute_error",
}
_LARGEST_COVER = "2"


def populations() -> dict[str, World]:
    """Return the tables that are there; none without the folder."""
    if not (FOLDER / "index.json").exists():
        return {}
    return {name: _world(name, metric) for name, metric in _METRICS.items()}


def _world(name: str, metric: str) -> World:
    task = "regression" if name == "nycflights13" else "binary"

    def sample(n: int, m: int, random: Random) -> tuple[Rows, Rows]:
        X, y = _table(name)
        order = random.permutation(len(y))
        some, rest = order[:n], order[n : n + m]
        return Rows(X[some], y[some]), Rows(X[rest], y[rest])

    return World(name, task, metric, sample)


@cache
def _table(name: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    index = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
    entry = next(each for each in index if each["name"] == name)
    frame = pl.read_parquet(FOLDER / entry["file"]).drop(entry["exclude"])
    target = frame[entry["target"]]
    columns = [_numbers(column) for column in frame.drop(entry["target"])]
    if entry["task"] == "regression":
        return np.column_stack(columns), target.cast(pl.Float64).to_numpy()
    text = target.cast(pl.String).to_numpy().astype(str)
    # Of seven kinds of cover the rare ones would be missing from a hundred rows: one against rest.
    positive = _LARGEST_COVER if name == "covtype" else sorted(set(text))[-1]
    return np.column_stack(columns), (text == positive).astype(np.int64)


def _numbers(column: pl.Series) -> NDArray[np.float64]:
    """Return numbers as they are and levels by their frequency; gaps get the median."""
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        text = column.cast(pl.String).fill_null("")
        return text.to_frame("level").select(pl.len().over("level").log()).to_series().to_numpy()
    values = column.cast(pl.Float64)
    return values.fill_nan(None).fill_null(values.median()).to_numpy()
