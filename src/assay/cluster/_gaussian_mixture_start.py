"""The initial mixture of expectation-maximisation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._core import cluster as kernels
from assay.base import ParameterError
from assay.cluster._gaussian_mixture_em import Mixture, Shape, Sums, answers, factorised, maximise
from assay.cluster._gaussian_mixture_rows import CHUNK, Rows
from assay.cluster._lloyd import Run, lloyd, tolerance_of
from assay.cluster._seeds import first_centres, plus_plus

#: Maximum number of rows that k-means sees if values are missing.
SAMPLE = 32_768


def start(
    rows: Rows,
    shape: Shape,
    how: str,
    given: dict[str, NDArray[np.float64] | None],
    rng: np.random.RandomState,
    n_threads: int,
) -> Mixture:
    """Return the initial mixture of EM.

    Parameters
    ----------
    rows : Rows
        The table.
    shape : Shape
        Form of the covariances.
    how : {'kmeans', 'k-means++', 'random', 'random_from_data'}
        Initial responsibilities: clusters around centres, or random numbers.
    given : dict
        `weights`, `means` and `precisions` given by the user; each may be None.
    rng : RandomState
        Random generator.
    n_threads : int
        Number of threads; does not change the result.
    """
    found = None
    if any(value is None for value in given.values()):
        found = _from_rows(rows, shape, how, rng, n_threads)
    weights, means, precisions = (given[name] for name in ("weights", "means", "precisions"))
    if weights is None:
        assert found is not None
        weights = found.weights
    if means is None:
        assert found is not None
        means = found.means
    if precisions is None:
        assert found is not None
        return Mixture(weights, means, found.covariance, found.factor)
    return factorised(weights, means, _inverse(precisions, shape), shape)


class _Shares(ABC):
    """Responsibilities and imputed values of each row, made chunk by chunk."""

    def __init__(self, rows: Rows, fill: NDArray[np.float64]) -> None:
        self.table = rows.table
        self.complete = rows.complete
        self.fill = fill

    @abstractmethod
    def of(self, begin: int, end: int) -> NDArray[np.float64]:
        """Return the responsibilities of the rows."""

    def values(self, begin: int, end: int, centres: NDArray[np.float64]) -> NDArray[Any]:  # noqa: ARG002
        """Return the rows; a missing value is the mean of its column."""
        part = self.table[begin:end]
        return part if self.complete else np.where(np.isnan(part), self.fill, part)


class _Drawn(_Shares):
    """Random responsibilities, drawn again in each pass instead of stored."""

    def __init__(
        self, rows: Rows, fill: NDArray[np.float64], k: int, rng: np.random.RandomState
    ) -> None:
        super().__init__(rows, fill)
        self.k, self.rng, self.state = k, rng, rng.get_state()

    def of(self, begin: int, end: int) -> NDArray[np.float64]:
        if begin == 0:
            self.rng.set_state(self.state)
        drawn: NDArray[np.float64] = self.rng.uniform(size=(end - begin, self.k))
        drawn /= drawn.sum(axis=1)[:, None]
        return drawn


class _Labelled(_Shares):
    """Each row belongs to one component; a missing value is the mean of that component."""

    def __init__(
        self, rows: Rows, fill: NDArray[np.float64], k: int, labels: NDArray[np.int32]
    ) -> None:
        super().__init__(rows, fill)
        self.k, self.labels = k, labels

    def of(self, begin: int, end: int) -> NDArray[np.float64]:
        return np.asarray(np.eye(self.k)[self.labels[begin:end]])

    def values(self, begin: int, end: int, centres: NDArray[np.float64]) -> NDArray[Any]:
        part = self.table[begin:end]
        if self.complete:
            return part
        return np.where(np.isnan(part), centres[self.labels[begin:end]], part)


def _from_rows(
    rows: Rows, shape: Shape, how: str, rng: np.random.RandomState, n_threads: int
) -> Mixture:
    k, middle = shape.n_components, rows.column_means()
    shares: _Shares
    if how == "random":
        shares = _Drawn(rows, middle, k, rng)
    else:
        shares = _Labelled(rows, middle, k, _labels(rows, shape, how, middle, rng, n_threads))
    # First the means, then the moments about them: differences of large sums lose accuracy.
    centres = _means(_summed(shares, shape, np.repeat(middle[None], k, axis=0), n_threads))
    return maximise(_summed(shares, shape, centres, n_threads), shape, None)


def _summed(shares: _Shares, shape: Shape, centres: NDArray[np.float64], n_threads: int) -> Sums:
    total = Sums.room(shape, centres)
    part = Sums.room(shape, centres)
    for begin in range(0, len(shares.table), CHUNK):
        end = min(begin + CHUNK, len(shares.table))
        values = np.ascontiguousarray(shares.values(begin, end, centres))
        kernels.mixture_soft(
            values, shares.of(begin, end), shape.dense, centres, *part[:3], n_threads=n_threads
        )
        for whole, more in zip(total[:3], part[:3], strict=True):
            whole += more
    return total


def _means(sums: Sums) -> NDArray[np.float64]:
    alive = sums.shares > 0
    count = np.where(alive, sums.shares, 1.0)[:, None]
    return sums.centres + np.where(alive[:, None], sums.first / count, 0.0)


def _labels(
    rows: Rows,
    shape: Shape,
    how: str,
    middle: NDArray[np.float64],
    rng: np.random.RandomState,
    n_threads: int,
) -> NDArray[np.int32]:
    """Return the initial component of each row."""
    k, n = shape.n_components, len(rows.table)
    if how == "random_from_data":
        chosen = rng.choice(n, size=k, replace=False)
        return _nearest(rows, _filled(rows.table[chosen], middle), n_threads)
    if rows.complete:
        if how == "k-means++":
            seeds = rows.table[plus_plus(rows.table, None, k, rng, n_threads)]
            return _nearest(rows, seeds.astype(np.float64), n_threads)
        return _grouped(rows.table, k, rng, n_threads).labels
    # k-means needs complete rows: fit it on some rows with means filled in, then assign all rows.
    sample = rows.table
    if n > SAMPLE:
        sample = rows.table[np.sort(rng.choice(n, size=SAMPLE, replace=False))]
    points = _filled(sample, middle)
    if how == "k-means++":
        return _nearest(rows, points[plus_plus(points, None, k, rng, n_threads)], n_threads)
    return _nearest(rows, _grouped(points, k, rng, n_threads).centres, n_threads)


def _grouped(points: NDArray[Any], k: int, rng: np.random.RandomState, n_threads: int) -> Run:
    """Return the centres of `KMeans` with one start."""
    return lloyd(
        points,
        None,
        first_centres(points, None, k, "k-means++", rng, n_threads),
        max_iter=300,
        tolerance=tolerance_of(points, 1e-4, n_threads),
        bounds=True,
        n_threads=n_threads,
    )


def _filled(part: NDArray[Any], middle: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(part), middle, part).astype(np.float64)


def _nearest(rows: Rows, centres: NDArray[np.float64], n_threads: int) -> NDArray[np.int32]:
    """Return the nearest centre of each row: the most likely of equal, round components."""
    k, d = centres.shape
    ones = np.ones((1, d))
    round_ones = Mixture(np.full(k, 1 / k), centres, ones, ones)
    return answers(rows, round_ones, Shape("diag", k, d), n_threads, labels=True)[0]


def _inverse(precisions: NDArray[np.float64], shape: Shape) -> NDArray[np.float64]:
    """Return the covariances, as kernels read them, from the inverses given by the user."""
    inner = shape.inner(precisions)
    if not shape.dense:
        if not (inner > 0).all():
            raise ParameterError("precisions_init must be positive")
        return 1.0 / inner
    d = shape.n_features
    root = np.empty_like(inner)
    bad = kernels.precision_factors(inner, d, root)
    squares = inner.reshape(-1, d, d)
    if bad >= 0 or not np.allclose(squares, squares.transpose(0, 2, 1)):
        raise ParameterError("precisions_init must hold symmetric, positive definite matrices")
    root = root.reshape(-1, d, d)
    products = np.einsum("kij,klj->kil", root, root, optimize=False)
    return np.ascontiguousarray(products.reshape(len(inner), -1))
