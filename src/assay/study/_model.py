"""The chosen model with what it needs to read new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError
from assay.table import RawTable, Schema, Target, read


@dataclass(frozen=True)
class Model:
    """Schema, encoder and estimator, fitted on all rows.

    Parameters
    ----------
    schema : Schema
        How a table becomes a matrix.
    target : Target
        What the codes of the estimator mean.
    encoder : transformer or None
        Fitted on all rows.
    estimator : estimator
        Fitted on the encoded matrix and on class codes or values.
    """

    schema: Schema
    target: Target
    encoder: Any
    estimator: Any

    def predict(self, source: Any, **options: Any) -> NDArray[Any]:
        """Return one prediction per row of a table (path, stdin, or dataframe)."""
        found: NDArray[Any] = self.estimator.predict(self._encoded(source, **options))
        return found if self.target.task == "regression" else self.target.decode(found)

    def predict_proba(self, source: Any, **options: Any) -> NDArray[np.float64]:
        """Return one probability per row and class, classes in the order of ``target.classes``."""
        if not hasattr(self.estimator, "predict_proba"):
            raise DataError(
                f"{type(self.estimator).__name__} gives no probabilities; "
                f"ask for predictions instead"
            )
        known = np.asarray(self.estimator.classes_, dtype=np.int64)
        found = self.estimator.predict_proba(self._encoded(source, **options))
        probability = np.zeros((len(found), len(self.target.classes or ())))
        probability[:, known] = found
        return probability

    def check(self) -> None:
        """Refuse parts that do not fit together, as a damaged or edited model file may hold."""
        if self.estimator is None:
            raise DataError("the model is damaged: it has no estimator")
        width = len(self.schema.features)
        if self.encoder is not None:
            if self.encoder.n_features_in_ != width:
                raise DataError("the model is damaged: its encoder does not fit its schema")
            width = len(self.encoder.get_feature_names_out())
        # A model without columns of its own, such as a constant one, takes any.
        if getattr(self.estimator, "n_features_in_", width) != width:
            raise DataError("the model is damaged: its estimator does not fit its encoder")
        if self.target.classes is not None:
            codes = np.asarray(getattr(self.estimator, "classes_", ()))
            if codes.dtype.kind not in "iu" or not len(codes) or codes.min() < 0:
                raise DataError("the model is damaged: its estimator knows no class codes")
            if codes.max() >= len(self.target.classes):
                raise DataError("the model is damaged: its estimator knows more classes than named")

    def read(self, source: Any, **options: Any) -> RawTable:
        """Read new rows as the training table was read: the same dates, levels and markers."""
        return source if isinstance(source, RawTable) else read(source, like=self.schema, **options)

    def _encoded(self, source: Any, **options: Any) -> NDArray[np.float64]:
        raw = self.read(source, **options)
        X = self.schema.matrix(raw.frame, where=raw.where)
        return X if self.encoder is None else self.encoder.transform(X)
