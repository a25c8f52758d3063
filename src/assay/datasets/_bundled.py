"""The tables that come with Assay, as CSV files beside this module."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from assay.base import check_option

_FOLDER = Path(__file__).parent / "data"


def path(name: str) -> Path:
    """Return the CSV file of a bundled table.

    Parameters
    ----------
    name : {'pca_example', 'penguins', 'restaurant', 'titanic'}
        Name of the table.

    Returns
    -------
    Path

    Examples
    --------
    >>> path("titanic").name
    'titanic.csv'
    """
    check_option("name", name, sorted(file.stem for file in _FOLDER.glob("*.csv")))
    return _FOLDER / f"{name}.csv"


def load_restaurant() -> pl.DataFrame:
    """Load the restaurant table: 12 evenings, 10 nominal attributes, target ``WillWait``.

    The textbook example of decision trees (Russell and Norvig).

    Examples
    --------
    >>> load_restaurant()["WillWait"].value_counts(sort=True)["count"].to_list()
    [6, 6]
    """
    return pl.read_csv(path("restaurant").read_bytes(), infer_schema=False)


def load_pca_example() -> pl.DataFrame:
    """Load the ten points of the worked example of principal components (Smith 2002).

    Examples
    --------
    >>> load_pca_example().row(0)
    (2.5, 2.4)
    """
    return pl.read_csv(path("pca_example").read_bytes())


def load_penguins() -> pl.DataFrame:
    """Load the Palmer penguins: 344 birds, 6 columns to predict ``species`` (three) from.

    Examples
    --------
    >>> load_penguins().shape
    (344, 7)
    """
    return pl.read_csv(path("penguins").read_bytes(), infer_schema_length=None)


def load_titanic() -> pl.DataFrame:
    """Load the passengers of the Titanic: 891 rows, target ``Survived``.

    Examples
    --------
    >>> load_titanic()["Survived"].sum()
    342
    """
    return pl.read_csv(path("titanic").read_bytes(), infer_schema_length=None)
