"""scikit-learn's bundled tables as dataframes, the target as a last column ``target``."""

from __future__ import annotations

from typing import Any

import polars as pl
import sklearn.datasets


def load_iris() -> pl.DataFrame:
    """Load Fisher's irises: 150 flowers, 4 lengths, three species.

    Examples
    --------
    >>> load_iris()["target"].unique(maintain_order=True).to_list()
    ['setosa', 'versicolor', 'virginica']
    """
    return _frame(sklearn.datasets.load_iris())


def load_wine() -> pl.DataFrame:
    """Load the wines: 178 bottles, 13 measurements, three cultivars.

    Examples
    --------
    >>> load_wine().shape
    (178, 14)
    """
    return _frame(sklearn.datasets.load_wine())


def load_breast_cancer() -> pl.DataFrame:
    """Load the Wisconsin tumours: 569 rows, 30 measurements, malignant or benign.

    Examples
    --------
    >>> load_breast_cancer().shape
    (569, 31)
    """
    return _frame(sklearn.datasets.load_breast_cancer())


def load_digits() -> pl.DataFrame:
    """Load the handwritten digits: 1797 images of 8 x 8 pixels, ten digits.

    Examples
    --------
    >>> load_digits().shape
    (1797, 65)
    """
    return _frame(sklearn.datasets.load_digits())


def load_diabetes() -> pl.DataFrame:
    """Load the diabetes study: 442 patients, 10 measurements, progression after a year.

    Examples
    --------
    >>> load_diabetes().shape
    (442, 11)
    """
    return _frame(sklearn.datasets.load_diabetes())


def _frame(bunch: Any) -> pl.DataFrame:
    names = [str(name) for name in bunch.feature_names]
    columns = [pl.Series(name, bunch.data[:, j]) for j, name in enumerate(names)]
    labels = getattr(bunch, "target_names", None)
    if labels is None or labels[0] == 0:  # a number: progression, or the digit itself
        target = pl.Series("target", bunch.target)
    else:
        target = pl.Series("target", [str(labels[code]) for code in bunch.target])
    return pl.DataFrame([*columns, target])
