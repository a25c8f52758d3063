"""The chosen model with what it needs to read new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError, Task
from assay.evaluate import Queries
from assay.select import queries_for
from assay.table import RawTable, Schema, Target, read


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model gives for the rows of a table.

    Parameters
    ----------
    prediction : ndarray
        One class, number, score or cluster per row.
    probability : ndarray of shape (n_rows, n_classes) or None
        Of each class, or how much a row belongs to each cluster; None if not asked for.
    rank : ndarray or None
        Of a ranking whose table has the column of queries: the place in the query, 1 = best.
    rows, blank : int
        Rows that were read, and how many of them were blank.
    """

    prediction: NDArray[Any]
    probability: NDArray[np.float64] | None
    rank: NDArray[np.int64] | None
    rows: int
    blank: int


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

    def answers(self, source: Any, *, proba: bool = False, **options: Any) -> Answers:
        """Return the predictions for a table, and what comes with them, in one pass.

        Parameters
        ----------
        source : path, "-", file object, dataframe or RawTable
            New rows.
        proba : bool, default=False
            Whether probabilities are returned as well.
        **options
            Passed to `assay.table.read`.
        """
        raw = self.read(source, **options)
        if self.target.task == Task.RANK:
            scores, places = self.ranked(raw)
            return Answers(scores, None, places, raw.rows, raw.blank)
        X = self._encoded(raw)
        found: NDArray[Any] = self.estimator.predict(X)
        if self.target.classes is not None:
            found = self.target.decode(found)
        return Answers(found, self._probability(X) if proba else None, None, raw.rows, raw.blank)

    def predict(self, source: Any, **options: Any) -> NDArray[Any]:
        """Return one prediction per row of a table (path, stdin, or dataframe).

        Of a ranking, a score: greater is better. Items are compared within their query, or with all
        others if the table has no column of queries.
        """
        return self.answers(source, **options).prediction

    def ranked(
        self, source: Any, **options: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
        """Return the score of each row and its place in its query, 1 = best.

        Rows of equal score share a place. Places are None if the table has no column of queries.
        """
        raw = self.read(source, **options)
        queries = self._queries(raw)
        asked = queries_for(self.estimator.predict, None if queries is None else queries.codes)
        scores = np.asarray(self.estimator.predict(self._encoded(raw), **asked), dtype=np.float64)
        return scores, None if queries is None else queries.positions(scores)

    def predict_proba(self, source: Any, **options: Any) -> NDArray[np.float64]:
        """Return one probability per row and class, classes in the order of ``target.classes``."""
        self._need_probability()
        return self._probability(self._encoded(self.read(source, **options)))

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

    def _encoded(self, raw: RawTable) -> NDArray[np.float64]:
        X = self.schema.matrix(raw.frame, where=raw.where)
        return X if self.encoder is None else self.encoder.transform(X)

    def _need_probability(self) -> None:
        if not hasattr(self.estimator, "predict_proba"):
            raise DataError(
                f"{type(self.estimator).__name__} gives no probabilities; "
                f"ask for predictions instead"
            )

    def _probability(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        self._need_probability()
        known = np.asarray(self.estimator.classes_, dtype=np.int64)
        found = self.estimator.predict_proba(X)
        probability = np.zeros((len(found), len(self.target.classes or ())))
        probability[:, known] = found
        return probability

    def _queries(self, raw: RawTable) -> Queries | None:
        """Return the queries of a table that has the column of the training table."""
        names = [column.name for column in self.schema.columns if column.role == "group"]
        if not names or names[0] not in raw.frame.columns:
            return None
        column = raw.frame.get_column(names[0])
        missing = column.is_null().to_numpy()
        if missing.any():
            row = int(np.argmax(missing))
            raise DataError(f"{raw.where.cell(row, names[0])}: the query is missing")
        return Queries.of(column.rank("dense").to_numpy(), len(column))
