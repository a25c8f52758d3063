"""Nearest-neighbour search, classification and regression."""

from __future__ import annotations

from assay._public import publish
from assay.neighbors._condensed import CondensedNeighborsClassifier
from assay.neighbors._hashing import HashedNeighbors
from assay.neighbors._k_neighbors import KNeighborsClassifier, KNeighborsRegressor
from assay.neighbors._local_linear import LocalLinearRegressor
from assay.neighbors._locally_weighted import LocallyWeightedRegressor
from assay.neighbors._nearest_neighbors import NearestNeighbors
from assay.neighbors._piecewise_linear import PiecewiseLinearRegressor
from assay.neighbors._radius import RadiusNeighborsClassifier, RadiusNeighborsRegressor

__all__ = [
    "CondensedNeighborsClassifier",
    "HashedNeighbors",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "LocalLinearRegressor",
    "LocallyWeightedRegressor",
    "NearestNeighbors",
    "PiecewiseLinearRegressor",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
]

publish(__name__)
