"""What a Dask worker does with a unit. Everything here is called on the workers by name."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from threadpoolctl import threadpool_limits

from assay.select.plan import Data, Partition
from assay.select.run._encode import Encodings
from assay.select.run._family import Family
from assay.select.run._notes import listening
from assay.select.run._task import Result, work
from assay.select.run._unit import Unit

#: What numbers depend on: with other versions, bytes might differ.
LIBRARIES = ("assay-ml", "numpy", "scipy", "scikit-learn")


class OtherVersions(Exception):
    """A worker's libraries differ from the client's."""


class _Kept:
    """What a worker process keeps between units."""

    lock = threading.Lock()
    encodings: Encodings | None = None
    limits = threading.local()


def work_on_worker(
    data: Data,
    partition: Partition,
    family: Family,
    unit: Unit,
    expected: Mapping[str, str],
) -> Result:
    """Run one unit."""
    from distributed import get_worker  # noqa: PLC0415 - a worker has it

    worker = get_worker()
    told = difference(versions(), expected, worker.address)
    if told is not None:  # it joined after the client had asked
        raise OtherVersions(told)
    if not hasattr(_Kept.limits, "one"):
        # BLAS counts for the process, OpenMP for each thread: one, so that sums have one order.
        _Kept.limits.one = threadpool_limits(1)
    with _Kept.lock:
        if _Kept.encodings is None:
            _Kept.encodings = Encodings(worker.state.nthreads + 1)
        encodings = _Kept.encodings
    with listening():
        return work((data, partition, family, unit), encodings)


def forget() -> None:
    """Drop what the worker kept between units; the client that left has no more."""
    _Kept.encodings = None


def versions() -> dict[str, str]:
    """Return the versions of what numbers depend on."""
    found = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def difference(theirs: Mapping[str, Any], ours: Mapping[str, str], worker: str) -> str | None:
    """Say which library of a worker is not ours; None if all are.

    Examples
    --------
    >>> difference({"numpy": "2.4.0"}, {"numpy": "2.4.0"}, "tcp://10.0.0.2:40001")
    >>> print(difference({"numpy": None}, {"numpy": "2.4.0"}, "tcp://10.0.0.2:40001"))
    the Dask worker at tcp://10.0.0.2:40001 has no numpy, this process has numpy 2.4.0; install ...
    """
    for name, wanted in ours.items():
        if theirs.get(name) != wanted:
            has = f"{name} {theirs[name]}" if theirs.get(name) else f"no {name}"
            return (
                f"the Dask worker at {worker} has {has}, this process has {name} {wanted}; "
                f"install the same version there, or numbers might differ"
            )
    return None
