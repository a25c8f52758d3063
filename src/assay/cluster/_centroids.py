"""Methods shared by all models with cluster centres."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from assay._core import cluster as kernels
from assay.base import Clusterer, check_n_jobs, check_weight
from assay.base.stored import Array, Count, Integers, declared
from assay.cluster._lloyd import nearest
from assay.cluster._seeds import squared_norms

_REASON = (
    "the first centres are drawn from the rows: repeated rows shift the draws, and another "
    "start may end in another local optimum (from given centres weights are repeated rows)"
)

#: Checks that every model with random initial rows fails.
DRAWS = {
    "check_sample_weight_equivalence_on_dense_data": _REASON,
    "check_sample_weight_equivalence_on_sparse_data": _REASON,
}


class CentroidModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    """Nearest centres, distances to all centres, and the score, from `cluster_centers_`."""

    takes_sparse = True
    cluster_centers_: NDArray[np.float64]
    stored = declared(
        n_clusters=Count(1),
        cluster_centers_=Array("n_clusters, features"),
        n_samples_fit_=Count(1),
        labels_=Integers("n_samples_fit_", 0, "n_clusters-1"),
    )

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the nearest centre of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of int32 of shape (n_samples,)
            Ties go to the first centre.
        """
        rows = self._predict_data(X)
        return self._nearest(rows)[0]

    def fit_predict(
        self, X: Any, y: object = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.int32]:
        """Fit and return the cluster of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : ignored
            For compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        ndarray of int32 of shape (n_samples,)
        """
        labels: NDArray[np.int32] = self.fit(X, y, sample_weight=sample_weight).labels_
        return labels

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the distance of each row to each centre.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            In the precision of X.
        """
        return self._distances(self._predict_data(X))

    def score(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> float:  # noqa: ARG002
        """Return minus the weighted sum of squared distances to the nearest centres.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : ignored
            For compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        float
        """
        rows = self._predict_data(X)
        weight = check_weight(sample_weight, rows)
        squared = self._nearest(rows)[1]
        return -float(squared.sum() if weight is None else (weight * squared).sum())

    def _nearest(self, rows: Any) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        return nearest(rows, self.cluster_centers_, check_n_jobs(self.n_jobs))

    def _distances(self, rows: Any) -> NDArray[Any]:
        centres = self.cluster_centers_
        if issparse(rows):
            squared = squared_norms(rows)[:, None] - 2 * (rows @ centres.T)
            squared += (centres**2).sum(axis=1)
            return np.asarray(np.sqrt(np.maximum(squared, 0)), dtype=rows.dtype)
        distances = np.empty((rows.shape[0], len(centres)), dtype=rows.dtype)
        kernels.centre_distances(rows, centres, distances, check_n_jobs(self.n_jobs))
        return distances

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _check_more(self) -> None:
        self.cluster_centers_ = np.ascontiguousarray(self.cluster_centers_, dtype=np.float64)

    @classmethod
    def _examples(cls) -> list[Self]:
        return [cls(n_clusters=2)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
