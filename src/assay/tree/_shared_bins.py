"""One binning of a table for trees with other targets: members of a reduction."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import SharedFit, check_n_jobs
from assay.tree._growth import Training, fit_tree
from assay.tree._parameters import feature_count
from assay.tree.engine import Bins


@dataclass(frozen=True)
class _Binned(Training):
    """Training rows whose bins are there already."""

    ready: Bins | None = None

    @property
    def is_prepared(self) -> bool:
        """Whether bins cost little: these cost nothing."""
        return self.ready is not None or super().is_prepared

    def bins(self, max_bins: int, n_threads: int) -> Bins:
        """Return the rows cut into bins."""
        return super().bins(max_bins, n_threads) if self.ready is None else self.ready


class SharedBins(SharedFit[Bins]):
    """Bins, which depend on the rows and their weights, not on the labels.

    Class weights, and pruning that divides the rows again, are left to fits of their own.
    """

    def prepare(
        self, model: Any, X: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> Bins | None:
        """Bin the table."""
        plain = model.class_weight is None and model.prune != "reduced_error"
        numeric = model.categorical_features is None or (
            isinstance(model.categorical_features, str)
            and model.categorical_features == "from_dtype"
        )
        if not (plain and numeric and model.ccp_alpha != "cv"):
            return None
        if weight is not None and not weight.all():
            return None
        model._checked()  # a senseless parameter is refused before any work
        n_threads = check_n_jobs(model.n_jobs)
        return Bins.build(np.ascontiguousarray(X), model.max_bins, None, weight, n_threads)

    def fit(
        self,
        model: Any,
        prepared: Bins,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
    ) -> Any:
        """Do what the tree's own fit does, with bins that are there."""
        seed, n_threads = model._checked()
        training = model._training(X, y, weight)
        known = {field.name: getattr(training, field.name) for field in fields(training)}
        model._store(fit_tree(_Binned(**known, ready=prepared), vars(model), seed, n_threads))
        model.max_features_ = feature_count(model.max_features, model.n_features_in_)
        return model
