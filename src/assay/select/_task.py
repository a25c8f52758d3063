"""One unit as a worker gets it, and as it gives it back."""

from __future__ import annotations

from time import perf_counter

from assay.select._encode import Encodings
from assay.select._family import Family
from assay.select._partition import Partition
from assay.select._plan import Split
from assay.select._problem import Problem
from assay.select._record import encode
from assay.select._unit import run_unit

#: Rows, blocks, model, which of its candidates, which blocks, key.
Task = tuple[Problem, Partition, Family, tuple[int, ...], Split, str]
#: (key, payload for the ledger, seconds it took)
Result = tuple[str, bytes, float]


def work(task: Task, encodings: Encodings) -> Result:
    """Run one unit; the same bytes wherever that is."""
    problem, partition, family, candidates, split, key = task
    start = perf_counter()
    entries = run_unit(problem, partition, family, candidates, split, key, encodings)
    lengths = [int(partition.sizes[block]) for block in split.tests]
    return key, encode(entries, lengths), perf_counter() - start
