"""A unit as it is sent to a worker, and its result."""

from __future__ import annotations

from time import perf_counter

from assay.select.plan import Data, Partition
from assay.select.run._encode import Encodings
from assay.select.run._family import Family
from assay.select.run._record import encode
from assay.select.run._unit import Unit, run_unit

#: Rows, blocks, model, which of its fits.
Task = tuple[Data, Partition, Family, Unit]
#: (key, payload for the ledger, seconds it took)
Result = tuple[str, bytes, float]


def work(task: Task, encodings: Encodings) -> Result:
    """Run one unit; the result is the same bytes on every worker."""
    data, partition, family, unit = task
    start = perf_counter()
    entries = run_unit(data, partition, family, unit, encodings)
    lengths = [int(partition.sizes[block]) for block in unit.split.tests]
    return unit.key, encode(entries, lengths), perf_counter() - start
