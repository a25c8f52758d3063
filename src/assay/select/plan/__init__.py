"""Which rows are fitted and which are predicted: questions, blocks, partitions, plans."""

from __future__ import annotations

from assay.select.plan._blocks import make_blocks
from assay.select.plan._canonical import digest, public_name, stream
from assay.select.plan._data import Data
from assay.select.plan._duplicates import duplicate_ids
from assay.select.plan._partition import Partition
from assay.select.plan._plan import (
    N_BLOCKS,
    Outer,
    Plan,
    PlanSummary,
    Split,
    blocks_in_time,
    forward,
    holdout,
    make_plan,
    one_out,
    pair_out,
)
from assay.select.plan._question import Question, take
from assay.select.plan._row_partitions import RowPartitions
from assay.select.plan._set_aside import set_aside

__all__ = [
    "N_BLOCKS",
    "Data",
    "Outer",
    "Partition",
    "Plan",
    "PlanSummary",
    "Question",
    "RowPartitions",
    "Split",
    "blocks_in_time",
    "digest",
    "duplicate_ids",
    "forward",
    "holdout",
    "make_blocks",
    "make_plan",
    "one_out",
    "pair_out",
    "public_name",
    "set_aside",
    "stream",
    "take",
]
