"""What a fit gives back, and what a model file gives back when it is opened."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay import report, store
from assay.base import DataError
from assay.record import Opening as OpeningPart
from assay.record import Score, StudyRecord
from assay.study._clustering import clustering_of
from assay.study._holdout import Holdout, find_rows
from assay.study._holdout_scores import holdout_scores
from assay.study._identity import result_digest
from assay.study._model import Answers, Model
from assay.study._openings import now, read_openings, write_openings
from assay.study._refit_context import RefitContext
from assay.table import Schema, Target


@dataclass(frozen=True)
class Opening:
    """The scores of a test set when it was opened.

    Parameters
    ----------
    when : str
        Date and time, UTC.
    again : bool
        Whether it had been opened before: the rows were then no longer untouched.
    rows : int
        How many rows were tested.
    scores : tuple of Score
        The study's own metric first, then the usual ones of its task.
    """

    when: str
    again: bool
    rows: int
    scores: tuple[Score, ...]


class Study:
    """A chosen model, its honest score, and the record of how both were made.

    Made by `assay.fit` or `assay.load`.

    Parameters
    ----------
    record : StudyRecord
        Everything the report shows; `StudyRecord.to_json` gives plain values.
    model : Model
        The chosen candidate, fitted on all rows.
    holdout : Holdout, optional
        The test set that was set aside.

    Attributes
    ----------
    score : Score
        The score of a model built this way on this many rows, for new rows.
    baseline : Score
        The same for a trivial model that ignores the columns.
    verdict : {"better", "no better"}
        Whether the score is clearly better than the baseline.
    chosen : str
        The chosen model in words.
    estimator : Pipeline or estimator
        A plain scikit-learn object that predicts from the coded matrix.
    digest : str
        SHA-256 of model and record, without the versions of the software that made them.

    Examples
    --------
    >>> import assay
    >>> study = assay.fit(assay.datasets.path("penguins"), target="species", effort="quick")
    >>> study.predict(assay.datasets.path("penguins"))[:2].tolist()
    ['Adelie', 'Adelie']
    """

    def __init__(self, record: StudyRecord, model: Model, holdout: Holdout | None = None) -> None:
        self.record = record
        self.model = model
        self.holdout = holdout
        self.refit_context: RefitContext[Study] | None = None  # a study from a file has none
        self._path: Path | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "refit_context": None}  # an open ledger cannot be copied

    def __repr__(self) -> str:
        return f"<Study of {self.record.target.name!r}: {self.chosen}; {self.score}>"

    @property
    def score(self) -> Score:
        """The honest score with its interval."""
        return self.record.score

    @property
    def baseline(self) -> Score:
        """The score of the trivial model on the same rows."""
        own = self.record.baseline
        return Score(
            metric=own.metric, value=own.value, low=own.low, high=own.high, level=own.level
        )

    @property
    def verdict(self) -> str:
        """Whether the score is clearly better than the baseline."""
        return self.record.verdict.code

    @property
    def chosen(self) -> str:
        """The chosen model in words."""
        return self.record.chosen.text

    @property
    def estimator(self) -> Any:
        """The fitted estimator itself; it predicts from ``model.encoder``'s output."""
        return self.model.estimator

    @property
    def digest(self) -> str:
        """SHA-256 of model and record, without the versions of the software that made them."""
        return result_digest(self._manifest(), self._parts(), "record")

    @property
    def openings(self) -> tuple[Opening, ...]:
        """Every time the test set was opened, the first one first."""
        found = () if self.holdout is None else self.holdout.openings
        return tuple(_opening(entry, at > 0) for at, entry in enumerate(found))

    def open_holdout(self, source: Any = None, *, again: bool = False, **options: Any) -> Opening:
        """Score the model on the rows that were set aside. Honest once: the first time.

        Parameters
        ----------
        source : path, "-", file object, dataframe or None, default=None
            The table of the fit, or the one that was given as holdout. Not needed right after the
            fit, which still has the rows.
        again : bool, default=False
            Whether a set that was opened before is opened again; the number is marked as such.
        **options
            Passed to `assay.table.read`.

        Returns
        -------
        Opening
            The scores with their intervals. It is written down beside the model file, as soon as
            there is one.

        Raises
        ------
        DataError
            If no rows were set aside, these are other rows, or they were opened before.

        Examples
        --------
        >>> import assay
        >>> table = assay.datasets.path("penguins")
        >>> study = assay.fit(table, target="species", effort="quick", holdout=0.2)
        >>> opening = study.open_holdout()
        >>> opening.rows, opening.scores[0].metric, opening.again
        (69, 'accuracy', False)
        """
        if self.holdout is None:
            raise DataError(
                "no rows were set aside when this model was fitted; fit it again with a holdout, "
                "such as 0.2, to have a test set"
            )
        self.read_openings()
        before = self.holdout.openings
        if before and not again:
            raise DataError(_already(before, self.digest))
        rows = find_rows(self.holdout, self.model, source, **options)
        entry = OpeningPart(
            holdout=self.holdout.record.identity,
            when=now(),
            model=self.digest,
            rows=len(rows.y),
            scores=holdout_scores(self.model, self.record, rows),
        )
        if self._path is not None:  # first the book, then the number
            write_openings(self._path, (*before, entry))
        self.holdout.openings = (*before, entry)
        return self.openings[-1]

    def scores(self) -> pl.DataFrame:
        """Return the honest score by every usual metric of the task, with its interval.

        Each is for a model built this way on this many rows, as `score` is; the model was chosen by
        the study's own metric.

        Examples
        --------
        >>> import assay
        >>> study = assay.fit(assay.datasets.path("penguins"), target="species", effort="quick")
        >>> study.scores().columns
        ['metric', 'value', 'low', 'high', 'level']
        """
        names = ("metric", "value", "low", "high", "level")
        rows = [{name: getattr(row, name) for name in names} for row in self.record.scores or ()]
        kinds = {name: pl.Float64() for name in names[1:]}
        return pl.DataFrame(rows, schema={"metric": pl.String(), **kinds})

    def table(self) -> pl.DataFrame:
        """Return the leaderboard: one row per candidate, best first."""
        rows = [
            {
                "rank": row.rank,
                "family": row.family,
                "params": ", ".join(f"{key}={value}" for key, value in row.params.items()),
                "score": row.score,
                "sd": row.sd,
                "failed": row.failed,
            }
            for row in self.record.leaderboard
        ]
        return pl.DataFrame(rows, schema_overrides={"failed": pl.String})

    def answers(self, source: Any, *, proba: bool = False, **options: Any) -> Answers:
        """Return predictions and what comes with them, reading and encoding the table once.

        Parameters
        ----------
        source : path, "-", file object or dataframe
            A table with the columns the model was built on.
        proba : bool, default=False
            Whether the probability of each class is returned as well.
        **options
            Passed to `assay.table.read`.

        Examples
        --------
        >>> import assay
        >>> table = assay.datasets.path("penguins")
        >>> study = assay.fit(table, target="species", effort="quick")
        >>> found = study.answers(table, proba=True)
        >>> found.prediction.shape, found.probability.shape
        ((344,), (344, 3))
        """
        return self.model.answers(source, proba=proba, **options)

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

    def try_(self, estimator: Any, name: str | None = None) -> Study:
        """Add one candidate of your own, and choose again among all.

        Parameters
        ----------
        estimator : estimator, pipeline or Family
            Any scikit-learn estimator for the task, or an `assay.select.Family` with candidates.
        name : str, default=None
            Name to show; by default the name of its class.

        Returns
        -------
        Study
            A new one, whose choice, score and leaderboard include the candidate. Only its own units
            are fitted, and what the new choice needs; the rest is in the ledger.

        Raises
        ------
        DataError
            If the study comes from a model file, which holds no training rows.

        Notes
        -----
        The score stays nested: for each outer block the choice is made without it. But ideas that
        come after seeing scores depend on all rows, so many tries make the score slightly too good.
        A note lists them, and a test set (``holdout``) gives an independent score.

        Examples
        --------
        >>> import assay
        >>> from sklearn.naive_bayes import GaussianNB
        >>> study = assay.fit(assay.datasets.path("penguins"), target="species", effort="quick")
        >>> more = study.try_(GaussianNB(), "mine")
        >>> more.table().height - study.table().height
        1
        """
        if self.refit_context is None:
            raise DataError(
                "try_ needs the rows and the finished work of a fit, which a model file does not "
                "hold; call assay.fit with the same table and ledger, then try_"
            )
        taken = {row.family for row in self.record.leaderboard}
        return self.refit_context.add(estimator, name, taken)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report page.

        Parameters
        ----------
        path : path
            Where to write the HTML file.
        """
        return report.write(self.full_record, Path(path))

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the model file and return its digest.

        Parameters
        ----------
        path : path
            Where to write, by custom ending in ``.assay``.

        Raises
        ------
        DataError
            If the chosen model's state is more than plain arrays; the message gives the reason.
        """
        for part in self._parts().values():
            reason = store.can_save(part)
            if reason is not None:
                raise DataError(
                    f"the chosen model ({self.chosen}) cannot be saved: {reason}; its score and "
                    f"report are valid, and study.estimator holds the fitted object"
                )
        store.save(Path(path), self._manifest(), self._parts())
        self._path = Path(path)
        if self.holdout is not None:
            if self.holdout.openings:
                write_openings(self._path, self.holdout.openings)
            self.read_openings()
        return self.digest

    def read_openings(self) -> None:
        """Read the openings that are written beside the model file, perhaps by another process."""
        if self.holdout is None or self._path is None:
            return
        written = read_openings(self._path, self.holdout.record.identity)
        if written:
            self.holdout.openings = written

    @property
    def full_record(self) -> StudyRecord:
        """The record with what is not in the model file: when the test set was opened."""
        if self.holdout is None:
            return self.record
        return replace(
            self.record, holdout=replace(self.holdout.record, openings=self.holdout.openings)
        )

    def _manifest(self) -> dict[str, Any]:
        return {
            "record": self.record.to_json(),
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
        return _study(manifest, parts, Path(path))
    except DataError as error:
        raise DataError(f"{os.fspath(path)}: {error}; fit the model again") from error


def _study(manifest: dict[str, Any], parts: dict[str, Any], path: Path) -> Study:
    if set(manifest) != {"record", "schema", "target"} or set(parts) != {"encoder", "estimator"}:
        raise DataError("holds a model, but not a study's")
    model = Model(
        Schema.from_dict(manifest["schema"]),
        Target.from_dict(manifest["target"]),
        parts["encoder"],
        parts["estimator"],
    )
    model.check()
    record = StudyRecord.from_json(manifest["record"])
    study = Study(record, model, None if record.holdout is None else Holdout(record.holdout))
    study._path = path
    return study


def _opening(entry: OpeningPart, again: bool) -> Opening:
    return Opening(entry.when, again, entry.rows, entry.scores)


def _already(openings: tuple[OpeningPart, ...], digest: str) -> str:
    first = openings[0]
    when = first.when.replace("T", " ").replace("Z", " UTC")
    whose = "" if first.model == digest else ", with another model"
    gave = f" and gave {first.scores[0]}" if first.scores else ""
    return (
        f"the test set was already opened on {when}{whose}{gave}; a second score is not from "
        "untouched rows any more. To compute it anyway, marked as such, use --again (again=True)"
    )
