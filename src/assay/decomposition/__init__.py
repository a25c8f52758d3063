"""Projections on few directions."""

from __future__ import annotations

from assay.decomposition._lda import LinearDiscriminantAnalysis
from assay.decomposition._pca import PCA

__all__ = ["PCA", "LinearDiscriminantAnalysis"]
