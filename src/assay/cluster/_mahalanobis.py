"""k-means with an elliptic shape for every cluster."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.cluster._lloyd import Run

#: Number of rows whose distances are computed at once, so that memory stays small.
_BLOCK = 4096

#: Minimum variance in any direction, as a share of the variance of the table in it.
_FLOOR = 1e-6


class Shaped(NamedTuple):
    """The result of one run, with the shapes of the clusters."""

    run: Run
    shapes: NDArray[np.float64]


def shaped_lloyd(
    rows: NDArray[Any],
    weight: NDArray[np.float64] | None,
    centres: NDArray[np.float64],
    *,
    max_iter: int,
    tolerance: float,
) -> Shaped:
    """Alternate assignment, means and unit-volume shapes from given centres."""
    mass = np.ones(len(rows)) if weight is None else weight
    whole = _Moments(1, rows.shape[1]).add(rows, np.zeros(len(rows), dtype=np.intp), mass)
    floor = _FLOOR * whole.covariances()[0]
    floor[np.diag_indices_from(floor)] += np.finfo(float).tiny ** 0.5
    shapes = np.repeat(_unit_volume(whole.covariances() + floor), len(centres), axis=0)
    labels = np.full(len(rows), -1, dtype=np.int32)
    cost, stable, shift, n_iter = np.inf, False, np.inf, 0
    while n_iter < max_iter and not stable:
        before, kept = centres, (centres, shapes, labels, cost)
        labels, squared = shaped_nearest(rows, centres, shapes)
        cost = float(mass @ squared)
        if cost >= kept[3] and n_iter > 0:
            # The minimum variance can make J rise slightly: then the last iteration is kept.
            centres, shapes, labels, cost = kept
            stable = True
            break
        n_iter += 1
        stable = np.array_equal(labels, kept[2])
        moments = _Moments(len(centres), rows.shape[1]).add(rows, labels, mass)
        centres = moments.means(_farthest(rows, squared, moments.mass))
        shapes = _unit_volume(_filled(moments, floor, whole))
        shift = float(((centres - before) ** 2).sum())
        if shift <= tolerance:
            break
    labels, squared = shaped_nearest(rows, centres, shapes)
    reason = "converged" if stable else "tol" if shift <= tolerance else "max_iter"
    inertia = float(mass @ squared)
    return Shaped(Run(centres, labels, inertia, n_iter, reason, shift), shapes)


def shaped_distances(
    rows: NDArray[Any], centres: NDArray[np.float64], shapes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (x - mu)' A (x - mu) of every row and cluster."""
    factors = np.linalg.cholesky(shapes)
    squared = np.empty((len(rows), len(centres)))
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        for c, centre in enumerate(centres):
            # The sum has a fixed order; BLAS could change it with the number of threads.
            moved = np.einsum("ij,jl->il", rows[part] - centre, factors[c])
            squared[part, c] = np.einsum("il,il->i", moved, moved)
    return squared


def shaped_nearest(
    rows: NDArray[Any], centres: NDArray[np.float64], shapes: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the nearest cluster of each row and the squared distance to it."""
    labels = np.empty(len(rows), dtype=np.int32)
    squared = np.empty(len(rows))
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        found = shaped_distances(rows[part], centres, shapes)
        labels[part] = np.argmin(found, axis=1)
        squared[part] = np.take_along_axis(found, labels[part, None], axis=1)[:, 0]
    return labels, squared


class _Moments:
    """Weights, sums and products of the rows of each cluster, around a common origin."""

    def __init__(self, k: int, d: int) -> None:
        self.mass = np.zeros(k)
        self.sums = np.zeros((k, d))
        self.products = np.zeros((k, d, d))
        self.origin = np.zeros(d)

    def add(
        self, rows: NDArray[Any], labels: NDArray[Any], weight: NDArray[np.float64]
    ) -> _Moments:
        # An origin among the rows: products of values far from 0 would lose accuracy.
        self.origin = rows[:_BLOCK].mean(axis=0, dtype=np.float64)
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            moved = rows[part] - self.origin
            for c in np.unique(labels[part]):
                member = labels[part] == c
                own, w = moved[member], weight[part][member]
                self.mass[c] += w.sum()
                self.sums[c] += np.einsum("i,ij->j", w, own)
                self.products[c] += np.einsum("ij,il->jl", w[:, None] * own, own)
        return self

    def means(self, spare: NDArray[Any]) -> NDArray[np.float64]:
        """Return the means; clusters without weight get the spare rows, in order."""
        used = self.mass > 0
        out = np.empty_like(self.sums)
        out[used] = self.sums[used] / self.mass[used, None] + self.origin
        out[~used] = spare
        return out

    def covariances(self) -> NDArray[np.float64]:
        """Return the covariances; zero for clusters without weight."""
        mass = np.where(self.mass > 0, self.mass, 1)[:, None]
        means = self.sums / mass
        return self.products / mass[:, :, None] - means[:, :, None] * means[:, None, :]


def _filled(moments: _Moments, floor: NDArray[np.float64], whole: _Moments) -> NDArray[np.float64]:
    """Return invertible covariances, also for flat and empty clusters."""
    covariances = moments.covariances() + floor
    covariances[moments.mass <= 0] = whole.covariances()[0] + floor
    return covariances


def _unit_volume(covariances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return det(S)^(1/d) S^-1: of all shapes with determinant 1 the best for its cluster."""
    d = covariances.shape[1]
    values, vectors = np.linalg.eigh((covariances + covariances.transpose(0, 2, 1)) / 2)
    values = np.maximum(values, np.finfo(float).eps * values[:, -1:])
    logs = np.log(values)
    scaled = np.exp(logs.mean(axis=1, keepdims=True) - logs)
    shapes: NDArray[np.float64] = np.einsum("cij,cj,clj->cil", vectors, scaled, vectors)
    return (shapes + shapes.transpose(0, 2, 1)) / 2 if d > 1 else np.ones_like(shapes)


def _farthest(
    rows: NDArray[Any], squared: NDArray[np.float64], mass: NDArray[np.float64]
) -> NDArray[Any]:
    empty = int((mass <= 0).sum())
    return rows[np.argsort(-squared, kind="stable")[:empty]]
