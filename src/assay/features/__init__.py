"""Feature selection, intervals from numbers, and resampling of rare classes."""

from __future__ import annotations

from assay._public import publish
from assay.features._chain import Chain
from assay.features._consensus import ConsensusSelector, consensus
from assay.features._consensus_nested import ConsensusStudy, consensus_nested
from assay.features._intervals import IntervalBuilder
from assay.features._lasso_selector import LassoSelector
from assay.features._relief import ReliefF
from assay.features._resampled import ResampledClassifier
from assay.features._synthetic_sampler import SyntheticSampler
from assay.features._under_sampler import UnderSampler

__all__ = [
    "Chain",
    "ConsensusSelector",
    "ConsensusStudy",
    "IntervalBuilder",
    "LassoSelector",
    "ReliefF",
    "ResampledClassifier",
    "SyntheticSampler",
    "UnderSampler",
    "consensus",
    "consensus_nested",
]

publish(__name__)
