"""The tree engine: binned tables, tree growing, flat node arrays."""

from __future__ import annotations

from assay.tree.engine._bins import Bins, Ranks
from assay.tree.engine._fine import FineRows
from assay.tree.engine._grow import Grown, GrowOptions, bootstrap_counts, grow
from assay.tree.engine._nodes import Nodes, levels_of

__all__ = [
    "Bins",
    "FineRows",
    "GrowOptions",
    "Grown",
    "Nodes",
    "Ranks",
    "bootstrap_counts",
    "grow",
    "levels_of",
]
