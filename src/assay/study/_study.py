"""What a fit gives back, and what a model file gives back when it is opened."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay import report, store
from assay.base import DataError
from assay.study._clustering import clustering_of
from assay.study._model import Model
from assay.study._record import check_record
from assay.table import Schema, Target


@dataclass(frozen=True)
class Score:
    """An honest score with its interval.

    Parameters
    ----------
    metric : str
        What is measured.
    value, low, high : float
        The estimate and the ends of its interval.
    level : float
        How often such an interval holds the truth.
    """

    metric: str
    value: float
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        return (
            f"{self.metric} {self.value:.4f} ({self.level:.0%}: {self.low:.4f} to {self.high:.4f})"
        )


class Study:
    """A chosen model, its honest score, and the record of how both came to be.

    Made by `assay.fit` or `assay.load`.

    Parameters
    ----------
    record : dict
        Everything the report shows, as plain JSON values.
    model : Model
        The chosen candidate, fitted on all rows.

    Attributes
    ----------
    score : Score
        The honest score of a model built this way on this many rows.
    baseline : Score
        The same for guessing without looking at the columns.
    verdict : {"better", "no better"}
        Whether the score is clearly better than the baseline.
    chosen : str
        The chosen model in words.
    estimator : Pipeline or estimator
        A plain scikit-learn object that predicts from the coded matrix.
    digest : str
        SHA-256 of everything in the model file.

    Examples
    --------
    >>> import assay
    >>> study = assay.fit(assay.datasets.path("penguins"), target="species", effort="quick")
    >>> study.predict(assay.datasets.path("penguins"))[:2].tolist()
    ['Adelie', 'Adelie']
    """

    def __init__(self, record: dict[str, Any], model: Model) -> None:
        self.record = record
        self.model = model

    def __repr__(self) -> str:
        return f"<Study of {self.record['target']['name']!r}: {self.chosen}; {self.score}>"

    @property
    def score(self) -> Score:
        """The honest score with its interval."""
        return _score(self.record["score"])

    @property
    def baseline(self) -> Score:
        """The score of the trivial model on the same rows."""
        return _score(self.record["baseline"])

    @property
    def verdict(self) -> str:
        """Whether the score is clearly better than the baseline."""
        return str(self.record["verdict"]["code"])

    @property
    def chosen(self) -> str:
        """The chosen model in words."""
        return str(self.record["chosen"]["text"])

    @property
    def estimator(self) -> Any:
        """The fitted estimator itself; it predicts from ``model.encoder``'s output."""
        return self.model.estimator

    @property
    def digest(self) -> str:
        """SHA-256 of everything in the model file."""
        return store.digest(self._manifest(), self._parts())

    def table(self) -> pl.DataFrame:
        """Return the leaderboard: one row per candidate, best first."""
        rows = [
            {
                "rank": row["rank"],
                "family": row["family"],
                "params": ", ".join(f"{key}={value}" for key, value in row["params"].items()),
                "score": row["score"],
                "sd": row["sd"],
                "failed": row["failed"],
            }
            for row in self.record["leaderboard"]
        ]
        return pl.DataFrame(rows, schema_overrides={"failed": pl.String})

    def predict(self, source: Any, **options: Any) -> NDArray[Any]:
        """Return one prediction per row of `source`.

        Parameters
        ----------
        source : path, "-", file object or dataframe
            A table with the columns the model was built on.
        **options
            Passed to `assay.table.read`.
        """
        return self.model.predict(source, **options)

    def predict_proba(self, source: Any, **options: Any) -> NDArray[np.float64]:
        """Return one probability per row and class.

        Parameters
        ----------
        source : path, "-", file object or dataframe
            A table with the columns the model was built on.
        **options
            Passed to `assay.table.read`.
        """
        return self.model.predict_proba(source, **options)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report page.

        Parameters
        ----------
        path : path
            Where to write the HTML file.
        """
        return report.write(self.record, Path(path))

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the model file and return its digest.

        Parameters
        ----------
        path : path
            Where to write, by custom ending in ``.assay``.

        Raises
        ------
        DataError
            If the chosen model's state is more than plain arrays; the reason is said.
        """
        for part in self._parts().values():
            reason = store.can_save(part)
            if reason is not None:
                raise DataError(
                    f"the chosen model ({self.chosen}) cannot be saved: {reason}; its score and "
                    f"report stand, and study.estimator holds the fitted object"
                )
        return store.save(Path(path), self._manifest(), self._parts())

    def _manifest(self) -> dict[str, Any]:
        return {
            "record": self.record,
            "schema": self.model.schema.to_dict(),
            "target": self.model.target.to_dict(),
        }

    def _parts(self) -> dict[str, Any]:
        return {"encoder": self.model.encoder, "estimator": self.model.estimator}


def load(path: str | os.PathLike[str]) -> Any:
    """Open a model file.

    Parameters
    ----------
    path : path
        A file that `Study.save`, `Clustering.save`, ``assay fit`` or ``assay cluster`` wrote.

    Returns
    -------
    Study or Clustering
        Predicts bit for bit as the saved one.

    Raises
    ------
    DataError
        If the file is damaged, hostile or of a newer format. Nothing in a file is ever executed.

    Examples
    --------
    >>> import assay, pathlib, tempfile
    >>> table = assay.datasets.path("penguins")
    >>> study = assay.fit(table, target="species", effort="quick")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "penguins.assay")
    ...     _ = study.save(file)
    ...     again = assay.load(file)
    >>> bool((again.predict(table) == study.predict(table)).all())
    True
    """
    manifest, parts = store.load(Path(path))
    try:
        if "clusters" in manifest:
            return clustering_of(manifest, parts)
        return _study(manifest, parts)
    except DataError as error:
        raise DataError(f"{os.fspath(path)}: {error}; fit the model again") from error


def _study(manifest: dict[str, Any], parts: dict[str, Any]) -> Study:
    if set(manifest) != {"record", "schema", "target"} or set(parts) != {"encoder", "estimator"}:
        raise DataError("holds a model, but not a study's")
    model = Model(
        Schema.from_dict(manifest["schema"]),
        Target.from_dict(manifest["target"]),
        parts["encoder"],
        parts["estimator"],
    )
    model.check()
    check_record(manifest["record"])
    return Study(manifest["record"], model)


def _score(entry: dict[str, Any]) -> Score:
    return Score(entry["metric"], entry["value"], entry["low"], entry["high"], entry["level"])
