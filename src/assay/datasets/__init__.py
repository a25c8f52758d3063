"""Small tables for examples: four bundled with Assay, five with scikit-learn."""

from __future__ import annotations

from assay._public import publish
from assay.datasets._bundled import (
    load_pca_example,
    load_penguins,
    load_restaurant,
    load_titanic,
    path,
)
from assay.datasets._sklearn import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)

__all__ = [
    "load_breast_cancer",
    "load_diabetes",
    "load_digits",
    "load_iris",
    "load_pca_example",
    "load_penguins",
    "load_restaurant",
    "load_titanic",
    "load_wine",
    "path",
]

publish(__name__)
