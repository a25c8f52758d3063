"""Every number of components from one decomposition of a training set."""

from __future__ import annotations

import threading
from typing import Any

from numpy.typing import NDArray

from assay.base import SharedFit
from assay.decomposition import _pca_routes as routes


class Decompositions:
    """The decompositions of one table, each made by the first fit that asks for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[str, routes.Axes] = {}

    def axes(self, solver: str, rows: Any, n_threads: int) -> routes.Axes:
        """Return the axes of the table, by 'full' or 'covariance_eigh'."""
        with self._lock:
            if solver not in self._made:
                by = routes.by_factor if solver == "full" else routes.by_covariance
                self._made[solver] = by(rows, n_threads)
            return self._made[solver]


class ComponentsPath(SharedFit[Decompositions]):
    """How fits of `PCA` share decompositions: all numbers, shares and scalings need the same."""

    def prepare(self, model: Any, X: NDArray[Any], weight: object) -> Decompositions:  # noqa: ARG002
        """Return a place for decompositions."""
        return Decompositions()

    def fit(
        self,
        model: Any,
        prepared: Decompositions,
        X: NDArray[Any],
        y: object,  # noqa: ARG002
        weight: object,  # noqa: ARG002
    ) -> Any:
        """Fit with the decompositions that are there."""
        return model._fit_from(X, prepared)
