"""The record of a clustering: everything that was found, as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from assay.record._base import Record, record, same_length
from assay.record._parts import Column, Rows, check_format


@record
class ClusterTableRecord(Record):
    """What is known of a table before any fit.

    Parameters
    ----------
    format : int
        Number of the format.
    assay : str
        The version that made it.
    source, digest : str
        The table and its SHA-256.
    task : str
        "cluster".
    rows : Rows
        Where every row went.
    columns : tuple of Column
        Every column of the table.
    notes : tuple of str
        What is worth knowing.
    """

    format: int
    assay: str
    source: str
    digest: str
    task: str
    rows: Rows
    columns: tuple[Column, ...]
    notes: tuple[str, ...]


@record
class ClusterTarget(Record):
    """The column that `assay predict` writes.

    Parameters
    ----------
    name : str
        "cluster".
    classes : tuple of str or None
        The clusters, where the method gives a share for each.
    """

    name: str
    classes: tuple[str, ...] | None


@record
class Compared(Record):
    """A method in the comparison.

    Parameters
    ----------
    method : str
        Its name.
    stability : float or None
        Agreement of clusters in random halves of the rows with those in all; None if not compared.
    why : str
        Why not.
    """

    method: str
    stability: float | None
    why: str


@record
class Method(Record):
    """How the rows were grouped.

    Parameters
    ----------
    name, text : str
        The method, and its name to show.
    asked : str
        What the user asked for.
    reason : str
        Why this method.
    params : dict
        Its settings.
    assigns_new_rows : bool
        Whether the model file can place new rows.
    compared : tuple of Compared
        The methods compared.
    """

    name: str
    text: str
    asked: str
    reason: str
    params: Mapping[str, Any]
    assigns_new_rows: bool
    compared: tuple[Compared, ...]


@record
class Criteria(Record):
    """The criteria for one number of clusters; what was not computed is None.

    Parameters
    ----------
    n_clusters : int
        The number.
    inertia, elbow, penalised, silhouette, bic, gap, gap_error : float or None
        The criteria.
    """

    n_clusters: int
    inertia: float | None
    elbow: float | None
    penalised: float | None
    silhouette: float | None
    bic: float | None
    gap: float | None
    gap_error: float | None


@record
class Number(Record):
    """How the number of clusters was chosen.

    Parameters
    ----------
    n_clusters : int
        The number.
    method, reason : str
        The rule, and why.
    votes : dict of str to int
        The number that each criterion chooses.
    rows : tuple of Criteria
        The criteria by number of clusters.
    """

    n_clusters: int
    method: str
    reason: str
    votes: Mapping[str, int]
    rows: tuple[Criteria, ...]


@record
class Trait(Record):
    """A column in which a cluster differs from all rows.

    Parameters
    ----------
    name : str
        The column, or a category of it.
    share : bool
        Whether the means are shares of a category.
    mean, overall : float
        Of the cluster and of all rows.
    shift : float
        Their difference in standard deviations.
    """

    name: str
    share: bool
    mean: float
    overall: float
    shift: float


@record
class ShownRow(Record):
    """A row of the table.

    Parameters
    ----------
    row : int
        Its number, from 1.
    cells : tuple
        Its values in the shown columns.
    """

    row: int
    cells: tuple[Any, ...]


@record
class Cluster(Record):
    """A cluster.

    Parameters
    ----------
    label, size : int
        Its number and its rows.
    traits : tuple of Trait
        Where it differs most from all rows.
    prototypes, outliers : tuple of ShownRow
        Its most typical rows, and those that fit it least.
    """

    label: int
    size: int
    traits: tuple[Trait, ...]
    prototypes: tuple[ShownRow, ...]
    outliers: tuple[ShownRow, ...]


@record
class Map(Record):
    """Rows on their two main axes.

    Parameters
    ----------
    x, y : tuple of float
        Coordinates; y is None if there is one column only.
    cluster, row : tuple of int
        Cluster of each row, -1 for none, and its number.
    shares : tuple of float
        Shares of the variance of the axes.
    axes : tuple of tuple of str
        The columns that count most on each axis.
    of : int
        Rows of the table, of which these are some.
    """

    x: tuple[float, ...]
    y: tuple[float, ...] | None
    cluster: tuple[int, ...]
    row: tuple[int, ...]
    shares: tuple[float, ...]
    axes: tuple[tuple[str, ...], ...]
    of: int

    def check(self) -> None:
        """Raise unless there are as many of each."""
        same_length(x=self.x, cluster=self.cluster, row=self.row, y=self.y or self.x)
        same_length(shares=self.shares, axes=self.axes)


@record
class ClusterRecord(ClusterTableRecord):
    """Everything that a clustering found.

    Parameters
    ----------
    format, assay, source, digest, task, rows, columns, notes
        As in `ClusterTableRecord`.
    seed : int
        Seed of all random numbers.
    target : ClusterTarget
        The column that `assay predict` writes.
    method : Method
        How the rows were grouped.
    number : Number or None
        How the number was chosen; None if it was given.
    n_clusters, unassigned : int
        Number of clusters, and of rows in none.
    silhouette : float or None
        Mean silhouette.
    shown_columns : tuple of str
        The columns by which clusters differ most.
    clusters : tuple of Cluster
        The clusters.
    map : Map
        Rows on their two main axes.
    versions : dict of str to str
        Of the libraries.
    """

    seed: int
    target: ClusterTarget
    method: Method
    number: Number | None
    n_clusters: int
    unassigned: int
    silhouette: float | None
    shown_columns: tuple[str, ...]
    clusters: tuple[Cluster, ...]
    map: Map
    versions: Mapping[str, str]

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return the record that plain JSON values hold; see `Record.from_json`.

        Parameters
        ----------
        data : dict
            As `to_json` returned it.
        """
        check_format(data, cluster=True)
        return super().from_json(data)
