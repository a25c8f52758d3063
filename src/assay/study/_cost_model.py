"""What a candidate costs: work units, by the shape of the table."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import NamedTuple

#: Work units that a search may spend: a base, an amount per row, and the largest sum.
_BASE, _PER_ROW, _LARGEST = 120_000.0, 2.5, 1_200_000.0
_SHARES = {"quick": 0.1, "normal": 1.0, "thorough": 10.0}


def budget(effort: str, n_rows: int) -> float:
    """Return the work units that an effort allows on a table.

    Parameters
    ----------
    effort : {"quick", "normal", "thorough"}
        How much the user will spend.
    n_rows : int
        Rows of the table: a larger one may take longer, up to a point.

    Notes
    -----
    A work unit is what one core of a current machine does in about a millisecond. It is counted,
    never timed: the same table and effort give the same candidates on every machine.

    Examples
    --------
    >>> budget("normal", 1_000), budget("quick", 1_000), budget("normal", 10_000_000)
    (122500.0, 12250.0, 1200000.0)
    """
    return _SHARES[effort] * min(_BASE + _PER_ROW * n_rows, _LARGEST)


class Shape(NamedTuple):
    """What a cost depends on.

    Parameters
    ----------
    rows, columns : int
        Of the table.
    width : int
        Columns after encoding.
    classes : int
        Scores that a model of several classes has to learn: 1 for numbers and two classes.
    """

    rows: int
    columns: int
    width: int
    classes: int


@dataclass(frozen=True)
class UnitCost:
    """Work units of one unit: one training set, all candidates of a group.

    Parameters
    ----------
    fixed : float
        Independent of the number of rows.
    train, test : float
        Per row to fit and per row to predict.
    both : float
        Per pair of a row to predict and a row to fit.
    square : float
        Per pair of rows to fit.

    Examples
    --------
    >>> UnitCost(fixed=1.0, train=0.5)(100, 50)
    51.0
    """

    fixed: float = 2.0
    train: float = 0.0
    test: float = 0.0
    both: float = 0.0
    square: float = 0.0

    def __call__(self, train: int, test: int) -> float:
        """Return the work units for `train` training rows and `test` test rows."""
        return (
            self.fixed
            + self.train * train
            + self.test * test
            + self.both * float(train) * test
            + self.square * float(train) ** 2
        )

    def __add__(self, other: UnitCost) -> UnitCost:
        """Return the cost of both."""
        return UnitCost(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True)
class WideMemory:
    """Bytes of some copies of the encoded rows."""

    width: int
    copies: float = 4.0

    def __call__(self, rows: int) -> float:
        """Return the bytes on a table of `rows` rows."""
        return 8.0 * self.copies * self.width * rows


@dataclass(frozen=True)
class SquareMemory:
    """Bytes of a matrix with a row and a column for each row of the table."""

    copies: float = 1.0

    def __call__(self, rows: int) -> float:
        """Return the bytes on a table of `rows` rows."""
        return 8.0 * self.copies * float(rows) ** 2
