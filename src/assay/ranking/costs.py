"""Costs of putting two items in the wrong order, by their true positions (1 = best)."""

from __future__ import annotations

from assay.evaluate.ranking_costs import check_omega, discount, distance, misordered, top_k

__all__ = ["check_omega", "discount", "distance", "misordered", "top_k"]
