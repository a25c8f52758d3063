"""Whole searches: over families, nested, adaptive, and the comparison of two pipelines."""

from __future__ import annotations

from assay.select.searches._adaptive import AdaptiveSearch, Price
from assay.select.searches._adaptive_family import family_of
from assay.select.searches._compare import Comparison, compare
from assay.select.searches._nested_search import NestedSearch, task_of
from assay.select.searches._search import problem_of, search
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
    "compare",
    "draws",
    "family_of",
    "grid",
    "problem_of",
    "search",
    "sobol",
    "sobol_family",
    "task_of",
]
