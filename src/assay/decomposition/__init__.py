"""Projections onto a few directions: PCA and linear discriminant analysis."""

from __future__ import annotations

from assay._public import publish
from assay.decomposition._lda import LinearDiscriminantAnalysis
from assay.decomposition._pca import PCA

__all__ = ["PCA", "LinearDiscriminantAnalysis"]

publish(__name__)
