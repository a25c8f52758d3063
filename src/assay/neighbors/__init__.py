"""Prediction from the nearest training rows."""

from __future__ import annotations

from assay.neighbors._k_neighbors import KNeighborsClassifier, KNeighborsRegressor

__all__ = ["KNeighborsClassifier", "KNeighborsRegressor"]
