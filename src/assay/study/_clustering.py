"""Clusters as found or as opened from a model file."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay import report, store
from assay.base import DataError
from assay.record import ClusterRecord
from assay.study._cluster_methods import NAMES
from assay.study._identity import result_digest
from assay.study._model import Answers
from assay.table import RawTable, Schema, read

#: Parts of the manifest of a model file that holds a clustering.
MANIFEST = {"clusters", "schema"}


@dataclass(frozen=True)
class ClusterModel:
    """Schema, encoder and estimator of a clustering.

    Parameters
    ----------
    schema : Schema
        How a table becomes a matrix.
    encoder : Encoder
        Fitted on all rows.
    estimator : estimator
        Fitted on the encoded rows.
    """

    schema: Schema
    encoder: Any
    estimator: Any

    def read(self, source: Any, **options: Any) -> RawTable:
        """Read new rows as the table was read: the same dates, levels and markers."""
        return source if isinstance(source, RawTable) else read(source, like=self.schema, **options)

    def encoded(self, source: Any, **options: Any) -> NDArray[np.float64]:
        """Return new rows as the matrix that the estimator knows."""
        raw = self.read(source, **options)
        found: NDArray[np.float64] = self.encoder.transform(
            self.schema.matrix(raw.frame, where=raw.where)
        )
        return found


class Clustering:
    """The clusters of a table, and the record of how they came to be.

    Made by `find_clusters` or `assay.load`.

    Parameters
    ----------
    record : ClusterRecord
        Everything the report shows; `ClusterRecord.to_json` gives plain values.
    model : ClusterModel
        Fitted on all rows.
    labels : ndarray of int64 or None
        The cluster of each row of the table, -1 for none; None when opened from a model file of a
        method that keeps none.

    Attributes
    ----------
    n_clusters : int
        Number of clusters.
    method : str
        The method in words.
    estimator : estimator
        The fitted estimator itself.
    digest : str
        SHA-256 of model and record, without the versions of the software that made them.

    Examples
    --------
    >>> import assay
    >>> found = assay.study.find_clusters(
    ...     assay.datasets.path("penguins"), method="kmeans", n_clusters=3, drop=["species"]
    ... )
    >>> found.n_clusters, len(found.labels)
    (3, 344)
    """

    def __init__(
        self,
        record: ClusterRecord,
        model: ClusterModel,
        labels: NDArray[np.int64] | None = None,
    ) -> None:
        self.record = record
        self.model = model
        self.labels = labels

    def __repr__(self) -> str:
        return f"<Clustering of {self.record.source!r}: {self.n_clusters} by {self.method}>"

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.record.n_clusters

    @property
    def method(self) -> str:
        """The method in words."""
        return self.record.method.text

    @property
    def estimator(self) -> Any:
        """The fitted estimator itself; it knows the encoded matrix."""
        return self.model.estimator

    @property
    def digest(self) -> str:
        """SHA-256 of model and record, without the versions of the software that made them."""
        return result_digest(self._manifest(), self._parts(), "clusters")

    def answers(self, source: Any, *, proba: bool = False, **options: Any) -> Answers:
        """Return the cluster of each row and what comes with it, encoding the table once.

        Parameters
        ----------
        source : path, "-", file object or dataframe
            A table with the columns the clusters were found in.
        proba : bool, default=False
            Whether the share of each cluster is returned as well.
        **options
            Passed to `assay.table.read`.
        """
        raw = self.model.read(source, **options)
        self._need_predict()
        X = self.model.encoded(raw)
        labels = np.asarray(self.estimator.predict(X))
        return Answers(labels, self._shares(X) if proba else None, None, raw.rows, raw.blank)

    def predict(self, source: Any, **options: Any) -> NDArray[np.int64]:
        """Return the cluster of each row of a table.

        Parameters
        ----------
        source : path, "-", file object or dataframe
            A table with the columns the clusters were found in.
        **options
            Passed to `assay.table.read`.

        Raises
        ------
        DataError
            If the method does not group new rows.
        """
        self._need_predict()
        return self.answers(source, **options).prediction

    def predict_proba(self, source: Any, **options: Any) -> NDArray[np.float64]:
        """Return how much each row of a table belongs to each cluster.

        Parameters
        ----------
        source : path, "-", file object or dataframe
            As in `predict`.
        **options
            Passed to `assay.table.read`.
        """
        self._need_shares()
        return self._shares(self.model.encoded(source, **options))

    def _need_predict(self) -> None:
        if not hasattr(self.estimator, "predict"):
            raise DataError(
                f"{self.method} groups the rows it has seen and no new ones; find the clusters "
                "again with all rows, or with --method kmeans or mixture"
            )

    def _need_shares(self) -> None:
        if not hasattr(self.estimator, "predict_proba"):
            raise DataError(f"{self.method} gives no shares; mixtures and fuzzy k-means do")

    def _shares(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        self._need_shares()
        return np.asarray(self.estimator.predict_proba(X), dtype=np.float64)

    def assignments(self) -> bytes:
        """Return a CSV file with the cluster of every row of the table, empty for none."""
        if self.labels is None:
            raise DataError("a model file does not keep the assignments; find the clusters again")
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(["row", "cluster"])
        for at, label in enumerate(self.labels.tolist(), 1):
            lines.writerow([at, label if label >= 0 else ""])
        return text.getvalue().encode("utf-8")

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report page.

        Parameters
        ----------
        path : path
            Where to write the HTML file.
        """
        return report.write_clusters(self.record, Path(path))

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the model file and return its digest.

        Parameters
        ----------
        path : path
            Where to write, by custom ending in ``.assay``.
        """
        store.save(Path(path), self._manifest(), self._parts())
        return self.digest

    def _manifest(self) -> dict[str, Any]:
        return {"clusters": self.record.to_json(), "schema": self.model.schema.to_dict()}

    def _parts(self) -> dict[str, Any]:
        return {"encoder": self.model.encoder, "estimator": self.model.estimator}


def clustering_of(manifest: Mapping[str, Any], parts: Mapping[str, Any]) -> Clustering:
    """Build a clustering from what a model file holds; what does not fit is refused.

    Parameters
    ----------
    manifest : mapping
        With the parts "clusters" and "schema".
    parts : mapping
        With "encoder" and "estimator".
    """
    if set(manifest) != MANIFEST or set(parts) != {"encoder", "estimator"}:
        raise DataError("holds a model, but not a clustering's")
    schema = Schema.from_dict(manifest["schema"])
    encoder, estimator = parts["encoder"], parts["estimator"]
    if encoder is None or estimator is None:
        raise DataError("the model is damaged: a part is missing")
    if encoder.n_features_in_ != len(schema.features):
        raise DataError("the model is damaged: its encoder does not fit its schema")
    if estimator.n_features_in_ != len(encoder.get_feature_names_out()):
        raise DataError("the model is damaged: its estimator does not fit its encoder")
    record = ClusterRecord.from_json(manifest["clusters"])
    if record.method.name not in NAMES:
        raise DataError("the record is damaged: its method is unknown")
    labels = getattr(estimator, "labels_", None)
    return Clustering(record, ClusterModel(schema, encoder, estimator), labels)
