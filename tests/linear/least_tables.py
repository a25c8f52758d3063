"""Tables and objectives that the tests of least squares share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.preprocessing import StandardScaler

Array = NDArray[np.float64]


class Table(NamedTuple):
    """Rows (dense and sparse), target, weights."""

    X: Array
    y: Array
    weight: Array

    @property
    def sparse(self) -> Any:
        return csr_matrix(self.X)


def made(n: int = 120, p: int = 15, *, seed: int = 0, zeros: float = 0.0) -> Table:
    """A random table whose first columns matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2.0, size=p) + rng.normal(size=p)
    X[rng.random((n, p)) < zeros] = 0.0
    y = X[:, : min(p, 4)] @ np.array([3.0, -2.0, 1.0, 0.5])[: min(p, 4)] + rng.normal(size=n) + 5.0
    return Table(X, y, rng.uniform(0.1, 3.0, size=n))


def bundled() -> dict[str, Table]:
    """Tables that come with scikit-learn, in comparable scales."""
    found = {}
    for load in (load_diabetes, load_breast_cancer, load_wine, load_digits):
        X, y = load(return_X_y=True)
        rows = StandardScaler().fit_transform(X[:400])
        weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(rows))
        found[load.__name__[5:]] = Table(rows, y[:400].astype(np.float64), weight)
    return found


def lasso_objective(
    table: Table,
    coef: Array,
    intercept: Any,
    alpha: float,
    ratio: float = 1.0,
    *,
    weighted: bool = False,
) -> float:
    """The objective of the elastic net, as its documentation states it."""
    v = table.weight if weighted else np.ones(len(table.y))
    residual = table.y - table.X @ coef - intercept
    penalty = ratio * np.abs(coef).sum() + (1 - ratio) / 2 * coef @ coef
    return float((v * residual**2).sum() / (2 * v.sum()) + alpha * penalty)


def alpha_max(table: Table, ratio: float = 1.0) -> float:
    """The smallest penalty for which all weights are zero."""
    centred = table.X - table.X.mean(axis=0)
    return float(np.abs(centred.T @ (table.y - table.y.mean())).max() / (len(table.y) * ratio))


def violation(
    table: Table, model: Any, alpha: float, ratio: float = 1.0, *, weighted: bool = False
) -> float:
    """How far a model is from the conditions of the minimum of the elastic net; 0 at it."""
    v = table.weight if weighted else np.ones(len(table.y))
    residual = v * (table.y - table.X @ model.coef_ - model.intercept_) / v.sum()
    slope = table.X.T @ residual - alpha * (1 - ratio) * model.coef_
    active = model.coef_ != 0
    inside = np.abs(slope[active] - alpha * ratio * np.sign(model.coef_[active]))
    outside = np.abs(slope[~active]) - alpha * ratio
    return float(max(inside.max(initial=0.0), outside.max(initial=0.0), abs(residual.sum())))
