"""What the commands print with ``--json``: the record in short, with the files written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Self, cast

from assay.record._base import Record, omitted, record
from assay.record._cluster import ClusterRecord, Method, Number
from assay.record._parts import Column, Dropped, Estimate, Rows, Score
from assay.record._study import (
    Baseline,
    Candidate,
    Choice,
    Chosen,
    Cost,
    Metric,
    PlainEstimate,
    Plan,
    StudyRecord,
    Target,
    Verdict,
)


@record
class RowsInShort(Record):
    """Where every row of the table went.

    Parameters
    ----------
    read, used, dropped : int
        ``read = used + dropped``.
    reasons : tuple of Dropped
        Of the rows dropped.
    """

    read: int
    used: int
    dropped: int
    reasons: tuple[Dropped, ...]

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """Return the rows in short."""
        return cls(read=rows.read, used=rows.used, dropped=rows.lost, reasons=rows.dropped)


@record
class ColumnInShort(Record):
    """A column of the table.

    Parameters
    ----------
    name, kind, role : str
        As in `Column`.
    reason : str
        Why it is dropped, when it is.
    """

    name: str
    kind: str
    role: str
    reason: str | None

    @classmethod
    def of(cls, column: Column) -> Self:
        """Return a column in short."""
        return cls(name=column.name, kind=column.kind, role=column.role, reason=column.reason)


@record
class FitSummary(Record):
    """What ``assay fit --json`` prints.

    Parameters
    ----------
    assay, source, task, target, metric, score, baseline, gain, verdict, quick, chosen, \
leaderboard, notes, plan, seed, effort, plain, scores, choice, cost
        As in `StudyRecord`.
    rows : RowsInShort
        Where every row went.
    columns : tuple of ColumnInShort
        Every column of the table.
    files : dict of str to str
        The files written.
    digest, table_digest : str
        SHA-256 of the model file's content and of the table.
    """

    assay: str
    source: str
    task: str
    target: Target
    metric: Metric
    score: Score
    baseline: Baseline
    gain: Estimate
    verdict: Verdict
    quick: Estimate | None
    plain: PlainEstimate | None = None
    scores: tuple[Score, ...] | None = None
    chosen: Chosen
    choice: Choice | None = None
    cost: Cost | None = omitted()
    leaderboard: tuple[Candidate, ...]
    notes: tuple[str, ...]
    plan: Plan
    seed: int
    effort: str
    rows: RowsInShort
    columns: tuple[ColumnInShort, ...]
    files: Mapping[str, str]
    digest: str
    table_digest: str

    @classmethod
    def of(cls, found: StudyRecord, files: Mapping[str, str], digest: str) -> Self:
        """Return the summary of a study.

        Parameters
        ----------
        found : StudyRecord
            The record.
        files : mapping of str to str
            The files written.
        digest : str
            Of the model file's content.
        """
        return cls(**_in_short(cls, found, files, digest))


@record
class ClusterSummary(Record):
    """What ``assay cluster --json`` prints.

    Parameters
    ----------
    assay, source, task, n_clusters, unassigned, silhouette, method, number, notes, seed
        As in `ClusterRecord`.
    sizes : dict of str to int
        Rows of each cluster.
    rows : RowsInShort
        Where every row went.
    columns : tuple of ColumnInShort
        Every column of the table.
    files : dict of str to str
        The files written.
    digest, table_digest : str
        SHA-256 of the model file's content and of the table.
    """

    assay: str
    source: str
    task: str
    n_clusters: int
    unassigned: int
    silhouette: float | None
    method: Method
    number: Number | None
    notes: tuple[str, ...]
    seed: int
    sizes: Mapping[str, int]
    rows: RowsInShort
    columns: tuple[ColumnInShort, ...]
    files: Mapping[str, str]
    digest: str
    table_digest: str

    @classmethod
    def of(cls, found: ClusterRecord, files: Mapping[str, str], digest: str) -> Self:
        """Return the summary of a clustering.

        Parameters
        ----------
        found : ClusterRecord
            The record.
        files : mapping of str to str
            The files written.
        digest : str
            Of the model file's content.
        """
        sizes = {str(cluster.label): cluster.size for cluster in found.clusters}
        return cls(sizes=sizes, **_in_short(cls, found, files, digest))


def _in_short(
    cls: type[Record],
    found: StudyRecord | ClusterRecord,
    files: Mapping[str, str],
    digest: str,
) -> dict[str, Any]:
    """Return the fields of a summary: those that the record has too, and those of its own."""
    own = {
        "rows": RowsInShort.of(found.rows),
        "columns": tuple(map(ColumnInShort.of, found.columns)),
        "files": dict(files),
        "digest": digest,
        "table_digest": found.digest,
    }
    names = [each.name for each in fields(cast("Any", cls)) if hasattr(found, each.name)]
    return {**{name: getattr(found, name) for name in names}, **own}
