"""Linear models: least squares with penalties, and classification (see linear_classify)."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import random as random_sparse
from sklearn.datasets import make_regression

from benchmarks.work import OURS, Contestant, Work

#: Penalties of the paths.
N_ALPHAS = 30


class Regression(NamedTuple):
    X: Any
    y: NDArray[np.float64]
    alpha: float


def ridge_data() -> Regression:
    X, y = make_regression(200_000, 100, noise=10.0, random_state=0)
    return Regression(X, y, 1.0)


def lasso_data() -> Regression:
    X, y = make_regression(2_000, 10_000, n_informative=100, noise=10.0, random_state=0)
    return Regression(X, y, 0.1 * top_penalty(X, y))


def easy_lasso_data() -> Regression:
    X, y = make_regression(2_000, 10_000, random_state=0)
    return Regression(X, y, 1.0)


def sparse_data() -> Regression:
    X = random_sparse(20_000, 20_000, density=0.002, format="csr", random_state=0)
    weights = np.zeros(20_000)
    weights[:200] = np.random.default_rng(0).normal(size=200)
    y = X @ weights + 0.1 * np.random.default_rng(1).normal(size=20_000)
    return Regression(X, y, 0.05 * float(np.abs(X.T @ (y - y.mean())).max()) / 20_000)


def top_penalty(X: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """The smallest penalty of the lasso that leaves no column."""
    centred = y - y.mean()
    return float(np.abs(X.T @ centred - X.mean(axis=0) * centred.sum()).max()) / len(y)


def ridge_of(module: str, **settings: Any) -> Any:
    def load() -> Any:
        ridge = importlib.import_module(module).Ridge

        def call(data: Regression) -> Any:
            model = ridge(data.alpha, **settings).fit(data.X, data.y)
            return np.asarray(model.coef_), float(np.ravel(model.intercept_)[0])

        return call

    return load


def lasso_of(module: str, **settings: Any) -> Any:
    def load() -> Any:
        lasso = importlib.import_module(module).Lasso

        def call(data: Regression) -> Any:
            model = lasso(alpha=data.alpha, **settings).fit(data.X, data.y)
            return np.asarray(model.coef_), float(np.ravel(model.intercept_)[0])

        return call

    return load


def path_of(module: str, function: str, **settings: Any) -> Any:
    def load() -> Any:
        path = getattr(importlib.import_module(module), function)

        def call(data: Regression) -> Any:
            X, y = data.X - data.X.mean(axis=0), data.y - data.y.mean()
            alphas = 10 * data.alpha * np.geomspace(0.99, 0.03, N_ALPHAS)
            return path(X, y, alphas=alphas, **settings)[1]

        return call

    return load


def celer_path() -> Any:
    path = importlib.import_module("celer").celer_path

    def call(data: Regression) -> Any:
        X, y = data.X - data.X.mean(axis=0), data.y - data.y.mean()
        alphas = 10 * data.alpha * np.geomspace(0.99, 0.03, N_ALPHAS)
        return path(np.asfortranarray(X), y, "lasso", alphas=alphas)[1]

    return call


def ridge_gap(data: Regression, result: Any, reference: Any) -> str:
    return _gap(_ridge_objective(data, result), _ridge_objective(data, reference))


def lasso_gap(data: Regression, result: Any, reference: Any) -> str:
    ours, theirs = _lasso_objective(data, *result), _lasso_objective(data, *reference)
    return f"{_gap(ours, theirs)}; {np.count_nonzero(result[0])} weights"


def path_gap(data: Regression, result: Any, reference: Any) -> str:
    X, y = data.X - data.X.mean(axis=0), data.y - data.y.mean()
    alphas = 10 * data.alpha * np.geomspace(0.99, 0.03, N_ALPHAS)
    gaps = [
        _lasso_objective(Regression(X, y, alpha), a, 0.0)
        / _lasso_objective(Regression(X, y, alpha), b, 0.0)
        - 1
        for alpha, a, b in zip(alphas, result.T, reference.T, strict=True)
    ]
    return f"objective {max(gaps):+.1e} to that of the reference, at worst"


def _ridge_objective(data: Regression, result: Any) -> float:
    coef, intercept = result
    residual = data.y - data.X @ coef.ravel() - intercept
    return float(residual @ residual + data.alpha * coef.ravel() @ coef.ravel())


def _lasso_objective(data: Regression, coef: Any, intercept: float) -> float:
    residual = data.y - data.X @ coef - intercept
    return float(residual @ residual / (2 * len(data.y)) + data.alpha * np.abs(coef).sum())


def _gap(value: float, reference: float) -> str:
    return f"objective {value / reference - 1:+.1e} to that of the reference"


LASSO_PEERS = (
    Contestant(OURS, lasso_of("assay.linear", n_jobs=-1)),
    Contestant("scikit-learn", lasso_of("sklearn.linear_model"), "sklearn"),
    Contestant("skglm", lasso_of("skglm"), "skglm"),
    Contestant("celer", lasso_of("celer"), "celer"),
)

LEAST_WORKS = (
    Work(
        name="ridge, 200k x 100",
        data=ridge_data,
        contestants=(
            Contestant(OURS, ridge_of("assay.linear", n_jobs=-1)),
            Contestant("scikit-learn", ridge_of("sklearn.linear_model"), "sklearn"),
            Contestant("scikit-learn-intelex", ridge_of("sklearnex.linear_model"), "sklearnex"),
        ),
        reference="scikit-learn",
        quality=ridge_gap,
        bars={"scikit-learn": 4.5, "scikit-learn-intelex": 1.0},
    ),
    Work(
        name="lasso, 2k x 10k, 100 columns matter, alpha_max / 10",
        data=lasso_data,
        contestants=LASSO_PEERS,
        reference="scikit-learn",
        quality=lasso_gap,
        bars={"scikit-learn": 3.5, "skglm": 1.2, "celer": 1.2},
    ),
    Work(
        name="lasso, 2k x 10k, alpha = 1",
        data=easy_lasso_data,
        contestants=LASSO_PEERS,
        reference="scikit-learn",
        quality=lasso_gap,
        bars={"scikit-learn": 3.5, "skglm": 1.2, "celer": 1.2},
    ),
    Work(
        name="lasso, sparse 20k x 20k, 0.2 % filled",
        data=sparse_data,
        contestants=LASSO_PEERS,
        reference="scikit-learn",
        quality=lasso_gap,
    ),
    Work(
        name=f"lasso path, {N_ALPHAS} penalties, 2k x 10k",
        data=lasso_data,
        contestants=(
            Contestant(OURS, path_of("assay.linear", "lasso_path", n_jobs=-1)),
            Contestant("scikit-learn", path_of("sklearn.linear_model", "lasso_path"), "sklearn"),
            Contestant("celer", celer_path, "celer"),
        ),
        reference="scikit-learn",
        quality=path_gap,
        repeats=3,
    ),
)


def _others() -> tuple[Work, ...]:
    """The works of the classifiers, which have a file of their own."""
    if importlib.util.find_spec("benchmarks.linear_classify") is None:
        return ()
    works: tuple[Work, ...] = importlib.import_module("benchmarks.linear_classify").CLASSIFY_WORKS
    return works


WORKS = (*LEAST_WORKS, *_others())
