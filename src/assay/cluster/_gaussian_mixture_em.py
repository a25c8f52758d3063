"""The parameters of a Gaussian mixture, and expectation-maximisation on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._core import cluster as kernels
from assay.base import DataError
from assay.cluster._gaussian_mixture_rows import Rows

#: A component with less weight than this counts as empty (ten roundings, as in scikit-learn).
NOBODY = 10 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Shape:
    """The form of the covariances, and the number added to their diagonals."""

    kind: str
    n_components: int
    n_features: int
    reg_covar: float = 0.0

    @property
    def dense(self) -> bool:
        """Whether covariances are matrices, not variances."""
        return self.kind in ("full", "tied")

    @property
    def public(self) -> tuple[int, ...]:
        """Shape of the covariances as users see them."""
        k, d = self.n_components, self.n_features
        shapes = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}
        return shapes[self.kind]

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of the mixture."""
        k, d = self.n_components, self.n_features
        pairs = d * (d + 1) // 2
        covariances = {"full": k * pairs, "tied": pairs, "diag": k * d, "spherical": k}
        return covariances[self.kind] + k * d + k - 1

    def inner(self, public: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return covariances as kernels read them: a row per component, one row if tied."""
        if self.kind == "spherical":
            return np.repeat(public[:, None], self.n_features, axis=1)
        return np.ascontiguousarray(public).reshape(-1, self.n_features ** (1 + self.dense))

    def outer(self, inner: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return covariances as users see them."""
        return inner[:, 0].copy() if self.kind == "spherical" else inner.reshape(self.public)


class Mixture(NamedTuple):
    """Weights, means, and covariances with their precision factors, as kernels read them."""

    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    covariance: NDArray[np.float64]
    factor: NDArray[np.float64]

    def arguments(self, shape: Shape) -> tuple[Any, ...]:
        """Return the arguments that every kernel takes after the rows."""
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        return log_weights, self.means, self.covariance, self.factor, shape.dense


class Sums(NamedTuple):
    """Sums over rows: responsibilities, and first and second moments about `centres`."""

    shares: NDArray[np.float64]
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    centres: NDArray[np.float64]

    @classmethod
    def room(cls, shape: Shape, centres: NDArray[np.float64]) -> Sums:
        """Return sums over no rows."""
        k, d = centres.shape
        size = d * d if shape.dense else d
        return cls(np.zeros(k), np.zeros((k, d)), np.zeros((k, size)), centres)


class Run(NamedTuple):
    """The result of EM: the mixture, the mean log-likelihood of each iteration, the stop reason."""

    mixture: Mixture
    bounds: list[float]
    reason: str

    @property
    def bound(self) -> float:
        """The last, and largest, mean log-likelihood; minus infinity without steps."""
        return self.bounds[-1] if self.bounds else -np.inf


def factorised(
    weights: NDArray[np.float64],
    means: NDArray[np.float64],
    covariance: NDArray[np.float64],
    shape: Shape,
) -> Mixture:
    """Add the precision factors.

    Raises
    ------
    DataError
        Naming the first component whose covariance is singular.
    """
    factor = np.empty_like(covariance)
    singular = -1
    if shape.dense:
        singular = kernels.precision_factors(covariance, shape.n_features, factor)
    else:
        bad = np.flatnonzero(~(covariance > 0).all(axis=1))
        singular = int(bad[0]) if len(bad) else -1
        if singular < 0:
            factor = 1.0 / np.sqrt(covariance)
    if singular >= 0:
        whose = "the common covariance" if shape.kind == "tied" else f"component {singular}"
        raise DataError(
            f"GaussianMixture: {whose} has a singular covariance: it has too few distinct "
            "rows, or columns are constant, depend on each other, or have very different scales. "
            f"Raise reg_covar (it is {shape.reg_covar:g}), lower n_components (it is "
            f"{shape.n_components}), or scale the columns"
        )
    return Mixture(weights, means, covariance, factor)


def expect(rows: Rows, mixture: Mixture, shape: Shape, n_threads: int) -> tuple[float, Sums]:
    """Return the log-likelihood, and the sums for the next mixture (the E step)."""
    sums = Sums.room(shape, mixture.means)
    out = (sums.shares, sums.first, sums.second)
    given: tuple[Any, ...] = (*rows.arguments(), *mixture.arguments(shape), *out, n_threads)
    return kernels.mixture_pass(*given), sums


def maximise(sums: Sums, shape: Shape, before: NDArray[np.float64] | None) -> Mixture:
    """Return the maximum-likelihood mixture for the sums (the M step).

    `before` are the covariances that a component without rows keeps, with its mean.
    """
    k, d = shape.n_components, shape.n_features
    alive = sums.shares > NOBODY
    count = np.where(alive, sums.shares, 1.0)
    shift = np.where(alive[:, None], sums.first / count[:, None], 0.0)
    weights = np.where(alive, sums.shares, 0.0)
    means = sums.centres + shift
    if shape.dense:
        own = sums.second.reshape(k, d, d) / count[:, None, None]
        own -= shift[:, :, None] * shift[:, None, :]
    else:
        own = np.maximum(sums.second / count[:, None] - shift**2, 0.0)
        if shape.kind == "spherical":
            own = np.repeat(own.mean(axis=1)[:, None], d, axis=1)
    if shape.kind == "tied" or (before is None and not alive.all()):
        pooled = (weights[:, None] * own.reshape(k, -1)).sum(axis=0) / weights.sum()
        if shape.kind == "tied":
            own = pooled.reshape(1, d, d)
        else:
            own[~alive] = pooled.reshape(own.shape[1:])
    if shape.dense:
        own[:, np.arange(d), np.arange(d)] += shape.reg_covar
    else:
        own += shape.reg_covar
    if before is not None and shape.kind != "tied" and not alive.all():
        own[~alive] = before.reshape(own.shape)[~alive]
    covariance = own.reshape(len(own), -1)
    return factorised(weights / weights.sum(), means, covariance, shape)


def climb(
    rows: Rows,
    mixture: Mixture,
    shape: Shape,
    *,
    tol: float,
    max_iter: int,
    n_threads: int,
    tell: Callable[[int, float], None],
) -> Run:
    """Repeat E and M steps until the mean log-likelihood gains less than `tol`.

    An iteration without a gain is not taken: beyond rounding this happens only because `reg_covar`
    is added to the covariances that maximise the likelihood.
    """
    bounds: list[float] = []
    before = mixture
    for step in range(1, max_iter + 1):
        total, sums = expect(rows, mixture, shape, n_threads)
        bound = total / len(rows.table)
        change = bound - bounds[-1] if bounds else np.inf
        if change <= 0:
            return Run(before, bounds, "converged" if -change < tol else "no_gain")
        bounds.append(bound)
        tell(step, change)
        before, mixture = mixture, maximise(sums, shape, mixture.covariance)
        if change < tol:
            return Run(mixture, bounds, "converged")
    return Run(mixture, bounds, "max_iter")


def answers(
    rows: Rows,
    mixture: Mixture,
    shape: Shape,
    n_threads: int,
    *,
    labels: bool = False,
    norms: bool = False,
    shares: bool = False,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """Return the requested ones of: most likely component, log-density, responsibilities."""
    n = len(rows.table)
    found = (
        np.empty(n if labels else 0, dtype=np.int32),
        np.empty(n if norms else 0),
        np.empty((n if shares else 0, shape.n_components)),
    )
    given: tuple[Any, ...] = (*rows.arguments(), *mixture.arguments(shape), *found, n_threads)
    kernels.mixture_assign(*given)
    return found
