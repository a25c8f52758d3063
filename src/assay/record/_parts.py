"""Parts that several records share: rows, columns, scores, histograms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.base import DataError
from assay.record._base import Record, damage, omitted, record, same_length

#: The number of the format, raised when old readers would misread what is new.
FORMAT = 1


@record
class Dropped(Record):
    """Rows that were dropped for one reason.

    Parameters
    ----------
    reason : str
        Why.
    count : int
        How many.
    """

    reason: str
    count: int


@record
class Rows(Record):
    """Where every row of the table went: ``read = used +`` the sum of ``dropped``.

    Parameters
    ----------
    read, used : int
        Rows of the table, and rows that were learned from.
    dropped : tuple of Dropped
        The others, by reason.
    """

    read: int
    used: int
    dropped: tuple[Dropped, ...]

    @property
    def lost(self) -> int:
        """Number of rows that were dropped."""
        return sum(entry.count for entry in self.dropped)


@record
class Histogram(Record):
    """Counts of values between edges.

    Parameters
    ----------
    edges : tuple of float
        One more than counts.
    counts : tuple of int
        Values in each bin.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]

    def check(self) -> None:
        """Raise if there is not one more edge than bins."""
        if self.counts:
            same_length(edges=self.edges[1:], counts=self.counts)


@record
class Category(Record):
    """A value of a nominal column.

    Parameters
    ----------
    level : str
        The value.
    count : int
        Rows with it.
    """

    level: str | None
    count: int


@record
class Column(Record):
    """A column of the table, in a few numbers.

    Parameters
    ----------
    name : str
        As in the table.
    kind : str
        numeric, ordinal, nominal, boolean, datetime, identifier or constant.
    used : bool
        Whether it is a feature.
    role : str
        feature, target, group, time, weights or dropped.
    reason : str
        Why it is dropped, when it is.
    missing, distinct : int
        Missing cells, and different values.
    min, max : float or str
        Of numbers, or of dates as text.
    q1, median, q3, mean, sd : float
        Of numbers.
    histogram : Histogram
        Of numbers.
    top : tuple of Category
        The most frequent values of other columns.
    """

    name: str
    kind: str
    used: bool
    role: str
    reason: str | None
    missing: int
    distinct: int
    min: float | str | None = omitted()
    q1: float | None = omitted()
    median: float | None = omitted()
    q3: float | None = omitted()
    max: float | str | None = omitted()
    mean: float | None = omitted()
    sd: float | None = omitted()
    histogram: Histogram | None = omitted()
    top: tuple[Category, ...] | None = omitted()


@record
class Estimate(Record):
    """A number with its interval.

    Parameters
    ----------
    value, low, high : float
        The estimate and the ends of its interval.
    level : float
        Confidence level of the interval.
    """

    value: float
    low: float
    high: float
    level: float


@record
class Score(Record):
    """A score with its interval.

    Parameters
    ----------
    metric : str
        What is measured.
    value, low, high : float
        The estimate and the ends of its interval.
    level : float
        Confidence level of the interval.
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


def check_format(data: Any, *, cluster: bool) -> None:
    """Refuse data that is not a record of this format and kind.

    Parameters
    ----------
    data : dict
        What should be a record.
    cluster : bool
        Whether it should be that of a clustering.
    """
    if not isinstance(data, Mapping) or "format" not in data:
        raise damage("", "has no format number")
    if data["format"] != FORMAT or isinstance(data["format"], bool):
        raise DataError(
            f"the record has format {data['format']!r:.40}; this version of Assay reads format "
            f"{FORMAT}"
        )
    if (data.get("task") == "cluster") is not cluster:
        what = "a clustering" if cluster else "a study"
        raise damage(f"task {data.get('task')!r:.40}", f"is not that of {what}")
