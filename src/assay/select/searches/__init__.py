"""Whole searches: over families, nested, adaptive, and the comparison of two pipelines."""

from __future__ import annotations

from assay.select.searches._adaptive import AdaptiveSearch, Price
from assay.select.searches._adaptive_family import family_of
from assay.select.searches._compare import Comparison, compare
from assay.select.searches._nested_search import NestedSearch
from assay.select.searches._resources import Resources
from assay.select.searches._rules import Rules
from assay.select.searches._search import search
from assay.select.searches._sobol import draws, sobol, sobol_family
from assay.select.searches._space import grid
from assay.select.searches._space_dimensions import Choice, Integer, Real

__all__ = [
    "AdaptiveSearch",
    "Choice",
    "Comparison",
    "Integer",
    "NestedSearch",
    "Price",
    "Real",
    "Resources",
    "Rules",
    "compare",
    "draws",
    "family_of",
    "grid",
    "search",
    "sobol",
    "sobol_family",
]
