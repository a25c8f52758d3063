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
        codes = self.estimator.predict(self._encoded(source, **options))
        return codes if self.target.task == "regression" else self.target.decode(codes)

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

    def _encoded(self, source: Any, **options: Any) -> NDArray[np.float64]:
        raw = source if isinstance(source, RawTable) else read(source, **options)
        X = self.schema.matrix(raw.frame)
        return X if self.encoder is None else self.encoder.transform(X)
