"""Learning to rank items."""

from __future__ import annotations

from assay._public import publish
from assay.evaluate import omega_loss
from assay.ranking import costs
from assay.ranking._omega import OmegaRanker
from assay.ranking._pairwise import PairwiseRanker
from assay.ranking._quicksort import Sorted, preference_sort

__all__ = ["OmegaRanker", "PairwiseRanker", "Sorted", "costs", "omega_loss", "preference_sort"]

publish(__name__)
