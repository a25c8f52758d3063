"""Worlds whose truth is known: rows can be drawn without end. NumPy only, nothing of Assay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Random = np.random.Generator
_GROUP_ROWS = 5


class Rows(NamedTuple):
    """Columns, target, which rows belong together, and their order in time."""

    X: Array
    y: NDArray[Any]
    groups: NDArray[np.int64] | None = None
    time: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class World:
    """Something to draw rows from.

    Parameters
    ----------
    name : str
        In the table.
    task, metric : str
        As `assay.select.search` takes them.
    sample : callable
        (n, m, random) -> n rows to learn from, and m fresh ones that tell the truth.
    is_noise : bool
        Whether the columns know nothing of the target.
    in_time : bool
        Whether rows follow each other: then the fresh ones are the next, a tenth as many.
    """

    name: str
    task: str
    metric: str
    sample: Callable[[int, int, Random], tuple[Rows, Rows]]
    is_noise: bool = False
    in_time: bool = False


def _known(
    name: str,
    task: str,
    metric: str,
    draw: Callable[[int, Random], Rows],
    is_noise: bool = False,
) -> World:
    def sample(n: int, m: int, random: Random) -> tuple[Rows, Rows]:
        return draw(n, random), draw(m, random)

    return World(name, task, metric, sample, is_noise)


def _slope(p: int) -> Array:
    slope = np.zeros(p)
    slope[: min(p // 2, 8)] = np.linspace(1.0, 0.2, min(p // 2, 8))
    return slope


def _columns(n: int, p: int, random: Random) -> Array:
    return random.normal(size=(n, p))


def _noise(p: int) -> Callable[[int, Random], Rows]:
    # Half of the rows in each class: otherwise the larger class of the sample is a kind of signal.
    return lambda n, random: Rows(_columns(n, p, random), random.permutation(np.arange(n) % 2))


def _skewed_noise(p: int) -> Callable[[int, Random], Rows]:
    return lambda n, random: Rows(_columns(n, p, random), (random.random(n) < 0.3).astype(np.int64))


def _numbers_noise(p: int) -> Callable[[int, Random], Rows]:
    return lambda n, random: Rows(_columns(n, p, random), random.normal(size=n))


def _classes(
    p: int, strength: float, shift: float = 0.0, flipped: float = 0.0
) -> Callable[[int, Random], Rows]:
    def draw(n: int, random: Random) -> Rows:
        X = _columns(n, p, random)
        y = strength * (X @ _slope(p)) + shift + random.logistic(size=n) > 0
        return Rows(X, (y ^ (random.random(n) < flipped)).astype(np.int64))

    return draw


def _rare(p: int) -> Callable[[int, Random], Rows]:
    """Five positives of a hundred, as many in every sample, so that no sample has none."""

    def draw(n: int, random: Random) -> Rows:
        y = np.zeros(n, dtype=np.int64)
        y[: max(5, round(0.05 * n))] = 1
        X = _columns(n, p, random)
        X[y == 1, : p // 2] += 0.6
        return Rows(X, y)

    return draw


def _grouped(p: int, classes: bool) -> Callable[[int, Random], Rows]:
    def draw(n: int, random: Random) -> Rows:
        count = -(-n // _GROUP_ROWS)
        group = np.repeat(np.arange(count), _GROUP_ROWS)[:n]
        X = 0.7 * _columns(count, p, random)[group] + 0.7 * _columns(n, p, random)
        latent = X[:, 0] + 0.7 * X[:, 1] - 0.5 * X[:, 2] + random.normal(size=count)[group]
        if not classes:
            return Rows(X, latent + random.normal(size=n), group)
        return Rows(X, (latent + random.logistic(size=n) > 0).astype(np.int64), group)

    return draw


def _numbers(p: int, noise: Callable[[int, Random], Array]) -> Callable[[int, Random], Rows]:
    def draw(n: int, random: Random) -> Rows:
        X = _columns(n, p, random)
        return Rows(X, X @ _slope(p) + noise(n, random))

    return draw


def _normal(n: int, random: Random) -> Array:
    return 1.5 * random.normal(size=n)


def _heavy(n: int, random: Random) -> Array:
    return 1.2 * random.standard_t(3, size=n)


def _remembering(n: int, p: int, memory: float, random: Random) -> Array:
    """Columns of variance 1 in which each row keeps a part of the last one."""
    values = random.normal(size=(n, p))
    for row in range(1, n):
        values[row] = memory * values[row - 1] + np.sqrt(1 - memory**2) * values[row]
    return values


def _series(name: str, task: str, metric: str, moves: float, memory: float) -> World:
    """Rows in time: coefficients may walk, columns and errors may remember what was before."""
    slope = np.array([1.0, 0.8, 0.5, 0.3, 0.0, 0.0, 0.0, 0.0])
    is_noise = name.startswith("noise")

    def sample(n: int, m: int, random: Random) -> tuple[Rows, Rows]:
        after = n // 10
        while True:
            X = _remembering(n + after, 8, 0.8 if memory else 0.0, random)
            steps = random.normal(size=X.shape) * moves / np.sqrt(n)
            known = (X * (slope + np.cumsum(steps, axis=0))).sum(axis=1) * (not is_noise)
            value = known + 1.2 * _remembering(n + after, 1, memory, random)[:, 0]
            y = value if task == _R else (value > 0).astype(np.int64)
            if task == _R or (np.unique(y[n:]).size == 2 and np.unique(y[: n // 5]).size == 2):
                return Rows(X[:n], y[:n], time=np.arange(n)), Rows(X[n:], y[n:])

    return World(name, task, metric, sample, is_noise, in_time=True)


_B, _R = "binary", "regression"
WORLDS = {
    world.name: world
    for world in (
        _known("noise", _B, "accuracy", _noise(10), True),
        _known("noise auc", _B, "roc_auc", _noise(10), True),
        _known("noise 30 %", _B, "accuracy", _skewed_noise(10), True),
        _known("noise wide", _B, "roc_auc", _noise(1000), True),
        _known("noise numbers", _R, "r2", _numbers_noise(10), True),
        _known("signal", _B, "accuracy", _classes(10, 1.0)),
        _known("signal auc", _B, "roc_auc", _classes(10, 1.0)),
        _known("strong", _B, "accuracy", _classes(10, 4.0)),
        _known("labels 10 % wrong", _B, "accuracy", _classes(10, 4.0, flipped=0.1)),
        _known("signal wide", _B, "roc_auc", _classes(1000, 1.5)),
        _known("rare 5 %", _B, "roc_auc", _rare(10)),
        _known("groups", _B, "accuracy", _grouped(10, True)),
        _known("numbers", _R, "r2", _numbers(10, _normal)),
        _known("numbers mae", _R, "mean_absolute_error", _numbers(10, _normal)),
        _known("numbers wide", _R, "r2", _numbers(1000, _normal)),
        _known("heavy tails", _R, "r2", _numbers(10, _heavy)),
        _known("numbers in groups", _R, "r2", _grouped(10, False)),
        _series("noise in time", _B, "roc_auc", 0.0, 0.9),
        _series("series", _B, "roc_auc", 0.0, 0.0),
        _series("series with memory", _R, "mean_absolute_error", 0.0, 0.9),
        _series("moving series", _B, "roc_auc", 0.6, 0.0),
        _series("moving numbers", _R, "r2", 0.6, 0.0),
    )
}
