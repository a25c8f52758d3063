"""Gaussian mixtures: EM with full covariances, a large table, and missing values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

from benchmarks.work import OURS, Contestant, Work

#: `tol` = 0: all contestants make the same number of steps, from the same start.
FIFTY = {"n_components": 10, "max_iter": 50, "tol": 0.0, "random_state": 0}
THREE = {**FIFTY, "max_iter": 3}


def overlapping() -> NDArray[np.float64]:
    """Groups that overlap, so that EM has something to do in every step."""
    X, _ = make_blobs(50_000, 10, centers=10, cluster_std=6.0, random_state=0)
    return np.ascontiguousarray(X)


def large() -> NDArray[np.float64]:
    X, _ = make_blobs(1_000_000, 20, centers=10, cluster_std=6.0, random_state=0)
    return np.ascontiguousarray(X)


def with_gaps() -> NDArray[np.float64]:
    X = overlapping()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X


def assay_mixture(**settings: Any) -> Any:
    from assay.cluster import GaussianMixture  # noqa: PLC0415

    return lambda X: _fitted(GaussianMixture(**settings, n_jobs=-1), X)


def sklearn_mixture(**settings: Any) -> Any:
    from sklearn.mixture import GaussianMixture  # noqa: PLC0415

    return lambda X: _fitted(GaussianMixture(**settings), X)


def sklearnex_mixture(**settings: Any) -> Any:
    from sklearnex import patch_sklearn  # noqa: PLC0415

    patch_sklearn(verbose=False)  # its k-means and its products of matrices
    return sklearn_mixture(**settings)


def _fitted(model: Any, X: NDArray[np.float64]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all stop at max_iter, as they were told
        return model.fit(X)


def reached(X: Any, model: Any) -> tuple[int, float]:  # noqa: ARG001
    return model.n_iter_, float(model.lower_bound_)


def same_likelihood(data: Any, result: Any, reference: Any) -> str:  # noqa: ARG001
    return f"{result[0]} steps, log-likelihood {result[1]:.6f} ({result[1] - reference[1]:+.1e})"


def _contestants(settings: dict[str, Any]) -> tuple[Contestant, ...]:
    return (
        Contestant(OURS, lambda: assay_mixture(**settings)),
        Contestant("scikit-learn", lambda: sklearn_mixture(**settings), "sklearn"),
        Contestant("scikit-learn-intelex", lambda: sklearnex_mixture(**settings), "sklearnex"),
    )


WORKS = (
    Work(
        name="Gaussian mixture, 10 full, 50k x 10, 50 iterations",
        data=overlapping,
        contestants=_contestants(FIFTY),
        reference="scikit-learn",
        quality=same_likelihood,
        summary=reached,
        bars={"scikit-learn": 25.0, "scikit-learn-intelex": 25.0},
        repeats=3,
    ),
    Work(
        name="Gaussian mixture, 10 diagonal, 50k x 10, 50 iterations",
        data=overlapping,
        contestants=_contestants({**FIFTY, "covariance_type": "diag"})[:2],
        reference="scikit-learn",
        quality=same_likelihood,
        summary=reached,
        repeats=3,
    ),
    Work(
        name="Gaussian mixture, 10 full, 1M x 20, 3 iterations (memory)",
        data=large,
        contestants=_contestants(THREE)[:2],
        reference="scikit-learn",
        quality=same_likelihood,
        summary=reached,
        repeats=1,
        alone=True,
    ),
    Work(
        name="Gaussian mixture, 10 full, 50k x 10 with 10 % missing, 50 iterations",
        data=with_gaps,
        contestants=_contestants(FIFTY)[:1],
        reference=OURS,
        quality=same_likelihood,
        summary=reached,
        repeats=3,
    ),
)
