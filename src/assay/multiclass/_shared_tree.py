"""One binning of the table for the trees of all members."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import check_n_jobs
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


class TreeSharing:
    """Bins, which depend on the rows and their weights, not on the labels.

    Class weights, and pruning that divides the rows again, are left to fits of their own.
    """

    def share(
        self, estimator: Any, X: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> Bins | None:
        """Bin the table."""
        plain = estimator.class_weight is None and estimator.prune != "reduced_error"
        numeric = estimator.categorical_features is None or (
            isinstance(estimator.categorical_features, str)
            and estimator.categorical_features == "from_dtype"
        )
        if not (plain and numeric and estimator.ccp_alpha != "cv"):
            return None
        if weight is not None and not weight.all():
            return None
        estimator._checked()  # a senseless parameter is refused before any work
        n_threads = check_n_jobs(estimator.n_jobs)
        return Bins.build(np.ascontiguousarray(X), estimator.max_bins, None, weight, n_threads)

    def fit(
        self,
        model: Any,
        shared: Bins,
        X: NDArray[Any],
        labels: NDArray[np.int64],
        weight: NDArray[np.float64] | None,
    ) -> Any:
        """Do what the tree's own fit does, with bins that are there."""
        seed, n_threads = model._checked()
        training = model._training(X, labels, weight)
        known = {field.name: getattr(training, field.name) for field in fields(training)}
        model._store(fit_tree(_Binned(**known, ready=shared), vars(model), seed, n_threads))
        model.max_features_ = feature_count(model.max_features, model.n_features_in_)
        return model
