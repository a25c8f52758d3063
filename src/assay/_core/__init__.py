"""The compiled core: one submodule per family, with generated stubs."""

from __future__ import annotations

from assay._core._ext import (
    blas,
    cluster,
    cpu,
    decomposition,
    features,
    levels,
    linear,
    neighbors,
    svm,
    tree,
)

__all__ = [
    "blas",
    "cluster",
    "cpu",
    "decomposition",
    "features",
    "levels",
    "linear",
    "neighbors",
    "svm",
    "tree",
]
